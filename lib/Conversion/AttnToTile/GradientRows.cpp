// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of which each workgroup has a tile of rows of one query head.

#include "GradientRows.h"
#include "TileOrder.h"
#include "Views.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace attune;
using tile::TileType;

Value attune::viewNumbers(ImplicitLocOpBuilder &b, Value buffer, Value batch,
                          Value head) {
  auto type = cast<MemRefType>(buffer.getType());
  OpFoldResult length =
      type.isDynamicDim(2)
          ? OpFoldResult(b.createOrFold<memref::DimOp>(buffer, 2))
          : b.getIndexAttr(type.getDimSize(2));
  SmallVector<OpFoldResult> offsets{batch, head, b.getIndexAttr(0)},
      extents{b.getIndexAttr(1), b.getIndexAttr(1), length},
      strides(3, b.getIndexAttr(1));
  auto viewType = memref::SubViewOp::inferRankReducedResultType(
      {type.getDimSize(2)}, type, offsets, extents, strides);
  return memref::SubViewOp::create(b, cast<MemRefType>(viewType), buffer,
                                   offsets, extents, strides);
}

tile::LoadOp attune::createLoad(TileBuilder &b, TileType type, Value buffer,
                                ValueRange place, int64_t stages) {
  return tile::LoadOp::create(
      b, type, buffer, place, /*in_bounds=*/UnitAttr(),
      stages ? b.getI64IntegerAttr(stages) : IntegerAttr(),
      /*read_once=*/UnitAttr(), /*role=*/StringAttr(),
      tile::EvictionAttr::get(b.getContext(), tile::Eviction::Normal));
}

Value attune::loadNumbers(TileBuilder &b, int64_t rows, Value buffer,
                          Value first) {
  return createLoad(b, TileType::get({rows}, b.getF32Type()), buffer, first);
}

Value attune::scaleToOperand(TileBuilder &b, Value tile, Type element,
                             double factor) {
  auto type = cast<TileType>(tile.getType()).withElementType(element);
  return b.map(type, tile,
               [&](OpBuilder &inner, Location loc, ValueRange args) -> Value {
                 Value product = args[0];
                 if (factor != 1)
                   product = arith::MulFOp::create(
                       inner, loc, product,
                       TileBuilder::constant(inner, loc, factor));
                 if (element.isF32())
                   return product;
                 return arith::TruncFOp::create(inner, loc, element, product);
               });
}

namespace {
/// The tile of this workgroup.
struct OwnRows {
  OwnRows(TileBuilder &b, attn::AttentionGradOp op, Value queries,
          int64_t rows) {
    auto size = [&](int64_t position) -> Value {
      return b.createOrFold<memref::DimOp>(queries, position);
    };
    Value perTile = arith::ConstantIndexOp::create(b, rows);
    Value tiles =
        b.createOrFold<arith::CeilDivUIOp>(size(op.getSeqPos()), perTile);
    TileCounts counts{tiles, size(op.getHeadPos()), size(op.getHeadPos()),
                      size(op.getBatchPos())};
    Value number = gpu::BlockIdOp::create(b, gpu::Dimension::x);
    QueryTile tile = orderByHead(b, number, counts, /*lastFirst=*/false);
    batch = tile.batch;
    head = tile.headQ;
    place = {arith::MulIOp::create(b, tile.tile, perTile),
             arith::ConstantIndexOp::create(b, 0)};
  }

  Value batch, head;
  /// Its first row and column.
  SmallVector<Value, 2> place;
};
} // namespace

void attune::buildDeltaBody(OpBuilder &builder, attn::AttentionGradOp op,
                            Value output, Value lseGrad,
                            const GradientOperands &operands, int64_t rows,
                            int64_t headDim, int64_t queryDim) {
  TileBuilder b(op.getLoc(), builder);
  OwnRows own(b, op, operands.outputGrad, rows);
  auto type = TileType::get({rows, headDim}, op.getElementType());
  auto load = [&](Value buffer) -> Value {
    Value view = viewHeads(b, op.getOrder(), buffer, own.batch, own.head);
    return createLoad(b, type, view, own.place);
  };
  Type f32 = b.getF32Type();
  Value products = b.map(
      type.withElementType(f32), {load(output), load(operands.outputGrad)},
      [&](OpBuilder &inner, Location loc, ValueRange args) -> Value {
        auto extend = [&](Value x) -> Value {
          if (x.getType() == f32)
            return x;
          return arith::ExtFOp::create(inner, loc, f32, x);
        };
        return arith::MulFOp::create(inner, loc, extend(args[0]),
                                     extend(args[1]));
      });
  auto rowType = TileType::get({rows}, f32);
  Value deltas =
      tile::ReduceOp::create(b, rowType, tile::ReductionKind::Add, products);
  if (lseGrad)
    deltas =
        b.map(rowType,
              {deltas, loadNumbers(b, rows,
                                   viewNumbers(b, lseGrad, own.batch, own.head),
                                   own.place[0])},
              [&](OpBuilder &inner, Location loc, ValueRange args) -> Value {
                return arith::SubFOp::create(inner, loc, args[0], args[1]);
              });
  tile::StoreOp::create(
      b, deltas, viewNumbers(b, operands.deltas, own.batch, own.head),
      own.place[0], /*accumulate=*/false, tile::StorePath::Direct);
  if (!operands.querySums)
    return;
  Value zero = b.fill(TileType::get({rows, queryDim}, f32), 0);
  tile::StoreOp::create(
      b, zero,
      viewHeads(b, kQuerySumsOrder, operands.querySums, own.batch, own.head),
      own.place, /*accumulate=*/false, tile::StorePath::Direct);
}

void attune::buildQueryGradBody(OpBuilder &builder, attn::AttentionGradOp op,
                                const GradientOperands &operands, int64_t rows,
                                int64_t headDim) {
  TileBuilder b(op.getLoc(), builder);
  OwnRows own(b, op, operands.queryGrad, rows);
  Value sums = createLoad(
      b, TileType::get({rows, headDim}, b.getF32Type()),
      viewHeads(b, kQuerySumsOrder, operands.querySums, own.batch, own.head),
      own.place);
  tile::StoreOp::create(
      b, scaleToOperand(b, sums, op.getElementType(), op.getEffectiveScale()),
      viewHeads(b, op.getOrder(), operands.queryGrad, own.batch, own.head),
      own.place, /*accumulate=*/false, tile::StorePath::Direct);
}
