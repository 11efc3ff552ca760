// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules of legality. A new rule needs a test on both sides of its limit.

#include "attune/Schedule/Matmul/Legality.h"
#include "attune/Dialect/Tile/IR/ColumnSwap.h"
#include "attune/Schedule/BudgetRules.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace attune;
using matmul::Dim;
using schedule::Consumers;
using schedule::Persistent;
using schedule::ResultPath;
using tile::MmaAtomAttr;
using tile::TargetAttr;

/// The rules of workgroups that share an operand.
static std::optional<Refusal> checkCluster(const MatmulKnobs &schedule) {
  int64_t cluster = schedule.getCluster();
  if (cluster == 1)
    return std::nullopt;
  if (!schedule.getProducerWarps())
    return refuse("cluster-without-producer",
                  "expects producer-warps where cluster is {0}, but got {1}",
                  cluster, schedule.getProducerWarps());
  if (schedule.getPersistent() == Persistent::Dynamic)
    return refuse("cluster-of-dynamic-tiles",
                  "expects persistent to be none or static where cluster is "
                  "{0}, but got dynamic",
                  cluster);
  return std::nullopt;
}

/// The rules of workgroups that go from tile to tile.
static std::optional<Refusal> checkPersistent(const MatmulKnobs &schedule) {
  Persistent persistent = schedule.getPersistent();
  if (persistent == Persistent::None)
    return std::nullopt;
  if (persistent == Persistent::Dynamic && !schedule.getProducerWarps())
    return refuse("dynamic-without-producer",
                  "expects producer-warps where persistent is dynamic, but got "
                  "{0}",
                  schedule.getProducerWarps());
  // A workgroup that takes a tile of the last split would wait for one that
  // may start only when it has ended.
  if (persistent == Persistent::Dynamic && schedule.getSplitK() != 1)
    return refuse("split-of-dynamic-tiles",
                  "expects persistent to be none or static where split-k is "
                  "{0}, but got dynamic",
                  schedule.getSplitK());
  return std::nullopt;
}

/// The rules of warpgroups that have blocks of their own by turns.
static std::optional<Refusal> checkPingPong(const MatmulKnobs &schedule) {
  if (schedule.getConsumers() != Consumers::PingPong)
    return std::nullopt;
  if (!schedule.getProducerWarps())
    return refuse("ping-pong-without-producer",
                  "expects producer-warps where consumers is ping-pong, but "
                  "got {0}",
                  schedule.getProducerWarps());
  if (schedule.getPersistent() == Persistent::None)
    return refuse("ping-pong-of-one-block",
                  "expects persistent to be static or dynamic where consumers "
                  "is ping-pong, but got none");
  if (int64_t groups = schedule.getNumWarps() / schedule.getMmaWarps();
      groups < 2)
    return refuse("ping-pong-of-one-group",
                  "expects warps of at least 2 warpgroups where consumers is "
                  "ping-pong, but got {0}",
                  groups);
  if (schedule.getSplitK() != 1)
    return refuse("ping-pong-of-splits",
                  "expects split-k to be 1 where consumers is ping-pong, but "
                  "got {0}",
                  schedule.getSplitK());
  return std::nullopt;
}

/// The rules of MMAs by single warps, whose operands are in registers and
/// which are done when they return.
static std::optional<Refusal> checkOneWarp(const MatmulKnobs &schedule) {
  for (auto [knob, isThere] :
       {std::pair<StringRef, bool>{"producer-warps",
                                   schedule.getProducerWarps() != 0},
        {"persistent", schedule.getPersistent() == Persistent::Dynamic},
        {"consumers", schedule.getConsumers() != Consumers::Cooperative},
        {"result-path", schedule.getResultPath() != ResultPath::Registers},
        {"cluster", schedule.getCluster() != 1}})
    if (isThere)
      return refuse("one-warp-mma",
                    "expects {0} to have its default where mma-warps is 1",
                    knob);
  return std::nullopt;
}

