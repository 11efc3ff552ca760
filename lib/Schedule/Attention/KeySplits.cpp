// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KeySplits.h"

using namespace mlir;
using namespace attune;
using schedule::AttentionAttr;
using tile::TargetAttr;

bool attune::hasFewQueries(const AttentionProblem &problem) {
  constexpr int64_t kFewQueries = 64;
  return problem.heads > 0 && problem.seqQ > 0 && problem.seqQ <= kFewQueries &&
         problem.seqK >= kShortKeys;
}

/// Divides tiles of many keys, so that none is worked on when all others are
/// done. How many keys a batch has is not known: each part costs the short ones
/// something.
static AttentionAttr balanceKeys(const AttentionProblem &problem,
                                 AttentionAttr schedule, TargetAttr target) {
  // Single warps are slow, and many.
  bool areWarps = countSingleWarps(problem, schedule, target) > 1;
  constexpr int64_t kKeysOfWarp = 2048, kMostOfWarps = 16, kMostParts = 4;
  auto parts =
      std::min(static_cast<int64_t>(llvm::PowerOf2Ceil(llvm::divideCeil(
                   problem.seqK, areWarps ? kKeysOfWarp : kLongKeys))),
               areWarps ? kMostOfWarps : kMostParts);
  // Where they are not handed out, parts even out if there are more of them, or
  // if a second workgroup of the SM fills what one leaves.
  if (parts > 1 && schedule.getPersistent() == schedule::Persistent::None &&
      schedule.getWorkgroupsPerSm() == 1)
    parts *= 2;
  SmallVector<int64_t> values(schedule.getValues());
  values[AttentionAttr::splitK] = parts;
  auto split = AttentionAttr::get(target.getContext(), values);
  return checkLegal(problem, split, target) ? schedule : split;
}

/// Gives workgroups equal shares of the keys of all batches, where roles share
/// columns, so that an SM works on one tile at a time: null where it is not
/// legal. Their accumulators leave no registers for a second loop of blocks.
static AttentionAttr shareKeys(const AttentionProblem &problem,
                               AttentionAttr schedule, TargetAttr target) {
  if (schedule.getWarpsN() == 1)
    return {};
  SmallVector<int64_t> values(schedule.getValues());
  values[AttentionAttr::persistent] =
      static_cast<int64_t>(schedule::Persistent::Static);
  values[AttentionAttr::splitK] = 0;
  values[AttentionAttr::splitMasked] = 0;
  auto shared = AttentionAttr::get(target.getContext(), values);
  bool isRefused = checkLegal(problem, shared, target) ||
                   checkWorthTrying(problem, shared, target);
  return isRefused ? AttentionAttr() : shared;
}

/// Merges in the last workgroup of each tile, so that there is but one launch,
/// where that has few bytes to read, and all workgroups run at once: in further
/// rounds they would wait for it, and a single warp takes longer over it than a
/// kernel, by what an H200 was faster with.
static AttentionAttr chooseMerge(const AttentionProblem &problem,
                                 AttentionAttr schedule, TargetAttr target) {
  constexpr int64_t kMostBytes = 256 * 1024;
  int64_t rows = std::min(schedule.getBlockM(),
                          problem.packing.count(schedule) * problem.seqQ);
  int64_t bytes = schedule.getSplitK() * rows * problem.headDimV *
                  static_cast<int64_t>(sizeof(float));
  int64_t workgroups = problem.countTiles(schedule) * schedule.getSplitK();
  if (schedule.getSplitK() == 1 || bytes > kMostBytes ||
      schedule.getNumWarps() == 1 || workgroups == 0 ||
      workgroups > target.getSms() * schedule.getWorkgroupsPerSm())
    return schedule;
  SmallVector<int64_t> values(schedule.getValues());
  values[AttentionAttr::merge] =
      static_cast<int64_t>(schedule::MergeParts::Last);
  auto merged = AttentionAttr::get(target.getContext(), values);
  return checkLegal(problem, merged, target) ? schedule : merged;
}

