// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The host executor from C: a device that runs the kernels of any chip on the
// CPU, thread by thread, and checks every access to memory. It takes the same
// functions of attune-c/Runtime.h as other devices do, and the kernels that
// attuneCompile makes with format "llvm".

#ifndef ATTUNE_C_EXECUTOR_H
#define ATTUNE_C_EXECUTOR_H

#include "attune-c/Runtime.h"
#include "mlir-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The executor as `chip`. `maxThreads` bounds the threads of a launch, all
/// workgroups together; 0 is the default bound. Addresses are those of ordinary
/// memory. A launch has ended when it returns, whatever its stream, and fails
/// with what the checks found. Streams, too, are one: from one thread at a
/// time.
MLIR_CAPI_EXPORTED AttuneDevice *
attuneExecutorOpen(MlirStringRef chip, int64_t maxThreads, AttuneError *error);

#ifdef __cplusplus
}
#endif

#endif // ATTUNE_C_EXECUTOR_H
