// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tile.load, tile.store, tile.put_tile and tile.read: between memory and
// registers; and tile.paged, tile.flattened and tile.interleaved, which say
// where rows are found.

#include "KernelContext.h"
#include "RowPlaces.h"
#include "Views.h"
#include "attune/Target/SharedAddress.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <numeric>

using namespace mlir;
using namespace attune;
using tile::LayoutAttr;

namespace {

struct LoadPattern : KernelPattern<tile::LoadOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(tile::LoadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

struct StorePattern : KernelPattern<tile::StoreOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(tile::StoreOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

/// Whoever uses it asks for its operands.
struct PagedPattern : KernelPattern<tile::PagedOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(tile::PagedOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(
        op, op.hasPageDim() ? viewFirst(rewriter, op)
                            : memref::CastOp::create(rewriter, op.getLoc(),
                                                     op.getResult().getType(),
                                                     op.getSource())
                                  .getResult());
    return success();
  }
  /// Of a buffer whose first dimension is one of pages, one of the type of the
  /// rows, which nobody reads.
  template <typename ViewOp> static Value viewFirst(OpBuilder &b, ViewOp op) {
    Location loc = op.getLoc();
    MemRefType type = op.getResult().getType(),
               source = op.getSource().getType();
    SmallVector<OpFoldResult> first(source.getRank(), b.getIndexAttr(0)),
        ones(source.getRank(), b.getIndexAttr(1)),
        sizes = memref::getMixedSizes(b, loc, op.getSource());
    sizes[0] = b.getIndexAttr(1);
    auto [strides, offset] = source.getStridesAndOffset();
    auto page =
        MemRefType::get(source.getShape().drop_front(), type.getElementType(),
                        StridedLayoutAttr::get(b.getContext(), offset,
                                               ArrayRef(strides).drop_front()),
                        type.getMemorySpace());
    Value view = memref::SubViewOp::create(b, loc, page, op.getSource(), first,
                                           sizes, ones);
    // Rows of one page become those of any number, and these all that are.
    SmallVector<int64_t> shape(type.getShape());
    shape.front() = ShapedType::kDynamic;
    auto any = MemRefType::get(shape, type.getElementType(), type.getLayout(),
                               type.getMemorySpace());
    view = memref::CastOp::create(b, loc, any, view);
    return any == type ? view : memref::CastOp::create(b, loc, type, view);
  }
};

/// So does whoever uses this.
struct FlattenedPattern : KernelPattern<tile::FlattenedOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(tile::FlattenedOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, PagedPattern::viewFirst(rewriter, op));
    return success();
  }
};

/// So does whoever uses this.
struct InterleavedPattern : KernelPattern<tile::InterleavedOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(tile::InterleavedOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<memref::CastOp>(op, op.getResult().getType(),
                                                op.getSources().front());
    return success();
  }
};

struct PutTilePattern : KernelPattern<tile::PutTileOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(tile::PutTileOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

struct ReadPattern : KernelPattern<tile::ReadOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(tile::ReadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

/// Neighbouring registers that hold neighbouring columns of one row.
struct Run {
  int64_t firstRegister;
  int64_t count;
  SmallVector<int64_t, 2> coordinates;
};

} // namespace

/// Cuts the registers of a layout into runs of at most `most` elements that
/// start at multiples of their length.
static SmallVector<Run> findRuns(LayoutAttr layout, int64_t rank,
                                 int64_t most) {
  int64_t length = 1;
  if (!layout.getRegisters().empty()) {
    const tile::Mode &first = layout.getRegisters().front();
    if (first.dim == rank - 1 && first.stride == 1)
      length = std::gcd(first.extent, most);
  }
  SmallVector<Run> runs;
  for (int64_t reg = 0; reg < layout.getNumRegisters(); reg += length)
    runs.push_back({reg, length, layout.getRegisterCoordinates(reg, rank)});
  return runs;
}

/// The global position of a register: tile origin plus lane plus register.
static Value position(OpBuilder &b, Location loc, Value origin, Value lane,
                      int64_t offset) {
  Value sum = origin;
  if (lane)
    sum = b.createOrFold<arith::AddIOp>(loc, sum, lane);
  return b.createOrFold<arith::AddIOp>(
      loc, sum, arith::ConstantIndexOp::create(b, loc, offset));
}

static Value lessThan(OpBuilder &b, Location loc, Value left, Value right) {
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, left, right);
}

