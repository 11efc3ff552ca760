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

/// Adds the kernel that merges them to the results of the op, with its sinks.
void addMergeKernel(attn::AttentionOp op, KernelOutliner &outliner,
                    const KeyParts &parts, const KernelSizes &sizes,
                    int64_t lanes);

/// Replaces the op by a kernel.
void outlineMerge(attn::MergeOp op, tile::TargetAttr target,
                  mlir::SymbolTable &symbols);

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_ATTNTOTILE_MERGEKERNEL_H
