// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The merge of split keys in the kernel that has found their parts.

#ifndef ATTUNE_LIB_CONVERSION_ATTNTOTILE_LASTMERGE_H
#define ATTUNE_LIB_CONVERSION_ATTNTOTILE_LASTMERGE_H

#include "OnlineSoftmax.h"
#include "TilePlace.h"

namespace attune {

/// Emits, behind what stores a part of a tile, that the workgroup which comes
/// to this as the last of the tile's merges them all.
void buildLastMerge(TileBuilder &b, attn::AttentionOp op,
                    const KernelOperands &operands, const KernelSizes &sizes,
                    TilePlace &at);

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_ATTNTOTILE_LASTMERGE_H