/// Elements that a thread reads or writes at once, and what has to be tested.
struct Access {
  /// The longest run of neighbouring elements that starts at multiples of it,
  /// and is inside or outside of the buffer as a whole.
  int64_t run = 1;
  /// Dimensions in which a tile may reach beyond the buffer.
  SmallVector<bool, 2> isPadded;
};

/// How a tile at `first` of a buffer is accessed.
static Access getAccess(tile::TileType type, Value buffer, ValueRange first,
                        bool inBounds) {
  auto memrefType = cast<MemRefType>(buffer.getType());
  int64_t rank = type.getRank();
  Access access;
  for (int64_t dim = 0; dim < rank; ++dim)
    access.isPadded.push_back(!inBounds && !fitsInto(type.getShape()[dim],
                                                     memrefType.getDimSize(dim),
                                                     first[dim]));
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(memrefType.getStridesAndOffset(strides, offset)) ||
      strides.back() != 1)
    return access;
  constexpr int64_t kWidestBytes = 16;
  int64_t elementBytes = type.getElementType().getIntOrFloatBitWidth() / 8;
  access.run = std::gcd(
      kWidestBytes / elementBytes,
      std::gcd(tile::knownRowDivisor(buffer), knownDivisor(first[rank - 1])));
  if (int64_t page = PagedRows(buffer).getPage(); page && rank == 1)
    access.run = std::gcd(access.run, page);
  if (access.isPadded[rank - 1])
    access.run = memrefType.isDynamicDim(rank - 1)
                     ? 1
                     : std::gcd(access.run, memrefType.getDimSize(rank - 1));
  return access;
}

/// Whether the element at `indices` is inside; null where it must be. Tests the
/// last dimension first. A row of a page is inside if the page is.
static Value isInside(OpBuilder &b, Location loc, ArrayRef<Value> indices,
                      Value buffer, const Access &access) {
  Value inside;
  SmallVector<bool, 3> isPadded(access.isPadded.begin(), access.isPadded.end());
  if (indices.size() > isPadded.size())
    isPadded.insert(isPadded.begin() + 1, false);
  for (auto [dim, index] : llvm::enumerate(indices)) {
    if (!isPadded[dim])
      continue;
    Value size = b.createOrFold<memref::DimOp>(loc, buffer, dim);
    Value here = lessThan(b, loc, index, size);
    inside =
        inside ? arith::AndIOp::create(b, loc, inside, here).getResult() : here;
  }
  return inside;
}

