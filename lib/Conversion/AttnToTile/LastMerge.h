// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the kernel that finds parts of split keys does for their merge: all of
// it, or telling whose they are.

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

/// Emits that the first of those who share a tile leaves, for each row, who
/// they are, in a buffer of KernelOperands::sharers.
void storeSharers(TileBuilder &b, attn::AttentionOp op, mlir::Value buffer,
                  const KernelSizes &sizes, TilePlace &at);

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_ATTNTOTILE_LASTMERGE_H
