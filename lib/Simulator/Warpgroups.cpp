// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An MMA is computed when it is waited for, or at once if the seed says so;
// its operands in workgroup memory must not change in between. Its sums are
// exact products and the accumulator in f64, rounded once. Hardware keeps fewer
// bits of sums of products of 8 bits, which does not show here.

#include "Warpgroups.h"
#include "Runtime.h"

using namespace mlir;
using namespace attune;

/// A ticket is a quiet NaN with the sign bit: 15 bits of the MMA's number,
/// counted from 1 so that it is not the NaN of the CPU's own arithmetic and not
/// up to all ones, which are poison, and 7 bits for the register.
static constexpr uint32_t kTicket = 0xffc00000, kRegisterBits = 7;
static constexpr uint32_t kTicketNumbers = 0x7ffd;
/// MMAs of a warpgroup whose results can still be asked for.
static constexpr size_t kKept = 1024;
static constexpr uint32_t kRows = 64, kDepthBytes = 32;
/// Of a thread that holds its part of the left operand.
static constexpr uint32_t kLeftRegisters = 4;

static constexpr uint32_t kWholeWarp = ~uint32_t(0);
static constexpr uint32_t kAllWarps = (1u << Warpgroups::kWarps) - 1;

static uint32_t getDepth(HostElementType type) {
  return kDepthBytes / getOperandBytes(type);
}

static uint32_t makeTicket(uint64_t number, uint32_t index) {
  return kTicket |
         static_cast<uint32_t>(number % kTicketNumbers + 1) << kRegisterBits |
         index;
}

static bool isTicket(uint32_t word) {
  uint32_t number = (word & ~kTicket) >> kRegisterBits;
  return (word & kTicket) == kTicket && number >= 1 && number <= kTicketNumbers;
}

void Warpgroups::reset(uint32_t threadsOfGroup, uint32_t numGroups) {
  groups.clear();
  groups.resize(numGroups * llvm::divideCeil(threadsOfGroup, kLanes));
}

uint32_t Warpgroups::getIndex(const Thread &thread) const {
  return thread.rank * llvm::divideCeil(workgroup.threadsOfGroup, kLanes) +
         workgroup.getNumberInGroup(thread) / kLanes;
}

Warpgroups::Group &Warpgroups::getGroup(const Thread &thread) {
  return groups[getIndex(thread)];
}

uint32_t Warpgroups::getWarpIndex(const Thread &thread) const {
  return workgroup.getNumberInGroup(thread) % kLanes / kWarpLanes;
}

Warpgroups::Warp &Warpgroups::getWarp(const Thread &thread) {
  return getGroup(thread).warps[getWarpIndex(thread)];
}

void Warpgroups::fence(Thread &thread, uint32_t site) {
  workgroup.requireWarp(thread, site, kWarpLanes);
  workgroup.collective(thread, site, kWholeWarp,
                       "all lanes of the warp to fence registers",
                       [&](ArrayRef<Thread *>) {
                         Warp &warp = getWarp(thread);
                         warp.fenced = warp.everFenced = true;
                       });
}

void Warpgroups::multiply(Thread &thread, uint32_t site, uint32_t columns,
                          HostElementType type, uint32_t flags) {
  workgroup.requireWarp(thread, site, kWarpLanes);
  Group &group = getGroup(thread);
  if (llvm::alignTo(workgroup.getNumberInGroup(thread) + 1, kLanes) >
      workgroup.threadsOfGroup) {
    workgroup.reports.stop(
        site, "expects four warps, but got " +
                  Twine(workgroup.threadsOfGroup % kLanes / kWarpLanes) +
                  ", thread " + formatIndex(thread.threadId));
    workgroup.stop(thread);
  }
  SmallVector<Thread *> &arrived = group.arrived[site];
  arrived.push_back(&thread);
  if (arrived.size() < kLanes)
    return workgroup.wait(thread, site, "all lanes of four warps to multiply");
  SmallVector<Thread *> threads = std::move(arrived);
  group.arrived.erase(site);
  llvm::sort(threads,
             [](Thread *a, Thread *b) { return a->number < b->number; });
  for (uint32_t warp = 0; warp < kWarps; ++warp)
    workgroup.counters.converge(
        workgroup.getWarpNumber(*threads[warp * kWarpLanes]));
  Mma mma;
  mma.site = site;
  mma.columns = columns;
  mma.flags = flags;
  mma.type = type;
  start(group, threads, std::move(mma));
  for (Thread *other : threads)
    if (other != &thread)
      workgroup.release(*other);
}

