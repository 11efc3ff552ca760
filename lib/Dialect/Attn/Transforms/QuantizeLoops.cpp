// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reference of attn.quantize: of the rows that share a scale first their
// maximum, and then their quotients, which are rounded if 8 bits are written.

#include "AttnLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace attune::attn;

namespace {
class QuantizeEmitter : public NarrowEmitter {
public:
  QuantizeEmitter(RewriterBase &rewriter, QuantizeOp op,
                  ReferencePrecision output)
      : NarrowEmitter(rewriter, op, op.getOrder(),
                      getElementTypeOrSelf(op.getQuantized()), op.getPacked(),
                      output),
        op(op) {}

  void emit();

private:
  void emitBlock(ValueRange block);
  /// The mean of all rows of a head, rotated if they are to be.
  Value makeMean(Value b, Value h);
  /// A row as it is quantized, but for the mean, and then with it.
  Value loadRotated(Value b, Value h, Value s);
  Value loadRow(Value b, Value h, Value s);
  /// The sum of the rows of the matrix, each times an element.
  Value multiplyByHadamard(ArrayRef<Value> place);
  /// (-1)^popcount(i & j) for each column j.
  Value makeSigns(Value i);
  Value splat(Value scalar) {
    return NarrowEmitter::splat(scalar, op.getHeadDim());
  }

  QuantizeOp op;
  /// The mean is null where it stays.
  Value input, quantized, scales, mean;
  /// Null where there are no zero points.
  Value zeros;
};
} // namespace

Value RowEmitter::splat(Value scalar, int64_t count) {
  return vector::BroadcastOp::create(
      builder, VectorType::get(count, scalar.getType()), scalar);
}

Value RowEmitter::divide(Value elements, Value scale, double largest) {
  int64_t count = cast<VectorType>(elements.getType()).getNumElements();
  Value inverse =
      splat(arith::DivFOp::create(builder, createF32(1), scale), count);
  Value scaled = arith::MulFOp::create(builder, elements, inverse),
        most = splat(createF32(static_cast<float>(largest)), count);
  Value isBeyond =
      arith::CmpFOp::create(builder, arith::CmpFPredicate::OGT,
                            math::AbsFOp::create(builder, scaled), most);
  return arith::SelectOp::create(
      builder, isBeyond, math::CopySignOp::create(builder, most, scaled),
      scaled);
}

Value NarrowEmitter::addAmounts(Value carried, Value elements) {
  int64_t count = cast<VectorType>(elements.getType()).getNumElements();
  Value amounts = math::AbsFOp::create(builder, elements);
  Value infinity =
      splat(createF32(std::numeric_limits<float>::infinity()), count);
  Value isFinite = arith::CmpFOp::create(builder, arith::CmpFPredicate::OLT,
                                         amounts, infinity);
  Value known =
      arith::SelectOp::create(builder, isFinite, amounts, createZeros(count));
  return vector::ReductionOp::create(builder, vector::CombiningKind::MAXNUMF,
                                     known, carried);
}

Value NarrowEmitter::makeScale(Value amount) {
  Value quotient = arith::MaxNumFOp::create(
      builder, arith::DivFOp::create(builder, amount, createF32(getLargest())),
      createF32(std::numeric_limits<float>::min()));
  Value isZero = arith::CmpFOp::create(builder, arith::CmpFPredicate::OEQ,
                                       amount, createF32(0));
  return arith::SelectOp::create(builder, isZero, createF32(1), quotient);
}

std::pair<Value, Value> NarrowEmitter::makeNoExtremes() {
  float most = std::numeric_limits<float>::max();
  return {createF32(most), createF32(-most)};
}

