// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Merges of parts of attention.

#ifndef ATTUNE_DIALECT_ATTN_MERGEOP_TD
#define ATTUNE_DIALECT_ATTN_MERGEOP_TD

include "attune/Dialect/Attn/IR/AttnOpBase.td"

def Attn_MergeOp : Attn_Op<"merge", [
    Pure, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>]> {
  let summary = "Attention over all keys, of its results over parts of them";
  let description = [{
    Queries whose keys are in several places attend to each part of the keys for
    itself: a prefix that requests share and what each has alone, or the keys of
    each device of a ring. Of the results `part_i` of such attentions and their
    logarithms `lse_i`, this is the result over all keys:

    ```
    M      = max_i lse_i[b,h,m]
    w_i    = exp(lse_i[b,h,m] - M)                    0 where lse_i is -inf
    result[b,h,m,d] = sum_i w_i * part_i[b,h,m,d] / sum_i w_i
    lse[b,h,m]      = M + log(sum_i w_i)              natural logarithm
    ```

    A part of weight 0 adds nothing, whatever it holds: a NaN in it does not reach
    the result. A query that sees no key in any part has result 0 and `lse` -inf, as
    in `attn.attention`. Results are parts of merges as well: merging is associative, but for rounding.
    A sink belongs to one part, for each part that has it counts it.

    `order` names the dimensions of parts and result, as in `attn.attention`. Packed
    queries have a batch of 1.

    **Preconditions**
    - `order` is a permutation of the letters b, h, s and d (merge_c1).
    - There is at least one part (merge_c2), and one `lse` for each (merge_c3).
    - Parts are of one shape and element type (merge_c4).
    - No static size exceeds 2147483647 (merge_c5); head sizes are static and at least 1 (merge_c6).
    - Each `lse`, also that which is a result, is batch x heads x length, in f32 (merge_c7).
    - The result has the shape of the parts (merge_c8), and their element type or,
      of f32 parts, any (merge_c9).
    - Encodings are absent or `#attn.strided`; strides of results are known, and no two of their elements share a place;
      no tensor has more bytes than 63 bits can count (attention_c9, attention_c18, attention_c19).

    What these say of dynamic sizes is checked when the op runs.

    **Postconditions**
    - Weights and sums are f32. Parts are added in their order.
    - A merge of the one part that an `attn.attention` or an `attn.merge` has made folds to it.

    **Example**
    ```mlir
    // All requests attend to a common prefix, and each to its own keys.
    %o0, %lse0 = attn.attention %q, %kp, %vp lse : ...
    %o1, %lse1 = attn.attention %q, %k, %v lse key_lengths(%lengths : tensor<?xi32>) : ...
    %o, %lse = attn.merge %o0, %o1 lses(%lse0, %lse1 : tensor<?x16x1xf32>, tensor<?x16x1xf32>)
       : tensor<?x16x1x64xbf16>, tensor<?x16x1x64xbf16> -> tensor<?x16x1x64xbf16>, tensor<?x16x1xf32>
    ```

    **Errors**
    - `expects one lse for each part, but got 1 for 2 parts`.
    - `expects all parts to be 'tensor<2x4x8x64xf16>' as the first one, but got 'tensor<2x4x9x64xf16>'`.
  }];
  let arguments = (ins
    Variadic<Attn_Operand>:$parts,
    Variadic<3DTensorOf<[F32]>>:$lses,
    DefaultValuedStrAttr<StrAttr, "bhsd">:$order,
    OptionalAttr<Schedule_MergeAttr>:$schedule);
  let results = (outs Attn_Operand:$result, Optional<3DTensorOf<[F32]>>:$lse);
  let assemblyFormat = [{
    $parts `lses` `(` $lses `:` type($lses) `)` (`order` `(` custom<Order>($order)^ `)`)?
    (`schedule` `(` $schedule^ `)`)? attr-dict-with-keyword
    `:` type($parts) `->` type($result) (`,` type($lse)^)?
  }];
  let hasFolder = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Positions of the dimensions of parts and result.
    int64_t getBatchPos() { return getOrder().find('b'); }
    int64_t getHeadPos() { return getOrder().find('h'); }
    int64_t getSeqPos() { return getOrder().find('s'); }
    int64_t getHeadDimPos() { return getOrder().find('d'); }

    /// The type of all parts, but for their encodings.
    ::mlir::RankedTensorType getPartType() {
      return ::llvm::cast<::mlir::RankedTensorType>(getParts().front().getType()).dropEncoding();
    }
    int64_t getHeadDim() { return getPartType().getDimSize(getHeadDimPos()); }
  }];
}

#endif // ATTUNE_DIALECT_ATTN_MERGEOP_TD
