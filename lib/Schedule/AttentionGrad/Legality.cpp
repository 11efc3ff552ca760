// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules of legality. A new rule needs a test on both sides of its limit.

#include "attune/Schedule/AttentionGrad/Legality.h"
#include "../Attention/AttentionTunable.h"
#include "attune/Dialect/Attn/Analysis/RegionTiles.h"
#include "attune/Schedule/BudgetRules.h"

using namespace mlir;
using namespace attune;
using tile::MmaAtomAttr;
using tile::TargetAttr;

/// Those that the op's regions read, and which of them are added to.
static SmallVector<RegionTile, 1> findTiles(attn::AttentionGradOp op) {
  SmallVector<RegionTile, 1> tiles = getRegionTiles(op);
  for (auto [tile, read] : llvm::zip_equal(tiles, findRegionTiles(op)))
    tile.isAdded = read->getParentRegion() == &op.getScore() &&
                   llvm::is_contained(op.getWrt(), read.getTensor());
  return tiles;
}

AttentionGradProblem AttentionGradProblem::get(attn::AttentionGradOp op,
                                               const SizeMap &likely) {
  SmallVector<int64_t> written = getAttentionSizes(op),
                       sizes = fillSizes(written, likely);
  bool isMasked = op.getCausalAttr() || op.getWindowAttr() || op.hasMask();
  bool isKnown = !op.hasLengths() && sizes[kSeqQ] > 0 && sizes[kSeqK] > 0;
  return {op.getElementType(),
          op.getHeadDimQK(),
          op.getHeadDimV(),
          getRowDivisor(
              {op.getQuery(), op.getKey(), op.getValue(), op.getOutputGrad()},
              op.getHeadDimPos()),
          op.getDeterministic(),
          op.hasScore() || op.getSoftcapAttr() ||
              op.getDropoutProbabilityAttr(),
          isMasked,
          findTiles(op),
          op.hasLengths(),
          (op.getQueryStarts() && op.getQueryLengths()) ||
              (op.getKeyStarts() && op.getKeyLengths()),
          !op.hasMask() || areRangesMutual(op.getMask()),
          isKnown ? std::max(sizes[kSeqQ], sizes[kSeqK]) : 0,
          op.hasLengths() || written[kSeqQ] <= 0 || written[kSeqK] <= 0,
          isMasked && !op.hasBlockLists() && !op.hasLengths(),
          op.hasMask() && (readsTensorAt(op.getMask(), MaskDim::Query) ||
                           readsTensorAt(op.getMask(), MaskDim::Key))};
}

/// How the knobs of a kernel begin.
static StringRef getPrefix(const GradientKernel &kernel) {
  return kernel.owns == MaskDim::Key ? "kv" : "q";
}
/// The knob of the rows that it owns, and of those that it visits.
static StringRef getOwnedKnob(const GradientKernel &kernel) {
  return kernel.owns == MaskDim::Key ? "kv-block-n" : "q-block-m";
}
static StringRef getVisitedKnob(const GradientKernel &kernel) {
  return kernel.owns == MaskDim::Key ? "kv-block-m" : "q-block-n";
}

static StringRef getFormName(const AttentionGradKnobs &schedule) {
  return stringifyGradientForm(schedule.getForm());
}

/// The rules of TMA boxes of batches of different lengths, with which they do
/// not end: the last one of what is visited has rows of the one before again,
/// or of the batch before, which are multiplied by 0.
static std::optional<Refusal> checkLengths(const AttentionGradProblem &problem,
                                           const AttentionGradKnobs &schedule,
                                           const GradientKernel &kernel) {
  constexpr StringLiteral kRule = "boxes-of-lengths";
  if (problem.hasGaps)
    return refuse(kRule,
                  "expects mma-warps to be 1 for gradients of packed batches "
                  "with lengths of their own, but got {0}",
                  schedule.getMmaWarps());
  if (kernel.owns == MaskDim::Key && !stagesNumbers(schedule, kernel))
    return refuse(kRule,
                  "expects {0} to be a multiple of 32, at most 256, for "
                  "gradients of batches of different lengths, but got {1}",
                  getVisitedKnob(kernel), kernel.visited);
  return std::nullopt;
}

