// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls into LLVM's code generators, which end the process where they meet
// something they cannot select. Here that becomes a diagnostic.

#ifndef ATTUNE_TARGET_BACKEND_H
#define ATTUNE_TARGET_BACKEND_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace llvm {
class LLVMContext;
} // namespace llvm

namespace attune {

/// Runs `action`. A fatal error or a crash in it is reported at `op` and is a
/// failure; what `action` allocated is then lost. One action runs at a time.
mlir::LogicalResult
runBackend(mlir::Operation *op,
           llvm::function_ref<mlir::LogicalResult()> action);

/// Within runBackend: makes the first error that LLVM reports in `context` end
/// the action, instead of the process. The back end must not go on after one:
/// it may do so for ever.
void stopAtErrors(llvm::LLVMContext &context);

/// Fails with a diagnostic at `op` unless LLVM's back end for `triple`, which
/// must be initialised, knows `chip`. The back end itself only warns and then
/// generates code for its oldest chip.
mlir::LogicalResult checkChip(mlir::Operation *op, llvm::StringRef triple,
                              llvm::StringRef chip);

/// A file in the system's folder for temporary files that is removed with the
/// object, and when the process is killed by a signal that can be caught.
class ScratchFile {
public:
  /// Fails with a diagnostic at `op`.
  static mlir::FailureOr<ScratchFile> create(mlir::Operation *op,
                                             llvm::StringRef suffix,
                                             llvm::StringRef content = {});
  ScratchFile(ScratchFile &&other);
  ScratchFile &operator=(ScratchFile &&) = delete;
  ~ScratchFile();

  llvm::StringRef getPath() const { return path; }
  /// Fails with a diagnostic at `op`.
  mlir::FailureOr<std::string> read(mlir::Operation *op) const;

private:
  explicit ScratchFile(std::string path) : path(std::move(path)) {}
  std::string path;
};

} // namespace attune

#endif // ATTUNE_TARGET_BACKEND_H
