// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chips that this library compiles for, and what identifies the library itself:
// what a program needs that chooses a chip and stores what was compiled for it.

#ifndef ATTUNE_C_TARGET_H
#define ATTUNE_C_TARGET_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Names of the chips, as their vendors' tools spell them, sorted.
MLIR_CAPI_EXPORTED intptr_t attuneGetNumChips(void);
MLIR_CAPI_EXPORTED MlirStringRef attuneGetChipName(intptr_t pos);

/// The chip to compile for where a device calls itself `device`
/// (attuneRuntimeGetChip): the one with most features of those that run on it,
/// or `device` if this library knows none.
MLIR_CAPI_EXPORTED MlirStringRef attuneGetChipOfDevice(MlirStringRef device);

/// Facts about a chip, of those in #tile.target.
typedef struct AttuneChipInfo {
  /// Who lowers for it; lives as long as the context.
  MlirStringRef family;
  /// Threads of a warp.
  int64_t lanes;
  /// SMs or compute units of the whole chip.
  int64_t sms;
  /// Shared memory that a workgroup may have, in bytes.
  int64_t sharedBytes;
  /// 32-bit registers that a thread may have.
  int64_t registers;
  /// Threads that a workgroup may have.
  int64_t maxThreads;
} AttuneChipInfo;

/// Of a #tile.target (attuneTargetAttrGet).
MLIR_CAPI_EXPORTED AttuneChipInfo attuneTargetAttrGetInfo(MlirAttribute target);

/// Identifies the programs outside of this library that compiling to an object
/// for `chip` would run now, such as the assembler that is found, or the one
/// given as `assembler` if that is not empty. Empty where there are none, and
/// for a chip that is not known.
MLIR_CAPI_EXPORTED void attuneGetToolchain(MlirStringRef chip,
                                           MlirStringRef assembler,
                                           MlirStringCallback callback,
                                           void *userData);

/// The versions of Attune and of LLVM, as in "0.1.0, LLVM 22.1.8".
MLIR_CAPI_EXPORTED MlirStringRef attuneGetVersion(void);

/// Identifies the build of the shared object that has this function: the
/// digits of its GNU build id, a hash of its contents. Empty where it was
/// linked without one.
MLIR_CAPI_EXPORTED MlirStringRef attuneGetBuildId(void);

#ifdef __cplusplus
}
#endif

#endif // ATTUNE_C_TARGET_H