/// The rules of MMAs by several warps, and of what comes with them.
static std::optional<Refusal> checkRoles(const AttentionGradProblem &problem,
                                         const AttentionGradKnobs &schedule,
                                         const GradientKernel &kernel,
                                         TargetAttr target) {
  int64_t together = schedule.getMmaWarps();
  if (together == 1)
    return std::nullopt;
  if (problem.hasLengths)
    if (std::optional<Refusal> refusal =
            checkLengths(problem, schedule, kernel))
      return refusal;
  if (kernel.warps % together != 0)
    return refuse("warps-per-mma",
                  "expects {0}-warps to be a multiple of {1}, the warps of an "
                  "MMA, but got {2}",
                  getPrefix(kernel), together, kernel.warps);
  if (problem.rowDivisor == 0)
    return refuse("row-not-contiguous",
                  "expects the elements of a row to be neighbours for an "
                  "MMA by {0} warps",
                  together);
  uint64_t rowBytes = getRowBytes(problem.elementType, problem.rowDivisor);
  if (rowBytes % target.getTmaBoxAlignment() != 0)
    return refuse("row-alignment",
                  "expects rows of query, key, value and output_grad to start "
                  "at multiples of {0} bytes for an MMA by {1} warps, but got "
                  "{2}",
                  target.getTmaBoxAlignment(), together, rowBytes);
  if (kernel.inRegisters)
    return refuse("rows-in-registers",
                  "expects {0}-in-registers to be 0 where mma-warps is {1}, "
                  "but got 1",
                  getPrefix(kernel), together);
  return std::nullopt;
}

/// The rules of a kernel whose workgroups take turns.
static std::optional<Refusal> checkOrdered(const AttentionGradProblem &problem,
                                           const AttentionGradKnobs &schedule) {
  // Others wait than those who compute, or load: half of the producers.
  if (schedule.getProducerWarps() < 2)
    return refuse("ordered-without-producer",
                  "expects producer-warps of at least 2, half of which store, "
                  "where form is ordered, but got {0}",
                  schedule.getProducerWarps());
  if (!problem.hasMutualRanges)
    return refuse("ordered-mask",
                  "expects a mask of comparisons of sums of positions, all of "
                  "which hold, where form is ordered, for it tells whose turn "
                  "it is, but got another one");
  return std::nullopt;
}

/// The rules of a kernel that adds to memory.
static std::optional<Refusal> checkFused(const AttentionGradProblem &problem,
                                         const AttentionGradKnobs &schedule,
                                         const GradientKernel &kernel,
                                         TargetAttr target, MmaAtomAttr atom) {
  if (problem.isDeterministic && !kernel.addsInOrder)
    return refuse(
        "fused-deterministic",
        "expects form to be ordered, split or apart for deterministic "
        "gradients, but got fused");
  if (schedule.getMmaWarps() == 1)
    return refuse("fused-without-groups",
                  "expects form to be split or apart where mma-warps is 1, but "
                  "got {0}",
                  getFormName(schedule));
  if (kernel.addsInOrder)
    if (std::optional<Refusal> refusal = checkOrdered(problem, schedule))
      return refusal;
  if (kernel.roundsQueries && problem.hasLengths)
    return refuse("round-of-lengths",
                  "expects round-last to be 0 for gradients of batches of "
                  "different lengths, but got 1");
  int64_t rows = atom.getM();
  if (kernel.visited % rows != 0)
    return refuse("fused-rows",
                  "expects {0} to be a multiple of {1} (rows of '{2}') where "
                  "form is {3}, but got {4}",
                  getVisitedKnob(kernel), rows, atom.getName(),
                  getFormName(schedule), kernel.visited);
  // Each group multiplies, and the copy engine adds, whole swizzle atoms.
  int64_t groups = countGroupsAlongColumns(kernel, kernel.visited, atom),
          columns = getPaddedHeadDims(problem, atom).qk;
  auto getAtom = [&](Type type) {
    return std::max<int64_t>(target.getSwizzleAtom(columns, type), 1);
  };
  int64_t multiple =
      groups * std::max(groups > 1 ? getAtom(problem.elementType) : 1,
                        getAtom(Float32Type::get(target.getContext())));
  if (columns % multiple != 0)
    return refuse("fused-columns",
                  "expects a padded head size that is a multiple of {0} where "
                  "{1} groups of warps share the gradients of {2} queries, but "
                  "got {3}",
                  multiple, groups, kernel.visited, columns);
  return std::nullopt;
}

