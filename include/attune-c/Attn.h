// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attributes of the attn dialect (docs/generated/AttnDialect.md). A function
// that makes one returns null where the values contradict the dialect, and
// emits a diagnostic that says why.

#ifndef ATTUNE_C_ATTN_H
#define ATTUNE_C_ATTN_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Where the diagonal of a mask ends.
typedef enum AttuneAlignment {
  AttuneAlignmentTopLeft = 0,
  AttuneAlignmentBottomRight = 1
} AttuneAlignment;

/// #attn.causal
MLIR_CAPI_EXPORTED bool attuneAttributeIsACausal(MlirAttribute attr);
MLIR_CAPI_EXPORTED MlirAttribute attuneCausalAttrGet(MlirContext context,
                                                     AttuneAlignment alignment);
MLIR_CAPI_EXPORTED AttuneAlignment
attuneCausalAttrGetAlignment(MlirAttribute causal);

/// #attn.window. A side counts keys; -1 is unbounded.
MLIR_CAPI_EXPORTED bool attuneAttributeIsAWindow(MlirAttribute attr);
MLIR_CAPI_EXPORTED MlirAttribute attuneWindowAttrGet(MlirContext context,
                                                     int64_t left,
                                                     int64_t right,
                                                     AttuneAlignment alignment);
MLIR_CAPI_EXPORTED int64_t attuneWindowAttrGetLeft(MlirAttribute window);
MLIR_CAPI_EXPORTED int64_t attuneWindowAttrGetRight(MlirAttribute window);
MLIR_CAPI_EXPORTED AttuneAlignment
attuneWindowAttrGetAlignment(MlirAttribute window);

/// #attn.strided, an encoding of ranked tensors. Strides count elements;
/// mlirShapedTypeGetDynamicStrideOrOffset() is one known at run time only, and
/// `divisor` divides all of these.
MLIR_CAPI_EXPORTED bool attuneAttributeIsAStrided(MlirAttribute attr);
MLIR_CAPI_EXPORTED MlirAttribute attuneStridedAttrGet(MlirContext context,
                                                      intptr_t numStrides,
                                                      const int64_t *strides,
                                                      int64_t divisor);
MLIR_CAPI_EXPORTED intptr_t attuneStridedAttrGetNumStrides(MlirAttribute attr);
MLIR_CAPI_EXPORTED int64_t attuneStridedAttrGetStride(MlirAttribute attr,
                                                      intptr_t pos);
MLIR_CAPI_EXPORTED int64_t attuneStridedAttrGetDivisor(MlirAttribute attr);

#ifdef __cplusplus
}
#endif

#endif // ATTUNE_C_ATTN_H
