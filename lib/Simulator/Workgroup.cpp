// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The scheduler: a lane runs until it has to wait. With a seed, any lane that
// can run may be the next one.

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
      lanesOfGroup(launch.shape.block[0] * launch.shape.block[1] *
                   launch.shape.block[2]),
      warpsOfGroup(llvm::divideCeil(lanesOfGroup, launch.warpSize)),
      numLanes(lanesOfGroup * launch.clusterSize),
      sharedBytes(launch.staticSharedBytes + launch.shape.sharedBytes),
      sharedStride(
          llvm::alignTo(sharedBytes + 2 * kSharedMargin, kSharedAlignment)),
      lanes(new Lane[numLanes]), shadow(reports), mbarriers(*this),
      warpgroups(*this), random(launch.options->seed) {
  for (uint32_t index = 0; index < numLanes; ++index)
    lanePointers.push_back(&lanes[index]);
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
  return stacks.reserve(numLanes);
}

bool Workgroup::chance() {
  return launch.options->seed != 0 && (random() & 1) != 0;
}

size_t Workgroup::choose(size_t count) {
  return launch.options->seed != 0 ? random() % count : 0;
}

void Workgroup::startLane(uint32_t index) {
  Lane &lane = lanes[index];
  const LaunchShape &shape = launch.shape;
  lane.number = index;
  lane.group = this;
  lane.rank = index / lanesOfGroup;
  lane.clusterSize = launch.clusterSize;
  lane.clusterId = lane.blockId[0] / launch.clusterSize;
  lane.numClusters = shape.grid[0] / launch.clusterSize;
  uint32_t number = index % lanesOfGroup;
  lane.threadId[0] = number % shape.block[0];
  lane.threadId[1] = number / shape.block[0] % shape.block[1];
  lane.threadId[2] = number / shape.block[0] / shape.block[1];
  lane.warpSize = launch.warpSize;
  lane.laneId = number % launch.warpSize;
  lane.warpId = number / launch.warpSize;
  for (int dim = 0; dim < 3; ++dim) {
    lane.blockSize[dim] = shape.block[dim];
    lane.gridSize[dim] = shape.grid[dim];
  }
  lane.shared = shared + lane.rank * size_t(sharedStride);
  lane.arguments = launch.arguments.data();
  lane.steps = 0;
  lane.openCopies.clear();
  lane.committedCopies.clear();
  lane.openStores.clear();
  lane.committedStores.clear();
  lane.buffers.clear();
  lane.clusterPhase.reset();
  lane.fiber.start(
      stacks.getTop(index), stacks.getBytes(),
      [](void *argument) {
        auto &lane = *static_cast<Lane *>(argument);
        if (lane.group->launch.flushDenormals)
          flushDenormals();
        lane.group->launch.kernel(&lane);
        lane.group->finish(lane);
      },
      &lane);
  lane.state = Lane::State::Ready;
  ready.push_back(&lane);
}

Lane *Workgroup::takeReady() {
  if (ready.empty())
    return nullptr;
  std::swap(ready.front(), ready[choose(ready.size())]);
  Lane *lane = ready.front();
  ready.pop_front();
  return lane;
}

bool Workgroup::run(uint32_t x, uint32_t y, uint32_t z) {
  std::memset(shared - kSharedMargin, DeviceTensor::kPoison, poisonedBytes);
  uint32_t size = launch.clusterSize;
  uint32_t warpgroupsOfGroup =
      llvm::divideCeil(lanesOfGroup, Warpgroups::kLanes);
  shadow.reset((size - 1) * sharedStride + sharedBytes, lanePointers,
               MBarriers::kActors + size * warpgroupsOfGroup);
  ready.clear();
  collectives.assign(size * warpsOfGroup, {});
  barriers.assign(size * kBarriers, {});
  clusterBarrier = ClusterBarrier();
  members.assign(size, {});
  mbarriers.reset();
  warpgroups.reset(lanesOfGroup, size);
  for (uint32_t number = 0; number < numLanes; ++number) {
    Lane &lane = lanes[number];
    lane.blockId[0] = x + number / lanesOfGroup;
    lane.blockId[1] = y;
    lane.blockId[2] = z;
    startLane(number);
  }
  numDone = 0;
  do {
    while (Lane *lane = takeReady()) {
      running = lane;
      lane->fiber.resume();
      if (stopped)
        return false;
    }
  } while (numDone < numLanes && mbarriers.landOne());
  mbarriers.reportPending();
  warpgroups.reportPending();
  counters.converge(~0u);
  if (numDone < numLanes)
    reportDeadlock();
  return numDone == numLanes;
}

