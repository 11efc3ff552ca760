// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OperandFactors.h"
#include "OnlineSoftmax.h"
#include "Views.h"
#include "attune/Schedule/Attention/Legality.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace attune;

LogicalResult attune::checkScales(attn::AttentionOp op) {
  // Products are summed up before they can be multiplied.
  for (auto [name, scales] : {std::pair<StringRef, std::optional<attn::Scales>>{
                                  "query", attn::getQueryScales(op)},
                              {"key", attn::getKeyScales(op)}})
    if (attn::variesAlong(op, scales, 'd'))
      return op->emitOpError("expects scales of ")
             << name
             << " that the columns of a row share, for kernels multiply scores "
                "by them, but got some along dimension "
             << op.getHeadDimPos();
  std::optional<attn::Scales> value = attn::getValueScales(op);
  bool variesByKey = attn::scalesValuesByKey(op);
  if (attn::variesAlong(op, value, 'd') && variesByKey)
    return op->emitOpError("expects scales of value that either its rows or "
                           "its columns share, for kernels multiply results "
                           "or weights by them, but got some for both");
  constexpr unsigned kNarrow = 8;
  Type weights = attn::getWeightType(op);
  if (variesByKey && weights.getIntOrFloatBitWidth() == kNarrow)
    return op->emitOpError("expects scales of value that all keys of a head "
                           "share, for weights of 8 bits have no room for "
                           "factors, but got some that differ, beside ")
           << weights;
  return success();
}

OperandFactors::OperandFactors(attn::AttentionOp op, const KernelInputs &inputs,
                               int64_t heads)
    : op(op), query{attn::getQueryScales(op), inputs.queryScales, Value()},
      key{attn::getKeyScales(op), inputs.keyScales, inputs.keyZeros},
      value{attn::getValueScales(op), inputs.valueScales, inputs.valueZeros},
      heads(heads) {}

bool OperandFactors::varies(const Operand &operand, char dim) const {
  return attn::variesAlong(op, operand.scales, dim);
}

/// The product of factors, of which the first may be null.
static Value multiply(OpBuilder &b, Location loc, Value first, Value second) {
  return first ? arith::MulFOp::create(b, loc, first, second).getResult()
               : second;
}

Value OperandFactors::load(OpBuilder &builder, Location loc,
                           const Operand &operand, Value numbers, Value batch,
                           Value head, Value row, Value column) const {
  SmallVector<Value, 4> indices;
  for (auto [dim, letter] : llvm::enumerate(op.getOrder())) {
    Value at = letter == 'b'   ? batch
               : letter == 'h' ? head
               : letter == 's' ? row
                               : column;
    indices.push_back(
        operand.scales->getPlace(builder, loc, static_cast<int64_t>(dim), at));
  }
  return memref::LoadOp::create(builder, loc, numbers, indices);
}

void OperandFactors::enterTile(ImplicitLocOpBuilder &b, const Place &tile,
                               const KeySource &keys) {
  place = tile;
  source = &keys;
  sharedOfScores = sharedOfResults = sharedZero = {};
  Location loc = b.getLoc();
  Value zero = arith::ConstantIndexOp::create(b, 0);
  if (query.scales && !variesByRow())
    sharedOfScores =
        load(b, loc, query, query.buffer, place.batchQ, place.headQ, zero);
  if (key.scales && !variesByKey(key))
    sharedOfScores = multiply(
        b, loc, sharedOfScores,
        load(b, loc, key, key.buffer, place.batchK, place.headK, zero));
  if (key.zeros && !variesByKey(key))
    sharedZero = load(b, loc, key, key.zeros, place.batchK, place.headK, zero);
  if (ofResults() && !varies(value, 'd'))
    sharedOfResults =
        load(b, loc, value, value.buffer, place.batchK, place.headK, zero);
}

Value OperandFactors::loadOfKey(OpBuilder &inner, Location loc,
                                const Operand &operand, Value numbers,
                                const KeySource::Block &block,
                                Value column) const {
  Value number = source->getKey(inner, loc, block, column, /*clamp=*/true);
  auto [batch, row] = source->locate(inner, loc, number);
  return load(inner, loc, operand, numbers, batch, place.headK, row);
}

