// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What loads and stores of global memory go by: tables that find their rows, an
// order among workgroups, and registers on the way to shared memory.

#ifndef ATTUNE_DIALECT_TILE_MEMORYOPS_TD
#define ATTUNE_DIALECT_TILE_MEMORYOPS_TD

include "attune/Dialect/Tile/IR/TileTypes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tile_PagedOp : Tile_Op<"paged", [Pure,
    TypesMatchWith<"the result is the source with rows of any number", "source", "result",
                   "PagedOp::getViewOf($_self)">]> {
  let summary = "A buffer whose rows a table finds";
  let description = [{
    `result[r, j] = source[table[r floordiv page] * page + r mod page, j]`: rows of one page lie behind each other in
    the source. Row r is outside where the table has no entry for its page, or one that is no page of the source, as -1
    is none. Of a 1-D buffer, elements are rows.

    A 3-D source has its pages as its first dimension: `result[r, j] = source[table[r floordiv page], r mod page, j]`, with
    pages of as many rows as the second one has.

    With `rows n` of such a source, rows from n on are outside, and entries of the table behind that of row n - 1 are not
    read, so that these may be anything; n is at most what the entries have room for. The last row then ends its unit, which
    is a part of the page: of the `unit` rows from `last = (n - 1) floordiv unit * unit` on, row r is that which
    `r - (last + unit - n)` would be, and outside where that one lies before the page. The copy engine, which reads
    zeros outside of the page alone, so meets nothing behind the last row where each of its TMA boxes is a unit. Units of one row move
    nothing.

    Tiles of it are loaded, stored, added to and put into channels as those of any other buffer, and by no other op. The
    copy engine fetches a TMA box for each page, so that pages and its tiles are multiples of each other.

    **Example**
    ```mlir
    %keys = tile.paged %pool by %blocks pages of 16 : memref<?x128xbf16>, memref<?xi32>
    %k = tile.load %keys[%row, %c0] stages 2 : memref<?x128xbf16> -> !tile.tile<64x128xbf16, registers>

    // Pages of one head of several, of which so many rows are there.
    %own = tile.paged %head by %blocks rows %n units of 16
      : memref<?x16x128xbf16, strided<[8192, 128, 1], offset: ?>>, memref<?xi32>
    ```

    **Errors**: an op of another kind that uses it; a 3-D source with `pages of`, or with a number of rows in a page that is
    not known; `rows` of another source; units that do not divide the pages, or without `rows`. By `convert-tile-to-gpu`: a
    TMA box that would lie in several pages, or that is no unit.
  }];
  let arguments = (ins MemRefRankOf<[Tile_Element], [1, 2, 3]>:$source, MemRefRankOf<[I32, I64], [1]>:$table,
                       Optional<Index>:$rows,
                       DefaultValuedAttr<ConfinedAttr<I64Attr, [IntPositive]>, "1">:$page,
                       DefaultValuedAttr<ConfinedAttr<I64Attr, [IntPositive]>, "1">:$unit);
  let results = (outs MemRefRankOf<[Tile_Element], [1, 2]>:$result);
  let assemblyFormat = [{
    $source `by` $table (`pages` `of` $page^)? (`rows` $rows^)? (`units` `of` $unit^)? attr-dict
    `:` type($source) `,` type($table)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    static ::mlir::MemRefType getViewOf(::mlir::Type source);
    /// Whether the first dimension of the source counts pages.
    bool hasPageDim() { return getSource().getType().getRank() == 3; }
    /// Rows of a page.
    int64_t getPageSize() { return hasPageDim() ? getSource().getType().getDimSize(1) : getPage(); }
  }];
}

def Tile_FlattenedOp : Tile_Op<"flattened", [Pure,
    TypesMatchWith<"the result is the source with its first two dimensions as one", "source", "result",
                   "FlattenedOp::getViewOf($_self)">]> {
  let summary = "A buffer of which two dimensions are the rows";
  let description = [{
    `result[r, j] = source[r floordiv n, r mod n, j]`, where n is the static size of the second dimension; how many rows there are
    is known where both are. They need not be one distance apart: heads of a tensor and their queries are rows of one tile in either
    order. Of a 2-D buffer, elements are rows.

    Tiles of it are loaded, stored, added to and put into channels as those of any other buffer, and by no other op. The
    copy engine fetches one TMA box of all that have whole n rows, and another one of the rows that are left, so that
    tiles start at multiples of n. It reads zeros outside of the tensor alone: behind a part of it, it reads what follows.

    **Example**
    ```mlir
    // 4 heads of 8 queries, of which each has the heads behind each other.
    %rows = tile.flattened %queries : memref<8x4x128xbf16, strided<[4096, 128, 1], offset: ?>>
    %q = tile.load %rows[%c0, %c0] : memref<32x128xbf16, strided<[128, 1], offset: ?>> -> !tile.tile<64x128xbf16, registers>
    ```

    **Errors**: an op of another kind that uses it; a second dimension whose size is not known; a layout without strides. By
    `convert-tile-to-gpu`: a tile of TMA boxes that starts at no multiple of n, that a cluster shares, or of whose rows
    some are left at a place where no TMA box starts.
  }];
  let arguments = (ins MemRefRankOf<[Tile_Element], [2, 3]>:$source);
  let results = (outs MemRefRankOf<[Tile_Element], [1, 2]>:$result);
  let assemblyFormat = "$source attr-dict `:` type($source)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    static ::mlir::MemRefType getViewOf(::mlir::Type source);
    /// Rows of each element of the first dimension.
    int64_t getInnerRows() { return getSource().getType().getDimSize(1); }
  }];
}

