// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reference as a program for a device.

#ifndef ATTUNE_EXECUTION_REFERENCE_H
#define ATTUNE_EXECUTION_REFERENCE_H

#include "attune/Schedule/TunableOpInterface.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <map>
#include <string>

namespace attune {

/// Says how vectors of rows, as references read and write them, are
/// aligned: by up to 16 bytes, as far as the strides of the buffer say so and
/// if it starts there, which tensors on a device do.
void alignRows(mlir::ModuleOp loops);

/// Adds the passes with which each op of `source` makes its plain loops.
void buildReference(mlir::func::FuncOp source, mlir::OpPassManager &pm,
                    ReferenceRun run);

/// A module with the function of `source` in plain loops, one thread an
/// iteration, compiled for `chip`. Floating-point results are f32.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
compileReference(mlir::func::FuncOp source, llvm::StringRef chip,
                 ReferenceRun run);

/// The references of one function for one chip, each compiled when it is wanted
/// first: runners of the same function share them.
class CompiledReferences {
public:
  CompiledReferences(mlir::func::FuncOp source, llvm::StringRef chip)
      : source(source), chip(chip) {}

  mlir::FailureOr<mlir::ModuleOp> get(ReferenceRun run);

private:
  mlir::func::FuncOp source;
  std::string chip;
  std::map<ReferenceRun, mlir::OwningOpRef<mlir::ModuleOp>> modules;
};

} // namespace attune

#endif // ATTUNE_EXECUTION_REFERENCE_H
