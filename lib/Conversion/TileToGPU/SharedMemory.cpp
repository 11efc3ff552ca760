// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Channels: buffers in workgroup memory, copies into them, and the barriers in
// between. A get makes all threads meet, unless they have met since the put:
// each waits for its own copies first, so that behind the barrier everyone's
// are visible. The same barrier lets a put overwrite what was released before
// it; only a put with no get between it and the release needs a barrier of its
// own, which tile-allocate-shared put there.

#include "SharedMemory.h"
#include "KernelContext.h"
#include "RowPlaces.h"
#include "Views.h"
#include "attune/Target/SharedAddress.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <numeric>

using namespace mlir;
using namespace attune;

namespace {

struct ChannelPattern : KernelPattern<tile::ChannelOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(tile::ChannelOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

struct PutPattern : KernelPattern<tile::PutOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(tile::PutOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

struct GetPattern : KernelPattern<tile::GetOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(tile::GetOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

struct ReleasePattern : KernelPattern<tile::ReleaseOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(tile::ReleaseOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.eraseOp(op);
    return success();
  }
};

/// How the workgroup shares the copy of one tile: piece p, of `width` elements,
/// goes to thread p mod threads. Where warps copy, pieces are numbered by their
/// places in the slot, and by those in the tile otherwise.
class TileCopier {
public:
  TileCopier(OpBuilder &builder, const KernelContext &context, tile::PutOp op,
             Value buffer, Value slot)
      : b(builder), loc(op.getLoc()), context(context), op(op),
        sourceRows(op.getSource()), source(sourceRows.getBuffer()),
        buffer(flattenBuffer(builder, op.getLoc(), buffer)), slot(slot),
        type(op.getChannel().getType()),
        swizzle(cast<tile::SwizzleAttr>(type.getTileType().getLayout())) {}

  void copy();
  /// Zeros where there is a `predicate` that does not hold.
  void copyByWarps(Value predicate);

private:
  void copyPiece(SplitIndex row, SplitIndex column);
  /// The indices of a row of the tile in the source, of which a page has
  /// `rowsOfPage`, and whether it is there; null where that is sure.
  SmallVector<Value, 3> locateInPage(SplitIndex row, Value &isThere);
  /// Of interleaved buffers, takes the one that has the row or column `along`,
  /// which becomes that of the buffer.
  void chooseBuffer(tile::InterleavedOp view, Value &along);
  /// `place` is that of the first element in the source.
  void copyElements(ArrayRef<Value> place, Value destination, Value valid);
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }

  OpBuilder &b;
  Location loc;
  const KernelContext &context;
  tile::PutOp op;
  PagedRows sourceRows;
  Value source, buffer, slot;
  tile::ChannelType type;
  tile::SwizzleAttr swizzle;
  int64_t width = 1;
  bool async = false;
  /// Consecutive rows of the tile that one page has, from a multiple of it; 0
  /// where each row is located for itself.
  int64_t rowsOfPage = 0;
  /// Those that were located, by their first rows.
  llvm::SmallDenseMap<int64_t, PagedRows::RowsOfPage, 4> pages;
};

} // namespace

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

MemRefType attune::channelBufferType(tile::ChannelType type) {
  auto space = gpu::AddressSpaceAttr::get(type.getContext(),
                                          gpu::AddressSpace::Workgroup);
  SmallVector<int64_t, 2> stored = type.getTileType().getStoredShape();
  return MemRefType::get({type.getStages(), stored[0], stored[1]},
                         type.getElementType(), MemRefLayoutAttrInterface(),
                         space);
}

MemRefType attune::sharedTileType(tile::TileType type) {
  auto space = gpu::AddressSpaceAttr::get(type.getContext(),
                                          gpu::AddressSpace::Workgroup);
  SmallVector<int64_t, 2> stored = type.getStoredShape();
  auto layout = StridedLayoutAttr::get(type.getContext(), ShapedType::kDynamic,
                                       {stored[1], 1});
  return MemRefType::get(stored, type.getElementType(), layout, space);
}

Value attune::createSharedView(OpBuilder &b, Location loc, MemRefType type,
                               int64_t bytes) {
  auto all =
      MemRefType::get({ShapedType::kDynamic}, b.getI8Type(),
                      MemRefLayoutAttrInterface(), type.getMemorySpace());
  Value memory = gpu::DynamicSharedMemoryOp::create(b, loc, all);
  Value first = arith::ConstantIndexOp::create(b, loc, bytes);
  return memref::ViewOp::create(b, loc, type, memory, first, ValueRange());
}

Value attune::createChannelBuffer(OpBuilder &b, tile::ChannelOp op) {
  return createSharedView(b, op.getLoc(),
                          channelBufferType(op.getResult().getType()),
                          *op.getOffset());
}

LogicalResult
ChannelPattern::matchAndRewrite(tile::ChannelOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const {
  rewriter.replaceOp(op, createChannelBuffer(rewriter, op));
  return success();
}

Value attune::createSlotView(OpBuilder &b, Location loc, tile::TileType type,
                             Value buffer, Value number) {
  SmallVector<int64_t, 2> shape = type.getStoredShape();
  SmallVector<OpFoldResult> offsets{number, b.getIndexAttr(0),
                                    b.getIndexAttr(0)};
  SmallVector<OpFoldResult> sizes{b.getIndexAttr(1), b.getIndexAttr(shape[0]),
                                  b.getIndexAttr(shape[1])};
  SmallVector<OpFoldResult> strides(3, b.getIndexAttr(1));
  return memref::SubViewOp::create(b, loc, sharedTileType(type), buffer,
                                   offsets, sizes, strides);
}

/// The slot of an element: element mod stages.
static Value slotOf(OpBuilder &b, Location loc, Value element, int64_t stages) {
  return b.createOrFold<arith::RemUIOp>(
      loc, element, arith::ConstantIndexOp::create(b, loc, stages));
}

int64_t attune::countWarpCopies(tile::PutOp put, const KernelContext &context) {
  constexpr int64_t kPieceBits = 128;
  tile::ChannelType type = put.getChannel().getType();
  int64_t width = kPieceBits / type.getElementType().getIntOrFloatBitWidth();
  int64_t pieces = ShapedType::getNumElements(type.getShape()) / width;
  auto source = dyn_cast<MemRefType>(put.getSource().getType());
  if (!type.getChunk() || !source || source.getRank() != 2 ||
      isa_and_present<tile::PagedOp, tile::FlattenedOp>(
          put.getSource().getDefiningOp()) ||
      tile::knownRowDivisor(put.getSource()) % width != 0 ||
      knownDivisor(put.getColumn()) % width != 0 ||
      !fitsInto(type.getShape()[1], source.getDimSize(1), put.getColumn()))
    return 0;
  return pieces % context.threads == 0 ? pieces / context.threads : 0;
}

LogicalResult
GetPattern::matchAndRewrite(tile::GetOp op, OpAdaptor adaptor,
                            ConversionPatternRewriter &rewriter) const {
  Location loc = op.getLoc();
  tile::ChannelType type = op.getChannel().getType();
  if (context.target.getCopySync() == tile::CopySync::CommitGroup)
    context.model->emitAsyncWait(rewriter, loc, op.getPending());
  // What was read in front of the barrier may be overwritten behind it.
  if (context.fewestCopies)
    context.model->emitAsyncWait(rewriter, loc,
                                 type.getChunk()
                                     ? op.getPending() * *context.fewestCopies
                                     : std::numeric_limits<int64_t>::max());
  if (!context.needlessMeetings.contains(op))
    context.model->emitBarrier(rewriter, loc);
  Value slot = slotOf(rewriter, loc, adaptor.getElement(), type.getStages());
  rewriter.replaceOp(op, createSlotView(rewriter, loc, type.getTileType(),
                                        adaptor.getChannel(), slot));
  return success();
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

void TileCopier::copyElements(ArrayRef<Value> place, Value destination,
                              Value valid) {
  if (async) {
    AsyncCopy request{source, SmallVector<Value, 2>(place),
                      buffer, destination,
                      width,  valid};
    context.model->emitAsyncCopy(b, loc, request);
    return;
  }
  auto vectorType = VectorType::get(width, type.getElementType());
  auto alignment = llvm::MaybeAlign(
      width * type.getElementType().getIntOrFloatBitWidth() / 8);
  auto load = [&](OpBuilder &at) -> Value {
    return vector::LoadOp::create(at, loc, vectorType, source, place,
                                  /*nontemporal=*/false, alignment);
  };
  Value data;
  if (valid) {
    // A piece is inside or outside as a whole: widths divide the row.
    Value any = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, valid,
                                      constant(0));
    data = scf::IfOp::create(
               b, loc, any,
               [&](OpBuilder &inner, Location innerLoc) {
                 scf::YieldOp::create(inner, innerLoc, load(inner));
               },
               [&](OpBuilder &inner, Location innerLoc) {
                 Value zero = arith::ConstantOp::create(
                     inner, innerLoc, inner.getZeroAttr(vectorType));
                 scf::YieldOp::create(inner, innerLoc, zero);
               })
               .getResult(0);
  } else {
    data = load(b);
  }
  vector::StoreOp::create(b, loc, data, buffer, destination,
                          /*nontemporal=*/false, alignment);
}

void TileCopier::chooseBuffer(tile::InterleavedOp view, Value &along) {
  Value block = constant(view.getBlock()),
        count = constant(static_cast<int64_t>(view.getSources().size()));
  Value number = b.createOrFold<arith::DivUIOp>(loc, along, block);
  Value part = b.createOrFold<arith::RemUIOp>(loc, number, count);
  Value first = b.createOrFold<arith::MulIOp>(
      loc, b.createOrFold<arith::DivUIOp>(loc, number, count), block);
  along = b.createOrFold<arith::AddIOp>(
      loc, first, b.createOrFold<arith::RemUIOp>(loc, along, block));
  source = view.getSources().front();
  for (auto [i, other] : llvm::drop_begin(llvm::enumerate(view.getSources()))) {
    Value isOther =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, part,
                              constant(static_cast<int64_t>(i)));
    source = arith::SelectOp::create(b, loc, isOther, other, source);
  }
}

SmallVector<Value, 3> TileCopier::locateInPage(SplitIndex row, Value &isThere) {
  int64_t first = llvm::alignDown(row.constant, rowsOfPage);
  auto [found, isNew] = pages.try_emplace(first);
  PagedRows::RowsOfPage &page = found->second;
  if (isNew)
    page = sourceRows.locateRows(
        b, loc,
        b.createOrFold<arith::AddIOp>(loc, op.getRow(), constant(first)),
        rowsOfPage, op.getInBounds());
  Value behind =
      SplitIndex{row.dynamic, row.constant - first}.materialize(b, loc);
  if (page.count)
    isThere = arith::CmpIOp::create(
        b, loc, arith::CmpIPredicate::slt,
        arith::IndexCastOp::create(b, loc, b.getI32Type(), behind), page.count);
  return {page.page, b.createOrFold<arith::AddIOp>(loc, page.row, behind)};
}

void TileCopier::copyPiece(SplitIndex row, SplitIndex column) {
  Value inside;
  SmallVector<Value, 3> place;
  if (rowsOfPage) {
    place = locateInPage(row, inside);
  } else {
    Value sourceRow = b.createOrFold<arith::AddIOp>(loc, op.getRow(),
                                                    row.materialize(b, loc));
    llvm::append_range(place,
                       sourceRows.locate(b, loc, sourceRow, op.getInBounds()));
  }
  Value sourceColumn = b.createOrFold<arith::AddIOp>(
      loc, op.getColumn(), column.materialize(b, loc));
  if (auto view = op.getSource().getDefiningOp<tile::InterleavedOp>())
    chooseBuffer(view, view.getDim() == 0 ? place[0] : sourceColumn);
  place.push_back(sourceColumn);
  Value valid;
  if (!op.getInBounds()) {
    if (!inside)
      inside =
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, place[0],
                                b.createOrFold<memref::DimOp>(loc, source, 0));
    if (!fitsInto(type.getShape()[1], op.getSource().getType().getDimSize(1),
                  op.getColumn())) {
      Value columns = b.createOrFold<memref::DimOp>(
          loc, source, static_cast<int64_t>(place.size()) - 1);
      Value insideRow = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                              sourceColumn, columns);
      inside = arith::AndIOp::create(b, loc, inside, insideRow);
    }
    valid =
        arith::SelectOp::create(b, loc, inside, constant(width), constant(0));
  }
  SmallVector<int64_t, 2> stored = type.getTileType().getStoredShape();
  SplitIndex position = sharedPosition(
      b, loc, swizzle, stored[1],
      RowPlaces(context, swizzle, stored[0], stored[1], type.getElementType())
          .get(b, loc, row),
      column);
  Value start =
      b.createOrFold<arith::MulIOp>(loc, slot, constant(stored[0] * stored[1]));
  position.dynamic =
      position.dynamic
          ? b.createOrFold<arith::AddIOp>(loc, start, position.dynamic)
          : start;
  copyElements(place, position.materialize(b, loc), valid);
}

