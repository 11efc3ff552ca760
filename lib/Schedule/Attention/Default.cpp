// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The schedule of an attention op where none is given.

#include "attune/Schedule/Attention/Legality.h"

using namespace mlir;
using namespace attune;
using schedule::AttentionAttr;
using schedule::Overlap;
using tile::TargetAttr;

/// A schedule with a producer, for chips that multiply by warpgroups. Tiles
/// that differ in length are handed out by a work counter, the longest ones
/// first, where a second query tile fits.
static AttentionAttr selectWarpgroupSchedule(const AttentionProblem &problem,
                                             TargetAttr target) {
  constexpr int64_t kWarpgroup = 4;
  auto select = [&](bool isDynamic) -> AttentionAttr {
    for (Overlap overlap : {Overlap::PingPong, Overlap::Softmax, Overlap::None})
      for (int64_t groups : {3, 2, 1})
        for (int64_t blockN : {128, 112, 96, 80, 64, 48, 32, 16}) {
          AttentionSchedule wanted;
          wanted.blockM = 64 * groups;
          wanted.blockN = blockN;
          wanted.numWarps = kWarpgroup * groups;
          wanted.mmaWarps = wanted.producerWarps = kWarpgroup;
          wanted.qInRegisters = 0;
          wanted.overlap = overlap;
          if (isDynamic) {
            wanted.qStages = 2;
            wanted.tileOrder = schedule::TileOrder::AcrossHeads;
            wanted.persistent = schedule::Persistent::Dynamic;
          }
          AttentionAttr schedule = wanted.getAttr(target.getContext());
          // Three groups have few registers each and pay where blocks are
          // large.
          if (groups == 3 && blockN < 128)
            break;
          if (!checkLegal(problem, schedule, target) &&
              estimateRegisters(problem, schedule, target) <=
                  getRegisterLimit(schedule, target))
            return schedule;
        }
    return {};
  };
  AttentionAttr inOneGrid = select(/*isDynamic=*/false);
  if (!problem.isMasked || !inOneGrid)
    return inOneGrid;
  // Smaller blocks would cost more than the counter gains.
  AttentionAttr dynamic = select(/*isDynamic=*/true);
  return dynamic && dynamic.getBlockM() == inOneGrid.getBlockM() &&
                 dynamic.getBlockN() == inOneGrid.getBlockN()
             ? dynamic
             : inOneGrid;
}

AttentionAttr attune::selectSchedule(const AttentionProblem &problem,
                                     TargetAttr target) {
  if (AttentionAttr schedule = selectWarpgroupSchedule(problem, target))
    return schedule;
  AttentionAttr best;
  int64_t bestExcess = std::numeric_limits<int64_t>::max();
  for (int64_t blockM : {64, 128, 32, 16, 256})
    for (int64_t blockN : {64, 32, 16})
      for (int64_t warps : {4, 8, 2, 1})
        for (int64_t stages : {2, 1})
          for (int64_t inRegisters : {1, 0}) {
            AttentionSchedule wanted;
            wanted.blockM = blockM;
            wanted.blockN = blockN;
            wanted.numWarps = warps;
            wanted.kStages = wanted.vStages = stages;
            wanted.qInRegisters = inRegisters;
            AttentionAttr schedule = wanted.getAttr(target.getContext());
            if (checkLegal(problem, schedule, target))
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
