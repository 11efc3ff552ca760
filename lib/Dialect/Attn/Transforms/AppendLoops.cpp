// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reference of attn.append: a copy of the pool, and then, over it, the rows
// of tokens that have a slot.

#include "AttnLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace attune::attn;

namespace {
class AppendEmitter : public NarrowEmitter {
public:
  AppendEmitter(RewriterBase &rewriter, AppendOp op, ReferencePrecision output)
      : NarrowEmitter(rewriter, op, "bshd", op.getPoolType().getElementType(),
                      op.getPacked(), output),
        op(op) {}

  void emit();

private:
  /// A buffer that becomes a result, like that of an operand.
  Value allocateLike(Value buffer, RankedTensorType type);
  /// The loop in which pool and scales are copied.
  void emitCopy();
  /// What a token writes for a head, at a place of the pool.
  void emitRow(Value token, Value head, Value page, Value row);
  Value rotate(Value row, Value token);
  /// An integer of a token as an index: a large one of what is below 0.
  Value loadIndex(Value buffer, Value token) {
    return arith::IndexCastOp::create(
        builder, builder.getIndexType(),
        memref::LoadOp::create(builder, buffer, token));
  }
  scf::ParallelOp startLoop(ArrayRef<Value> sizes) {
    auto loop = scf::ParallelOp::create(builder, ValueRange{zero, zero, zero},
                                        sizes, ValueRange{one, one, one});
    builder.setInsertionPointToStart(loop.getBody());
    return loop;
  }

  AppendOp op;
  /// A number of a head, or of all.
  Value loadGiven(Value numbers, Value head) {
    bool isOne = cast<MemRefType>(numbers.getType()).getDimSize(2) == 1;
    return memref::LoadOp::create(
        builder, numbers, ValueRange{zero, zero, isOne ? zero : head, zero});
  }

  Value rows, slots, cos, sin, positions, scales, zeros, pool, rowScales,
      rowZeros;
  /// Null where rows have none.
  Value newPool, newScales, newZeros;
};
} // namespace

Value AppendEmitter::allocateLike(Value buffer, RankedTensorType type) {
  SmallVector<Value> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    sizes.push_back(getSize(buffer, dim));
  return allocate(type.dropEncoding(), sizes);
}

void AppendEmitter::emitCopy() {
  scf::ParallelOp loop =
      startLoop({getSize(pool, 0), getSize(pool, 1), getSize(pool, 2)});
  SmallVector<Value, 4> place(loop.getInductionVars());
  place.push_back(zero);
  storeNarrow(loadNarrow(pool, place, op.getHeadDim()), newPool, place);
  for (auto [from, to] :
       {std::pair(rowScales, newScales), {rowZeros, newZeros}})
    if (from)
      memref::StoreOp::create(
          builder, memref::LoadOp::create(builder, from, place), to, place);
  builder.setInsertionPointAfter(loop);
}

/// Each element times a cosine, and its partner times a sine, less than 0 for
/// the first of a pair.
Value AppendEmitter::rotate(Value row, Value token) {
  int64_t pairs = op.getRotatedPairs(), count = op.getHeadDim();
  Value last = arith::SubIOp::create(builder, getSize(cos, 0), one);
  Value position =
      arith::MinUIOp::create(builder, loadIndex(positions, token), last);
  SmallVector<int64_t> partners, angles;
  SmallVector<float> signs;
  SmallVector<bool> isRotated;
  for (int64_t d = 0; d < count; ++d) {
    bool rotated = d < 2 * pairs, isSecond = false;
    int64_t partner = d, angle = 0;
    if (rotated && op.getInterleaved()) {
      isSecond = d % 2 == 1;
      partner = isSecond ? d - 1 : d + 1;
      angle = d / 2;
    } else if (rotated) {
      isSecond = d >= pairs;
      partner = isSecond ? d - pairs : d + pairs;
      angle = d % pairs;
    }
    partners.push_back(partner);
    angles.push_back(angle);
    signs.push_back(isSecond ? 1 : -1);
    isRotated.push_back(rotated);
  }
  auto loadAngles = [&](Value table) -> Value {
    Value all = loadF32(table, {position, zero}, pairs);
    return vector::ShuffleOp::create(builder, all, all, angles);
  };
  Value partner = vector::ShuffleOp::create(builder, row, row, partners);
  Value sign = arith::ConstantOp::create(
      builder, DenseElementsAttr::get(cast<ShapedType>(row.getType()),
                                      ArrayRef<float>(signs)));
  Value straight = arith::MulFOp::create(builder, row, loadAngles(cos));
  Value across = arith::MulFOp::create(
      builder, partner, arith::MulFOp::create(builder, sign, loadAngles(sin)));
  Value sum = arith::AddFOp::create(builder, straight, across);
  Value mask = arith::ConstantOp::create(
      builder,
      DenseElementsAttr::get(VectorType::get(count, builder.getI1Type()),
                             ArrayRef<bool>(isRotated)));
  return arith::SelectOp::create(builder, mask, sum, row);
}

