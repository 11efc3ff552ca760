// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of which each workgroup has a tile of rows of one query head.

#include "GradientRows.h"
#include "TileOrder.h"
#include "Views.h"
#include "attune/Dialect/Tile/IR/Alignment.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attune;
using tile::TileType;

void attune::addDropoutAndLengths(attn::AttentionOpInterface op,
                                  KernelInputs &inputs,
                                  function_ref<Value(Value, StringRef)> add) {
  for (auto [tensor, name, input] :
       {std::tuple<Value, StringRef, Value *>{op.getDropout(), "dropout",
                                              &inputs.dropout},
        {op.getQueryLengths(), "query_lengths", &inputs.queryLengths},
        {op.getKeyLengths(), "key_lengths", &inputs.keyLengths},
        {op.getQueryStarts(), "query_starts", &inputs.queryStarts},
        {op.getKeyStarts(), "key_starts", &inputs.keyStarts}})
    if (tensor)
      *input = add(tensor, name);
}

std::optional<attn::Dropout> attune::readDropout(ImplicitLocOpBuilder &b,
                                                 attn::AttentionOpInterface op,
                                                 const KernelInputs &inputs) {
  if (!inputs.dropout)
    return std::nullopt;
  return attn::Dropout(b, b.getLoc(), op, [&](int64_t number) -> Value {
    Value place = arith::ConstantIndexOp::create(b, number);
    return memref::LoadOp::create(b, inputs.dropout, place);
  });
}

Value attune::drawIsKept(OpBuilder &inner, Location loc,
                         const attn::Dropout &dropout, Value batch, Value head,
                         Value heads, Value query, Value key) {
  const PhiloxSeed &seed = dropout.getSeed();
  return tile::IsKeptOp::create(
      inner, loc, query, key,
      attn::Dropout::getHead(inner, loc, batch, head, heads), seed.key[0],
      seed.key[1], seed.offset, dropout.getThreshold());
}

Value attune::viewNumbers(ImplicitLocOpBuilder &b, Value buffer, Value batch,
                          Value head) {
  auto type = cast<MemRefType>(buffer.getType());
  OpFoldResult length =
      type.isDynamicDim(2)
          ? OpFoldResult(b.createOrFold<memref::DimOp>(buffer, 2))
          : b.getIndexAttr(type.getDimSize(2));
  OpFoldResult one = b.getIndexAttr(1), zero = b.getIndexAttr(0), heads = one;
  SmallVector<int64_t> kept{2};
  if (!head) {
    kept.insert(kept.begin(), 1);
    heads = type.isDynamicDim(1)
                ? OpFoldResult(b.createOrFold<memref::DimOp>(buffer, 1))
                : b.getIndexAttr(type.getDimSize(1));
  }
  return tile::viewDims(b, buffer,
                        {batch, head ? OpFoldResult(head) : zero, zero},
                        {one, heads, length}, kept);
}

tile::LoadOp attune::createLoad(TileBuilder &b, TileType type, Value buffer,
                                ValueRange place, int64_t stages) {
  return tile::LoadOp::create(
      b, type, buffer, place, /*in_bounds=*/UnitAttr(),
      stages ? b.getI64IntegerAttr(stages) : IntegerAttr(),
      /*read_once=*/UnitAttr(), /*role=*/StringAttr(),
      tile::EvictionAttr::get(b.getContext(), tile::Eviction::Normal));
}

Value GradientOperands::findSums(ImplicitLocOpBuilder &b, Value query) const {
  if (!rowsBefore)
    return query;
  return b.createOrFold<arith::AddIOp>(
      query, arith::ConstantIndexOp::create(b, rowsBefore));
}

std::pair<Value, Value> GradientOperands::findNumbers(ImplicitLocOpBuilder &b,
                                                      Value batch,
                                                      Value query) const {
  if (!rowsBefore)
    return {batch, query};
  int64_t copies = countCopies(rowsBefore);
  Value first = b.createOrFold<arith::MulIOp>(batch, constant(b, copies));
  if (!query)
    return {first, {}};
  Value zeros =
      arith::AndIOp::create(b, arith::SubIOp::create(b, constant(b, 0), query),
                            constant(b, copies - 1));
  return {b.createOrFold<arith::AddIOp>(first, zeros),
          arith::AddIOp::create(b, query, zeros)};
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
                       inner, loc, product, constantF32(inner, loc, factor));
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