/// As parts of keys can have it, which stand for themselves and are stored from
/// registers, where most SMs have none of so few tiles; null where they have.
static AttentionAttr makeDivisible(const AttentionProblem &problem,
                                   AttentionAttr schedule, TargetAttr target) {
  int64_t slots = target.getSms() * schedule.getWorkgroupsPerSm();
  if (problem.seqQ <= 0 || problem.heads <= 0 || problem.seqK < kShortKeys ||
      problem.hasPackedQueries || 2 * problem.countTiles(schedule) > slots)
    return {};
  SmallVector<int64_t> values(schedule.getValues());
  values[AttentionAttr::persistent] =
      static_cast<int64_t>(schedule::Persistent::None);
  values[AttentionAttr::qStages] = 1;
  values[AttentionAttr::oInShared] =
      static_cast<int64_t>(schedule::OutputPath::Registers);
  auto divisible = AttentionAttr::get(target.getContext(), values);
  return checkLegal(problem, divisible, target) ? AttentionAttr() : divisible;
}

/// splitKeys() with a kernel that merges.
static AttentionAttr chooseSplits(const AttentionProblem &problem,
                                  AttentionAttr whole, TargetAttr target) {
  if (!whole)
    return whole;
  bool isFew = hasFewQueries(problem);
  AttentionAttr schedule =
      isFew ? whole : makeDivisible(problem, whole, target);
  if (!schedule)
    return whole;
  int64_t tiles = problem.countTiles(schedule);
  int64_t slots = target.getSms() * schedule.getWorkgroupsPerSm();
  // There is no room for the next tile where warpgroups share columns, or
  // workgroups an SM.
  bool isFull = schedule.getWarpsN() > 1 || schedule.getWorkgroupsPerSm() > 1;
  if (isFew && problem.hasKeyLengths &&
      (schedule.getPersistent() == schedule::Persistent::Dynamic ||
       (isFull && 2 * tiles > slots))) {
    if (AttentionAttr shared = shareKeys(problem, schedule, target))
      return shared;
    return balanceKeys(problem, schedule, target);
  }
  int64_t running =
      target.getSms() * std::max(countSingleWarps(problem, schedule, target),
                                 schedule.getWorkgroupsPerSm());
  int64_t keys = problem.meanKeys ? problem.meanKeys : problem.seqK;
  auto blocks =
      static_cast<int64_t>(llvm::divideCeil(keys, schedule.getBlockN()));
  // What starting a tile and merging cost, in the time of a block, which is
  // longer where few queries wait for memory than where many are multiplied.
  constexpr int64_t kStart = 2;
  const int64_t merge = isFew ? 3 : 12;
  // By how much parts must be faster, in percent.
  constexpr int64_t kMargin = 125;
  auto getTime = [&](int64_t splits) {
    auto rounds =
        static_cast<int64_t>(llvm::divideCeil(tiles * splits, running));
    auto steps = static_cast<int64_t>(llvm::divideCeil(blocks, splits));
    return rounds * (steps + kStart) + (splits > 1 ? merge : 0);
  };
  SmallVector<int64_t> values(schedule.getValues());
  AttentionAttr best = whole;
  int64_t bestTime = getTime(1) * 100 / kMargin;
  for (int64_t splits :
       AttentionAttr::getSet().knobs[AttentionAttr::splitK].domain) {
    if (splits <= 1)
      continue;
    values[AttentionAttr::splitK] = splits;
    auto split = AttentionAttr::get(target.getContext(), values);
    if (getTime(splits) >= bestTime || checkLegal(problem, split, target) ||
        checkWorthTrying(problem, split, target))
      continue;
    best = split;
    bestTime = getTime(splits);
  }
  return best;
}

AttentionAttr attune::splitKeys(const AttentionProblem &problem,
                                AttentionAttr schedule, TargetAttr target) {
  AttentionAttr split = chooseSplits(problem, schedule, target);
  return split ? chooseMerge(problem, split, target) : split;
}
