// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How far a module has been compiled, and the rest of the way to kernels that
// the host executor runs.

#ifndef ATTUNE_EXECUTION_STAGE_H
#define ATTUNE_EXECUTION_STAGE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace attune {

/// What the kernels of a module are made of: the most abstract of all. A module
/// of which a function holds a tunable op is at Tensors.
enum class Stage { Tensors, Tile, GPU, LLVM, Binary };

Stage getStage(mlir::ModuleOp module);
/// "tensor", "tile", "gpu", "llvm" or "binary".
llvm::StringRef getStageName(Stage stage);

/// A copy of `module` whose kernels are in LLVM dialect: those that speak
/// `tile` go through convert-tile-to-loops, all go through
/// convert-kernel-to-llvm. What is in LLVM dialect, or machine code, stays as
/// it is.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
lowerForHost(mlir::ModuleOp module);

} // namespace attune

#endif // ATTUNE_EXECUTION_STAGE_H
