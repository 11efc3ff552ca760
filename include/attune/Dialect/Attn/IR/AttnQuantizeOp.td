// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What makes operands of 8 bits or less and their scales.

#ifndef ATTUNE_DIALECT_ATTN_QUANTIZEOP_TD
#define ATTUNE_DIALECT_ATTN_QUANTIZEOP_TD

include "attune/Dialect/Attn/IR/AttnOpBase.td"

defvar Attn_Narrow = 4DTensorOf<[F8E4M3FN, F8E5M2, F8E4M3FNUZ, F8E5M2FNUZ, I8]>;

def Attn_QuantizeOp : Attn_Op<"quantize", [
    Pure,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>]> {
  let summary = "A tensor in 8 bits or 4, and what its elements are to be multiplied by";
  let description = [{
    Makes queries, keys or values of 8 bits, or keys and values of 4, with scales as `attn.attention` takes them. For the elements `x` that share a scale:

    ```
    y         = x                         or x - mean(x) with smooth, and that times H, by rows, with rotate
    scale     = max(|y|) / largest                                  1 where all y are 0
    quantized = round(y * (1 / scale))                              so that y is about quantized * scale
    ```

    `largest` is the largest finite number of the type of the result (448 for f8E4M3FN, 57344 for f8E5M2, 240 for f8E4M3FNUZ, 127 for i8, 7 for 4 bits). The maximum is that of
    finite elements, so that an infinite one does not make others 0: it becomes the largest number of its sign, in types with infinities, too. A NaN stays NaN, or becomes
    the integer 0, and others do not know of it. A scale is at least 2^-126, so that its reciprocal is finite.

    With `packed`, the result is i8 of half the head size, and each byte holds two integers of 4 bits, as `attn.attention` takes them: of `D` columns, byte `d` has
    column `d` in its lower bits and column `d + D / 2` in its upper ones. Integers go from -127 to 127, or from -7 to 7: as far below 0 as above it.

    With a third result, `zeros`, integers have zero points, for what lies around another number than 0; all that there are become of use, from `least` -128 or -8 to
    `largest`, and `quantized - zeros` is multiplied by the scale:

    ```
    scale     = (max(y) - min(y)) / (largest - least)               1 where both are one number
    zero      = least - min(y) / scale                              no integer in general
    quantized = round(y * (1 / scale) + zero)
    ```

    Which elements share a scale is said as for `attn.attention`: scales have the dimensions of the tensor, in its order, and
    `blocks [I, J, K, L]` says how many neighbours along a dimension share one, 1 where no blocks are written, and all of a dimension for
    which scales have a static size of 1. Here these are rows of one head: each row alone, blocks of rows, or all rows of a head of a batch.

    With `rotate`, rows are multiplied by `H[i,j] = (-1)^popcount(i & j) / sqrt(d)`, the normalized Hadamard matrix in Sylvester's order.
    It spreads what is large over its row (Ashkboos et al., QuaRot, 2024; Shah et al., FlashAttention-3, 2024, section 3.3). H is orthogonal:
    scores do not change where queries and keys are both rotated, and have smaller errors where both have their large elements in the same columns. One that is infinite or NaN is spread as well.

    With `smooth`, the mean of each column over all rows of its head is subtracted before (Zhang et al., SageAttention, 2024, section 4.2). It is for keys: one vector that is subtracted of all
    adds a number to all scores of a query, which softmax does not know of. `lse` does, and so do scores that a region, a cap or sinks see. A column with an infinite element or a NaN becomes NaN.

    **Preconditions**
    - `order` is a permutation of the letters b, h, s and d (quantize_c1).
    - No static size exceeds 2147483647 (quantize_c2); the head size is static and at least 1 (quantize_c3).
    - The quantized tensor has the shape of the input, with half the head size where it is `packed` (quantize_c4).
    - Blocks are four, of at least 1: 1 along b and h, and along d 1 or the head size (quantize_c5).
    - Scales are as many as batches and heads along these, 1 along d, and along s 1 or one for each block (quantize_c6).
    - With `rotate`, the head size is a power of 2 (quantize_c7).
    - What is `packed` is i8, of a head size that is a multiple of 32 (quantize_c8).
    - Zero points are those of a result of i8, and of the shape of the scales (quantize_c9).
    - Encodings are absent or `#attn.strided`; strides of results are known, and no two of their elements share a place;
      no tensor has more bytes than 63 bits can count (attention_c9, attention_c18, attention_c19).

    **Postconditions**
    - All is computed in f32 and rounded once, to nearest, halfway to even, and to the largest number what is beyond it.
    - Subnormal numbers of f32 may count as 0.

    **Example**
    ```mlir
    // A scale for 64 keys of a head, and one for each query.
    %k8, %ks = attn.quantize %k blocks [1, 1, 64, 1] rotate : tensor<2x4x8192x64xbf16> -> tensor<2x4x8192x64xf8E4M3FN>, tensor<2x4x128x1xf32>
    %q8, %qs = attn.quantize %q rotate : tensor<2x16x?x64xbf16> -> tensor<2x16x?x64xf8E4M3FN>, tensor<2x16x?x1xf32>
    // All values of a head share one.
    %v8, %vs = attn.quantize %v : tensor<2x4x8192x64xbf16> -> tensor<2x4x8192x64xf8E4M3FN>, tensor<2x4x1x1xf32>
    %o = attn.attention %q8, %k8, %v8 query_scales(%qs : tensor<2x16x?x1xf32>)
       key_scales(%ks, [1, 1, 64, 1] : tensor<2x4x128x1xf32>) value_scales(%vs : tensor<2x4x1x1xf32>)
       : tensor<2x16x?x64xf8E4M3FN>, tensor<2x4x8192x64xf8E4M3FN>, tensor<2x4x8192x64xf8E4M3FN>
    // Keys of 4 bits, two in a byte.
    %k4, %k4s = attn.quantize %k packed : tensor<2x4x8192x64xbf16> -> tensor<2x4x8192x32xi8>, tensor<2x4x8192x1xf32>
    // With zero points.
    %v4, %v4s, %v4z = attn.quantize %v packed
       : tensor<2x4x8192x64xbf16> -> tensor<2x4x8192x32xi8>, tensor<2x4x8192x1xf32>, tensor<2x4x8192x1xf32>
    ```

    **Errors**
    - `expects rows that share a scale to be of one batch and head, blocks of 1 along dimension 0, but got 2`.
    - `expects scales to have 1 or 128 elements along dimension 2, but got 64`.
    - `expects a head size that is a power of 2 to rotate, but got 80`.
    - `expects a head size that is a multiple of 32 to be packed, but got 80`.
  }];
  let arguments = (ins
    Attn_Operand:$input,
    OptionalAttr<DenseI64ArrayAttr>:$blocks,
    UnitAttr:$smooth,
    UnitAttr:$rotate,
    UnitAttr:$packed,
    DefaultValuedStrAttr<StrAttr, "bhsd">:$order,
    OptionalAttr<Schedule_QuantizeAttr>:$schedule);
  let results = (outs Attn_Narrow:$quantized, 4DTensorOf<[F32]>:$scales, Optional<4DTensorOf<[F32]>>:$zeros);
  let assemblyFormat = [{
    $input (`blocks` $blocks^)? (`smooth` $smooth^)? (`rotate` $rotate^)? (`packed` $packed^)? (`order` `(` custom<Order>($order)^ `)`)?
    (`schedule` `(` $schedule^ `)`)? attr-dict-with-keyword
    `:` type($input) `->` type($quantized) `,` type($scales) (`,` type($zeros)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Positions of the dimensions of all three tensors.
    int64_t getBatchPos() { return getOrder().find('b'); }
    int64_t getHeadPos() { return getOrder().find('h'); }
    int64_t getSeqPos() { return getOrder().find('s'); }
    int64_t getHeadDimPos() { return getOrder().find('d'); }

    ::mlir::RankedTensorType getInputType() {
      return ::llvm::cast<::mlir::RankedTensorType>(getInput().getType());
    }
    /// That of the input.
    int64_t getHeadDim() { return getInputType().getDimSize(getHeadDimPos()); }
    /// How many rows share a scale; ShapedType::kDynamic for all of a head.
    int64_t getBlockRows();
  }];
}

#endif // ATTUNE_DIALECT_ATTN_QUANTIZEOP_TD
