// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TilingInterface and PartialReductionOpInterface of attn.attention. A tile is
// an attention op on slices whose regions see the positions of the whole: what
// the short forms say depends on lengths that a slice does not have, so they
// are expanded before a tile of queries or keys is cut.

#include "attune/Dialect/Attn/Transforms/TilingInterfaceImpl.h"
#include "attune/Dialect/Attn/IR/Attn.h"
#include "attune/Dialect/Attn/IR/SizeFacts.h"
#include "attune/Dialect/Attn/Transforms/Transforms.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/TilingInterface.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

using namespace mlir;
using namespace attune::attn;

namespace {
/// The dimensions of the iteration domain, in the order of the regions'
/// arguments.
enum Dim : unsigned { Batch, Head, Query, Key, NumDims };

/// A box of the iteration domain.
struct Tile {
  ArrayRef<OpFoldResult> offsets, sizes;
};

/// Which key heads a tile of query heads reads.
struct HeadRange {
  OpFoldResult offset, size;
};
} // namespace

static OpFoldResult getSize(OpBuilder &builder, AttentionOp op, int64_t known,
                            Value tensor, int64_t position) {
  if (ShapedType::isStatic(known))
    return builder.getIndexAttr(known);
  return tensor::getMixedSize(builder, op.getLoc(), tensor, position);
}

static SmallVector<OpFoldResult> getDomainSizes(OpBuilder &builder,
                                                AttentionOp op) {
  Value query = op.getQuery();
  int64_t b = op.getBatchPos(), h = op.getHeadPos(), s = op.getSeqPos();
  return {getSize(builder, op, op.getBatch(), query, b),
          // That of the query alone, as the type of the result has it.
          tensor::getMixedSize(builder, op.getLoc(), query, h),
          getSize(builder, op, op.getSeqQ(), query, s),
          getKeyCount(builder, op)};
}

/// Whether a tile has the whole of a dimension.
static bool isWhole(AttentionOp op, Dim dim, const Tile &tile) {
  if (!isZeroInteger(tile.offsets[dim]))
    return false;
  using Bounds = ValueBoundsConstraintSet;
  Bounds::Variable size(tile.sizes[dim]);
  auto isSizeOf = [&](Value tensor, int64_t position) {
    FailureOr<bool> equal =
        Bounds::areEqual(size, Bounds::Variable(tensor, position));
    return succeeded(equal) && *equal;
  };
  int64_t s = op.getSeqPos();
  switch (dim) {
  case Batch:
    return isSizeOf(op.getQuery(), op.getBatchPos()) ||
           getConstantIntValue(tile.sizes[dim]) == op.getBatch();
  case Head:
    return isSizeOf(op.getQuery(), op.getHeadPos());
  case Query:
    return isSizeOf(op.getQuery(), s);
  default:
    return isSizeOf(op.getKey(), s) || isSizeOf(op.getValue(), s);
  }
}

static bool isMultiple(AffineExpr expr, ValueRange operands, int64_t numDims,
                       int64_t divisor);

/// Whether `value` is certainly a multiple of `divisor`: the offset of a tile
/// is what the loop around it makes it.
static bool isMultiple(OpFoldResult value, int64_t divisor) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return *constant % divisor == 0;
  auto dynamic = cast<Value>(value);
  if (auto apply = dynamic.getDefiningOp<affine::AffineApplyOp>())
    return isMultiple(apply.getAffineMap().getResult(0), apply.getMapOperands(),
                      apply.getAffineMap().getNumDims(), divisor);
  auto argument = dyn_cast<BlockArgument>(dynamic);
  auto loop =
      argument
          ? dyn_cast<LoopLikeOpInterface>(argument.getOwner()->getParentOp())
          : LoopLikeOpInterface();
  if (!loop)
    return false;
  std::optional<SmallVector<Value>> positions = loop.getLoopInductionVars();
  std::optional<SmallVector<OpFoldResult>> first = loop.getLoopLowerBounds(),
                                           steps = loop.getLoopSteps();
  if (!positions || !first || !steps)
    return false;
  for (auto [position, begin, step] :
       llvm::zip_equal(*positions, *first, *steps))
    if (position == dynamic)
      return isMultiple(begin, divisor) && isMultiple(step, divisor);
  return false;
}

