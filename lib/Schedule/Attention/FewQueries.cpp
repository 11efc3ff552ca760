// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The schedule of few queries where none is given: keys come from memory once,
// and are waited for.

#include "FewQueries.h"
#include "KeySplits.h"
#include "Warpgroups.h"

using namespace mlir;
using namespace attune;
using schedule::AttentionAttr;
using schedule::Overlap;
using tile::TargetAttr;

/// With as large blocks of keys as fit, of as many stages, and tiles that are
/// handed out where there are more than SMs. `make` has what else is wanted.
static AttentionAttr
selectStages(const AttentionProblem &problem, TargetAttr target,
             function_ref<AttentionSchedule(int64_t blockN)> make) {
  for (int64_t blockN : {128, 64, 32, 16}) {
    // Many small ones of pages are under way sooner than few large ones, each
    // of which waits for the numbers of its pages.
    if (problem.pageSize && blockN > kSmallBlock)
      continue;
    for (int64_t stages : {4, 3, 2}) {
      AttentionSchedule wanted = make(blockN);
      wanted.kStages = wanted.vStages = stages;
      wanted.tileOrder = schedule::TileOrder::Ascending;
      AttentionAttr schedule = getIfFits(problem, wanted, target);
      if (!schedule)
        continue;
      if (problem.countTiles(schedule) <= target.getSms())
        return schedule;
      handOut(problem, wanted);
      AttentionAttr handed = getIfFits(problem, wanted, target);
      return handed ? handed : schedule;
    }
  }
  return {};
}

/// Few queries for so many warpgroups, which share the columns of the output,
/// and producers.
static AttentionAttr selectDecoding(const AttentionProblem &problem,
                                    int64_t groups, int64_t producers,
                                    TargetAttr target) {
  return selectStages(problem, target, [&](int64_t blockN) {
    AttentionSchedule wanted =
        makeGroups(problem, groups, blockN, /*sharers=*/groups);
    wanted.producerWarps = producers;
    // Scores are computed once, beside two warpgroups that share columns.
    if (groups == 2) {
      wanted.pInRegisters = 0;
      wanted.numWarps += kWarpgroup;
    }
    return wanted;
  });
}

/// Heads that the rows of so many warpgroups belong to, and queries of each.
static std::pair<int64_t, int64_t>
countRows(const AttentionProblem &problem, int64_t groups, TargetAttr target) {
  AttentionAttr schedule =
      makeGroups(problem, groups, kSmallBlock).getAttr(target.getContext());
  return {problem.packing.count(schedule),
          problem.packing.countQueries(schedule)};
}

static bool hasNarrowKeys(const AttentionProblem &problem) {
  return problem.getKeyType().getIntOrFloatBitWidth() <
         problem.elementType.getIntOrFloatBitWidth();
}

/// Where heads share tiles, which read keys once for them: one warpgroup, or
/// two where their rows are more heads'. Memory is waited for then, as of one
/// query, by one of them alone, whose softmax takes less time than a block does
/// to come; two, or one for which keys are widened, multiply under it.
static AttentionAttr selectSharedTiles(const AttentionProblem &problem,
                                       TargetAttr target) {
  auto [ofOne, queriesOfOne] = countRows(problem, /*groups=*/1, target);
  int64_t ofTwo = countRows(problem, /*groups=*/2, target).first;
  if (std::max(ofOne, ofTwo) == 1)
    return {};
  // Of packed queries, all heads fit, and tiles that are full are those of two.
  bool fillsMore = ofTwo == ofOne && problem.seqQ > queriesOfOne;
  int64_t groups = ofTwo > ofOne || fillsMore ? 2 : 1;
  if (groups == 1 && !hasNarrowKeys(problem))
    return selectDecoding(problem, groups, /*producers=*/1, target);
  // Scales of each key take registers that large blocks do not leave.
  constexpr int64_t kBesideScales = 96;
  int64_t most = groups == 2 && problem.numbersOfKey
                     ? kBesideScales
                     : std::numeric_limits<int64_t>::max();
  return selectStages(problem, target, [&](int64_t blockN) {
    AttentionSchedule wanted =
        makeGroups(problem, groups, std::min(blockN, most));
    wanted.overlap = Overlap::Softmax;
    wanted.rescale = 8;
    return wanted;
  });
}

