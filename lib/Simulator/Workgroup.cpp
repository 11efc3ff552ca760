// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The scheduler: a thread runs until it has to wait. With a seed, any thread
// that can run may be the next one.

#include "Workgroup.h"
#include "attune/Conversion/Passes.h"
#include "attune/Runtime/DeviceTensor.h"
#include "llvm/Support/MathExtras.h"
#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#if defined(__SSE__)
#include <xmmintrin.h>
#endif

using namespace mlir;
using namespace attune;

/// Makes low bits of an address those of its offset, for every swizzle and for
/// descriptors, which have 18 of them.
static constexpr size_t kSharedAlignment = MatrixDescriptor::kWindow;
/// Mapped before and behind workgroup memory; accesses there are found.
static constexpr size_t kSharedMargin = 4096;

/// Barriers of a workgroup, by the PTX ISA.
static constexpr size_t kBarriers = 16;

/// Denormal numbers are 0, as operands and as results.
static void flushDenormals() {
#if defined(__SSE__)
  constexpr unsigned kFlushToZero = 0x8000, kDenormalsAreZero = 0x0040;
  _mm_setcsr(_mm_getcsr() | kFlushToZero | kDenormalsAreZero);
#endif
}

Workgroup::Workgroup(const Launch &launch, Reports &reports, Counters &counters)
    : launch(launch), reports(reports), counters(counters),
      threadsOfGroup(launch.shape.block[0] * launch.shape.block[1] *
                     launch.shape.block[2]),
      warpsOfGroup(llvm::divideCeil(threadsOfGroup, launch.warpSize)),
      numThreads(threadsOfGroup * launch.clusterSize),
      sharedBytes(launch.staticSharedBytes + launch.shape.sharedBytes),
      sharedStride(
          llvm::alignTo(sharedBytes + 2 * kSharedMargin, kSharedAlignment)),
      threads(new Thread[numThreads]), shadow(reports),
      global(reports, shadow.clocks), mbarriers(*this), warpgroups(*this),
      random(launch.options->seed) {
  for (uint32_t index = 0; index < numThreads; ++index)
    threadPointers.push_back(&threads[index]);
}

Workgroup::~Workgroup() {
  if (mapped)
    munmap(mapped, mappedBytes);
}