LogicalResult LoadPattern::matchAndRewrite(tile::LoadOp op, OpAdaptor adaptor,
                                           ConversionPatternRewriter &b) const {
  Location loc = op.getLoc();
  tile::TileType type = op.getResult().getType();
  int64_t rank = type.getRank();
  LayoutAttr layout = type.getRegisterLayout();
  Access access =
      getAccess(type, op.getSource(), op.getIndices(), op.getInBounds());
  SmallVector<Value> lanes, elements(layout.getNumRegisters());
  for (int64_t dim = 0; dim < rank; ++dim)
    lanes.push_back(laneCoordinate(b, loc, context, layout, dim));
  PagedRows rows(op.getSource());
  Value buffer = rows.getBuffer();
  // The table is read once for each row of a thread.
  DenseMap<int64_t, SmallVector<Value, 2>> places;
  for (const Run &run : findRuns(layout, rank, access.run)) {
    SmallVector<Value> indices;
    for (int64_t dim = 0; dim < rank; ++dim)
      indices.push_back(position(b, loc, adaptor.getIndices()[dim], lanes[dim],
                                 run.coordinates[dim]));
    if (rows.getPage()) {
      SmallVector<Value, 2> &place = places[run.coordinates[0]];
      if (place.empty())
        place = rows.locate(b, loc, indices[0], op.getInBounds());
      indices.erase(indices.begin());
      indices.insert(indices.begin(), place.begin(), place.end());
    }
    auto vectorType = VectorType::get(run.count, type.getElementType());
    int64_t elementBytes = type.getElementType().getIntOrFloatBitWidth() / 8;
    auto load = [&](OpBuilder &inner) -> Value {
      return vector::LoadOp::create(inner, loc, vectorType, buffer, indices,
                                    /*nontemporal=*/false,
                                    llvm::MaybeAlign(run.count * elementBytes));
    };
    Value part;
    // The chip knows where a buffer ends, not where its rows do.
    if (!rows.getPage() && (rank == 1 || !access.isPadded.back())) {
      TileLoad request{
          vectorType, buffer,          SmallVector<Value>(adaptor.getIndices()),
          {},         type.getShape(), access.isPadded.front()};
      for (int64_t dim = 0; dim < rank; ++dim)
        request.own.push_back(position(b, loc, constant(b, loc, 0), lanes[dim],
                                       run.coordinates[dim]));
      part = context.model->emitLoad(b, loc, request);
    }
    Value inside = part ? Value() : isInside(b, loc, indices, buffer, access);
    if (inside) {
      auto guarded = scf::IfOp::create(
          b, loc, inside,
          [&](OpBuilder &inner, Location innerLoc) {
            scf::YieldOp::create(inner, innerLoc, load(inner));
          },
          [&](OpBuilder &inner, Location innerLoc) {
            Value zero = arith::ConstantOp::create(inner, innerLoc,
                                                   b.getZeroAttr(vectorType));
            scf::YieldOp::create(inner, innerLoc, zero);
          });
      part = guarded.getResult(0);
    } else if (!part) {
      part = load(b);
    }
    for (int64_t i = 0; i < run.count; ++i)
      elements[run.firstRegister + i] =
          vector::ExtractOp::create(b, loc, part, i);
  }
  b.replaceOpWithNewOp<vector::FromElementsOp>(op, laneVectorType(type),
                                               elements);
  return success();
}

/// True in the first of the threads that hold the same elements; null where no
/// two do.
static Value isFirstHolder(OpBuilder &b, Location loc, LayoutAttr layout,
                           const KernelContext &context) {
  Value isFirst;
  auto test = [&](ArrayRef<tile::Mode> modes, function_ref<Value()> number) {
    int64_t below = 1;
    for (const tile::Mode &mode : modes) {
      if (mode.stride == 0) {
        Value digit = b.createOrFold<arith::DivUIOp>(loc, number(),
                                                     constant(b, loc, below));
        digit = b.createOrFold<arith::RemUIOp>(loc, digit,
                                               constant(b, loc, mode.extent));
        Value first = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                            digit, constant(b, loc, 0));
        isFirst =
            isFirst ? arith::AndIOp::create(b, loc, isFirst, first).getResult()
                    : first;
      }
      below *= mode.extent;
    }
  };
  test(layout.getLanes(), [&] { return laneNumber(b, loc, context); });
  test(layout.getWarps(), [&] { return warpNumber(b, loc, context); });
  return isFirst;
}

/// Writes a run of a tile, or adds it to what is there.
static void storeRun(OpBuilder &b, tile::StoreOp op, Value value, Value buffer,
                     const Run &run, ValueRange indices) {
  Location loc = op.getLoc();
  Type element = op.getValue().getType().getElementType();
  if (op.getAccumulate()) {
    for (int64_t i = 0; i < run.count; ++i) {
      Value part =
          vector::ExtractOp::create(b, loc, value, run.firstRegister + i);
      SmallVector<Value> place(indices);
      if (i)
        place.back() =
            arith::AddIOp::create(b, loc, place.back(), constant(b, loc, i));
      memref::AtomicRMWOp::create(b, loc, arith::AtomicRMWKind::addf, part,
                                  buffer, place);
    }
    return;
  }
  if (run.count == 1) {
    Value part = vector::ExtractOp::create(b, loc, value, run.firstRegister);
    memref::StoreOp::create(b, loc, part, buffer, indices);
    return;
  }
  Value part = vector::ExtractStridedSliceOp::create(
      b, loc, value, ArrayRef<int64_t>{run.firstRegister},
      ArrayRef<int64_t>{run.count}, ArrayRef<int64_t>{1});
  vector::StoreOp::create(
      b, loc, part, buffer, indices, /*nontemporal=*/false,
      llvm::MaybeAlign(run.count * element.getIntOrFloatBitWidth() / 8));
}

