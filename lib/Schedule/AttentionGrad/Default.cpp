// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The schedule of gradients where none is given. Each kernel is chosen for
// itself, for no rule looks at both.

#include "attune/Schedule/AttentionGrad/Legality.h"

using namespace mlir;
using namespace attune;
using schedule::AttentionGradAttr;
using tile::TargetAttr;

static void setKernel(AttentionGradSchedule &schedule, MaskDim owns,
                      int64_t owned, int64_t visited, int64_t warps,
                      int64_t stages, bool inRegisters) {
  if (owns == MaskDim::Key) {
    schedule.kvBlockN = owned;
    schedule.kvBlockM = visited;
    schedule.kvWarps = warps;
    schedule.kvStages = stages;
    schedule.kvInRegisters = inRegisters;
    return;
  }
  schedule.qBlockM = owned;
  schedule.qBlockN = visited;
  schedule.qWarps = warps;
  schedule.qStages = stages;
  schedule.qInRegisters = inRegisters;
}

/// More registers than can be missing: there is no legal schedule.
static constexpr int64_t kNone = std::numeric_limits<int64_t>::max();

/// Registers of a thread that the kernels which own such rows are estimated to
/// need beyond those that they may have.
static int64_t countExcess(const AttentionGradProblem &problem,
                           AttentionGradAttr schedule, MaskDim owns,
                           TargetAttr target) {
  int64_t excess = 0;
  for (const GradientKernel &kernel : getGradientKernels(schedule, owns))
    excess =
        std::max(excess, estimateRegisters(problem, schedule, kernel, target) -
                             getBudget(problem, schedule, kernel, target)
                                 .getRegisterLimit(target));
  return excess;
}

namespace {
/// The best schedule of one kernel so far, by the registers that are missing.
struct Choice {
  AttentionGradSchedule schedule;
  int64_t excess = kNone;
};
} // namespace

static bool isSmall(const AttentionGradProblem &problem) {
  return std::max(problem.headDimQK, problem.headDimV) <= 64;
}

/// Chooses one kernel beside the other one as it is in `schedule`, which fits
/// what any kernel does.
static Choice chooseKernel(const AttentionGradProblem &problem,
                           AttentionGradSchedule schedule, MaskDim owns,
                           TargetAttr target) {
  Choice best;
  bool byGroups = schedule.mmaWarps > 1;
  SmallVector<int64_t> warpCounts{4, 8, 2, 1}, blocks{64, 32, 128, 16};
  if (byGroups) {
    warpCounts = {8, 12, 4};
    // Seen on an H200.
    bool isFused = schedule.form == schedule::GradientForm::Fused ||
                   schedule.form == schedule::GradientForm::Ordered;
    if ((owns == MaskDim::Query || isFused) && isSmall(problem))
      blocks = {128, 64, 32, 16};
    // Small blocks that come ahead, or large ones that do not: 6 percent faster
    // where all are visited, and slower under a causal mask.
    if (schedule.form == schedule::GradientForm::Apart && !problem.isMasked)
      blocks = {32, 16};
  }
  for (int64_t owned : {128, 64, 192, 32, 16})
    for (int64_t visited : blocks)
      for (int64_t warps : warpCounts)
        for (int64_t stages : {2, 1})
          for (bool inRegisters : {true, false}) {
            if (byGroups && (inRegisters || owned != 16 * warps))
              continue;
            AttentionGradSchedule wanted = schedule;
            setKernel(wanted, owns, owned, visited, warps, stages, inRegisters);
            AttentionGradAttr attr = wanted.getAttr(target.getContext());
            if (checkLegal(problem, attr, target))
              continue;
            int64_t excess = countExcess(problem, attr, owns, target);
            if (excess >= best.excess)
              continue;
            best = {wanted, excess};
            if (excess == 0)
              return best;
          }
  return best;
}

/// A legal schedule of this form by single warps, or by warpgroups with a
/// producer, of which no kernel is estimated to lack more registers than
/// `excess`, which becomes what is missing.
static AttentionGradAttr select(const AttentionGradProblem &problem,
                                schedule::GradientForm form, bool byGroups,
                                TargetAttr target, int64_t &excess) {
  AttentionGradSchedule schedule;
  schedule.form = form;
  if (byGroups)
    schedule.mmaWarps = schedule.producerWarps = 4;
  // The least that a kernel can be, which leaves the other one its choice.
  tile::MmaAtomAttr atom =
      findAtom(problem, schedule.getAttr(target.getContext()), target);
  if (!atom)
    return {};
  // No knob has less, whatever the instruction.
  constexpr int64_t kLeast = 16;
  int64_t owned = std::max(atom.getM(), kLeast),
          visited = std::max({atom.getN(), atom.getK(), kLeast});
  for (MaskDim owns : {MaskDim::Key, MaskDim::Query})
    setKernel(schedule, owns, owned, visited, atom.getWarps(),
              /*stages=*/1, /*inRegisters=*/!byGroups);
  int64_t missing = 0;
  for (MaskDim owns : {MaskDim::Key, MaskDim::Query}) {
    Choice choice = chooseKernel(problem, schedule, owns, target);
    if (choice.excess > excess)
      return {};
    schedule = choice.schedule;
    missing = std::max(missing, choice.excess);
  }
  excess = missing;
  return schedule.getAttr(target.getContext());
}

