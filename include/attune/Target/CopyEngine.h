// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the compiler may ask of a chip with an engine that copies TMA boxes of
// tensors between global and shared memory.

#ifndef ATTUNE_TARGET_COPYENGINE_H
#define ATTUNE_TARGET_COPYENGINE_H

#include "attune/Dialect/Tile/IR/Tile.h"
#include "attune/Target/Barriers.h"
#include "mlir/IR/Builders.h"

namespace attune {

/// A TMA box of a tensor, and its place in workgroup memory.
struct TMABox {
  /// A tensor map, as the kernel takes it.
  mlir::Value map;
  /// First element in the tensor, outermost dimension first.
  llvm::SmallVector<mlir::Value, 5> coordinates;
  /// Contiguous buffer in workgroup memory, and the element at which the TMA
  /// box starts.
  mlir::Value buffer;
  mlir::Value offset;
};

/// A request to fill a TMA box of a tile from a tensor.
struct TMABoxCopy : TMABox {
  /// Told of every byte that has arrived.
  SharedBarrier barrier;
  /// Workgroups of the cluster, each of which gets the TMA box at the same
  /// place and whose barrier is told; 1 for the own one alone.
  int64_t cluster = 1;
  tile::Eviction eviction = tile::Eviction::Normal;
};

/// A chip with such an engine has Barriers too, which its loads arrive at.
class CopyEngine {
public:
  virtual ~CopyEngine() = default;

  /// TMA boxes in shared memory start at multiples of so many bytes.
  static constexpr int64_t kSharedAlignment = 128;

  /// The type of a tensor map for TMA boxes of the shape of `box`, and the map
  /// of a buffer, made on the host.
  virtual mlir::Type getMapType(mlir::MemRefType box,
                                tile::SwizzleAttr swizzle) const = 0;
  virtual mlir::Value createMap(mlir::OpBuilder &builder, mlir::Location loc,
                                mlir::Type type, mlir::Value buffer) const = 0;

  virtual void load(mlir::OpBuilder &builder, mlir::Location loc,
                    const TMABoxCopy &copy) const = 0;
  /// Issues the copy of a TMA box to its tensor, by one thread, which alone can
  /// wait for it: until all that it stored has been read, or `complete`, until
  /// it is there for others as what the thread itself writes. Or its addition
  /// to what is there, of each number atomically.
  virtual void store(mlir::OpBuilder &builder, mlir::Location loc,
                     const TMABox &box, bool accumulate,
                     tile::Eviction eviction) const = 0;
  virtual void waitStores(mlir::OpBuilder &builder, mlir::Location loc,
                          bool complete = false) const = 0;
  /// Lets what the thread asks this engine to do to global memory behind it
  /// come after what the thread has seen there.
  virtual void followGlobal(mlir::OpBuilder &builder,
                            mlir::Location loc) const = 0;

  /// Stores four 8x8 matrices of 16-bit elements, of which a lane holds one
  /// word each: the two elements 2 * (lane mod 4) of row lane / 4. Lane l gives
  /// where row l mod 8 of matrix l / 8 goes: an element of `buffer`, which is
  /// in workgroup memory.
  virtual void writeMatrices(mlir::OpBuilder &builder, mlir::Location loc,
                             mlir::Value buffer, mlir::Value offset,
                             mlir::ValueRange words) const = 0;
  /// Reads the transposes of four such matrices: a word of each for the lane,
  /// which gives a row as it lies in memory.
  virtual llvm::SmallVector<mlir::Value, 4>
  readTransposed(mlir::OpBuilder &builder, mlir::Location loc,
                 mlir::Value buffer, mlir::Value offset) const = 0;
  /// Makes what the thread has written to workgroup memory visible to whatever
  /// reads it on its own: this engine, and a matrix unit.
  virtual void publishWrites(mlir::OpBuilder &builder,
                             mlir::Location loc) const = 0;
};

} // namespace attune

#endif // ATTUNE_TARGET_COPYENGINE_H