void TileCopier::copyByWarps(Value predicate) {
  int64_t steps = countWarpCopies(op, context), threads = context.threads,
          lanes = context.target.getLanes();
  SmallVector<int64_t, 2> stored = type.getTileType().getStoredShape();
  width = ShapedType::getNumElements(stored) / (steps * threads);
  int64_t piecesPerRow = stored[1] / width;
  Value thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
  Value warp = context.model->emitFirstLane(
      b, loc, context.target,
      b.createOrFold<arith::DivUIOp>(loc, thread, constant(lanes)));
  Value start = b.createOrFold<arith::AddIOp>(
      loc,
      b.createOrFold<arith::MulIOp>(loc, slot, constant(stored[0] * stored[1])),
      b.createOrFold<arith::MulIOp>(loc, warp, constant(lanes * width)));
  bool staysInColumn = threads % piecesPerRow == 0;
  for (int64_t step = 0; step < steps; ++step) {
    Value piece = staysInColumn ? thread
                                : b.createOrFold<arith::AddIOp>(
                                      loc, thread, constant(step * threads));
    SplitIndex row{
        b.createOrFold<arith::DivUIOp>(loc, piece, constant(piecesPerRow)),
        staysInColumn ? step * (threads / piecesPerRow) : 0};
    Value place = b.createOrFold<arith::MulIOp>(
        loc, b.createOrFold<arith::RemUIOp>(loc, piece, constant(piecesPerRow)),
        constant(width));
    // The permutation of a row is its own inverse.
    SplitIndex column = sharedPosition(b, loc, swizzle, /*rowLength=*/0, row,
                                       SplitIndex{place, 0});
    context.model->emitWarpCopy(
        b, loc,
        {{VectorType::get(width, type.getElementType()),
          source,
          {op.getRow(), op.getColumn()},
          {row.materialize(b, loc), column.materialize(b, loc)},
          type.getShape(),
          !op.getInBounds()},
         buffer,
         b.createOrFold<arith::AddIOp>(loc, start,
                                       constant(step * threads * width)),
         predicate});
  }
}

