// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The schedule of an attention op where none is given.

#include "Assembling.h"
#include "BlockSizes.h"
#include "FewQueries.h"
#include "KeySplits.h"
#include "Transposing.h"
#include "Warpgroups.h"

using namespace mlir;
using namespace attune;
using schedule::AttentionAttr;
using schedule::Overlap;
using tile::TargetAttr;

/// Queries that an SM works on one after the other where each holds one tile,
/// with those of the last tile of a head that do not exist; 0 if unknown.
static int64_t getQueriesInTurn(const AttentionProblem &problem, int64_t blockM,
                                TargetAttr target) {
  int64_t tiles = problem.heads * llvm::divideCeil(problem.seqQ, blockM);
  return llvm::divideCeil(tiles, target.getSms()) * blockM;
}

/// Four warpgroups for rows of small heads, where fewer of so many queries are
/// beyond the last one, or in a round that leaves SMs idle. By what an H200 was
/// fastest with when hot (docs/measurements/Forward.md).
static AttentionAttr selectTallTiles(const AttentionProblem &problem,
                                     TargetAttr target) {
  constexpr int64_t kBlock = 96, kMany = 4096;
  int64_t tall = getQueriesInTurn(problem, 256, target);
  if (problem.isMasked || problem.headDimV > kSmallHeadDim || tall == 0 ||
      problem.seqK > kMany ||
      tall * (1 + kSmallerBlockPercent / 100) >=
          getQueriesInTurn(problem, 192, target))
    return {};
  bool isLong = problem.seqK > kShortKeys && !problem.hasScore &&
                problem.getKeyType() == problem.elementType;
  AttentionSchedule wanted =
      makeGroups(problem, /*groups=*/4, isLong ? kBlock : kSmallBlock);
  handOut(problem, wanted);
  wanted.rescale = 8;
  // So many warps hide what a block waits for.
  if (isLong)
    return getIfFits(problem, wanted, target);
  // A last block that is masked in part takes registers.
  if (!hasWholeBlocks(problem, kSmallBlock) || problem.seqK > kFewKeys)
    return {};
  wanted.overlap = Overlap::PingPong;
  wanted.kStages = wanted.vStages = 4;
  wanted.splitMasked = 0;
  return getIfFits(problem, makeCluster(wanted), target);
}

/// Several small workgroups on an SM, for masks of which larger tiles would
/// lie outside.
static AttentionAttr selectSmallTiles(const AttentionProblem &problem,
                                      TargetAttr target) {
  if (!problem.isMasked || problem.meanKeys == 0 ||
      problem.meanKeys > kShortKeys ||
      std::max(problem.headDimQK, problem.headDimV) > kSmallHeadDim)
    return {};
  AttentionSchedule wanted = makeGroups(problem, /*groups=*/1, /*blockN=*/64);
  handOut(problem, wanted);
  wanted.producerWarps = 1;
  wanted.splitMasked = 0;
  wanted.workgroupsPerSm = 4;
  return getIfFits(problem, wanted, target);
}

/// Whether an end of what a row sees is computed, which takes registers.
static bool computesEnds(const AttentionProblem &problem) {
  return problem.isMasked &&
         (problem.hasDynamicLength || problem.hasPackedQueries);
}

/// Whether the last values may be multiplied late: of rows that keep the matrix
/// unit busy for longer than a warp needs to issue their products. By what an
/// H200 was fastest with when hot (docs/measurements/Forward.md), and without
/// what then spills many registers.
static bool isMultipliedLate(const AttentionProblem &problem) {
  constexpr int64_t kColumns = 128, kOddColumns = 112, kEvenColumns = 96;
  int64_t columns = problem.headDimV;
  bool isFaster = columns > kSmallHeadDim && columns <= kColumns &&
                  (problem.isMasked ? problem.headDimQK <= kColumns
                                    : problem.meanKeys > kShortKeys);
  // Nor do pages, whose boxes are what holds such kernels up, leave them.
  bool spills =
      problem.hasScore ||
      (computesEnds(problem) && (problem.hasWindow || problem.pageSize)) ||
      (!problem.isMasked && columns > kEvenColumns && columns <= kOddColumns);
  return isFaster && !spills &&
         problem.elementType.getIntOrFloatBitWidth() == 16 &&
         problem.getKeyType() == problem.elementType &&
         problem.getValueType() == problem.elementType;
}

