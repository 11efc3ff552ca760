// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Warpgroups.h"
#include "BlockSizes.h"
#include "KeySplits.h"

using namespace mlir;
using namespace attune;
using schedule::AttentionAttr;
using tile::TargetAttr;

bool attune::fits(const AttentionProblem &problem, AttentionAttr schedule,
                  TargetAttr target) {
  return !checkLegal(problem, schedule, target) &&
         estimateRegisters(problem, schedule, target) <=
             getWholeBudget(problem, schedule, target).getRegisterLimit(target);
}

AttentionAttr attune::getIfFits(const AttentionProblem &problem,
                                const AttentionSchedule &wanted,
                                TargetAttr target) {
  AttentionAttr schedule = wanted.getAttr(target.getContext());
  return fits(problem, schedule, target) ? schedule : AttentionAttr();
}

AttentionSchedule attune::makeGroups(const AttentionProblem &problem,
                                     int64_t groups, int64_t blockN,
                                     int64_t sharers) {
  AttentionSchedule wanted;
  wanted.warpsN = sharers;
  wanted.blockM = 64 * groups / sharers;
  wanted.blockN = blockN;
  wanted.numWarps = kWarpgroup * groups;
  wanted.mmaWarps = wanted.producerWarps = kWarpgroup;
  wanted.qInRegisters = 0;
  // Half of them widen, by as many warps as there are schedulers.
  AttentionAttr schedule = wanted.getAttr(problem.elementType.getContext());
  if (widensKeys(problem, schedule) || widensValues(problem, schedule))
    wanted.producerWarps = 2 * kWarpgroup;
  // An output that is wider than a block of scores costs more to rescale than
  // these do to be weighed.
  wanted.rescale = problem.headDimV > blockN ? 8 : 0;
  // Short rows of a head are better read from the cache than started by length.
  bool isShort = !problem.hasDynamicLength && !problem.hasPackedQueries &&
                 problem.seqK <= kShortKeys;
  if (problem.isMasked && !isShort)
    wanted.tileOrder = schedule::TileOrder::AcrossHeads;
  return wanted;
}

void attune::handOut(const AttentionProblem &problem,
                     AttentionSchedule &wanted) {
  wanted.qStages = 2;
  if (!problem.isMasked && !problem.hasPackedQueries)
    wanted.tileOrder = schedule::TileOrder::Ascending;
  wanted.persistent = schedule::Persistent::Dynamic;
}

AttentionSchedule attune::makeCluster(AttentionSchedule wanted) {
  wanted.persistent = schedule::Persistent::Static;
  wanted.cluster = 2;
  return wanted;
}

/// Wide heads leave no room for the next tile's queries, but what is done once
/// for a workgroup, and the end of the one before, pays for short rows.
static AttentionAttr handOutWideTiles(const AttentionProblem &problem,
                                      AttentionSchedule wanted,
                                      TargetAttr target) {
  constexpr int64_t kColumns = 256;
  int64_t keys = problem.isMasked ? 2 * problem.meanKeys : problem.seqK;
  if (problem.hasDynamicLength || problem.hasPackedQueries ||
      problem.hasWindow || problem.hasScore || problem.headDimV != kColumns ||
      problem.getKeyType() != problem.elementType ||
      (problem.isMasked ? keys > kFewKeys : keys >= kLongKeys))
    return {};
  wanted.qStages = 1;
  if (!problem.isMasked) {
    wanted.blockN = kSmallBlock;
    wanted.persistent = schedule::Persistent::Static;
    wanted.splitMasked = 0;
  }
  return getIfFits(problem, wanted, target);
}

AttentionAttr attune::handOutTiles(const AttentionProblem &problem,
                                   AttentionSchedule wanted,
                                   TargetAttr target) {
  AttentionAttr inOneGrid = wanted.getAttr(target.getContext());
  // Small tiles of one length gain nothing.
  if (!problem.isMasked && problem.headDimV <= kSmallHeadDim)
    return inOneGrid;
  handOut(problem, wanted);
  wanted.oInShared = schedule::OutputPath::Buffer;
  // Nor do clusters where scores read tiles of each workgroup.
  if (!problem.isMasked && problem.regionTiles.empty() &&
      wanted.numWarps == 2 * kWarpgroup && problem.seqQ > wanted.blockM &&
      hasWholeBlocks(problem, wanted.blockN)) {
    if (AttentionAttr clustered =
            getIfFits(problem, makeCluster(wanted), target))
      return clustered;
  }
  if (AttentionAttr buffered = getIfFits(problem, wanted, target))
    return buffered;
  wanted.oInShared = schedule::OutputPath::Registers;
  AttentionAttr direct = wanted.getAttr(target.getContext());
  // Nor do large ones by the counter alone, unless they are long, or packed
  // sequences differ in length.
  if ((problem.isMasked || problem.hasPackedQueries ||
       problem.meanKeys >= kLongKeys) &&
      fits(problem, direct, target))
    return direct;
  AttentionAttr byOne = handOutWideTiles(problem, wanted, target);
  return byOne ? byOne : inOneGrid;
}
