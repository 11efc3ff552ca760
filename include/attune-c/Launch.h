// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kernel is given, and how it is launched (docs/Manifest.md), as it
// stands on a gpu.binary (`launch.manifest`) and on functions
// (`launch.sequences`).

#ifndef ATTUNE_C_LAUNCH_H
#define ATTUNE_C_LAUNCH_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/// #launch.manifest
MLIR_CAPI_EXPORTED bool attuneAttributeIsAManifest(MlirAttribute attr);
/// Of the entry in the binary; empty before there is one.
MLIR_CAPI_EXPORTED MlirStringRef
attuneManifestAttrGetKernel(MlirAttribute manifest);
MLIR_CAPI_EXPORTED MlirStringRef
attuneManifestAttrGetChip(MlirAttribute manifest);
/// -1 where nobody said what the arguments are.
MLIR_CAPI_EXPORTED intptr_t
attuneManifestAttrGetNumArguments(MlirAttribute manifest);
/// A #launch.buffer, #launch.scalar, #launch.tensor_map or #launch.workspace.
MLIR_CAPI_EXPORTED MlirAttribute
attuneManifestAttrGetArgument(MlirAttribute manifest, intptr_t pos);
/// Threads of a workgroup along a dimension, 0 to 2.
MLIR_CAPI_EXPORTED int64_t attuneManifestAttrGetBlock(MlirAttribute manifest,
                                                      intptr_t dim);
/// Of dynamic shared memory.
MLIR_CAPI_EXPORTED int64_t
attuneManifestAttrGetSharedBytes(MlirAttribute manifest);

/// #launch.sequence
MLIR_CAPI_EXPORTED bool attuneAttributeIsASequence(MlirAttribute attr);

/// The JSON of a manifest, which attuneRuntimeLoadKernel reads, or of a
/// sequence.
MLIR_CAPI_EXPORTED void attuneLaunchAttrPrintJSON(MlirAttribute attr,
                                                  MlirStringCallback callback,
                                                  void *userData);

#ifdef __cplusplus
}
#endif

#endif // ATTUNE_C_LAUNCH_H