void Warpgroups::start(Group &group, ArrayRef<Thread *> threads, Mma mma) {
  Reports &reports = workgroup.reports;
  Thread &first = *threads.front();
  uint32_t count = mma.columns / 2;
  bool leftInRegisters = mma.flags & kHostMmaLeftInRegisters;
  using Descriptors = std::pair<uint64_t, uint64_t>;
  std::optional<Descriptors> descriptors;
  auto takeWords = [](Thread &thread, uint32_t number,
                      std::vector<uint32_t> &words) {
    size_t bytes = number * sizeof(uint32_t);
    words.resize(words.size() + number);
    std::memcpy(&words[words.size() - number], thread.takeBytes(bytes), bytes);
  };
  for (Thread *thread : threads) {
    thread->beginOperands();
    Descriptors own;
    if (leftInRegisters) {
      takeWords(*thread, kLeftRegisters, mma.left);
      own.second = thread->takeOperand<uint64_t>();
      takeWords(*thread, count, mma.registers);
    } else {
      takeWords(*thread, count, mma.registers);
      own.first = thread->takeOperand<uint64_t>();
      own.second = thread->takeOperand<uint64_t>();
    }
    if (!descriptors)
      descriptors = own;
    if (descriptors != own && reports.isOn(HostCheck::Convergence))
      reports.add(HostCheck::Convergence, mma.site, *thread,
                  "expects the descriptors of thread " +
                      formatIndex(first.threadId) + ", but got others");
  }
  mma.memory = first.shared;
  mma.a = MatrixDescriptor(descriptors->first);
  mma.b = MatrixDescriptor(descriptors->second);
  if ((!leftInRegisters &&
       !addPieces(mma, first, mma.a, kRows, mma.flags & kHostMmaTransposeA)) ||
      !addPieces(mma, first, mma.b, mma.columns,
                 mma.flags & kHostMmaTransposeB))
    mma.pieces.clear();
  if (reports.isOn(HostCheck::Waits)) {
    checkFences(group, threads, mma);
    checkAccumulators(group, threads, mma);
  }
  uint32_t readers[kWarps];
  for (uint32_t warp = 0; warp < kWarps; ++warp)
    readers[warp] = threads[warp * kWarpLanes]->number;
  for (uint32_t piece : mma.pieces)
    workgroup.shadow.beginRead(readers, mma.site, piece,
                               MatrixDescriptor::kPieceBytes);
  if (reports.isOn(HostCheck::Races))
    mma.end = workgroup.shadow.clocks.act(MBarriers::kActors + getIndex(first));
  mma.number = group.nextNumber++;
  for (Thread *thread : threads)
    for (uint32_t index = 0; index < count; ++index) {
      uint32_t ticket = makeTicket(mma.number, index);
      std::memcpy(thread->results + index * sizeof(ticket), &ticket,
                  sizeof(ticket));
    }
  for (Warp &warp : group.warps)
    warp.open.push_back(mma.number);
  workgroup.counters.readMatrices(mma.site, int64_t(mma.pieces.size()) *
                                                MatrixDescriptor::kPieceBytes);
  workgroup.counters.matrix(2.0 * kRows * mma.columns * getDepth(mma.type));
  uint64_t number = mma.number;
  group.mmas.push_back(std::move(mma));
  // What no warp has waited for stays.
  while (group.mmas.size() > kKept && group.mmas.front().waited == kAllWarps)
    group.mmas.pop_front();
  if (workgroup.chance())
    computeUntil(group, number);
}

bool Warpgroups::addPieces(Mma &mma, const Thread &thread,
                           const MatrixDescriptor &matrix, uint32_t extent,
                           bool isTransposed) {
  Reports &reports = workgroup.reports;
  if (matrix.hasUnknownBits || matrix.baseOffset != 0) {
    reports.add(HostCheck::Alignment, mma.site, thread,
                "expects a descriptor of an address, two offsets and a "
                "swizzle, but got other bits that are not 0");
    return false;
  }
  if (matrix.start % matrix.getPatternBytes() >= 128 && matrix.pieces > 1) {
    reports.add(HostCheck::Alignment, mma.site, thread,
                "expects a matrix that starts in the first 128 bytes of a "
                "swizzle's pattern of " +
                    Twine(matrix.getPatternBytes()) +
                    " bytes, but got address shared+0x" +
                    llvm::utohexstr(matrix.start));
    return false;
  }
  uint32_t depth = getDepth(mma.type), bytes = getOperandBytes(mma.type);
  uint32_t along = isTransposed ? extent : depth,
           across = isTransposed ? depth : extent;
  for (uint32_t row = 0; row < across; ++row)
    for (uint32_t at = 0; at < along;
         at += MatrixDescriptor::kPieceBytes / bytes) {
      uint32_t offset =
          matrix.getAddress(isTransposed ? at : row, isTransposed ? row : at,
                            isTransposed, bytes);
      if (offset + MatrixDescriptor::kPieceBytes > workgroup.sharedBytes) {
        reports.add(HostCheck::Bounds, mma.site, thread,
                    "reads a matrix outside of the " +
                        Twine(workgroup.sharedBytes) +
                        " bytes of workgroup memory, address shared+0x" +
                        llvm::utohexstr(offset));
        return false;
      }
      mma.pieces.push_back(thread.rank * workgroup.sharedStride + offset);
    }
  return true;
}

