// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attune-opt: reads MLIR, runs the passes named on the command line, prints
// MLIR. The dialects and passes are those of the project and of upstream, so
// that what mlir-opt does to a module that attune-tune wrote, this does as
// well.

#include "attune/InitAllDialects.h"
#include "attune/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/WithColor.h"

/// What LLVM calls fatal (a full disk, an instruction that a back end cannot
/// select) is an error like any other here: a message, no output, exit code 1.
static void reportFatalError(void *outputPath, const char *reason, bool) {
  llvm::WithColor::error(llvm::errs(), "attune-opt") << reason << "\n";
  // Removes a regular file, never a device.
  if (const auto &path = *static_cast<std::string *>(outputPath); path != "-")
    llvm::sys::fs::remove(path);
  llvm::sys::Process::Exit(EXIT_FAILURE, /*NoCleanup=*/true);
}

int attuneOptMain(int argc, char **argv) {
  mlir::DialectRegistry registry;
  attune::registerAllDialects(registry);
  attune::registerAllPasses();
  auto [inputPath, outputPath] = mlir::registerAndParseCLIOptions(
      argc, argv, "Attune optimizer driver\n", registry);
  llvm::install_fatal_error_handler(reportFatalError, &outputPath);
  llvm::install_bad_alloc_error_handler(reportFatalError, &outputPath);
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, inputPath, outputPath, registry));
}