std::pair<Value, Value>
NarrowEmitter::addExtremes(std::pair<Value, Value> carried, Value elements) {
  int64_t count = cast<VectorType>(elements.getType()).getNumElements();
  Value infinity =
      splat(createF32(std::numeric_limits<float>::infinity()), count);
  Value isFinite =
      arith::CmpFOp::create(builder, arith::CmpFPredicate::OLT,
                            math::AbsFOp::create(builder, elements), infinity);
  auto reduce = [&](vector::CombiningKind kind, Value other) -> Value {
    Value known = arith::SelectOp::create(builder, isFinite, elements,
                                          splat(other, count));
    return vector::ReductionOp::create(builder, kind, known, other);
  };
  return {reduce(vector::CombiningKind::MINNUMF, carried.first),
          reduce(vector::CombiningKind::MAXNUMF, carried.second)};
}

std::pair<Value, Value>
NarrowEmitter::makeZero(std::pair<Value, Value> extremes) {
  Value low = extremes.first, high = extremes.second;
  double least = getLeastNumber(isPacked);
  Value steps = createF32(static_cast<float>(getLargest() - least));
  // Each apart, for their difference may be too large.
  Value quotient = arith::MaxNumFOp::create(
      builder,
      arith::SubFOp::create(builder,
                            arith::DivFOp::create(builder, high, steps),
                            arith::DivFOp::create(builder, low, steps)),
      createF32(std::numeric_limits<float>::min()));
  auto compare = [&](arith::CmpFPredicate predicate) -> Value {
    return arith::CmpFOp::create(builder, predicate, high, low);
  };
  Value scale =
            arith::SelectOp::create(builder, compare(arith::CmpFPredicate::OGT),
                                    quotient, createF32(1)),
        first = arith::SelectOp::create(
            builder, compare(arith::CmpFPredicate::OLT), createF32(0), low);
  Value zero = arith::SubFOp::create(
      builder, createF32(static_cast<float>(least)),
      arith::MulFOp::create(
          builder, first, arith::DivFOp::create(builder, createF32(1), scale)));
  return {scale, zero};
}

Value NarrowEmitter::quantize(Value elements, Value scale, Value zero) {
  int64_t count = cast<VectorType>(elements.getType()).getNumElements();
  if (zero) {
    Value inverse =
        splat(arith::DivFOp::create(builder, createF32(1), scale), count);
    Value scaled = arith::MulFOp::create(builder, elements, inverse);
    Value moved = arith::AddFOp::create(builder, scaled, splat(zero, count));
    Value bounded = arith::MinNumFOp::create(
        builder, splat(createF32(getLargest()), count),
        arith::MaxNumFOp::create(
            builder, moved,
            splat(createF32(static_cast<float>(getLeastNumber(isPacked))),
                  count)));
    Value isNumber =
        arith::CmpFOp::create(builder, arith::CmpFPredicate::ORD, moved, moved);
    return arith::SelectOp::create(builder, isNumber, bounded,
                                   createZeros(count));
  }
  Value known = divide(elements, scale, getLargest());
  if (isa<FloatType>(narrow))
    return known;
  Value isNumber =
      arith::CmpFOp::create(builder, arith::CmpFPredicate::ORD, known, known);
  return arith::SelectOp::create(builder, isNumber, known, createZeros(count));
}

Value NarrowEmitter::loadNarrow(Value buffer, SmallVector<Value, 4> indices,
                                int64_t count) {
  return isPacked ? loadPacked(buffer, std::move(indices), count)
                  : loadF32(buffer, std::move(indices), count);
}