/// Three warpgroups with small blocks for long rows of heads that leave few
/// registers, where two that multiply late are not faster.
static AttentionAttr selectLongTiles(const AttentionProblem &problem,
                                     TargetAttr target) {
  constexpr int64_t kColumns = 128;
  int64_t keys = problem.isMasked ? 2 * problem.meanKeys : problem.meanKeys;
  bool isLate = isMultipliedLate(problem);
  bool isFaster = isLate && !problem.isMasked &&
                  problem.headDimQK == kColumns &&
                  problem.headDimV == kColumns && problem.seqQ >= kFewKeys;
  if (keys < (isFaster ? kFewKeys : kLongKeys) ||
      problem.headDimV <= kSmallHeadDim ||
      (isLate && !isFaster && problem.seqQ >= kLongKeys))
    return {};
  // Where ends are computed, of a window or of rows that see all keys, these
  // registers do not last.
  if (problem.hasDynamicLength && (!problem.isMasked || problem.hasWindow))
    return {};
  // The longest of packed sequences says nothing of the others, whose last
  // tiles are full in part.
  if (problem.hasPackedQueries)
    return {};
  AttentionSchedule wanted = makeGroups(problem, /*groups=*/3, /*blockN=*/80);
  handOut(problem, wanted);
  wanted.overlap = Overlap::Softmax;
  wanted.vStages = 4;
  if (problem.isMasked) {
    wanted.qStages = 1;
    wanted.persistent = schedule::Persistent::None;
  }
  return getIfFits(problem, wanted, target);
}

/// Where scores are added to tiles that are loaded with each block: what that
/// takes is hidden by other warps, and the loads by those of the tile before.
/// By what an H200 was fastest with when hot.
static AttentionAttr selectRegionTiles(const AttentionProblem &problem,
                                       TargetAttr target) {
  bool isSmall = problem.headDimV <= kSmallHeadDim;
  AttentionSchedule wanted =
      isSmall ? makeGroups(problem, /*groups=*/4, /*blockN=*/96)
              : makeGroups(problem, /*groups=*/2, /*blockN=*/128);
  handOut(problem, wanted);
  if (isSmall)
    wanted.rescale = 8;
  else
    wanted.overlap = Overlap::PingPong;
  AttentionAttr schedule = wanted.getAttr(target.getContext());
  bool loadsTile =
      llvm::any_of(problem.regionTiles, [&](const RegionTile &tile) {
        return loadsRegionTile(problem, tile, schedule, target);
      });
  if (!loadsTile)
    return {};
  for (int64_t stages : {4, 2})
    for (int64_t qStages : {2, 1}) {
      wanted.kStages = wanted.vStages = stages;
      wanted.qStages = qStages;
      if (AttentionAttr found = getIfFits(problem, wanted, target))
        return found;
    }
  return {};
}

/// Two groups in ping-pong, with the last values late where that is faster.
static AttentionAttr multiplyLate(const AttentionProblem &problem,
                                  AttentionAttr schedule, TargetAttr target) {
  constexpr int64_t kLate = 32, kBlock = 128, kFewColumns = 80,
                    kOddColumns = 112;
  if (!isMultipliedLate(problem) || schedule.getBlockN() != kBlock ||
      schedule.getNumWarps() != 2 * kWarpgroup)
    return schedule;
  SmallVector<int64_t> values(schedule.getValues());
  values[AttentionAttr::lateKeys] = kLate;
  // What was chosen because of computed ends may be rescaled seldom.
  values[AttentionAttr::overlap] = static_cast<int64_t>(Overlap::PingPong);
  values[AttentionAttr::rescale] = values[AttentionAttr::rescaleLate] = 0;
  if (problem.hasPackedQueries && problem.isMasked)
    values[AttentionAttr::qStages] = 1;
  // On an H200 1 to 2 percent slower without, for wide heads, and under a mask
  // up to 5 percent faster (docs/measurements/Forward.md).
  values[AttentionAttr::strengthReduction] =
      !problem.isMasked && problem.headDimV > kFewColumns;
  if (computesEnds(problem) && problem.headDimV > kFewColumns &&
      problem.headDimV <= kOddColumns)
    values[AttentionAttr::oInShared] =
        static_cast<int64_t>(schedule::OutputPath::Registers);
  auto late = AttentionAttr::get(target.getContext(), values);
  return fits(problem, late, target) ? late : schedule;
}