llvm::Error Workgroup::prepare() {
  // Addresses of workgroup memory are cut to 32 bits by some ops.
  poisonedBytes = (launch.clusterSize - 1) * size_t(sharedStride) +
                  llvm::alignTo(sharedBytes, kSharedMargin) + 2 * kSharedMargin;
  mappedBytes = poisonedBytes + kSharedAlignment;
  void *memory = mmap(nullptr, mappedBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
  if (memory == MAP_FAILED)
    return llvm::createStringError(
        llvm::errnoAsErrorCode(),
        "failed to map memory of a workgroup below 4 GiB");
  mapped = static_cast<char *>(memory);
  shared = reinterpret_cast<char *>(llvm::alignTo(
      reinterpret_cast<uintptr_t>(mapped) + kSharedMargin, kSharedAlignment));
  return stacks.reserve(numThreads);
}

bool Workgroup::chance() {
  return launch.options->seed != 0 && (random() & 1) != 0;
}

size_t Workgroup::choose(size_t count) {
  return launch.options->seed != 0 ? random() % count : 0;
}

void Workgroup::startThread(uint32_t index) {
  Thread &thread = threads[index];
  const LaunchShape &shape = launch.shape;
  thread.number = index;
  thread.group = this;
  thread.rank = index / threadsOfGroup;
  thread.clusterSize = launch.clusterSize;
  thread.clusterId = thread.blockId[0] / launch.clusterSize;
  thread.numClusters = shape.grid[0] / launch.clusterSize;
  uint32_t number = index % threadsOfGroup;
  thread.threadId[0] = number % shape.block[0];
  thread.threadId[1] = number / shape.block[0] % shape.block[1];
  thread.threadId[2] = number / shape.block[0] / shape.block[1];
  thread.warpSize = launch.warpSize;
  thread.laneId = number % launch.warpSize;
  thread.warpId = number / launch.warpSize;
  for (int dim = 0; dim < 3; ++dim) {
    thread.blockSize[dim] = shape.block[dim];
    thread.gridSize[dim] = shape.grid[dim];
  }
  thread.shared = shared + thread.rank * size_t(sharedStride);
  thread.arguments = launch.arguments.data();
  thread.steps = 0;
  thread.openCopies.clear();
  thread.committedCopies.clear();
  thread.openStores.clear();
  thread.committedStores.clear();
  thread.buffers.clear();
  thread.clusterPhase.reset();
  thread.fiber.start(
      stacks.getTop(index), stacks.getBytes(),
      [](void *argument) {
        auto &thread = *static_cast<Thread *>(argument);
        if (thread.group->launch.flushDenormals)
          flushDenormals();
        thread.group->launch.kernel(&thread);
        thread.group->finish(thread);
      },
      &thread);
  thread.state = Thread::State::Ready;
  ready.push_back(&thread);
}

Thread *Workgroup::takeReady() {
  if (ready.empty())
    return nullptr;
  std::swap(ready.front(), ready[choose(ready.size())]);
  Thread *thread = ready.front();
  ready.pop_front();
  return thread;
}

bool Workgroup::run(uint32_t x, uint32_t y, uint32_t z) {
  std::memset(shared - kSharedMargin, DeviceTensor::kPoison, poisonedBytes);
  uint32_t size = launch.clusterSize;
  uint32_t warpgroupsOfGroup =
      llvm::divideCeil(threadsOfGroup, Warpgroups::kLanes);
  shadow.reset((size - 1) * sharedStride + sharedBytes, threadPointers,
               MBarriers::kActors + size * warpgroupsOfGroup);
  ready.clear();
  collectives.assign(size * warpsOfGroup, {});
  barriers.assign(size * kBarriers, {});
  clusterBarrier = ClusterBarrier();
  members.assign(size, {});
  mbarriers.reset();
  warpgroups.reset(threadsOfGroup, size);
  for (uint32_t number = 0; number < numThreads; ++number) {
    Thread &thread = threads[number];
    thread.blockId[0] = x + number / threadsOfGroup;
    thread.blockId[1] = y;
    thread.blockId[2] = z;
    startThread(number);
  }
  global.begin(threadPointers);
  numDone = 0;
  do {
    while (Thread *thread = takeReady()) {
      running = thread;
      thread->fiber.resume();
      if (stopped)
        return false;
    }
  } while (numDone < numThreads && mbarriers.landOne());
  mbarriers.reportPending();
  warpgroups.reportPending();
  counters.converge(~0u);
  if (numDone < numThreads)
    reportDeadlock();
  return numDone == numThreads;
}

void Workgroup::stop(Thread &thread) {
  stopped = true;
  thread.fiber.suspend();
  llvm_unreachable("nobody resumes a thread of a launch that was stopped");
}

void Workgroup::release(Thread &thread) {
  thread.state = Thread::State::Ready;
  ready.push_back(&thread);
}

void Workgroup::yield(Thread &thread) {
  release(thread);
  thread.fiber.suspend();
}

void Workgroup::wait(Thread &thread, uint32_t site, std::string what) {
  thread.state = Thread::State::Waiting;
  thread.waitSite = site;
  thread.waitsFor = std::move(what);
  thread.fiber.suspend();
}

void Workgroup::finish(Thread &thread) {
  thread.state = Thread::State::Done;
  ++numDone;
  if (++members[thread.rank].numDone == threadsOfGroup)
    checkUses(thread.rank);
  finishStores(thread);
  if (!reports.isOn(HostCheck::Waits))
    return;
  for (const auto &group : thread.committedCopies)
    thread.openCopies.append(group.begin(), group.end());
  for (const PendingCopy &copy : thread.openCopies)
    reports.add(HostCheck::Waits, copy.site, thread,
                "copies what is never waited for", /*isError=*/false);
}

void Workgroup::step(Thread &thread, uint32_t site) {
  if (++thread.steps > launch.options->maxSteps) {
    reports.stop(site, "expects a loop that ends within " +
                           Twine(launch.options->maxSteps) +
                           " steps of a thread, but thread " +
                           formatIndex(thread.threadId) + " of block " +
                           formatIndex(thread.blockId) +
                           " did not; --max-steps sets the limit");
    reportDeadlock();
    stop(thread);
  }
  if (chance())
    yield(thread);
}

void Workgroup::trap(Thread &thread, uint32_t site) {
  auto message =
      reports.getOp(site)->getAttrOfType<StringAttr>(kTrapMessageAttrName);
  reports.stop(site, (message ? message.getValue() : "expects not to be run") +
                         ", thread " + formatIndex(thread.threadId) +
                         ", block " + formatIndex(thread.blockId));
  stop(thread);
}

Thread *Workgroup::getWarp(const Thread &thread) const {
  return &threads[thread.number - thread.laneId];
}

uint64_t Workgroup::getWarpMask(const Thread &thread) const {
  uint32_t count =
      std::min(launch.warpSize,
               threadsOfGroup - (getNumberInGroup(thread) - thread.laneId));
  return llvm::maskTrailingOnes<uint64_t>(count);
}

void Workgroup::requireWarp(Thread &thread, uint32_t site, uint32_t size) {
  if (launch.warpSize == size &&
      getWarpMask(thread) == llvm::maskTrailingOnes<uint64_t>(size))
    return;
  reports.stop(site, "expects a warp of " + Twine(size) +
                         " lanes, but got one of " +
                         Twine(llvm::popcount(getWarpMask(thread))) +
                         ", thread " + formatIndex(thread.threadId));
  stop(thread);
}

void Workgroup::collective(Thread &thread, uint32_t site, uint64_t mask,
                           const char *name, Compute compute) {
  mask &= getWarpMask(thread);
  if (!(mask >> thread.laneId & 1)) {
    reports.stop(site, "expects a mask with the lane itself, thread " +
                           formatIndex(thread.threadId) + ", block " +
                           formatIndex(thread.blockId));
    stop(thread);
  }
  auto &pending = collectives[getWarpNumber(thread)];
  auto *it = llvm::find_if(pending, [&](const Collective &other) {
    return other.site == site && other.mask == mask;
  });
  if (it == pending.end()) {
    pending.push_back({site, mask, 0});
    it = &pending.back();
  }
  it->arrived |= uint64_t(1) << thread.laneId;
  if (it->arrived != mask)
    return wait(thread, site, name);
  pending.erase(it);
  SmallVector<Thread *, 64> members(launch.warpSize, nullptr);
  Thread *warp = getWarp(thread);
  for (uint32_t index = 0; index < launch.warpSize; ++index)
    if (mask >> index & 1)
      members[index] = &warp[index];
  counters.converge(getWarpNumber(thread));
  compute(members);
  for (Thread *member : members)
    if (member && member != &thread)
      release(*member);
}

void Workgroup::barrier(Thread &thread, uint32_t site, uint32_t id,
                        uint32_t count, bool waits) {
  if (id >= kBarriers) {
    reports.stop(site, "expects a barrier below " + Twine(kBarriers) +
                           ", but got " + Twine(id));
    stop(thread);
  }
  if (count % launch.warpSize != 0) {
    reports.stop(site,
                 "expects a number of threads that is a multiple of the " +
                     Twine(launch.warpSize) + " of a warp, but got " +
                     Twine(count));
    stop(thread);
  }
  if (count == 0)
    count = threadsOfGroup;
  Barrier &barrier = barriers[thread.rank * kBarriers + id];
  if (barrier.arrived == 0)
    barrier.count = count;
  if (barrier.count != count) {
    reports.stop(site, "expects the same number of threads as those that came "
                       "to barrier " +
                           Twine(id) + ", " + Twine(barrier.count) +
                           ", but got " + Twine(count));
    stop(thread);
  }
  ++barrier.arrived;
  if (reports.isOn(HostCheck::Races))
    shadow.clocks.release(thread.number, barrier.known);
  if (waits)
    barrier.waiting.push_back(thread.number);
  if (barrier.arrived < count) {
    if (waits)
      wait(thread, site, ("barrier " + Twine(id)).str());
    return;
  }
  Barrier met = std::move(barrier);
  barrier = Barrier();
  thread.waitSite = site;
  if (reports.isOn(HostCheck::Convergence))
    checkConvergence(met.waiting);
  converge(thread.rank);
  for (uint32_t number : met.waiting) {
    if (reports.isOn(HostCheck::Races))
      shadow.clocks.acquire(number, met.known);
    if (number != thread.number)
      release(threads[number]);
  }
}

/// A barrier is an instruction of the warp: its threads wait at the same one.
void Workgroup::checkConvergence(ArrayRef<uint32_t> waiting) {
  SmallVector<Thread *> first(collectives.size(), nullptr);
  for (uint32_t number : waiting) {
    Thread *&leader = first[getWarpNumber(threads[number])];
    if (!leader)
      leader = &threads[number];
    if (leader->waitSite == threads[number].waitSite)
      continue;
    if (auto diagnostic = reports.add(
            HostCheck::Convergence, threads[number].waitSite, threads[number],
            "expects all lanes of a warp at the same barrier, but got lanes "
            "at two"))
      diagnostic->attachNote(reports.getLoc(leader->waitSite))
          << "thread " << formatIndex(leader->threadId) << " is here";
    return;
  }
}

void Workgroup::syncWarp(Thread &thread, uint32_t site, uint64_t mask) {
  collective(thread, site, mask, "all lanes of the warp",
             [&](ArrayRef<Thread *> warp) {
               if (!reports.isOn(HostCheck::Races))
                 return;
               Clocks::Snapshot known;
               for (Thread *member : warp)
                 if (member)
                   shadow.clocks.release(member->number, known);
               for (Thread *member : warp)
                 if (member)
                   shadow.clocks.acquire(member->number, known);
             });
}

void Workgroup::fenceProxy(Thread &thread) {
  mbarriers.fenceInit(thread);
  if (reports.isOn(HostCheck::Races))
    shadow.clocks.fence(thread.number);
}

/// "threads 0 to 31, 40 wait" or "thread 3 waits"
static std::string sayThat(ArrayRef<uint32_t> numbers, StringRef one,
                           StringRef several) {
  std::string text = numbers.size() == 1 ? "thread " : "threads ";
  llvm::raw_string_ostream stream(text);
  for (size_t begin = 0; begin < numbers.size();) {
    size_t end = begin + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1)
      ++end;
    stream << (begin > 0 ? ", " : "") << numbers[begin];
    if (end > begin + 1)
      stream << " to " << numbers[end - 1];
    begin = end;
  }
  stream << ' ' << (numbers.size() == 1 ? one : several);
  return text;
}

