// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Type inference, shapes and verification of attn.attention_grad, as far as
// they are its own.

#include "attune/Dialect/Attn/IR/Attn.h"
#include "attune/Dialect/Attn/IR/ScoreGradient.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attune::attn;

static RankedTensorType withoutEncoding(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).dropEncoding();
}

void AttentionGradOp::build(OpBuilder &builder, OperationState &state,
                            Value query, Value key, Value value, Value output,
                            Value lse, Value outputGrad, StringRef order) {
  state.addOperands({query, key, value, output, lse, outputGrad});
  auto &properties = state.getOrAddProperties<Properties>();
  auto &segments = properties.operandSegmentSizes;
  constexpr size_t kRequired = 6;
  llvm::fill(segments, 0);
  std::fill_n(segments.begin(), kRequired, 1);
  properties.resultSegmentSizes = {1, 1, 1, 0};
  properties.order = builder.getStringAttr(order);
  state.addRegion();
  state.addRegion();
  state.addTypes(
      {withoutEncoding(query), withoutEncoding(key), withoutEncoding(value)});
}

TensorRoles AttentionGradOp::getTensorRoles() {
  TensorRoles roles{{getQuery(), getOutput(), getOutputGrad()},
                    {getKey(), getValue()},
                    {getLse()}};
  if (getLseGrad())
    roles.perQuery.push_back(getLseGrad());
  if (getQueryGrad())
    roles.ofQueries.push_back(getQueryGrad());
  for (Value grad : {getKeyGrad(), getValueGrad()})
    if (grad)
      roles.ofKeys.push_back(grad);
  return roles;
}

LogicalResult AttentionGradOp::inferReturnTypes(
    MLIRContext *context, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  ArrayRef<int32_t> wanted = adaptor.getProperties().resultSegmentSizes;
  Value parts[] = {adaptor.getQuery(), adaptor.getKey(), adaptor.getValue()};
  for (auto [part, isWanted] : llvm::zip(parts, wanted)) {
    if (!isa<RankedTensorType>(part.getType()))
      return emitOptionalError(location, "expects a ranked tensor, but got ",
                               part.getType());
    if (isWanted)
      types.push_back(withoutEncoding(part));
  }
  for (Value tensor : adaptor.getWrt())
    if (auto type = dyn_cast<RankedTensorType>(tensor.getType()))
      types.push_back(
          RankedTensorType::get(type.getShape(), Float32Type::get(context)));
  return success();
}

bool AttentionGradOp::isCompatibleReturnTypes(TypeRange inferred,
                                              TypeRange actual) {
  return inferred.size() == actual.size() &&
         llvm::all_of(llvm::zip(inferred, actual), [](auto pair) {
           auto have = dyn_cast<RankedTensorType>(std::get<1>(pair));
           return have && std::get<0>(pair) == have.dropEncoding();
         });
}

LogicalResult
AttentionGradOp::reifyResultShapes(OpBuilder &builder,
                                   ReifiedRankedShapedTypeDims &shapes) {
  auto add = [&](Value tensor) {
    shapes.push_back(tensor::getMixedSizes(builder, getLoc(), tensor));
  };
  for (auto [grad, part] : {std::pair<Value, Value>{getQueryGrad(), getQuery()},
                            {getKeyGrad(), getKey()},
                            {getValueGrad(), getValue()}})
    if (grad)
      add(part);
  for (Value tensor : getWrt())
    add(tensor);
  return success();
}

/// `tensor` is of this type, as far as both are known.
static LogicalResult verifyShape(AttentionGradOp op, StringRef name,
                                 Value tensor, RankedTensorType expected) {
  RankedTensorType type = withoutEncoding(tensor);
  if (type.getElementType() == expected.getElementType() &&
      succeeded(verifyCompatibleShape(type, expected)))
    return success();
  return op.emitOpError("expects ")
         << name << " to be " << expected << ", but got " << type;
}

LogicalResult AttentionGradOp::verify() {
  for (auto [name, operand] :
       {std::pair("key", getKey()), {"value", getValue()}})
    if (Type element = operand.getType().getElementType();
        element != getElementType()) // attention_grad_c7
      return emitOpError("expects query and ")
             << name << " to have one element type, but got "
             << getElementType() << " and " << element;
  if (failed(attune::attn::detail::verify(*this)))
    return failure();
  SmallVector<int64_t> shape(getQuery().getType().getShape());
  int64_t batch = getQueryStarts() ? 1 : getBatch();
  shape[getBatchPos()] = batch;
  shape[getHeadDimPos()] = getHeadDimV();
  auto output = RankedTensorType::get(shape, getElementType());
  auto lse = RankedTensorType::get({batch, getHeadsQ(), getSeqQ()},
                                   Float32Type::get(getContext()));
  if (failed(verifyShape(*this, "output", getOutput(), output)) ||
      failed(verifyShape(*this, "output_grad", getOutputGrad(),
                         output)) || // attention_grad_c1
      failed(verifyShape(*this, "lse", getLse(), lse)))
    return failure();
  if (getLseGrad() && failed(verifyShape(*this, "lse_grad", getLseGrad(),
                                         lse))) // attention_grad_c2
    return failure();
  if (getNumResults() == 0) // attention_grad_c3
    return emitOpError("expects at least one gradient to be wanted");
  DenseSet<Value> named;
  for (Value tensor : getWrt()) {
    Type element = getElementTypeOrSelf(tensor.getType());
    if (!isa<FloatType>(element)) // attention_grad_c4
      return emitOpError("expects a tensor of floats to have a gradient, but "
                         "got ")
             << tensor.getType();
    if (!named.insert(tensor).second) // attention_grad_c5
      return emitOpError("expects a tensor to be named once in 'wrt', but got "
                         "one of ")
             << tensor.getType() << " again";
  }
  return success();
}

LogicalResult AttentionGradOp::verifyRegions() {
  if (failed(attune::attn::detail::verifyRegions(*this)))
    return failure();
  if (!hasScore())
    return success();
  if (Operation *op = findWithoutDerivative(getScore(), getWrt()))
    return op->emitError("expects an operation with a known derivative in the "
                         "score region of attn.attention_grad, but got '")
           << op->getName() << "'"; // attention_grad_c6
  return success();
}
