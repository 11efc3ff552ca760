// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that evaluate a mask block by block, and list those that are seen.

#ifndef ATTUNE_LIB_CONVERSION_ATTNTOTILE_BLOCKLISTS_H
#define ATTUNE_LIB_CONVERSION_ATTNTOTILE_BLOCKLISTS_H

#include "KernelBody.h"
#include "attune/Conversion/KernelOutliner.h"

namespace attune {

/// Lists on the host side, as attn.attention has them: i32 counts, batch x
/// heads x query tiles, and indices with a dimension of key blocks more.
struct BlockLists {
  mlir::Value counts, indices, fullCounts, fullIndices;
};

/// Adds two kernels that list, for each tile of queries, the blocks of keys
/// that `op`'s mask region shows in part and as a whole, in ascending order.
/// Blocks are those of the schedule. Batches or heads that the mask does not
/// tell apart share a list. Expects a mask region, and at least one key.
BlockLists addBlockListKernels(attn::AttentionOp op, KernelOutliner &outliner,
                               const KernelSizes &sizes, int64_t lanes);

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_ATTNTOTILE_BLOCKLISTS_H
