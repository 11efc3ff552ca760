// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a schedule of attention takes from a chip: shared memory, threads,
// registers.

#include "attune/Dialect/Tile/IR/SharedMemoryLayout.h"
#include "attune/Schedule/Attention/Legality.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace attune;
using schedule::OutputPath;
using schedule::Overlap;
using schedule::Persistent;
using tile::MmaAtomAttr;
using tile::TargetAttr;

PaddedHeadDims attune::getPaddedHeadDims(const AttentionProblem &problem,
                                         MmaAtomAttr atom) {
  return {static_cast<int64_t>(llvm::alignTo(problem.headDimQK, atom.getK())),
          static_cast<int64_t>(llvm::alignTo(problem.headDimV, atom.getN()))};
}

bool attune::hasScoreRole(const AttentionKnobs &schedule) {
  return !schedule.getPInRegisters() && schedule.getWarpsN() > 1;
}

int64_t attune::countRowSharers(const AttentionKnobs &schedule) {
  return schedule.getWarpsN() + (hasScoreRole(schedule) ? 1 : 0);
}

ColumnParts attune::getOutputParts(const AttentionProblem &problem,
                                   const AttentionKnobs &schedule,
                                   TargetAttr target) {
  int64_t dV =
      getPaddedHeadDims(problem, findAtom(problem, schedule, target)).v;
  if (!hasScoreRole(schedule))
    return {{0, dV}};
  // Three roles that compute and one that loads start with as many registers as
  // the widest instruction has sums of a thread.
  int64_t most = target.getWarpgroups().getMostColumns() / 2;
  int64_t ofRole = dV / schedule.getWarpsN(),
          count = ofRole % most == 0 ? most : ofRole;
  ColumnParts parts;
  for (int64_t column = 0; column < ofRole; column += count)
    for (int64_t role = 0; role < schedule.getWarpsN(); ++role)
      parts.push_back({role * ofRole + column, count});
  return parts;
}

ColumnParts attune::getKeyParts(const AttentionProblem &problem,
                                const AttentionKnobs &schedule,
                                TargetAttr target) {
  auto [dQK, dV] =
      getPaddedHeadDims(problem, findAtom(problem, schedule, target));
  if (!problem.isLatent)
    return {{0, dQK}};
  ColumnParts parts;
  if (dQK != dV)
    parts.push_back({dV, dQK - dV});
  llvm::append_range(parts, getOutputParts(problem, schedule, target));
  return parts;
}

Type AttentionProblem::getMultipliedType(const AttentionKnobs &schedule) const {
  bool widensKeys = getKeyType().getIntOrFloatBitWidth() <
                    elementType.getIntOrFloatBitWidth();
  return widensKeys && elementType.isBF16() && schedule.getQInRegisters() &&
                 schedule.getMmaWarps() == 1
             ? Type(Float16Type::get(elementType.getContext()))
             : elementType;
}

MmaAtomAttr attune::findAtom(const AttentionProblem &problem,
                             const AttentionKnobs &schedule,
                             TargetAttr target) {
  auto find = [&](Type multiplied, Type stored) {
    return target.findAtom(
        multiplied, stored, Float32Type::get(target.getContext()),
        schedule.getMmaWarps() > 1 ? tile::MmaScope::Warpgroup
                                   : tile::MmaScope::Warp);
  };
  // Atoms of an operand that is widened have as many rows or columns as the
  // others, or more, and those of 8 bits as much depth, or more.
  MmaAtomAttr ofKeys = find(problem.getMultipliedType(schedule),
                            problem.getKeyType()),
              ofValues = find(problem.getWeightType(), problem.getValueType());
  if (!ofKeys || !ofValues)
    return {};
  auto getExtents = [](MmaAtomAttr atom) {
    return std::pair(atom.getN(), atom.getK());
  };
  return getExtents(ofKeys) > getExtents(ofValues) ? ofKeys : ofValues;
}

bool attune::transposesValues(const AttentionProblem &problem,
                              const AttentionKnobs &schedule,
                              TargetAttr target) {
  if (schedule.getMmaWarps() == 1)
    return false;
  MmaAtomAttr atom = target.findAtom(
      problem.getWeightType(), problem.getValueType(),
      Float32Type::get(target.getContext()), tile::MmaScope::Warpgroup);
  return atom && atom.readsColumns();
}

/// Whether warpgroups cannot multiply what is stored in so few bits.
static bool isNarrower(Type stored, Type multiplied,
                       const AttentionKnobs &schedule) {
  return schedule.getMmaWarps() > 1 &&
         stored.getIntOrFloatBitWidth() < multiplied.getIntOrFloatBitWidth();
}