static bool isMultiple(AffineExpr expr, ValueRange operands, int64_t numDims,
                       int64_t divisor) {
  if (expr.isMultipleOf(divisor))
    return true;
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return isMultiple(OpFoldResult(operands[dim.getPosition()]), divisor);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return isMultiple(OpFoldResult(operands[numDims + symbol.getPosition()]),
                      divisor);
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return false;
  bool left = isMultiple(binary.getLHS(), operands, numDims, divisor),
       right = isMultiple(binary.getRHS(), operands, numDims, divisor);
  if (expr.getKind() == AffineExprKind::Add)
    return left && right;
  return expr.getKind() == AffineExprKind::Mul && (left || right);
}

/// The quotient of query heads by key heads, where both are known.
static std::optional<int64_t> getGroupSize(AttentionOp op) {
  int64_t headsQ = op.getQuery().getType().getDimSize(op.getHeadPos()),
          headsKV = op.getHeadsKV();
  if (ShapedType::isDynamic(headsQ) || ShapedType::isDynamic(headsKV) ||
      headsKV == 0)
    return std::nullopt;
  return headsQ / headsKV;
}

/// Whether the heads of a tile are whole groups or lie in one group.
static bool fitsGroups(AttentionOp op, const Tile &tile) {
  std::optional<int64_t> count = getConstantIntValue(tile.sizes[Head]),
                         group = getGroupSize(op);
  if (isWhole(op, Head, tile) || count == 1 || group == 1)
    return true;
  if (!count || *count == 0 || !group)
    return false;
  if (*count % *group == 0)
    return isMultiple(tile.offsets[Head], *group);
  return *group % *count == 0 && isMultiple(tile.offsets[Head], *count);
}

/// Of a tile that fits the groups.
static HeadRange getKeyHeads(OpBuilder &builder, AttentionOp op,
                             const Tile &tile) {
  Location loc = op.getLoc();
  int64_t h = op.getHeadPos();
  OpFoldResult all = getSize(builder, op, op.getHeadsKV(), op.getKey(), h);
  if (isWhole(op, Head, tile))
    return {builder.getIndexAttr(0), all};
  std::optional<int64_t> group = getGroupSize(op);
  AffineExpr head = builder.getAffineDimExpr(0);
  OpFoldResult offset = tile.offsets[Head], size = builder.getIndexAttr(1);
  if (!group) {
    // One head: h * heads_kv / heads, written as convert-attn-to-loops has it.
    OpFoldResult heads = tensor::getMixedSize(builder, loc, op.getQuery(), h);
    auto toValue = [&](OpFoldResult value) {
      return getValueOrCreateConstantIndexOp(builder, loc, value);
    };
    Value scaled =
        arith::MulIOp::create(builder, loc, toValue(offset), toValue(all));
    return {arith::DivUIOp::create(builder, loc, scaled, toValue(heads))
                .getResult(),
            size};
  }
  std::optional<int64_t> count = getConstantIntValue(tile.sizes[Head]);
  if (*group == 1)
    size = tile.sizes[Head];
  else if (*count > *group)
    size = builder.getIndexAttr(*count / *group);
  return {affine::makeComposedFoldedAffineApply(
              builder, loc, head.floorDiv(*group), {offset}),
          size};
}

/// Adds the offsets of a tile to the positions that a region sees.
static void shiftPositions(OpBuilder &builder, Location loc, Region &region,
                           unsigned firstPosition,
                           ArrayRef<OpFoldResult> offsets) {
  if (region.empty())
    return;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&region.front());
  for (unsigned dim : {Batch, Head, Query, Key}) {
    BlockArgument position = region.getArgument(firstPosition + dim);
    if (position.use_empty() || isZeroInteger(offsets[dim]))
      continue;
    Value offset = getValueOrCreateConstantIndexOp(builder, loc, offsets[dim]);
    auto shifted = arith::AddIOp::create(builder, loc, position, offset);
    position.replaceAllUsesExcept(shifted, shifted);
  }
}

