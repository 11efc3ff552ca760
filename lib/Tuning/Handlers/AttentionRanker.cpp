// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Estimates the cost of a schedule relative to that of its matrix instructions,
// which is 1. The weights are guesses, held against no measurement: they order
// candidates and predict nothing, and what is wrong with them costs time in the
// search and never a result, for each candidate is measured.

#include "attune/Tuning/AttentionRanker.h"
#include "attune/Schedule/Legality.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace attune;
using namespace attune::tuning;
using attn::ScheduleAttr;

namespace {
class AttentionRanker : public Ranker {
public:
  AttentionRanker(attn::AttentionOp op, tile::TargetAttr target)
      : problem(ScheduleProblem::get(op)), target(target),
        isMasked(op.getCausal() || op.getWindow() || op.hasMask()),
        isUneven(op.getCausal() || op.getWindow()) {}

protected:
  double score(llvm::ArrayRef<int64_t> point,
               const Resources *reported) const override;

private:
  struct Usage {
    int64_t registers;
    int64_t spilledBytes;
    int64_t sharedBytes;
  };
  Usage estimate(ScheduleAttr schedule) const;

  ScheduleProblem problem;
  tile::TargetAttr target;
  bool isMasked;
  /// Some query tiles see many more keys than others.
  bool isUneven;
};
} // namespace

/// More than all else together: a kernel that spills comes after all that do
/// not.
static constexpr double kSpillCost = 16;

AttentionRanker::Usage AttentionRanker::estimate(ScheduleAttr schedule) const {
  int64_t threads = schedule.getNumWarps() * target.getLanes();
  int64_t needed = estimateRegisters(problem, schedule, target);
  int64_t limit = std::min(target.getRegisters(),
                           target.getRegistersPerCore() /
                               (threads * schedule.getMinBlocksPerCore()));
  return {std::min(needed, limit), 4 * std::max<int64_t>(0, needed - limit),
          getSharedBytes(problem, schedule, target)};
}

double AttentionRanker::score(llvm::ArrayRef<int64_t> point,
                              const Resources *reported) const {
  auto schedule = ScheduleAttr::fromValues(
      [&] { return emitError(UnknownLoc::get(target.getContext())); },
      target.getContext(), point);
  Usage used = estimate(schedule);
  if (reported && reported->registers) {
    used.registers = *reported->registers;
    used.spilledBytes = reported->spillBytes.value_or(0);
  }
  double blockM = schedule.getBlockM(), blockN = schedule.getBlockN();
  int64_t warps = schedule.getNumWarps(), threads = warps * target.getLanes();
  int64_t groups = target.getMaxThreadsPerCore() / threads;
  if (used.registers)
    groups = std::min(groups, target.getRegistersPerCore() /
                                  (used.registers * threads));
  if (used.sharedBytes)
    groups = std::min(groups, target.getSharedPerCore() / used.sharedBytes);
  groups = std::max<int64_t>(1, groups);

  double cost = 1;
  // Each warp reads all keys and values from shared memory for its own rows.
  cost += 0.35 * 16 / (blockM / warps);
  // Each workgroup reads all of them from the cache of the device.
  cost += 0.1 * 128 / blockM;
  // Each step scales the accumulator and waits for its slots; other workgroups
  // of the core work meanwhile.
  cost += 0.012 * problem.headDimV / blockN;
  cost += 12 / blockN / groups;
  for (int64_t stages : {schedule.getKStages(), schedule.getVStages()})
    if (stages == 1)
      cost += groups == 1 ? 0.25 : 0.08;
  // Two warps for each of the four schedulers of a core hide most latencies.
  double busyWarps = std::min<int64_t>(8, groups * warps);
  cost += 0.5 * (1 - busyWarps / 8);
  if (isMasked && !schedule.getSplitMasked())
    cost += 0.15;
  if (isUneven && !schedule.getTileOrder())
    cost += 0.03;
  // Spilled bytes move to memory and back in the main loop.
  if (used.spilledBytes > 0)
    cost += kSpillCost + used.spilledBytes / 160.0;
  return cost;
}

std::unique_ptr<Ranker> tuning::createAttentionRanker(attn::AttentionOp op,
                                                      tile::TargetAttr target) {
  return std::make_unique<AttentionRanker>(op, target);
}