/// What scores are lessened by, in powers of two.
static Value makeShifts(TileBuilder &b, Value lse) {
  return b.map(cast<TileType>(lse.getType()), lse,
               [&](OpBuilder &inner, Location loc, ValueRange args) -> Value {
                 auto constant = [&](double value) {
                   return constantF32(inner, loc, value);
                 };
                 // A query that sees nothing has scores of -inf alone.
                 Value isEmpty = arith::CmpFOp::create(
                     inner, loc, arith::CmpFPredicate::OEQ, args[0],
                     constant(-kInfinity));
                 Value scaled = arith::MulFOp::create(
                     inner, loc, args[0], constant(-llvm::numbers::log2e));
                 return arith::SelectOp::create(inner, loc, isEmpty,
                                                constant(0), scaled);
               });
}

/// By the tile of the first row: those are stored of a tile that ends with them
/// which are not before the buffer.
static void storeZerosBefore(TileBuilder &b, Value view, int64_t rows,
                             Value first, int64_t zeros) {
  Value isFirst =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, first, constant(b, 0));
  Value place = arith::SelectOp::create(b, isFirst, constant(b, zeros - rows),
                                        constant(b, -rows));
  tile::StoreOp::create(b, b.fill(TileType::get({rows}, b.getF32Type()), 0),
                        view, place, /*accumulate=*/false,
                        tile::StorePath::Direct);
}

/// Adds to the gradient of a head's sink what rows have of it: -exp(sink - lse)
/// times a row's delta, which is what the sink, as a key without a value, has
/// of the row's gradients.
static void addToSink(TileBuilder &b, const GradientOperands &operands,
                      Value head, Value first, Value lse, Value deltas,
                      Value length) {
  auto rowType = cast<TileType>(deltas.getType());
  Value sink = memref::LoadOp::create(b, operands.sinks, head);
  Value terms = b.map(
      rowType, {lse, deltas},
      [&](OpBuilder &inner, Location loc, ValueRange args) -> Value {
        auto constant = [&](double value) {
          return constantF32(inner, loc, value);
        };
        // Such a query sees nothing, or is not there.
        Value isEmpty =
            arith::CmpFOp::create(inner, loc, arith::CmpFPredicate::OEQ,
                                  args[0], constant(-kInfinity));
        Value isBeyond = arith::CmpIOp::create(
            inner, loc, arith::CmpIPredicate::uge,
            arith::AddIOp::create(inner, loc, first, args[2]), length);
        Value exponent = arith::MulFOp::create(
            inner, loc, arith::SubFOp::create(inner, loc, sink, args[0]),
            constant(llvm::numbers::log2e));
        Value weight = math::Exp2Op::create(inner, loc, exponent,
                                            arith::FastMathFlags::afn);
        Value term = arith::NegFOp::create(
            inner, loc, arith::MulFOp::create(inner, loc, weight, args[1]));
        return arith::SelectOp::create(
            inner, loc, arith::OrIOp::create(inner, loc, isEmpty, isBeyond),
            constant(0), term);
      });
  // Pieces of 16 bytes, as shared memory carries them between warps, of which
  // the first number is stored.
  constexpr int64_t kCopies = 4;
  auto copies =
      TileType::get({rowType.getShape().front(), kCopies}, b.getF32Type());
  Value sum = tile::ReduceOp::create(
      b, TileType::get({kCopies}, b.getF32Type()), tile::ReductionKind::Add,
      b.broadcast(terms, copies), /*init=*/Value(), /*dim=*/0);
  OpFoldResult one = b.getIndexAttr(1);
  Value own = memref::SubViewOp::create(
      b, operands.sinksGrad, ArrayRef<OpFoldResult>{head}, {one}, {one});
  tile::StoreOp::create(b, sum, own, constant(b, 0), /*accumulate=*/true,
                        tile::StorePath::Direct);
}

