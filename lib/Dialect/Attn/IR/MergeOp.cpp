// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Syntax, verification, folding and shapes of attn.merge.

#include "attune/Dialect/Attn/IR/Attn.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attune::attn;

void MergeOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), "o");
  if (getLse())
    setName(getLse(), "lse");
}

LogicalResult MergeOp::reifyResultShapes(OpBuilder &builder,
                                         ReifiedRankedShapedTypeDims &shapes) {
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(builder, getLoc(), getParts().front());
  shapes.push_back(sizes);
  if (getLse())
    shapes.push_back(
        {sizes[getBatchPos()], sizes[getHeadPos()], sizes[getSeqPos()]});
  return success();
}

/// The results of one op know each other: where its lse is -inf, its result is
/// 0. Of another part nobody knows what it holds there.
LogicalResult MergeOp::fold(FoldAdaptor,
                            SmallVectorImpl<OpFoldResult> &results) {
  if (getParts().size() != 1)
    return failure();
  Value part = getParts().front(), logs = getLses().front();
  Operation *op = part.getDefiningOp();
  if (!isa_and_nonnull<AttentionOp, MergeOp>(op) ||
      logs.getDefiningOp() != op || part.getType() != getResult().getType() ||
      (getLse() && logs.getType() != getLse().getType()))
    return failure();
  results.push_back(part);
  if (getLse())
    results.push_back(logs);
  return success();
}

/// The sizes that no kernel could count, or pad.
static LogicalResult verifySizes(MergeOp op) {
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  for (int64_t size : op.getPartType().getShape()) // merge_c5
    if (ShapedType::isStatic(size) && size > most)
      return op.emitOpError("expects sizes of parts of at most ")
             << most << ", but got " << size;
  int64_t headDim = op.getHeadDim(); // merge_c6
  if (ShapedType::isDynamic(headDim))
    return op.emitOpError(
        "expects the head size of parts to be static, but got `?`");
  if (headDim < 1)
    return op.emitOpError("expects the head size of parts to be at least 1, "
                          "but got ")
           << headDim;
  return success();
}

LogicalResult MergeOp::verify() {
  if (!AttentionOp::isValidOrder(getOrder())) // merge_c1
    return emitOpError("expects order to be a permutation of the letters b, h, "
                       "s and d, but got '")
           << getOrder() << "'";
  if (getParts().empty()) // merge_c2
    return emitOpError("expects at least 1 part, but got 0");
  if (getParts().size() != getLses().size()) // merge_c3
    return emitOpError("expects one lse for each part, but got ")
           << getLses().size() << " for " << getParts().size() << " parts";
  auto typeOf = [](Value tensor) {
    return cast<RankedTensorType>(tensor.getType()).dropEncoding();
  };
  RankedTensorType type = getPartType();
  for (Value part : getParts())
    if (typeOf(part) != type) // merge_c4
      return emitOpError("expects all parts to be ")
             << type << " as the first one, but got " << typeOf(part);
  if (failed(verifySizes(*this)))
    return failure();
  auto ofLse = RankedTensorType::get({type.getDimSize(getBatchPos()),
                                      type.getDimSize(getHeadPos()),
                                      type.getDimSize(getSeqPos())},
                                     Float32Type::get(getContext()));
  SmallVector<Value> lses(getLses());
  if (getLse())
    lses.push_back(getLse());
  for (Value lse : lses)
    if (typeOf(lse) != ofLse) // merge_c7
      return emitOpError("expects each lse to be ")
             << ofLse << ", but got " << typeOf(lse);
  RankedTensorType result = getResult().getType().dropEncoding();
  if (result.getShape() != type.getShape()) // merge_c8
    return emitOpError("expects a result of the shape of ")
           << type << ", but got " << result;
  Type element = result.getElementType();
  if (!type.getElementType().isF32() &&
      element != type.getElementType()) // merge_c9
    return emitOpError("expects a result of ")
           << type.getElementType() << " as the parts are, but got " << element;
  return detail::verifyTensors(*this);
}
