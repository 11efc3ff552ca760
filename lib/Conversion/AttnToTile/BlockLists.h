// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that evaluate a mask block by block, and list those that are seen.

#ifndef ATTUNE_LIB_CONVERSION_ATTNTOTILE_BLOCKLISTS_H
#define ATTUNE_LIB_CONVERSION_ATTNTOTILE_BLOCKLISTS_H

#include "KernelBody.h"
#include "attune/Conversion/KernelOutliner.h"
#include "attune/Dialect/Attn/Analysis/MaskRanges.h"

namespace attune {

/// Whose blocks are listed: those of `visited` rows that tiles of `owned` rows
/// along `owns` visit.
struct ListedTiles {
  MaskDim owns;
  int64_t owned, visited;
};

/// Lists on the host side, as attn.attention has them: i32 counts, batch x
/// heads x tiles, and indices with a dimension of blocks more. Tiles of keys
/// have blocks of queries.
struct BlockLists {
  ListedTiles tiles;
  mlir::Value counts, indices, fullCounts, fullIndices;

  /// Passes them to a kernel that owns such tiles.
  void pass(OutlinedKernel &kernel, KernelInputs &inputs) const;
};

/// Adds two kernels that list, for each tile, the blocks that `op`'s mask
/// region shows in part and as a whole, in ascending order. Batches or heads
/// that the mask does not tell apart share a list. Expects a mask region.
BlockLists addBlockListKernels(attn::AttentionOpInterface op,
                               KernelOutliner &outliner,
                               const ListedTiles &tiles, int64_t lanes);

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_ATTNTOTILE_BLOCKLISTS_H
