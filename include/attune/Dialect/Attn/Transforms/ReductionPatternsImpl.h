// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a reducer of test cases may leave out of attn.attention.

#ifndef ATTUNE_DIALECT_ATTN_TRANSFORMS_REDUCTIONPATTERNSIMPL_H
#define ATTUNE_DIALECT_ATTN_TRANSFORMS_REDUCTIONPATTERNSIMPL_H

#include "mlir/IR/DialectRegistry.h"

namespace attune::attn {

/// The pass reduction-tree leaves out, one at a time and only while the case
/// stays interesting: the mask and score regions, `causal`, `window`,
/// `softcap`, `alibi`, `sinks`, `scale`, and the schedule.
void registerReductionPatterns(mlir::DialectRegistry &registry);

} // namespace attune::attn

#endif // ATTUNE_DIALECT_ATTN_TRANSFORMS_REDUCTIONPATTERNSIMPL_H
