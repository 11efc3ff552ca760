// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Transform scripts beside the payload that they transform, and what is to be
// done with the payload after: the text of a problem that workers are given.

#ifndef ATTUNE_TUNING_TRANSFORMSCRIPT_H
#define ATTUNE_TUNING_TRANSFORMSCRIPT_H

#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace attune::tuning {

/// The sequence `__transform_main` of a module or of one inside it. Null if
/// there is none.
mlir::transform::NamedSequenceOp findScript(mlir::ModuleOp module);

/// The module without the sequences in it.
mlir::OwningOpRef<mlir::ModuleOp> copyPayload(mlir::ModuleOp module);
/// The module without anything but the sequences in it.
mlir::OwningOpRef<mlir::ModuleOp> copyScript(mlir::ModuleOp module);
/// Adds the sequences of `script` to a module, which is not verified.
void addScript(mlir::ModuleOp module, mlir::ModuleOp script);

/// Applies the script, as transform-interpreter does.
mlir::LogicalResult applyScript(mlir::ModuleOp payload, mlir::ModuleOp script);

/// How a function is made a program for the CPU. It stands at the head of a
/// problem's text, as comments.
struct ProgramRecipe {
  /// The function.
  std::string entry;
  /// From the transformed payload to LLVM dialect.
  std::string pipeline;
  /// From the payload as it is to LLVM dialect: what results are compared with.
  std::string reference;
  /// Shared libraries that programs call, by their paths.
  std::vector<std::string> libraries;

  std::string print() const;
  /// Nothing where the text has no recipe.
  static std::optional<ProgramRecipe> parse(llvm::StringRef text);
};

/// A module as text.
std::string printModule(mlir::ModuleOp module);

/// Hash of a problem's text, by which the database knows it.
std::string makeProblemKey(llvm::StringRef text);

} // namespace attune::tuning

#endif // ATTUNE_TUNING_TRANSFORMSCRIPT_H
