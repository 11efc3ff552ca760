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

    **Errors**: element types or ranks differ; `read_once` without `stages`; `stages` of a tile of a 1-D buffer.
  }];
  let arguments = (ins MemRefRankOf<[Tile_Element], [1, 2]>:$source, Variadic<Index>:$indices, UnitAttr:$in_bounds,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$stages, UnitAttr:$read_once,
                       OptionalAttr<StrAttr>:$role, DefaultValuedAttr<Tile_EvictionAttr, "Eviction::Normal">:$eviction);
  let results = (outs Tile_RegisterTile:$result);
  let assemblyFormat = [{
    $source `[` $indices `]` (`in_bounds` $in_bounds^)? (`stages` $stages^)? (`read_once` $read_once^)? (`role` $role^)?
    (`eviction` $eviction^)? attr-dict
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
    left-hand operand of an MMA, from which the chip's copy engine stores the tile. `role` names the role of which all threads run the program
    that `tile-specialize-warps` gives the store to; without it, that is the first one. `eviction` is a hint to the device's
    cache, which copy engines take: what is not read soon goes `first`.

    **Example**
    ```mlir
    tile.store %o, %destination[%row, %c0] : !tile.tile<64x128xbf16, registers>, memref<?x128xbf16>
    ```

    **Errors**: element types or ranks differ; `accumulate` by way of an `operand_slot`; `accumulate`, or a path through shared
    memory, for i8.
  }];
  let arguments = (ins Tile_RegisterTile:$value, MemRefRankOf<[AnyFloat, I8], [1, 2]>:$destination, Variadic<Index>:$indices,
                       UnitAttr:$accumulate, DefaultValuedAttr<Tile_StorePathAttr, "StorePath::Direct">:$path,
                       OptionalAttr<StrAttr>:$role, DefaultValuedAttr<Tile_EvictionAttr, "Eviction::Normal">:$eviction);
  let builders = [
    OpBuilder<(ins "::mlir::Value":$value, "::mlir::Value":$destination, "::mlir::ValueRange":$indices, "bool":$accumulate,
                   "StorePath":$path, CArg<"Eviction", "Eviction::Normal">:$eviction), [{
      build($_builder, $_state, value, destination, indices, accumulate, path, /*role=*/::mlir::StringAttr(), eviction);
    }]>
  ];
  let assemblyFormat = [{
    $value `,` $destination `[` $indices `]` (`accumulate` $accumulate^)? (`path` $path^)? (`role` $role^)?
    (`eviction` $eviction^)? attr-dict `:` type($value) `,` type($destination)
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

def Tile_BufferOp : Tile_Op<"buffer", [MemoryEffects<[MemAlloc]>]> {
  let summary = "Makes room for one tile in shared memory";
  let description = [{
    The memory belongs to the workgroup until the kernel ends. It is written by `tile.write`. Where the role that uses it
    has teams, each of them has such a tile. `offset` is its place in workgroup memory, in bytes, which
    `tile-allocate-shared` gives it; tiles of further teams lie behind it.

    **Example**
    ```mlir
    %o = tile.buffer : !tile.tile<128x64xbf16, shared, #tile.swizzle<vector = 8, bits = 3, shift = 0, swizzle_atom = 64>>
    ```
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$offset);
  let results = (outs Tile_SharedTile:$result);
  let assemblyFormat = "(`at` $offset^)? attr-dict `:` type($result)";
}

def Tile_AlternateOp : Tile_Op<"alternate", [Pure, AllTypesMatch<["even", "odd", "result"]>]> {
  let summary = "Gives one of two tiles in shared memory by turns";
  let description = [{
    The first one for an even `number`, else the second one. What is written by turns may be read in one turn while the next
    one is written.

    **Example**
    ```mlir
    %place = tile.alternate %i, %first, %second : !tile.tile<64x64xbf16, shared, #swizzle>
    ```
  }];
  let arguments = (ins Index:$number, Tile_SharedTile:$even, Tile_SharedTile:$odd);
  let results = (outs Tile_SharedTile:$result);
  let assemblyFormat = "$number `,` $even `,` $odd attr-dict `:` type($result)";
}

def Tile_WriteOp : Tile_Op<"write", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Writes a tile in registers to a tile in shared memory";
  let description = [{
    `destination[i, j] = value[i, j]` or, where `transposed`, `destination[j, i]`. When it has run, each warpgroup may multiply the rows that it
    holds, and store its part by `tile.store_async`; other warpgroups may read them behind a `tile.barrier`. What reads these elements as they
    were must be done by then: MMAs of the group are waited for, and so are the reads of its stores.

    The destination is that of a `tile.buffer`, or of a `tile.get` until its release.

    **Errors**: element types differ, or shapes that are not each other's, transposed if the op says so. By `convert-tile-to-gpu`: a destination
    in whole rows; a layout that is not the accumulator's of a warpgroup MMA.
  }];
  let arguments = (ins Tile_RegisterTile:$value, Tile_SharedTile:$destination, UnitAttr:$transposed);
  let assemblyFormat = "$value `,` $destination (`transposed` $transposed^)? attr-dict `:` type($value) `,` type($destination)";
  let extraClassDeclaration = [{
    /// How many warpgroups share the columns of the value, by its layout.
    int64_t countColumnParts();
  }];
  let hasVerifier = 1;
}

def Tile_RestageOp : Tile_Op<"restage", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Puts a tile in shared memory into a slot as MMAs of warpgroups want it";
  let description = [{
    As `tile.put_tile` into a channel with swizzle atoms, `slot[i, j] = source[i, j]`, widened to the elements of the channel, or `transposed`,
    `slot[j, i] = source[i, j]`. Where bytes are `packed`, column `j` of `C` is in the lower bits of one, and column `j + C` in its upper ones. It waits until
    all roles that get the slot's earlier element have released it, and the element is there for them, and for their MMAs, when all warps of the role, which
    share the work, have put their parts. The source may be released behind it. `role` names the role of which all threads run the program that
    `tile-specialize-warps` gives it to; without it, that is the first one.

    **Example**
    ```mlir
    %v = tile.get %rows[%e] : !tile.channel<128x64xf8E4M3FN, stages = 2, swizzle_atom = 64> -> !tile.tile<128x64xf8E4M3FN, shared, #s>
    tile.restage %v into %columns[%e] transposed role "restage"
        : !tile.tile<128x64xf8E4M3FN, shared, #s>, !tile.channel<64x128xf8E4M3FN, stages = 2, swizzle_atom = 128, paired = true>
    tile.restage %v into %wide[%e] role "restage"
        : !tile.tile<128x64xf8E4M3FN, shared, #s>, !tile.channel<128x64xf16, stages = 2, swizzle_atom = 64>
    tile.release %rows[%e] : !tile.channel<128x64xf8E4M3FN, stages = 2, swizzle_atom = 64>
    ```

    **Errors**: shapes that are not each other's, transposed or with twice the columns if the op says so; elements of the channel that are not those of the source, or
    what these are widened to; `packed` elements other than i8, or beside `transposed`; a channel of a cluster. By `convert-tile-to-gpu`: whole rows; a source of
    other than elements of 8 bits, or of a multiple of 16 rows, 32 where it is transposed, and 16 columns; widened elements of other than 16 bits;
    another put into the channel.
  }];
  let arguments = (ins Tile_ChannelType:$channel, Index:$element, Tile_SharedTile:$source, UnitAttr:$transposed, UnitAttr:$packed,
                       OptionalAttr<StrAttr>:$role);
  let assemblyFormat = [{
    $source `into` $channel `[` $element `]` (`transposed` $transposed^)? (`packed` $packed^)? (`role` $role^)? attr-dict
    `:` type($source) `,` type($channel)
  }];
  let hasVerifier = 1;
}

def Tile_StoreAsyncOp : Tile_Op<"store_async", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Issues the copy of a tile in shared memory to a global buffer";
  let description = [{
    As `tile.store`, by the chip's copy engine. Each warpgroup copies the rows and columns that it wrote; they
    must stay as they are until a `tile.wait_reads` of the token. `eviction` is that of `tile.store`, and `map` the tensor map, an argument of the kernel that
    `tile-allocate-shared` adds.

    **Example**
    ```mlir
    tile.write %o, %shared : !tile.tile<128x64xbf16, registers>, !tile.tile<128x64xbf16, shared, #s>
    %stored = tile.store_async %shared, %output[%row, %c0] : !tile.tile<128x64xbf16, shared, #s>, memref<?x64xbf16>
    tile.wait_reads %stored : !tile.token
    ```

    **Errors**: element types differ; a token that nothing waits for, for shared memory must not end before the copy has read it.
  }];
  let arguments = (ins Tile_SharedTile:$source, MemRefRankOf<[AnyFloat], [2]>:$destination, Index:$row, Index:$column,
                       UnitAttr:$accumulate, Optional<AnyType>:$map,
                       DefaultValuedAttr<Tile_EvictionAttr, "Eviction::Normal">:$eviction);
  let results = (outs Tile_TokenType:$token);
  let assemblyFormat = [{
    $source `,` $destination `[` $row `,` $column `]` (`accumulate` $accumulate^)? (`eviction` $eviction^)?
    (`map` $map^ `:` type($map) `,`)? attr-dict
    `:` type($source) `,` type($destination)
  }];
  let hasVerifier = 1;
}

