// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attune/Dialect/Attn/Transforms/Differentiate.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace attune;
using namespace attune::attn;

/// The score and mask regions of `from` become those of `to`.
static void copyRegions(AttentionOpInterface from, AttentionOpInterface to) {
  IRMapping mapping;
  from.getScore().cloneInto(&to.getScore(), mapping);
  from.getMask().cloneInto(&to.getMask(), mapping);
}

/// Attention on the operands of `op`, forward or gradient, with `lse`.
template <typename Op>
static AttentionOp buildAttention(OpBuilder &builder, Op op,
                                  schedule::AttentionAttr schedule) {
  auto forward = AttentionOp::create(
      builder, op.getLoc(), op.getQuery(), op.getKey(), op.getValue(),
      op.getAlibiSlopes(), op.getSinks(), op.getBlockCounts(),
      op.getBlockIndices(), op.getFullBlockCounts(), op.getFullBlockIndices(),
      op.getDropout(), op.getQueryLengths(), op.getKeyLengths(),
      op.getQueryStarts(), op.getKeyStarts(), op.getPages(),
      /*queryScales=*/Value(),
      /*keyScales=*/Value(), /*valueScales=*/Value(),
      /*keyZeros=*/Value(), /*valueZeros=*/Value(), /*resultScales=*/Value(),
      /*queryScaleBlocks=*/DenseI64ArrayAttr(),
      /*keyScaleBlocks=*/DenseI64ArrayAttr(),
      /*valueScaleBlocks=*/DenseI64ArrayAttr(), op.getBlockSizesAttr(),
      op.getScaleAttr(), op.getOrderAttr(), op.getCausalAttr(),
      op.getWindowAttr(), op.getSoftcapAttr(), op.getDropoutProbabilityAttr(),
      builder.getUnitAttr(),
      /*latent=*/IntegerAttr(), /*weights=*/TypeAttr(),
      /*batchInvariant=*/UnitAttr(), /*packedKey=*/UnitAttr(),
      /*packedValue=*/UnitAttr(), schedule);
  copyRegions(op, forward);
  return forward;
}

AttentionOp attune::attn::buildForward(OpBuilder &builder,
                                       AttentionGradOp grad) {
  return buildAttention(builder, grad, schedule::AttentionAttr());
}

AttentionOp attune::attn::buildWithLse(OpBuilder &builder,
                                       AttentionOp forward) {
  AttentionOp both =
      buildAttention(builder, forward, forward.getScheduleAttr());
  both.getResult().setType(forward.getResult().getType());
  both.setBatchInvariant(forward.getBatchInvariant());
  return both;
}

AttentionGradOp attune::attn::buildGradient(OpBuilder &builder,
                                            AttentionOp forward,
                                            const ForwardResults &results,
                                            const WantedGradients &wanted) {
  auto typeOf = [](Value part, bool isWanted) -> Type {
    if (!isWanted)
      return {};
    return cast<RankedTensorType>(part.getType()).dropEncoding();
  };
  SmallVector<Type> others;
  for (Value tensor : wanted.wrt)
    others.push_back(RankedTensorType::get(
        cast<RankedTensorType>(tensor.getType()).getShape(),
        builder.getF32Type()));
  auto grad = AttentionGradOp::create(
      builder, forward.getLoc(), typeOf(forward.getQuery(), wanted.query),
      typeOf(forward.getKey(), wanted.key),
      typeOf(forward.getValue(), wanted.value), others, forward.getQuery(),
      forward.getKey(), forward.getValue(), results.output, results.lse,
      results.outputGrad, results.lseGrad, forward.getAlibiSlopes(),
      forward.getSinks(), forward.getBlockCounts(), forward.getBlockIndices(),
      forward.getFullBlockCounts(), forward.getFullBlockIndices(),
      forward.getDropout(), forward.getQueryLengths(), forward.getKeyLengths(),
      forward.getQueryStarts(), forward.getKeyStarts(), wanted.wrt,
      forward.getBlockSizesAttr(), forward.getScaleAttr(),
      forward.getOrderAttr(), forward.getCausalAttr(), forward.getWindowAttr(),
      forward.getSoftcapAttr(), forward.getDropoutProbabilityAttr(),
      wanted.deterministic ? builder.getUnitAttr() : UnitAttr(),
      schedule::AttentionGradAttr());
  copyRegions(forward, grad);
  return grad;
}
