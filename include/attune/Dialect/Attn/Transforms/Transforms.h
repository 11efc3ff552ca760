// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rewrites of attention ops that several passes share.

#ifndef ATTUNE_DIALECT_ATTN_TRANSFORMS_TRANSFORMS_H
#define ATTUNE_DIALECT_ATTN_TRANSFORMS_TRANSFORMS_H

#include "attune/Dialect/Attn/IR/Attn.h"
#include "mlir/IR/PatternMatch.h"

namespace attune::attn {

/// Says in the score and mask regions what causal, window, softcap and alibi
/// say, and removes those clauses. Gives false where there was none.
bool expandShortForms(mlir::RewriterBase &rewriter, AttentionOp op);

} // namespace attune::attn

#endif // ATTUNE_DIALECT_ATTN_TRANSFORMS_TRANSFORMS_H
