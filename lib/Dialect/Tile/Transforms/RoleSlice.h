// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What one of several roles runs of a program that is written as one.

#ifndef ATTUNE_LIB_DIALECT_TILE_TRANSFORMS_ROLESLICE_H
#define ATTUNE_LIB_DIALECT_TILE_TRANSFORMS_ROLESLICE_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace attune::tile {

/// Leaves of `program` the ops with effects that are the role's own, by
/// `isOwn`, and what these read, with the control flow around them. Channels of
/// which an element is read keep all their gets and releases. Puts by copies
/// are no role's that all its threads run.
void keepSlice(mlir::Region &program,
               llvm::function_ref<bool(mlir::Operation *)> isOwn);

} // namespace attune::tile

#endif // ATTUNE_LIB_DIALECT_TILE_TRANSFORMS_ROLESLICE_H
