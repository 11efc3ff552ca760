// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which legal schedules are worth trying. What is said here is not wrong to do.

#include "attune/Schedule/Attention/Legality.h"
#include "attune/Schedule/BudgetRules.h"

using namespace mlir;
using namespace attune;
using schedule::MergeParts;
using schedule::Overlap;
using schedule::Persistent;
using tile::MmaAtomAttr;
using tile::TargetAttr;

/// Of workgroups that share the keys of a tile: that there would be too few of
/// them else, where an SM has room for so many.
static std::optional<Refusal> checkSplitTiles(const AttentionProblem &problem,
                                              const AttentionKnobs &schedule,
                                              TargetAttr target,
                                              function_ref<int64_t()> getRoom) {
  constexpr int64_t kMostRounds = 4;
  int64_t splits = schedule.getSplitK();
  // Lengths of their own balance better in parts that are handed out.
  if (splits <= 1 || (problem.hasKeyLengths &&
                      schedule.getPersistent() == Persistent::Dynamic))
    return std::nullopt;
  int64_t tiles = problem.countTiles(schedule), room = getRoom(),
          most = std::max(kMostRounds, room) * target.getSms();
  if (tiles != 0 && tiles < room * target.getSms() && tiles * splits <= most)
    return std::nullopt;
  return refuse("split-of-many-tiles",
                "expects less query tiles than {0} for each of the {1} SMs, "
                "and at most {2} workgroups, where split-k is {3} and tiles "
                "are not handed out by lengths of their own, but got {4} "
                "tiles",
                room, target.getSms(), most, splits,
                tiles ? std::to_string(tiles) : "an unknown number of");
}

/// The other rules of workgroups that share the keys of a tile: that each has
/// some to visit.
static std::optional<Refusal> checkSplit(const AttentionProblem &problem,
                                         const AttentionKnobs &schedule,
                                         TargetAttr target) {
  int64_t splits = schedule.getSplitK();
  if (splits == 1 && schedule.getMerge() != MergeParts::Kernel)
    return refuse("merge-of-one",
                  "expects merge to be kernel where split-k is 1, which leaves "
                  "nothing to merge, but got {0}",
                  stringifyMergeParts(schedule.getMerge()));
  if (splits <= 1)
    return std::nullopt;
  constexpr int64_t kFewestBlocks = 4;
  auto blocks = static_cast<int64_t>(
      llvm::divideCeil(problem.seqK, schedule.getBlockN()));
  if (blocks < kFewestBlocks * splits)
    return refuse("split-of-few-blocks",
                  "expects at least {0} blocks of keys for each of {1} splits, "
                  "but got {2} of all",
                  kFewestBlocks, splits, blocks);
  return checkSplitTiles(problem, schedule, target,
                         [&] { return limitSingleWarps(schedule, target); });
}

/// That warps share columns where rows are longer than what half as many have
/// registers for, each with scores to compute.
static std::optional<Refusal>
checkSharedColumns(const AttentionProblem &problem,
                   const AttentionKnobs &schedule, TargetAttr target) {
  int64_t sharers = schedule.getWarpsN();
  if (sharers == 1)
    return std::nullopt;
  MmaAtomAttr atom = findAtom(problem, schedule, target);
  if (!atom)
    return std::nullopt;
  constexpr int64_t kBesideOutput = 64;
  int64_t few = sharers / 2, held = atom.getM() *
                                    getPaddedHeadDims(problem, atom).v /
                                    (few * atom.getWarps() * target.getLanes());
  if (held + kBesideOutput > target.getRegisters())
    return std::nullopt;
  return refuse("columns-fit",
                "expects warps-n to be at most {0}, with which an output takes "
                "{1} registers of a thread, but got {2}",
                few, held, sharers);
}

/// The rules of what goes on at the same time.
static std::optional<Refusal> checkOverlaps(const AttentionKnobs &schedule,
                                            TargetAttr target) {
  if (schedule.getMmaWarps() == 1) {
    // What was seen is of chips that copy asynchronously.
    bool wasSeen = !target.copiesThroughRegisters();
    for (auto [knob, isThere] :
         {std::pair<StringRef, bool>{
              "overlap",
              schedule.getOverlap() == Overlap::Softmax ||
                  (wasSeen && schedule.getOverlap() != Overlap::None)},
          {"exp-on-fma", schedule.getExpOnFma() != 0},
          {"persistent",
           wasSeen && schedule.getPersistent() != Persistent::None},
          {"q-stages", schedule.getQStages() != 1},
          {"rescale-late", schedule.getRescaleLate() != 0},
          {"unroll", wasSeen && schedule.getUnroll() != 1}})
      if (isThere)
        return refuse("no-gain-of-one-warp",
                      "expects {0} to have its default where mma-warps is 1, "
                      "for nothing was gained by another",
                      knob);
    return std::nullopt;
  }
  if (schedule.getRescaleLate() && schedule.getOverlap() == Overlap::None)
    return refuse("rescale-without-overlap",
                  "expects overlap where rescale-late is {0}, for it changes "
                  "nothing without",
                  schedule.getRescaleLate());
  if (schedule.getQStages() > 1 && schedule.getPersistent() == Persistent::None)
    return refuse(
        "query-stages",
        "expects q-stages to be 1 where persistent is none, for there "
        "is one query block to load, but got {0}",
        schedule.getQStages());
  if (schedule.getPersistent() == Persistent::Static &&
      !schedule.getProducerWarps())
    return refuse("persistent-without-producer",
                  "expects producer-warps where persistent is static, for "
                  "nothing is loaded ahead without, but got {0}",
                  schedule.getProducerWarps());
  return std::nullopt;
}

/// Nothing here is wrong: the kernel is that of other schedules, or no problem
/// was seen in which it is among the fastest.
std::optional<Refusal> attune::checkWorthTrying(const AttentionProblem &problem,
                                                const AttentionKnobs &schedule,
                                                TargetAttr target) {
  if (std::optional<Refusal> refusal =
          checkSharedColumns(problem, schedule, target))
    return refusal;
  if (std::optional<Refusal> refusal = checkSplit(problem, schedule, target))
    return refusal;
  if (std::optional<Refusal> refusal = checkOverlaps(schedule, target))
    return refusal;
  // Last what reads nearly all knobs.
  return checkSplitTiles(problem, schedule, target, [&] {
    return countSingleWarps(problem, schedule, target);
  });
}
