// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verification and types of attn.append.

#include "attune/Dialect/Attn/IR/Attn.h"

using namespace mlir;
using namespace attune::attn;

void AppendOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getNewPool(), "pool");
  if (getNewScales())
    setName(getNewScales(), "scales");
  if (getNewZeros())
    setName(getNewZeros(), "zeros");
}

LogicalResult AppendOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getPool().getType());
  if (adaptor.getRowScales())
    types.push_back(adaptor.getRowScales().getType());
  if (adaptor.getRowZeros())
    types.push_back(adaptor.getRowZeros().getType());
  return success();
}

MutableOperandRange AppendOp::getDpsInitsMutable() {
  // The last operands.
  unsigned count = 1 + (getRowScales() ? 1 : 0) + (getRowZeros() ? 1 : 0);
  return {getOperation(), getNumOperands() - count, count};
}

int64_t AppendOp::getRotatedPairs() {
  return getCos() ? getCos().getType().getDimSize(1) : 0;
}

/// The sizes that no kernel could count, or pad.
static LogicalResult verifySizes(AppendOp op) {
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  for (RankedTensorType type : {op.getRowsType(), op.getPoolType()})
    for (int64_t size : type.getShape())
      if (ShapedType::isStatic(size) && size > most)
        return op.emitOpError("expects sizes of at most ")
               << most << ", but got " << size;
  int64_t headDim = op.getHeadDim();
  if (ShapedType::isDynamic(headDim))
    return op.emitOpError("expects the head size to be static, but got `?`");
  if (headDim < 1)
    return op.emitOpError("expects the head size to be at least 1, but got ")
           << headDim;
  return success();
}

static LogicalResult verifyRotary(AppendOp op) {
  if (!op.getSin() != !op.getCos() || !op.getPositions() != !op.getCos())
    return op.emitOpError("expects cosines, sines and positions of rotary, but "
                          "got only some of them");
  if (!op.getCos()) {
    if (op.getInterleaved())
      return op.emitOpError("expects pairs that are interleaved to be rotated, "
                            "but got no rotary");
    return success();
  }
  auto cos = cast<RankedTensorType>(op.getCos().getType()).dropEncoding(),
       sin = cast<RankedTensorType>(op.getSin().getType()).dropEncoding();
  if (cos != sin)
    return op.emitOpError("expects tables of rotary of one type, but got ")
           << cos << " and " << sin;
  Type element = op.getRowsType().getElementType();
  if (!cos.getElementType().isF32() && cos.getElementType() != element) {
    InFlightDiagnostic diagnostic =
        op.emitOpError("expects tables of rotary of 'f32'");
    if (!element.isF32())
      diagnostic << " or " << element;
    return diagnostic << ", but got " << cos.getElementType();
  }
  int64_t most = op.getHeadDim() / 2, columns = cos.getDimSize(1);
  if (ShapedType::isStatic(columns) && columns >= 1 && columns <= most) {
    int64_t tokens = op.getRowsType().getDimSize(0),
            positions = op.getPositions().getType().getDimSize(0);
    if (positions == tokens)
      return success();
    return op.emitOpError("expects a position for each token of ")
           << op.getRowsType() << ", but got " << op.getPositions().getType();
  }
  InFlightDiagnostic diagnostic =
      op.emitOpError("expects a table of rotary to have from 1 to ")
      << most << " columns, but got ";
  if (ShapedType::isDynamic(columns))
    return diagnostic << "`?`";
  return diagnostic << columns;
}

/// That rows fit the pool, and its type holds them.
static LogicalResult verifyPool(AppendOp op) {
  RankedTensorType rows = op.getRowsType(), pool = op.getPoolType();
  SmallVector<int64_t> shape(rows.getShape().drop_front());
  if (op.getPacked()) { // append_c8
    if (!pool.getElementType().isInteger(8))
      return op.emitOpError("expects a packed pool of i8, but got ")
             << pool.getElementType();
    if (shape.back() % kPackedColumns != 0)
      return op.emitOpError("expects a head size that is a multiple of ")
             << kPackedColumns << " to be packed, but got " << shape.back();
    shape.back() /= 2;
  }
  if (ArrayRef(shape) == pool.getShape().drop_front(2)) // append_c2
    return success();
  InFlightDiagnostic diagnostic = op.emitOpError(
      "expects rows and pool to have equal heads and head sizes");
  if (op.getPacked())
    diagnostic << ", of the pool half";
  return diagnostic << ", but got " << rows << " and " << pool;
}