/// The rules of what the copy engine reads and writes.
static std::optional<Refusal> checkBoxes(const MatmulProblem &problem,
                                         const MatmulKnobs &schedule,
                                         TargetAttr target) {
  int64_t alignment = target.getTmaBoxAlignment();
  auto checkRows = [&](const MatmulProblem::Matrix &matrix,
                       StringRef what) -> std::optional<Refusal> {
    if (matrix.rowDivisor == 0)
      return refuse("row-not-contiguous",
                    "expects the elements of a row of the {0} to be "
                    "neighbours for an MMA by {1} warps",
                    what, schedule.getMmaWarps());
    uint64_t rowBytes = getRowBytes(matrix.elementType, matrix.rowDivisor);
    if (rowBytes % alignment != 0)
      return refuse("row-alignment",
                    "expects rows of the {0} to start at multiples of {1} "
                    "bytes for an MMA by {2} warps, but got {3}",
                    what, alignment, schedule.getMmaWarps(), rowBytes);
    return std::nullopt;
  };
  if (std::optional<Refusal> refusal = checkRows(problem.lhs, "left operand"))
    return refusal;
  for (const MatmulProblem::Matrix &rhs : problem.rhs)
    if (std::optional<Refusal> refusal = checkRows(rhs, "right operand"))
      return refusal;
  if (schedule.getResultPath() == ResultPath::Registers)
    return std::nullopt;
  if (schedule.getWarpsN() != 1)
    return refuse("result-of-columns",
                  "expects warps-n to be 1 where result-path is shared, for a "
                  "warpgroup then stores the rows that it wrote, but got {0}",
                  schedule.getWarpsN());
  for (const MatmulProblem::Matrix &result : problem.results) {
    constexpr unsigned kBits = 16;
    if (result.elementType.getIntOrFloatBitWidth() != kBits)
      return refuse("result-element",
                    "expects a result of {0} bits where result-path is shared, "
                    "but got {1}",
                    kBits, result.elementType);
    if (!result.isInnerLast || result.rowDivisor == 0)
      return refuse("result-row-not-contiguous",
                    "expects the elements of a row of the result to be "
                    "neighbours where result-path is shared");
    uint64_t rowBytes = getRowBytes(result.elementType, result.rowDivisor);
    if (rowBytes % alignment != 0)
      return refuse("result-row-alignment",
                    "expects rows of the result to start at multiples of {0} "
                    "bytes where result-path is shared, but got {1}",
                    alignment, rowBytes);
  }
  return std::nullopt;
}

/// The rules of MMAs by several warps, and of what comes with them:
/// copies of boxes, producers.
static std::optional<Refusal> checkRoles(const MatmulProblem &problem,
                                         const MatmulKnobs &schedule,
                                         TargetAttr target) {
  int64_t warps = schedule.getNumWarps(), together = schedule.getMmaWarps();
  if (together == 1)
    return checkOneWarp(schedule);
  if (warps % together != 0)
    return refuse("warps-per-mma",
                  "expects num-warps to be a multiple of {0}, the warps of an "
                  "MMA, but got {1}",
                  together, warps);
  // A step's multiplies are waited for in the next one, whose blocks then need
  // other slots.
  if (schedule.getStages() < 2)
    return refuse("one-stage",
                  "expects at least 2 stages for an MMA by {0} warps, but "
                  "got {1}",
                  together, schedule.getStages());
  if (std::optional<Refusal> refusal = checkBoxes(problem, schedule, target))
    return refusal;
  if (std::optional<Refusal> refusal = checkPingPong(schedule))
    return refusal;
  return checkCluster(schedule);
}