def Tile_InterleavedOp : Tile_Op<"interleaved", [Pure, SameTypeOperands,
    DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Buffers of one size whose blocks of rows, or of columns, alternate";
  let description = [{
    Of p sources and blocks of b rows, `result[(q * p + s) * b + i, j] = source_s[q * b + i, j]`; with `dim 1` the same of
    columns. So one tile holds the block of the same place of every source: an MMA multiplies by all of them at once,
    and reads its other operand once.

    Tiles of it go through channels. The copy engine fetches a TMA box of each block, so that tiles start at
    multiples of p * b and have multiples of it.

    **Example**
    ```mlir
    %both = tile.interleaved %gate, %up blocks of 128 : memref<4096x512xbf16>
    tile.put %channel[%e], %both[%row, %k] : !tile.channel<256x64xbf16, stages = 4>, memref<?x512xbf16>
    ```

    **Errors**: fewer than two sources; an op of another kind that uses it. By `convert-tile-to-gpu`: a tile that does
    not go through a channel; a TMA box that would lie in several blocks.
  }];
  let arguments = (ins Variadic<MemRefRankOf<[Tile_Element], [2]>>:$sources, ConfinedAttr<I64Attr, [IntPositive]>:$block,
                       DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative, IntMaxValue<1>]>, "0">:$dim);
  let results = (outs MemRefRankOf<[Tile_Element], [2]>:$result);
  let assemblyFormat = "$sources `blocks` `of` $block (`dim` $dim^)? attr-dict `:` type($sources)";
  let hasVerifier = 1;
}

def Tile_OrderedOp : Tile_Op<"ordered", [SingleBlock, NoTerminator, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Lets workgroups store one after the other";
  let description = [{
    The workgroup waits until those of all turns before `turn` have come to the end of the body, and lets the next one
    start at the end of its own. So what the body accumulates is added in the order of turns: the sum has the same bits
    in every run. What it has stored before its own end is there for those that have waited for it: for their bodies, and for
    what follows these.

    `turn` is the number of workgroups whose turn is a lower one: 0 to `turns - 1` where each has one of its own. Those of equal
    turns do not wait for each other. With turn 0 for all but one, that one waits for all others.

    `counter[index]` says how far the turns are. It is 0 before the first one, and again when all `turns` workgroups have been: a
    workspace that is restored.

    Stores of one body go to elements of their own. All threads of the workgroup, or of the role, come to it. That of an earlier turn must have started or be sure to
    start: turns grow with the number of the workgroup (x first), which is the order in which chips start them, or with
    that in which a workgroup takes its work. Others wait for ever.

    **Example**
    ```mlir
    tile.ordered %counters[%tile] turn %split of %splits {
      tile.store %sum, %total[%row, %c0] accumulate : !tile.tile<64x128xf32, registers>, memref<?x128xf32>
    } : memref<?xi32>
    ```

    `role` names the role of which one thread runs the program that `tile-specialize-warps` gives the op to. `tile-promote-to-shared`
    lets it store by the copy engine what other roles put for it, and release the slots: it alone waits, and they go on.

    **Errors**: an op in the body that has effects on memory and is no `tile.store`, nor of the way by which the copy engine stores:
    `tile.get`, `tile.store_async`, `tile.wait_reads` and `tile.release`. By `convert-tile-to-gpu`: `tile.store` in a role of which one
    thread runs the program, and `tile.store_async` elsewhere.
  }];
  let arguments = (ins MemRefRankOf<[I32], [1]>:$counter, Index:$index, Index:$turn, Index:$turns, OptionalAttr<StrAttr>:$role);
  let regions = (region SizedRegion<1>:$body);
  let builders = [
    OpBuilder<(ins "::mlir::Value":$counter, "::mlir::Value":$index, "::mlir::Value":$turn, "::mlir::Value":$turns), [{
      build($_builder, $_state, counter, index, turn, turns, /*role=*/::mlir::StringAttr());
    }]>
  ];
  let assemblyFormat = [{
    $counter `[` $index `]` `turn` $turn `of` $turns (`role` $role^)? $body attr-dict `:` type($counter)
  }];
  let hasRegionVerifier = 1;
}