def Tile_DoneOp : Tile_Op<"done", [Pure]> {
  let summary = "The token of what is done already";
  let description = [{
    What a loop begins with that carries the token of the iteration before.

    **Example**
    ```mlir
    %none = tile.done
    %last = scf.for %i = %c0 to %n step %c1 iter_args(%before = %none) -> (!tile.token) {
      tile.wait_reads %before : !tile.token
      tile.write %o, %shared : !tile.tile<128x64xbf16, registers>, !tile.tile<128x64xbf16, shared, #s>
      %stored = tile.store_async %shared, %output[%i, %c0] : !tile.tile<128x64xbf16, shared, #s>, memref<?x64xbf16>
      scf.yield %stored : !tile.token
    }
    tile.wait_reads %last : !tile.token
    ```
  }];
  let results = (outs Tile_TokenType:$token);
  let assemblyFormat = "attr-dict";
}

//===----------------------------------------------------------------------===//
// Channels
//===----------------------------------------------------------------------===//

def Tile_ChannelOp : Tile_Op<"channel", [MemoryEffects<[MemAlloc]>]> {
  let summary = "Makes a ring of slots in shared memory";
  let description = [{
    All slots start free. The memory belongs to the workgroup until the kernel ends. `offset` and
    `barriers` are the places, in bytes, of its slots and of the barriers of these (those that say full,
    then those that say empty) in workgroup memory; `tile-allocate-shared` gives them.
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$offset, OptionalAttr<I64Attr>:$barriers);
  let results = (outs Tile_ChannelType:$result);
  let assemblyFormat = "(`at` $offset^)? (`barriers` `at` $barriers^)? attr-dict `:` type($result)";
}

def Tile_PutOp : Tile_Op<"put", [MemoryEffects<[MemRead, MemWrite]>, AttrSizedOperandSegments]> {
  let summary = "Issues the copy of a tile of a global buffer into a slot";
  let description = [{
    Fills the slot of `element` with `source[row + i, column + j]`, 0 outside the
    buffer (`in_bounds` promises that there is no outside). The copy may still be under way when the op has run: only `tile.get`
    of the same element makes it usable. Waits until the slot's earlier element
    was released by the whole workgroup. Where `predicate` is false nothing is copied, but the put still
    counts as one for the `pending` of a later `tile.get`.

    `role` names the role of warps that `tile-specialize-warps` gives the put to; without it, that is the first one of
    which one thread runs the program. `map` are the tensor maps by which the chip's copy engine finds the tile, one for each buffer
    that the source is made of: arguments of the kernel that `convert-tile-to-gpu` adds.

    `eviction` is a hint to the device's cache, which copy engines take: what no other workgroup reads goes `first`, and
    what all of a head's read `last`.

    **Example**
    ```mlir
    tile.put %channel[%e], %keys[%row, %c0] if %more : !tile.channel<64x128xbf16, stages = 2>, memref<?x128xbf16>
    ```
  }];
  let arguments = (ins Tile_ChannelType:$channel, Index:$element, MemRefRankOf<[Tile_Element], [2]>:$source,
                       Index:$row, Index:$column, Optional<I1>:$predicate, Variadic<AnyType>:$maps, UnitAttr:$in_bounds,
                       OptionalAttr<StrAttr>:$role, DefaultValuedAttr<Tile_EvictionAttr, "Eviction::Normal">:$eviction);
  let assemblyFormat = [{
    $channel `[` $element `]` `,` $source `[` $row `,` $column `]` (`if` $predicate^)? (`in_bounds` $in_bounds^)?
    (`role` $role^)? (`eviction` $eviction^)? (`map` `(` $maps^ `:` type($maps) `)`)? attr-dict `:` type($channel) `,` type($source)
  }];
  let hasVerifier = 1;
}

def Tile_GetOp : Tile_Op<"get", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Waits for an element of a channel and gives its tile";
  let description = [{
    When it has run, the element's data is visible to the whole workgroup. At
    most `pending` puts, of any channel, that were issued after that of `element`
    may still be under way; 0 waits for all.
  }];
  let arguments = (ins Tile_ChannelType:$channel, Index:$element,
                       DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$pending);
  let results = (outs Tile_SharedTile:$result);
  let assemblyFormat = "$channel `[` $element `]` (`pending` $pending^)? attr-dict `:` type($channel) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_ReleaseOp : Tile_Op<"release", [MemoryEffects<[MemWrite]>]> {
  let summary = "Frees the slot of an element";
  let description = [{
    With `after`, the slot is freed only once these tiles have been worked out, and so is what comes behind the release:
    the arithmetic stays under the MMAs that are waited for behind it, also where the chip's assembler would rather
    wait first.

    ```mlir
    tile.release %keys[%i] after(%sums : !tile.tile<128x4xf32, registers>) : !tile.channel<...>
    ```
  }];
  let arguments = (ins Tile_ChannelType:$channel, Index:$element, Variadic<Tile_RegisterTile>:$after);
  let assemblyFormat = [{
    $channel `[` $element `]` (`after` `(` $after^ `:` type($after) `)`)? attr-dict `:` type($channel)
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Value":$channel, "::mlir::Value":$element), [{
      build($_builder, $_state, channel, element, /*after=*/::mlir::ValueRange());
    }]>
  ];
}

