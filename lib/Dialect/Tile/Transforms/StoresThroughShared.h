// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles that are computed and lie in shared memory before copy engines store
// them, or MMAs multiply them.

#ifndef ATTUNE_LIB_DIALECT_TILE_TRANSFORMS_STORESTHROUGHSHARED_H
#define ATTUNE_LIB_DIALECT_TILE_TRANSFORMS_STORESTHROUGHSHARED_H

#include "ElementNumbers.h"
#include "attune/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace attune::tile {

/// Columns of a swizzle atom of what the copy engine moves, or MMAs of
/// warpgroups read.
int64_t getSwizzleAtom(mlir::gpu::GPUFuncOp kernel, TileType type);

/// Room in shared memory for a tile that is computed, stored as a slot is.
mlir::Value createBuffer(mlir::gpu::GPUFuncOp kernel, TileType type);

/// The view whose rows are the columns of this one, and whose columns its rows;
/// null where it is no such view.
mlir::Value getUntransposed(mlir::Value view);

/// The type with its columns as rows.
TileType transpose(TileType type);

/// Lets the stores of a kernel that have a path go through shared memory, in
/// order.
class StoresThroughShared {
public:
  StoresThroughShared(mlir::gpu::GPUFuncOp kernel, ElementNumbers &numbers)
      : kernel(kernel), numbers(numbers) {}

  mlir::LogicalResult lower(StoreOp store);

private:
  /// Lets one thread of another role store it, in its turns where it is in
  /// `ordered`.
  mlir::LogicalResult handOver(StoreOp store, OrderedOp ordered);
  /// What goes through a buffer at the end of an iteration, so far.
  struct Turn {
    TileType type;
    bool isAlongColumns;
    StoreAsyncOp last;
  };
  /// That of a buffer which the store can take after others of its block.
  Turn *findTurn(StoreOp store, TileType type, bool isAlongColumns);
  /// Waits in front of a write, and of what rounds its value, for the reads of
  /// what lay there before.
  static void waitBefore(WriteOp write, mlir::Value token);

  mlir::gpu::GPUFuncOp kernel;
  ElementNumbers &numbers;
  llvm::SmallVector<Turn, 2> turns;
};

} // namespace attune::tile

#endif // ATTUNE_LIB_DIALECT_TILE_TRANSFORMS_STORESTHROUGHSHARED_H
