// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How tools end.

#ifndef ATTUNE_RUNTIME_EXITCODE_H
#define ATTUNE_RUNTIME_EXITCODE_H

namespace attune {

/// Exit codes of all tools. Interrupted ones have 130, and those of which
/// nobody reads the output any longer 74, as everywhere.
enum ExitCode : int {
  kExitSuccess = 0,
  /// The command line, the input or the machine is not as it should be.
  kExitFailure = 1,
  /// A kernel is wrong: its numbers, or what the checks of the host executor
  /// found.
  kExitWrongKernel = 2,
};

} // namespace attune

#endif // ATTUNE_RUNTIME_EXITCODE_H
