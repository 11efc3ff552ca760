// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inputs that are not free: what a problem computes of its other inputs.

#ifndef ATTUNE_EXECUTION_DERIVEDINPUTS_H
#define ATTUNE_EXECUTION_DERIVEDINPUTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace attune {

struct DerivedInputs {
  /// Takes the arguments of the source and returns one value for each of
  /// `arguments`; null where all arguments are free.
  mlir::OwningOpRef<mlir::func::FuncOp> function;
  llvm::SmallVector<unsigned> arguments;
};

/// What TunableOpInterface::deriveOperands() says of arguments of `source`, but
/// of those that `isGiven`. Where several ops say it of one, the first counts.
DerivedInputs deriveInputs(mlir::func::FuncOp source,
                           llvm::function_ref<bool(unsigned)> isGiven);

} // namespace attune

#endif // ATTUNE_EXECUTION_DERIVEDINPUTS_H
