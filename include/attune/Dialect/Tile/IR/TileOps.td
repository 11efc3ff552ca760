// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef ATTUNE_DIALECT_TILE_OPS_TD
#define ATTUNE_DIALECT_TILE_OPS_TD

include "attune/Dialect/Tile/IR/TileMemoryOps.td"
include "attune/Dialect/Tile/IR/TileRandomOps.td"
include "attune/Dialect/Tile/IR/TileRegisterOps.td"
include "attune/Dialect/Tile/IR/TileRoleOps.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

//===----------------------------------------------------------------------===//
// Between memory and registers
//===----------------------------------------------------------------------===//

def Tile_LoadOp : Tile_Op<"load", [MemoryEffects<[MemRead]>]> {
  let summary = "Reads a tile of a global buffer into registers";
  let description = [{
    `result[i, j] = source[row + i, column + j]`, and 0 where that lies outside
    the buffer. A 1-D tile comes from a 1-D buffer, or with `stages` from a row of a 2-D one.

    **Example**
    ```mlir
    %q = tile.load %source[%row, %c0] : memref<?x128xbf16> -> !tile.tile<64x128xbf16, registers>
    ```

    `in_bounds` promises that no element lies outside of the buffer. With `stages`, `tile-promote-to-shared`
    lets the tile go through a ring of so many slots in shared memory; with `read_once` it is read into
    registers from there as soon as it has come, and its slot is free. `role` and `eviction` are those of the `tile.put` it becomes.

    With `by_threads`, the tile is read from where a `tile.store` `by_threads` has stored one of the same layout, which its type must have.

    **Errors**: element types or ranks differ; `read_once` without `stages`; `stages` of a tile of a 1-D buffer; `by_threads` with
    `stages`, or of a buffer of other rows than the tile's.
  }];
  let arguments = (ins MemRefRankOf<[Tile_Element], [1, 2]>:$source, Variadic<Index>:$indices, UnitAttr:$in_bounds,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$stages, UnitAttr:$read_once,
                       OptionalAttr<StrAttr>:$role, DefaultValuedAttr<Tile_EvictionAttr, "Eviction::Normal">:$eviction,
                       UnitAttr:$by_threads);
  let results = (outs Tile_RegisterTile:$result);
  let assemblyFormat = [{
    $source `[` $indices `]` (`in_bounds` $in_bounds^)? (`stages` $stages^)? (`read_once` $read_once^)? (`role` $role^)?
    (`eviction` $eviction^)? (`by_threads` $by_threads^)? attr-dict
    `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_StoreOp : Tile_Op<"store", [MemoryEffects<[MemWrite]>]> {
  let summary = "Writes a tile in registers to a global buffer";
  let description = [{
    `destination[row + i, column + j] = value[i, j]`; elements that lie outside
    the buffer are not written. A 1-D tile goes to a 1-D buffer.

    With `accumulate`, elements are added to those of the buffer, each atomically, and in no order but that of a
    `tile.ordered` around it.

    `path` says what `tile-promote-to-shared` makes of it: a `buffer` in shared memory, or the `operand_slot` of a
    left-hand operand of an MMA, from which the chip's copy engine stores the tile. `role` names the role whose program
    `tile-specialize-warps` gives the store to; without it, that is the first one of which all threads run the program. A role of which one
    thread does stores by way of a `buffer` what the first one hands over, which goes on: the buffer is a ring of so many slots as `stages` says, or one. `eviction` is a hint to the device's
    cache, which copy engines take: what is not read soon goes `first`.

    With `by_threads`, the rows of the buffer from the first index on hold the elements of the tile in another order: run by run of 16 bytes of
    the registers of a thread, those of the lanes of a warp side by side, and warp by warp. So a warp writes whole lines, wherever its
    elements are in the tile. All of these rows must be in the buffer, which must be contiguous.

    **Example**
    ```mlir
    tile.store %o, %destination[%row, %c0] : !tile.tile<64x128xbf16, registers>, memref<?x128xbf16>
    ```

    **Errors**: element types or ranks differ; `stages` without a `buffer`; `accumulate` by way of an `operand_slot`; `accumulate`, or a path through shared
    memory, for i8; `by_threads` with such a path, or to a buffer of other rows than the tile's. By `convert-tile-to-gpu`: `by_threads` of a tile
    that several threads hold the same elements of.
  }];
  let arguments = (ins Tile_RegisterTile:$value, MemRefRankOf<[AnyFloat, I8], [1, 2]>:$destination, Variadic<Index>:$indices,
                       UnitAttr:$accumulate, DefaultValuedAttr<Tile_StorePathAttr, "StorePath::Direct">:$path,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$stages, OptionalAttr<StrAttr>:$role, DefaultValuedAttr<Tile_EvictionAttr, "Eviction::Normal">:$eviction,
                       UnitAttr:$by_threads);
  let builders = [
    OpBuilder<(ins "::mlir::Value":$value, "::mlir::Value":$destination, "::mlir::ValueRange":$indices, "bool":$accumulate,
                   "StorePath":$path, CArg<"Eviction", "Eviction::Normal">:$eviction), [{
      build($_builder, $_state, value, destination, indices, accumulate, path, /*stages=*/::mlir::IntegerAttr(),
            /*role=*/::mlir::StringAttr(), eviction, /*by_threads=*/false);
    }]>
  ];
  let assemblyFormat = [{
    $value `,` $destination `[` $indices `]` (`accumulate` $accumulate^)? (`path` $path^)? (`stages` $stages^)? (`role` $role^)?
    (`eviction` $eviction^)? (`by_threads` $by_threads^)? attr-dict `:` type($value) `,` type($destination)
  }];
  let hasVerifier = 1;
}

def Tile_ReadOp : Tile_Op<"read", [MemoryEffects<[MemRead]>]> {
  let summary = "Reads a whole tile from shared memory into registers";
  let description = [{
    `result[i, j] = source[i, j]` or, where `transposed`, `source[j, i]`. A tile of one row may be read as a 1-D tile.

    **Example**
    ```mlir
    %columns = tile.read %rows transposed : !tile.tile<64x128xbf16, shared, #s> -> !tile.tile<128x64xbf16, registers>
    ```

    **Errors**: element types differ, or shapes that are not each other's, transposed if the op says so; a `transposed` 1-D tile. By
    `convert-tile-to-gpu`: several rows in swizzle atoms in a layout that is not the accumulator's of a warpgroup MMA; whole rows that are `transposed`.
  }];
  let arguments = (ins Tile_SharedTile:$source, UnitAttr:$transposed);
  let results = (outs Tile_RegisterTile:$result);
  let assemblyFormat = "$source (`transposed` $transposed^)? attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Arithmetic on tiles in registers
//===----------------------------------------------------------------------===//

def Tile_FillOp : Tile_Op<"fill", [Pure]> {
  let summary = "A tile with the same value everywhere";
  let arguments = (ins AnyType:$value);
  let results = (outs Tile_RegisterTile:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_MmaOp : Tile_Op<"mma", [MemoryEffects<[MemRead]>, AllTypesMatch<["acc", "result"]>]> {
  let summary = "Matrix multiply and accumulate";
  let description = [{
    `result[i, j] = acc[i, j] + sum_k lhs[i, k] * rhs[k, j]`, with `lhs[k, i]` and `rhs[j, k]` in their places under
    `transpose_lhs` and `transpose_rhs`: so are operands in shared memory read. Operands live in registers or
    in shared memory; the accumulator lives in registers. `scope` says which
    threads issue it together, and `warps_n` how many such scopes share the columns of the result; all others share
    its rows. Each part is computed by `replicas` scopes, one of which would do: so that what is made of the result is
    where another MMA, whose columns are shared, reads it. `atom` is the matrix instruction, found by `tile-assign-layouts` from the
    types of the operands and the scope. Where a chip has none for operands of different widths, the numbers of fewer bits are widened to the type of
    the others: by a warp, next to the instruction that multiplies them; for a warpgroup, on their way through shared memory (`tile.restage`).

    With `lhs_through_shared`, `tile-promote-to-shared` writes a left-hand operand that was computed to shared
    memory, to be multiplied from there. A right-hand operand of 8 bits that warpgroups multiply is stored by columns (`transpose_rhs`).

    With `packed_rhs` each i8 of a row of `rhs` holds two signed integers of 4 bits: byte `c` of `C` holds column `c` in its lower
    bits and column `c + C` in its upper ones, so that the row stands for `2 * C` columns. Warps widen both parts of what they read once.
    With `unit_exponents` `[e, f]`, what is multiplied are natural numbers instead, each 8 more than the integer, times `2^e` of the
    lower bits and times `2^f` of the upper ones: so a chip may have them with fewer instructions. Who reads the result makes up for both.

    **Example**
    ```mlir
    %s = tile.mma %q, %k, %zero transpose_rhs
       : !tile.tile<64x128xbf16, registers>, !tile.tile<32x128xbf16, shared, #s>, !tile.tile<64x32xf32, registers>
    ```

    **Errors**: shapes that do not multiply; an atom of other types or of another scope; `warps_n` and `replicas` both above 1;
    `packed_rhs` of other elements than i8, or whose parts are no multiples of the atom; `unit_exponents` that are not two,
    without `packed_rhs`, or for a warpgroup. By
    `convert-tile-to-gpu`: rows of `rhs` that are paired where the instruction does not want them so, or not where it does;
    `packed_rhs` whose columns `warps_n` share, or that is in registers.
  }];
  let arguments = (ins Tile_OperandTile:$lhs, Tile_OperandTile:$rhs, Tile_RegisterTile:$acc,
                       UnitAttr:$transpose_lhs, UnitAttr:$transpose_rhs, DefaultValuedAttr<Tile_MmaScopeAttr, "MmaScope::Warp">:$scope,
                       DefaultValuedAttr<ConfinedAttr<I64Attr, [IntPositive]>, "1">:$warps_n,
                       UnitAttr:$lhs_through_shared, OptionalAttr<Tile_MmaAtomAttr>:$atom,
                       DefaultValuedAttr<ConfinedAttr<I64Attr, [IntPositive]>, "1">:$replicas, UnitAttr:$packed_rhs,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$unit_exponents);
  let results = (outs Tile_RegisterTile:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` $acc (`transpose_lhs` $transpose_lhs^)? (`transpose_rhs` $transpose_rhs^)? (`packed_rhs` $packed_rhs^)?
    (`unit_exponents` $unit_exponents^)? (`scope` $scope^)? (`warps_n` $warps_n^)?
    (`replicas` $replicas^)? (`lhs_through_shared` $lhs_through_shared^)? attr-dict `:` type($lhs) `,` type($rhs) `,` type($acc)
  }];
  let extraClassDeclaration = [{
    /// The first term of the sum, and the one behind the last one: all.
    std::pair<int64_t, int64_t> getTermRange();
  }];
  let hasVerifier = 1;
}