void TileCopier::copy() {
  int64_t rows = type.getShape()[0], columns = type.getShape()[1];
  auto sourceType =
      cast<MemRefType>(getCopiedBuffers(op).front().buffer.getType());
  int64_t elementBytes = type.getElementType().getIntOrFloatBitWidth() / 8;
  SmallVector<int64_t> strides;
  int64_t offset;
  bool contiguous =
      succeeded(sourceType.getStridesAndOffset(strides, offset)) &&
      strides.back() == 1;
  // Pieces must not straddle the end of a row of the source.
  int64_t rowLength = sourceType.isDynamicDim(1) ? 1 : sourceType.getDimSize(1);
  if (contiguous)
    width = std::gcd(
        std::gcd(swizzle.getVector(), tile::knownRowDivisor(op.getSource())),
        std::gcd(rowLength, knownDivisor(op.getColumn())));
  // Nor the end of a block.
  if (auto view = op.getSource().getDefiningOp<tile::InterleavedOp>();
      view && view.getDim() == 1)
    width = std::gcd(width, static_cast<int64_t>(view.getBlock()));
  async =
      context.target.getCopySync() == tile::CopySync::CommitGroup &&
      llvm::is_contained(context.target.getCopyWidths(), width * elementBytes);

  int64_t piecesPerRow = columns / width, pieces = rows * piecesPerRow,
          threads = context.threads;
  bool staysInColumn = threads % piecesPerRow == 0;
  // What the threads copy at a time is then in one page, or not.
  if (staysInColumn && sourceRows.findsPages() && sourceRows.getUnit() <= 1) {
    int64_t together =
        std::gcd(knownDivisor(op.getRow()), sourceRows.getPage());
    if (together % (threads / piecesPerRow) == 0)
      rowsOfPage = together;
  }
  Value thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
  auto copyAt = [&](int64_t step) {
    if (staysInColumn) {
      // Each thread stays in its column and moves down a fixed number of rows.
      Value row =
          b.createOrFold<arith::DivUIOp>(loc, thread, constant(piecesPerRow));
      Value piece =
          b.createOrFold<arith::RemUIOp>(loc, thread, constant(piecesPerRow));
      Value column = b.createOrFold<arith::MulIOp>(loc, piece, constant(width));
      copyPiece({row, step * (threads / piecesPerRow)}, {column, 0});
      return;
    }
    Value piece =
        b.createOrFold<arith::AddIOp>(loc, thread, constant(step * threads));
    Value row =
        b.createOrFold<arith::DivUIOp>(loc, piece, constant(piecesPerRow));
    Value inRow =
        b.createOrFold<arith::RemUIOp>(loc, piece, constant(piecesPerRow));
    copyPiece({row, 0},
              {b.createOrFold<arith::MulIOp>(loc, inRow, constant(width)), 0});
  };
  for (int64_t step = 0; step * threads < pieces; ++step) {
    if ((step + 1) * threads <= pieces) {
      copyAt(step);
      continue;
    }
    Value limit = constant(pieces - step * threads);
    Value active =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, thread, limit);
    auto guard = scf::IfOp::create(b, loc, active, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard restore(b);
    b.setInsertionPointToStart(guard.thenBlock());
    copyAt(step);
  }
}

