// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Transposing.h"
#include "BlockSizes.h"
#include "KeySplits.h"
#include "Warpgroups.h"

using namespace mlir;
using namespace attune;
using schedule::AttentionAttr;
using schedule::Overlap;
using tile::TargetAttr;

/// Large blocks in ping-pong, handed out.
static AttentionSchedule takeTurns(const AttentionProblem &problem,
                                   AttentionSchedule wanted) {
  constexpr int64_t kTurn = 192;
  handOut(problem, wanted);
  wanted.overlap = Overlap::PingPong;
  if (problem.headDimV > kSmallHeadDim) {
    wanted.blockN = kTurn;
    wanted.rescale = 8;
  }
  return wanted;
}

/// Handed out without overlap, of wide heads: one slot of keys leaves room for
/// the next tile's queries, and scores that nothing overlaps leave registers.
static AttentionSchedule keepApart(const AttentionProblem &problem,
                                   AttentionSchedule wanted) {
  handOut(problem, wanted);
  wanted.overlap = Overlap::None;
  wanted.kStages = 1;
  wanted.splitMasked = 0;
  return wanted;
}

/// selectTransposing() under a mask: what else `wanted` has, by the columns of
/// the output and the length of rows.
static AttentionAttr selectTransposingOfMasked(const AttentionProblem &problem,
                                               AttentionSchedule wanted,
                                               TargetAttr target) {
  int64_t keys = 2 * problem.meanKeys;
  bool isSmall = problem.headDimV <= kSmallHeadDim,
       isWide = problem.headDimV > kFewTransposed;
  if (isWide && !problem.hasWindow && keys > kFewKeys)
    return getIfFits(problem, wanted, target);
  if (isWide || (isSmall ? !problem.hasWindow : keys >= kLongKeys))
    if (AttentionAttr schedule = getIfFits(problem,
                                           isWide ? keepApart(problem, wanted)
                                                  : takeTurns(problem, wanted),
                                           target))
      return schedule;
  if (!isSmall && !isWide) {
    wanted.expOnFma = 2;
    wanted.splitMasked = problem.hasWindow || keys > kFewKeys;
  }
  return fits(problem, wanted.getAttr(target.getContext()), target)
             ? handOutTiles(problem, wanted, target)
             : AttentionAttr();
}

/// selectTransposing() of few keys, which all rows see: the next tile begins
/// under the last of one. `wanted` is what is chosen else.
static AttentionAttr selectTransposingOfFewKeys(const AttentionProblem &problem,
                                                AttentionSchedule wanted,
                                                TargetAttr target) {
  if (problem.headDimV <= kSmallHeadDim) {
    wanted = takeTurns(problem, wanted);
  } else if (problem.headDimV <= kFewTransposed) {
    handOut(problem, wanted);
    wanted.persistent = schedule::Persistent::Static;
    wanted.oInShared = schedule::OutputPath::Buffer;
  } else if (problem.hasDynamicLength) {
    wanted = keepApart(problem, wanted);
  } else {
    constexpr int64_t kBlock = 96;
    wanted.blockN = kBlock;
    wanted.tileOrder = schedule::TileOrder::Ascending;
    wanted.persistent = schedule::Persistent::Static;
  }
  return getIfFits(problem, wanted, target);
}

/// As many keys a block as registers hold, which of larger heads two workgroups
/// load together.
static AttentionSchedule makeWideBlocks(const AttentionProblem &problem,
                                        AttentionSchedule wanted) {
  constexpr int64_t kWide = 224, kWideOfSmall = 160;
  if (problem.headDimV <= kSmallHeadDim) {
    wanted.blockN = kWideOfSmall;
    return wanted;
  }
  handOut(problem, wanted);
  wanted = makeCluster(wanted);
  wanted.blockN = kWide;
  wanted.vStages = 1;
  // Going from tile to tile takes registers, and saves little of long ones.
  if (problem.seqK >= kLongKeys) {
    wanted.persistent = schedule::Persistent::None;
    wanted.qStages = 1;
    wanted.rescale = 8;
  }
  return wanted;
}

/// selectTransposing() where lengths are known at run time, some are likely,
/// and ends are computed.
static AttentionAttr
selectTransposingOfAnyLength(const AttentionProblem &problem,
                             AttentionSchedule wanted, TargetAttr target) {
  if (problem.hasWindow || problem.hasScore || problem.hasPackedQueries ||
      problem.pageSize)
    return {};
  bool isWide = problem.headDimV > kFewTransposed;
  int64_t keys = problem.isMasked ? 2 * problem.meanKeys : problem.seqK;
  bool isLong = keys >= kLongKeys, isShort = keys != 0 && keys <= kFewKeys;
  if (problem.isMasked) {
    if (isWide ? isShort : !isLong)
      return {};
    return getIfFits(problem, isWide ? wanted : takeTurns(problem, wanted),
                     target);
  }
  if (isWide && !isShort)
    return {};
  if (!isWide && problem.headDimV > kSmallHeadDim && isLong)
    if (AttentionAttr schedule =
            getIfFits(problem, makeWideBlocks(problem, wanted), target))
      return schedule;
  return selectTransposingOfFewKeys(problem, wanted, target);
}

AttentionAttr attune::selectTransposing(const AttentionProblem &problem,
                                        TargetAttr target) {
  constexpr int64_t kBlock = 128;
  bool isSmall = problem.headDimV <= kSmallHeadDim;
  AttentionSchedule wanted = makeGroups(problem, isSmall ? 3 : 2, kBlock);
  wanted.overlap = Overlap::Softmax;
  if ((!problem.hasDynamicLength && problem.seqK <= kShortKeys) ||
      !transposesValues(problem, wanted.getAttr(target.getContext()), target))
    return {};
  // Rescaling seldom is faster, but for wide and for long rows alone worth that
  // the largest weights are not powers of two then, and so are rounded.
  wanted.rescaleLate = wanted.rescale ? 1 : 0;
  if (problem.hasDynamicLength)
    return selectTransposingOfAnyLength(problem, wanted, target);
  if (problem.isMasked)
    return selectTransposingOfMasked(problem, wanted, target);
  if (problem.seqK <= kFewKeys)
    if (AttentionAttr schedule =
            selectTransposingOfFewKeys(problem, wanted, target))
      return schedule;
  if (problem.headDimV > kFewTransposed)
    wanted.overlap = Overlap::PingPong;
  AttentionSchedule wide = makeWideBlocks(problem, wanted);
  // A last block of which much is left takes registers where blocks are large
  // and rows rescaled in each, and so do scales of each key.
  if (endsWithBlock(problem, wide.blockN) && !problem.numbersOfKey &&
      (isSmall ||
       (problem.seqQ > wide.blockM &&
        (wide.rescale || problem.seqK % wide.blockN <= kSmallBlock))))
    if (AttentionAttr schedule = getIfFits(problem, wide, target))
      return schedule;
  return getIfFits(problem, wanted, target);
}
