// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From attention to its gradients and back, for those who differentiate MLIR.

#ifndef ATTUNE_DIALECT_ATTN_TRANSFORMS_DIFFERENTIATE_H
#define ATTUNE_DIALECT_ATTN_TRANSFORMS_DIFFERENTIATE_H

#include "attune/Dialect/Attn/IR/Attn.h"

namespace attune::attn {

/// Which gradients of an attention op are wanted: at least one.
struct WantedGradients {
  bool query = true, key = true, value = true;
  /// Tensors of floats that the op reads beside those, each once: what its
  /// score region extracts elements of, slopes of ALiBi, sinks.
  llvm::SmallVector<mlir::Value> wrt;
  /// Whether they have to have equal bits each time they are computed.
  bool deterministic = false;
};

/// What forward attention has given, and what of a number its results change.
struct ForwardResults {
  /// Of the shapes and types of the results of the op.
  mlir::Value output, lse;
  mlir::Value outputGrad;
  /// Null where nothing but the output depends on `lse`.
  mlir::Value lseGrad;
};

/// Creates the gradients of `forward`, whose operands and captures are valid at
/// the builder. The schedule of `forward` is not theirs. Expects a score region
/// in which findWithoutDerivative() finds nothing.
AttentionGradOp buildGradient(mlir::OpBuilder &builder, AttentionOp forward,
                              const ForwardResults &results,
                              const WantedGradients &wanted);

/// Creates the attention that `grad` is the derivative of, with its `lse` and
/// without a schedule.
AttentionOp buildForward(mlir::OpBuilder &builder, AttentionGradOp grad);

/// Creates `forward` again, schedule included, with its `lse`.
AttentionOp buildWithLse(mlir::OpBuilder &builder, AttentionOp forward);

} // namespace attune::attn

#endif // ATTUNE_DIALECT_ATTN_TRANSFORMS_DIFFERENTIATE_H