void Warpgroups::checkFences(Group &group, ArrayRef<Thread *> threads,
                             const Mma &mma) {
  bool chained =
      (mma.flags & kHostMmaAccumulate) && llvm::all_of(mma.registers, isTicket);
  for (uint32_t index = 0; index < kWarps; ++index) {
    const Warp &warp = group.warps[index];
    if (!(mma.flags & kHostMmaLate) &&
        (warp.fenced || (chained && warp.everFenced)))
      continue;
    workgroup.reports.add(HostCheck::Waits, mma.site,
                          *threads[index * kWarpLanes],
                          "expects nvvm.wgmma.fence.aligned between other "
                          "accesses to its registers and the MMA");
    return;
  }
}

void Warpgroups::checkAccumulators(Group &group, ArrayRef<Thread *> threads,
                                   const Mma &mma) {
  if (!(mma.flags & kHostMmaAccumulate))
    return;
  uint32_t count = mma.columns / 2;
  for (auto [at, word] : llvm::enumerate(mma.registers)) {
    Thread &thread = *threads[at / count];
    uint32_t index;
    const Mma *source = find(group, word, index);
    if (!source || isWaited(*source, thread) ||
        (source->columns == mma.columns && index == at % count))
      continue;
    reportEarlyRead(mma.site, thread, *source);
    return;
  }
}

void Warpgroups::commit(Thread &thread, uint32_t site) {
  workgroup.requireWarp(thread, site, kWarpLanes);
  workgroup.collective(thread, site, kWholeWarp,
                       "all lanes of the warp to commit MMAs",
                       [&](ArrayRef<Thread *>) {
                         Warp &warp = getWarp(thread);
                         warp.committed.push_back(std::move(warp.open));
                         warp.open.clear();
                       });
}

void Warpgroups::wait(Thread &thread, uint32_t site, uint32_t pending) {
  workgroup.requireWarp(thread, site, kWarpLanes);
  workgroup.collective(
      thread, site, kWholeWarp, "all lanes of the warp to wait for MMAs",
      [&](ArrayRef<Thread *> threads) {
        Group &group = getGroup(thread);
        Warp &warp = getWarp(thread);
        warp.fenced = false;
        int64_t bytes = 0;
        for (; warp.committed.size() > pending; warp.committed.pop_front())
          for (uint64_t number : warp.committed.front()) {
            computeUntil(group, number);
            Mma &mma = group.mmas[number - group.mmas.front().number];
            uint32_t leader =
                thread.number - workgroup.getNumberInGroup(thread) % kLanes;
            if (!mma.waited)
              for (uint32_t piece : mma.pieces)
                workgroup.shadow.endRead(leader, mma.end, mma.site, piece,
                                         MatrixDescriptor::kPieceBytes);
            mma.waited |= 1u << (&warp - group.warps);
            bytes += int64_t(mma.columns) * kRows / kWarps * 4;
            if (workgroup.reports.isOn(HostCheck::Races))
              for (Thread *member : threads)
                workgroup.shadow.clocks.learn(member->number, mma.end);
          }
        workgroup.counters.wait(site, /*isFirst=*/true, bytes);
      });
}

void Warpgroups::computeUntil(Group &group, uint64_t number) {
  for (; group.nextComputed <= number; ++group.nextComputed)
    compute(group, group.mmas[group.nextComputed - group.mmas.front().number]);
}

/// PTX ISA, "Register Fragments and Shared Memory Matrix Layouts": matrix A of
/// wgmma.m64nNk16 or m64nNk32 in registers, as 64 rows.
static std::vector<double> unpackLeft(ArrayRef<uint32_t> registers,
                                      HostElementType type) {
  uint32_t depth = getDepth(type), bytes = getOperandBytes(type),
           ofWord = sizeof(uint32_t) / bytes;
  std::vector<double> values(size_t(kRows) * depth);
  for (size_t at : llvm::seq(registers.size()))
    for (uint32_t part = 0; part < ofWord; ++part) {
      uint32_t number = at / kLeftRegisters, index = at % kLeftRegisters;
      uint32_t row = 16 * (number / 32) + number % 32 / 4 + 8 * (index % 2);
      uint32_t k = depth / 2 * (index / 2) + ofWord * (number % 4) + part;
      values[row * depth + k] = loadOperand(
          type, reinterpret_cast<const char *>(&registers[at]) + bytes * part);
    }
  return values;
}