/// A schedule with a producer, for chips that multiply by warpgroups.
static AttentionAttr selectWarpgroupSchedule(const AttentionProblem &problem,
                                             TargetAttr target) {
  if (AttentionAttr small = selectSmallTiles(problem, target))
    return small;
  if (AttentionAttr transposing = selectTransposing(problem, target))
    return transposing;
  if (AttentionAttr tiles = selectRegionTiles(problem, target))
    return tiles;
  if (AttentionAttr tall = selectTallTiles(problem, target))
    return tall;
  if (AttentionAttr longer = selectLongTiles(problem, target))
    return longer;
  // Computed ends of what a row sees take registers: both, as in a window, more
  // than large blocks leave.
  bool hidesBoth = problem.hasDynamicLength && problem.hasWindow;
  bool takesMore = hidesBoth || (problem.hasDynamicLength && problem.isMasked &&
                                 problem.headDimV > kSmallHeadDim);
  for (Overlap overlap : {Overlap::PingPong, Overlap::Softmax, Overlap::None})
    for (int64_t groups : {3, 2, 1})
      for (int64_t blockN : {128, 112, 96, 80, 64, 48, 32, 16}) {
        // Three groups have few registers each and pay where blocks are large.
        if (groups == 3 && (blockN < 128 || takesMore))
          break;
        // Rows as long as that leave a mask of large blocks no registers: those
        // of 80 keys spill, and take 1 to 2 percent longer.
        constexpr int64_t kLongRow = 192;
        if (blockN > kSmallBlock &&
            (hidesBoth || (problem.isMasked && problem.headDimV > kLongRow)))
          continue;
        AttentionSchedule wanted = makeGroups(
            problem, groups, trimBlock(problem, 64 * groups, blockN));
        wanted.overlap = overlap;
        if (hidesBoth && problem.headDimV <= 2 * wanted.blockN)
          wanted.rescale = 0;
        // Between sequences that end anywhere, rows are rescaled seldom, and
        // under the next product.
        if (problem.hasPackedQueries && problem.isMasked &&
            overlap == Overlap::Softmax) {
          wanted.rescale = 8;
          wanted.rescaleLate = 1;
        }
        // Seldom pays where few registers hold the output, too, and none the
        // ends of the sequences.
        if (problem.isMasked && problem.headDimV <= kSmallHeadDim &&
            groups == 3 && !problem.hasDynamicLength)
          wanted.rescale = 8;
        // Taking turns over blocks of different cost, rescaled seldom or
        // between ends that are computed, takes registers that wide outputs do
        // not leave.
        bool isWide = problem.headDimV > wanted.blockN;
        if (problem.isMasked && overlap == Overlap::PingPong &&
            (isWide || takesMore || (problem.hasDynamicLength && groups < 3)))
          continue;
        if (fits(problem, wanted.getAttr(target.getContext()), target))
          return multiplyLate(problem, handOutTiles(problem, wanted, target),
                              target);
      }
  // Rows of so many columns are those of several warpgroups.
  for (int64_t sharers : {2, 4})
    for (int64_t blockN : {128, 64, 48, 32, 16}) {
      AttentionSchedule wanted = makeGroups(problem, sharers, blockN, sharers);
      if (AttentionAttr shared = getIfFits(problem, wanted, target))
        return shared;
    }
  return {};
}

/// With a second slot for values, if there is room for it beside all workgroups
/// that registers allow: they are then copied a block ahead, as keys are, and
/// no iteration waits for what it has loaded itself. Many waves of a scheduler
/// hide that.
static AttentionAttr addValueSlot(const AttentionProblem &problem,
                                  AttentionAttr schedule, TargetAttr target) {
  SmallVector<int64_t> values(schedule.getValues());
  values[AttentionAttr::vStages] = 2;
  auto wider = AttentionAttr::get(target.getContext(), values);
  int64_t registers = estimateRegisters(problem, wider, target) *
                      schedule.getNumWarps() * target.getLanes();
  int64_t workgroups = std::max(target.getRegistersPerSm() / registers,
                                schedule.getWorkgroupsPerSm());
  constexpr int64_t kManyWaves = 4;
  bool hasRoom = workgroups * schedule.getNumWarps() <
                     kManyWaves * target.getSchedulers() &&
                 workgroups * getSharedBytes(problem, wider, target) <=
                     target.getSharedPerSm();
  return hasRoom && fits(problem, wider, target) ? wider : schedule;
}

