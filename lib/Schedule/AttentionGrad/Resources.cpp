// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the kernels of gradients take from a chip: shared memory, threads,
// registers.

#include "attune/Dialect/Tile/IR/SharedMemoryLayout.h"
#include "attune/Schedule/AttentionGrad/Legality.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace attune;
using tile::MmaAtomAttr;
using tile::TargetAttr;

bool attune::hasQueryKernel(const AttentionGradKnobs &schedule) {
  schedule::GradientForm form = schedule.getForm();
  return form != schedule::GradientForm::Fused &&
         form != schedule::GradientForm::Ordered;
}

SmallVector<GradientKernel, 2>
attune::getGradientKernels(const AttentionGradKnobs &schedule, MaskDim owns) {
  schedule::GradientForm form = schedule.getForm();
  bool isOrdered = form == schedule::GradientForm::Ordered,
       isFused = !hasQueryKernel(schedule);
  if (owns == MaskDim::Query) {
    if (isFused)
      return {};
    return {GradientKernel{owns, schedule.getQBlockM(), schedule.getQBlockN(),
                           schedule.getQWarps(), schedule.getQStages(),
                           schedule.getQWorkgroupsPerSm(),
                           schedule.getQInRegisters() != 0,
                           /*addsQueries=*/false}};
  }
  GradientKernel keys{owns,
                      schedule.getKvBlockN(),
                      schedule.getKvBlockM(),
                      schedule.getKvWarps(),
                      schedule.getKvStages(),
                      schedule.getKvWorkgroupsPerSm(),
                      schedule.getKvInRegisters() != 0,
                      isFused,
                      isOrdered,
                      schedule.getRoundLast() != 0};
  if (form != schedule::GradientForm::Apart)
    return {keys};
  GradientKernel values = keys;
  values.sumsOwned = keys.sumsValues = false;
  return {keys, values};
}

int64_t attune::countGroupsAlongColumns(const GradientKernel &kernel,
                                        int64_t rows, MmaAtomAttr atom) {
  int64_t groups = kernel.warps / atom.getWarps();
  return groups / std::gcd(groups, rows / atom.getM());
}

bool attune::sharesScores(const GradientKernel &kernel, MmaAtomAttr atom) {
  return countGroupsAlongColumns(kernel, kernel.owned, atom) > 1;
}

bool attune::addsByThreads(const AttentionGradProblem &problem,
                           const GradientKernel &kernel, MmaAtomAttr atom) {
  return kernel.addsQueries && !kernel.addsInOrder && !problem.hasLengths &&
         kernel.visited == kRowsByThreads && sharesScores(kernel, atom);
}

bool attune::handsOver(const AttentionGradProblem &problem,
                       const AttentionGradKnobs &schedule,
                       const GradientKernel &kernel, MmaAtomAttr atom) {
  return kernel.addsInOrder ||
         (kernel.addsQueries && !kernel.roundsQueries &&
          schedule.getProducerWarps() > 1 &&
          !addsByThreads(problem, kernel, atom) &&
          llvm::none_of(problem.regionTiles,
                        [](const RegionTile &tile) { return tile.isAdded; }));
}

tile::LayoutAttr attune::getQuerySumsLayout(const GradientKernel &kernel,
                                            MmaAtomAttr atom, int64_t columns) {
  int64_t alongColumns = countGroupsAlongColumns(kernel, kernel.visited, atom),
          groups = kernel.warps / atom.getWarps();
  return atom.getAccLayout({kernel.visited, columns}, groups / alongColumns,
                           alongColumns);
}

bool attune::stagesNumbers(const AttentionGradKnobs &schedule,
                           const GradientKernel &kernel) {
  constexpr int64_t kRun = 32, kMost = 256;
  return schedule.getMmaWarps() > 1 && kernel.owns == MaskDim::Key &&
         kernel.visited % kRun == 0 && kernel.visited <= kMost;
}

bool attune::takesRegionTile(const RegionTile &tile,
                             const AttentionGradKnobs &schedule,
                             const GradientKernel &kernel, TargetAttr target) {
  // Rows that a thread has of a tile which it reads transposed lie in swizzle
  // atoms each.
  constexpr int64_t kWarpRows = 16;
  bool isApart = kernel.owned == kWarpRows * kernel.warps ||
                 (kernel.owned > kWarpRows * kernel.warps &&
                  (kernel.owns == MaskDim::Query || tile.bits > 8));
  return schedule.getMmaWarps() > 1 && schedule.getProducerWarps() > 0 &&
         isApart && fitsTensorMap(tile, target);
}