void Warpgroups::compute(Group &group, Mma &mma) {
  mma.computed = true;
  uint32_t count = mma.columns / 2;
  if (mma.pieces.empty()) {
    llvm::fill(mma.registers, ~uint32_t(0));
    return;
  }
  uint32_t depth = getDepth(mma.type), bytes = getOperandBytes(mma.type);
  auto load = [&](const MatrixDescriptor &matrix, uint32_t extent,
                  bool isTransposed, bool negated) {
    std::vector<double> values(size_t(extent) * depth);
    for (uint32_t index = 0; index < extent; ++index)
      for (uint32_t k = 0; k < depth; ++k) {
        double value = loadOperand(
            mma.type,
            mma.memory + matrix.getAddress(index, k, isTransposed, bytes));
        values[index * depth + k] = negated ? -value : value;
      }
    return values;
  };
  std::vector<double> a =
      mma.left.empty() ? load(mma.a, kRows, mma.flags & kHostMmaTransposeA,
                              mma.flags & kHostMmaNegateA)
                       : unpackLeft(mma.left, mma.type);
  std::vector<double> b =
      load(mma.b, mma.columns, mma.flags & kHostMmaTransposeB,
           mma.flags & kHostMmaNegateB);
  // PTX ISA, "Register Fragments and Shared Memory Matrix Layouts": matrix D
  // of wgmma.m64nNk16, which is that of m64nNk32.
  for (uint32_t number = 0; number < kLanes; ++number)
    for (uint32_t i = 0; i < count; ++i) {
      uint32_t row = 16 * (number / 32) + number % 32 / 4 + 8 * (i / 2 % 2);
      uint32_t column = 8 * (i / 4) + 2 * (number % 4) + i % 2;
      uint32_t &word = mma.registers[number * count + i];
      double sum = 0;
      if (mma.flags & kHostMmaAccumulate) {
        uint32_t index;
        const Mma *source = find(group, word, index);
        sum = llvm::bit_cast<float>(
            source ? source->registers[number * (source->columns / 2) + index]
                   : word);
      }
      for (uint32_t k = 0; k < depth; ++k)
        sum += a[row * depth + k] * b[column * depth + k];
      word = llvm::bit_cast<uint32_t>(static_cast<float>(sum));
    }
}

const Warpgroups::Mma *Warpgroups::find(const Group &group, uint32_t word,
                                        uint32_t &index) {
  if (!isTicket(word) || group.mmas.empty())
    return nullptr;
  uint64_t last = group.nextNumber - 1;
  uint64_t wanted = ((word & ~kTicket) >> kRegisterBits) - 1;
  uint64_t age =
      (last % kTicketNumbers + kTicketNumbers - wanted) % kTicketNumbers;
  if (age >= group.mmas.size())
    return nullptr;
  index = word & ((1u << kRegisterBits) - 1);
  return &group.mmas[group.mmas.size() - 1 - age];
}

bool Warpgroups::isWaited(const Mma &mma, const Thread &thread) const {
  return mma.waited >> getWarpIndex(thread) & 1;
}

void Warpgroups::reportEarlyRead(uint32_t site, const Thread &thread,
                                 const Mma &mma) {
  if (!workgroup.reports.isOn(HostCheck::Waits))
    return;
  if (auto diagnostic =
          workgroup.reports.add(HostCheck::Waits, site, thread,
                                "reads the result of an MMA that was not "
                                "waited for"))
    diagnostic->attachNote(workgroup.reports.getLoc(mma.site))
        << "the MMA is here";
}

void Warpgroups::read(Thread &thread, uint32_t site, uint32_t *words,
                      uint32_t count) {
  Group &group = getGroup(thread);
  for (uint32_t &word : MutableArrayRef<uint32_t>(words, count)) {
    uint32_t index;
    const Mma *mma = find(group, word, index);
    if (!mma) {
      if (isTicket(word)) {
        workgroup.reports.stop(site, "expects one of the last " + Twine(kKept) +
                                         " MMAs of the warps");
        workgroup.stop(thread);
      }
      continue;
    }
    if (!isWaited(*mma, thread)) {
      reportEarlyRead(site, thread, *mma);
      continue;
    }
    word = mma->registers[workgroup.getNumberInGroup(thread) % kLanes *
                              (mma->columns / 2) +
                          index];
  }
}

void Warpgroups::reportPending() const {
  if (!workgroup.reports.isOn(HostCheck::Waits))
    return;
  for (auto [number, group] : llvm::enumerate(groups))
    for (const Mma &mma : group.mmas)
      if (mma.waited != kAllWarps)
        workgroup.reports.add(HostCheck::Waits, mma.site,
                              workgroup.threads[number * kLanes],
                              "multiplies what is never waited for",
                              /*isError=*/false);
}
