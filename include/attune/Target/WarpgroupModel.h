// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the compiler may ask of a chip whose warps multiply in groups, whose
// copy engine moves boxes, and whose warps wait for each other at barriers in
// shared memory. A chip has all of this or nothing of it.

#ifndef ATTUNE_TARGET_WARPGROUPMODEL_H
#define ATTUNE_TARGET_WARPGROUPMODEL_H

#include "attune/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/Builders.h"

namespace attune {

/// A multiply that a group of warps starts together.
struct GroupMultiply {
  tile::MmaAtomAttr atom;
  /// 2-D buffers in workgroup memory, stored in the panels that their tiles
  /// say; the left operand may be the vector that a lane holds instead.
  mlir::Value lhs, rhs;
  tile::TileType lhsTile, rhsTile;
  bool transposeLhs = false, transposeRhs = false;
  /// The vector that a lane holds.
  mlir::Value acc;
  /// The accumulator is 0 and need not be read.
  bool startsAtZero = false;
  /// Warpgroups among which the rows and the columns are dealt, rows first.
  int64_t groupsM = 1, groupsN = 1;
  /// The number of the own one, an index, the same for the back end in all
  /// lanes of a warp; null where it is the only one.
  mlir::Value group;
};

/// One of a row of barriers in workgroup memory. Phases are numbered from 0,
/// and their parity alternates.
struct SharedBarrier {
  /// 1-D buffer of i64.
  mlir::Value barriers;
  /// Which one, an index.
  mlir::Value number;
};

/// A box of a tensor, and its place in workgroup memory.
struct Box {
  /// A tensor map, as the kernel takes it.
  mlir::Value map;
  /// First element in the tensor, outermost dimension first.
  llvm::SmallVector<mlir::Value, 5> coordinates;
  /// Contiguous buffer in workgroup memory, and the element at which the box
  /// starts.
  mlir::Value buffer;
  mlir::Value offset;
};

/// A request to fill a box of a tile from a tensor.
struct BoxCopy : Box {
  /// Told of every byte that has arrived.
  SharedBarrier barrier;
  /// Workgroups of the cluster, each of which gets the box at the same place
  /// and whose barrier is told; 1 for the own one alone.
  int64_t cluster = 1;
};

class WarpgroupModel {
public:
  virtual ~WarpgroupModel() = default;

  /// Starts a multiply; the result, a vector like the accumulator, is there
  /// after awaitMultiply alone.
  virtual mlir::Value startMultiply(mlir::OpBuilder &builder,
                                    mlir::Location loc,
                                    const GroupMultiply &multiply) const = 0;
  /// Waits until at most `running` multiplies that started later still run.
  virtual mlir::Value awaitMultiply(mlir::OpBuilder &builder,
                                    mlir::Location loc, mlir::Value result,
                                    int64_t running) const = 0;

  /// Waits until at most `running` of the multiplies that were started still
  /// run, and leaves their results alone.
  virtual void awaitReads(mlir::OpBuilder &builder, mlir::Location loc,
                          int64_t running) const = 0;

  /// Makes a barrier whose phases end after `arrivals` arrivals. One thread
  /// does it for all, before a publishBarriers and a barrier of the workgroup.
  virtual void initBarrier(mlir::OpBuilder &builder, mlir::Location loc,
                           const SharedBarrier &barrier,
                           int64_t arrivals) const = 0;
  virtual void publishBarriers(mlir::OpBuilder &builder,
                               mlir::Location loc) const = 0;
  virtual void arrive(mlir::OpBuilder &builder, mlir::Location loc,
                      const SharedBarrier &barrier) const = 0;
  /// Arrives at that barrier of workgroup `rank` of the cluster, an index.
  virtual void arriveAt(mlir::OpBuilder &builder, mlir::Location loc,
                        const SharedBarrier &barrier,
                        mlir::Value rank) const = 0;
  /// Comes to the barrier of the cluster; `isFirst` where barriers alone have
  /// been made and published. All threads do so once before each of them waits.
  virtual void arriveAtCluster(mlir::OpBuilder &builder, mlir::Location loc,
                               bool isFirst) const = 0;
  /// Waits until all threads of the cluster have come.
  virtual void waitForCluster(mlir::OpBuilder &builder,
                              mlir::Location loc) const = 0;
  /// Arrives, and lets the phase end only when `bytes` have been copied.
  virtual void arriveExpecting(mlir::OpBuilder &builder, mlir::Location loc,
                               const SharedBarrier &barrier,
                               int64_t bytes) const = 0;
  /// Waits for the end of the phase of `parity`, an index.
  virtual void waitBarrier(mlir::OpBuilder &builder, mlir::Location loc,
                           const SharedBarrier &barrier,
                           mlir::Value parity) const = 0;
  /// The type of a tensor map for boxes of the shape of `box`, and the map of a
  /// buffer, made on the host.
  virtual mlir::Type getMapType(mlir::MemRefType box,
                                tile::SwizzleAttr swizzle) const = 0;
  virtual mlir::Value createMap(mlir::OpBuilder &builder, mlir::Location loc,
                                mlir::Type type, mlir::Value buffer) const = 0;
  virtual void copyBox(mlir::OpBuilder &builder, mlir::Location loc,
                       const BoxCopy &copy) const = 0;
  /// Starts the copy of a box to its tensor, by one thread, which alone can
  /// wait for it: until all that it stored has been read.
  virtual void storeBox(mlir::OpBuilder &builder, mlir::Location loc,
                        const Box &box) const = 0;
  virtual void awaitStores(mlir::OpBuilder &builder,
                           mlir::Location loc) const = 0;
  /// Stores four 8x8 matrices of 16-bit elements, of which a lane holds one
  /// word each: the two elements 2 * (lane mod 4) of row lane / 4. Lane l gives
  /// where row l mod 8 of matrix l / 8 goes: an element of `buffer`, which is
  /// in workgroup memory.
  virtual void storeMatrices(mlir::OpBuilder &builder, mlir::Location loc,
                             mlir::Value buffer, mlir::Value offset,
                             mlir::ValueRange words) const = 0;
  /// Makes what the lane has written to workgroup memory visible to multiplies
  /// and to copies of boxes.
  virtual void publishWrites(mlir::OpBuilder &builder,
                             mlir::Location loc) const = 0;

  /// Waits for all lanes of the warp.
  virtual void meetInWarp(mlir::OpBuilder &builder,
                          mlir::Location loc) const = 0;
  /// True in one lane of a warp.
  virtual mlir::Value electLane(mlir::OpBuilder &builder,
                                mlir::Location loc) const = 0;
  /// Gives the lanes of this group of warps `count` registers each, more or
  /// fewer than they have.
  virtual void setRegisters(mlir::OpBuilder &builder, mlir::Location loc,
                            int64_t count, bool more) const = 0;
  /// Arrives at the workgroup's barrier of the given number (an index, from 1),
  /// which waits for `threads` threads, and waits there too if `wait`.
  virtual void meet(mlir::OpBuilder &builder, mlir::Location loc,
                    mlir::Value number, int64_t threads, bool wait) const = 0;
  /// `value`, an index that is the same in all lanes of a warp, in a form in
  /// which the back end knows that.
  virtual mlir::Value makeUniform(mlir::OpBuilder &builder, mlir::Location loc,
                                  mlir::Value value) const = 0;
};

} // namespace attune

#endif // ATTUNE_TARGET_WARPGROUPMODEL_H