/// The bytes through which tiles are added: none where the sums of queries go
/// through as many, and groups of warps have the same columns of both.
static int64_t getAddedBytes(const AttentionGradProblem &problem,
                             const AttentionGradKnobs &schedule,
                             const GradientKernel &kernel, TargetAttr target) {
  bool adds =
      kernel.owns == MaskDim::Key && kernel.sumsOwned &&
      llvm::any_of(problem.regionTiles, [&](const RegionTile &tile) {
        return tile.isAdded && takesRegionTile(tile, schedule, kernel, target);
      });
  if (!adds)
    return 0;
  MmaAtomAttr atom = findAtom(problem, schedule, target);
  bool isShared = kernel.addsQueries && !kernel.addsInOrder &&
                  kernel.owned == getPaddedHeadDims(problem, atom).qk &&
                  countGroupsAlongColumns(kernel, kernel.visited, atom) ==
                      kernel.warps / atom.getWarps();
  return isShared ? 0
                  : kernel.owned * kernel.visited *
                        static_cast<int64_t>(sizeof(float));
}

PaddedHeadDims attune::getPaddedHeadDims(const AttentionGradProblem &problem,
                                         MmaAtomAttr atom) {
  int64_t multiple = std::lcm(atom.getK(), atom.getN());
  return {static_cast<int64_t>(llvm::alignTo(problem.headDimQK, multiple)),
          static_cast<int64_t>(llvm::alignTo(problem.headDimV, multiple))};
}

MmaAtomAttr attune::findAtom(const AttentionGradProblem &problem,
                             const AttentionGradKnobs &schedule,
                             TargetAttr target) {
  return target.findAtom(problem.elementType, problem.elementType,
                         Float32Type::get(target.getContext()),
                         schedule.getMmaWarps() > 1 ? tile::MmaScope::Warpgroup
                                                    : tile::MmaScope::Warp);
}

WarpBudget attune::getBudget(const AttentionGradProblem &problem,
                             const AttentionGradKnobs &schedule,
                             const GradientKernel &kernel, TargetAttr target) {
  WarpBudget budget{kernel.warps, schedule.getProducerWarps(),
                    schedule.getMmaWarps(), kernel.workgroupsPerSm};
  budget.stores =
      handsOver(problem, schedule, kernel, findAtom(problem, schedule, target));
  budget.keepsCounters = !schedule.getStrengthReduction();
  budget.assembler = schedule.getAssembler();
  return budget;
}

/// What rings of so many slots, and all else, take.
static int64_t countSharedBytes(const AttentionGradProblem &problem,
                                const AttentionGradKnobs &schedule,
                                const GradientKernel &kernel, TargetAttr target,
                                const RingSlots &slots) {
  MmaAtomAttr atom = findAtom(problem, schedule, target);
  auto [dQK, dV] = getPaddedHeadDims(problem, atom);
  Type type = problem.elementType;
  int64_t elementBytes = type.getIntOrFloatBitWidth() / 8;
  bool byWarpgroups = schedule.getMmaWarps() > 1;
  // Values that are owned, or their like, are asked for gradients of scores.
  std::pair<int64_t, bool> sides[] = {{dQK, true}, {dV, kernel.sumsOwned}};
  tile::SharedMemoryLayout layout;
  // As tile-promote-to-shared makes them.
  if (target.copiesThroughRegisters()) {
    auto addOperand = [&](int64_t stages, int64_t rows, int64_t columns,
                          bool isLhs) {
      layout.addTiles(tile::getOperandBytes(
          {rows, columns}, type, stages, {atom, isLhs, /*kAlongRows=*/false}));
    };
    for (auto [columns, isOwned] : sides) {
      if (isOwned && !kernel.inRegisters)
        addOperand(1, kernel.owned, columns, /*isLhs=*/true);
      addOperand(kernel.stages, kernel.visited, columns, /*isLhs=*/false);
    }
    return layout.getBytes();
  }
  auto add = [&](int64_t stages, int64_t rows, int64_t columns) {
    addTiles(type, stages, rows, columns, byWarpgroups, target, layout);
  };
  for (auto [columns, isOwned] : sides) {
    if (isOwned)
      add(1, kernel.owned, columns);
    add(kernel.stages, kernel.visited, columns);
  }
  if (stagesNumbers(schedule, kernel))
    for (int64_t i = 0; i < (kernel.sumsOwned ? 2 : 1); ++i)
      layout.addRing(kernel.stages, kernel.visited * sizeof(float),
                     kernel.visited);
  for (const RegionTile &tile : problem.regionTiles)
    if (takesRegionTile(tile, schedule, kernel, target)) {
      bool ownsKeys = kernel.owns == MaskDim::Key;
      addTiles(IntegerType::get(target.getContext(), tile.bits), slots.tiles,
               ownsKeys ? kernel.visited : kernel.owned,
               ownsKeys ? kernel.owned : kernel.visited, byWarpgroups, target,
               layout);
    }
  if (int64_t bytes = getAddedBytes(problem, schedule, kernel, target))
    layout.addTiles(bytes);
  // Gradients of scores, and weights, that other groups multiply: two of each
  // by turns.
  int64_t shared = kernel.addsQueries;
  if (sharesScores(kernel, atom))
    shared = kernel.sumsOwned + kernel.sumsValues;
  for (int64_t i = 0; i < 2 * shared; ++i)
    layout.addTiles(kernel.owned * kernel.visited * elementBytes);
  if (kernel.addsQueries && !addsByThreads(problem, kernel, atom)) {
    // Handed over to who stores it, or stored where it lies.
    layout.addRing(std::max<int64_t>(1, slots.sums),
                   kernel.visited * dQK * sizeof(float),
                   /*atomColumns=*/slots.sums > 0 ? dQK : 0);
  }
  layout.addBarriers();
  // Where threads learn that theirs is the last workgroup of a head.
  if (kernel.roundsQueries)
    layout.addWords(1);
  return layout.getBytes();
}

