// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes from C, one by one, as mlir-tblgen writes such functions for
// upstream's: for the pass ConvertAttnToTilePass of the group Conversion
//
//     MlirPass mlirCreateAttuneConversionConvertAttnToTilePass(void);
//     void mlirRegisterAttuneConversionConvertAttnToTilePass(void);
//
// and mlirRegisterAttuneConversionPasses() for the group. A pass so made has
// the defaults of its options; mlirParsePassPipeline() takes others. What each
// pass does stands in docs/generated/Passes.md.

#ifndef ATTUNE_C_PASSES_H
#define ATTUNE_C_PASSES_H

#include "attune/Conversion/Passes.capi.h.inc"
#include "attune/Dialect/Attn/Transforms/Passes.capi.h.inc"
#include "attune/Dialect/Tile/Transforms/Passes.capi.h.inc"
#include "attune/Matmul/Passes.capi.h.inc"
#include "attune/Schedule/Transforms/Passes.capi.h.inc"

#endif // ATTUNE_C_PASSES_H
