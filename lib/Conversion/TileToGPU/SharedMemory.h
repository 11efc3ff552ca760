// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How channels and shared tiles look after the conversion.

#ifndef ATTUNE_LIB_CONVERSION_TILETOGPU_SHAREDMEMORY_H
#define ATTUNE_LIB_CONVERSION_TILETOGPU_SHAREDMEMORY_H

#include "attune/Dialect/Tile/IR/Tile.h"

namespace attune {

/// Byte offset of a channel in the kernel's workgroup memory.
inline constexpr llvm::StringLiteral kSharedOffsetAttrName = "tile.offset";
/// On a put whose slot was released after the last barrier.
inline constexpr llvm::StringLiteral kNeedsBarrierAttrName =
    "tile.needs_barrier";

/// [slots, rows, columns] in workgroup memory.
mlir::MemRefType channelBufferType(tile::ChannelType type);
/// One slot: [rows, columns] at a run-time offset.
mlir::MemRefType sharedTileType(tile::TileType type);

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_TILETOGPU_SHAREDMEMORY_H
