// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layout of tiles that nothing else decides about.

#ifndef ATTUNE_LIB_DIALECT_TILE_TRANSFORMS_BLOCKEDLAYOUT_H
#define ATTUNE_LIB_DIALECT_TILE_TRANSFORMS_BLOCKEDLAYOUT_H

#include "attune/Dialect/Tile/IR/Tile.h"

namespace attune::tile {

/// Elements of a tile that a thread accesses at once, at most; an index is
/// counted as a 64-bit integer.
int64_t getWidestRun(TileType type);

/// The layout of a tile in blocks of neighbouring columns, among so many lanes
/// of a warp and warps; null, with an error, if it has a size that no thread
/// comes near.
LayoutAttr
getBlockedLayout(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
                 TileType type, int64_t lanes, int64_t warps,
                 bool warpsAlongColumns);

} // namespace attune::tile

#endif // ATTUNE_LIB_DIALECT_TILE_TRANSFORMS_BLOCKEDLAYOUT_H