/// The fused form for heads whose sums leave a warpgroup no registers: two of
/// them share the columns of small tiles. On an H200 that is 7 to 15 percent
/// faster than the form apart (docs/measurements/Gradients.md). Tiles that
/// scores read are loaded by others alone.
static AttentionGradAttr selectWide(const AttentionGradProblem &problem,
                                    AttentionGradSchedule schedule,
                                    TargetAttr target) {
  if (!problem.regionTiles.empty())
    return {};
  setKernel(schedule, MaskDim::Key, /*owned=*/64, /*visited=*/kRowsByThreads,
            /*warps=*/8, /*stages=*/2, /*inRegisters=*/false);
  AttentionGradAttr wide = schedule.getAttr(target.getContext());
  bool fits = !checkLegal(problem, wide, target) &&
              countExcess(problem, wide, MaskDim::Key, target) == 0;
  return fits ? wide : AttentionGradAttr();
}

/// How the assembler works where a workgroup has an SM to itself. On an H200,
/// in order, `plain` is 4 to 6 percent faster than `thorough` for 64 columns,
/// and `sparing` 2 to 3 for 128; in no order, of known lengths, `plain` is 2 to
/// 4 percent faster without a mask, and `sparing` up to 7 under one of 64
/// columns and 1 of 128. Of lengths known at run time, either is slower
/// (docs/measurements/Gradients.md).
static schedule::Assembler
chooseAssembler(const AttentionGradProblem &problem) {
  if (problem.isDeterministic)
    return isSmall(problem) ? schedule::Assembler::Plain
                            : schedule::Assembler::Sparing;
  if (problem.hasDynamicLength)
    return schedule::Assembler::Thorough;
  return problem.isMasked ? schedule::Assembler::Sparing
                          : schedule::Assembler::Plain;
}

/// A legal schedule of the fused form, in order where that is asked for, that
/// spills nothing, by warpgroups with a producer.
static AttentionGradAttr selectFused(const AttentionGradProblem &problem,
                                     TargetAttr target) {
  AttentionGradSchedule schedule;
  schedule.form = problem.isDeterministic ? schedule::GradientForm::Ordered
                                          : schedule::GradientForm::Fused;
  schedule.mmaWarps = schedule.producerWarps = 4;
  if (!findAtom(problem, schedule.getAttr(target.getContext()), target))
    return {};
  Choice choice = chooseKernel(problem, schedule, MaskDim::Key, target);
  if (choice.excess > 0)
    return selectWide(problem, schedule, target);
  // One workgroup computes while the other waits, where both have room.
  AttentionGradSchedule two = choice.schedule;
  two.kvWorkgroupsPerSm = 2;
  AttentionGradAttr both = two.getAttr(target.getContext());
  if (!checkLegal(problem, both, target) &&
      countExcess(problem, both, MaskDim::Key, target) == 0)
    return both;
  AttentionGradSchedule one = choice.schedule;
  // On an H200 1 to 3 percent faster for 64 columns, and slower for 128.
  one.strengthReduction = isSmall(problem);
  one.assembler = chooseAssembler(problem);
  return one.getAttr(target.getContext());
}

/// Whether the split form is better than what selectFused() finds. On an H200
/// it is faster than the ordered form for larger heads where few tiles take
/// turns, by 8 percent at 1024 positions, and slower at 4096
/// (docs/measurements/Gradients.md). Of packed sequences it is 2 to 21 percent
/// faster under a causal mask, and 6 to 9 slower without one, where wrong
/// starts would let workgroups of the ordered form wait for ever: that is for
/// who asks for it.
static bool isSplitBetter(const AttentionGradProblem &problem) {
  constexpr int64_t kLong = 2048;
  bool isShort =
      !isSmall(problem) && problem.length > 0 && problem.length < kLong;
  return problem.isDeterministic && (problem.hasLengths || isShort);
}

/// See selectSchedule(), without lists.
static AttentionGradAttr selectWhole(const AttentionGradProblem &problem,
                                     TargetAttr target) {
  AttentionGradAttr fused = selectFused(problem, target);
  if (fused && !isSplitBetter(problem))
    return fused;
  constexpr schedule::GradientForm forms[] = {schedule::GradientForm::Split,
                                              schedule::GradientForm::Apart};
  for (schedule::GradientForm form : forms) {
    int64_t none = 0;
    if (AttentionGradAttr groups =
            select(problem, form, /*byGroups=*/true, target, none))
      return groups;
  }
  if (fused)
    return fused;
  // Schedules that spill are those of chips without a better one.
  AttentionGradAttr best;
  int64_t least = kNone - 1;
  for (schedule::GradientForm form : forms)
    if (AttentionGradAttr found =
            select(problem, form, /*byGroups=*/false, target, least)) {
      if (least == 0)
        return found;
      best = found;
      --least;
    }
  return best;
}

/// Whether kernels in front list the blocks that the mask shows: where nothing
/// else says what can be skipped, and there are more than two of the blocks
/// that tiles of common sizes visit. On an H200 a mask of all heads that shows
/// a part of each block takes 1 percent longer so, and one that each head has
/// of its own 14 to 36; what shows half of the blocks takes 10 to 45 less
/// (docs/measurements/Gradients.md).
static bool isListingBetter(const AttentionGradProblem &problem) {
  constexpr int64_t kShort = 256;
  return problem.isListable && problem.asksData &&
         (problem.length == 0 || problem.length > kShort);
}

AttentionGradAttr attune::selectSchedule(const AttentionGradProblem &problem,
                                         TargetAttr target) {
  AttentionGradAttr whole = selectWhole(problem, target);
  if (!whole || !isListingBetter(problem))
    return whole;
  SmallVector<int64_t> values(whole.getValues());
  values[AttentionGradAttr::listBlocks] = 1;
  auto listed = AttentionGradAttr::get(target.getContext(), values);
  return checkLegal(problem, listed, target) ? whole : listed;
}
