// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the compiler may ask of a chip whose matrix unit runs on its own: a
// warpgroup issues an MMA, and waits for it later.

#ifndef ATTUNE_TARGET_MATRIXUNIT_H
#define ATTUNE_TARGET_MATRIXUNIT_H

#include "attune/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/Builders.h"

namespace attune {

/// An MMA that a warpgroup issues together.
struct WarpgroupMma {
  tile::MmaAtomAttr atom;
  /// 2-D buffers in workgroup memory, stored in the swizzle atoms that their
  /// tiles say; the left operand may be the vector that a thread holds instead.
  mlir::Value lhs, rhs;
  tile::TileType lhsTile, rhsTile;
  bool transposeLhs = false, transposeRhs = false;
  /// Where operands in workgroup memory lie is to be computed for this MMA,
  /// also what follows from numbers that a loop does not change: there are too
  /// many such places for a warp to keep them.
  bool computesPlaces = false;
  /// The vector that a thread holds.
  mlir::Value acc;
  /// The first term of the sums, and the one behind the last one.
  int64_t firstTerm = 0, endTerm = 0;
  /// The accumulator is 0 and need not be read.
  bool startsAtZero = false;
  /// Warpgroups among which the rows and the columns are assigned, rows first.
  int64_t groupsM = 1, groupsN = 1;
  /// The number of the own one, an index, the same for the back end in all
  /// lanes of a warp; null where it is the only one.
  mlir::Value group;
};

/// A request to write the rows of a tile in workgroup memory as columns of
/// another one, of elements of 8 bits.
struct SharedTranspose {
  /// 2-D buffers, stored in the swizzle atoms that their tiles say.
  mlir::Value source, destination;
  tile::TileType sourceTile, destinationTile;
  /// The own lane, and the own warp among so many that share the work.
  mlir::Value lane, warp;
  int64_t warps;
};

class MatrixUnit {
public:
  virtual ~MatrixUnit() = default;

  /// Issues an MMA; the result, a vector like the accumulator, is there after
  /// wait() alone. MMAs of a warpgroup complete in the order of their issue.
  virtual mlir::Value issue(mlir::OpBuilder &builder, mlir::Location loc,
                            const WarpgroupMma &mma) const = 0;
  /// Waits until at most `later` of the MMAs that were issued still run, the
  /// one of `result` not among them.
  virtual mlir::Value wait(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::Value result, int64_t later) const = 0;
  /// As wait(), and leaves the results alone, to which later ones may add.
  virtual void waitReads(mlir::OpBuilder &builder, mlir::Location loc,
                         int64_t later) const = 0;
  /// Other threads, and the matrix unit, may read what was written once this
  /// thread's CopyEngine has published it and threads have met.
  virtual void transpose(mlir::OpBuilder &builder, mlir::Location loc,
                         const SharedTranspose &request) const = 0;
};

} // namespace attune

#endif // ATTUNE_TARGET_MATRIXUNIT_H