/// The rules of how a block is divided among warps.
static std::optional<Refusal> checkBlock(const MatmulProblem &problem,
                                         const MatmulKnobs &schedule,
                                         TargetAttr target, MmaAtomAttr atom) {
  int64_t groups = getBlockWarps(schedule) / atom.getWarps();
  StringRef unit = atom.getWarps() == 1 ? "warps" : "warpgroups";
  int64_t groupsN = schedule.getWarpsN();
  if (groups % groupsN != 0)
    return refuse("warps-n",
                  "expects warps-n to divide the {0} {1}, but got {2}", groups,
                  unit, groupsN);
  if (std::optional<Refusal> refusal = checkRowsPerWarp(
          "block-m", schedule.getBlockM(), groups / groupsN, atom))
    return refusal;
  int64_t columns = groupsN * atom.getN();
  if (schedule.getBlockN() % columns != 0)
    return refuse("columns-per-warp",
                  "expects block-n to be a multiple of {0} columns ({1} {2} "
                  "of {3}), but got {4}",
                  columns, groupsN, unit, atom.getN(), schedule.getBlockN());
  if (schedule.getBlockK() % atom.getK() != 0)
    return refuse("block-k-multiple",
                  "expects block-k to be a multiple of {0} (depth of '{1}'), "
                  "but got {2}",
                  atom.getK(), atom.getName(), schedule.getBlockK());
  if (atom.getWarps() == 1 || getInterleavedColumns(problem, schedule, target))
    return std::nullopt;
  // A warpgroup's columns begin where a swizzle atom of them does.
  for (const MatmulProblem::Matrix &rhs : problem.rhs) {
    int64_t atomColumns =
        target.getSwizzleAtom(schedule.getBlockN(), rhs.elementType);
    if (!rhs.isInnerLast && schedule.getBlockN() / groupsN % atomColumns != 0)
      return refuse("columns-per-swizzle-atom",
                    "expects a warpgroup's columns to be a multiple of the {0} "
                    "of a swizzle atom, but got {1}",
                    atomColumns, schedule.getBlockN() / groupsN);
  }
  return std::nullopt;
}

/// The rules of columns that are rotated together: tile.swap_columns exchanges
/// those of a warp, or warpgroup, in its accumulators.
static std::optional<Refusal> checkPartners(const MatmulProblem &problem,
                                            const MatmulKnobs &schedule,
                                            TargetAttr target,
                                            MmaAtomAttr atom) {
  if (!problem.partnerStride)
    return std::nullopt;
  int64_t stride = *problem.partnerStride,
          columns = schedule.getBlockN() / schedule.getWarpsN();
  if (columns % (2 * stride) != 0)
    return refuse("partner-columns",
                  "expects the columns of a {0} to be a multiple of {1}, for "
                  "it rotates columns with those {2} apart, but got {3}",
                  atom.getWarps() == 1 ? "warp" : "warpgroup", 2 * stride,
                  stride, columns);
  tile::LayoutAttr acc = atom.getAcc().withRegisterModes(
      {{columns / atom.getN(), 1, atom.getN()}});
  if (!tile::findSwappedColumns(acc, stride))
    return refuse("partner-lanes",
                  "expects columns that are rotated together to be where a "
                  "shuffle of '{0}' reaches, but got some {1} apart in the "
                  "lanes and registers of '{2}'",
                  target.getChip(), stride, atom.getName());
  return std::nullopt;
}

std::optional<Refusal> attune::checkLegal(const MatmulProblem &problem,
                                          const MatmulKnobs &schedule,
                                          TargetAttr target) {
  if (!problem.obstacle.empty())
    return refuse("no-kernel", "{0}, of which a kernel can be made",
                  problem.obstacle);
  MmaAtomAttr atom = findAtom(problem, schedule, target);
  if (!atom)
    return refuse("no-matrix-instruction",
                  "expects an element type that '{0}' has a matrix instruction "
                  "of {1} warps for, but got {2}",
                  target.getChip(), schedule.getMmaWarps(),
                  problem.lhs.elementType);
  if (std::optional<Refusal> refusal = checkRoles(problem, schedule, target))
    return refusal;
  if (std::optional<Refusal> refusal = checkPersistent(schedule))
    return refusal;
  if (std::optional<Refusal> refusal =
          checkBlock(problem, schedule, target, atom))
    return refusal;
  if (std::optional<Refusal> refusal =
          checkPartners(problem, schedule, target, atom))
    return refusal;
  WarpBudget budget = getWarpBudget(schedule);
  auto getShared = [&] { return getSharedBytes(problem, schedule, target); };
  if (std::optional<Refusal> refusal = checkSharing(budget, getShared, target))
    return refusal;
  auto getColumns = [&] {
    int64_t columns = schedule.getBlockN() / schedule.getWarpsN();
    return getInterleavedColumns(problem, schedule, target)
               ? columns * problem.countContractions()
               : columns;
  };
  return checkRegisters(budget,
                        getAccumulatorRegisters(problem, schedule, target),
                        getColumns, atom, target);
}