/// A wave on each scheduler of an SM in each workgroup, each with the rows of
/// one MMA, and if they fit two workgroups, so that one computes while the
/// other multiplies or waits. Of small heads, which have few MMAs beside what a
/// copy costs, twice as many waves share it where two workgroups fit then, too.
/// Copies pass through registers, so that keys need one slot.
static AttentionAttr selectWaveSchedule(const AttentionProblem &problem,
                                        TargetAttr target) {
  AttentionSchedule wanted;
  tile::MmaAtomAttr atom =
      findAtom(problem, wanted.getAttr(target.getContext()), target);
  if (!target.copiesThroughRegisters() || !atom)
    return {};
  int64_t waves = target.getSchedulers();
  // Rows that no query has cost as much as others; so do SMs without a tile.
  auto isTooTall = [&](int64_t rows) {
    return problem.seqQ &&
           (problem.seqQ <= rows / 2 ||
            (problem.heads && getQueriesInTurn(problem, rows, target) <= rows &&
             getQueriesInTurn(problem, rows / 2, target) <= rows / 2));
  };
  auto setWaves = [&](int64_t count) {
    wanted.numWarps = count;
    wanted.blockM = count * atom.getM();
  };
  wanted.kStages = wanted.vStages = 1;
  wanted.rescale = 8;
  // Tiles that run at a time then are those of different heads, and what one
  // head reads stays in the cache of one die: workgroups go to dies in turn.
  wanted.tileOrder = schedule::TileOrder::AcrossHeads;
  if (std::max(problem.headDimQK, problem.headDimV) <= kSmallHeadDim &&
      !isTooTall(2 * waves * atom.getM())) {
    setWaves(2 * waves);
    wanted.workgroupsPerSm = 2;
    for (int64_t blockN : {kSmallBlock, kSmallBlock / 2}) {
      // Windows have two ends that are masked, which take more than is left.
      if (problem.hasWindow && blockN < kSmallBlock)
        break;
      wanted.blockN = blockN;
      if (AttentionAttr schedule = getIfFits(problem, wanted, target))
        return addValueSlot(problem, schedule, target);
    }
  }
  while (waves > 1 && isTooTall(waves * atom.getM()))
    waves /= 2;
  setWaves(waves);
  for (int64_t workgroups : {2, 1})
    for (int64_t blockN : {64, 32, 16}) {
      wanted.blockN = blockN;
      wanted.workgroupsPerSm = workgroups;
      if (AttentionAttr schedule = getIfFits(problem, wanted, target))
        return addValueSlot(problem, schedule, target);
    }
  return {};
}

/// MMAs of single warps, in tiles from a short list: the first that fits the
/// registers, or the one that exceeds them least. Warps share columns only
/// where rows do not fit without.
static AttentionAttr selectOneWarp(const AttentionProblem &problem,
                                   TargetAttr target) {
  AttentionAttr best;
  int64_t bestExcess = std::numeric_limits<int64_t>::max();
  auto consider = [&](const AttentionSchedule &wanted) {
    AttentionAttr schedule = wanted.getAttr(target.getContext());
    if (checkLegal(problem, schedule, target))
      return false;
    int64_t excess = estimateRegisters(problem, schedule, target) -
                     getRegisterLimit(schedule, target);
    if (excess < bestExcess) {
      bestExcess = excess;
      best = schedule;
    }
    return excess <= 0;
  };
  for (int64_t sharers : {1, 2, 4})
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
              wanted.warpsN = sharers;
              if (consider(wanted))
                return best;
            }
  return best;
}

/// See selectSchedule().
static AttentionAttr selectWhole(const AttentionProblem &problem,
                                 TargetAttr target) {
  if (AttentionAttr schedule = selectFewQueries(problem, target))
    return schedule;
  // Also where it is not known that there are many keys.
  if (AttentionAttr schedule = selectNarrowKeys(problem, target))
    return schedule;
  if (AttentionAttr schedule = selectWarpgroupSchedule(problem, target))
    return schedule;
  if (AttentionAttr schedule = selectWaveSchedule(problem, target))
    return schedule;
  return selectOneWarp(problem, target);
}

/// The same tiles, rescaled as no other batch decides.
static AttentionAttr selectInvariant(AttentionProblem problem,
                                     TargetAttr target) {
  problem.isBatchInvariant = false;
  AttentionAttr schedule = selectWhole(problem, target);
  if (!schedule)
    return schedule;
  SmallVector<int64_t> values(schedule.getValues());
  values[AttentionAttr::rescale] = values[AttentionAttr::rescaleLate] = 0;
  if (problem.hasPackedQueries && problem.isMasked)
    values[AttentionAttr::qStages] = 1;
  return AttentionAttr::get(target.getContext(), values);
}

AttentionAttr attune::selectSchedule(const AttentionProblem &problem,
                                     TargetAttr target) {
  AttentionAttr whole = problem.isBatchInvariant
                            ? selectInvariant(problem, target)
                            : selectWhole(problem, target);
  return splitKeys(problem, chooseAssembler(problem, whole), target);
}