RingSlots attune::getRingSlots(const AttentionGradProblem &problem,
                               const AttentionGradKnobs &schedule,
                               const GradientKernel &kernel,
                               TargetAttr target) {
  // While one is stored, or waits for its turn, the next one is computed.
  constexpr int64_t kTurns = 2;
  bool isHandedOver =
      handsOver(problem, schedule, kernel, findAtom(problem, schedule, target));
  int64_t most = isHandedOver ? kTurns : 0,
          least = kernel.addsInOrder ? kTurns : std::min<int64_t>(1, most);
  for (int64_t sums = most; sums >= least; --sums) {
    RingSlots slots{kernel.stages, sums};
    int64_t bytes = countSharedBytes(problem, schedule, kernel, target, slots);
    if (bytes <= target.getShared() &&
        bytes * kernel.workgroupsPerSm <= target.getSharedPerSm())
      return slots;
  }
  return {1, least};
}

int64_t attune::getSharedBytes(const AttentionGradProblem &problem,
                               const AttentionGradKnobs &schedule,
                               const GradientKernel &kernel,
                               TargetAttr target) {
  return countSharedBytes(problem, schedule, kernel, target,
                          getRingSlots(problem, schedule, kernel, target));
}

/// Columns of the sums that a workgroup keeps for its rows.
static int64_t countSumColumns(const GradientKernel &kernel,
                               const PaddedHeadDims &padded) {
  return (kernel.sumsOwned ? padded.qk : 0) +
         (kernel.sumsValues ? padded.v : 0);
}

int64_t attune::getAccumulatorRegisters(const AttentionGradProblem &problem,
                                        const AttentionGradKnobs &schedule,
                                        const GradientKernel &kernel,
                                        TargetAttr target) {
  PaddedHeadDims padded =
      getPaddedHeadDims(problem, findAtom(problem, schedule, target));
  // Weights and their gradients live side by side, and before the product that
  // is made of the latter.
  int64_t others = (kernel.sumsOwned ? 2 : 1) * kernel.owned * kernel.visited;
  if (kernel.addsQueries)
    others = std::max(others, kernel.visited * padded.qk);
  return llvm::divideCeil(kernel.owned * countSumColumns(kernel, padded) +
                              others,
                          kernel.warps * target.getLanes());
}

/// What a thread needs beside tiles: loop state, addresses. Seen in compiled
/// kernels.
static constexpr int64_t kOtherRegisters = 60, kOtherGroupRegisters = 16,
                         kScoreRegisters = 16;

int64_t attune::estimateRegisters(const AttentionGradProblem &problem,
                                  const AttentionGradKnobs &schedule,
                                  const GradientKernel &kernel,
                                  TargetAttr target) {
  MmaAtomAttr atom = findAtom(problem, schedule, target);
  auto [dQK, dV] = getPaddedHeadDims(problem, atom);
  constexpr int64_t kWordBits = 32;
  int64_t bits = problem.elementType.getIntOrFloatBitWidth();
  int64_t threads = kernel.warps * target.getLanes();
  int64_t sums = getAccumulatorRegisters(problem, schedule, kernel, target);
  // Where queries are columns, each thread has the numbers of those that it
  // holds: shifts, then deltas. From shared memory it reads them one by one.
  int64_t columns =
      kernel.owns == MaskDim::Key && !stagesNumbers(schedule, kernel)
          ? kernel.visited / atom.getAcc().getPartialColumns().getShape(2)[1]
          : 0;
  int64_t operands = kernel.owned * kernel.visited * bits / kWordBits / threads;
  if (atom.getWarps() > 1)
    return sums + operands + columns + kOtherGroupRegisters +
           (problem.hasScore ? kScoreRegisters : 0);
  int64_t mSteps = kernel.owned / (kernel.warps * atom.getM());
  // An operand of several lanes counts in each of them.
  auto lhsRegisters = [&](int64_t depth) {
    return mSteps * (depth / atom.getK()) * atom.getLhs().getNumRegisters() *
           bits / kWordBits;
  };
  bool plainLoads = target.copiesThroughRegisters();
  int64_t depth = dQK + (kernel.sumsOwned ? dV : 0);
  int64_t rows = kernel.inRegisters || plainLoads ? lhsRegisters(depth) : 0;
  int64_t copied =
      plainLoads ? kernel.visited * (dQK + dV) * bits / kWordBits / threads : 0;
  return sums + 2 * lhsRegisters(kernel.visited) + rows + copied + columns +
         kOtherRegisters;
}
