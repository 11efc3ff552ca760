// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tile.load, tile.store and tile.read: between memory and registers.

#include "LaneContext.h"
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

LogicalResult LoadPattern::matchAndRewrite(tile::LoadOp op, OpAdaptor adaptor,
                                           ConversionPatternRewriter &b) const {
  Location loc = op.getLoc();
  tile::TileType type = op.getResult().getType();
  LayoutAttr layout = type.getRegisterLayout();
  Value laneRow = laneCoordinate(b, loc, context, layout, 0),
        laneColumn = laneCoordinate(b, loc, context, layout, 1);
  Value rows = b.createOrFold<memref::DimOp>(loc, op.getSource(), 0);
  Value columns = b.createOrFold<memref::DimOp>(loc, op.getSource(), 1);
  Value zero =
      arith::ConstantOp::create(b, loc, b.getZeroAttr(type.getElementType()));
  SmallVector<Value> elements;
  for (int64_t reg = 0; reg < layout.getNumRegisters(); ++reg) {
    SmallVector<int64_t, 2> offset = layout.getRegisterCoordinates(reg, 2);
    Value row = position(b, loc, adaptor.getRow(), laneRow, offset[0]);
    Value column = position(b, loc, adaptor.getColumn(), laneColumn, offset[1]);
    if (op.getInBounds()) {
      elements.push_back(memref::LoadOp::create(b, loc, op.getSource(),
                                                ValueRange{row, column}));
      continue;
    }
    Value inside = arith::AndIOp::create(b, loc, lessThan(b, loc, row, rows),
                                         lessThan(b, loc, column, columns));
    auto guarded = scf::IfOp::create(
        b, loc, inside,
        [&](OpBuilder &inner, Location innerLoc) {
          Value element = memref::LoadOp::create(
              inner, innerLoc, op.getSource(), ValueRange{row, column});
          scf::YieldOp::create(inner, innerLoc, element);
        },
        [&](OpBuilder &inner, Location innerLoc) {
          scf::YieldOp::create(inner, innerLoc, zero);
        });
    elements.push_back(guarded.getResult(0));
  }
  b.replaceOpWithNewOp<vector::FromElementsOp>(op, laneVectorType(type),
                                               elements);
  return success();
}

LogicalResult
StorePattern::matchAndRewrite(tile::StoreOp op, OpAdaptor adaptor,
                              ConversionPatternRewriter &b) const {
  Location loc = op.getLoc();
  tile::TileType type = op.getValue().getType();
  int64_t rank = type.getRank();
  LayoutAttr layout = type.getRegisterLayout();
  auto memrefType = op.getDestination().getType();
  SmallVector<int64_t> strides;
  int64_t offset;
  bool contiguous =
      rank == 2 && succeeded(memrefType.getStridesAndOffset(strides, offset)) &&
      strides.back() == 1;
  int64_t elementBytes = type.getElementType().getIntOrFloatBitWidth() / 8;
  constexpr int64_t kWidestStoreBytes = 16;
  int64_t most = contiguous ? std::gcd(kWidestStoreBytes / elementBytes,
                                       knownRowDivisor(op.getDestination()))
                            : 1;
  // A run is written or left out as a whole.
  bool padded = rank == 2 && (memrefType.isDynamicDim(1) ||
                              memrefType.getDimSize(1) < type.getShape()[1]);
  if (padded)
    most = memrefType.isDynamicDim(1)
               ? 1
               : std::gcd(most, memrefType.getDimSize(1));

  SmallVector<Value> lanes, limits;
  for (int64_t dim = 0; dim < rank; ++dim) {
    lanes.push_back(laneCoordinate(b, loc, context, layout, dim));
    limits.push_back(
        b.createOrFold<memref::DimOp>(loc, op.getDestination(), dim));
  }
  // Of the lanes that hold the same element, the first writes it.
  Value isFirst;
  int64_t below = 1;
  for (const tile::Mode &mode : layout.getLanes()) {
    if (mode.stride == 0) {
      Value digit = b.createOrFold<arith::DivUIOp>(
          loc, laneNumber(b, loc, context),
          arith::ConstantIndexOp::create(b, loc, below));
      digit = b.createOrFold<arith::RemUIOp>(
          loc, digit, arith::ConstantIndexOp::create(b, loc, mode.extent));
      Value zero = arith::ConstantIndexOp::create(b, loc, 0);
      Value first =
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, digit, zero);
      isFirst = isFirst
                    ? arith::AndIOp::create(b, loc, isFirst, first).getResult()
                    : first;
    }
    below *= mode.extent;
  }

  // One guard for all runs of a row.
  llvm::MapVector<int64_t, SmallVector<Run>> byRow;
  for (const Run &run : findRuns(layout, rank, most))
    byRow[run.coordinates[0]].push_back(run);
  for (auto &[rowOffset, runs] : byRow) {
    Value row = position(b, loc, adaptor.getIndices()[0], lanes[0], rowOffset);
    Value inside = lessThan(b, loc, row, limits[0]);
    if (isFirst)
      inside = arith::AndIOp::create(b, loc, inside, isFirst);
    auto guard = scf::IfOp::create(b, loc, inside, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard restore(b);
    b.setInsertionPointToStart(guard.thenBlock());
    for (const Run &run : runs) {
      SmallVector<Value> indices{row};
      if (rank == 2)
        indices.push_back(position(b, loc, adaptor.getIndices()[1], lanes[1],
                                   run.coordinates[1]));
      OpBuilder::InsertionGuard restoreRun(b);
      if (padded) {
        auto columnGuard = scf::IfOp::create(
            b, loc, lessThan(b, loc, indices[1], limits[1]), false);
        b.setInsertionPointToStart(columnGuard.thenBlock());
      }
      if (run.count == 1) {
        Value element = vector::ExtractOp::create(b, loc, adaptor.getValue(),
                                                  run.firstRegister);
        memref::StoreOp::create(b, loc, element, op.getDestination(), indices);
        continue;
      }
      Value part = vector::ExtractStridedSliceOp::create(
          b, loc, adaptor.getValue(), ArrayRef<int64_t>{run.firstRegister},
          ArrayRef<int64_t>{run.count}, ArrayRef<int64_t>{1});
      vector::StoreOp::create(b, loc, part, op.getDestination(), indices,
                              /*nontemporal=*/false,
                              llvm::MaybeAlign(run.count * elementBytes));
    }
  }
  b.eraseOp(op);
  return success();
}