bool attune::widensKeys(const AttentionProblem &problem,
                        const AttentionKnobs &schedule) {
  return isNarrower(problem.getKeyType(), problem.getMultipliedType(schedule),
                    schedule);
}

bool attune::widensValues(const AttentionProblem &problem,
                          const AttentionKnobs &schedule) {
  return isNarrower(problem.getValueType(), problem.getWeightType(), schedule);
}

bool attune::mergesInLast(const AttentionKnobs &schedule) {
  return schedule.getSplitK() != 1 &&
         schedule.getMerge() == schedule::MergeParts::Last;
}

bool attune::hasRestagingRole(const AttentionProblem &problem,
                              const AttentionKnobs &schedule,
                              TargetAttr target) {
  return schedule.getProducerWarps() > 1 &&
         (widensKeys(problem, schedule) || widensValues(problem, schedule) ||
          transposesValues(problem, schedule, target));
}

bool attune::computingWarpsTranspose(const AttentionProblem &problem,
                                     const AttentionKnobs &schedule,
                                     TargetAttr target) {
  return schedule.getProducerWarps() <= 1 &&
         transposesValues(problem, schedule, target);
}

bool attune::fitsTensorMap(const RegionTile &tile, TargetAttr target) {
  // CUDA driver API, cuTensorMapEncodeTiled.
  constexpr int64_t kMostDimensions = 5;
  return tile.rank <= kMostDimensions &&
         tile.rowBytes % target.getTmaBoxAlignment() == 0;
}

bool attune::loadsRegionTile(const AttentionProblem &problem,
                             const RegionTile &tile,
                             const AttentionKnobs &schedule,
                             TargetAttr target) {
  // A cluster's workgroups have queries of their own.
  return schedule.getMmaWarps() > 1 && schedule.getProducerWarps() > 0 &&
         schedule.getCluster() == 1 && !hasScoreRole(schedule) &&
         problem.packing.count(schedule) == 1 && fitsTensorMap(tile, target);
}

/// Threads that compute.
static int64_t getComputingThreads(const AttentionKnobs &schedule,
                                   TargetAttr target) {
  return schedule.getNumWarps() * target.getLanes();
}

int64_t attune::getThreads(const AttentionKnobs &schedule, TargetAttr target) {
  return (schedule.getNumWarps() + schedule.getProducerWarps()) *
         target.getLanes();
}

WarpBudget attune::getBudget(const AttentionKnobs &schedule,
                             TargetAttr target) {
  WarpBudget budget{schedule.getNumWarps(), schedule.getProducerWarps(),
                    schedule.getMmaWarps(), schedule.getWorkgroupsPerSm(),
                    schedule.getPersistent() != Persistent::None};
  budget.keepsCounters = !schedule.getStrengthReduction();
  budget.assembler = schedule.getAssembler();
  if (!hasScoreRole(schedule))
    return budget;
  // Scores and, rounded, weights, and what else there is of rows, of masks and
  // of regions. Seen in compiled kernels.
  constexpr int64_t kBesideScores = 72;
  budget.roles = countRowSharers(schedule);
  int64_t scores = schedule.getBlockM() * schedule.getBlockN() * budget.roles /
                   getComputingThreads(schedule, target);
  budget.ofScores = static_cast<int64_t>(
      llvm::alignTo(scores * 3 / 2 + kBesideScores, target.getRegisterStep()));
  // Addresses of the rings of all parts. Seen in compiled kernels, too.
  constexpr int64_t kLoadingParts = 56;
  if (budget.isPersistent)
    budget.ofLoading = kLoadingParts;
  return budget;
}

WarpBudget attune::getWholeBudget(const AttentionProblem &problem,
                                  const AttentionKnobs &schedule,
                                  TargetAttr target) {
  WarpBudget budget = getBudget(schedule, target);
  bool widens =
      widensKeys(problem, schedule) || widensValues(problem, schedule);
  if (!widens && !transposesValues(problem, schedule, target))
    return budget;
  budget.restaging = budget.producing / 2;
  // Of more columns half of them make others wait, 2 to 8 percent of the time
  // at 256 on an H200, and of 128 a third warp takes 2 to 4 percent more from
  // those on its scheduler than it saves. Any number of warps can transpose;
  // numbers of keys lie in a power of two of them.
  if (!widens && !problem.numbersOfKey && problem.headDimV > kFewTransposed &&
      budget.producing > 1)
    budget.restaging = std::min(budget.producing - 1, target.getSchedulers());
  budget.needed = estimateRegisters(problem, schedule, target);
  // Two groups of pieces, of which one is read while the other one is written,
  // and addresses. Seen in compiled kernels.
  constexpr int64_t kWidening = 56;
  budget.ofRestaging = widens ? kWidening : 0;
  return budget;
}

