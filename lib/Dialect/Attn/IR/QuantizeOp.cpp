// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verification and shapes of attn.quantize.

#include "attune/Dialect/Attn/IR/Attn.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attune::attn;

double attune::attn::getLargestNumber(Type element, bool isPacked) {
  constexpr double kLargest8 = 127, kLargest4 = 7;
  if (auto format = dyn_cast<FloatType>(element))
    return APFloat::getLargest(format.getFloatSemantics()).convertToDouble();
  return isPacked ? kLargest4 : kLargest8;
}

double attune::attn::getLeastNumber(bool isPacked) {
  return isPacked ? -8 : -128;
}

void QuantizeOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getQuantized(), "quantized");
  setName(getScales(), "scales");
  if (getZeros())
    setName(getZeros(), "zeros");
}

int64_t QuantizeOp::getBlockRows() {
  int64_t block = getBlocks() ? (*getBlocks())[getSeqPos()] : 1,
          rows = getInputType().getDimSize(getSeqPos());
  bool isShared = getScales().getType().getDimSize(getSeqPos()) == 1;
  // One block is all rows there are.
  bool isOneBlock = ShapedType::isStatic(rows) && rows <= block;
  return isShared && !isOneBlock ? ShapedType::kDynamic : block;
}

LogicalResult
QuantizeOp::reifyResultShapes(OpBuilder &builder,
                              ReifiedRankedShapedTypeDims &shapes) {
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(builder, getLoc(), getInput());
  sizes[getHeadDimPos()] = builder.getIndexAttr(
      getQuantized().getType().getDimSize(getHeadDimPos()));
  shapes.push_back(sizes);
  OpFoldResult one = builder.getIndexAttr(1);
  sizes[getHeadDimPos()] = one;
  int64_t dim = getSeqPos(), count = getScales().getType().getDimSize(dim),
          block = getBlockRows();
  if (ShapedType::isStatic(count))
    sizes[dim] = builder.getIndexAttr(count);
  else if (block != 1)
    sizes[dim] = arith::CeilDivUIOp::create(
                     builder, getLoc(), cast<Value>(sizes[dim]),
                     arith::ConstantIndexOp::create(builder, getLoc(), block))
                     .getResult();
  shapes.push_back(sizes);
  if (getZeros())
    shapes.push_back(sizes);
  return success();
}

/// The sizes that no kernel could count, or pad.
static LogicalResult verifySizes(QuantizeOp op) {
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  for (int64_t size : op.getInputType().getShape()) // quantize_c2
    if (ShapedType::isStatic(size) && size > most)
      return op.emitOpError("expects sizes of at most ")
             << most << ", but got " << size;
  int64_t headDim = op.getHeadDim(); // quantize_c3
  if (ShapedType::isDynamic(headDim))
    return op.emitOpError("expects the head size to be static, but got `?`");
  if (headDim < 1)
    return op.emitOpError("expects the head size to be at least 1, but got ")
           << headDim;
  if (op.getRotate() && !llvm::isPowerOf2_64(headDim)) // quantize_c7
    return op.emitOpError(
               "expects a head size that is a power of 2 to rotate, but got ")
           << headDim;
  return success();
}

/// That the result has the shape of the input, and a type that holds it.
static LogicalResult verifyQuantized(QuantizeOp op) {
  RankedTensorType quantized = op.getQuantized().getType().dropEncoding();
  SmallVector<int64_t> shape(op.getInputType().getShape());
  if (op.getPacked()) { // quantize_c8
    if (!quantized.getElementType().isInteger(8))
      return op.emitOpError("expects a packed tensor of i8, but got ")
             << quantized.getElementType();
    if (shape[op.getHeadDimPos()] % kPackedColumns != 0)
      return op.emitOpError("expects a head size that is a multiple of ")
             << kPackedColumns << " to be packed, but got "
             << shape[op.getHeadDimPos()];
    shape[op.getHeadDimPos()] /= 2;
  }
  if (quantized.getShape() == ArrayRef(shape)) // quantize_c4
    return success();
  InFlightDiagnostic diagnostic =
      op.emitOpError("expects a quantized tensor of the shape of ")
      << op.getInputType();
  if (op.getPacked())
    diagnostic << ", with half the head size";
  return diagnostic << ", but got " << op.getQuantized().getType();
}

