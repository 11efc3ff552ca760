// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a module to kernels and what is needed to launch them, in one call.
// Errors are values, and nothing is printed.

#ifndef ATTUNE_C_COMPILE_H
#define ATTUNE_C_COMPILE_H

#include "mlir-c/Diagnostics.h"
#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/// What --attune-compile takes. What is zero has its default.
typedef struct AttuneCompileOptions {
  /// Name of the chip. There is no default.
  MlirStringRef chip;
  /// "bin" (the default) for objects, or "isa" for assembly. Without an
  /// assembler a kernel for NVIDIA's chips stays PTX, which the driver takes.
  /// "llvm" for what the host executor runs (attune-c/Executor.h): the kernel
  /// in LLVM dialect, as bytecode.
  MlirStringRef format;
  /// Path of the vendor's assembler. By default it is searched.
  MlirStringRef assembler;
  /// SMs to launch persistent workgroups on. By default those of the chip.
  unsigned sms;
  /// Files with schedules that a search found, the most important one first.
  intptr_t numTuningSpecs;
  const MlirStringRef *tuningSpecs;
} AttuneCompileOptions;

/// What became of a compilation. Owned by the caller; its strings live as long.
typedef struct AttuneCompileResult {
  void *ptr;
} AttuneCompileResult;

/// A module of text or bytecode, which is called `name` in diagnostics. Other
/// operations at the top get a module around them. Null after a diagnostic.
MLIR_CAPI_EXPORTED MlirModule attuneModuleParse(MlirContext context,
                                                MlirStringRef source,
                                                MlirStringRef name);

/// Compiles all attention and all matmuls of a module, which stays as it is.
/// Adds dialects to its context's registry where they are missing. Contexts may
/// compile at the same time; what of LLVM must not is serialized inside.
MLIR_CAPI_EXPORTED AttuneCompileResult
attuneCompile(MlirModule module, const AttuneCompileOptions *options);
MLIR_CAPI_EXPORTED void attuneCompileResultDestroy(AttuneCompileResult result);

/// Whether everything was compiled. If not, there are no kernels.
MLIR_CAPI_EXPORTED bool
attuneCompileResultIsSuccess(AttuneCompileResult result);

/// Errors and warnings, each as `file:line:column: error: text` and a line end.
MLIR_CAPI_EXPORTED MlirStringRef
attuneCompileResultGetDiagnostics(AttuneCompileResult result);

/// The kernels, in the order of the module: the name of the entry, the image,
/// whether that is assembly, and how to launch it, as the JSON that
/// docs/Manifest.md describes, without `files`.
MLIR_CAPI_EXPORTED intptr_t
attuneCompileResultGetNumKernels(AttuneCompileResult result);
MLIR_CAPI_EXPORTED MlirStringRef
attuneCompileResultGetKernelName(AttuneCompileResult result, intptr_t pos);
MLIR_CAPI_EXPORTED MlirStringRef
attuneCompileResultGetKernelImage(AttuneCompileResult result, intptr_t pos);
MLIR_CAPI_EXPORTED bool
attuneCompileResultIsKernelAssembly(AttuneCompileResult result, intptr_t pos);
MLIR_CAPI_EXPORTED MlirStringRef
attuneCompileResultGetKernelManifest(AttuneCompileResult result, intptr_t pos);

/// Kernels that work together, as the same page's JSON of a sequence.
MLIR_CAPI_EXPORTED intptr_t
attuneCompileResultGetNumSequences(AttuneCompileResult result);
MLIR_CAPI_EXPORTED MlirStringRef
attuneCompileResultGetSequence(AttuneCompileResult result, intptr_t pos);

/// A diagnostic of a handler, as the results have it, with its notes.
MLIR_CAPI_EXPORTED void attuneDiagnosticPrint(MlirDiagnostic diagnostic,
                                              MlirStringCallback callback,
                                              void *userData);

#ifdef __cplusplus
}
#endif

#endif // ATTUNE_C_COMPILE_H
