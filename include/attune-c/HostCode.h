// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions as machine code for the CPU that this runs on.

#ifndef ATTUNE_C_HOSTCODE_H
#define ATTUNE_C_HOSTCODE_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Code that is loaded. Owned by the caller.
typedef struct AttuneHostCode {
  void *ptr;
} AttuneHostCode;

/// Compiles a function of a module in LLVM dialect, which is changed by it, at
/// O3. The function was lowered with `llvm.emit_c_interface`. Null, and a
/// diagnostic, where it cannot be.
MLIR_CAPI_EXPORTED AttuneHostCode attuneHostCodeCompile(MlirModule module,
                                                        MlirStringRef function);
MLIR_CAPI_EXPORTED void attuneHostCodeDestroy(AttuneHostCode code);

/// Calls the function; any number of threads may do so at once. Each argument
/// is a pointer to what the function takes by MLIR's C interface: to a scalar,
/// or to the pointer to a memref's descriptor.
MLIR_CAPI_EXPORTED void attuneHostCodeCall(AttuneHostCode code,
                                           void **arguments);

#ifdef __cplusplus
}
#endif

#endif // ATTUNE_C_HOSTCODE_H