Value OperandFactors::getOfScore(OpBuilder &inner, Location loc,
                                 const KeySource::Block &block,
                                 LocateRow locateRow, Value column,
                                 Value ofKey) const {
  Value factor = sharedOfScores;
  if (query.scales && variesByRow()) {
    auto [head, row] = locateRow();
    if (place.rows)
      row = elementPosition(inner, loc, place.rows, row, place.capacity,
                            /*clamp=*/true);
    factor = multiply(
        inner, loc, factor,
        load(inner, loc, query, query.buffer, place.batchQ, head, row));
  }
  if (key.scales && variesByKey(key))
    factor = multiply(
        inner, loc, factor,
        ofKey ? ofKey : loadOfKey(inner, loc, key, key.buffer, block, column));
  return factor;
}

KeyRows OperandFactors::read(TileBuilder &b, const KeySource::Block &block,
                             int64_t keys) const {
  auto type = tile::TileType::get({keys}, b.getF32Type());
  auto readRow = [&](const Operand &operand, Value numbers,
                     bool ofWeights) -> Value {
    if (!numbers || !operand.scales || !variesByKey(operand))
      return {};
    return b.map(
        type, ValueRange(),
        [&](OpBuilder &inner, Location loc, ValueRange args) -> Value {
          Value number =
              loadOfKey(inner, loc, operand, numbers, block, args[0]);
          if (!ofWeights)
            return number;
          // Of keys that are not seen, it may be anything, but their weights
          // are to stay 0.
          Value isFinite = arith::CmpFOp::create(
              inner, loc, arith::CmpFPredicate::OLE,
              math::AbsFOp::create(inner, loc, number),
              constantF32(inner, loc, std::numeric_limits<float>::max()));
          return arith::SelectOp::create(inner, loc, isFinite, number,
                                         constantF32(inner, loc, 0));
        });
  };
  return {readRow(key, key.buffer, /*ofWeights=*/false),
          readRow(key, key.zeros, /*ofWeights=*/false),
          readRow(value, value.buffer, /*ofWeights=*/true),
          readRow(value, value.zeros, /*ofWeights=*/true)};
}

void OperandFactors::handOver(TileBuilder &b, KeyRows &rows) {
  for (Value *row : {&rows.ofScores, &rows.zerosOfScores, &rows.ofWeights,
                     &rows.zerosOfWeights})
    if (*row)
      *row = tile::HandOverOp::create(b, *row, uint64_t(kRestagedStages),
                                      b.getStringAttr("restage"));
}

Value OperandFactors::getOfWeight(OpBuilder &inner, Location loc,
                                  const KeySource::Block &block,
                                  Value column) const {
  return loadOfKey(inner, loc, value, value.buffer, block, column);
}

Value OperandFactors::getZeroOfScore(OpBuilder &inner, Location loc,
                                     const KeySource::Block &block,
                                     Value column) const {
  return sharedZero ? sharedZero
                    : loadOfKey(inner, loc, key, key.zeros, block, column);
}

Value OperandFactors::getZeroOfWeight(OpBuilder &inner, Location loc,
                                      const KeySource::Block &block,
                                      Value column) const {
  if (variesByKey(value))
    return loadOfKey(inner, loc, value, value.zeros, block, column);
  return constantF32(inner, loc, 1);
}

Value OperandFactors::getZeroOfResult(OpBuilder &inner, Location loc,
                                      Value column) const {
  if (variesByKey(value))
    return constantF32(inner, loc, 1);
  return loadOfResult(inner, loc, value.zeros, column);
}

Value OperandFactors::getOfResult(OpBuilder &inner, Location loc,
                                  Value column) const {
  return sharedOfResults ? sharedOfResults
                         : loadOfResult(inner, loc, value.buffer, column);
}

Value OperandFactors::loadOfResult(OpBuilder &inner, Location loc,
                                   Value numbers, Value column) const {
  Value zero = arith::ConstantIndexOp::create(inner, loc, 0),
        columns = arith::ConstantIndexOp::create(inner, loc, op.getHeadDimV());
  // Tiles are as wide as instructions are.
  column = elementPosition(inner, loc, column, zero, columns, /*clamp=*/true);
  return load(inner, loc, value, numbers, place.batchK, place.headK, zero,
              column);
}