int64_t attune::getRegistersAtEntry(const AttentionKnobs &schedule,
                                    TargetAttr target) {
  return getBudget(schedule, target).getRegistersAtEntry(target);
}

std::optional<RoleRegisters>
attune::getRoleRegisters(const AttentionKnobs &schedule, TargetAttr target) {
  return getBudget(schedule, target).getRoleRegisters(target);
}

int64_t attune::getRegisterLimit(const AttentionKnobs &schedule,
                                 TargetAttr target) {
  return getBudget(schedule, target).getRegisterLimit(target);
}

/// What one role hands over to the others: the factors by which it rescales,
/// the weights, and those of sinks and sums.
static void addHandedOver(const AttentionProblem &problem,
                          const AttentionKnobs &schedule,
                          tile::SharedMemoryLayout &layout) {
  int64_t rows = schedule.getBlockM(),
          factors = rows * static_cast<int64_t>(sizeof(float)),
          bits = problem.getWeightType().getIntOrFloatBitWidth();
  bool takesSinks = problem.hasSinks && schedule.getSplitK() == 1;
  layout.addRing(1, factors, rows);
  layout.addRing(1, rows * schedule.getBlockN() * bits / 8,
                 schedule.getBlockN());
  for (int64_t i = 0; i < (takesSinks ? 2 : 1); ++i)
    layout.addRing(1, factors, rows);
}

void attune::addTiles(Type element, int64_t stages, int64_t rows,
                      int64_t columns, bool byWarpgroups, TargetAttr target,
                      tile::SharedMemoryLayout &layout) {
  int64_t atomColumns =
      byWarpgroups ? target.getSwizzleAtom(columns, element) : 0;
  layout.addRing(stages, rows * columns * element.getIntOrFloatBitWidth() / 8,
                 atomColumns);
}

/// What warpgroups want otherwise than it is stored, and what the role that
/// sees to it reads for others.
static void addRestaged(const AttentionProblem &problem,
                        const AttentionKnobs &schedule, TargetAttr target,
                        tile::SharedMemoryLayout &layout) {
  MmaAtomAttr atom = findAtom(problem, schedule, target);
  int64_t dV = getPaddedHeadDims(problem, atom).v, keys = schedule.getBlockN();
  auto add = [&](Type element, int64_t rows, int64_t columns) {
    addTiles(element, kRestagedStages, rows, columns, /*byWarpgroups=*/true,
             target, layout);
  };
  if (transposesValues(problem, schedule, target))
    add(problem.getValueType(), dV, keys);
  if (widensKeys(problem, schedule))
    for (ColumnPart part : getKeyParts(problem, schedule, target))
      add(problem.getMultipliedType(schedule), keys, part.count);
  if (widensValues(problem, schedule) && !problem.isLatent)
    for (ColumnPart part : getOutputParts(problem, schedule, target))
      add(problem.getWeightType(), keys, part.count);
  if (hasRestagingRole(problem, schedule, target))
    for (int64_t i = 0; i < problem.numbersOfKey; ++i)
      layout.addRing(kRestagedStages,
                     keys * static_cast<int64_t>(sizeof(float)), keys);
}

/// Where threads learn that theirs is the last workgroup of a tile.
static void addJoin(const AttentionKnobs &schedule,
                    tile::SharedMemoryLayout &layout) {
  if (mergesInLast(schedule))
    layout.addWords(1);
}