/// Several queries. Where heads share no tile, two workgroups an SM: one
/// multiplies while the other one has its softmax or waits for memory. What is
/// widened takes the room of the second one.
static AttentionAttr selectSeveralQueries(const AttentionProblem &problem,
                                          TargetAttr target) {
  if (problem.seqQ <= 1)
    return {};
  if (AttentionAttr shared = selectSharedTiles(problem, target))
    return shared;
  bool isNarrow = hasNarrowKeys(problem);
  for (int64_t blockN : {128, 80, 64, 48, 32}) {
    if ((problem.pageSize && blockN > kSmallBlock) ||
        (!isNarrow && blockN == 128))
      continue;
    AttentionSchedule wanted = makeGroups(problem, /*groups=*/1, blockN);
    if (!isNarrow) {
      wanted.producerWarps = 1;
      wanted.workgroupsPerSm = 2;
    }
    wanted.overlap = Overlap::Softmax;
    wanted.rescale = 8;
    wanted.tileOrder = schedule::TileOrder::Ascending;
    if (AttentionAttr schedule = getIfFits(problem, wanted, target))
      return schedule;
  }
  return {};
}

/// Keys of a block of those of 8 bits, or two in 8, and slots for such blocks:
/// as many bytes under way. What is faster on an H200
/// (docs/measurements/EightBits.md) for rows of 128 columns in pages of whole
/// blocks, or in none, as far as registers go with what each key has.
static std::pair<int64_t, int64_t>
chooseNarrowBlock(const AttentionProblem &problem) {
  constexpr int64_t kColumns = 128, kLarge = 64, kSmall = 32;
  bool isPacked = problem.packsKey && problem.packsValue;
  bool isWhole = problem.headDimQK == kColumns &&
                 problem.headDimV == kColumns && problem.pageSize % kLarge == 0;
  if (isPacked)
    return {isWhole && problem.numbersOfKey == 0 ? kSmall : kLarge, 2};
  if (isWhole && problem.numbersOfKey <= 2)
    return {kLarge, 1};
  return {kSmall, 2};
}

/// One warp with the rows of one instruction where keys have 8 bits, for each
/// warp widens all keys and values that it multiplies. Many workgroups an SM
/// have many small blocks under way, and compute while others wait: few slots
/// leave room for more of them.
AttentionAttr attune::selectNarrowKeys(const AttentionProblem &problem,
                                       TargetAttr target) {
  constexpr int64_t kRows = 16;
  constexpr unsigned kBits = 8;
  if (problem.getKeyType().getIntOrFloatBitWidth() != kBits ||
      problem.seqQ == 0 || target.copiesThroughRegisters())
    return {};
  AttentionSchedule wanted;
  wanted.blockM = kRows;
  auto [blockN, stages] = chooseNarrowBlock(problem);
  wanted.blockN = blockN;
  wanted.numWarps = 1;
  wanted.kStages = wanted.vStages = stages;
  wanted.rescale = 8;
  wanted.workgroupsPerSm = 4;
  wanted.tileOrder = schedule::TileOrder::Ascending;
  AttentionAttr schedule = getIfFits(problem, wanted, target);
  return schedule && problem.seqQ <= problem.packing.countQueries(schedule)
             ? schedule
             : AttentionAttr();
}

/// A tile of as few rows as warpgroups multiply, and as many keys under way as
/// fit, in large blocks of at least two stages: few queries wait for memory
/// alone. Where there are more tiles than SMs, the loads of the next one do not
/// wait for the end of the last.
AttentionAttr attune::selectFewQueries(const AttentionProblem &problem,
                                       TargetAttr target) {
  if (!hasFewQueries(problem))
    return {};
  AttentionAttr several = selectSeveralQueries(problem, target),
                narrow = selectNarrowKeys(problem, target);
  // Single warps widen faster, but each head's keys where heads share no tile.
  if (narrow && (!several || problem.packing.count(several) <=
                                 problem.packing.count(narrow)))
    return narrow;
  if (several)
    return several;
  // Where several warpgroups share columns, producers hand registers over.
  using Groups = std::pair<int64_t, int64_t>;
  for (auto [groups, producers] :
       {Groups{1, 1}, Groups{2, kWarpgroup}, Groups{4, kWarpgroup}})
    if (AttentionAttr schedule =
            selectDecoding(problem, groups, producers, target))
      return schedule;
  return {};
}