LogicalResult
PutPattern::matchAndRewrite(tile::PutOp op, OpAdaptor adaptor,
                            ConversionPatternRewriter &rewriter) const {
  Location loc = op.getLoc();
  Value slot = slotOf(rewriter, loc, adaptor.getElement(),
                      op.getChannel().getType().getStages());
  TileCopier copier(rewriter, context, op, adaptor.getChannel(), slot);
  if (countWarpCopies(op, context)) {
    // Also what is not there is copied, as zeros: waits count copies.
    copier.copyByWarps(adaptor.getPredicate());
  } else if (Value predicate = adaptor.getPredicate()) {
    auto guard =
        scf::IfOp::create(rewriter, loc, predicate, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard restore(rewriter);
    rewriter.setInsertionPointToStart(guard.thenBlock());
    copier.copy();
  } else {
    copier.copy();
  }
  // Also where nothing was copied: waits count commits.
  if (context.target.getCopySync() == tile::CopySync::CommitGroup)
    context.model->emitAsyncCommit(rewriter, loc);
  rewriter.eraseOp(op);
  return success();
}

void attune::populateSharedMemoryPatterns(TypeConverter &converter,
                                          RewritePatternSet &patterns,
                                          const KernelContext &context) {
  patterns.add<ChannelPattern, PutPattern, GetPattern, ReleasePattern>(
      converter, patterns.getContext(), context);
}
