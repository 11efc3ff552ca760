// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Outlines the kernels of attn.attention_grad.

#ifndef ATTUNE_LIB_CONVERSION_ATTNTOTILE_GRADIENTKERNELS_H
#define ATTUNE_LIB_CONVERSION_ATTNTOTILE_GRADIENTKERNELS_H

#include "attune/Dialect/Attn/IR/Attn.h"
#include "attune/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/SymbolTable.h"

namespace attune {

/// Replaces the op by kernels: one that takes the sums of its rows, then one
/// for the gradients of keys and values and one for those of queries, as far as
/// these are wanted.
llvm::LogicalResult outlineAttentionGrad(attn::AttentionGradOp op,
                                         tile::TargetAttr target,
                                         mlir::SymbolTable &symbols);

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_ATTNTOTILE_GRADIENTKERNELS_H