static LogicalResult verifyBlocks(QuantizeOp op) {
  if (!op.getBlocks())
    return success();
  ArrayRef<int64_t> blocks = *op.getBlocks();
  if (blocks.size() != 4)
    return op.emitOpError(
               "expects 4 sizes of blocks that share a scale, but got ")
           << blocks.size();
  for (int64_t size : blocks)
    if (size < 1)
      return op.emitOpError("expects sizes of blocks that share a scale of at "
                            "least 1, but got ")
             << size;
  for (int64_t dim : {op.getBatchPos(), op.getHeadPos()})
    if (blocks[dim] != 1)
      return op.emitOpError("expects rows that share a scale to be of one "
                            "batch and head, blocks of 1 along dimension ")
             << dim << ", but got " << blocks[dim];
  int64_t columns = blocks[op.getHeadDimPos()];
  if (columns != 1 && columns != op.getHeadDim())
    return op.emitOpError("expects rows to share a scale as a whole, blocks of "
                          "1 or ")
           << op.getHeadDim() << " along dimension " << op.getHeadDimPos()
           << ", but got " << columns;
  return success();
}

static LogicalResult verifyScales(QuantizeOp op) {
  RankedTensorType input = op.getInputType(), scales = op.getScales().getType();
  for (int64_t dim : {op.getBatchPos(), op.getHeadPos()})
    if (scales.getDimSize(dim) != input.getDimSize(dim))
      return op.emitOpError("expects a scale for each batch and head, ")
             << input << ", but got " << scales;
  int64_t columns = scales.getDimSize(op.getHeadDimPos());
  if (columns != 1)
    return op.emitOpError("expects scales to have 1 element along dimension ")
           << op.getHeadDimPos() << ", but got " << columns;
  int64_t dim = op.getSeqPos(), size = scales.getDimSize(dim),
          rows = input.getDimSize(dim);
  if (size == 1)
    return success();
  if (ShapedType::isDynamic(rows)) {
    if (ShapedType::isDynamic(size))
      return success();
    return op.emitOpError("expects scales of 1 element, or as many as are "
                          "known at run time, along dimension ")
           << dim << ", but got " << size;
  }
  int64_t blocks =
      llvm::divideCeilSigned(rows, op.getBlocks() ? (*op.getBlocks())[dim] : 1);
  if (size == blocks)
    return success();
  InFlightDiagnostic diagnostic = op.emitOpError("expects scales to have 1 or ")
                                  << blocks << " elements along dimension "
                                  << dim << ", but got ";
  if (ShapedType::isDynamic(size))
    return diagnostic << "`?`";
  return diagnostic << size;
}

static LogicalResult verifyZeros(QuantizeOp op) { // quantize_c9
  if (!op.getZeros())
    return success();
  Type element = getElementTypeOrSelf(op.getQuantized());
  if (!element.isInteger())
    return op.emitOpError("expects zero points of i8, but got some of ")
           << element;
  if (op.getZeros().getType().dropEncoding() ==
      op.getScales().getType().dropEncoding())
    return success();
  return op.emitOpError("expects a zero point for each scale, ")
         << op.getScales().getType() << ", but got " << op.getZeros().getType();
}

LogicalResult QuantizeOp::verify() {
  if (!AttentionOp::isValidOrder(getOrder())) // quantize_c1
    return emitOpError("expects order to be a permutation of the letters b, h, "
                       "s and d, but got '")
           << getOrder() << "'";
  if (failed(verifySizes(*this)) || failed(verifyQuantized(*this)) ||
      failed(verifyBlocks(*this)) || // quantize_c5
      failed(verifyScales(*this)) || // quantize_c6
      failed(verifyZeros(*this)))
    return failure();
  return detail::verifyTensors(*this);
}