def Tile_JoinOp : Tile_Op<"join", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Tells the last one of some workgroups that all are there";
  let description = [{
    Workgroups come to it in any order, and none waits for another. The result is true in all threads of the one that comes as the last of
    `total`, and false in those of the others. What each has stored before, also by the copy engine, is there for the last one, for what follows.

    `counter[index]` says how many have come. It is 0 before the first one, and again when the last one has been: a workspace that is
    restored, of which nothing is left to clear between launches.

    All threads of the workgroup, or of the role, come to it together; a workgroup that has several tiles may come several times. `offset` is
    the place in workgroup memory, in bytes, of the word by which threads learn the result; `tile-allocate-shared` gives it.

    **Example**
    ```mlir
    tile.store %sum, %part[%row, %c0] : !tile.tile<64x128xf32, registers>, memref<?x128xf32>
    %isLast = tile.join %counters[%tile] of %parts : memref<?xi32>
    scf.if %isLast {
      // All parts can be loaded.
    }
    ```

    **Errors**: by `convert-tile-to-gpu`: a role of which one thread runs the program, or which has several teams; no place in
    workgroup memory.
  }];
  let arguments = (ins MemRefRankOf<[I32], [1]>:$counter, Index:$index, Index:$total, OptionalAttr<I64Attr>:$offset);
  let results = (outs I1:$result);
  let assemblyFormat = [{
    $counter `[` $index `]` `of` $total (`at` $offset^)? attr-dict `:` type($counter)
  }];
}

def Tile_PutTileOp : Tile_Op<"put_tile", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Writes a tile in registers into a slot";
  let description = [{
    A `tile.put` in two steps, where copies pass through registers: a `tile.load` issues the loads, and they may be under way until
    this op writes what they have brought to the slot of `element`, which is free by then. As behind a put, `tile.get` makes it usable.

    Into a channel with swizzle atoms it puts what a role has computed: it waits until all roles that get the slot's earlier
    element have released it, and the element is there for them, and for their MMAs, when all warps of the role have put their parts.
    `role` names the role of which all threads run the program that `tile-specialize-warps` gives it to; without it, that is the first one.

    **Example**
    ```mlir
    %k = tile.load %keys[%row, %c0] : memref<?x128xbf16> -> !tile.tile<32x128xbf16, registers>
    tile.put_tile %channel[%e], %k : !tile.channel<32x128xbf16, stages = 1, padding = 4>, !tile.tile<32x128xbf16, registers>
    ```

    **Errors**: shapes or element types differ; a channel of a cluster. By `convert-tile-to-gpu`: in a channel with swizzle atoms, several rows in
    another layout than the accumulator's of a warpgroup MMA, or a `tile.put` beside it.
  }];
  let arguments = (ins Tile_ChannelType:$channel, Index:$element, Tile_RegisterTile:$value, OptionalAttr<StrAttr>:$role);
  let assemblyFormat = "$channel `[` $element `]` `,` $value (`role` $role^)? attr-dict `:` type($channel) `,` type($value)";
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
    must stay as they are until a `tile.wait_reads` of the token. `role` names the role of which one thread
    runs the program that `tile-specialize-warps` gives the op to, which then copies the whole tile. `eviction` is that of `tile.store`, and `map` the tensor map, an argument of the kernel that
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
                       DefaultValuedAttr<Tile_EvictionAttr, "Eviction::Normal">:$eviction,
                       OptionalAttr<StrAttr>:$role);
  let results = (outs Tile_TokenType:$token);
  let assemblyFormat = [{
    $source `,` $destination `[` $row `,` $column `]` (`accumulate` $accumulate^)? (`role` $role^)? (`eviction` $eviction^)?
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

def Tile_AddRunOp : Tile_Op<"add_run", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Adds neighbouring elements to a buffer";
  let description = [{
    `buffer[index + i] += run[i]`, each element atomically, in no order. `convert-tile-to-gpu` makes it of what a thread has of a
    `tile.store` that accumulates `by_threads`, and `convert-kernel-to-llvm` one atomic operation on a vector, for chips that have such.
    The place of the run is a multiple of its bytes.

    **Example**
    ```mlir
    tile.add_run %run, %sums[%place] : vector<4xf32>, memref<?xf32>
    ```

    **Errors**: element types differ.
  }];
  let arguments = (ins VectorOfRankAndType<[1], [F32]>:$run, MemRefRankOf<[F32], [1]>:$buffer, Index:$index);
  let assemblyFormat = "$run `,` $buffer `[` $index `]` attr-dict `:` type($run) `,` type($buffer)";
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

#endif // ATTUNE_DIALECT_TILE_MEMORYOPS_TD
