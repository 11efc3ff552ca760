// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel that makes one result of what was found in parts of the keys: of
// those that split keys leave, and of those that a program names.

#ifndef ATTUNE_LIB_CONVERSION_ATTNTOTILE_MERGEKERNEL_H
#define ATTUNE_LIB_CONVERSION_ATTNTOTILE_MERGEKERNEL_H

#include "KernelBody.h"
#include "MergeParts.h"
#include "attune/Conversion/KernelOutliner.h"
#include "attune/Dialect/Attn/IR/Attn.h"
#include "attune/Dialect/Tile/IR/Tile.h"

namespace attune {

/// Makes workspaces for what kernels find in parts of the keys.
KeyParts makeKeyParts(attn::AttentionOp op, const KernelSizes &sizes,
                      KernelOutliner &outliner);

/// Buffers of the results of an op, without `lse` where it has none.
struct ResultBuffers {
  mlir::Value output, lse;
};
ResultBuffers makeResults(attn::AttentionOp op, KernelOutliner &outliner);

/// Adds the kernel that merges the parts to the results of the op, with its
/// sinks where no part has them.
void addMergeKernel(attn::AttentionOp op, KernelOutliner &outliner,
                    const KeyParts &parts, const ResultBuffers &results,
                    const KernelSizes &sizes, int64_t lanes);

/// Replaces the op by a kernel.
void outlineMerge(attn::MergeOp op, tile::TargetAttr target,
                  mlir::SymbolTable &symbols);

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_ATTNTOTILE_MERGEKERNEL_H
