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

#endif // ATTUNE_DIALECT_TILE_MEMORYOPS_TD