int64_t attune::getSharedBytes(const AttentionProblem &problem,
                               const AttentionKnobs &schedule,
                               TargetAttr target) {
  MmaAtomAttr atom = findAtom(problem, schedule, target);
  auto [dQK, dV] = getPaddedHeadDims(problem, atom);
  Type type = problem.elementType, keyType = problem.getKeyType(),
       valueType = problem.getValueType();
  bool byWarpgroups = schedule.getMmaWarps() > 1;
  tile::SharedMemoryLayout layout;
  // As tile-promote-to-shared makes them. Rings that are filled past registers
  // have no padding and take less, which loads alone tell.
  if (target.copiesThroughRegisters()) {
    auto addOperand = [&](Type element, int64_t stages, int64_t rows,
                          int64_t columns, bool isLhs, bool kAlongRows) {
      layout.addTiles(tile::getOperandBytes({rows, columns}, element, stages,
                                            {atom, isLhs, kAlongRows}));
    };
    for (ColumnPart part : getKeyParts(problem, schedule, target)) {
      if (!schedule.getQInRegisters())
        addOperand(type, 1, schedule.getBlockM(), part.count, /*isLhs=*/true,
                   /*kAlongRows=*/false);
      addOperand(keyType, schedule.getKStages(), schedule.getBlockN(),
                 problem.getStoredK(part.count),
                 /*isLhs=*/false, /*kAlongRows=*/false);
    }
    if (!problem.isLatent)
      addOperand(valueType, schedule.getVStages(), schedule.getBlockN(),
                 problem.getStoredV(dV),
                 /*isLhs=*/false, /*kAlongRows=*/true);
    addJoin(schedule, layout);
    return layout.getBytes();
  }
  auto add = [&](Type element, int64_t stages, int64_t rows, int64_t columns) {
    addTiles(element, stages, rows, columns, byWarpgroups, target, layout);
  };
  // A query that no loop loads again has one slot.
  bool isPersistent = schedule.getPersistent() != Persistent::None;
  int64_t qStages = isPersistent ? schedule.getQStages() : 1;
  for (ColumnPart part : getKeyParts(problem, schedule, target)) {
    add(type, qStages, schedule.getBlockM(), part.count);
    add(keyType, schedule.getKStages(), schedule.getBlockN(),
        problem.getStoredK(part.count));
  }
  if (!problem.isLatent)
    for (ColumnPart part : getOutputParts(problem, schedule, target))
      add(valueType, schedule.getVStages(), schedule.getBlockN(),
          problem.getStoredV(part.count));
  for (const RegionTile &tile : problem.regionTiles)
    if (loadsRegionTile(problem, tile, schedule, target))
      add(IntegerType::get(target.getContext(), tile.bits), RegionTile::kStages,
          schedule.getBlockM(), schedule.getBlockN());
  auto addTile = [&](Type element, int64_t rows, int64_t columns) {
    layout.addTiles(rows * columns * element.getIntOrFloatBitWidth() / 8);
  };
  addRestaged(problem, schedule, target, layout);
  if (hasScoreRole(schedule))
    addHandedOver(problem, schedule, layout);
  else if (!schedule.getPInRegisters())
    addTile(problem.getWeightType(), schedule.getBlockM(),
            schedule.getBlockN());
  if (schedule.getOInShared() == OutputPath::Buffer)
    addTile(problem.getResultType(), schedule.getBlockM(), dV);
  layout.addBarriers();
  if (schedule.getPersistent() == Persistent::Dynamic)
    layout.addWords(tile::SchedulerType::kWords);
  addJoin(schedule, layout);
  return layout.getBytes();
}

int64_t attune::getAccumulatorRegisters(const AttentionProblem &problem,
                                        const AttentionKnobs &schedule,
                                        TargetAttr target) {
  int64_t dV =
      getPaddedHeadDims(problem, findAtom(problem, schedule, target)).v;
  int64_t sharers = countRowSharers(schedule);
  // Those of a row, which is in as many threads of each role, or in all.
  int64_t registers = hasScoreRole(schedule)
                          ? std::max(sharers * schedule.getBlockN(),
                                     sharers * dV / schedule.getWarpsN())
                          : dV + sharers * schedule.getBlockN();
  return llvm::divideCeil(schedule.getBlockM() * registers,
                          getComputingThreads(schedule, target));
}

/// What a thread needs beside tiles: row statistics, loop state, addresses.
/// Rows whose length is no power of two cost more of these, for their places in
/// shared memory are not a few bits apart; so does a ring of one slot, where a
/// step's copies cannot be spread over it. Seen in compiled kernels.
static constexpr int64_t kOtherRegisters = 60, kOddRowRegisters = 48,
                         kOneSlotRegisters = 20;
/// The same for multiplies by several warps, which read shared memory
/// themselves.
static constexpr int64_t kOtherGroupRegisters = 24;
/// Where swizzle atoms are a quarter of the widest one, a row is many of them,
/// each with an address of its own. Seen at a head size of 80.
static constexpr int64_t kNarrowAtomRegisters = 16;
/// The same where copies pass through registers: with keys of a block, with a
/// mask, and with a score region. Seen in compiled kernels.
static int64_t getOtherWaveRegisters(int64_t blockN, bool isMasked,
                                     bool hasScore) {
  constexpr int64_t kScoreRegisters = 16;
  return 8 + (isMasked ? blockN : blockN * 5 / 8) +
         (hasScore ? kScoreRegisters : 0);
}
/// What seldom rescaling keeps.
static constexpr int64_t kRescaleRegisters = 4;
/// Addresses and pieces of what is transposed, where no role of its own does.
static constexpr int64_t kTransposingRegisters = 16;

