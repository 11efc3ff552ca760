// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes one program of those of several roles, for a thread that is all of
// them.

#ifndef ATTUNE_LIB_CONVERSION_TILETOLOOPS_ROLEFUSER_H
#define ATTUNE_LIB_CONVERSION_TILETOLOOPS_ROLEFUSER_H

#include "attune/Dialect/Tile/IR/Tile.h"

namespace attune {

/// Moves the programs of `others` into that of `first`, in an order in which
/// each element is put before any role gets it; of its releases the last one
/// stays. Loops, and branches, in which roles meet become one, and `expect`
/// gets the condition under which they may. An error where there is no such
/// order.
llvm::LogicalResult
fuseRoles(mlir::Region &first, llvm::ArrayRef<mlir::Region *> others,
          llvm::function_ref<void(mlir::OpBuilder &, mlir::Value)> expect);

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_TILETOLOOPS_ROLEFUSER_H
