// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What moves the elements of tiles between registers and lanes, and computes
// nothing.

#ifndef ATTUNE_DIALECT_TILE_REGISTEROPS_TD
#define ATTUNE_DIALECT_TILE_REGISTEROPS_TD

include "attune/Dialect/Tile/IR/TileTypes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tile_SwapColumnsOp : Tile_Op<"swap_columns", [Pure, AllTypesMatch<["input", "result"]>]> {
  let summary = "Exchanges each column with its partner";
  let description = [{
    `result[i, j] = input[i, j + stride]` where `j floordiv stride` is even, and `input[i, j - stride]` where it is odd: with a
    stride of 1 neighbours change places, with one of 64 the halves of every 128 columns, as rotary embedding rotates them
    together.

    Free where a thread holds both columns (registers are renamed), and one shuffle for each register where another lane
    holds the partner, after a selection where lanes do so in different registers. `convert-tile-to-gpu` refuses all else.

    **Example**
    ```mlir
    %partners = tile.swap_columns %s stride 64 : <64x256xf32, registers>
    ```

    **Errors**: a 1-D tile; columns that are not a multiple of twice the stride. By `convert-tile-to-gpu`: partners in two
    warps, or in lanes whose numbers differ in more than one binary digit, or, for lanes that agree in this digit, in two
    registers; other elements than those of 16 and 32 bits that lanes would exchange.
  }];
  let arguments = (ins Tile_RegisterTile:$input, ConfinedAttr<I64Attr, [IntPositive]>:$stride);
  let results = (outs Tile_RegisterTile:$result);
  let assemblyFormat = "$input `stride` $stride attr-dict `:` type($input)";
  let hasVerifier = 1;
}

def Tile_ConvertLayoutOp : Tile_Op<"convert_layout", [Pure]> {
  let summary = "The same tile, held by other lanes and registers";
  let description = [{
    Free where both layouts agree on lanes and warps (registers are renamed);
    half a shuffle for each register and binary digit where registers change places with lanes, and
    one for each register where elements move between the lanes of a warp otherwise. Elements that
    move between warps go through shared memory (`tile-convert-in-shared`).
  }];
  let arguments = (ins Tile_RegisterTile:$input);
  let results = (outs Tile_RegisterTile:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_DeinterleaveOp : Tile_Op<"deinterleave", [Pure]> {
  let summary = "The tiles whose blocks of rows, or of columns, alternate in a tile";
  let description = [{
    Of p results and blocks of b rows, `result_s[q * b + i, j] = input[(q * p + s) * b + i, j]`; with `dim 1` the same of
    columns. Takes apart what an operand of `tile.interleaved` gave, and costs nothing: a thread has all of them.

    **Example**
    ```mlir
    %gate, %up = tile.deinterleave %sums blocks of 128 dim 1 : !tile.tile<64x256xf32, registers> -> !tile.tile<64x128xf32, registers>, !tile.tile<64x128xf32, registers>
    ```

    **Errors**: results that are no equal parts of the input; an input that the blocks do not divide.
  }];
  let arguments = (ins Tile_RegisterTile:$input, ConfinedAttr<I64Attr, [IntPositive]>:$block,
                       DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative, IntMaxValue<1>]>, "0">:$dim);
  let results = (outs Variadic<Tile_RegisterTile>:$parts);
  let assemblyFormat = "$input `blocks` `of` $block (`dim` $dim^)? attr-dict `:` type($input) `->` type($parts)";
  let hasVerifier = 1;
}

#endif // ATTUNE_DIALECT_TILE_REGISTEROPS_TD
