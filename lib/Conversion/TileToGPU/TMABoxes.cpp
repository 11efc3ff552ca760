// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Channels with swizzle atoms. Each slot has two barriers in shared memory:
// `full`, whose phase ends when the element's bytes have arrived, and `empty`,
// whose phase ends when all warps that compute have released it. Element e uses
// slot e mod stages in phase e / stages of its barriers; a put waits for the
// phase before, which counts as ended for the first elements. Of an element
// that a role computes, `full` waits for all warps of that role.
//
// In a channel of a cluster each workgroup copies its share of the rows to all,
// so that a `full` barrier hears of all shares, and `empty` waits for the warps
// of all workgroups: each warp that computes arrives at the barrier of each.

#include "KernelContext.h"
#include "SharedMemory.h"
#include "TensorMaps.h"
#include "Views.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attune;

namespace {

/// What tells patterns of channels with swizzle atoms from those of others: a
/// higher benefit, and a look at the channel.
template <typename OpTy> struct TMABoxPattern : KernelPattern<OpTy> {
  TMABoxPattern(TypeConverter &converter, MLIRContext *mlirContext,
                const KernelContext &context)
      : KernelPattern<OpTy>(converter, mlirContext, context, /*benefit=*/2) {}

  LogicalResult checkSwizzleAtom(OpTy op, Value channel,
                                 ConversionPatternRewriter &rewriter) const {
    if (!cast<tile::ChannelType>(channel.getType()).getSwizzleAtom())
      return rewriter.notifyMatchFailure(op,
                                         "the channel has no swizzle atoms");
    return success();
  }
  const Barriers &barriers() const {
    return *this->context.model->getBarriers();
  }
};

struct TMAChannelPattern : TMABoxPattern<tile::ChannelOp> {
  using TMABoxPattern::TMABoxPattern;
  LogicalResult
  matchAndRewrite(tile::ChannelOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

struct FenceBarriersPattern : KernelPattern<tile::FenceBarriersOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(tile::FenceBarriersOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

struct SyncWarpPattern : KernelPattern<tile::SyncWarpOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(tile::SyncWarpOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    context.model->getBarriers()->syncWarp(rewriter, op.getLoc());
    rewriter.eraseOp(op);
    return success();
  }
};

struct ArriveClusterPattern : KernelPattern<tile::ArriveClusterOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(tile::ArriveClusterOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    context.model->getBarriers()->arriveAtCluster(rewriter, op.getLoc(),
                                                  /*isFirst=*/false);
    rewriter.eraseOp(op);
    return success();
  }
};

struct WaitClusterPattern : KernelPattern<tile::WaitClusterOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(tile::WaitClusterOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    context.model->getBarriers()->waitForCluster(rewriter, op.getLoc());
    rewriter.eraseOp(op);
    return success();
  }
};

struct TMAPutPattern : TMABoxPattern<tile::PutOp> {
  using TMABoxPattern::TMABoxPattern;
  /// A row, behind its page where the tensor has pages.
  using BoxPlace = SmallVector<Value, 2>;
  LogicalResult
  matchAndRewrite(tile::PutOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
  LogicalResult copy(ConversionPatternRewriter &rewriter, tile::PutOp op,
                     OpAdaptor adaptor) const;
  /// The condition under which rows of pages need no look at which of them are
  /// there; null for rows that need none.
  Value areAllThere(ConversionPatternRewriter &rewriter, tile::PutOp op) const;
  /// `areThere` says of rows of pages that all are.
  LogicalResult copyPieces(ConversionPatternRewriter &rewriter, tile::PutOp op,
                           OpAdaptor adaptor, bool areThere) const;
  /// The first of the rows of a piece that this workgroup copies.
  Value firstRowOf(ConversionPatternRewriter &rewriter, tile::PutOp op,
                   const SourcePiece &piece) const;
  /// Where the TMA boxes of a piece start, of rows that are there.
  SmallVector<BoxPlace> locateBoxes(ConversionPatternRewriter &rewriter,
                                    tile::PutOp op,
                                    const SourcePiece &piece) const;
  /// `places` are those of TMA boxes, if they are known.
  LogicalResult copyPiece(ConversionPatternRewriter &rewriter, tile::PutOp op,
                          OpAdaptor adaptor, const RingSlot &slot,
                          const SourcePiece &piece,
                          ArrayRef<BoxPlace> places) const;
};

struct StoreAsyncPattern : KernelPattern<tile::StoreAsyncOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(tile::StoreAsyncOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

struct TMAGetPattern : TMABoxPattern<tile::GetOp> {
  using TMABoxPattern::TMABoxPattern;
  LogicalResult
  matchAndRewrite(tile::GetOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

struct TMAReleasePattern : TMABoxPattern<tile::ReleaseOp> {
  using TMABoxPattern::TMABoxPattern;
  LogicalResult
  matchAndRewrite(tile::ReleaseOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

} // namespace

/// The barriers of a channel: those that say full, then those that say empty.
static Value barriersOf(OpBuilder &b, Location loc, Value channel) {
  auto op = channel.getDefiningOp<tile::ChannelOp>();
  auto space =
      gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
  auto type =
      MemRefType::get({2 * op.getResult().getType().getStages()},
                      b.getI64Type(), MemRefLayoutAttrInterface(), space);
  return createSharedView(b, loc, type, *op.getBarriers());
}

RingSlot attune::slotOf(OpBuilder &b, Location loc, Value barriers,
                        int64_t slots, Value element) {
  // Not a division of 64 bits, which takes dozens of instructions where the
  // slots are no power of two: a kernel that loads 2^32 tiles runs for hours.
  auto constantI32 = [&](int64_t value) {
    return arith::ConstantIntOp::create(b, loc, value, 32).getResult();
  };
  Value count = constant(b, loc, slots), slots32 = constantI32(slots);
  Value number =
      b.createOrFold<arith::IndexCastOp>(loc, b.getI32Type(), element);
  auto toIndex = [&](Value value) {
    return b.createOrFold<arith::IndexCastUIOp>(loc, b.getIndexType(), value);
  };
  RingSlot slot;
  slot.number = toIndex(b.createOrFold<arith::RemUIOp>(loc, number, slots32));
  Value phase = b.createOrFold<arith::DivUIOp>(loc, number, slots32);
  slot.parity =
      toIndex(b.createOrFold<arith::AndIOp>(loc, phase, constantI32(1)));
  slot.full = {barriers, slot.number};
  slot.empty = {barriers,
                b.createOrFold<arith::AddIOp>(loc, slot.number, count)};
  return slot;
}

RingSlot attune::slotOf(OpBuilder &b, Location loc, Value channel,
                        Value element) {
  int64_t stages = cast<tile::ChannelType>(channel.getType()).getStages();
  return slotOf(b, loc, barriersOf(b, loc, channel), stages, element);
}

Value attune::isThread(OpBuilder &b, Location loc, int64_t number) {
  Value thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, thread,
                               constant(b, loc, number));
}

LogicalResult
FenceBarriersPattern::matchAndRewrite(tile::FenceBarriersOp op, OpAdaptor,
                                      ConversionPatternRewriter &b) const {
  Location loc = op.getLoc();
  const Barriers &barriers = *context.model->getBarriers();
  barriers.publish(b, loc);
  if (context.cluster > 1) {
    barriers.arriveAtCluster(b, loc, /*isFirst=*/true);
    barriers.waitForCluster(b, loc);
  } else {
    gpu::BarrierOp::create(b, loc);
  }
  b.eraseOp(op);
  return success();
}

LogicalResult
TMAChannelPattern::matchAndRewrite(tile::ChannelOp op, OpAdaptor,
                                   ConversionPatternRewriter &b) const {
  if (failed(checkSwizzleAtom(op, op.getResult(), b)))
    return failure();
  Location loc = op.getLoc();
  Value words = barriersOf(b, loc, op.getResult());
  int64_t stages = op.getResult().getType().getStages(),
          cluster = op.getResult().getType().getCluster();
  SmallVector<Operation *> releases, putTiles;
  llvm::copy_if(op->getUsers(), std::back_inserter(releases),
                llvm::IsaPred<tile::ReleaseOp>);
  llvm::copy_if(op->getUsers(), std::back_inserter(putTiles),
                llvm::IsaPred<tile::PutTileOp, tile::RestageOp>);
  int64_t releasing = context.countArrivals(releases),
          putting = context.countArrivals(putTiles);
  auto guard = scf::IfOp::create(b, loc, isThread(b, loc, 0),
                                 /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard restore(b);
    b.setInsertionPointToStart(guard.thenBlock());
    for (int64_t i = 0; i < 2 * stages; ++i)
      barriers().init(b, loc, {words, constant(b, loc, i)},
                      i < stages ? putting : releasing * cluster);
  }
  b.replaceOp(op, createChannelBuffer(b, op));
  return success();
}

/// The first TMA box of a copy between `view` and a buffer in workgroup memory,
/// before the copy's own row and column are added.
static TMABox firstTMABox(OpBuilder &b, Operation *op, const TensorView &view,
                          Value map, Value buffer) {
  TMABox box{map, {}, buffer, Value()};
  for (Value start : view.origin)
    box.coordinates.push_back(start ? start : constant(b, op->getLoc(), 0));
  return box;
}

LogicalResult TMAPutPattern::copy(ConversionPatternRewriter &b, tile::PutOp op,
                                  OpAdaptor adaptor) const {
  Value areThere = areAllThere(b, op);
  if (!areThere)
    return copyPieces(b, op, adaptor, /*areThere=*/false);
  auto branch =
      scf::IfOp::create(b, op.getLoc(), areThere, /*withElseRegion=*/true);
  for (bool isThen : {true, false}) {
    b.setInsertionPointToStart(isThen ? branch.thenBlock()
                                      : branch.elseBlock());
    if (failed(copyPieces(b, op, adaptor, isThen)))
      return failure();
  }
  return success();
}

/// Whether a table says where rows of the buffer are.
static bool hasTable(Value buffer) {
  PagedRows rows(buffer);
  return rows.getPage() && !rows.isFlattened();
}

Value TMAPutPattern::areAllThere(ConversionPatternRewriter &b,
                                 tile::PutOp op) const {
  if (llvm::none_of(getCopiedBuffers(op), [](const CopiedBuffer &copied) {
        return hasTable(copied.buffer);
      }))
    return {};
  Location loc = op.getLoc();
  int64_t cluster = op.getChannel().getType().getCluster();
  Value all;
  for (const SourcePiece &piece : getPieces(b, op)) {
    if (!hasTable(piece.buffer))
      continue;
    Value areThere =
        PagedRows(piece.buffer)
            .areThere(b, loc, firstRowOf(b, op, piece), piece.rows / cluster);
    all = all ? b.createOrFold<arith::AndIOp>(loc, all, areThere) : areThere;
  }
  return all;
}

LogicalResult TMAPutPattern::copyPieces(ConversionPatternRewriter &b,
                                        tile::PutOp op, OpAdaptor adaptor,
                                        bool areThere) const {
  Location loc = op.getLoc();
  tile::ChannelType type = op.getChannel().getType();
  RingSlot slot = slotOf(b, loc, op.getChannel(), adaptor.getElement());
  Value before =
      b.createOrFold<arith::XOrIOp>(loc, slot.parity, constant(b, loc, 1));
  // Tables are read while the slot is still in use.
  SmallVector<SmallVector<BoxPlace>> places;
  if (areThere)
    for (const SourcePiece &piece : getPieces(b, op))
      places.push_back(locateBoxes(b, op, piece));
  barriers().wait(b, loc, slot.empty, before);
  barriers().arriveExpecting(b, loc, slot.full,
                             type.getSizeInBytes() / type.getStages());
  for (auto [number, piece] : llvm::enumerate(getPieces(b, op)))
    if (failed(copyPiece(b, op, adaptor, slot, piece,
                         areThere ? ArrayRef<BoxPlace>(places[number])
                                  : ArrayRef<BoxPlace>())))
      return failure();
  return success();
}

/// Where this workgroup's share of `rows` of a cluster begins.
static Value shareOf(OpBuilder &b, Location loc, int64_t rows,
                     int64_t cluster) {
  Value rank = gpu::ClusterBlockIdOp::create(b, loc, gpu::Dimension::x);
  return arith::MulIOp::create(b, loc, rank, constant(b, loc, rows / cluster));
}

Value TMAPutPattern::firstRowOf(ConversionPatternRewriter &b, tile::PutOp op,
                                const SourcePiece &piece) const {
  Location loc = op.getLoc();
  int64_t cluster = op.getChannel().getType().getCluster();
  if (cluster == 1)
    return piece.sourceRow;
  return b.createOrFold<arith::AddIOp>(loc, piece.sourceRow,
                                       shareOf(b, loc, piece.rows, cluster));
}

SmallVector<TMAPutPattern::BoxPlace>
TMAPutPattern::locateBoxes(ConversionPatternRewriter &b, tile::PutOp op,
                           const SourcePiece &piece) const {
  SmallVector<BoxPlace> located;
  if (!hasTable(piece.buffer))
    return located;
  PagedRows places(piece.buffer);
  int64_t copiedRows = piece.rows / op.getChannel().getType().getCluster();
  int64_t box = getCopiedBuffers(op)[piece.number].box.count();
  Value firstRow = firstRowOf(b, op, piece);
  for (int64_t copied = 0; copied < copiedRows; copied += box)
    located.push_back(places.locateThere(b, op.getLoc(), firstRow, copied));
  return located;
}

LogicalResult TMAPutPattern::copyPiece(ConversionPatternRewriter &b,
                                       tile::PutOp op, OpAdaptor adaptor,
                                       const RingSlot &slot,
                                       const SourcePiece &piece,
                                       ArrayRef<BoxPlace> places) const {
  Location loc = op.getLoc();
  tile::ChannelType type = op.getChannel().getType();
  int64_t rows = type.getShape()[0], columns = type.getShape()[1],
          atomColumns = type.getSwizzleAtom(), cluster = type.getCluster();
  FailureOr<TensorView> view = traceView(b, piece.buffer);
  if (failed(view))
    return failure();
  auto plus = [&](Value origin, Value offset) {
    return b.createOrFold<arith::AddIOp>(loc, origin, offset);
  };
  TMABoxCopy request{firstTMABox(b, op, *view, op.getMaps()[piece.number],
                                 adaptor.getChannel()),
                     slot.full, cluster, op.getEviction()};
  // Of a page, or of all rows; a buffer of one or the other leads.
  Value &row = request.coordinates[view->dims[0]],
        &column = request.coordinates[view->dims[1]],
        &page = request.coordinates[view->pageDim.value_or(view->dims[0])];
  Value origin = row, firstPage = page, firstRow = firstRowOf(b, op, piece);
  row = plus(row, firstRow);
  Value firstColumn = plus(column, piece.sourceColumn);
  Value start = b.createOrFold<arith::MulIOp>(loc, slot.number,
                                              constant(b, loc, rows * columns));
  int64_t copiedRows = piece.rows / cluster;
  if (cluster > 1)
    start =
        plus(start,
             arith::MulIOp::create(b, loc, shareOf(b, loc, piece.rows, cluster),
                                   constant(b, loc, atomColumns)));
  PagedRows rowsInPages(piece.buffer);
  int64_t box = getCopiedBuffers(op)[piece.number].box.count();
  for (int64_t copied = 0; copied < copiedRows; copied += box) {
    if (rowsInPages.getPage()) {
      Value boxRow = plus(firstRow, constant(b, loc, copied));
      // No tensor has so many rows.
      Value outside = constant(b, loc, std::numeric_limits<int32_t>::max() / 2);
      BoxPlace place = places.empty()
                           ? rowsInPages.locateBox(b, loc, boxRow, outside)
                           : places[copied / box];
      row = plus(origin, place.back());
      page = plus(firstPage, place.front());
    }
    for (int64_t first = 0; first < piece.columns; first += atomColumns) {
      column = plus(firstColumn, constant(b, loc, first));
      request.offset =
          plus(start, constant(b, loc,
                               (piece.column + first) * rows +
                                   (piece.row + copied) * atomColumns));
      context.model->getCopyEngine()->load(b, loc, request);
    }
  }
  return success();
}

LogicalResult
TMAPutPattern::matchAndRewrite(tile::PutOp op, OpAdaptor adaptor,
                               ConversionPatternRewriter &b) const {
  if (failed(checkSwizzleAtom(op, op.getChannel(), b)))
    return failure();
  Location loc = op.getLoc();
  OpBuilder::InsertionGuard restore(b);
  // Producers have chosen their thread already.
  SmallVector<Value> conditions;
  if (!isOfOneThread(op))
    conditions.push_back(isThread(b, loc, 0));
  if (Value predicate = adaptor.getPredicate())
    conditions.push_back(predicate);
  for (Value condition : conditions) {
    auto guard = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/false);
    b.setInsertionPointToStart(guard.thenBlock());
  }
  if (failed(copy(b, op, adaptor)))
    return failure();
  b.eraseOp(op);
  return success();
}

LogicalResult
TMAGetPattern::matchAndRewrite(tile::GetOp op, OpAdaptor adaptor,
                               ConversionPatternRewriter &b) const {
  if (failed(checkSwizzleAtom(op, op.getChannel(), b)))
    return failure();
  RingSlot slot = slotOf(b, op.getLoc(), op.getChannel(), adaptor.getElement());
  barriers().wait(b, op.getLoc(), slot.full, slot.parity);
  b.replaceOp(op, createSlotView(b, op.getLoc(), op.getResult().getType(),
                                 adaptor.getChannel(), slot.number));
  return success();
}

/// True once the elements of `value`, a vector of f32, have been worked out: a
/// NaN with this payload is none that arithmetic gives (PTX ISA: canonical NaNs
/// are 0x7fffffff), but no assembler takes that into account, and so it keeps
/// in front of a branch on this what works the elements out.
static Value isComputed(OpBuilder &b, Location loc, Value value) {
  constexpr int64_t kPayload = 0x7FC0DEAD;
  auto type = cast<VectorType>(value.getType());
  Value words = vector::BitCastOp::create(
      b, loc, VectorType::get(type.getShape(), b.getI32Type()), value);
  Value never = arith::ConstantIntOp::create(b, loc, kPayload, 32), all;
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    Value word = vector::ExtractOp::create(b, loc, words, i);
    Value is =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, word, never);
    all = all ? arith::AndIOp::create(b, loc, all, is) : is;
  }
  return all;
}

LogicalResult
TMAReleasePattern::matchAndRewrite(tile::ReleaseOp op, OpAdaptor adaptor,
                                   ConversionPatternRewriter &b) const {
  if (failed(checkSwizzleAtom(op, op.getChannel(), b)))
    return failure();
  Location loc = op.getLoc();
  RingSlot slot = slotOf(b, loc, op.getChannel(), adaptor.getElement());
  int64_t cluster = op.getChannel().getType().getCluster();
  if (isOfOneThread(op)) {
    if (cluster == 1)
      barriers().arrive(b, loc, slot.empty);
    for (int64_t rank = 0; cluster > 1 && rank < cluster; ++rank)
      barriers().arriveAt(b, loc, slot.empty, constant(b, loc, rank));
    b.eraseOp(op);
    return success();
  }
  // One lane for each workgroup.
  Value lane = laneNumber(b, loc, context);
  Value arrives = cluster > 1
                      ? arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                              lane, constant(b, loc, cluster))
                      : arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                              lane, constant(b, loc, 0));
  for (Value value : adaptor.getAfter())
    if (getElementTypeOrSelf(value).isF32())
      arrives =
          arith::AndIOp::create(b, loc, arrives, isComputed(b, loc, value));
  auto guard = scf::IfOp::create(b, loc, arrives, /*withElseRegion=*/false);
  OpBuilder inner = guard.getThenBodyBuilder();
  if (cluster > 1)
    barriers().arriveAt(inner, loc, slot.empty, lane);
  else
    barriers().arrive(inner, loc, slot.empty);
  b.eraseOp(op);
  return success();
}

