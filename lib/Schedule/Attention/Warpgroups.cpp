// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Warpgroups.h"

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
  if (problem.isMasked)
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
