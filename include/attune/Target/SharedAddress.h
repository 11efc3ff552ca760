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

/// The column at which element (row, column) is stored.
mlir::Value swizzleColumn(mlir::OpBuilder &builder, mlir::Location loc,
                          tile::SwizzleAttr swizzle, const SplitIndex &row,
                          const SplitIndex &column);

} // namespace attune

#endif // ATTUNE_TARGET_SHAREDADDRESS_H
