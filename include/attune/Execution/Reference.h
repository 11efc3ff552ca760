// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reference as a program for a device.

#ifndef ATTUNE_EXECUTION_REFERENCE_H
#define ATTUNE_EXECUTION_REFERENCE_H

#include "attune/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <map>
#include <string>

namespace attune {

/// Says how vectors of rows, as attn-to-loops reads and writes them, are
/// aligned: by up to 16 bytes, as far as the strides of the buffer say so and
/// if it starts there, which tensors on a device do.
void alignRows(mlir::ModuleOp loops);

/// A module with the function of `source` in plain loops, one thread a query,
/// compiled for `chip`. Floating-point results are f32; `precision` says how
/// intermediate values are rounded.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
compileReference(mlir::func::FuncOp source, llvm::StringRef chip,
                 attn::ReferencePrecision precision);

/// The references of one function for one chip, each compiled when it is wanted
/// first: runners of the same function share them.
class CompiledReferences {
public:
  CompiledReferences(mlir::func::FuncOp source, llvm::StringRef chip)
      : source(source), chip(chip) {}

  mlir::FailureOr<mlir::ModuleOp> get(attn::ReferencePrecision precision);

private:
  mlir::func::FuncOp source;
  std::string chip;
  std::map<attn::ReferencePrecision, mlir::OwningOpRef<mlir::ModuleOp>> modules;
};

} // namespace attune

#endif // ATTUNE_EXECUTION_REFERENCE_H
