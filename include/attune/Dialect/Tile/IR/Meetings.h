// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where all threads of a workgroup meet for what it keeps in shared memory.

#ifndef ATTUNE_DIALECT_TILE_IR_MEETINGS_H
#define ATTUNE_DIALECT_TILE_IR_MEETINGS_H

#include "attune/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/ADT/DenseSet.h"

namespace attune::tile {

/// The gets at which threads need not meet, because they have at another one
/// since the element was put, and no put relies on this one to find its slot
/// read. Threads write slots themselves in kernels that have any, so that what
/// one has put is there when it meets the others.
llvm::DenseSet<mlir::Operation *>
findNeedlessMeetings(mlir::gpu::GPUFuncOp kernel);

/// Whether no get at which threads meet lies between the last release of the
/// channel of `put` and the put, which may then overwrite what others still
/// read. `needless` are gets at which they do not.
bool overwritesEarly(mlir::Operation *put,
                     const llvm::DenseSet<mlir::Operation *> &needless);

} // namespace attune::tile

#endif // ATTUNE_DIALECT_TILE_IR_MEETINGS_H
