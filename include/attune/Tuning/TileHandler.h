// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tells apart candidates that are to be executed on the CPU.

#ifndef ATTUNE_TUNING_TILEHANDLER_H
#define ATTUNE_TUNING_TILEHANDLER_H

#include "attune/Tuning/Worker.h"
#include "mlir/IR/BuiltinOps.h"

namespace attune::tuning {

/// Takes a problem with a schedule to a kernel that speaks `tile`, with all
/// passes on tiles behind it, and without what only a chip obeys: bounds of
/// registers, and the schedule itself. What executes it therefore gives equal
/// results for equal kernels. Workgroups that are persistent are launched for
/// one SM, so that each computes several tiles of a small problem.
mlir::LogicalResult lowerToTiles(mlir::ModuleOp module, llvm::StringRef chip);

/// Candidates are answered by the hash of their kernel as tiles: a tenth of the
/// time that it takes to LLVM dialect, where a kernel is unrolled.
WorkerHandlers makeTileHandlers();

} // namespace attune::tuning

#endif // ATTUNE_TUNING_TILEHANDLER_H