/// The rules of groups of warps that share the columns of scores: what comes of
/// these is multiplied from shared memory, and columns of the sums are shared,
/// too. Blocks are multiples of what an MMA multiplies.
static std::optional<Refusal> checkColumns(const AttentionGradProblem &problem,
                                           const GradientKernel &kernel,
                                           TargetAttr target,
                                           MmaAtomAttr atom) {
  int64_t groups = countGroupsAlongColumns(kernel, kernel.owned, atom);
  PaddedHeadDims padded = getPaddedHeadDims(problem, atom);
  for (int64_t columns : {padded.qk, padded.v}) {
    int64_t multiple =
        groups * std::max<int64_t>(
                     target.getSwizzleAtom(columns, problem.elementType), 1);
    if (columns % multiple != 0)
      return refuse("shared-columns",
                    "expects padded head sizes that are multiples of {0} where "
                    "{1} groups of warps share the sums of {2} rows, but got "
                    "{3}",
                    multiple, groups, kernel.owned, columns);
  }
  // Swizzle atoms have rows in eights, and their columns are written whole, or
  // matrices within one.
  constexpr int64_t kAtomRows = 8;
  if (kernel.owned % (kAtomRows * groups) != 0)
    return refuse("shared-rows",
                  "expects {0} to be a multiple of {1} where {2} groups of "
                  "warps share scores, but got {3}",
                  getOwnedKnob(kernel), kAtomRows * groups, groups,
                  kernel.owned);
  int64_t swizzleAtom = std::max<int64_t>(
              target.getSwizzleAtom(kernel.visited, problem.elementType), 1),
          part = kernel.visited / groups;
  if (part % swizzleAtom != 0 && swizzleAtom % part != 0)
    return refuse("shared-scores",
                  "expects {0} that give each of {1} groups of warps whole "
                  "swizzle atoms of {2} columns of scores, or a part of one, "
                  "but got {3}",
                  getVisitedKnob(kernel), groups, swizzleAtom, kernel.visited);
  return std::nullopt;
}

/// The rules of blocks: whole matrix instructions for each warp.
static std::optional<Refusal> checkBlocks(const GradientKernel &kernel,
                                          MmaAtomAttr atom) {
  int64_t groups = kernel.warps / atom.getWarps(),
          alongColumns = countGroupsAlongColumns(kernel, kernel.owned, atom);
  // Warps that multiply by themselves have rows each.
  int64_t alongRows = atom.getWarps() > 1 ? groups / alongColumns : groups;
  if (std::optional<Refusal> refusal =
          checkRowsPerWarp(getOwnedKnob(kernel), kernel.owned, alongRows, atom))
    return refusal;
  for (auto [what, multiple] :
       {std::pair<StringRef, int64_t>{"columns", atom.getN() * alongColumns},
        {"depth", atom.getK()}})
    if (kernel.visited % multiple != 0)
      return refuse("visited-rows",
                    "expects {0} to be a multiple of {1} ({2} of '{3}'), but "
                    "got {4}",
                    getVisitedKnob(kernel), multiple, what, atom.getName(),
                    kernel.visited);
  return std::nullopt;
}

/// The rules of blocks that kernels list.
static std::optional<Refusal> checkLists(const AttentionGradProblem &problem,
                                         const AttentionGradKnobs &schedule) {
  if (!schedule.getListBlocks())
    return std::nullopt;
  if (!problem.isListable)
    return refuse("nothing-to-list",
                  "expects list-blocks to be 0 but for a mask without lists of "
                  "blocks or lengths, but got {0}",
                  schedule.getListBlocks());
  if (schedule.getForm() == schedule::GradientForm::Ordered)
    return refuse("ordered-lists",
                  "expects form to be fused, split or apart where list-blocks "
                  "is 1, for lists of queries do not say how many blocks of "
                  "keys have their turns before, but got ordered");
  return std::nullopt;
}

/// The rules of what all kernels have in common.
static std::optional<Refusal>
checkProducers(const AttentionGradKnobs &schedule) {
  int64_t producers = schedule.getProducerWarps();
  if (schedule.getMmaWarps() == 1 && producers)
    return refuse("one-warp-mma",
                  "expects producer-warps to be 0 where mma-warps is 1, but "
                  "got {0}",
                  producers);
  if (schedule.getRoundLast() &&
      schedule.getForm() != schedule::GradientForm::Fused)
    return refuse("round-of-no-sums",
                  "expects form to be fused where round-last is 1, but got {0}",
                  getFormName(schedule));
  if (schedule.getScoresAhead() && !producers)
    return refuse("ahead-without-producer",
                  "expects producer-warps where scores-ahead is 1, but got 0");
  return std::nullopt;
}

/// The rules of a product that is issued one step ahead: it needs the next slot
/// of a ring that a producer fills.
static std::optional<Refusal> checkAhead(const AttentionGradKnobs &schedule,
                                         const GradientKernel &kernel) {
  if (schedule.getScoresAhead() && kernel.stages < 2)
    return refuse("ahead-of-one-slot",
                  "expects {0}-stages of at least 2 where scores-ahead is 1, "
                  "but got {1}",
                  getPrefix(kernel), kernel.stages);
  return std::nullopt;
}

