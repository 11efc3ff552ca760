// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention, its gradients, and the terminator of regions.

#ifndef ATTUNE_DIALECT_ATTN_OPS_TD
#define ATTUNE_DIALECT_ATTN_OPS_TD

include "attune/Dialect/Attn/IR/AttnAppendOp.td"
include "attune/Dialect/Attn/IR/AttnMergeOp.td"
include "attune/Dialect/Attn/IR/AttnOpBase.td"
include "attune/Dialect/Attn/IR/AttnQuantizeOp.td"

def Attn_AttentionOp : Attn_Op<"attention", [
    Pure, AttrSizedOperandSegments, SingleBlock, DeclareOpInterfaceMethods<AttentionOpInterface, ["getTensorRoles"]>,
    InferTypeOpAdaptorWithIsCompatible,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames", "getAsmResultNames"]>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>]> {
  let summary = "Softmax attention";
  let description = [{
    For every batch `b`, query head `h` and query `m`, over all keys `n`:

    ```
    S(n)   = scale * sum_d query[b,h,m,d] * key[b,g,n,d]              g = h / (heads / kv_heads)
    S(n)   = softcap * tanh(S(n) / softcap)                           if softcap
    S(n)   = S(n) - slopes[h] * |m + seq_k - seq_q - n|               if alibi
    S(n)   = score(S(n), b, h, m, n)                                  if score
    S(n)   = S(n) if causal(m, n) and window(m, n) and mask(b, h, m, n), else -inf
                                                                      (not in full_blocks)
    S(n)   = S(n) if n is in one of blocks or full_blocks, else -inf  if blocks
    Z      = sum_n exp(S(n)) + exp(sinks[h])                          (the last term if sinks)
    W(n)   = exp(S(n)) / Z
    W(n)   = W(n) / (1 - p) if kept(b, h, m, n), else 0               if dropout
    result[b,h,m,e] = sum_n W(n) * value[b,g,n,e]
    lse[b,h,m]      = log(Z)                                          natural logarithm
    ```

    Batches may have lengths of their own, `key_lengths` and `query_lengths`, of
    which the tensors have room for the longest one. A batch then is what it would
    be alone, in tensors of its lengths: `seq_q` and `seq_k` above, and the
    bottom-right diagonal, are its own. Behind them nothing exists: queries have
    result 0 and `lse` -inf whatever there is, and keys and values are not
    looked at, so that these may be NaN. A length below 0 counts as 0, and one
    beyond the tensor as that of the tensor.

    Keys and values may lie in pages, which `pages` finds. Then key and value are
    pools of pages: their dimension `b` counts pages, and `s` the keys of one. Key
    `n` of batch `b` is key `n mod page` of page `pages[b, n floordiv page]`, and
    `seq_k` is what the pages of a batch have room for. With `key_lengths`, only
    what names pages with keys is looked at: numbers behind may be anything. A
    number that is none of a page names one whose keys and values are 0.

    Sequences of different lengths may also lie packed, one behind the other,
    along dimension `s` of tensors whose dimension `b` is 1. The sequence of batch
    `b` then begins at `query_starts[b]` and ends before `query_starts[b+1]`, and
    its keys and values from `key_starts[b]` on. There is one start more than there
    are batches. What counts from the front of a sequence does so here: `m`, `n`
    and the diagonals are those of the sequence, never positions in the tensor.
    Queries, or keys and values, or both are packed; keys of packed queries may
    lie in pages. With lengths beside starts, a sequence has room for what the
    starts say. Queries behind the last sequence have result 0 and `lse` -inf.
    The first start is 0, and none is below the one before it or beyond the end
    of the tensor. Kernels do not check that; where it is broken, nothing outside
    of the tensors is read or written, but results have no meaning, and kernels
    whose workgroups take turns may wait without end.

    With `latent(E)`, values are a part of the keys, which are the operands key and
    value both: `value[b,g,n,e]` is `key[b,g,n,e]` for the first `E` columns (DeepSeek-V2, 2024,
    section 2.1.4: what is left is the part with positions). Kernels load them once.

    Query, key and value each have an element type of their own. Elements of i8
    are signed integers, which kernels widen to the type of query, or of weights,
    before they multiply. `query_scales`,
    `key_scales` and `value_scales` say what their elements are to be multiplied
    by, wherever `query`, `key` or `value` stands above:

    ```
    query[i,j,k,l] = query_scales[i/I, j/J, k/K, l/L] * query[i,j,k,l]    for blocks [I, J, K, L]
    ```

    Scales have the dimensions of their tensor, in its order. So many neighbours
    along a dimension share a scale, 1 where no blocks are written, and all of a
    dimension for which scales have a static size of 1. Places are those in the
    tensor, also of pages and packed sequences, so that scales lie as elements
    do. Values that are a part of the keys have the scales of these.

    `key_zeros` and `value_zeros` say which number stands for 0 in keys or values of
    i8, packed or not, one for each of their scales. It need not be an integer:

    ```
    key[i,j,k,l] = key_scales[i/I, j/J, k/K, l/L] * (key[i,j,k,l] - key_zeros[i/I, j/J, k/K, l/L])
    ```

    Kernels multiply what is stored: from a score they subtract the zero point
    times the sum of the query's elements, and from a result the sum of zero
    points, or the one that all keys share, times the weights.

    A result of 8 bits has `result_scales`, which are given, one for all or one
    for each head of queries. It is divided by them, as `attn.quantize` divides:
    computed in f32 and rounded once, to nearest, halfway to even, and what is
    beyond the largest number of the type, also what is infinite, is that one:

    ```
    result[b,h,m,e] = round((1 / result_scales[h]) * sum_n W(n) * value[b,g,n,e])
    ```

    `packed(key)`, `packed(value)` or `packed(key, value)` says that an i8 of
    these holds two signed integers of 4 bits. Of `D` columns, column `d` is in
    the lower bits of byte `d` where `d < D / 2`, and in the upper bits of byte
    `d - D / 2` otherwise: `D / 2` bytes are a row. All else is as for the
    columns that they stand for, but scales are those of whole rows.

    `weights` names the type that weights have where they are multiplied by
    values. By default that is f16 where values have 8 bits and no scales that
    differ by key, for f16 has all of these, and weights are at most 1; otherwise
    it is the type of query, or where query has 8 bits that of the result, or
    bf16 where this has not 16. Kernels multiply weights of 8 bits
    by a power of 2 before, so that few are lost, and their sums are not rounded.

    With `batch_invariant`, the bits of a batch depend on nothing but its own
    queries, keys and values: not on how many batches there are beside it, how long
    these are, or where it lies among them. The schedule is chosen for a usual
    batch, whatever the sizes, and one is refused whose sums depend on others:
    equal shares of all keys (`split-k` 0), and rescaling where any row of a warp
    needs it (`rescale`), which may be one of the next sequence. That costs time
    where there are few batches, or many.

    `dropout(%random, p : tensor<2xi64>)` drops weights at random, with a
    probability `p` that is rounded to a multiple of 1/256, the nearest one but at most
    255/256, wherever it stands above. `random` holds a seed and an offset, of which
    the lower 32 bits count. Which weights are kept depends on these, on `p` and on
    the place of a weight alone, not on a schedule or a chip: of the 4 words, of 32
    bits each, that Philox 4x32-10 (Salmon et al., SC 2011) gives for

    ```
    key      seed mod 2^32, seed / 2^32
    counter  n without bits 0 and 3, b * heads + h, m without bits 0 and 3, offset
    ```

    word `2 * m[0] + n[0]` has a byte for it, the `2 * m[3] + n[3]`-th one from above, with
    `m[i]` for bit `i` of `m`. The weight is kept if that is at least `256 * p`. So one call
    serves 16 weights, of which a thread of an MMA has 8 in its accumulator, also where
    keys are its rows. `lse` is that without dropout.

    `order` names the dimensions of query, key, value and result, outermost
    first: batch `b`, head `h`, sequence `s`, head size `d`. The slopes of ALiBi
    mean what they mean in FlashAttention: the distance is always measured from
    the bottom-right diagonal, whatever alignment the masks use.

    The default of `scale` is `1 / sqrt(head size of query)`.

    The regions take the indices that FlexAttention's functions take. They may
    read scalars and ranked tensors of integers, indices or floats defined
    outside, tensors through `tensor.extract` and `tensor.dim`.

    Lists of blocks say which keys there are to look at, as FlexAttention's
    `BlockMask` does. Of `blocks(%counts, %indices, [M, N] : ...)`, block `i` of
    queries (`i * M` to `i * M + M - 1`) attends to block `j` of keys (`j * N` to
    `j * N + N - 1`) if `j` is one of the first `counts[b,h,i]` elements of
    `indices[b,h,i,:]`. `full_blocks(%counts, %indices : ...)` lists further
    blocks, of which every key is visible: causal, window and mask are not asked
    there. Keys beyond the last one do not exist in either. Indices are in any
    order. A list has a size of 1 for the batch or the heads where all of them
    share it. Kernels visit what is listed and nothing else; without lists, they
    derive from the mask what they can skip.

    The op implements `TilingInterface` over (b, h, m, n), and
    `PartialReductionOpInterface` over n: keys are cut into independent parts
    whose states (result and lse) are merged
    (`Dialect/Attn/Transforms/TilingInterfaceImpl.h`). It is not tiled where it
    has lists of blocks, whose queries and keys are counted from the first ones,
    lengths, starts or pages, where values are a part of the keys, or where
    there are scales or dropout.

    **Syntax**
    ```
    attention ::= `attn.attention` ssa `,` ssa `,` ssa clause* (`attributes` attr-dict)?
                  `:` type `,` type `,` type (`->` type | `->` `(` type `,` type `)`)?
    clause    ::= `lse`
                | `query_lengths` `(` ssa `:` type `)`
                | `key_lengths` `(` ssa `:` type `)`
                | `query_starts` `(` ssa `:` type `)`
                | `key_starts` `(` ssa `:` type `)`
                | `pages` `(` ssa `:` type `)`
                | `latent` `(` integer `)`
                | `weights` `(` type `)`
                | `batch_invariant`
                | (`query_scales` | `key_scales` | `value_scales`)
                  `(` ssa (`,` `[` integer (`,` integer){3} `]`)? `:` type `)`
                | (`result_scales` | `key_zeros` | `value_zeros`) `(` ssa `:` type `)`
                | `causal` `(` alignment `)`
                | `window` `(` side `,` side `,` alignment `)`
                | `softcap` `(` float `)`
                | `alibi` `(` ssa `:` type `)`
                | `sinks` `(` ssa `:` type `)`
                | `scale` `(` float `)`
                | `order` `(` letters `)`
                | `schedule` `(` schedule-attr `)`
                | `score` `(` ssa `,` ssa `,` ssa `,` ssa `,` ssa `)` region
                | `mask` `(` ssa `,` ssa `,` ssa `,` ssa `)` region
                | `blocks` `(` ssa `,` ssa `,` `[` integer `,` integer `]` `:` type `,` type `)`
                | `full_blocks` `(` ssa `,` ssa `:` type `,` type `)`
                | `dropout` `(` ssa `,` float `:` type `)`
    alignment ::= `top_left` | `bottom_right`
    side      ::= integer | `?`
    letters   ::= the letters b, h, s and d, each once
    ```
    The operands are query, key and value, and the types theirs. Clauses stand in
    any order, each at most once; they are printed in the order above. A region
    names its arguments without types: the score and then batch, head, query and
    key for `score`, the last four for `mask`. Result types are written only
    where they have an encoding, or where `result` has another element type than
    the default: that of query, or bf16 where that has 8 bits.

    **Preconditions**
    - `order` is a permutation of the letters b, h, s and d (attention_c1).
    - `result` is f16, bf16, f32 or, with `result_scales`, a float of 8 bits (attention_c2).
    - Batch sizes are equal (attention_c3), key and value have one number of
      heads (attention_c4) and one length (attention_c5), query and key one
      head size (attention_c6).
    - The number of query heads is a multiple of that of key heads (attention_c7).
    - Head sizes are static and at least 1 (attention_c8); other sizes may be 0.
    - No static size exceeds 2147483647, and no tensor has more bytes than 63
      bits can count (attention_c9).
    - `slopes` (attention_c10) and `sinks` (attention_c11) have one element per query head.
    - `scale` is finite (attention_c12); `softcap` is finite and positive (attention_c13).
    - `score` takes (f32, index, index, index, index) and yields f32 (attention_c14);
      `mask` takes (index, index, index, index) and yields i1 (attention_c15).
    - An op of a region is an operation of `arith` or `math` on scalars,
      `tensor.extract` or `tensor.dim` (attention_c16). Memory outside is not
      touched, and a region has no regions inside.
    - A value captured by a region is a scalar or a ranked tensor of scalars (attention_c17).
    - Encodings of operands and results are absent or `#attn.strided` (attention_c18).
    - Strides of results are known, and no two elements share a place (attention_c19).
    - A tensor that a region reads at the batch, head, query or key itself has an
      element for each of them (attention_c20).
    - Lists of blocks come with sizes of blocks of at least 1, and full ones
      beside others (attention_c21). Counts are batch x heads x query blocks, and
      indices have a further dimension, of at least 1; batch and heads are those
      of query or 1, and the query blocks are as many as its length needs
      (attention_c22).
    - `query_lengths` and `key_lengths` have one element per batch (attention_c23).
    - `pages` is batch x pages of the longest batch. Then key and value have one
      number of pages instead of the batch size, a page has a static number of
      keys, at least 1, and a batch has at most 2147483647 (attention_c24).
    - `query_starts` and `key_starts` have one element more than there are
      batches, and at least 2. What is packed has a static 1 instead of the batch
      size. Packed keys lie in no pages, and beside starts there are no lists of
      blocks (attention_c25).
    - `latent` is from 1 to the head size of key, and key and value are one operand
      (attention_c26).
    - Scales are as many along each dimension as blocks of their tensor, or 1.
      Blocks are four, of at least 1, and beside scales alone (attention_c27).
      Values that are a part of the keys have no scales of their own
      (attention_c28). Scales are finite and not negative, which is not checked.
    - `weights` is a float of 8 or 16 bits (attention_c29).
    - The probability of dropout is at least 0 and less than 1, and comes with
      a seed and an offset, two numbers (attention_c30).
    - What is packed is i8, and stands for a multiple of 32 columns, so that the halves of a row are whole matrix
      instructions; its columns share scales, query and weights have at least 16 bits, and there is no `latent` (attention_c31).
    - Zero points are those of keys or values of i8 that have scales, and lie as these, one for each; there is no `latent`, and
      query and weights have at least 16 bits. Columns of keys share theirs (attention_c32). They are finite, which is not checked.
    - A result of 8 bits has scales, and no other has (attention_c33). They have the dimensions of query, in its order, and one element, or one for each
      head of query along that dimension (attention_c34). They are finite and greater than 0, which is not checked.
    - Counts are from 0 to the last dimension of indices; those indices are blocks
      that have keys, and none is listed twice for a block of queries. This is
      not checked: who breaks it gets numbers without meaning, or reads out of
      bounds.

    What these say of dynamic sizes is checked when the op runs
    (`RuntimeVerifiableOpInterface`; `convert-attn-to-tile` emits the checks in
    front of the launch).

    What else is known of the number of queries or keys is stated by assertions
    in front of the op, and so is checked too: a divisor of the keys, of which
    loops without a remainder can be made, and comparisons with constants, within
    which kernels compute indices in 32 bits.

    ```mlir
    %keys = tensor.dim %k, %c2 : tensor<2x4x?x64xbf16>
    %rest = arith.remui %keys, %c64 : index
    %whole = arith.cmpi eq, %rest, %c0 : index
    cf.assert %whole, "expects a number of keys that is a multiple of 64"
    %most = arith.cmpi ule, %keys, %c8192 : index
    cf.assert %most, "expects at most 8192 keys"
    ```

    **Postconditions**
    - Scores, softmax and sums are f32; the order of the sums is unspecified.
    - A query that sees no key has result 0 and `lse` -inf (with a sink, the sink).
    - `result` has the order of query, and the head size of value or what `latent` says; `lse` is batch x heads x length of query in any order. Of packed
      queries, batch is 1 and the length that of the tensor.
    - Result types are inferred. An encoding on a result is written after `->`.
    - Index arithmetic in regions is done in 32 bits at least: a region may not
      depend on intermediate values outside that range. A region may be
      evaluated where its value is not used, so it must not trap.

    **Example**
    ```mlir
    %o = attn.attention %q, %k, %v causal(bottom_right) softcap(3.000000e+01)
       : tensor<2x16x?x64xbf16>, tensor<2x4x?x64xbf16>, tensor<2x4x?x64xbf16>

    // Packed documents: a token sees the earlier tokens of its own document.
    %o2, %lse = attn.attention %q, %k, %v lse causal(top_left)
       mask (%b, %h, %m, %n) {
         %dm = tensor.extract %doc[%b, %m] : tensor<2x?xi32>
         %dn = tensor.extract %doc[%b, %n] : tensor<2x?xi32>
         %same = arith.cmpi eq, %dm, %dn : i32
         attn.yield %same : i1
       } : tensor<2x16x?x64xbf16>, tensor<2x4x?x64xbf16>, tensor<2x4x?x64xbf16>

    // Lists of blocks for the same mask, and of those that it shows as a whole.
    %o3 = attn.attention %q, %k, %v
       blocks(%counts, %indices, [128, 128] : tensor<2x1x32xi32>, tensor<2x1x32x32xi32>)
       full_blocks(%full_counts, %full_indices : tensor<2x1x32xi32>, tensor<2x1x32x32xi32>)
       mask (%b, %h, %m, %n) { ... }
       : tensor<2x16x4096x64xbf16>, tensor<2x4x4096x64xbf16>, tensor<2x4x4096x64xbf16>

    // A query for each of two requests of different lengths.
    %o4 = attn.attention %q, %k, %v key_lengths(%lengths : tensor<2xi32>)
       : tensor<2x16x1x64xbf16>, tensor<2x4x8192x64xbf16>, tensor<2x4x8192x64xbf16>

    // The same with keys and values in any of 1000 pages of 64 keys.
    %o5 = attn.attention %q, %k, %v key_lengths(%lengths : tensor<2xi32>) pages(%pages : tensor<2x128xi32>)
       : tensor<2x16x1x64xbf16>, tensor<1000x4x64x64xbf16>, tensor<1000x4x64x64xbf16>

    // Prompts of three requests, packed: each token sees the earlier ones of its own.
    %o6 = attn.attention %q, %k, %v causal(bottom_right)
       query_starts(%starts : tensor<4xi32>) key_starts(%starts : tensor<4xi32>)
       : tensor<1x16x?x64xbf16>, tensor<1x4x?x64xbf16>, tensor<1x4x?x64xbf16>

    // All heads share one key of 576 columns, the first 512 of which are its value.
    %o7 = attn.attention %q, %k, %k latent(512) scale(1.352460e-01)
       : tensor<2x128x1x576xbf16>, tensor<2x1x8192x576xbf16>, tensor<2x1x8192x576xbf16>

    // A cache of 8 bits: a scale for 64 keys of a head, and one for all values.
    %o8 = attn.attention %q, %k, %v key_scales(%ks, [1, 1, 64, 1] : tensor<2x4x128x1xf32>)
       value_scales(%vs : tensor<1x1x1x1xf32>)
       : tensor<2x16x1x64xbf16>, tensor<2x4x8192x64xf8E4M3FN>, tensor<2x4x8192x64xf8E4M3FN>

    // A cache of 4 bits: 32 bytes are 64 columns, which share a scale.
    %o10 = attn.attention %q, %k, %v packed(key, value) key_scales(%ks : tensor<2x4x8192x1xf32>)
       value_scales(%vs : tensor<2x4x8192x1xf32>)
       : tensor<2x16x1x64xbf16>, tensor<2x4x8192x32xi8>, tensor<2x4x8192x32xi8>

    // One whose numbers lie around others than 0.
    %o11 = attn.attention %q, %k, %v key_scales(%ks : tensor<2x4x8192x1xf32>) value_scales(%vs : tensor<2x4x8192x1xf32>)
       key_zeros(%kz : tensor<2x4x8192x1xf32>) value_zeros(%vz : tensor<2x4x8192x1xf32>)
       : tensor<2x16x1x64xbf16>, tensor<2x4x8192x64xi8>, tensor<2x4x8192x64xi8>

    // For a projection that multiplies 8 bits: what it divides by is known before.
    %o12 = attn.attention %q, %k, %v result_scales(%os : tensor<1x16x1x1xf32>)
       : tensor<2x16x?x64xbf16>, tensor<2x4x?x64xbf16>, tensor<2x4x?x64xbf16> -> tensor<2x16x?x64xf8E4M3FN>

    // In training: a tenth of the weights is dropped.
    %o9, %lse9 = attn.attention %q, %k, %v lse causal(top_left) dropout(%random, 1.000000e-01 : tensor<2xi64>)
       : tensor<2x16x?x64xbf16>, tensor<2x4x?x64xbf16>, tensor<2x4x?x64xbf16>
    ```

    **Errors**
    - `expects query and key to have one head size, but got 64 and 32`.
    - `expects an op of arith or math on scalars, tensor.extract or tensor.dim, but got 'func.call'`.
    - `expects counts of blocks to have 32 blocks of 128 queries, but got 16`.
    - `expects scales of key to have 1 or 128 elements along dimension 2, but got 64`.
    - `expects zero points of a key of i8, but got 'f8E4M3FN'`.
    - `expects scales of a result of 'f8E4M3FN', but got none`.
  }];
  let arguments = (ins
    Attn_Input:$query,
    Attn_Stored:$key,
    Attn_Stored:$value,
    Optional<1DTensorOf<[F32]>>:$alibiSlopes,
    Optional<1DTensorOf<[F32]>>:$sinks,
    Optional<3DTensorOf<[I32]>>:$blockCounts,
    Optional<4DTensorOf<[I32]>>:$blockIndices,
    Optional<3DTensorOf<[I32]>>:$fullBlockCounts,
    Optional<4DTensorOf<[I32]>>:$fullBlockIndices,
    Optional<1DTensorOf<[I64]>>:$dropout,
    Optional<1DTensorOf<[I32]>>:$queryLengths,
    Optional<1DTensorOf<[I32]>>:$keyLengths,
    Optional<1DTensorOf<[I32]>>:$queryStarts,
    Optional<1DTensorOf<[I32]>>:$keyStarts,
    Optional<2DTensorOf<[I32]>>:$pages,
    Optional<4DTensorOf<[F32]>>:$queryScales,
    Optional<4DTensorOf<[F32]>>:$keyScales,
    Optional<4DTensorOf<[F32]>>:$valueScales,
    Optional<4DTensorOf<[F32]>>:$keyZeros,
    Optional<4DTensorOf<[F32]>>:$valueZeros,
    Optional<4DTensorOf<[F32]>>:$resultScales,
    OptionalAttr<DenseI64ArrayAttr>:$queryScaleBlocks,
    OptionalAttr<DenseI64ArrayAttr>:$keyScaleBlocks,
    OptionalAttr<DenseI64ArrayAttr>:$valueScaleBlocks,
    OptionalAttr<DenseI64ArrayAttr>:$blockSizes,
    OptionalAttr<F32Attr>:$scale,
    DefaultValuedStrAttr<StrAttr, "bhsd">:$order,
    OptionalAttr<Attn_CausalAttr>:$causal,
    OptionalAttr<Attn_WindowAttr>:$window,
    OptionalAttr<F32Attr>:$softcap,
    OptionalAttr<F32Attr>:$dropoutProbability,
    UnitAttr:$returnLse,
    OptionalAttr<I64Attr>:$latent,
    OptionalAttr<TypeAttr>:$weights,
    UnitAttr:$batchInvariant,
    UnitAttr:$packedKey,
    UnitAttr:$packedValue,
    OptionalAttr<Schedule_AttentionAttr>:$schedule);
  let results = (outs Attn_Input:$result, Optional<3DTensorOf<[F32]>>:$lse);
  let regions = (region MaxSizedRegion<1>:$score, MaxSizedRegion<1>:$mask);
  let hasCustomAssemblyFormat = 1;
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let builders = [
    OpBuilder<(ins "::mlir::Value":$query, "::mlir::Value":$key, "::mlir::Value":$value,
                   CArg<"::llvm::StringRef", "\"bhsd\"">:$order, CArg<"bool", "false">:$returnLse)>
  ];
  let extraClassDeclaration = [{
    /// Whether `order` is a permutation of the letters b, h, s and d.
    static bool isValidOrder(::llvm::StringRef order);
  }];
}