void attune::buildDeltaBody(OpBuilder &builder, attn::AttentionGradOp op,
                            Value output, Value lse, Value lseGrad,
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
  auto loadRow = [&](Value buffer) {
    return loadNumbers(b, rows, viewNumbers(b, buffer, own.batch, own.head),
                       own.place[0]);
  };
  auto storeRow = [&](Value numbers, Value buffer) {
    Value firstCopy = operands.findNumbers(b, own.batch).first;
    int64_t copies = GradientOperands::countCopies(operands.rowsBefore);
    for (int64_t zeros : llvm::seq(copies)) {
      auto add = [&](Value value) {
        return b.createOrFold<arith::AddIOp>(
            value, arith::ConstantIndexOp::create(b, zeros));
      };
      Value view = viewNumbers(b, buffer, add(firstCopy), own.head);
      tile::StoreOp::create(b, numbers, view, add(own.place[0]),
                            /*accumulate=*/false, tile::StorePath::Direct);
      if (zeros)
        storeZerosBefore(b, view, rows, own.place[0], zeros);
    }
  };
  Value logs = loadRow(lse);
  storeRow(makeShifts(b, logs), operands.shifts);
  auto rowType = TileType::get({rows}, f32);
  Value deltas =
      tile::ReduceOp::create(b, rowType, tile::ReductionKind::Add, products);
  if (lseGrad)
    deltas =
        b.map(rowType, {deltas, loadRow(lseGrad)},
              [&](OpBuilder &inner, Location loc, ValueRange args) -> Value {
                return arith::SubFOp::create(inner, loc, args[0], args[1]);
              });
  storeRow(deltas, operands.deltas);
  if (operands.sinksGrad)
    addToSink(b, operands, own.head, own.place[0], logs, deltas,
              b.createOrFold<memref::DimOp>(lse, 2));
  if (!operands.querySums)
    return;
  Value zero = b.fill(TileType::get({rows, queryDim}, f32), 0);
  tile::StoreOp::create(
      b, zero,
      viewHeads(b, kQuerySumsOrder, operands.querySums, own.batch, own.head),
      ValueRange{operands.findSums(b, own.place[0]), own.place[1]},
      /*accumulate=*/false, tile::StorePath::Direct);
}

void attune::buildQueryGradBody(OpBuilder &builder, attn::AttentionGradOp op,
                                const GradientOperands &operands, int64_t rows,
                                int64_t headDim) {
  TileBuilder b(op.getLoc(), builder);
  OwnRows own(b, op, operands.queryGrad, rows);
  buildQueryRounding(
      b, op,
      viewHeads(b, kQuerySumsOrder, operands.querySums, own.batch, own.head),
      operands.findSums(b, own.place[0]),
      viewHeads(b, op.getOrder(), operands.queryGrad, own.batch, own.head),
      own.place[0], rows, headDim, operands.sumsLayout);
}

void attune::buildQueryRounding(TileBuilder &b, attn::AttentionGradOp op,
                                Value sums, Value firstSum, Value grads,
                                Value firstGrad, int64_t rows, int64_t headDim,
                                tile::LayoutAttr layout) {
  Value zero = arith::ConstantIndexOp::create(b, 0);
  auto type = TileType::get({rows, headDim}, b.getF32Type());
  if (layout)
    type = type.withLayout(layout);
  tile::LoadOp tile = createLoad(b, type, sums, {firstSum, zero});
  tile.setByThreads(layout != nullptr);
  tile::StoreOp::create(
      b, scaleToOperand(b, tile, op.getElementType(), op.getEffectiveScale()),
      grads, ValueRange{firstGrad, zero}, /*accumulate=*/false,
      tile::StorePath::Direct);
}

void attune::buildClearBody(OpBuilder &builder, Location loc, Value sums) {
  TileBuilder b(loc, builder);
  auto type = cast<MemRefType>(sums.getType());
  int64_t rank = type.getRank();
  if (rank == 0)
    sums = memref::ExpandShapeOp::create(
        b, MemRefType::get({1}, type.getElementType()), sums,
        ArrayRef<ReassociationIndices>{});
  Value row, block = gpu::BlockIdOp::create(b, gpu::Dimension::x);
  if (rank > 1) {
    Value blocks = b.createOrFold<arith::CeilDivUIOp>(
        b.createOrFold<memref::DimOp>(sums, rank - 1),
        arith::ConstantIndexOp::create(b, kClearBlock));
    row = arith::DivUIOp::create(b, block, blocks);
    block = arith::RemUIOp::create(b, block, blocks);
  }
  if (rank > 2) {
    ReassociationIndices rows(llvm::to_vector(llvm::seq<int64_t>(rank - 1)));
    sums = memref::CollapseShapeOp::create(
        b, sums, ArrayRef<ReassociationIndices>{rows, {rank - 1}});
  }
  if (row)
    sums = viewPart(b, sums, row);
  Value first = arith::MulIOp::create(
      b, block, arith::ConstantIndexOp::create(b, kClearBlock));
  tile::StoreOp::create(
      b, b.fill(TileType::get({kClearBlock}, b.getF32Type()), 0), sums, first,
      /*accumulate=*/false, tile::StorePath::Direct);
}