void AppendEmitter::emitRow(Value token, Value head, Value page, Value row) {
  SmallVector<Value, 4> place{page, row, head, zero};
  Value elements = loadF32(rows, {token, head, zero}, op.getHeadDim());
  if (cos)
    elements = rotate(elements, token);
  Value scale, point;
  if (rowZeros)
    std::tie(scale, point) = makeZero(addExtremes(makeNoExtremes(), elements));
  else if (rowScales)
    scale = makeScale(addAmounts(createF32(0), elements));
  else if (scales)
    scale = loadGiven(scales, head);
  if (zeros)
    point = loadGiven(zeros, head);
  for (auto [number, to] : {std::pair(scale, newScales), {point, newZeros}})
    if (to)
      memref::StoreOp::create(builder, number, to, place);
  storeNarrow(scale ? quantize(elements, scale, point) : elements, newPool,
              place);
}

void AppendEmitter::emit() {
  builder.setInsertionPoint(op);
  auto find = [&](Value tensor) { return tensor ? toBuffer(tensor) : Value(); };
  rows = toBuffer(op.getRows());
  slots = toBuffer(op.getSlots());
  cos = find(op.getCos());
  sin = find(op.getSin());
  positions = find(op.getPositions());
  scales = find(op.getScales());
  zeros = find(op.getZeros());
  pool = toBuffer(op.getPool());
  rowScales = find(op.getRowScales());
  rowZeros = find(op.getRowZeros());
  zero = createIndex(0);
  one = createIndex(1);
  RankedTensorType type = op.getPoolType();
  if (output == ReferencePrecision::F32)
    // Each number is one of its own there, also of those in a byte.
    type = RankedTensorType::get({type.getDimSize(0), type.getDimSize(1),
                                  type.getDimSize(2), op.getHeadDim()},
                                 builder.getF32Type());
  newPool = allocateLike(pool, type);
  for (auto [from, to, tensor] :
       {std::tuple(rowScales, &newScales, Value(op.getRowScales())),
        {rowZeros, &newZeros, Value(op.getRowZeros())}})
    if (from)
      *to = allocateLike(from, cast<RankedTensorType>(tensor.getType()));
  emitCopy();

  Value pageSize = getSize(pool, 1),
        places = arith::MulIOp::create(builder, getSize(pool, 0), pageSize);
  scf::ParallelOp loop = startLoop({getSize(rows, 0), getSize(rows, 1), one});
  Value token = loop.getInductionVars()[0], head = loop.getInductionVars()[1],
        slot = loadIndex(slots, token);
  // Unsigned: what is below 0 is no slot either.
  Value exists =
      arith::CmpIOp::create(builder, arith::CmpIPredicate::ult, slot, places);
  auto branch = scf::IfOp::create(builder, exists, /*withElseRegion=*/false);
  builder.setInsertionPointToStart(branch.thenBlock());
  emitRow(token, head, arith::DivUIOp::create(builder, slot, pageSize),
          arith::RemUIOp::create(builder, slot, pageSize));
  builder.setInsertionPointAfter(loop);
  SmallVector<Value> results{toTensor(newPool)};
  for (Value numbers : {newScales, newZeros})
    if (numbers)
      results.push_back(toTensor(numbers));
  rewriter.replaceOp(op, results);
}

void attune::attn::emitAppendLoops(RewriterBase &rewriter, AppendOp op,
                                   ReferencePrecision output) {
  AppendEmitter(rewriter, op, output).emit();
}
