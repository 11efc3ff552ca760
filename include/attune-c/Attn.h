// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attributes of the attn dialect (docs/generated/AttnDialect.md), and problems
// as modules. A function that makes one returns null where the values
// contradict the dialect, and emits a diagnostic that says why.

#ifndef ATTUNE_C_ATTN_H
#define ATTUNE_C_ATTN_H

#include "attune-c/Runtime.h"
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

/// One attention by its sizes and options, as attune-gen takes them.
typedef struct AttuneAttentionProblem {
  /// At least 1, or mlirShapedTypeGetDynamicSize() where known at run time
  /// only. Sizes of heads are static.
  int64_t batch, headsQ, headsKV, seqQ, seqK, headDimQK, headDimV;
  /// AttuneDataTypeF16 or AttuneDataTypeBF16. Operands of several types, and
  /// their scales, are written as a module, as are lengths and pages.
  AttuneDataType element;
  /// Of dimensions, outermost first: a permutation of the letters b (batch), h
  /// (head), s (sequence) and d (head dimension).
  MlirStringRef order;
  bool isCausal;
  /// Keys attended to before and after the diagonal; -1 is unbounded.
  bool hasWindow;
  int64_t windowLeft, windowRight;
  /// Of the diagonal of both.
  AttuneAlignment alignment;
  bool hasSoftcap, hasScale;
  float softcap, scale;
  /// Takes ALiBi slopes, then attention sinks: f32, one per head of query.
  bool hasAlibi, hasSinks;
  /// Returns the natural log of the sum of exponentials, too: f32, batch by
  /// head by query.
  bool hasLse;
  /// Strides of the tensors are known at run time only, but for the innermost,
  /// which is 1; the others are multiples of what divides 8 and the innermost
  /// size. Otherwise tensors are in row-major order without gaps.
  bool isStrided;
  /// Drops weights with this probability, at least 0 and less than 1, and takes
  /// a seed and an offset: two numbers of 64 bits.
  bool hasDropout;
  float dropout;
} AttuneAttentionProblem;

/// A module with the function @attention on tensors: query, key, value, and
/// slopes, sinks, and seed and offset of dropout if there are any, to the
/// output, and the LSE if asked for.
/// Loads the dialects that it needs into the context.
MLIR_CAPI_EXPORTED MlirModule attuneAttentionCreateModule(
    MlirContext context, const AttuneAttentionProblem *problem);

#ifdef __cplusplus
}
#endif

#endif // ATTUNE_C_ATTN_H
