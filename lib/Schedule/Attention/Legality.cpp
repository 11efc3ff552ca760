// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules of legality. A new rule needs a test on both sides of its limit.

#include "attune/Schedule/Attention/Legality.h"
#include "TypeRules.h"
#include "attune/Schedule/BudgetRules.h"
#include "attune/Target/TargetRegistry.h"
#include <numeric>

using namespace mlir;
using namespace attune;
using schedule::MergeParts;
using schedule::OutputPath;
using schedule::Overlap;
using schedule::Persistent;
using tile::MmaAtomAttr;
using tile::TargetAttr;

/// The rules of workgroups that share keys and values.
static std::optional<Refusal> checkCluster(const AttentionProblem &problem,
                                           const AttentionKnobs &schedule) {
  int64_t cluster = schedule.getCluster();
  if (cluster == 1)
    return std::nullopt;
  if (problem.isMasked || problem.hasQueryLengths)
    return refuse("cluster-of-masked",
                  "expects cluster to be 1 where {0} may show query tiles "
                  "different keys, but got {1}",
                  problem.isMasked ? "a mask" : "numbers of queries", cluster);
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

/// Rows of a TMA box after which the swizzle of shared memory repeats.
static constexpr int64_t kSwizzleRows = 8;

/// The rules of keys in pages of which TMA boxes are copied, a page or a part
/// of one at a time.
static std::optional<Refusal> checkPages(const AttentionProblem &problem,
                                         const AttentionKnobs &schedule) {
  if (!problem.pageSize)
    return std::nullopt;
  int64_t keys = schedule.getBlockN() / schedule.getCluster(),
          box = std::min(problem.pageSize, keys);
  if (keys % box == 0 && problem.pageSize % box == 0 && box % kSwizzleRows == 0)
    return std::nullopt;
  return refuse("pages-of-boxes",
                "expects pages of a multiple or, in multiples of {0}, a part "
                "of the {1} keys that a workgroup copies at once for an MMA by "
                "{2} warps, but got pages of {3}",
                kSwizzleRows, keys, schedule.getMmaWarps(), problem.pageSize);
}

/// The rules of blocks that are listed: a tile of queries has one list, and a
/// step of its loop visits keys of one block. Each is of whole MMAs.
static std::optional<Refusal> checkLists(const AttentionProblem &problem,
                                         const AttentionKnobs &schedule,
                                         MmaAtomAttr atom) {
  if (!problem.isListable && schedule.getListBlocks())
    return refuse("nothing-to-list",
                  "expects list-blocks to be 0 but for a mask without lists of "
                  "blocks, lengths or pages, but got {0}",
                  schedule.getListBlocks());
  // First what no other schedule with these MMAs would mend.
  for (auto [what, listed, multiple] :
       {std::tuple<StringRef, int64_t, int64_t>{
            "queries", problem.listedQueries, atom.getM()},
        {"keys", problem.listedKeys, std::lcm(atom.getN(), atom.getK())}})
    if (listed % multiple != 0)
      return refuse("listed-blocks",
                    "expects listed blocks of a multiple of {0} {1}, which "
                    "'{2}' multiplies at once, but got {3}",
                    multiple, what, atom.getName(), listed);
  if (problem.listedKeys && problem.listedKeys % schedule.getBlockN() != 0)
    return refuse("listed-keys",
                  "expects block-n to divide the {0} keys of a listed block, "
                  "but got {1}",
                  problem.listedKeys, schedule.getBlockN());
  if (problem.listedQueries &&
      problem.listedQueries % schedule.getBlockM() != 0)
    return refuse("listed-queries",
                  "expects block-m to divide the {0} queries of a listed "
                  "block, but got {1}",
                  problem.listedQueries, schedule.getBlockM());
  return std::nullopt;
}

/// The rules of an output that leaves through shared memory.
static std::optional<Refusal> checkOutput(const AttentionProblem &problem,
                                          const AttentionKnobs &schedule,
                                          TargetAttr target) {
  OutputPath path = schedule.getOInShared();
  if (path == OutputPath::Registers)
    return std::nullopt;
  StringRef place = stringifyOutputPath(path);
  if (problem.hasPackedQueries)
    return refuse("output-of-packed-queries",
                  "expects o-in-shared to be registers where queries are "
                  "packed, for a TMA box does not end with a sequence, but got "
                  "{0}",
                  place);
  if (schedule.getSplitK() != 1)
    return refuse("output-of-split-keys",
                  "expects o-in-shared to be registers where split-k is {0}, "
                  "for parts of the output are f32, but got {1}",
                  schedule.getSplitK(), place);
  int64_t alignment = target.getTmaBoxAlignment();
  if (problem.outputDivisor == 0)
    return refuse("output-row-not-contiguous",
                  "expects the elements of a row of the output to be "
                  "neighbours where o-in-shared is {0}",
                  place);
  uint64_t rowBytes =
      getRowBytes(problem.getResultType(), problem.outputDivisor);
  if (rowBytes % alignment != 0)
    return refuse("output-row-alignment",
                  "expects rows of the output to start at multiples of {0} "
                  "bytes where o-in-shared is {1}, but got {2}",
                  alignment, place, rowBytes);
  if (schedule.getWarpsN() > 1)
    return refuse("output-of-shared-columns",
                  "expects o-in-shared to be registers where warps-n is {0}, "
                  "for a TMA box has whole rows of a warpgroup, but got {1}",
                  schedule.getWarpsN(), place);
  auto [dQK, dV] =
      getPaddedHeadDims(problem, findAtom(problem, schedule, target));
  if (path == OutputPath::QuerySlot &&
      problem.getResultType() != problem.elementType)
    return refuse("output-in-query-slot",
                  "expects an output of the queries' {0} where o-in-shared is "
                  "{1}, but got {2}",
                  problem.elementType, place, problem.getResultType());
  if (path == OutputPath::QuerySlot && dQK != dV)
    return refuse("output-in-query-slot",
                  "expects rows of the output to be as long as the {0} "
                  "elements of a query's where o-in-shared is {1}, but got {2}",
                  dQK, place, dV);
  return std::nullopt;
}

/// The rules of workgroups that go from tile to tile.
static std::optional<Refusal> checkPersistent(const AttentionKnobs &schedule) {
  Persistent persistent = schedule.getPersistent();
  if (persistent == Persistent::None)
    return std::nullopt;
  if (persistent == Persistent::Dynamic && !schedule.getProducerWarps())
    return refuse("dynamic-without-producer",
                  "expects producer-warps where persistent is dynamic, but got "
                  "{0}",
                  schedule.getProducerWarps());
  return std::nullopt;
}

/// The rules of bits that do not depend on other batches.
static std::optional<Refusal> checkInvariance(const AttentionProblem &problem,
                                              const AttentionKnobs &schedule) {
  if (!problem.isBatchInvariant)
    return std::nullopt;
  if (schedule.getSplitK() == 0)
    return refuse("shares-of-batches",
                  "expects split-k to be at least 1 with batch_invariant, for "
                  "where equal shares end depends on other batches, but got 0");
  if (schedule.getRescale() != 0)
    return refuse("rescaled-by-others",
                  "expects rescale to be 0 with batch_invariant, for any row "
                  "of a tile decides for all, also one of another batch behind "
                  "the last, but got {0}",
                  schedule.getRescale());
  return std::nullopt;
}

/// The rules of equal shares of all steps: what shares them is known when the
/// kernel starts.
static std::optional<Refusal> checkShares(const AttentionProblem &problem,
                                          const AttentionKnobs &schedule) {
  if (schedule.getSplitK() != 0)
    return std::nullopt;
  if (schedule.getPersistent() != Persistent::Static)
    return refuse("shares-of-tiles",
                  "expects persistent to be static where split-k is 0, but got "
                  "{0}",
                  stringifyPersistent(schedule.getPersistent()));
  if (!problem.hasEqualHeads || problem.hasPackedQueries ||
      problem.listedKeys || schedule.getListBlocks() ||
      problem.seqQ > schedule.getBlockM() || schedule.getCluster() != 1)
    return refuse("shares-of-few-queries",
                  "expects split-k to be at least 1 but where at most {0} "
                  "queries a head, block-m, and the numbers of heads are "
                  "static, queries are not packed, no lists say which blocks "
                  "there are, heads see the same keys, and cluster is 1",
                  schedule.getBlockM());
  return std::nullopt;
}

/// The rules of merges in the last workgroup of a tile: it knows how many parts
/// there are, and its threads have a barrier.
static std::optional<Refusal> checkMerge(const AttentionKnobs &schedule) {
  if (schedule.getMerge() == MergeParts::Kernel || schedule.getSplitK() == 1)
    return std::nullopt;
  if (schedule.getSplitK() == 0)
    return refuse("merge-of-shares",
                  "expects merge to be kernel where split-k is 0, for how many "
                  "share a tile only the first of them knows, but got {0}",
                  stringifyMergeParts(schedule.getMerge()));
  int64_t groups = schedule.getNumWarps() / schedule.getMmaWarps();
  if (schedule.getProducerWarps() && groups > 1)
    return refuse("merge-of-warpgroups",
                  "expects merge to be kernel where {0} warpgroups multiply "
                  "beside producers, for each has a barrier of its own, but "
                  "got {1}",
                  groups, stringifyMergeParts(schedule.getMerge()));
  return std::nullopt;
}

/// That the chip can be told how MMAs are issued.
static std::optional<Refusal> checkMmaSchedule(const AttentionKnobs &schedule,
                                               TargetAttr target) {
  if (schedule.getMmaSchedule() == schedule::MmaSchedule::None)
    return std::nullopt;
  const TargetModel *model = getTargetModel(target.getFamily());
  if (model && model->schedulesMmas())
    return std::nullopt;
  return refuse("mma-schedule",
                "expects mma-schedule to be none on '{0}', which cannot be "
                "told how MMAs are issued, but got {1}",
                target.getChip(),
                schedule::stringifyMmaSchedule(schedule.getMmaSchedule()));
}

/// The rules of two halves of a workgroup that multiply by turns, one a phase
/// of a step behind the other: what is put for two steps ahead overwrites
/// nothing that is read then.
static std::optional<Refusal> checkHalves(const AttentionKnobs &schedule,
                                          TargetAttr target) {
  if (schedule.getOverlap() != Overlap::PingPong)
    return std::nullopt;
  const TargetModel *model = getTargetModel(target.getFamily());
  if (!target.copiesThroughRegisters() || !model || !model->schedulesMmas())
    return refuse("ping-pong-of-warps",
                  "expects overlap to be none or softmax where mma-warps is 1 "
                  "on '{0}', whose warps cannot be told when to multiply, but "
                  "got ping-pong",
                  target.getChip());
  if (target.getCopySync() == tile::CopySync::Count)
    return refuse(
        "ping-pong-of-copies",
        "expects overlap to be none or softmax on '{0}', where a half "
        "of a workgroup cannot wait for copies of the other one, but "
        "got ping-pong",
        target.getChip());
  constexpr int64_t kStages = 3;
  for (auto [knob, stages] :
       {std::pair<StringRef, int64_t>{"k-stages", schedule.getKStages()},
        {"v-stages", schedule.getVStages()}})
    if (stages < kStages)
      return refuse("ping-pong-stages",
                    "expects {0} to be at least {1} where halves of a "
                    "workgroup multiply in ping-pong, but got {2}",
                    knob, kStages, stages);
  int64_t pairs = 2 * target.getSchedulers();
  if (schedule.getNumWarps() % pairs != 0 || schedule.getWarpsN() != 1)
    return refuse("ping-pong-of-one",
                  "expects num-warps to be a multiple of {0}, two for each "
                  "scheduler, and warps-n to be 1 where overlap is ping-pong, "
                  "but got {1} and {2}",
                  pairs, schedule.getNumWarps(), schedule.getWarpsN());
  return std::nullopt;
}

/// The rules of MMAs by single warps, whose operands are in registers and
/// which are done when they return.
static std::optional<Refusal> checkOneWarp(const AttentionKnobs &schedule,
                                           TargetAttr target) {
  for (auto [knob, isThere] :
       {std::pair<StringRef, bool>{"producer-warps",
                                   schedule.getProducerWarps() != 0},
        {"persistent", schedule.getPersistent() == Persistent::Dynamic},
        {"p-in-registers", !schedule.getPInRegisters()},
        {"o-in-shared", schedule.getOInShared() != OutputPath::Registers},
        {"late-keys", schedule.getLateKeys() != 0},
        {"cluster", schedule.getCluster() != 1}})
    if (isThere)
      return refuse("one-warp-mma",
                    "expects {0} to have its default where mma-warps is 1",
                    knob);
  return checkHalves(schedule, target);
}

/// The rules of values that are multiplied late: the end of a block of keys,
/// where nothing branches between the row maxima and the rest of a step.
static std::optional<Refusal> checkLateKeys(const AttentionKnobs &schedule,
                                            MmaAtomAttr atom) {
  int64_t late = schedule.getLateKeys();
  if (late == 0)
    return std::nullopt;
  if (schedule.getOverlap() != Overlap::PingPong || schedule.getRescale() ||
      !schedule.getPInRegisters())
    return refuse("late-keys-of-others",
                  "expects overlap to be ping-pong, rescale to be 0 and "
                  "p-in-registers to be 1 where late-keys is {0}",
                  late);
  int64_t unit = atom.getK();
  if (late >= schedule.getBlockN() || late % unit != 0)
    return refuse("late-keys",
                  "expects late-keys to be a multiple of {0}, the keys that an "
                  "MMA adds, below the {1} of block-n, but got {2}",
                  unit, schedule.getBlockN(), late);
  return std::nullopt;
}

/// The rules of MMAs by several warps, and of what comes with them:
/// copies of boxes, producers, overlap.
static std::optional<Refusal> checkRoles(const AttentionProblem &problem,
                                         const AttentionKnobs &schedule,
                                         TargetAttr target) {
  int64_t warps = schedule.getNumWarps(), together = schedule.getMmaWarps();
  if (together == 1)
    return checkOneWarp(schedule, target);
  if (warps % together != 0)
    return refuse("warps-per-mma",
                  "expects num-warps to be a multiple of {0}, the warps of an "
                  "MMA, but got {1}",
                  together, warps);
  uint64_t rowBytes = getRowBytes(problem.elementType, problem.rowDivisor);
  for (Type type : {problem.getKeyType(), problem.getValueType()})
    rowBytes = std::min(rowBytes, getRowBytes(type, problem.rowDivisor));
  if (problem.rowDivisor == 0)
    return refuse("row-not-contiguous",
                  "expects the elements of a row to be neighbours for an "
                  "MMA by {0} warps",
                  together);
  if (rowBytes % target.getTmaBoxAlignment() != 0)
    return refuse("row-alignment",
                  "expects rows of query, key and value to start at multiples "
                  "of {0} bytes for an MMA by {1} warps, but got {2}",
                  target.getTmaBoxAlignment(), together, rowBytes);
  if (schedule.getQInRegisters())
    return refuse("query-in-registers",
                  "expects q-in-registers to be 0 where mma-warps is {0}, but "
                  "got {1}",
                  together, schedule.getQInRegisters());
  if (std::optional<Refusal> refusal =
          checkRestaging(problem, schedule, target))
    return refusal;
  if (std::optional<Refusal> refusal = checkCluster(problem, schedule))
    return refusal;
  if (std::optional<Refusal> refusal = checkPages(problem, schedule))
    return refusal;
  if (schedule.getOverlap() == Overlap::PingPong && warps / together < 2)
    return refuse("ping-pong-of-one",
                  "expects at least {0} warps where overlap is ping-pong, but "
                  "got {1}",
                  2 * together, warps);
  return checkOutput(problem, schedule, target);
}

/// The rules of warps that share the columns of the output, and of values that
/// are columns of the keys.
static std::optional<Refusal> checkColumns(const AttentionProblem &problem,
                                           const AttentionKnobs &schedule,
                                           MmaAtomAttr atom,
                                           TargetAttr target) {
  auto [dQK, dV] = getPaddedHeadDims(problem, atom);
  bool byWarpgroups = schedule.getMmaWarps() > 1;
  if (problem.isLatent) {
    // What is multiplied as keys ends where an instruction does.
    int64_t multiple = byWarpgroups
                           ? target.getSwizzleAtom(dV, problem.elementType)
                           : std::lcm(atom.getK(), atom.getN());
    if (problem.headDimV % multiple != 0)
      return refuse("latent-columns",
                    "expects values that are a multiple of {0} columns of the "
                    "keys, but got {1}",
                    multiple, problem.headDimV);
  }
  int64_t sharers = schedule.getWarpsN();
  if (problem.packsValue && sharers > 1)
    return refuse("packed-values-of-warps",
                  "expects warps-n to be 1 where values are packed, for a warp "
                  "multiplies both parts of a byte, but got {0}",
                  sharers);
  for (auto [isPacked, columns, unit] :
       {std::tuple(problem.packsKey, problem.headDimQK, atom.getK()),
        {problem.packsValue, problem.headDimV, atom.getN()}})
    if (isPacked && columns / 2 % unit != 0)
      return refuse("packed-columns",
                    "expects half a packed row to be a multiple of the {0} "
                    "columns of '{1}', but got {2}",
                    unit, atom.getName(), columns / 2);
  if (sharers == 1)
    return std::nullopt;
  StringRef scopes = byWarpgroups ? "warpgroups" : "warps";
  int64_t groups = schedule.getNumWarps() / atom.getWarps();
  if (groups % countRowSharers(schedule) != 0)
    return refuse("warps-n",
                  "expects {0} to divide the {1} {2}{3}, but got warps-n of "
                  "{4}",
                  hasScoreRole(schedule) ? "warps-n + 1" : "warps-n", groups,
                  scopes,
                  hasScoreRole(schedule)
                      ? ", of which some compute scores where p-in-registers "
                        "is 0"
                      : "",
                  sharers);
  int64_t unit = byWarpgroups ? target.getSwizzleAtom(dV, problem.elementType)
                              : atom.getN();
  if (dV % (sharers * unit) != 0)
    return refuse("columns-per-warp",
                  "expects an output of a multiple of {0} columns, {1} for "
                  "each of {2} {3}, but got {4}",
                  sharers * unit, unit, sharers, scopes, dV);
  if (!hasScoreRole(schedule))
    return std::nullopt;
  if (!byWarpgroups || !schedule.getProducerWarps())
    return refuse("weights-of-shared-columns",
                  "expects p-in-registers where warps-n is {0}, but for "
                  "warpgroups beside producers, of which one role hands "
                  "weights over to the others, but got {1}",
                  sharers, schedule.getPInRegisters());
  if (schedule.getOverlap() != Overlap::None)
    return refuse("overlap-of-shared-columns",
                  "expects overlap to be none where a role hands weights over, "
                  "but got {0}",
                  stringifyOverlap(schedule.getOverlap()));
  return std::nullopt;
}

std::optional<Refusal> attune::checkLegal(const AttentionProblem &problem,
                                          const AttentionKnobs &schedule,
                                          TargetAttr target) {
  if (ShapedType::isDynamic(problem.headDimQK) ||
      ShapedType::isDynamic(problem.headDimV))
    return refuse("dynamic-head-size",
                  "expects static head sizes, but got a dynamic one");
  if (std::optional<Refusal> refusal = checkTypes(problem, schedule, target))
    return refusal;
  if (std::optional<Refusal> refusal = checkMmaSchedule(schedule, target))
    return refusal;
  MmaAtomAttr atom = findAtom(problem, schedule, target);
  if (std::optional<Refusal> refusal = checkLists(problem, schedule, atom))
    return refusal;
  if (problem.hasPackedQueries && problem.hasSinks && schedule.getSplitK() != 1)
    return refuse("split-of-packed-sinks",
                  "expects split-k to be 1 where packed queries have sinks, "
                  "for who merges parts does not know where sequences end, but "
                  "got {0}",
                  schedule.getSplitK());
  if (std::optional<Refusal> refusal = checkRoles(problem, schedule, target))
    return refusal;
  if (std::optional<Refusal> refusal = checkLateKeys(schedule, atom))
    return refusal;
  if (std::optional<Refusal> refusal = checkInvariance(problem, schedule))
    return refusal;
  if (std::optional<Refusal> refusal = checkShares(problem, schedule))
    return refusal;
  if (std::optional<Refusal> refusal = checkMerge(schedule))
    return refusal;
  if (std::optional<Refusal> refusal = checkPersistent(schedule))
    return refusal;
  if (std::optional<Refusal> refusal =
          checkColumns(problem, schedule, atom, target))
    return refusal;
  if (std::optional<Refusal> refusal = checkRowsPerWarp(
          "block-m", schedule.getBlockM(),
          schedule.getNumWarps() / atom.getWarps() / countRowSharers(schedule),
          atom))
    return refusal;
  for (auto [what, multiple] :
       {std::pair<StringRef, int64_t>{"columns", atom.getN()},
        {"depth", atom.getK()}})
    if (schedule.getBlockN() % multiple != 0)
      return refuse(
          "block-n-multiple",
          "expects block-n to be a multiple of {0} ({1} of '{2}'), but got {3}",
          multiple, what, atom.getName(), schedule.getBlockN());
  WarpBudget budget = getWholeBudget(problem, schedule, target);
  auto getShared = [&] { return getSharedBytes(problem, schedule, target); };
  if (std::optional<Refusal> refusal = checkSharing(budget, getShared, target))
    return refusal;
  auto getColumns = [&] {
    return std::max(
        schedule.getBlockN(),
        hasScoreRole(schedule)
            ? getOutputParts(problem, schedule, target).front().count
            : getPaddedHeadDims(problem, atom).v / schedule.getWarpsN());
  };
  return checkRegisters(budget,
                        getAccumulatorRegisters(problem, schedule, target),
                        getColumns, atom, target);
}
