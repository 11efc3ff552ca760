// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What draws random numbers for the elements of a tile.

#ifndef ATTUNE_DIALECT_TILE_RANDOMOPS_TD
#define ATTUNE_DIALECT_TILE_RANDOMOPS_TD

include "attune/Dialect/Tile/IR/TileTypes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tile_IsKeptOp : Tile_Op<"is_kept", [Pure, HasParent<"MapOp">]> {
  let summary = "Whether dropout keeps an element";
  let description = [{
    In the region of a `tile.map`: whether a random number of 8 bits is at least `threshold`, so that `threshold` of 256 elements are
    dropped. It is a byte of Philox 4x32-10 with the key `seed` and the counter (`key`, `head`, `query`, `offset`), of which bits
    0 and 3 of query and key are cleared. The word is number `2 * (bit 0 of query) + (bit 0 of key)`, and of that the byte whose lowest bit
    is `24 - 16 * (bit 3 of query) - 8 * (bit 3 of key)`.

    One call serves 16 elements. Where rows and columns of the tile are queries and keys that begin at a multiple of 16, and a
    thread has four rows, or columns, of two bits of which its partner has the other half, as in the accumulators of MMAs, two
    lanes make a call each, exchange halves, and compare four bytes at once. Other elements are each worked out by themselves.

    **Example**
    ```mlir
    %kept = tile.map(%p) {
    ^bb0(%x: f32, %i: index, %j: index):
      %query = arith.addi %first_query, %i : index
      %key = arith.addi %first_key, %j : index
      %is_kept = tile.is_kept %query, %key head %head seed(%seed0, %seed1) offset %offset threshold 26
      %y = arith.select %is_kept, %x, %zero : f32
      tile.yield %y : f32
    } : (!tile.tile<64x32xf32, registers>) -> !tile.tile<64x32xf32, registers>
    ```

    **Errors**: one that is not directly in a `tile.map`; a threshold below 0 or above 255.
  }];
  let arguments = (ins Index:$query, Index:$key, I32:$head, I32:$seed0, I32:$seed1, I32:$offset,
                       ConfinedAttr<I64Attr, [IntNonNegative, IntMaxValue<255>]>:$threshold);
  let results = (outs I1:$result);
  let assemblyFormat = [{
    $query `,` $key `head` $head `seed` `(` $seed0 `,` $seed1 `)` `offset` $offset `threshold` $threshold attr-dict
  }];
  let extraClassDeclaration = [{
    /// The same as arithmetic on scalars, of values that `lookup` gives for the operands.
    static ::mlir::Value expand(::mlir::OpBuilder &builder, IsKeptOp op,
                                ::llvm::function_ref<::mlir::Value(::mlir::Value)> lookup);
  }];
}

#endif // ATTUNE_DIALECT_TILE_RANDOMOPS_TD