/// That pairs, and columns that share bytes, are found in whole tiles.
static LogicalResult verifyPackedRotary(AppendOp op) {
  constexpr int64_t kUnit = kPackedColumns / 2;
  int64_t pairs = op.getRotatedPairs();
  if (!op.getPacked() || pairs % kUnit == 0)
    return success();
  return op.emitOpError("expects a table of rotary to have a multiple of ")
         << kUnit << " columns where rows are packed, but got " << pairs;
}

static LogicalResult verifyScales(AppendOp op) {
  RankedTensorType pool = op.getPoolType();
  Type element = pool.getElementType();
  bool isNarrow = element.getIntOrFloatBitWidth() == 8;
  if (op.getScales() && op.getRowScales()) // append_c5
    return op.emitOpError(
        "expects scales that are given, or those of rows, but got both");
  if (!op.getScales() && !op.getRowScales()) {
    if (isNarrow)
      return op.emitOpError("expects scales of a pool of ")
             << element << ", but got none";
    return success();
  }
  if (!isNarrow)
    return op.emitOpError("expects scales of a pool of 8 bits alone, but got "
                          "some of ")
           << element;
  auto f32 = Float32Type::get(op.getContext());
  if (op.getRowScales()) { // append_c7
    SmallVector<int64_t> shape(pool.getShape());
    shape.back() = 1;
    RankedTensorType wanted = RankedTensorType::get(shape, f32),
                     scales =
                         cast<RankedTensorType>(op.getRowScales().getType())
                             .dropEncoding();
    if (scales == wanted)
      return success();
    return op.emitOpError("expects scales of rows to be ")
           << wanted << ", but got " << scales;
  }
  RankedTensorType // append_c6
      one = RankedTensorType::get({1, 1, 1, 1}, f32),
      ofHeads = RankedTensorType::get({1, 1, pool.getDimSize(2), 1}, f32),
      scales = cast<RankedTensorType>(op.getScales().getType()).dropEncoding();
  if (scales == one || scales == ofHeads)
    return success();
  return op.emitOpError("expects scales to be ")
         << one << " or " << ofHeads << ", but got " << scales;
}

static LogicalResult verifyZeros(AppendOp op) { // append_c9
  for (auto [zeros, scales, name] :
       {std::tuple<Value, Value, StringRef>{op.getZeros(), op.getScales(),
                                            "scales"},
        {op.getRowZeros(), op.getRowScales(), "scales of rows"}}) {
    if (!zeros)
      continue;
    Type element = op.getPoolType().getElementType();
    if (!element.isInteger(8))
      return op.emitOpError("expects zero points of a pool of i8, but got ")
             << element;
    if (!scales)
      return op.emitOpError("expects ")
             << name << " beside their zero points, but got none";
    auto ofZeros = cast<RankedTensorType>(zeros.getType()).dropEncoding(),
         ofScales = cast<RankedTensorType>(scales.getType()).dropEncoding();
    if (ofZeros != ofScales)
      return op.emitOpError("expects a zero point for each of ")
             << name << ", " << ofScales << ", but got " << ofZeros;
  }
  return success();
}

LogicalResult AppendOp::verify() {
  RankedTensorType rows = getRowsType();
  if (failed(verifySizes(*this))) // append_c1
    return failure();
  if (failed(verifyPool(*this)))
    return failure();
  if (getSlots().getType().getDimSize(0) != rows.getDimSize(0)) // append_c3
    return emitOpError("expects a slot for each token of ")
           << rows << ", but got " << getSlots().getType();
  if (failed(verifyRotary(*this)) || // append_c4
      failed(verifyPackedRotary(*this)) || failed(verifyScales(*this)) ||
      failed(verifyZeros(*this)))
    return failure();
  return detail::verifyEncodings(*this);
}
