// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Estimates the cost of a schedule relative to that of the best one. The
// weights are a least-squares fit to 529 measurements on one H200 (mma.sync,
// bf16, head sizes 64 and 128, full and causal, length 4096): within each
// problem its rank correlation is 0.78 to 0.86 and its median error 5 to 8
// percent. That of spills is a guess, for few candidates of the sample spilled.
// Multiplies by groups of warps have a cost of their own, below most of these.
// They order candidates on every chip: what is wrong with them costs time in
// the search and never a result, for each candidate is measured.

#include "attune/Tuning/AttentionRanker.h"
#include "attune/Schedule/Legality.h"

using namespace mlir;
using namespace attune;
using namespace attune::tuning;

namespace {
class AttentionRanker : public Ranker {
public:
  AttentionRanker(attn::AttentionOp op, tile::TargetAttr target)
      : problem(ScheduleProblem::get(op)), target(target) {}

protected:
  double score(llvm::ArrayRef<int64_t> point,
               const Resources *reported) const override;

private:
  struct Usage {
    int64_t registers;
    int64_t spilledBytes;
    int64_t sharedBytes;
  };
  Usage estimate(const Schedule &schedule) const;
  /// The cost of multiplies by one warp each.
  double scoreWarps(const Schedule &schedule, const Usage &used) const;

  ScheduleProblem problem;
  tile::TargetAttr target;
};
} // namespace

AttentionRanker::Usage
AttentionRanker::estimate(const Schedule &schedule) const {
  int64_t needed = estimateRegisters(problem, schedule, target);
  int64_t limit = getRegisterLimit(schedule, target);
  return {std::min(needed, limit), 4 * std::max<int64_t>(0, needed - limit),
          getSharedBytes(problem, schedule, target)};
}

double AttentionRanker::scoreWarps(const Schedule &schedule,
                                   const Usage &used) const {
  double blockM = schedule.getBlockM(), blockN = schedule.getBlockN();
  int64_t warps = schedule.getNumWarps(), threads = warps * target.getLanes();
  int64_t groups = target.getMaxThreadsPerCore() / threads;
  if (used.registers)
    groups = std::min(groups, target.getRegistersPerCore() /
                                  (used.registers * threads));
  if (used.sharedBytes)
    groups = std::min(groups, target.getSharedPerCore() / used.sharedBytes);
  groups = std::max<int64_t>(1, groups);

  double cost = 0.73;
  // Each workgroup reads all keys and values from the cache of the device.
  cost += 0.11 * 128 / blockM;
  // Each step waits at barriers, and more warps wait longer; other workgroups
  // of the core work meanwhile, and where there are some, few slots do.
  cost += 0.14 * 64 / blockN / groups;
  cost += 0.1 * static_cast<double>(warps) / 8;
  if (groups == 1)
    cost += 0.18;
  else
    cost += 0.026 * static_cast<double>(schedule.getKStages() +
                                        schedule.getVStages() - 2);
  // Two warps for each of the four schedulers of a core hide most latencies.
  double busyWarps = static_cast<double>(std::min<int64_t>(8, groups * warps));
  cost += 0.27 * (1 - busyWarps / 8);
  // Queries are read again for each step, or take registers.
  return cost + (schedule.getQInRegisters() ? 0.01 : 0.23 * 16 / blockN);
}

/// Fewer measurements than terms: hand-written kernels on one H200, bf16,
/// length 4096 and 16384. Overlap gained 11 percent and turns 2 more (head size
/// 128); a third group 12 percent with blocks as large (head size 64), and
/// nothing with smaller ones (head size 128). The rest is a guess.
static double scoreGroups(const Schedule &schedule) {
  double groups = static_cast<double>(schedule.getNumWarps()) /
                  static_cast<double>(schedule.getMmaWarps());
  // Groups share the blocks of keys. More rows for each than a multiply has
  // cost registers.
  double cost = 0.3 + 0.12 / groups;
  cost += 0.05 * (static_cast<double>(schedule.getBlockM()) / groups / 64 - 1);
  cost += 0.05 * 128 / static_cast<double>(schedule.getBlockN());
  if (!schedule.getProducerWarps())
    cost += 0.15;
  if (schedule.getOverlap() != 2)
    cost += schedule.getOverlap() == 1 ? 0.01 : 0.06;
  // A second slot is filled while the first is read; others matter less.
  for (int64_t stages : {schedule.getKStages(), schedule.getVStages()})
    cost += stages == 1 ? 0.05 : 0.005 * static_cast<double>(stages - 2);
  return cost;
}

double AttentionRanker::score(llvm::ArrayRef<int64_t> point,
                              const Resources *reported) const {
  Schedule schedule([&](size_t place) { return point[place]; });
  Usage used = estimate(schedule);
  if (reported && reported->registers) {
    used.registers = *reported->registers;
    used.spilledBytes = reported->spillBytes.value_or(0);
  }
  bool byGroups = schedule.getMmaWarps() > 1;
  double cost = byGroups ? scoreGroups(schedule) : scoreWarps(schedule, used);
  // No measurement tells these apart, and often they make no difference to the
  // code: what differs in more than them comes first.
  cost += 0.02 * !schedule.getSplitMasked() + 0.02 * !schedule.getTileOrder() +
          0.01 * static_cast<double>(schedule.getMinBlocksPerCore() - 1);
  // Spilled bytes move to memory and back; a few of them outside of the loop.
  // A multiply that runs on while others are issued must not wait for them.
  return cost +
         static_cast<double>(used.spilledBytes) / (byGroups ? 800 : 3000);
}

std::unique_ptr<Ranker> tuning::createAttentionRanker(attn::AttentionOp op,
                                                      tile::TargetAttr target) {
  return std::make_unique<AttentionRanker>(op, target);
}