void Workgroup::reportDeadlock() {
  // Where threads wait, in the order of the first of them.
  struct Place {
    const Thread *first;
    SmallVector<uint32_t> numbers;
  };
  llvm::MapVector<std::tuple<uint32_t, StringRef, uint32_t>, Place> groups;
  llvm::MapVector<uint32_t, Place> done, running;
  auto add = [&](Place &place, const Thread &thread) {
    if (place.numbers.empty())
      place.first = &thread;
    place.numbers.push_back(getNumberInGroup(thread));
  };
  for (const Thread &thread : ArrayRef<Thread>(threads.get(), numThreads))
    if (thread.state == Thread::State::Waiting)
      add(groups[{thread.waitSite, thread.waitsFor, thread.rank}], thread);
    else
      add((thread.state == Thread::State::Done ? done : running)[thread.rank],
          thread);
  if (groups.empty())
    return;
  auto ofBlock = [&](const Thread &thread) {
    return launch.clusterSize == 1 ? std::string()
                                   : ", block " + formatIndex(thread.blockId);
  };
  InFlightDiagnostic diagnostic = reports.stop(
      std::get<0>(groups.front().first),
      "waits for " + std::get<1>(groups.front().first) +
          (running.empty() ? ", which never comes" : " meanwhile") +
          ", block " + formatIndex(groups.front().second.first->blockId));
  for (const auto &[where, place] : groups)
    diagnostic.attachNote(reports.getLoc(std::get<0>(where)))
        << sayThat(place.numbers, "waits", "wait") << " here for "
        << std::get<1>(where) << ofBlock(*place.first);
  for (auto [index, barrier] : llvm::enumerate(barriers))
    if (barrier.arrived > 0)
      diagnostic.attachNote()
          << "barrier " << index % kBarriers << ": " << barrier.arrived
          << " of " << barrier.count << " threads have come"
          << ofBlock(threads[index / kBarriers * threadsOfGroup]);
  if (clusterBarrier.arrived > 0)
    diagnostic.attachNote()
        << "the barrier of the cluster: " << clusterBarrier.arrived << " of "
        << numThreads << " threads have come";
  mbarriers.describe(diagnostic);
  for (const auto &[rank, place] : running)
    diagnostic.attachNote()
        << sayThat(place.numbers, "does not wait", "do not wait")
        << ofBlock(*place.first);
  for (const auto &[rank, place] : done)
    diagnostic.attachNote()
        << sayThat(place.numbers, "has returned", "have returned")
        << ofBlock(*place.first);
}