/// The rules of workgroups that share the terms of sums: that they fill the
/// chip, and that each has some of them to add. What is not known may be small.
static std::optional<Refusal> checkSplit(const MatmulProblem &problem,
                                         const MatmulKnobs &schedule,
                                         TargetAttr target) {
  int64_t splits = schedule.getSplitK();
  if (splits == 1)
    return std::nullopt;
  auto count = [&](Dim dim, int64_t block) {
    int64_t size = problem.sizes[dim];
    return ShapedType::isStatic(size) ? llvm::divideCeil(size, block) : 1;
  };
  constexpr int64_t kFewestBlocks = 4, kMostRounds = 4;
  int64_t blocks = count(Dim::K, schedule.getBlockK());
  if (ShapedType::isStatic(problem.sizes[Dim::K]) &&
      blocks < kFewestBlocks * splits)
    return refuse("split-of-few-blocks",
                  "expects at least {0} blocks of k for each of {1} splits, "
                  "but got {2} of all",
                  kFewestBlocks, splits, blocks);
  int64_t workgroups = count(Dim::Batch, 1) *
                       count(Dim::M, schedule.getBlockM()) *
                       count(Dim::N, schedule.getBlockN()) * splits;
  if (workgroups > kMostRounds * target.getSms())
    return refuse("split-of-many-tiles",
                  "expects at most {0} workgroups, {1} for each SM, where "
                  "split-k is {2}, but got {3}",
                  kMostRounds * target.getSms(), kMostRounds, splits,
                  workgroups);
  return std::nullopt;
}

/// Nothing here is wrong: the kernel is that of other schedules, or much of its
/// work is for nothing.
std::optional<Refusal> attune::checkWorthTrying(const MatmulProblem &problem,
                                                const MatmulKnobs &schedule,
                                                TargetAttr target) {
  if (!problem.obstacle.empty())
    return std::nullopt;
  for (auto [knob, block, dim] : {std::tuple<StringRef, int64_t, Dim>{
                                      "block-m", schedule.getBlockM(), Dim::M},
                                  {"block-n", schedule.getBlockN(), Dim::N},
                                  {"block-k", schedule.getBlockK(), Dim::K}}) {
    int64_t size = problem.sizes[dim];
    if (ShapedType::isStatic(size) && block >= 2 * size && block > 64)
      return refuse("block-beyond-size",
                    "expects {0} to be less than twice the {1} of the problem, "
                    "but got {2}",
                    knob, size, block);
  }
  if (schedule.getCluster() == 1 &&
      schedule.getClusterAlong() != schedule::ClusterAlong::M)
    return refuse("no-cluster",
                  "expects cluster-along to have its default where cluster is "
                  "1, for it says nothing then");
  if (schedule.getPersistent() == Persistent::Static &&
      !schedule.getProducerWarps())
    return refuse("persistent-without-producer",
                  "expects producer-warps where persistent is static, for "
                  "nothing is loaded ahead without, but got {0}",
                  schedule.getProducerWarps());
  if (std::optional<Refusal> refusal = checkSplit(problem, schedule, target))
    return refusal;
  if (!findAtom(problem, schedule, target))
    return std::nullopt;
  int64_t registers = estimateRegisters(problem, schedule, target),
          limit = getWarpBudget(schedule).getRegisterLimit(target);
  constexpr int64_t kLittleSpilling = 32;
  if (registers > limit + kLittleSpilling)
    return refuse("spills",
                  "expects about {0} registers a thread on '{1}', but got {2}",
                  limit, target.getChip(), registers);
  return std::nullopt;
}