Value attune::readShared(OpBuilder &b, Location loc,
                         const KernelContext &context, const SharedRead &read) {
  if (Value wide = context.model->emitSharedRead(b, loc, read))
    return wide;
  auto type = cast<MemRefType>(read.buffer.getType());
  Type element = type.getElementType();
  int64_t elementBytes = type.getElementTypeBitWidth() / 8;
  Value laneRow = laneCoordinate(b, loc, context, read.layout, 0);
  Value laneColumn = laneCoordinate(b, loc, context, read.layout, 1);
  if (read.row)
    laneRow = laneRow ? b.createOrFold<arith::AddIOp>(loc, laneRow, read.row)
                      : read.row;
  Value flat = flattenBuffer(b, loc, read.buffer);
  // A run stays inside one chunk, where the swizzle keeps neighbours together;
  // with a constant column start the lanes must not shift it across a chunk.
  SmallVector<Value> elements(read.layout.getNumRegisters());
  for (const Run &run : findRuns(read.layout, 2, read.swizzle.getVector())) {
    SplitIndex row{laneRow, read.rowOffset + run.coordinates[0]};
    SplitIndex column{laneColumn, read.columnOffset + run.coordinates[1]};
    Value index =
        sharedPosition(b, loc, read.swizzle, type.getDimSize(1), row, column)
            .materialize(b, loc);
    if (run.count == 1) {
      elements[run.firstRegister] = memref::LoadOp::create(b, loc, flat, index);
      continue;
    }
    Value part = vector::LoadOp::create(
        b, loc, VectorType::get(run.count, element), flat, index,
        /*nontemporal=*/false, llvm::MaybeAlign(run.count * elementBytes));
    for (int64_t i = 0; i < run.count; ++i)
      elements[run.firstRegister + i] =
          vector::ExtractOp::create(b, loc, part, i);
  }
  return vector::FromElementsOp::create(
      b, loc, VectorType::get(elements.size(), element), elements);
}

LogicalResult ReadPattern::matchAndRewrite(tile::ReadOp op, OpAdaptor adaptor,
                                           ConversionPatternRewriter &b) const {
  Location loc = op.getLoc();
  tile::TileType type = op.getResult().getType();
  LayoutAttr layout = type.getRegisterLayout();
  // The warp's part of the tile is a row offset; what is left is the layout of
  // one warp.
  Value warpRow;
  for (const tile::Mode &mode : layout.getWarps()) {
    if (layout.getWarps().size() != 1 || mode.dim != 0)
      return op.emitOpError()
             << "expects rows dealt to the warps, but got layout " << layout;
    if (mode.stride != 0)
      warpRow = b.createOrFold<arith::MulIOp>(
          loc, warpNumber(b, loc, context),
          arith::ConstantIndexOp::create(b, loc, mode.stride));
  }
  LayoutAttr ofWarp = LayoutAttr::getNormal(
      b.getContext(), layout.getRegisters(), layout.getLanes(), {});
  Value result =
      readShared(b, loc, context,
                 {adaptor.getSource(),
                  cast<tile::SwizzleAttr>(op.getSource().getType().getLayout()),
                  ofWarp, warpRow, 0, 0, laneNumber(b, loc, context)});
  b.replaceOp(op, result);
  return success();
}

void attune::populateMemoryPatterns(TypeConverter &converter,
                                    RewritePatternSet &patterns,
                                    const KernelContext &context) {
  patterns.add<LoadPattern, StorePattern, ReadPattern>(
      converter, patterns.getContext(), context);
}