void NarrowEmitter::storeNarrow(Value elements, Value buffer,
                                SmallVector<Value, 4> indices) {
  auto type = cast<MemRefType>(buffer.getType());
  if (!type.getElementType().isInteger())
    return store(elements, buffer, std::move(indices));
  Value rounded = math::RoundEvenOp::create(builder, elements);
  Value integers = arith::FPToSIOp::create(
      builder, withElement(rounded, builder.getI8Type()), rounded);
  if (!isPacked)
    return store(integers, buffer, std::move(indices));
  int64_t half = cast<VectorType>(elements.getType()).getNumElements() / 2;
  SmallVector<int64_t> columns(half);
  std::iota(columns.begin(), columns.end(), 0);
  Value lower = vector::ShuffleOp::create(builder, integers, integers, columns);
  std::iota(columns.begin(), columns.end(), half);
  Value upper = vector::ShuffleOp::create(builder, integers, integers, columns);
  auto constant = [&](int64_t value) {
    return splat(arith::ConstantIntOp::create(builder, value, 8), half);
  };
  Value bytes = arith::OrIOp::create(
      builder, arith::AndIOp::create(builder, lower, constant(15)),
      arith::ShLIOp::create(builder, upper, constant(4)));
  store(bytes, buffer, std::move(indices));
}

Value QuantizeEmitter::makeSigns(Value i) {
  int64_t count = op.getHeadDim();
  SmallVector<int32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  Value columns =
      arith::ConstantOp::create(builder, builder.getI32VectorAttr(numbers));
  Value word = arith::IndexCastOp::create(builder, builder.getI32Type(), i);
  Value bits = arith::AndIOp::create(builder, columns, splat(word));
  auto constant = [&](int64_t value) {
    return splat(arith::ConstantIntOp::create(builder, value, 32));
  };
  // The parity of the bits, in the last one.
  for (int64_t shift : {16, 8, 4, 2, 1})
    bits = arith::XOrIOp::create(
        builder, bits, arith::ShRUIOp::create(builder, bits, constant(shift)));
  Value isOdd = arith::CmpIOp::create(
      builder, arith::CmpIPredicate::ne,
      arith::AndIOp::create(builder, bits, constant(1)), constant(0));
  return arith::SelectOp::create(builder, isOdd, splat(createF32(-1)),
                                 splat(createF32(1)));
}

Value QuantizeEmitter::multiplyByHadamard(ArrayRef<Value> place) {
  int64_t count = op.getHeadDim();
  auto loop = scf::ForOp::create(builder, zero, createIndex(count), one,
                                 createZeros(count));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value i = loop.getInductionVar();
  SmallVector<Value, 4> indices(place);
  indices[find('d')] = i;
  Value number = memref::LoadOp::create(builder, input, indices);
  if (!number.getType().isF32())
    number = arith::ExtFOp::create(builder, builder.getF32Type(), number);
  Value sum = addMultiple(loop.getRegionIterArg(0), number, makeSigns(i));
  scf::YieldOp::create(builder, sum);
  builder.setInsertionPointAfter(loop);
  auto norm = static_cast<float>(1 / std::sqrt(static_cast<double>(count)));
  return arith::MulFOp::create(builder, loop.getResult(0),
                               splat(createF32(norm)));
}

Value QuantizeEmitter::loadRotated(Value b, Value h, Value s) {
  SmallVector<Value, 4> place = getIndices(b, h, s);
  if (op.getRotate())
    return multiplyByHadamard(place);
  return loadF32(input, place, op.getHeadDim());
}

Value QuantizeEmitter::makeMean(Value b, Value h) {
  Value rows = getSize(input, find('s'));
  auto loop = scf::ForOp::create(builder, zero, rows, one,
                                 createZeros(op.getHeadDim()));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value row = loadRotated(b, h, loop.getInductionVar());
  Value sum = arith::AddFOp::create(builder, loop.getRegionIterArg(0), row);
  scf::YieldOp::create(builder, sum);
  builder.setInsertionPointAfter(loop);
  Value count = arith::UIToFPOp::create(
      builder, builder.getF32Type(),
      arith::IndexCastOp::create(builder, builder.getI32Type(), rows));
  return arith::DivFOp::create(builder, loop.getResult(0), splat(count));
}

Value QuantizeEmitter::loadRow(Value b, Value h, Value s) {
  Value row = loadRotated(b, h, s);
  return mean ? arith::SubFOp::create(builder, row, mean) : row;
}