/// Counts the tiles that live at the time when scores have become weights.
int64_t attune::estimateRegisters(const AttentionProblem &problem,
                                  const AttentionKnobs &schedule,
                                  TargetAttr target) {
  MmaAtomAttr atom = findAtom(problem, schedule, target);
  constexpr int64_t kWordBits = 32;
  int64_t bits = problem.elementType.getIntOrFloatBitWidth(),
          weightBits = problem.getWeightType().getIntOrFloatBitWidth();
  int64_t blockN = schedule.getBlockN();
  if (atom.getWarps() > 1) {
    // Operands stay in shared memory. Weights stand beside the next scores only
    // where a block's softmax overlaps with the next block's multiply.
    int64_t weights = schedule.getBlockM() * schedule.getWarpsN() * blockN *
                      weightBits / kWordBits /
                      getComputingThreads(schedule, target);
    auto [dQK, dV] = getPaddedHeadDims(problem, atom);
    bool isNarrow = target.getSwizzleAtom(dQK, problem.elementType) * bits / 8 <
                    target.getTmaBoxBytes() / 2;
    return getAccumulatorRegisters(problem, schedule, target) +
           (isNarrow ? kNarrowAtomRegisters : 0) +
           (schedule.getRescale() ? kRescaleRegisters : 0) +
           (computingWarpsTranspose(problem, schedule, target)
                ? kTransposingRegisters
                : 0) +
           (schedule.getOverlap() != Overlap::None && schedule.getPInRegisters()
                ? weights
                : 0) +
           kOtherGroupRegisters;
  }
  auto [dQK, dV] = getPaddedHeadDims(problem, atom);
  int64_t mSteps = schedule.getBlockM() * schedule.getWarpsN() /
                   (schedule.getNumWarps() * atom.getM());
  // An operand of several lanes counts in each of them.
  auto lhsRegisters = [&](int64_t depth, int64_t ofBits) {
    return mSteps * (depth / atom.getK()) * atom.getLhs().getNumRegisters() *
           ofBits / kWordBits;
  };
  // Without asynchronous copies the next blocks pass through registers, and
  // compilers gather plain loads, so that a query read at each step takes as
  // many registers as one that stays.
  bool plainLoads = target.copiesThroughRegisters();
  int64_t query =
      schedule.getQInRegisters() || plainLoads ? lhsRegisters(dQK, bits) : 0;
  int64_t weights = lhsRegisters(blockN, weightBits);
  int64_t keys =
      blockN / atom.getN() * atom.getRhs().getNumRegisters() * bits / kWordBits;
  // Rings of several slots may be filled past them.
  auto passing = [&](int64_t columns, int64_t stages) {
    bool passes = plainLoads &&
                  (target.getCopySync() == tile::CopySync::None || stages == 1);
    return passes ? columns : 0;
  };
  int64_t copied = blockN *
                   (passing(dQK, schedule.getKStages()) +
                    passing(dV, schedule.getVStages())) *
                   bits / kWordBits / getThreads(schedule, target);
  bool oddRows = !llvm::isPowerOf2_64(dQK) || !llvm::isPowerOf2_64(dV);
  // There all places are a constant apart.
  if (target.copiesThroughRegisters())
    return getAccumulatorRegisters(problem, schedule, target) + query +
           weights + keys + copied +
           getOtherWaveRegisters(blockN, problem.isMasked, problem.hasScore);
  bool oneSlot = schedule.getKStages() == 1 || schedule.getVStages() == 1;
  return getAccumulatorRegisters(problem, schedule, target) + query + weights +
         keys + copied + kOtherRegisters + (oddRows ? kOddRowRegisters : 0) +
         (oneSlot ? kOneSlotRegisters : 0);
}

int64_t attune::limitSingleWarps(const AttentionKnobs &schedule,
                                 TargetAttr target) {
  // More were not faster: memory is busy then.
  constexpr int64_t kMost = 8;
  return getThreads(schedule, target) > target.getLanes() ? 1 : kMost;
}

int64_t attune::countSingleWarps(const AttentionProblem &problem,
                                 const AttentionKnobs &schedule,
                                 TargetAttr target) {
  int64_t most = limitSingleWarps(schedule, target);
  if (most == 1 || !findAtom(problem, schedule, target))
    return 1;
  int64_t registers =
      estimateRegisters(problem, schedule, target) * target.getLanes();
  int64_t room = std::min(target.getSharedPerSm() /
                              getSharedBytes(problem, schedule, target),
                          target.getRegistersPerSm() / registers);
  return std::min(most, std::max(room, schedule.getWorkgroupsPerSm()));
}
