// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Predicts times. A step of the main loop takes as long as the busiest part of
// an SM is busy with it: the matrix unit, shared memory that feeds it, or the
// way to the cache that fills that. Tiles beyond a multiple of what the chip
// runs at a time take a whole turn. The rates of the chip are those of
// #tile.rates.

#include "attune/Schedule/Matmul/Legality.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace attune;
using matmul::Dim;
using schedule::Persistent;
using schedule::ResultPath;
using tile::TargetAttr;

/// Clocks of a tile beside its steps: start, the first loads, and the stores of
/// its result, which a producer hides in part where workgroups stay.
static constexpr double kTileClocks = 2500, kPersistentTileClocks = 1000;
/// Clocks from the request of a block to its arrival, where workgroups before
/// have left much of what is read in the cache, and where all start at once,
/// with producers, and nothing is there, or another SM has just written it.
static constexpr double kLoadClocks = 800, kFirstLoadClocks = 2500;
/// The share of the matrix unit's rate that single warps reach, which load
/// their operands into registers in between, and that of one warpgroup alone
/// on an SM, for which nobody fills the gaps.
static constexpr double kOneWarpShare = 0.75, kOneGroupShare = 0.9;
/// Clocks of an element of the result in the epilogue, for one thread of the
/// 128 that an SM issues for at a time.
static constexpr double kEpilogueClocks = 4, kStoreSharedClocks = 2;
/// The same of one that the epilogue reads by itself, by an index of its own.
static constexpr double kLoadElementClocks = 4;
/// Clocks of a function or quotient in the epilogue, and how much longer these
/// take where more than one warp produces. That is as measured; registers are
/// not why.
static constexpr double kFunctionClocks = 12, kProducersShare = 1.25;
/// The share of what a tile takes beside its steps that warpgroups in ping-pong
/// do not hide under the steps of others, and how long a step takes for these,
/// which fill each other's gaps.
static constexpr double kPingPongShare = 0.1, kPingPongStep = 0.94;
/// The share of the memory's rate that a kernel reaches.
static constexpr double kMemoryShare = 0.9;
/// The share of the shorter one of computing and moving that the longer one
/// does not hide: of schedules that all wait for memory, it prefers those that
/// do little else.
static constexpr double kBesideShare = 0.05;
/// How much longer a step takes for each spilled register of a thread.
static constexpr double kSpillShare = 0.02;
/// Clocks from the last store of a workgroup until another one that waits for
/// it goes on: fences, counts in memory, and barriers.
static constexpr double kTurnClocks = 7000;
/// Clocks of an empty kernel.
static constexpr double kLaunchClocks = 4000;
/// What a size is taken to be that is not known.
static constexpr int64_t kLarge = 4096;

static int64_t getSize(const MatmulProblem &problem, Dim dim) {
  int64_t size = problem.sizes[dim];
  return ShapedType::isDynamic(size) ? kLarge : std::max<int64_t>(size, 1);
}

