// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keeps what each pass of a pipeline made of a module.

#ifndef ATTUNE_TOOLS_ATTUNE_BISECT_PASSRECORDER_H
#define ATTUNE_TOOLS_ATTUNE_BISECT_PASSRECORDER_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"

namespace attune::bisect {

/// A pass that has run.
struct PassStep {
  /// As pipelines spell it.
  std::string pass;
  /// The whole module after it; null where the pass has changed nothing.
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

struct PassRecord {
  std::vector<PassStep> steps;
  /// The pass that failed, where one did.
  std::string failed;
};

/// Runs `pm` on `module`. The context must not have threads: a copy of the
/// module is taken while others of its ops could be in the middle of a pass.
PassRecord runAndRecord(mlir::PassManager &pm, mlir::ModuleOp module);

} // namespace attune::bisect

#endif // ATTUNE_TOOLS_ATTUNE_BISECT_PASSRECORDER_H