def Attn_AttentionGradOp : Attn_Op<"attention_grad", [
    Pure, AttrSizedOperandSegments, AttrSizedResultSegments, SingleBlock,
    DeclareOpInterfaceMethods<AttentionOpInterface, ["getTensorRoles"]>,
    InferTypeOpAdaptorWithIsCompatible,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames", "getAsmResultNames"]>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>]> {
  let summary = "Gradients of softmax attention";
  let description = [{
    What a change of the operands of an `attn.attention` changes of a number, given what a change of its results
    does: `output` and `lse` are those results, `output_grad` and `lse_grad` the gradients of the number with respect to
    them. With the scores `S` of that op, before and after its score region, and `P` the weights of softmax, for query `m`
    and key `n` of batch `b` and query head `h`:

    ```
    X(m,n)   = scale * sum_d query[b,h,m,d] * key[b,g,n,d]            g = h / (heads / kv_heads)
    P(m,n)   = exp(S(m,n) - lse[b,h,m])                               0 where the mask hides n
    K(m,n)   = 1, or with dropout 1 / (1 - p) if kept(b,h,m,n), else 0
    D(m)     = sum_e output_grad[b,h,m,e] * output[b,h,m,e] - lse_grad[b,h,m]
    dS(m,n)  = P(m,n) * (K(m,n) * sum_e output_grad[b,h,m,e] * value[b,g,n,e] - D(m))
    dX(m,n)  = dS(m,n) * (derivative of S(m,n) by X(m,n))
    value_grad[b,g,n,e] = sum_h,m K(m,n) * P(m,n) * output_grad[b,h,m,e]
                                                                      over the heads h of g
    key_grad[b,g,n,d]   = scale * sum_h,m dX(m,n) * query[b,h,m,d]    over the heads h of g
    query_grad[b,h,m,d] = scale * sum_n dX(m,n) * key[b,g,n,d]
    ```

    (Dao et al., FlashAttention-2, 2023, section 3.2.) `wrt` says which gradients there are: those of query, key and
    value where it is not there. It also names tensors that the op reads: those that the score region extracts elements
    of, the slopes of ALiBi and the sinks. The gradient of such a tensor is f32, of its shape; all positions that read
    an element add to it. The gradient of sink `h` is `-sum_b,m exp(sinks[h] - lse[b,h,m]) * D(m)`. An operand
    that is named as query and as key has two gradients, one for each part that it has.

    With `deterministic`, a compiled kernel gives equal bits each time it is launched with equal inputs, on any number of
    cores: no schedule is legal that adds to memory in no order. Without it, gradients of queries may differ in their
    last bits.

    A query that sees no key has `lse` -inf and passes nothing on. Masks have no derivative, and neither have
    indices and comparisons.

    Lengths of batches and packed sequences are those of `attn.attention`: each batch has the gradients that it would
    have alone. Gradients of packed tensors are packed as these are, `output`, `lse` and their gradients as query is.
    What is behind a length, or behind the last sequence, is not looked at and has gradients of 0.

    **Syntax**
    ```
    attention_grad ::= `attn.attention_grad` ssa `,` ssa `,` ssa `,` ssa `,` ssa `,` ssa clause*
                       (`attributes` attr-dict)? `:` type (`,` type){5} (`->` (type | `(` type (`,` type)* `)`))?
    clause         ::= those of `attn.attention` but `lse`, `pages`, `latent`, `weights`, `batch_invariant`, `packed`,
                       scales and zero points
                     | `deterministic`
                     | `lse_grad` `(` ssa `:` type `)`
                     | `wrt` `(` part (`,` part)* (`:` type (`,` type)*)? `)`
    part           ::= `query` | `key` | `value` | ssa
    ```
    The operands are query, key, value, output, lse and output_grad, and the types theirs. In `wrt`, tensors stand
    behind the names, and their types behind them. Result types are written only where they have an encoding.

    **Preconditions**
    - All that `attn.attention` says of what the two ops share. The element types
      of query, key and value are equal (attention_grad_c7).
    - `output` and `output_grad` have the shape and element type of the result (attention_grad_c1), `lse` and
      `lse_grad` are f32, batch x heads x length of query (attention_grad_c2). Of packed queries, their batch size is 1.
    - At least one gradient is wanted (attention_grad_c3). A tensor that is named has floats as elements
      (attention_grad_c4) and is named once (attention_grad_c5).
    - The score region can be differentiated: on the way from the score, or from what is read of a tensor that is
      named, to the yielded value there are only additions, subtractions, products, quotients, fused
      multiply-adds, minima and maxima, selections, casts, and those functions of `math` whose derivatives are
      elementary (attention_grad_c6).

    **Postconditions**
    - Sums are f32. Gradients of query, key and value have the element type and the order of these.
    - The gradient of a tensor that no score depends on is 0.
    - At a kink, the derivative is that of one side: of a maximum that of its first operand, of an absolute value
      at 0 it is 0.

    **Example**
    ```mlir
    %dq, %dk, %dv = attn.attention_grad %q, %k, %v, %o, %lse, %do causal(bottom_right)
       : tensor<2x16x?x64xbf16>, tensor<2x4x?x64xbf16>, tensor<2x4x?x64xbf16>,
         tensor<2x16x?x64xbf16>, tensor<2x16x?xf32>, tensor<2x16x?x64xbf16>

    // Of packed documents, which are trained on.
    %dq2, %dk2, %dv2 = attn.attention_grad %q, %k, %v, %o, %lse, %do causal(bottom_right)
       query_starts(%starts : tensor<9xi32>) key_starts(%starts : tensor<9xi32>)
       : tensor<1x16x?x64xbf16>, tensor<1x4x?x64xbf16>, tensor<1x4x?x64xbf16>,
         tensor<1x16x?x64xbf16>, tensor<1x16x?xf32>, tensor<1x16x?x64xbf16>

    // The gradient of a bias, and no other.
    %db = attn.attention_grad %q, %k, %v, %o, %lse, %do wrt(%bias : tensor<16x128x128xbf16>)
       score (%s, %b, %h, %m, %n) {
         %x = tensor.extract %bias[%h, %m, %n] : tensor<16x128x128xbf16>
         %f = arith.extf %x : bf16 to f32
         %y = arith.addf %s, %f : f32
         attn.yield %y : f32
       } : ...
    ```

    **Errors**
    - `expects lse to be 'tensor<2x16x128xf32>', but got 'tensor<2x16x64xf32>'`.
    - `expects an operation with a known derivative, but got 'math.ctlz'`, at the op in the region.
    - `expects a tensor of floats to have a gradient, but got 'tensor<2x128xi32>'`.
  }];
  let arguments = (ins
    Attn_Operand:$query,
    Attn_Operand:$key,
    Attn_Operand:$value,
    Attn_Operand:$output,
    3DTensorOf<[F32]>:$lse,
    Attn_Operand:$outputGrad,
    Optional<3DTensorOf<[F32]>>:$lseGrad,
    Optional<1DTensorOf<[F32]>>:$alibiSlopes,
    Optional<1DTensorOf<[F32]>>:$sinks,
    Optional<3DTensorOf<[I32]>>:$blockCounts,
    Optional<4DTensorOf<[I32]>>:$blockIndices,
    Optional<3DTensorOf<[I32]>>:$fullBlockCounts,
    Optional<4DTensorOf<[I32]>>:$fullBlockIndices,
    Optional<1DTensorOf<[I64]>>:$dropout,
    Optional<1DTensorOf<[I32]>>:$queryLengths,
    Optional<1DTensorOf<[I32]>>:$keyLengths,
    Optional<1DTensorOf<[I32]>>:$queryStarts,
    Optional<1DTensorOf<[I32]>>:$keyStarts,
    Variadic<AnyRankedTensor>:$wrt,
    OptionalAttr<DenseI64ArrayAttr>:$blockSizes,
    OptionalAttr<F32Attr>:$scale,
    DefaultValuedStrAttr<StrAttr, "bhsd">:$order,
    OptionalAttr<Attn_CausalAttr>:$causal,
    OptionalAttr<Attn_WindowAttr>:$window,
    OptionalAttr<F32Attr>:$softcap,
    OptionalAttr<F32Attr>:$dropoutProbability,
    UnitAttr:$deterministic,
    OptionalAttr<Schedule_AttentionGradAttr>:$schedule);
  let results = (outs Optional<Attn_Operand>:$queryGrad, Optional<Attn_Operand>:$keyGrad, Optional<Attn_Operand>:$valueGrad,
                      Variadic<AnyRankedTensor>:$wrtGrads);
  let regions = (region MaxSizedRegion<1>:$score, MaxSizedRegion<1>:$mask);
  let hasCustomAssemblyFormat = 1;
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let builders = [
    // The gradients of query, key and value.
    OpBuilder<(ins "::mlir::Value":$query, "::mlir::Value":$key, "::mlir::Value":$value,
                   "::mlir::Value":$output, "::mlir::Value":$lse, "::mlir::Value":$outputGrad,
                   CArg<"::llvm::StringRef", "\"bhsd\"">:$order)>
  ];
}

def Attn_YieldOp : Attn_Op<"yield", [Pure, ReturnLike, Terminator, ParentOneOf<["AttentionOp", "AttentionGradOp"]>]> {
  let summary = "Value of a score or mask region";
  let description = [{
    Ends a region of `attn.attention` or `attn.attention_grad`.

    **Preconditions**
    - The value is f32 in a score region, i1 in a mask region (attention_c14, attention_c15).

    **Postconditions**
    - The region has the value.

    **Example**
    ```mlir
    attn.yield %visible : i1
    ```

    **Errors**
    - `expects the score region to yield f32, but got 'i1'`, reported at the yield.
  }];
  let arguments = (ins AnyTypeOf<[F32, I1]>:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

#endif // ATTUNE_DIALECT_ATTN_OPS_TD