void Workgroup::stop(Lane &lane) {
  stopped = true;
  lane.fiber.suspend();
  llvm_unreachable("nobody resumes a lane of a launch that was stopped");
}

void Workgroup::release(Lane &lane) {
  lane.state = Lane::State::Ready;
  ready.push_back(&lane);
}

void Workgroup::yield(Lane &lane) {
  release(lane);
  lane.fiber.suspend();
}

void Workgroup::wait(Lane &lane, uint32_t site, std::string what) {
  lane.state = Lane::State::Waiting;
  lane.waitSite = site;
  lane.waitsFor = std::move(what);
  lane.fiber.suspend();
}

void Workgroup::finish(Lane &lane) {
  lane.state = Lane::State::Done;
  ++numDone;
  if (++members[lane.rank].numDone == lanesOfGroup)
    checkUses(lane.rank);
  finishStores(lane);
  if (!reports.isOn(HostCheck::Waits))
    return;
  for (const auto &group : lane.committedCopies)
    lane.openCopies.append(group.begin(), group.end());
  for (const PendingCopy &copy : lane.openCopies)
    reports.add(HostCheck::Waits, copy.site, lane,
                "copies what is never waited for", /*isError=*/false);
}

void Workgroup::step(Lane &lane, uint32_t site) {
  if (++lane.steps > launch.options->maxSteps) {
    reports.stop(site, "expects a loop that ends within " +
                           Twine(launch.options->maxSteps) +
                           " steps of a lane, but thread " +
                           formatIndex(lane.threadId) + " of block " +
                           formatIndex(lane.blockId) +
                           " did not; --max-steps sets the limit");
    reportDeadlock();
    stop(lane);
  }
  if (chance())
    yield(lane);
}

void Workgroup::trap(Lane &lane, uint32_t site) {
  auto message =
      reports.getOp(site)->getAttrOfType<StringAttr>(kTrapMessageAttrName);
  reports.stop(site, (message ? message.getValue() : "expects not to be run") +
                         ", thread " + formatIndex(lane.threadId) + ", block " +
                         formatIndex(lane.blockId));
  stop(lane);
}

Lane *Workgroup::getWarp(const Lane &lane) const {
  return &lanes[lane.number - lane.laneId];
}

uint64_t Workgroup::getWarpMask(const Lane &lane) const {
  uint32_t count = std::min(
      launch.warpSize, lanesOfGroup - (getNumberInGroup(lane) - lane.laneId));
  return llvm::maskTrailingOnes<uint64_t>(count);
}

void Workgroup::requireWarp(Lane &lane, uint32_t site, uint32_t size) {
  if (launch.warpSize == size &&
      getWarpMask(lane) == llvm::maskTrailingOnes<uint64_t>(size))
    return;
  reports.stop(site, "expects a warp of " + Twine(size) +
                         " lanes, but got one of " +
                         Twine(llvm::popcount(getWarpMask(lane))) +
                         ", thread " + formatIndex(lane.threadId));
  stop(lane);
}

void Workgroup::collective(Lane &lane, uint32_t site, uint64_t mask,
                           const char *name, Compute compute) {
  mask &= getWarpMask(lane);
  if (!(mask >> lane.laneId & 1)) {
    reports.stop(site, "expects a mask with the lane itself, thread " +
                           formatIndex(lane.threadId) + ", block " +
                           formatIndex(lane.blockId));
    stop(lane);
  }
  auto &pending = collectives[getWarpNumber(lane)];
  auto *it = llvm::find_if(pending, [&](const Collective &other) {
    return other.site == site && other.mask == mask;
  });
  if (it == pending.end()) {
    pending.push_back({site, mask, 0});
    it = &pending.back();
  }
  it->arrived |= uint64_t(1) << lane.laneId;
  if (it->arrived != mask)
    return wait(lane, site, name);
  pending.erase(it);
  SmallVector<Lane *, 64> members(launch.warpSize, nullptr);
  Lane *warp = getWarp(lane);
  for (uint32_t index = 0; index < launch.warpSize; ++index)
    if (mask >> index & 1)
      members[index] = &warp[index];
  counters.converge(getWarpNumber(lane));
  compute(members);
  for (Lane *member : members)
    if (member && member != &lane)
      release(*member);
}