def Tile_MmaAsyncOp : Tile_Op<"mma_async", [MemoryEffects<[MemRead, MemWrite]>,
    TypesMatchWith<"the result is the accumulator when it is there", "acc", "result", "PendingType::getOf($_self)">]> {
  let summary = "Issues an MMA";
  let description = [{
    As `tile.mma`, but the result is there only after its `tile.wait`. Until
    then the operands must stay as they are. One may add to what another one of the same shape is still computing.

    **Example**
    ```mlir
    %pending = tile.mma_async %q, %k, %zero transpose_rhs
       : !tile.tile<64x128xbf16, shared, #s>, !tile.tile<32x128xbf16, shared, #s>, !tile.tile<64x32xf32, registers>
    %s = tile.wait %pending : !tile.pending<!tile.tile<64x32xf32, registers>>
    ```

    **Errors**: those of `tile.mma`; `terms` that are not two, are none, or are not of the operands, that the atom does not divide, or
    beside `packed_rhs`.
  }];
  let arguments = (ins Tile_OperandTile:$lhs, Tile_OperandTile:$rhs, AnyTypeOf<[Tile_RegisterTile, Tile_PendingType]>:$acc,
                       UnitAttr:$transpose_lhs, UnitAttr:$transpose_rhs, DefaultValuedAttr<Tile_MmaScopeAttr, "MmaScope::Warp">:$scope,
                       DefaultValuedAttr<ConfinedAttr<I64Attr, [IntPositive]>, "1">:$warps_n,
                       OptionalAttr<Tile_MmaAtomAttr>:$atom, DefaultValuedAttr<ConfinedAttr<I64Attr, [IntPositive]>, "1">:$replicas,
                       UnitAttr:$packed_rhs, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$unit_exponents,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$terms);
  let results = (outs Tile_PendingType:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` $acc (`transpose_lhs` $transpose_lhs^)? (`transpose_rhs` $transpose_rhs^)? (`packed_rhs` $packed_rhs^)?
    (`unit_exponents` $unit_exponents^)? (`scope` $scope^)? (`warps_n` $warps_n^)?
    (`replicas` $replicas^)? (`terms` $terms^)? attr-dict `:` type($lhs) `,` type($rhs) `,` type($acc)
  }];
  let extraClassDeclaration = [{
    /// The first term of the sum, and the one behind the last one.
    std::pair<int64_t, int64_t> getTermRange();
  }];
  let hasVerifier = 1;
}

def Tile_WaitOp : Tile_Op<"wait", [MemoryEffects<[MemRead, MemWrite]>,
    TypesMatchWith<"the result is what is waited for", "pending", "result",
                   "::llvm::cast<PendingType>($_self).getTile()">]> {
  let summary = "Waits for an MMA";
  let description = [{
    Gives the tile that the MMA computes. Those that were issued later may still run: where hardware completes them in order and
    waits by their number, `convert-tile-to-gpu` counts how many there are, at least, on all ways from the MMA to here.
  }];
  let arguments = (ins Tile_PendingType:$pending);
  let results = (outs Tile_RegisterTile:$result);
  let assemblyFormat = "$pending attr-dict `:` type($pending)";
}

def Tile_WaitReadsOp : Tile_Op<"wait_reads", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Waits until an MMA or a store has read its operands";
  let description = [{
    Behind it, the operands of the MMA, or the tile that is stored, may be overwritten. The result of the MMA may still be
    added to by those that were issued since, and these may still run.

    **Example**
    ```mlir
    %first = tile.mma_async %a0, %b0, %zero : ...
    %second = tile.mma_async %a1, %b1, %first : ...
    tile.wait_reads %first : !tile.pending<!tile.tile<128x256xf32, registers>>
    ```
  }];
  let arguments = (ins AnyTypeOf<[Tile_PendingType, Tile_TokenType]>:$pending);
  let assemblyFormat = "$pending attr-dict `:` type($pending)";
}

def Tile_MapOp : Tile_Op<"map", [SingleBlockImplicitTerminator<"YieldOp">, RecursiveMemoryEffects]> {
  let summary = "Elementwise computation by a scalar region";
  let description = [{
    `result[i, j] = region(inputs[i, j]..., i, j)`. All inputs have the shape of
    the result. The region's arguments are one scalar per input and one index per
    dimension; it may read scalars and buffers defined outside, and adds to buffers of f32 by `memref.atomic_rmw` whose
    result is not used, if each element is one thread's alone. It holds no tiles. Index arithmetic
    in the region may be done in 32 bits.

    **Example**
    ```mlir
    %p = tile.map(%s, %m) {
    ^bb0(%x: f32, %y: f32, %i: index, %j: index):
      %d = arith.subf %x, %y : f32
      %e = math.exp2 %d : f32
      tile.yield %e : f32
    } : (!tile.tile<64x32xf32, registers>, !tile.tile<64x32xf32, registers>) -> !tile.tile<64x32xf32, registers>
    ```
  }];
  let arguments = (ins Variadic<Tile_RegisterTile>:$inputs);
  let results = (outs Tile_RegisterTile:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`(` $inputs `)` $body attr-dict `:` functional-type($inputs, $result)";
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::attune::tile::TileType":$resultType, "::mlir::ValueRange":$inputs,
    "::llvm::function_ref<::mlir::Value(::mlir::OpBuilder &, ::mlir::Location, ::mlir::ValueRange)>":$body)>];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Tile_YieldOp : Tile_Op<"yield", [Pure, ReturnLike, Terminator, HasParent<"MapOp">]> {
  let summary = "The scalar result of a tile.map";
  let arguments = (ins Optional<AnyType>:$value);
  let builders = [OpBuilder<(ins), [{ /* ensureTerminator adds it without a value */ }]>];
  let assemblyFormat = "($value^ `:` type($value))? attr-dict";
}

def Tile_ReduceOp : Tile_Op<"reduce", [
    Pure, OptionalTypesMatchWith<"the initial value has the type of the result", "result", "init", "$_self">]> {
  let summary = "Combines the elements of each row, or of each column";
  let description = [{
    `result[i] = kind over j of input[i, j]` or, with `dim 0`, `result[j] = kind over i of input[i, j]`: `dim` is the dimension
    that goes. The order is unspecified. A maximum
    ignores NaN where any other element is a number.

    With a 2-D result of p columns the columns of the input are divided into p groups, which
    ones is unspecified, and `result[i, g]` combines those of group g. One group per lane
    needs no exchange between lanes; a second reduction completes it.

    `init`, of the result's type, is combined with the rest. A partial reduction begins with it and goes on element by
    element, so that all of it comes after what `init` is computed from: back ends then compute that first. Without it, elements are
    combined in pairs, which is the shortest way to the result.

    **Example**
    ```mlir
    %sum = tile.reduce add %weights init %rescaled : !tile.tile<64x128xf32, registers> -> !tile.tile<64x4xf32, registers>
    ```

    **Errors**: shapes that do not fit; a partial reduction of columns. By `convert-tile-to-gpu`: rows, or columns, that
    several warps share, as they may where `tile-convert-in-shared` gathers them: outside of roles.
  }];
  let arguments = (ins Tile_ReductionKindAttr:$kind, Tile_RegisterTile:$input, Optional<Tile_RegisterTile>:$init,
                       DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative, IntMaxValue<1>]>, "1">:$dim);
  let results = (outs Tile_RegisterTile:$result);
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "ReductionKind":$kind, "::mlir::Value":$input), [{
    build($_builder, $_state, result, kind, input, /*init=*/::mlir::Value());
  }]>];
  let assemblyFormat = "$kind $input (`init` $init^)? (`dim` $dim^)? attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_AnyOp : Tile_Op<"any", [Pure]> {
  let summary = "Whether an element is true";
  let description = [{
    True where an element is true that the warp holds. Those that only other
    warps hold may count or not, so that warps may differ in the result and in
    what they run by it: an `scf.if` on it has no effect on memory, and no
    multiplies.

    **Example**
    ```mlir
    %any = tile.any %grown : !tile.tile<64xi1, registers>
    %acc1 = scf.if %any -> (!tile.tile<64x32xf32, registers>) {
      ...
    ```

    **Errors**: elements that are not `i1`. Those of the branch are found by
    `convert-tile-to-gpu`.
  }];
  let arguments = (ins Tile_RegisterTile:$input);
  let results = (outs I1:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
  let hasVerifier = 1;
}

def Tile_BroadcastOp : Tile_Op<"broadcast", [Pure]> {
  let summary = "Repeats a 1-D tile along the columns, or along the rows";
  let description = "`result[i, j] = input[i]` or, with `dim 1`, `input[j]`: `dim` is the dimension that the input runs along.";
  let arguments = (ins Tile_RegisterTile:$input,
                       DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative, IntMaxValue<1>]>, "0">:$dim);
  let results = (outs Tile_RegisterTile:$result);
  let assemblyFormat = "$input (`dim` $dim^)? attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

#endif // ATTUNE_DIALECT_TILE_OPS_TD
