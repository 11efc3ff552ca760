// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Addresses in a swizzled shared-memory tile.

#ifndef ATTUNE_TARGET_SHAREDADDRESS_H
#define ATTUNE_TARGET_SHAREDADDRESS_H

#include "attune/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/Builders.h"

namespace attune {

/// An index split into what is known only at run time and what is a constant.
/// Keeping the two apart lets neighbouring accesses share one register and
/// differ in the instruction's immediate offset.
struct SplitIndex {
  /// Null for 0.
  mlir::Value dynamic;
  int64_t constant = 0;
  /// Bits that the dynamic part may have set; all where nothing is known.
  uint64_t possibleBits = ~uint64_t(0);

  mlir::Value materialize(mlir::OpBuilder &builder, mlir::Location loc) const;
};

/// Where element (row, column) of a swizzled tile with rows of `rowLength`
/// elements is stored, in elements from the start of the tile. All that is
/// known is in the constant part, added last: the back ends fold it into the
/// access.
SplitIndex sharedPosition(mlir::OpBuilder &builder, mlir::Location loc,
                          tile::SwizzleAttr swizzle, int64_t rowLength,
                          const SplitIndex &row, const SplitIndex &column);

/// A contiguous buffer as one dimension, to be accessed at a sharedPosition.
mlir::Value flattenBuffer(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Value buffer);

} // namespace attune

#endif // ATTUNE_TARGET_SHAREDADDRESS_H
