// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What puts new keys or values into the pages of a cache.

#ifndef ATTUNE_DIALECT_ATTN_APPENDOP_TD
#define ATTUNE_DIALECT_ATTN_APPENDOP_TD

include "attune/Dialect/Attn/IR/AttnOpBase.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"

def Attn_AppendOp : Attn_Op<"append", [
    Pure, AttrSizedOperandSegments, DestinationStyleOpInterface, InferTypeOpAdaptor,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "A pool of pages with new rows in it";
  let description = [{
    Puts the keys, or the values, of new tokens into a cache in pages. For every token `t` whose slot is one of the pool, and every head `h`:

    ```
    x                                       = rows[t,h]             or x rotated by the angles of positions[t], with rotary
    pool[slots[t] / page, slots[t] % page, h] = round(x)            page = rows of a page
    ```

    All else of the pool stays as it is. A token whose slot is below 0, or behind the last one of the pool, is left out. Slots are otherwise distinct:
    what two tokens write to one slot is not defined. The pool has the dimensions b, s, h and d of keys in pages, as `attn.attention` takes them
    with `order(bshd)`; pages of other orders are the same with an `#attn.strided`.

    The result is the pool's new value. It is written in place where nothing reads the old value after this: then a function that returns it
    takes the pool as an argument that it changes, and has no such result.

    With `rotary`, the first `2 * columns` elements of a row are rotated in pairs, where `columns` are those of the tables of cosines and sines. These have a row for
    each position; one behind the last row, or below 0, reads the last row. Element `j` makes a pair with `columns + j`, as in GPT-NeoX and
    Llama, or with `interleaved`, `2 * j` with `2 * j + 1`, as in GPT-J (Su et al., RoFormer, 2021). What is behind them is not rotated:

    ```
    x[a], x[b] = x[a] * cos[p,j] - x[b] * sin[p,j], x[b] * cos[p,j] + x[a] * sin[p,j]      p = positions[t]
    ```

    A pool of 8 bits or less needs scales, by which its elements are to be multiplied: `scales`, which are given, one for each head or one for all, or `row_scales`,
    a pool of scales, of which a row's is made as `attn.quantize` makes it and written beside the row, in place too. Both lie as the scales of
    `attn.attention` do, and elements are rounded as those of `attn.quantize` are.
    With `packed`, a pool of i8 holds two integers of 4 bits in each byte, as that op packs them.

    Integers may have zero points beside their scales, one for each, as `attn.attention` takes them: `zeros`, which are given as `scales` are, or
    `row_zeros`, which are made and written as `row_scales` are. Rows are quantized with them as `attn.quantize` does it: to all integers that there
    are, from -128 or -8 on.

    Keys and values take an op each. Two of a block that have the same slots and a known, equal number of heads, and different pools, become one kernel, unless
    something between them reads what the first one has changed.

    **Preconditions**
    - The head size is static and at least 1, no static size exceeds 2147483647 (append_c1), and rows and pool agree on heads and head size, of which a pool that is `packed` has half (append_c2).
    - There is a slot for each token (append_c3).
    - Both tables of `rotary` have one type, of f32 or of the elements of rows, and between 1 and half of the head size columns; there is a position for each token (append_c4).
      They have a row at least.
    - A pool of 8 bits or less has `scales` or `row_scales`, another one neither (append_c5).
    - `scales` are 1x1x1x1 or 1x1xHx1 for H heads (append_c6), and `row_scales` have the shape of the pool, with 1 for the head size (append_c7).
      Scales that are given are finite and greater than 0, which is not checked.
    - Zero points are those of a pool of i8; `zeros` are beside `scales`, and `row_zeros` beside `row_scales`, of their shape (append_c9). Those that are given are
      finite, which is not checked.
    - What is `packed` is i8, and stands for a multiple of 32 columns; tables of `rotary` then have a multiple of 16 (append_c8).
    - Encodings are absent or `#attn.strided`; no tensor has more bytes than 63 bits can count (attention_c9, attention_c18). No two elements of a pool
      share a place.

    **Postconditions**
    - All is computed in f32 and rounded once, to nearest, halfway to even. Of 8 bits or less, infinities and what is beyond the largest number are that one.

    **Example**
    ```mlir
    %k1 = attn.append %k to %pool at %slots rotary(%cos, %sin, %positions : tensor<4096x64xf32>, tensor<4096x64xf32>, tensor<?xi32>)
       : tensor<?x8x128xbf16>, tensor<?x16x8x128xbf16>, tensor<?xi64>
    // Of 8 bits, with a scale for each row.
    %v1, %s1 = attn.append %v to %values at %slots row_scales(%s : tensor<?x16x8x1xf32>)
       : tensor<?x8x128xbf16>, tensor<?x16x8x128xf8E4M3FN>, tensor<?xi64>
    // Of 4 bits, two in a byte.
    %v2, %s2 = attn.append %v to %small at %slots packed row_scales(%s : tensor<?x16x8x1xf32>)
       : tensor<?x8x128xbf16>, tensor<?x16x8x64xi8>, tensor<?xi64>
    // With a zero point for each row.
    %v3, %s3, %z3 = attn.append %v to %small at %slots packed row_scales(%s : tensor<?x16x8x1xf32>) row_zeros(%z : tensor<?x16x8x1xf32>)
       : tensor<?x8x128xbf16>, tensor<?x16x8x64xi8>, tensor<?xi64>
    ```

    **Errors**
    - `expects rows and pool to have equal heads and head sizes, but got 'tensor<?x8x128xbf16>' and 'tensor<?x16x4x128xbf16>'`.
    - `expects scales of a pool of 'f8E4M3FN', but got none`.
    - `expects zero points of a pool of i8, but got 'f8E4M3FN'`.
    - `expects a table of rotary to have from 1 to 64 columns, but got 65`.
  }];
  let arguments = (ins
    3DTensorOf<[F16, BF16, F32]>:$rows,
    1DTensorOf<[I32, I64]>:$slots,
    Optional<2DTensorOf<[F16, BF16, F32]>>:$cos,
    Optional<2DTensorOf<[F16, BF16, F32]>>:$sin,
    Optional<1DTensorOf<[I32, I64]>>:$positions,
    Optional<4DTensorOf<[F32]>>:$scales,
    Optional<4DTensorOf<[F32]>>:$zeros,
    4DTensorOf<[F16, BF16, F32, F8E4M3FN, F8E5M2, F8E4M3FNUZ, F8E5M2FNUZ, I8]>:$pool,
    Optional<4DTensorOf<[F32]>>:$rowScales,
    Optional<4DTensorOf<[F32]>>:$rowZeros,
    UnitAttr:$interleaved,
    UnitAttr:$packed,
    OptionalAttr<Schedule_AppendAttr>:$schedule);
  let results = (outs
    4DTensorOf<[F16, BF16, F32, F8E4M3FN, F8E5M2, F8E4M3FNUZ, F8E5M2FNUZ, I8]>:$newPool,
    Variadic<4DTensorOf<[F32]>>:$newNumbers);
  let assemblyFormat = [{
    $rows `to` $pool `at` $slots
    (`rotary` `(` $cos^ `,` $sin `,` $positions `:` type($cos) `,` type($sin) `,` type($positions) `)`)?
    (`interleaved` $interleaved^)? (`packed` $packed^)?
    (`scales` `(` $scales^ `:` type($scales) `)`)? (`zeros` `(` $zeros^ `:` type($zeros) `)`)?
    (`row_scales` `(` $rowScales^ `:` type($rowScales) `)`)? (`row_zeros` `(` $rowZeros^ `:` type($rowZeros) `)`)?
    (`schedule` `(` $schedule^ `)`)? attr-dict-with-keyword
    `:` type($rows) `,` type($pool) `,` type($slots)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Pool, and scales and zero points of its rows, which the results update.
    ::mlir::MutableOperandRange getDpsInitsMutable();

    /// What `row_scales` and `row_zeros` become; null without these.
    ::mlir::Value getNewScales() { return getRowScales() ? getNewNumbers().front() : ::mlir::Value(); }
    ::mlir::Value getNewZeros() { return getRowZeros() ? getNewNumbers().back() : ::mlir::Value(); }

    ::mlir::RankedTensorType getRowsType() {
      return ::llvm::cast<::mlir::RankedTensorType>(getRows().getType());
    }
    ::mlir::RankedTensorType getPoolType() {
      return ::llvm::cast<::mlir::RankedTensorType>(getPool().getType());
    }
    int64_t getHeadDim() { return getRowsType().getDimSize(2); }
    /// Pairs of elements of a row that are rotated; 0 for none.
    int64_t getRotatedPairs();
  }];
}

#endif // ATTUNE_DIALECT_ATTN_APPENDOP_TD
