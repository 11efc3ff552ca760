// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The search (docs/Tuning.md) as a program: for packages that have this library
// and none of the tools.

#ifndef ATTUNE_C_TUNE_H
#define ATTUNE_C_TUNE_H

#include "mlir-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Runs attune-tune and returns its exit code. To be all that a program does:
/// the search takes signals and standard streams for itself, ends the process
/// where LLVM does, and starts the program again as its workers.
MLIR_CAPI_EXPORTED int attuneTune(int argc, char **argv);

#ifdef __cplusplus
}
#endif

#endif // ATTUNE_C_TUNE_H