LogicalResult
StoreAsyncPattern::matchAndRewrite(tile::StoreAsyncOp op, OpAdaptor adaptor,
                                   ConversionPatternRewriter &b) const {
  Location loc = op.getLoc();
  FailureOr<TensorView> view = traceView(b, op.getDestination());
  if (failed(view))
    return b.notifyMatchFailure(op, "the destination is no view of a tensor");
  tile::TileType type = op.getSource().getType();
  int64_t rows = type.getShape()[0], columns = type.getShape()[1],
          atomColumns =
              cast<tile::SwizzleAttr>(type.getLayout()).getSwizzleAtom();
  OpBuilder::InsertionGuard restore(b);
  StoredParts parts = StoredParts::get(op, op.getSource(), context);
  int64_t ownColumns = columns / parts.alongColumns;
  Value first = constant(b, loc, 0), firstOwn = first;
  if (!isOfOneThread(op)) {
    // Each warpgroup has its part of the tile. All threads find out which;
    // groups are assigned to rows first.
    Value group = groupNumber(b, loc, context,
                              parts.alongRows * parts.alongColumns),
          alongRows = constant(b, loc, parts.alongRows);
    first = b.createOrFold<arith::MulIOp>(
        loc, b.createOrFold<arith::RemUIOp>(loc, group, alongRows),
        constant(b, loc, rows / parts.alongRows));
    if (parts.alongColumns > 1)
      firstOwn = b.createOrFold<arith::MulIOp>(
          loc, b.createOrFold<arith::DivUIOp>(loc, group, alongRows),
          constant(b, loc, ownColumns));
    auto guard = scf::IfOp::create(b, loc, isFirstOfGroup(b, loc, context),
                                   /*withElseRegion=*/false);
    b.setInsertionPointToStart(guard.thenBlock());
  }
  auto plus = [&](Value origin, Value offset) {
    return b.createOrFold<arith::AddIOp>(loc, origin, offset);
  };
  TMABox box = firstTMABox(b, op, *view, op.getMap(), adaptor.getSource());
  Value &row = box.coordinates[view->dims[0]],
        &column = box.coordinates[view->dims[1]];
  row = plus(plus(row, op.getRow()), first);
  auto times = [&](Value value, int64_t factor) {
    return b.createOrFold<arith::MulIOp>(loc, value, constant(b, loc, factor));
  };
  Value firstColumn = plus(plus(column, op.getColumn()), firstOwn),
        start = plus(times(first, atomColumns), times(firstOwn, rows));
  for (int64_t at = 0; at < ownColumns; at += atomColumns) {
    column = plus(firstColumn, constant(b, loc, at));
    box.offset = plus(start, constant(b, loc, at * rows));
    context.model->getCopyEngine()->store(b, loc, box, op.getAccumulate(),
                                          op.getEviction());
  }
  // Its token is nothing that a thread holds.
  b.replaceOpWithMultiple(op, {ValueRange()});
  return success();
}

void attune::populateTMABoxPatterns(TypeConverter &converter,
                                    RewritePatternSet &patterns,
                                    const KernelContext &context) {
  patterns.add<TMAChannelPattern, TMAPutPattern, TMAGetPattern,
               TMAReleasePattern, StoreAsyncPattern, FenceBarriersPattern,
               SyncWarpPattern, ArriveClusterPattern, WaitClusterPattern>(
      converter, patterns.getContext(), context);
}
