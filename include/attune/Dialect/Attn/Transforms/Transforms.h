// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rewrites of attention ops that several passes share.

#ifndef ATTUNE_DIALECT_ATTN_TRANSFORMS_TRANSFORMS_H
#define ATTUNE_DIALECT_ATTN_TRANSFORMS_TRANSFORMS_H

#include "attune/Dialect/Attn/IR/Attn.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/TilingInterface.h"

namespace attune::attn {

/// Says in the score and mask regions what causal, window, softcap and alibi
/// say, and removes those clauses. Gives false where there was none.
bool expandShortForms(mlir::RewriterBase &rewriter, AttentionOpInterface op);

/// Whether `op` makes a tensor of the elements of its first operand alone, as
/// reshapes and transpositions do.
bool movesElements(mlir::Operation *op);

/// What `op` computes, from attention over parts of its keys without its sinks:
/// `results` and `logarithms` are the results and the `lse` of the parts behind
/// each other along a dimension in front of theirs. Replaces all results of
/// `op`, in f32 until the last rounding.
mlir::MergeResult mergeStates(mlir::OpBuilder &builder, mlir::Location loc,
                              AttentionOp op, mlir::Value results,
                              mlir::Value logarithms);

} // namespace attune::attn

#endif // ATTUNE_DIALECT_ATTN_TRANSFORMS_TRANSFORMS_H
