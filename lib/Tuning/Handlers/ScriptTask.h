// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A transform script as the space of a search, whatever its payload becomes.

#ifndef ATTUNE_TUNING_HANDLERS_SCRIPTTASK_H
#define ATTUNE_TUNING_HANDLERS_SCRIPTTASK_H

#include "SearchRunner.h"
#include "attune/Tuning/ScriptSpace.h"
#include "attune/Tuning/TransformScript.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/SourceMgr.h"

namespace attune::tuning {

class ScriptTask {
public:
  /// Takes the script out of `file` or, if that is not empty, out of the module
  /// that was read from the input. Errors of MLIR are printed at their places.
  static llvm::Expected<std::unique_ptr<ScriptTask>>
  create(const TuneFileOptions &options, mlir::ModuleOp input);

  const ScriptSpace &getSpace() const { return *space; }
  /// The input without a script.
  mlir::ModuleOp getPayload() const { return *payload; }

  /// Completes a task: its text is that of `problem`, a payload, with the
  /// script; its baseline is what is selected.
  llvm::Error complete(Task &task, mlir::ModuleOp problem,
                       std::string head) const;

  /// The file of the script with the options of a point selected: the input or
  /// that of --script.
  std::string printWinner(llvm::ArrayRef<int64_t> point) const;
  /// The command by which `tool`, an mlir-opt, applies what printWinner() gave
  /// to the input.
  std::string getCommand(llvm::StringRef tool) const;

private:
  ScriptTask(const TuneFileOptions &options, mlir::MLIRContext *context)
      : options(options), handler(sources, context) {}
  /// A problem with the script, in which the options of a point are selected.
  std::string print(mlir::ModuleOp problem,
                    llvm::ArrayRef<int64_t> point) const;

  const TuneFileOptions &options;
  llvm::SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler handler;
  /// The file that holds the script, as it was read.
  mlir::OwningOpRef<mlir::ModuleOp> file;
  mlir::OwningOpRef<mlir::ModuleOp> payload, script;
  std::optional<ScriptSpace> space;
};

} // namespace attune::tuning

#endif // ATTUNE_TUNING_HANDLERS_SCRIPTTASK_H