namespace {
/// Cuts one tile out of an op.
class TileCutter {
public:
  TileCutter(OpBuilder &builder, AttentionOp op, Tile tile)
      : rewriter(builder), op(op), tile(tile) {}

  /// The op on slices; with its lse and without sinks where it is a part of
  /// the keys.
  AttentionOp cut(bool isPart);

  SmallVector<Operation *> slices;

private:
  Value slice(Value tensor, ArrayRef<OpFoldResult> offsets,
              ArrayRef<OpFoldResult> sizes);
  /// A slice of query, key or value.
  Value sliceOperand(Value tensor, Dim length, HeadRange heads);
  Value slicePerHead(Value tensor);

  IRRewriter rewriter;
  AttentionOp op;
  Tile tile;
};
} // namespace

Value TileCutter::slice(Value tensor, ArrayRef<OpFoldResult> offsets,
                        ArrayRef<OpFoldResult> sizes) {
  SmallVector<OpFoldResult> strides(offsets.size(), rewriter.getIndexAttr(1));
  auto sliced = tensor::ExtractSliceOp::create(rewriter, op.getLoc(), tensor,
                                               offsets, sizes, strides);
  slices.push_back(sliced);
  return sliced;
}

Value TileCutter::sliceOperand(Value tensor, Dim length, HeadRange heads) {
  if (isWhole(op, Batch, tile) && isWhole(op, Head, tile) &&
      isWhole(op, length, tile))
    return tensor;
  SmallVector<OpFoldResult> offsets(4), sizes(4);
  auto set = [&](int64_t position, OpFoldResult offset, OpFoldResult size) {
    offsets[position] = offset;
    sizes[position] = size;
  };
  set(op.getBatchPos(), tile.offsets[Batch], tile.sizes[Batch]);
  set(op.getHeadPos(), heads.offset, heads.size);
  set(op.getSeqPos(), tile.offsets[length], tile.sizes[length]);
  int64_t d = op.getHeadDimPos();
  set(d, rewriter.getIndexAttr(0),
      tensor::getMixedSize(rewriter, op.getLoc(), tensor, d));
  return slice(tensor, offsets, sizes);
}

Value TileCutter::slicePerHead(Value tensor) {
  if (isWhole(op, Head, tile))
    return tensor;
  return slice(tensor, tile.offsets[Head], tile.sizes[Head]);
}

AttentionOp TileCutter::cut(bool isPart) {
  auto copy = cast<AttentionOp>(rewriter.clone(*op));
  rewriter.setInsertionPoint(copy);
  if (!isWhole(op, Query, tile) || !isWhole(op, Key, tile))
    expandShortForms(rewriter, copy);
  HeadRange keyHeads = getKeyHeads(rewriter, op, tile);
  copy.getQueryMutable().assign(sliceOperand(
      op.getQuery(), Query, {tile.offsets[Head], tile.sizes[Head]}));
  copy.getKeyMutable().assign(sliceOperand(op.getKey(), Key, keyHeads));
  copy.getValueMutable().assign(sliceOperand(op.getValue(), Key, keyHeads));
  if (Value slopes = copy.getAlibiSlopes())
    copy.getAlibiSlopesMutable().assign(slicePerHead(slopes));
  if (isPart) {
    copy.getSinksMutable().clear();
    copy.setReturnLse(true);
  } else if (Value sinks = copy.getSinks()) {
    copy.getSinksMutable().assign(slicePerHead(sinks));
  }
  // What the results are follows from the operands, so they need an op anew.
  OperationState state(op.getLoc(), op->getName());
  state.addOperands(copy->getOperands());
  state.addAttributes(copy->getAttrs());
  for (unsigned i = 0; i < copy->getNumRegions(); ++i)
    state.addRegion();
  SmallVector<Type> types;
  LogicalResult inferred = AttentionOp::inferReturnTypes(
      op.getContext(), op.getLoc(), copy->getOperands(),
      copy->getAttrDictionary(), copy->getPropertiesStorage(),
      copy->getRegions(), types);
  assert(succeeded(inferred) && "slices of the operands of a valid op");
  (void)inferred;
  state.addTypes(types);
  auto tiled = cast<AttentionOp>(rewriter.create(state));
  for (auto [from, to] :
       llvm::zip_equal(copy->getRegions(), tiled->getRegions()))
    rewriter.inlineRegionBefore(from, to, to.end());
  rewriter.eraseOp(copy);
  shiftPositions(rewriter, op.getLoc(), tiled.getScore(), 1, tile.offsets);
  shiftPositions(rewriter, op.getLoc(), tiled.getMask(), 0, tile.offsets);
  return tiled;
}