/// Clocks of a step of one workgroup that has the SM for itself, where a load
/// takes so many.
static double getStepClocks(const MatmulProblem &problem,
                            const MatmulKnobs &schedule, TargetAttr target,
                            double loadClocks) {
  tile::RatesAttr rates = target.getRates();
  bool byWarpgroups = schedule.getMmaWarps() > 1;
  auto blockM = static_cast<double>(schedule.getBlockM()),
       blockN = static_cast<double>(schedule.getBlockN()),
       blockK = static_cast<double>(schedule.getBlockK()),
       contractions = static_cast<double>(problem.countContractions());
  double bytes = problem.lhs.elementType.getIntOrFloatBitWidth() / 8.0;
  int64_t groups = schedule.getNumWarps() / schedule.getMmaWarps();
  double share = !byWarpgroups ? kOneWarpShare
                 : groups == 1 ? kOneGroupShare
                               : 1.0;
  auto rate =
      static_cast<double>(byWarpgroups ? rates.getGroupMma() : rates.getMma());
  double multiply =
      2 * blockM * blockN * blockK * contractions / (rate * share);
  // Each row of instructions reads the right operand again, each column of
  // them the left one.
  tile::MmaAtomAttr atom = findAtom(problem, schedule, target);
  double rowsOfInstructions =
      byWarpgroups
          ? blockM / static_cast<double>(atom.getM())
          : static_cast<double>(schedule.getNumWarps() / schedule.getWarpsN());
  auto columnsOfInstructions = static_cast<double>(schedule.getWarpsN());
  double wide =
      getInterleavedColumns(problem, schedule, target) ? contractions : 1;
  if (byWarpgroups)
    columnsOfInstructions =
        std::max(columnsOfInstructions, wide * blockN / 256);
  // And the copy engine writes them.
  double rows = blockM + contractions * blockN;
  double shared = bytes * blockK *
                  (contractions * blockN * rowsOfInstructions +
                   contractions / wide * blockM * columnsOfInstructions +
                   (byWarpgroups ? rows : 0)) /
                  static_cast<double>(rates.getShared());
  auto sharers = static_cast<double>(schedule.getCluster());
  bool isAlongM = schedule.getClusterAlong() == schedule::ClusterAlong::M;
  double fetched = blockM / (isAlongM ? 1 : sharers) +
                   contractions * blockN / (isAlongM ? sharers : 1);
  double fetch =
      bytes * blockK * fetched / static_cast<double>(rates.getCache());
  double busiest = std::max({multiply, shared, fetch});
  // A slot is filled again while the others are multiplied. Without another
  // one, multiplies wait for it.
  auto ahead = static_cast<double>(schedule.getStages() - 1);
  double filled = loadClocks + fetch;
  return ahead ? std::max(busiest, filled / ahead) : busiest + filled;
}

/// Clocks that the last split of a tile adds for the sums of the others: these
/// are stored, and read one after the other.
static double getSplitClocks(const MatmulProblem &problem,
                             const MatmulKnobs &schedule, TargetAttr target) {
  auto others = static_cast<double>(schedule.getSplitK() - 1);
  if (others == 0)
    return 0;
  constexpr int64_t kSumBytes = 4;
  double pass =
      static_cast<double>(kSumBytes * schedule.getBlockM() *
                          schedule.getBlockN() * problem.countContractions()) /
      static_cast<double>(target.getRates().getCache());
  return kTurnClocks + pass + others * (kFirstLoadClocks + pass);
}

/// Clocks of a tile beside its steps, where an SM has so many tiles.
static double getFixedClocks(const MatmulProblem &problem,
                             const MatmulKnobs &schedule, double turns) {
  constexpr double kThreads = 128;
  double elements =
      static_cast<double>(schedule.getBlockM() * schedule.getBlockN()) /
      kThreads;
  double ofSum = schedule.getResultPath() == ResultPath::Shared
                     ? kStoreSharedClocks
                     : kEpilogueClocks;
  ofSum += static_cast<double>(problem.epilogueLoads) * kLoadElementClocks;
  double ofResult =
      static_cast<double>(problem.epilogueFunctions) * kFunctionClocks;
  if (schedule.getProducerWarps() > 1)
    ofResult *= kProducersShare;
  bool goesOn = schedule.getPersistent() != Persistent::None && turns > 1;
  return (goesOn ? kPersistentTileClocks : kTileClocks) +
         elements * (static_cast<double>(problem.countContractions()) * ofSum +
                     ofResult);
}

namespace {
/// Of an SM: how many tiles it computes, and in how many steps each.
struct Rounds {
  double turns, steps;
};
} // namespace

/// Clocks of an SM on which so many workgroups may be at a time, and a step
/// takes `slowdown` times as long as without spilled registers.
static double getRoundsClocks(const MatmulProblem &problem,
                              const MatmulKnobs &schedule, TargetAttr target,
                              Rounds rounds, double resident, double slowdown) {
  // Splits of a tile read what no other has read, in later rounds as well. As
  // measured of producers; warps that load for themselves are not that fast.
  bool startsCold = (rounds.turns <= 1 || schedule.getSplitK() > 1) &&
                    schedule.getProducerWarps() > 0;
  double step =
      slowdown * getStepClocks(problem, schedule, target,
                               startsCold ? kFirstLoadClocks : kLoadClocks);
  double fixed = getFixedClocks(problem, schedule, rounds.turns);
  // Workgroups beside each other hide what one of them waits for.
  double besides = std::min(resident, rounds.turns);
  double perTile = rounds.steps * step + fixed / besides, last = 0;
  // Each warpgroup has its own tiles, and the matrix unit all of them. Nothing
  // hides the end of the last one.
  if (auto teams = static_cast<double>(getTeams(schedule)); teams > 1) {
    double main = rounds.steps * step * kPingPongStep;
    perTile = std::max(main + kPingPongShare * fixed, (main + fixed) / teams);
    last = main + fixed - perTile;
  }
  return rounds.turns * perTile + last;
}