void Workgroup::barrier(Lane &lane, uint32_t site, uint32_t id, uint32_t count,
                        bool waits) {
  if (id >= kBarriers) {
    reports.stop(site, "expects a barrier below " + Twine(kBarriers) +
                           ", but got " + Twine(id));
    stop(lane);
  }
  if (count % launch.warpSize != 0) {
    reports.stop(site,
                 "expects a number of threads that is a multiple of the " +
                     Twine(launch.warpSize) + " of a warp, but got " +
                     Twine(count));
    stop(lane);
  }
  if (count == 0)
    count = lanesOfGroup;
  Barrier &barrier = barriers[lane.rank * kBarriers + id];
  if (barrier.arrived == 0)
    barrier.count = count;
  if (barrier.count != count) {
    reports.stop(site, "expects the same number of threads as those that came "
                       "to barrier " +
                           Twine(id) + ", " + Twine(barrier.count) +
                           ", but got " + Twine(count));
    stop(lane);
  }
  ++barrier.arrived;
  if (reports.isOn(HostCheck::Races))
    shadow.clocks.release(lane.number, barrier.known);
  if (waits)
    barrier.waiting.push_back(lane.number);
  if (barrier.arrived < count) {
    if (waits)
      wait(lane, site, ("barrier " + Twine(id)).str());
    return;
  }
  Barrier met = std::move(barrier);
  barrier = Barrier();
  lane.waitSite = site;
  if (reports.isOn(HostCheck::Convergence))
    checkConvergence(met.waiting);
  converge(lane.rank);
  for (uint32_t number : met.waiting) {
    if (reports.isOn(HostCheck::Races))
      shadow.clocks.acquire(number, met.known);
    if (number != lane.number)
      release(lanes[number]);
  }
}

/// A barrier is an instruction of the warp: its lanes wait at the same one.
void Workgroup::checkConvergence(ArrayRef<uint32_t> waiting) {
  SmallVector<Lane *> first(collectives.size(), nullptr);
  for (uint32_t number : waiting) {
    Lane *&leader = first[getWarpNumber(lanes[number])];
    if (!leader)
      leader = &lanes[number];
    if (leader->waitSite == lanes[number].waitSite)
      continue;
    if (auto diagnostic = reports.add(
            HostCheck::Convergence, lanes[number].waitSite, lanes[number],
            "expects all lanes of a warp at the same barrier, but got lanes "
            "at two"))
      diagnostic->attachNote(reports.getLoc(leader->waitSite))
          << "thread " << formatIndex(leader->threadId) << " is here";
    return;
  }
}

void Workgroup::syncWarp(Lane &lane, uint32_t site, uint64_t mask) {
  collective(lane, site, mask, "all lanes of the warp",
             [&](ArrayRef<Lane *> warp) {
               if (!reports.isOn(HostCheck::Races))
                 return;
               Clocks::Snapshot known;
               for (Lane *member : warp)
                 if (member)
                   shadow.clocks.release(member->number, known);
               for (Lane *member : warp)
                 if (member)
                   shadow.clocks.acquire(member->number, known);
             });
}

void Workgroup::fenceProxy(Lane &lane) {
  mbarriers.fenceInit(lane);
  if (reports.isOn(HostCheck::Races))
    shadow.clocks.fence(lane.number);
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
  // Where lanes wait, in the order of the first of them.
  struct Place {
    const Lane *first;
    SmallVector<uint32_t> numbers;
  };
  llvm::MapVector<std::tuple<uint32_t, StringRef, uint32_t>, Place> groups;
  llvm::MapVector<uint32_t, Place> done, running;
  auto add = [&](Place &place, const Lane &lane) {
    if (place.numbers.empty())
      place.first = &lane;
    place.numbers.push_back(getNumberInGroup(lane));
  };
  for (const Lane &lane : ArrayRef<Lane>(lanes.get(), numLanes))
    if (lane.state == Lane::State::Waiting)
      add(groups[{lane.waitSite, lane.waitsFor, lane.rank}], lane);
    else
      add((lane.state == Lane::State::Done ? done : running)[lane.rank], lane);
  if (groups.empty())
    return;
  auto ofBlock = [&](const Lane &lane) {
    return launch.clusterSize == 1 ? std::string()
                                   : ", block " + formatIndex(lane.blockId);
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
          << ofBlock(lanes[index / kBarriers * lanesOfGroup]);
  if (clusterBarrier.arrived > 0)
    diagnostic.attachNote()
        << "the barrier of the cluster: " << clusterBarrier.arrived << " of "
        << numLanes << " threads have come";
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