//===----------------------------------------------------------------------===//
// Synchronization that tile-allocate-shared makes explicit
//===----------------------------------------------------------------------===//

def Tile_FenceBarriersOp : Tile_Op<"fence_barriers", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Makes the barriers of all channels usable by the workgroup, and by its cluster";
  let description = [{
    Stands once, behind what makes barriers in shared memory and in front of all that uses them.
    All threads wait for each other, in all workgroups of a cluster.
  }];
  let assemblyFormat = "attr-dict";
}

def Tile_SyncWarpOp : Tile_Op<"sync_warp", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Waits for all lanes of the warp";
  let assemblyFormat = "attr-dict";
}

def Tile_BarrierOp : Tile_Op<"barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Waits for all warps of the role";
  let description = [{
    Where there are no roles, for all warps of the workgroup. What each of them has written to shared memory before, by
    `tile.write` too, all of them read behind it.

    **Errors**: by `convert-tile-to-gpu`: in a role of which one thread runs the program.
  }];
  let assemblyFormat = "attr-dict";
}

def Tile_ArriveClusterOp : Tile_Op<"arrive_cluster", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Says that this thread is done with the memory of other workgroups";
  let description = [{
    Every thread of a cluster does so once before `tile.wait_cluster`, which is at the end of the kernel; threads of a role
    of which one runs the program do it by themselves.
  }];
  let assemblyFormat = "attr-dict";
}

def Tile_WaitClusterOp : Tile_Op<"wait_cluster", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Waits until all threads of the cluster have said so";
  let assemblyFormat = "attr-dict";
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
