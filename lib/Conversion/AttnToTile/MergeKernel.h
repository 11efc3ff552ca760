// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel that makes one result of what was found in parts of the keys: of
// those that split keys leave, and of those that a program names.

#ifndef ATTUNE_LIB_CONVERSION_ATTNTOTILE_MERGEKERNEL_H
#define ATTUNE_LIB_CONVERSION_ATTNTOTILE_MERGEKERNEL_H

#include "KernelBody.h"
#include "attune/Conversion/KernelOutliner.h"
#include "attune/Dialect/Attn/IR/Attn.h"
#include "attune/Dialect/Tile/IR/Tile.h"

namespace attune {

/// The dimensions of the output of a part.
constexpr llvm::StringLiteral kPartOrder = "bhsd";

/// Workspaces of what a kernel finds in each part of the keys: the output, f32
/// of [parts, batch, heads, queries, head size], or of [slots, heads, queries,
/// head size] where shares are equal, and the logarithms of sums, without the
/// last dimension. And whose the slots are, or null (KernelOperands).
struct KeyParts {
  mlir::Value output, lse, sharers = {};
};
KeyParts makeKeyParts(attn::AttentionOp op, const KernelSizes &sizes,
                      KernelOutliner &outliner);

/// Adds the kernel that merges them to the results of the op, with its sinks.
void addMergeKernel(attn::AttentionOp op, KernelOutliner &outliner,
                    const KeyParts &parts, const KernelSizes &sizes,
                    int64_t lanes);

/// Replaces the op by a kernel.
void outlineMerge(attn::MergeOp op, tile::TargetAttr target,
                  mlir::SymbolTable &symbols);

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_ATTNTOTILE_MERGEKERNEL_H