LogicalResult
StorePattern::matchAndRewrite(tile::StoreOp op, OpAdaptor adaptor,
                              ConversionPatternRewriter &b) const {
  Location loc = op.getLoc();
  tile::TileType type = op.getValue().getType();
  int64_t rank = type.getRank();
  LayoutAttr layout = type.getRegisterLayout();
  Access access = getAccess(type, op.getDestination(), op.getIndices(),
                            /*inBounds=*/false);
  PagedRows rows(op.getDestination());
  Value buffer = rows.getBuffer();
  SmallVector<Value> lanes, limits;
  for (int64_t dim = 0; dim < rank; ++dim)
    lanes.push_back(laneCoordinate(b, loc, context, layout, dim));
  for (int64_t dim = 0; dim < cast<MemRefType>(buffer.getType()).getRank();
       ++dim)
    limits.push_back(b.createOrFold<memref::DimOp>(loc, buffer, dim));
  Value isFirst = isFirstHolder(b, loc, layout, context);

  // One guard for all runs of a row.
  llvm::MapVector<int64_t, SmallVector<Run>> byRow;
  for (const Run &run : findRuns(layout, rank, access.run))
    byRow[run.coordinates[0]].push_back(run);
  for (auto &[rowOffset, runs] : byRow) {
    Value row = position(b, loc, adaptor.getIndices()[0], lanes[0], rowOffset);
    SmallVector<Value, 2> place = rows.locate(b, loc, row, /*inBounds=*/false);
    // Rows before the first one are none, either.
    Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                         place[0], limits[0]);
    if (isFirst)
      inside = arith::AndIOp::create(b, loc, inside, isFirst);
    auto guard = scf::IfOp::create(b, loc, inside, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard restore(b);
    b.setInsertionPointToStart(guard.thenBlock());
    for (const Run &run : runs) {
      SmallVector<Value> indices(place.begin(), place.end());
      if (rank == 2)
        indices.push_back(position(b, loc, adaptor.getIndices()[1], lanes[1],
                                   run.coordinates[1]));
      OpBuilder::InsertionGuard restoreRun(b);
      if (rank == 2 && access.isPadded[1]) {
        auto columnGuard = scf::IfOp::create(
            b, loc, lessThan(b, loc, indices.back(), limits.back()), false);
        b.setInsertionPointToStart(columnGuard.thenBlock());
      }
      storeRun(b, op, adaptor.getValue(), buffer, run, indices);
    }
  }
  b.eraseOp(op);
  return success();
}

/// How many elements a thread can read or write at once of a slot whose rows,
/// or columns where it is stored by these, are dimension `dim`.
static int64_t getRun(LayoutAttr layout, int64_t dim,
                      tile::SwizzleAttr swizzle) {
  int64_t run = 1;
  for (const tile::Mode &mode : layout.getRegisters())
    if (mode.dim == dim && mode.stride == 1)
      run = std::gcd(swizzle.getVector(), mode.extent);
  for (ArrayRef<tile::Mode> modes :
       {layout.getRegisters(), layout.getLanes(), layout.getWarps()})
    for (const tile::Mode &mode : modes)
      if (mode.dim == dim && mode.stride > 1)
        run = std::gcd(run, mode.stride);
  return run;
}

/// Bits that a lane's coordinate may have set.
static uint64_t findBits(LayoutAttr layout, int64_t dim) {
  uint64_t bits = 0;
  for (ArrayRef<tile::Mode> modes : {layout.getLanes(), layout.getWarps()})
    for (const tile::Mode &mode : modes) {
      if (mode.dim != dim)
        continue;
      auto stride = static_cast<uint64_t>(mode.stride);
      if (stride && !llvm::isPowerOf2_64(stride))
        return ~uint64_t(0);
      bits |=
          llvm::bit_ceil(static_cast<uint64_t>(mode.extent)) * stride - stride;
    }
  return bits;
}