double attune::predictTime(const MatmulProblem &problem,
                           const MatmulKnobs &schedule, TargetAttr target,
                           const ReportedUsage *reported) {
  int64_t blocksM =
      llvm::divideCeil(getSize(problem, Dim::M), schedule.getBlockM());
  int64_t blocksN =
      llvm::divideCeil(getSize(problem, Dim::N), schedule.getBlockN());
  int64_t &shared = schedule.getClusterAlong() == schedule::ClusterAlong::M
                        ? blocksM
                        : blocksN;
  shared = llvm::alignTo(shared, schedule.getCluster());
  // Products of sizes may be more than 64 bits count.
  auto getExtent = [&](Dim dim) {
    return static_cast<double>(getSize(problem, dim));
  };
  double tiles = static_cast<double>(blocksM) * static_cast<double>(blocksN) *
                 getExtent(Dim::Batch);
  // Each split of a tile is a tile with fewer steps.
  int64_t splits = schedule.getSplitK();
  double parts = tiles * static_cast<double>(splits);
  auto steps = static_cast<double>(llvm::divideCeil(
      llvm::divideCeil(getSize(problem, Dim::K), schedule.getBlockK()),
      splits));

  WarpBudget budget = getWarpBudget(schedule);
  int64_t bytes =
      std::max<int64_t>(1, getSharedBytes(problem, schedule, target));
  int64_t resident = std::max<int64_t>(
      1, std::min({target.getMaxThreadsPerSm() / budget.getThreads(target),
                   target.getSharedPerSm() / bytes,
                   std::max(schedule.getWorkgroupsPerSm(),
                            target.getRegistersPerSm() /
                                (budget.getRegistersAtEntry(target) *
                                 budget.getThreads(target)))}));
  auto sms = static_cast<double>(target.getSms());
  double turns = std::ceil(parts / sms);
  double missing = reported && reported->spillBytes
                       ? static_cast<double>(*reported->spillBytes) / 4
                       : static_cast<double>(std::max<int64_t>(
                             0, estimateRegisters(problem, schedule, target) -
                                    budget.getRegisterLimit(target)));
  auto getClocks = [&](double turns) {
    return getRoundsClocks(problem, schedule, target, {turns, steps},
                           static_cast<double>(resident),
                           1 + kSpillShare * missing);
  };
  // The first round is never faster for those behind it.
  double clocks = std::max(getClocks(1), getClocks(turns));
  double moved = (getExtent(Dim::M) * getExtent(Dim::K) +
                  static_cast<double>(problem.countContractions()) *
                      getExtent(Dim::K) * getExtent(Dim::N)) *
                 getExtent(Dim::Batch) *
                 problem.lhs.elementType.getIntOrFloatBitWidth() / 8.0;
  auto bits = static_cast<double>(problem.epilogueBits);
  for (const MatmulProblem::Matrix &result : problem.results)
    bits += result.elementType.getIntOrFloatBitWidth();
  moved += getExtent(Dim::M) * getExtent(Dim::N) * getExtent(Dim::Batch) *
           bits / 8.0;
  double memory = moved / (kMemoryShare *
                           static_cast<double>(target.getRates().getMemory()));
  clocks = std::max(clocks, memory) + kBesideShare * std::min(clocks, memory);
  // Sums are added when all is read.
  clocks += std::ceil(tiles / sms) * getSplitClocks(problem, schedule, target);
  constexpr double kNanosecondsPerMicrosecond = 1000;
  return (kLaunchClocks + clocks) /
         static_cast<double>(target.getRates().getClock()) *
         kNanosecondsPerMicrosecond;
}
