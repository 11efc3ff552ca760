// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules of legality. A new rule needs a test on both sides of its limit.

#include "attune/Schedule/Legality.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attune;
using attn::ScheduleAttr;
using tile::MmaAtomAttr;
using tile::TargetAttr;

/// Channels start at multiples of this (see convert-tile-to-gpu).
static constexpr int64_t kBufferAlignment = 1024;

ScheduleProblem ScheduleProblem::get(attn::AttentionOp op) {
  return {op.getQuery().getType().getElementType(), op.getHeadDimQK(),
          op.getHeadDimV()};
}

static int64_t getThreads(ScheduleAttr schedule, TargetAttr target) {
  return schedule.getNumWarps() * target.getLanes();
}

/// Most registers that a lane can have with the wanted number of workgroups on
/// a core.
static int64_t getRegisterLimit(ScheduleAttr schedule, TargetAttr target) {
  int64_t share =
      target.getRegistersPerCore() /
      (schedule.getMinBlocksPerCore() * getThreads(schedule, target));
  return std::min(target.getRegisters(), share);
}

int64_t attune::getSharedBytes(const ScheduleProblem &problem,
                               ScheduleAttr schedule, TargetAttr target) {
  MmaAtomAttr atom = target.findAtom(problem.elementType);
  int64_t elementBytes = problem.elementType.getIntOrFloatBitWidth() / 8;
  int64_t dQK = llvm::alignTo(problem.headDimQK, atom.getK()),
          dV = llvm::alignTo(problem.headDimV, atom.getN());
  int64_t bytes = 0;
  for (int64_t elements : {schedule.getBlockM() * dQK,
                           schedule.getKStages() * schedule.getBlockN() * dQK,
                           schedule.getVStages() * schedule.getBlockN() * dV})
    bytes = llvm::alignTo(bytes, kBufferAlignment) + elements * elementBytes;
  return bytes;
}

int64_t attune::getAccumulatorRegisters(const ScheduleProblem &problem,
                                        ScheduleAttr schedule,
                                        TargetAttr target) {
  MmaAtomAttr atom = target.findAtom(problem.elementType);
  int64_t dV = llvm::alignTo(problem.headDimV, atom.getN());
  return llvm::divideCeil(schedule.getBlockM() * (dV + schedule.getBlockN()),
                          getThreads(schedule, target));
}

std::optional<Refusal> attune::checkSchedule(const ScheduleProblem &problem,
                                             ScheduleAttr schedule,
                                             TargetAttr target) {
  auto refuse = [](StringRef id, auto &&...parts) {
    return Refusal{id, llvm::formatv(parts...).str()};
  };
  if (ShapedType::isDynamic(problem.headDimQK) ||
      ShapedType::isDynamic(problem.headDimV))
    return refuse("dynamic-head-size",
                  "expects static head sizes, but got a dynamic one");
  MmaAtomAttr atom = target.findAtom(problem.elementType);
  if (!atom) {
    std::string type;
    llvm::raw_string_ostream(type) << problem.elementType;
    return refuse("no-matrix-instruction",
                  "expects an element type that '{0}' has a matrix instruction "
                  "for, but got {1}",
                  target.getChip(), type);
  }
  int64_t rows = schedule.getNumWarps() * atom.getM();
  if (schedule.getBlockM() % rows != 0)
    return refuse("rows-per-warp",
                  "expects block-m to be a multiple of {0} rows ({1} warps of "
                  "{2}), but got {3}",
                  rows, schedule.getNumWarps(), atom.getM(),
                  schedule.getBlockM());
  for (auto [what, multiple] :
       {std::pair<StringRef, int64_t>{"columns", atom.getN()},
        {"depth", atom.getK()}})
    if (schedule.getBlockN() % multiple != 0)
      return refuse(
          "block-n-multiple",
          "expects block-n to be a multiple of {0} ({1} of '{2}'), but got {3}",
          multiple, what, atom.getName(), schedule.getBlockN());
  int64_t threads = getThreads(schedule, target);
  if (threads > target.getMaxThreads())
    return refuse(
        "threads-overflow",
        "expects at most {0} threads in a workgroup on '{1}', but got {2}",
        target.getMaxThreads(), target.getChip(), threads);
  int64_t blocks = schedule.getMinBlocksPerCore();
  if (blocks * threads > target.getMaxThreadsPerCore())
    return refuse("threads-per-core",
                  "expects at most {0} threads on a core of '{1}', but got {2} "
                  "({3} workgroups of {4})",
                  target.getMaxThreadsPerCore(), target.getChip(),
                  blocks * threads, blocks, threads);
  int64_t shared = getSharedBytes(problem, schedule, target);
  if (shared > target.getShared())
    return refuse(
        "shared-overflow",
        "expects at most {0} bytes of shared memory on '{1}', but got {2}",
        target.getShared(), target.getChip(), shared);
  if (blocks * shared > target.getSharedPerCore())
    return refuse("shared-per-core",
                  "expects at most {0} bytes of shared memory on a core of "
                  "'{1}', but got {2} ({3} workgroups of {4})",
                  target.getSharedPerCore(), target.getChip(), blocks * shared,
                  blocks, shared);
  int64_t registers = getAccumulatorRegisters(problem, schedule, target);
  int64_t limit = getRegisterLimit(schedule, target);
  if (registers > limit)
    return refuse("register-overflow",
                  "expects accumulators of at most {0} registers a lane on "
                  "'{1}', but got {2}",
                  limit, target.getChip(), registers);
  return std::nullopt;
}