void attune::writeSlot(OpBuilder &b, Location loc, const KernelContext &context,
                       tile::TileType type, Value value,
                       tile::ChannelType channel, Value buffer,
                       function_ref<Value()> getNumber) {
  tile::TileType slot = channel.getTileType();
  tile::SwizzleAttr swizzle = slot.getSwizzle();
  LayoutAttr layout = type.getRegisterLayout();
  if (type.getRank() == 1)
    layout = layout.asRow();
  Type element = slot.getElementType();
  int64_t rowDim = swizzle.getTransposed() ? 1 : 0, columnDim = 1 - rowDim;
  SmallVector<int64_t, 2> stored = slot.getStoredShape();
  int64_t run = getRun(layout, columnDim, swizzle);
  OpBuilder::InsertionGuard restore(b);
  if (Value isFirst = isFirstHolder(b, loc, layout, context)) {
    auto guard = scf::IfOp::create(b, loc, isFirst, /*withElseRegion=*/false);
    b.setInsertionPointToStart(guard.thenBlock());
  }
  Value flat = flattenBuffer(b, loc, buffer);
  Value number = getNumber();
  Value start = b.createOrFold<arith::MulIOp>(
      loc, number, constant(b, loc, stored[0] * stored[1]));
  Value laneRow = laneCoordinate(b, loc, context, layout, rowDim),
        laneColumn = laneCoordinate(b, loc, context, layout, columnDim);
  RowPlaces places(context, swizzle, stored[0], stored[1], element);
  for (int64_t reg = 0; reg < layout.getNumRegisters(); ++reg) {
    SmallVector<int64_t, 2> at = layout.getRegisterCoordinates(reg, 2);
    if (at[columnDim] % run != 0)
      continue;
    SplitIndex position = sharedPosition(
        b, loc, swizzle, stored[1],
        places.get(b, loc, {laneRow, at[rowDim], findBits(layout, rowDim)}),
        {laneColumn, at[columnDim]});
    position.dynamic =
        position.dynamic
            ? b.createOrFold<arith::AddIOp>(loc, start, position.dynamic)
            : start;
    SmallVector<int64_t> registers;
    for (int64_t i = 0; i < run; ++i) {
      SmallVector<int64_t, 2> next(at);
      next[columnDim] += i;
      registers.push_back(findRegister(layout, next));
    }
    Value part = vector::ShuffleOp::create(b, loc, value, value, registers);
    vector::StoreOp::create(
        b, loc, part, flat, position.materialize(b, loc),
        /*nontemporal=*/false,
        llvm::MaybeAlign(run * element.getIntOrFloatBitWidth() / 8));
  }
}