/// Where a tile lies in a result: in the result itself, or in its lse.
static void getPosition(OpBuilder &builder, AttentionOp op,
                        unsigned resultNumber, const Tile &tile,
                        SmallVector<OpFoldResult> &offsets,
                        SmallVector<OpFoldResult> &sizes) {
  if (resultNumber == 1) {
    offsets.assign(tile.offsets.begin(), tile.offsets.begin() + Key);
    sizes.assign(tile.sizes.begin(), tile.sizes.begin() + Key);
    return;
  }
  offsets.assign(4, builder.getIndexAttr(0));
  sizes.assign(4, builder.getIndexAttr(op.getHeadDimV()));
  for (auto [dim, position] :
       {std::pair(Batch, op.getBatchPos()), std::pair(Head, op.getHeadPos()),
        std::pair(Query, op.getSeqPos())}) {
    offsets[position] = tile.offsets[dim];
    sizes[position] = tile.sizes[dim];
  }
}

/// Whether tiles can be cut at all.
static LogicalResult checkTileable(AttentionOp op) {
  if (op.hasBlockLists())
    return op.emitOpError("expects no lists of blocks to be tiled, for these "
                          "count queries and keys from the first ones");
  if (op.hasLengths() || op.getPages())
    return op.emitOpError("expects no query_lengths, key_lengths, "
                          "query_starts, key_starts or pages to be tiled, for "
                          "these count from the first query and key");
  if (op.getLatent())
    return op.emitOpError("expects no latent to be tiled, for tiles of keys "
                          "and of values would be two operands");
  if (op.getPackedKey() || op.getPackedValue())
    return op.emitOpError("expects no packed operands to be tiled, for rows of "
                          "tiles are as long as those of query");
  if (!getScales(op).empty())
    return op.emitOpError("expects no query_scales, key_scales, "
                          "value_scales or result_scales to be tiled, for "
                          "these count blocks from the first element");
  if (op.getDropout())
    return op.emitOpError("expects no dropout to be tiled, for it counts "
                          "queries and keys from the first ones");
  if (std::optional<Type> weights = op.getWeights())
    return op.emitOpError("expects no weights to be tiled, for tiles have the "
                          "default, but got ")
           << *weights;
  for (Type type : op.getResultTypes())
    if (cast<RankedTensorType>(type).getEncoding())
      return op.emitOpError("expects results without an encoding to be tiled, "
                            "but got ")
             << type;
  return success();
}

static LogicalResult checkHeads(AttentionOp op, const Tile &tile) {
  if (fitsGroups(op, tile))
    return success();
  InFlightDiagnostic diagnostic =
      op.emitOpError("expects tiles of one head, of whole groups or within a "
                     "group, but got ");
  if (std::optional<int64_t> count = getConstantIntValue(tile.sizes[Head]))
    diagnostic << *count << " heads";
  else
    diagnostic << "a number of heads that is not known";
  if (std::optional<int64_t> group = getGroupSize(op))
    diagnostic << " for groups of " << *group;
  return diagnostic;
}

