// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How channels and shared tiles look after the conversion.

#ifndef ATTUNE_LIB_CONVERSION_TILETOGPU_SHAREDMEMORY_H
#define ATTUNE_LIB_CONVERSION_TILETOGPU_SHAREDMEMORY_H

#include "attune/Dialect/Tile/IR/Tile.h"
#include "attune/Target/Barriers.h"
#include "mlir/IR/Builders.h"

namespace attune {

struct KernelContext;

/// `bytes` from the start of the kernel's workgroup memory on, as a buffer.
mlir::Value createSharedView(mlir::OpBuilder &builder, mlir::Location loc,
                             mlir::MemRefType type, int64_t bytes);
/// The buffer of a channel at its place in workgroup memory.
mlir::Value createChannelBuffer(mlir::OpBuilder &builder, tile::ChannelOp op);
/// The tile in slot `number` of a channel's buffer.
mlir::Value createSlotView(mlir::OpBuilder &builder, mlir::Location loc,
                           tile::TileType type, mlir::Value buffer,
                           mlir::Value number);

/// How many copies of warps each warp issues for an element that is copied so;
/// 0 where threads load and write it.
int64_t countWarpCopies(tile::PutOp put, const KernelContext &context);

/// Where an element of a ring is, and the barriers of its slot.
struct RingSlot {
  mlir::Value number, parity;
  SharedBarrier full, empty;
};
/// The slot of `element` in a ring of `slots`, of whose barriers those that say
/// full stand first, and then those that say empty.
RingSlot slotOf(mlir::OpBuilder &builder, mlir::Location loc,
                mlir::Value barriers, int64_t slots, mlir::Value element);

/// That of a channel with swizzle atoms.
RingSlot slotOf(mlir::OpBuilder &builder, mlir::Location loc,
                mlir::Value channel, mlir::Value element);

/// Rows of elements of 8 bits, by bytes that are packed as tile.restage says,
/// and as which of 16 bits they are wanted.
struct WideRows {
  /// 2-D buffers, stored in the swizzle atoms that their tiles say.
  mlir::Value source, destination;
  tile::TileType sourceTile, destinationTile;
  /// Warps that share the work.
  int64_t warps;
  bool isPacked;
};
void widenRows(mlir::OpBuilder &builder, mlir::Location loc,
               const KernelContext &context, const WideRows &request);

/// Whether this is the thread of that number in its workgroup.
mlir::Value isThread(mlir::OpBuilder &builder, mlir::Location loc,
                     int64_t number);

/// [slots, rows, columns] in workgroup memory.
mlir::MemRefType channelBufferType(tile::ChannelType type);
/// One slot: [rows, columns] at a run-time offset.
mlir::MemRefType sharedTileType(tile::TileType type);

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_TILETOGPU_SHAREDMEMORY_H