/// The rules of what a kernel takes from an SM.
static std::optional<Refusal> checkBudget(const AttentionGradProblem &problem,
                                          const AttentionGradKnobs &schedule,
                                          const GradientKernel &kernel,
                                          TargetAttr target, MmaAtomAttr atom) {
  WarpBudget budget = getBudget(problem, schedule, kernel, target);
  auto getShared = [&] {
    return getSharedBytes(problem, schedule, kernel, target);
  };
  if (std::optional<Refusal> refusal = checkSharing(budget, getShared, target))
    return refusal;
  auto getColumns = [&] {
    auto [dQK, dV] = getPaddedHeadDims(problem, atom);
    return std::max({kernel.visited, dQK, dV});
  };
  return checkRegisters(
      budget, getAccumulatorRegisters(problem, schedule, kernel, target),
      getColumns, atom, target);
}

/// All rules of one kernel.
static std::optional<Refusal> checkKernel(const AttentionGradProblem &problem,
                                          const AttentionGradKnobs &schedule,
                                          const GradientKernel &kernel,
                                          TargetAttr target, MmaAtomAttr atom) {
  if (std::optional<Refusal> refusal =
          checkRoles(problem, schedule, kernel, target))
    return refusal;
  if (std::optional<Refusal> refusal = checkBlocks(kernel, atom))
    return refusal;
  if (std::optional<Refusal> refusal = checkAhead(schedule, kernel))
    return refusal;
  if (sharesScores(kernel, atom))
    if (std::optional<Refusal> refusal =
            checkColumns(problem, kernel, target, atom))
      return refusal;
  if (kernel.addsQueries)
    if (std::optional<Refusal> refusal =
            checkFused(problem, schedule, kernel, target, atom))
      return refusal;
  return checkBudget(problem, schedule, kernel, target, atom);
}

std::optional<Refusal> attune::checkLegal(const AttentionGradProblem &problem,
                                          const AttentionGradKnobs &schedule,
                                          TargetAttr target) {
  MmaAtomAttr atom = findAtom(problem, schedule, target);
  if (!atom)
    return refuse("no-matrix-instruction",
                  "expects an element type that '{0}' has a matrix instruction "
                  "of {1} warps for, but got {2}",
                  target.getChip(), schedule.getMmaWarps(),
                  problem.elementType);
  // What is refused by few knobs comes first, and one kernel after the other: a
  // search looks once at all that differ in what was not read.
  if (std::optional<Refusal> refusal = checkLists(problem, schedule))
    return refusal;
  if (std::optional<Refusal> refusal = checkProducers(schedule))
    return refusal;
  for (MaskDim owns : {MaskDim::Key, MaskDim::Query})
    for (const GradientKernel &kernel : getGradientKernels(schedule, owns))
      if (std::optional<Refusal> refusal =
              checkKernel(problem, schedule, kernel, target, atom))
        return refusal;
  return std::nullopt;
}

std::optional<Refusal>
attune::checkWorthTrying(const AttentionGradProblem &problem,
                         const AttentionGradKnobs &schedule) {
  if (schedule.getMmaWarps() > 1 && !schedule.getProducerWarps())
    return refuse("no-producer",
                  "expects producer-warps where mma-warps is {0}, for nothing "
                  "was gained without",
                  schedule.getMmaWarps());
  if (schedule.getForm() == schedule::GradientForm::Ordered &&
      !problem.isDeterministic)
    return refuse("order-for-nothing",
                  "expects form to be fused where gradients need not be "
                  "deterministic, but got ordered");
  if (schedule.getListBlocks() && !problem.asksData)
    return refuse("lists-for-nothing",
                  "expects list-blocks to be 0 where comparisons of positions "
                  "say what the mask shows, but got {0}",
                  schedule.getListBlocks());
  // What is not read leaves a search fewer cases to look at.
  if (hasQueryKernel(schedule))
    return std::nullopt;
  const AttentionGradSchedule init;
  bool asksQueries =
      std::tuple(schedule.getQBlockM(), schedule.getQBlockN(),
                 schedule.getQWarps(), schedule.getQStages(),
                 schedule.getQInRegisters(), schedule.getQWorkgroupsPerSm()) !=
      std::tuple(init.qBlockM, init.qBlockN, init.qWarps, init.qStages,
                 init.qInRegisters, init.qWorkgroupsPerSm);
  if (asksQueries)
    return refuse("no-query-kernel",
                  "expects q-block-m and the others of the kernel that owns "
                  "queries at their defaults where form is {0}, which has "
                  "none",
                  getFormName(schedule));
  return std::nullopt;
}
