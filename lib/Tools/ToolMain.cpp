// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Handlers that LLVM calls.

#include "attune/Tools/ToolMain.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/WithColor.h"

using namespace attune;

void attune::setToolVersion(const char *tool) {
  llvm::cl::SetVersionPrinter([tool](llvm::raw_ostream &os) {
    os << tool << " " << ATTUNE_VERSION << ", LLVM " << LLVM_VERSION_STRING
       << "\n";
  });
}

namespace {
struct FatalErrors {
  const char *tool = nullptr;
  const std::string *outputPath = nullptr;
};
} // namespace

static void reportFatalError(void *data, const char *reason, bool) {
  const auto &errors = *static_cast<const FatalErrors *>(data);
  llvm::WithColor::error(llvm::errs(), errors.tool) << reason << "\n";
  // Removes a regular file, never a device.
  if (errors.outputPath && *errors.outputPath != "-")
    llvm::sys::fs::remove(*errors.outputPath);
  llvm::sys::Process::Exit(kExitFailure, /*NoCleanup=*/true);
}

void attune::reportFatalErrors(const char *tool,
                               const std::string *outputPath) {
  static FatalErrors errors;
  errors = {tool, outputPath};
  llvm::install_fatal_error_handler(reportFatalError, &errors);
  llvm::install_bad_alloc_error_handler(reportFatalError, &errors);
}