void QuantizeEmitter::emitBlock(ValueRange block) {
  Value b = block[0], h = block[1], rows = getSize(input, find('s'));
  if (op.getSmooth())
    mean = makeMean(b, h);
  Value first = zero, end = rows;
  if (int64_t size = op.getBlockRows(); ShapedType::isStatic(size)) {
    first = arith::MulIOp::create(builder, block[2], createIndex(size));
    end = arith::MinUIOp::create(
        builder, arith::AddIOp::create(builder, first, createIndex(size)),
        rows);
  }
  OpBuilder::InsertionGuard guard(builder);
  Value scale, zeroPoint;
  if (zeros) {
    auto [least, most] = makeNoExtremes();
    auto search =
        scf::ForOp::create(builder, first, end, one, ValueRange{least, most});
    builder.setInsertionPointToStart(search.getBody());
    auto [low, high] =
        addExtremes({search.getRegionIterArg(0), search.getRegionIterArg(1)},
                    loadRow(b, h, search.getInductionVar()));
    scf::YieldOp::create(builder, ValueRange{low, high});
    builder.setInsertionPointAfter(search);
    std::tie(scale, zeroPoint) =
        makeZero({search.getResult(0), search.getResult(1)});
    memref::StoreOp::create(builder, zeroPoint, zeros,
                            getIndices(b, h, block[2]));
  } else {
    auto search = scf::ForOp::create(builder, first, end, one, createF32(0));
    builder.setInsertionPointToStart(search.getBody());
    scf::YieldOp::create(builder,
                         addAmounts(search.getRegionIterArg(0),
                                    loadRow(b, h, search.getInductionVar())));
    builder.setInsertionPointAfter(search);
    scale = makeScale(search.getResult(0));
  }
  memref::StoreOp::create(builder, scale, scales, getIndices(b, h, block[2]));
  auto loop = scf::ForOp::create(builder, first, end, one);
  builder.setInsertionPointToStart(loop.getBody());
  Value s = loop.getInductionVar();
  storeNarrow(NarrowEmitter::quantize(loadRow(b, h, s), scale, zeroPoint),
              quantized, getIndices(b, h, s));
}

void QuantizeEmitter::emit() {
  builder.setInsertionPoint(op);
  input = toBuffer(op.getInput());
  zero = createIndex(0);
  one = createIndex(1);
  Value b = getSize(input, find('b')), h = getSize(input, find('h')),
        s = getSize(input, find('s'));
  auto type = cast<RankedTensorType>(op.getQuantized().getType());
  // Each number is one of its own there, also of those in a byte.
  if (output == ReferencePrecision::F32)
    type = RankedTensorType::get(op.getInputType().getShape(),
                                 builder.getF32Type());
  quantized = allocate(type, getIndices(b, h, s));
  Value blocks = one;
  if (int64_t block = op.getBlockRows(); ShapedType::isStatic(block))
    blocks = builder.createOrFold<arith::CeilDivUIOp>(s, createIndex(block));
  scales = allocate(op.getScales().getType(), getIndices(b, h, blocks));
  if (op.getZeros())
    zeros = allocate(op.getScales().getType(), getIndices(b, h, blocks));
  auto loop = scf::ParallelOp::create(builder, ValueRange{zero, zero, zero},
                                      ValueRange{b, h, blocks},
                                      ValueRange{one, one, one});
  builder.setInsertionPointToStart(loop.getBody());
  emitBlock(loop.getInductionVars());
  builder.setInsertionPointAfter(loop);
  SmallVector<Value> results{toTensor(quantized), toTensor(scales)};
  if (zeros)
    results.push_back(toTensor(zeros));
  rewriter.replaceOp(op, results);
}

void attune::attn::emitQuantizeLoops(RewriterBase &rewriter, QuantizeOp op,
                                     ReferencePrecision output) {
  QuantizeEmitter(rewriter, op, output).emit();
}