/// What a lane needs beside tiles: row statistics, loop state, addresses. Rows
/// whose length is no power of two cost more of these, for their places in
/// shared memory are not a few bits apart; so does a ring of one slot, where a
/// step's copies cannot be spread over it. Seen in compiled kernels.
static constexpr int64_t kOtherRegisters = 60, kOddRowRegisters = 48,
                         kOneSlotRegisters = 20;

/// Counts the tiles that live at the time when scores have become weights.
int64_t attune::estimateRegisters(const ScheduleProblem &problem,
                                  ScheduleAttr schedule, TargetAttr target) {
  MmaAtomAttr atom = target.findAtom(problem.elementType);
  constexpr int64_t kWordBits = 32;
  int64_t bits = problem.elementType.getIntOrFloatBitWidth();
  int64_t blockN = schedule.getBlockN();
  int64_t dQK = llvm::alignTo(problem.headDimQK, atom.getK()),
          dV = llvm::alignTo(problem.headDimV, atom.getN());
  int64_t mSteps =
      schedule.getBlockM() / (schedule.getNumWarps() * atom.getM());
  // An operand of several lanes counts in each of them.
  auto lhsRegisters = [&](int64_t depth) {
    return mSteps * (depth / atom.getK()) * atom.getLhs().getNumRegisters() *
           bits / kWordBits;
  };
  // Without asynchronous copies the next blocks pass through registers, and
  // compilers gather plain loads, so that a query read at each step takes as
  // many registers as one that stays.
  bool plainLoads = target.getCopyWidths().empty();
  int64_t query =
      schedule.getQInRegisters() || plainLoads ? lhsRegisters(dQK) : 0;
  int64_t weights = lhsRegisters(blockN);
  int64_t keys =
      blockN / atom.getN() * atom.getRhs().getNumRegisters() * bits / kWordBits;
  int64_t copied = plainLoads ? blockN * (dQK + dV) * bits / kWordBits /
                                    getThreads(schedule, target)
                              : 0;
  bool oddRows = !llvm::isPowerOf2_64(dQK) || !llvm::isPowerOf2_64(dV);
  bool oneSlot = schedule.getKStages() == 1 || schedule.getVStages() == 1;
  return getAccumulatorRegisters(problem, schedule, target) + query + weights +
         keys + copied + kOtherRegisters + (oddRows ? kOddRowRegisters : 0) +
         (oneSlot ? kOneSlotRegisters : 0);
}

std::optional<ScheduleAttr>
attune::selectSchedule(const ScheduleProblem &problem, TargetAttr target) {
  MLIRContext *context = target.getContext();
  ScheduleAttr base = ScheduleAttr::getDefault(context);
  std::optional<ScheduleAttr> best;
  int64_t bestExcess = std::numeric_limits<int64_t>::max();
  for (int64_t blockM : {64, 128, 32, 16, 256})
    for (int64_t blockN : {64, 32, 16})
      for (int64_t warps : {4, 8, 2, 1})
        for (int64_t stages : {2, 1})
          for (int64_t inRegisters : {1, 0}) {
            auto schedule = ScheduleAttr::get(
                context, blockM, blockN, warps, stages, stages, inRegisters,
                base.getSplitMasked(), base.getTileOrder(),
                base.getMinBlocksPerCore());
            if (checkSchedule(problem, schedule, target))
              continue;
            int64_t excess = estimateRegisters(problem, schedule, target) -
                             getRegisterLimit(schedule, target);
            if (excess <= 0)
              return schedule;
            if (excess < bestExcess) {
              bestExcess = excess;
              best = schedule;
            }
          }
  return best;
}