namespace {
struct AttentionTiling
    : TilingInterface::ExternalModel<AttentionTiling, AttentionOp> {
  SmallVector<utils::IteratorType> getLoopIteratorTypes(Operation *) const {
    SmallVector<utils::IteratorType> types(NumDims,
                                           utils::IteratorType::parallel);
    types[Key] = utils::IteratorType::reduction;
    return types;
  }

  SmallVector<Range> getIterationDomain(Operation *op,
                                        OpBuilder &builder) const {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(op);
    return llvm::map_to_vector(
        getDomainSizes(builder, cast<AttentionOp>(op)), [&](OpFoldResult size) {
          return Range{builder.getIndexAttr(0), size, builder.getIndexAttr(1)};
        });
  }

  FailureOr<TilingResult>
  getTiledImplementation(Operation *operation, OpBuilder &builder,
                         ArrayRef<OpFoldResult> offsets,
                         ArrayRef<OpFoldResult> sizes) const {
    auto op = cast<AttentionOp>(operation);
    Tile tile{offsets, sizes};
    if (failed(checkTileable(op)) || failed(checkHeads(op, tile)))
      return failure();
    if (!isWhole(op, Key, tile))
      return op.emitOpError("expects keys to be tiled as a partial reduction "
                            "with independent parts, but got a tile of them");
    TileCutter cutter(builder, op, tile);
    AttentionOp tiled = cutter.cut(/*isPart=*/false);
    return TilingResult{{tiled},
                        SmallVector<Value>(tiled->getResults()),
                        std::move(cutter.slices)};
  }

  LogicalResult
  getResultTilePosition(Operation *op, OpBuilder &builder,
                        unsigned resultNumber, ArrayRef<OpFoldResult> offsets,
                        ArrayRef<OpFoldResult> sizes,
                        SmallVector<OpFoldResult> &resultOffsets,
                        SmallVector<OpFoldResult> &resultSizes) const {
    getPosition(builder, cast<AttentionOp>(op), resultNumber, {offsets, sizes},
                resultOffsets, resultSizes);
    return success();
  }

  /// Only of tiles that have all of the head size.
  LogicalResult getIterationDomainTileFromResultTile(
      Operation *operation, OpBuilder &builder, unsigned resultNumber,
      ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes,
      SmallVectorImpl<OpFoldResult> &domainOffsets,
      SmallVectorImpl<OpFoldResult> &domainSizes) const {
    auto op = cast<AttentionOp>(operation);
    int64_t d = op.getHeadDimPos();
    bool isResult = resultNumber == 0;
    if (isResult && !(isZeroInteger(offsets[d]) &&
                      getConstantIntValue(sizes[d]) == op.getHeadDimV()))
      return failure();
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(op);
    domainOffsets.assign(NumDims, builder.getIndexAttr(0));
    domainSizes = getDomainSizes(builder, op);
    int64_t positions[] = {isResult ? op.getBatchPos() : 0,
                           isResult ? op.getHeadPos() : 1,
                           isResult ? op.getSeqPos() : 2};
    for (auto [dim, position] : llvm::enumerate(positions)) {
      domainOffsets[dim] = offsets[position];
      domainSizes[dim] = sizes[position];
    }
    return success();
  }

  FailureOr<TilingResult>
  generateResultTileValue(Operation *operation, OpBuilder &builder,
                          unsigned resultNumber, ArrayRef<OpFoldResult> offsets,
                          ArrayRef<OpFoldResult> sizes) const {
    auto op = cast<AttentionOp>(operation);
    SmallVector<OpFoldResult> domainOffsets, domainSizes;
    // Whoever fuses may ask for what cannot be: that is no error.
    if (failed(getIterationDomainTileFromResultTile(
            op, builder, resultNumber, offsets, sizes, domainOffsets,
            domainSizes)) ||
        op.hasBlockLists() || op.hasLengths() || op.getPages() ||
        op.getLatent() || op.getPackedKey() || op.getPackedValue() ||
        !getScales(op).empty() || op.getDropout() ||
        !fitsGroups(op, {domainOffsets, domainSizes}))
      return failure();
    FailureOr<TilingResult> tiled =
        getTiledImplementation(op, builder, domainOffsets, domainSizes);
    if (succeeded(tiled))
      tiled->tiledValues = {tiled->tiledValues[resultNumber]};
    return tiled;
  }
};

/// The state of a part of the keys is the part's result and its lse; states of
/// several parts lie behind each other along a dimension in front.
struct AttentionPartialReduction
    : PartialReductionOpInterface::ExternalModel<AttentionPartialReduction,
                                                 AttentionOp> {
  FailureOr<SmallVector<Value>> generateInitialTensorForPartialReduction(
      Operation *operation, OpBuilder &builder, Location loc,
      ArrayRef<OpFoldResult> tileSizes,
      const SetVector<unsigned> &reductionDims) const {
    auto op = cast<AttentionOp>(operation);
    if (failed(checkTileable(op)))
      return failure();
    if (reductionDims.size() != 1 || reductionDims[0] != Key)
      return op.emitOpError("expects the reduction over keys, dimension 3, to "
                            "be tiled, but got others");
    SmallVector<OpFoldResult> domain = getDomainSizes(builder, op);
    SmallVector<OpFoldResult> zeros(NumDims, builder.getIndexAttr(0));
    auto createFilled = [&](unsigned number, FloatType type, double value) {
      SmallVector<OpFoldResult> offsets, sizes;
      getPosition(builder, op, number, {zeros, domain}, offsets, sizes);
      sizes.insert(sizes.begin(), tileSizes[Key]);
      Value empty = tensor::EmptyOp::create(builder, loc, sizes, type);
      Value element = arith::ConstantOp::create(
          builder, loc, builder.getFloatAttr(type, value));
      return linalg::FillOp::create(builder, loc, element, empty).getResult(0);
    };
    // What attention over no keys is.
    return SmallVector<Value>{
        createFilled(
            0, cast<FloatType>(op.getResult().getType().getElementType()), 0.0),
        createFilled(1, builder.getF32Type(),
                     -std::numeric_limits<double>::infinity())};
  }

  FailureOr<TilingResult> tileToPartialReduction(
      Operation *operation, OpBuilder &builder, Location,
      ReductionTilingStrategy strategy, ValueRange,
      ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes,
      const SetVector<unsigned> &, ArrayRef<OpFoldResult>) const {
    auto op = cast<AttentionOp>(operation);
    Tile tile{offsets, sizes};
    if (strategy != ReductionTilingStrategy::PartialReductionOuterParallel)
      return op.emitOpError("expects keys to be tiled into independent parts, "
                            "but got a sequence of them");
    if (failed(checkTileable(op)) || failed(checkHeads(op, tile)))
      return failure();
    TileCutter cutter(builder, op, tile);
    AttentionOp tiled = cutter.cut(/*isPart=*/true);
    return TilingResult{{tiled},
                        SmallVector<Value>(tiled->getResults()),
                        std::move(cutter.slices)};
  }

  LogicalResult getPartialResultTilePosition(
      Operation *op, OpBuilder &builder, unsigned resultNumber,
      ReductionTilingStrategy, ArrayRef<OpFoldResult> offsets,
      ArrayRef<OpFoldResult> sizes, const SetVector<unsigned> &,
      ArrayRef<OpFoldResult> parts, SmallVector<OpFoldResult> &resultOffsets,
      SmallVector<OpFoldResult> &resultSizes) const {
    getPosition(builder, cast<AttentionOp>(op), resultNumber, {offsets, sizes},
                resultOffsets, resultSizes);
    resultOffsets.insert(resultOffsets.begin(), parts.front());
    resultSizes.insert(resultSizes.begin(), builder.getIndexAttr(1));
    return success();
  }

  FailureOr<MergeResult> mergeReductions(Operation *op, OpBuilder &builder,
                                         Location loc, ValueRange states,
                                         const SetVector<unsigned> &) const {
    return mergeStates(builder, loc, cast<AttentionOp>(op), states[0],
                       states[1]);
  }
};
} // namespace

void attune::attn::registerTilingInterfaceExternalModels(
    DialectRegistry &registry) {
  tensor::registerValueBoundsOpInterfaceExternalModels(registry);
  registry.addExtension(+[](MLIRContext *context, AttnDialect *) {
    AttentionOp::attachInterface<AttentionTiling, AttentionPartialReduction>(
        *context);
    // Tiles are cut and states merged by ops of these.
    context->loadDialect<affine::AffineDialect, arith::ArithDialect,
                         linalg::LinalgDialect, math::MathDialect,
                         tensor::TensorDialect>();
  });
}
