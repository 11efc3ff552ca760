// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dialects, passes and pipelines from C. Here and in the other headers of
// attune-c, names and ownership are those of upstream's C API, whose functions
// for IR, passes and parsing libAttune.so has as well.

#ifndef ATTUNE_C_DIALECTS_H
#define ATTUNE_C_DIALECTS_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(Attn, attn);
MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(Launch, launch);
MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(Schedule, schedule);
MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(Tile, tile);
MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(WGMMA, wgmma);

/// Adds the dialects of the project, and the interfaces that it attaches to
/// upstream's ops, without which a matmul cannot be tuned.
MLIR_CAPI_EXPORTED void attuneRegisterDialects(MlirDialectRegistry registry);

/// These and all of upstream's.
MLIR_CAPI_EXPORTED void attuneRegisterAllDialects(MlirDialectRegistry registry);

/// Makes the passes and pipelines of the project known to
/// mlirParsePassPipeline() and mlirOpPassManagerAddPipeline(), once for the
/// process.
MLIR_CAPI_EXPORTED void attuneRegisterPasses(void);

/// These and all of upstream's.
MLIR_CAPI_EXPORTED void attuneRegisterAllPasses(void);

#ifdef __cplusplus
}
#endif

#endif // ATTUNE_C_DIALECTS_H