LogicalResult
PutTilePattern::matchAndRewrite(tile::PutTileOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const {
  Location loc = op.getLoc();
  tile::ChannelType channel = op.getChannel().getType();
  writeSlot(b, loc, context, op.getValue().getType(), adaptor.getValue(),
            channel, adaptor.getChannel(), [&] {
              return b.createOrFold<arith::RemUIOp>(
                  loc, adaptor.getElement(),
                  constant(b, loc, channel.getStages()));
            });
  b.eraseOp(op);
  return success();
}

/// A read of a tile that is stored by columns, as one of their rows.
static SharedRead transpose(const SharedRead &read) {
  SharedRead result = read;
  tile::SwizzleAttr swizzle = read.swizzle;
  result.swizzle = tile::SwizzleAttr::get(
      swizzle.getContext(), swizzle.getVector(), swizzle.getBits(),
      swizzle.getShift(), swizzle.getSwizzleAtom(), swizzle.getPadding(),
      /*transposed=*/false);
  result.layout = read.layout.transpose();
  std::swap(result.row, result.column);
  std::swap(result.rowOffset, result.columnOffset);
  return result;
}

Value attune::readShared(OpBuilder &b, Location loc,
                         const KernelContext &context, const SharedRead &read) {
  if (read.swizzle.getTransposed())
    return readShared(b, loc, context, transpose(read));
  if (Value wide = context.model->emitSharedRead(b, loc, read))
    return wide;
  auto type = cast<MemRefType>(read.buffer.getType());
  Type element = type.getElementType();
  int64_t elementBytes = type.getElementTypeBitWidth() / 8;
  Value laneRow = laneCoordinate(b, loc, context, read.layout, 0);
  Value laneColumn = laneCoordinate(b, loc, context, read.layout, 1);
  auto add = [&](Value own, Value offset) {
    return own && offset ? b.createOrFold<arith::AddIOp>(loc, own, offset)
           : own         ? own
                         : offset;
  };
  laneRow = add(laneRow, read.row);
  laneColumn = add(laneColumn, read.column);
  Value flat = flattenBuffer(b, loc, read.buffer);
  // A run stays inside one chunk, where the swizzle keeps neighbours together;
  // with a constant column start the lanes must not shift it across a chunk.
  int64_t count = getRun(read.layout, /*dim=*/1, read.swizzle);
  SmallVector<Value> elements(read.layout.getNumRegisters());
  RowPlaces places(context, read.swizzle, type.getDimSize(0),
                   type.getDimSize(1), element);
  for (int64_t reg = 0; reg < read.layout.getNumRegisters(); ++reg) {
    SmallVector<int64_t, 2> at = read.layout.getRegisterCoordinates(reg, 2);
    if (at[1] % count != 0)
      continue;
    SplitIndex row{laneRow, read.rowOffset + at[0]};
    SplitIndex column{laneColumn, read.columnOffset + at[1]};
    Value index = sharedPosition(b, loc, read.swizzle, type.getDimSize(1),
                                 places.get(b, loc, row), column)
                      .materialize(b, loc);
    if (count == 1) {
      elements[reg] = memref::LoadOp::create(b, loc, flat, index);
      continue;
    }
    Value part = vector::LoadOp::create(
        b, loc, VectorType::get(count, element), flat, index,
        /*nontemporal=*/false, llvm::MaybeAlign(count * elementBytes));
    for (int64_t i = 0; i < count; ++i)
      elements[findRegister(read.layout, {at[0], at[1] + i})] =
          vector::ExtractOp::create(b, loc, part, i);
  }
  // Two registers may hold the same place.
  for (auto [reg, value] : llvm::enumerate(elements))
    if (!value)
      value = elements[findRegister(
          read.layout, read.layout.getRegisterCoordinates(
                           static_cast<int64_t>(reg), /*rank=*/2))];
  return vector::FromElementsOp::create(
      b, loc, VectorType::get(elements.size(), element), elements);
}

LogicalResult ReadPattern::matchAndRewrite(tile::ReadOp op, OpAdaptor adaptor,
                                           ConversionPatternRewriter &b) const {
  Location loc = op.getLoc();
  tile::TileType type = op.getResult().getType();
  LayoutAttr layout = type.getRegisterLayout();
  if (type.getRank() == 1)
    layout = layout.asRow();
  // The warp's part of the tile is an offset; what is left is the layout of one
  // warp.
  LayoutAttr ofWarps =
      LayoutAttr::getNormal(b.getContext(), {}, {}, layout.getWarps());
  Value warpRow = laneCoordinate(b, loc, context, ofWarps, 0),
        warpColumn = laneCoordinate(b, loc, context, ofWarps, 1);
  LayoutAttr ofWarp = LayoutAttr::getNormal(
      b.getContext(), layout.getRegisters(), layout.getLanes(), {});
  Value result = readShared(
      b, loc, context,
      {adaptor.getSource(),
       cast<tile::SwizzleAttr>(op.getSource().getType().getLayout()), ofWarp,
       warpRow, 0, 0, laneNumber(b, loc, context), warpColumn});
  b.replaceOp(op, result);
  return success();
}

void attune::populateMemoryPatterns(TypeConverter &converter,
                                    RewritePatternSet &patterns,
                                    const KernelContext &context) {
  patterns.add<LoadPattern, PagedPattern, FlattenedPattern, InterleavedPattern,
               StorePattern, PutTilePattern, ReadPattern>(
      converter, patterns.getContext(), context);
}
