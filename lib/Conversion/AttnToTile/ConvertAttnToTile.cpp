// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Outlines attention ops: what the kernel is given and how it is launched.
// KernelBody.cpp writes what it computes.

#include "AppendKernel.h"
#include "BlockLists.h"
#include "GradientKernels.h"
#include "KernelBody.h"
#include "MergeKernel.h"
#include "OperandFactors.h"
#include "QuantizeKernel.h"
#include "StepShare.h"
#include "attune/Conversion/KernelOutliner.h"
#include "attune/Conversion/Passes.h"
#include "attune/Dialect/Attn/Analysis/RegionTiles.h"
#include "attune/Dialect/Attn/Analysis/VisibleKeys.h"
#include "attune/Dialect/Attn/IR/SizeFacts.h"
#include "attune/Schedule/Attention/HeadPacking.h"
#include "attune/Schedule/Attention/Legality.h"
#include "attune/Schedule/ForEachTunable.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/RuntimeVerifiableOpInterface.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/Support/MathExtras.h"

namespace attune {
#define GEN_PASS_DEF_CONVERTATTNTOTILEPASS
#include "attune/Conversion/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;

namespace {
struct ConvertAttnToTile
    : attune::impl::ConvertAttnToTilePassBase<ConvertAttnToTile> {
  void runOnOperation() override;
};
} // namespace

static LogicalResult checkScheduled(TunableOpInterface op) {
  if (op.getSchedule())
    return success();
  return op->emitOpError() << "expects a schedule; run attune-set-schedule "
                              "or attune-select-schedule first";
}

/// That elements of tiles can be counted in 32 bits, whatever the blocks and
/// the stages of rings are.
static LogicalResult checkHeadSizes(attn::AttentionOpInterface op) {
  constexpr int64_t kMost = int64_t(1) << 20;
  int64_t largest = std::max(op.getHeadDimQK(), op.getHeadDimV());
  if (largest <= kMost)
    return success();
  return op->emitOpError() << "expects head sizes of at most " << kMost
                           << ", but got " << largest;
}

/// What passes in front of this one have to have done.
static LogicalResult checkPrepared(attn::AttentionOpInterface op) {
  if (op.getCausalAttr() || op.getWindowAttr() || op.getSoftcapAttr() ||
      op.getAlibiSlopes())
    return op->emitOpError() << "expects short forms to be expanded; run "
                                "attn-expand-short-forms first";
  if ((op.hasLengths() || op.getPages()) && op.hasBlockLists())
    return op->emitOpError() << "expects no lists of blocks beside "
                             << (op.getPages() ? "pages" : "lengths of batches")
                             << ", which kernels do not take together";
  if (auto forward = dyn_cast<attn::AttentionOp>(*op);
      forward && failed(checkScales(forward)))
    return failure();
  if (failed(checkHeadSizes(op)))
    return failure();
  return checkScheduled(cast<TunableOpInterface>(*op));
}

/// Workgroups that there is room for at once.
static int64_t countResident(schedule::AttentionAttr schedule,
                             tile::TargetAttr target) {
  return target.getSms() * schedule.getWorkgroupsPerSm();
}

/// The units in which a warp multiplies what is packed by `other`; none where
/// the chip has none, or others do so.
static ArrayRef<int64_t> getUnits(Type other, Type stored,
                                  schedule::AttentionAttr schedule,
                                  tile::TargetAttr target) {
  if (schedule.getMmaWarps() > 1 || schedule.getWarpsN() > 1)
    return {};
  tile::MmaAtomAttr atom =
      target.findAtom(other, stored, Float32Type::get(target.getContext()),
                      tile::MmaScope::Warp);
  return atom && atom.getUnitExponents() ? atom.getUnitExponents().asArrayRef()
                                         : ArrayRef<int64_t>();
}

/// The sizes of the tiles of an op that can be outlined.
static FailureOr<KernelSizes> getSizes(attn::AttentionOp op,
                                       tile::TargetAttr target) {
  if (ShapedType::isDynamic(op.getHeadDimQK()) ||
      ShapedType::isDynamic(op.getHeadDimV()))
    return op.emitOpError()
           << "expects static head sizes, but got a dynamic one";
  Type inputType = op.getQuery().getType().getElementType();
  auto schedule = op.getScheduleAttr();
  AttentionProblem problem = AttentionProblem::get(op);
  tile::MmaAtomAttr atom = findAtom(problem, schedule, target);
  if (!atom)
    return op.emitOpError()
           << "expects an element type that '" << target.getChip()
           << "' has a matrix instruction for, but got " << inputType;
  PaddedHeadDims padded = getPaddedHeadDims(problem, atom);
  // Where arithmetic of a block runs under MMAs, all of it is computed: a
  // branch would wait for them.
  bool raisesApart = schedule.getRescale() &&
                     schedule.getOverlap() == schedule::Overlap::None &&
                     target.copiesThroughRegisters();
  HeadPacking packing = HeadPacking::get(op);
  int64_t heads = packing.count(schedule);
  bool flattens = packing.flattens(schedule);
  // Shares are of all workgroups that there is room for (setLaunch).
  bool sharesSteps = schedule.getSplitK() == 0;
  int64_t members = 0, rounds = 0, sharers = 0;
  if (sharesSteps) {
    int64_t workers = countResident(schedule, target),
            tiles = op.getHeadsQ() / heads;
    members = countMembers(tiles, workers);
    rounds = tiles / members;
    sharers = workers / members;
  }
  SmallVector<tensor::ExtractOp, 1> regionTiles;
  for (auto [read, tile] :
       llvm::zip_equal(findRegionTiles(op), problem.regionTiles))
    if (loadsRegionTile(problem, tile, schedule, target))
      regionTiles.push_back(read);
  // Queries are scaled for the units of keys, where they are kept.
  ArrayRef<int64_t> keyUnits, valueUnits;
  if (op.getPackedKey() && schedule.getQInRegisters())
    keyUnits = getUnits(problem.getMultipliedType(schedule),
                        problem.getKeyType(), schedule, target);
  if (op.getPackedValue())
    valueUnits = getUnits(problem.getWeightType(), problem.getValueType(),
                          schedule, target);
  bool batchesFirst =
      !regionTiles.empty() && llvm::all_of(regionTiles, isOfAllBatches);
  return KernelSizes{schedule.getBlockM(),
                     schedule.getBlockN(),
                     padded.qk,
                     padded.v,
                     problem.getMultipliedType(schedule),
                     keyUnits,
                     valueUnits,
                     atom.getN(),
                     hasRestagingRole(problem, schedule, target),
                     atom.getAcc().getPartialColumns().getShape(2)[1],
                     DeviceCache{target.getCache(), target.getCaches()},
                     heads,
                     packing.countQueries(schedule),
                     flattens,
                     flattens && packing.hasQueriesFirst(),
                     members,
                     rounds,
                     sharers,
                     target.getLanes(),
                     getOutputParts(problem, schedule, target),
                     getKeyParts(problem, schedule, target),
                     raisesApart,
                     std::move(regionTiles),
                     batchesFirst};
}

/// Adds the counter from which workgroups take tiles. The last one sets it back
/// to zero.
static void addCounter(KernelOutliner &outliner, OutlinedKernel &kernel) {
  Builder b(kernel.getFunction().getContext());
  Value counter = outliner.makeWorkspace({"counter",
                                          b.getI32Type(),
                                          {HostProduct{1}},
                                          /*alignment=*/4,
                                          launch::Contents::Zero,
                                          /*restored=*/true});
  auto argument = cast<BlockArgument>(kernel.addArgument(counter));
  kernel.getFunction().setArgAttr(argument.getArgNumber(),
                                  tile::TileDialect::kWorkCounterAttrName,
                                  b.getUnitAttr());
}

/// Adds the arguments of the kernel but for the outputs.
static KernelOperands addInputs(attn::AttentionOp op, KernelOutliner &outliner,
                                OutlinedKernel &kernel) {
  KernelOperands operands;
  auto add = [&](Value tensor, StringRef name) {
    return kernel.addArgument(outliner.getInput(tensor, name));
  };
  operands.query = add(op.getQuery(), "query");
  operands.key = add(op.getKey(), "key");
  operands.value = op.getLatent() ? operands.key : add(op.getValue(), "value");
  // Of parts, those who merge them take sinks, and scales of the result. Of
  // equal shares, the first one takes sinks.
  int64_t splits = op.getScheduleAttr().getSplitK();
  if (op.getSinks() && splits <= 1)
    operands.sinks = add(op.getSinks(), "sinks");
  else if (op.getSinks() && mergesInLast(op.getScheduleAttr()))
    operands.merged.sinks = add(op.getSinks(), "sinks");
  addDropoutAndLengths(op, operands, add);
  if (op.getPages())
    operands.pages = add(op.getPages(), "pages");
  if (op.getQueryScales())
    operands.queryScales = add(op.getQueryScales(), "query_scales");
  if (op.getKeyScales())
    operands.keyScales = add(op.getKeyScales(), "key_scales");
  operands.valueScales = op.getLatent() ? operands.keyScales : Value();
  if (op.getValueScales())
    operands.valueScales = add(op.getValueScales(), "value_scales");
  if (op.getKeyZeros())
    operands.keyZeros = add(op.getKeyZeros(), "key_zeros");
  if (op.getValueZeros())
    operands.valueZeros = add(op.getValueZeros(), "value_zeros");
  if (op.getResultScales() && splits == 1)
    operands.resultScales = add(op.getResultScales(), "result_scales");
  else if (op.getResultScales() &&
           (splits == 0 || mergesInLast(op.getScheduleAttr())))
    operands.merged.resultScales = add(op.getResultScales(), "result_scales");
  if (op.hasBlockLists()) {
    operands.listedQueries = op.getListedQueries();
    operands.listedKeys = op.getListedKeys();
    operands.blockCounts = add(op.getBlockCounts(), "block_counts");
    operands.blockIndices = add(op.getBlockIndices(), "block_indices");
  }
  if (op.getFullBlockCounts()) {
    operands.fullBlockCounts =
        add(op.getFullBlockCounts(), "full_block_counts");
    operands.fullBlockIndices =
        add(op.getFullBlockIndices(), "full_block_indices");
  }
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  for (Value value : captured)
    kernel.capture(value);
  operands.captures = kernel.getMapping();
  return operands;
}

/// Whether kernels of their own list the blocks that the mask shows.
static bool makesLists(attn::AttentionOp op) {
  return op.getScheduleAttr().getListBlocks() && op.hasMask() &&
         !op.hasBlockLists();
}

/// Clusters of query tiles, times a factor.
static HostProduct countTiles(attn::AttentionOp op, const KernelSizes &sizes,
                              KernelOutliner &outliner, int64_t factor) {
  Value query = outliner.getInput(op.getQuery(), "query");
  // The order in which a kernel takes its block number apart is that of
  // TilePlace::locate: tiles fastest, then heads, then batch.
  HostProduct count{factor};
  int64_t rows = sizes.queries * op.getScheduleAttr().getCluster();
  for (auto [dim, per] :
       {std::pair<char, int64_t>('s', rows), {'h', sizes.heads}, {'b', 1}})
    count.factors.push_back(
        {query, static_cast<int64_t>(op.getOrder().find(dim)), per});
  // Each batch of packed queries may begin within a tile, and end in one.
  if (op.getQueryStarts())
    count.factors.front().moreBuffer =
        outliner.getInput(op.getQueryStarts(), "query_starts");
  return count;
}

/// Passes to the kernel what it writes: the results of the op, or their parts
/// where there are such.
static void addOutputs(attn::AttentionOp op, const KernelSizes &sizes,
                       const KeyParts &parts, const ResultBuffers &results,
                       KernelOutliner &outliner, OutlinedKernel &kernel,
                       KernelOperands &operands) {
  auto addResults = [&](Value &output, Value &lse) {
    output = kernel.addArgument(results.output);
    if (results.lse)
      lse = kernel.addArgument(results.lse);
  };
  if (!parts.output)
    return addResults(operands.output, operands.lse);
  bool isRead = mergesInLast(op.getScheduleAttr());
  auto access = isRead ? launch::Access::ReadWrite : launch::Access::Write;
  operands.output = kernel.addArgument(parts.output, access);
  operands.lse = kernel.addArgument(parts.lse, access);
  KernelOperands::Merged &merged = operands.merged;
  if (parts.sharers) {
    operands.sharers = kernel.addArgument(parts.sharers, access);
    addResults(merged.output, merged.lse);
  }
  if (!isRead)
    return;
  merged.counters = kernel.addArgument(outliner.makeWorkspace(
      {"arrivals",
       IntegerType::get(op.getContext(), 32),
       {countTiles(op, sizes, outliner, op.getScheduleAttr().getCluster())},
       /*alignment=*/4,
       launch::Contents::Zero,
       /*restored=*/true}));
  addResults(merged.output, merged.lse);
}

/// How many workgroups of how many threads there are.
static void setLaunch(attn::AttentionOp op, tile::TargetAttr target,
                      const KernelSizes &sizes, KernelOutliner &outliner,
                      OutlinedKernel &kernel) {
  auto schedule = op.getScheduleAttr();
  int64_t cluster = schedule.getCluster();
  int64_t resident = countResident(schedule, target);
  // Equal shares are as many as there are workgroups at once.
  kernel.setGrid(countTiles(op, sizes, outliner,
                            sizes.sharers ? resident : schedule.getSplitK()));
  kernel.setCluster(cluster);
  kernel.setBlock(getThreads(schedule, target));
  // Persistent workgroups all run at once, in whole clusters.
  if (schedule.getPersistent() != schedule::Persistent::None) {
    kernel.setGridLimit(std::max<int64_t>(1, resident / cluster) * cluster);
  }
}

/// Says which key blocks of a head are skipped, and why not more.
static void remarkOnMask(attn::AttentionOp op, const KernelSizes &sizes) {
  if ((op.getMask().empty() && !op.hasBlockLists()) ||
      !op.getContext()->getRemarkEngine())
    return;
  StringRef function = op->getParentOfType<func::FuncOp>().getName();
  auto options = remark::RemarkOpts::name("key-blocks")
                     .category("mask")
                     .function(function);
  if (op.hasBlockLists()) {
    remark::passed(op.getLoc(), options)
        << llvm::formatv(
               "key blocks are those that lists name, of {0} keys for {1} "
               "queries; all others are skipped, and {2}",
               op.getListedKeys(), op.getListedQueries(),
               op.getFullBlockCounts() ? "those listed as full need no mask"
                                       : "none is listed as full")
               .str();
    return;
  }
  if (makesLists(op)) {
    remark::passed(op.getLoc(), options)
        << llvm::formatv("the mask is evaluated first: blocks of {0} keys that "
                         "it hides from {1} queries are skipped, and those "
                         "that it shows as a whole need no mask",
                         sizes.blockN, sizes.blockM)
               .str();
    return;
  }
  int64_t seqQ = op.getSeqQ(), seqK = op.getSeqK();
  VisibleKeys keys(op, seqQ, seqK);
  bool isPacked = op.getQueryStarts() || op.getKeyStarts();
  if (ShapedType::isStatic(seqQ) && ShapedType::isStatic(seqK) && !isPacked) {
    int64_t tiles = llvm::divideCeilSigned(seqQ, sizes.blockM);
    int64_t all = tiles * llvm::divideCeilSigned(seqK, sizes.blockN);
    int64_t visited = 0, unmasked = 0;
    bool isExact = true;
    for (int64_t tile = 0; tile < tiles; ++tile) {
      int64_t first = tile * sizes.blockM;
      SeenKeys seen = keys.get(first, std::min(first + sizes.blockM, seqQ) - 1);
      SeenKeys::Blocks blocks = seen.countBlocks(sizes.blockN);
      isExact &= seen.isExact;
      visited += blocks.visited;
      unmasked += blocks.unmasked;
    }
    std::string text = llvm::formatv(
        "{0}{1} of {2} key blocks of a head are skipped, and {0}{3} need no "
        "mask",
        isExact ? "" : "at least ", all - visited, all, unmasked);
    if (visited < all)
      remark::passed(op.getLoc(), options) << text;
    else
      remark::missed(op.getLoc(), options) << text;
  }
  for (const MaskObstacle &obstacle : keys.getObstacles())
    remark::missed(obstacle.op->getLoc(), options)
        << llvm::formatv("'{0}' {1}: no key block is skipped for it",
                         obstacle.op->getName(), obstacle.reason)
               .str();
}

static LogicalResult outline(attn::AttentionOp op, tile::TargetAttr target,
                             SymbolTable &symbols) {
  FailureOr<KernelSizes> sizes = getSizes(op, target);
  if (failed(sizes))
    return failure();
  remarkOnMask(op, *sizes);
  OpBuilder host(op);
  attn::emitSizeChecks(host, op);
  KernelOutliner outliner(op, symbols);
  StringRef function = op->getParentOfType<func::FuncOp>().getName();
  std::optional<BlockLists> lists;
  if (makesLists(op))
    lists = addBlockListKernels(op, outliner,
                                {MaskDim::Query, sizes->blockM, sizes->blockN},
                                target.getLanes());
  OutlinedKernel &kernel = outliner.addKernel((function + "_kernel").str());
  KernelOperands operands = addInputs(op, outliner, kernel);
  if (lists)
    lists->pass(kernel, operands);
  KeyParts parts;
  if (op.getScheduleAttr().getSplitK() != 1)
    parts = makeKeyParts(op, *sizes, outliner);
  ResultBuffers results = makeResults(op, outliner);
  addOutputs(op, *sizes, parts, results, outliner, kernel, operands);
  if (op.getScheduleAttr().getPersistent() == schedule::Persistent::Dynamic)
    addCounter(outliner, kernel);
  getWholeBudget(AttentionProblem::get(op), op.getScheduleAttr(), target)
      .mark(kernel.getFunction(), target);
  buildKernelBody(kernel.getBody(), op, operands, *sizes);
  setLaunch(op, target, *sizes, outliner, kernel);
  if (parts.output && !mergesInLast(op.getScheduleAttr()))
    addMergeKernel(op, outliner, parts, results, *sizes, target.getLanes());
  outliner.finish();
  return success();
}

/// Makes kernels of ops that need nothing but a schedule.
template <typename OpTy>
static LogicalResult
outlineEach(ModuleOp module, SymbolTable &symbols,
            function_ref<void(OpTy, tile::TargetAttr, SymbolTable &)> outline) {
  return forEachWithTarget<OpTy>(
      module, [&](OpTy op, tile::TargetAttr target) -> LogicalResult {
        if (failed(checkScheduled(cast<TunableOpInterface>(*op))))
          return failure();
        outline(op, target, symbols);
        return success();
      });
}

/// Makes kernels of appends, of which two may share one.
static LogicalResult outlineEachAppend(ModuleOp module, SymbolTable &symbols) {
  DenseSet<attn::AppendOp> outlined;
  return forEachWithTarget<attn::AppendOp>(
      module, [&](attn::AppendOp op, tile::TargetAttr target) -> LogicalResult {
        if (outlined.contains(op))
          return success();
        SmallVector<attn::AppendOp, 2> ops{op};
        if (attn::AppendOp other = findPairedAppend(op))
          ops.push_back(other);
        for (attn::AppendOp each : ops)
          if (failed(checkScheduled(cast<TunableOpInterface>(*each))))
            return failure();
        outlined.insert_range(ops);
        outlineAppends(ops, target, symbols);
        return success();
      });
}

void ConvertAttnToTile::runOnOperation() {
  ModuleOp module = getOperation();
  SymbolTable symbols(module);
  LogicalResult result = forEachWithTarget<attn::AttentionOpInterface>(
      module,
      [&](attn::AttentionOpInterface op,
          tile::TargetAttr target) -> LogicalResult {
        if (failed(checkPrepared(op)))
          return failure();
        if (auto grad = dyn_cast<attn::AttentionGradOp>(*op))
          return outlineAttentionGrad(grad, target, symbols);
        return outline(cast<attn::AttentionOp>(*op), target, symbols);
      });
  LogicalResult merged =
      outlineEach<attn::MergeOp>(module, symbols, outlineMerge);
  LogicalResult quantized =
      outlineEach<attn::QuantizeOp>(module, symbols, outlineQuantize);
  LogicalResult appended = outlineEachAppend(module, symbols);
  if (failed(result) || failed(merged) || failed(quantized) || failed(appended))
    signalPassFailure();
}
