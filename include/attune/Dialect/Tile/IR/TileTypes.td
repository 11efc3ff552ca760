// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef ATTUNE_DIALECT_TILE_TYPES_TD
#define ATTUNE_DIALECT_TILE_TYPES_TD

include "attune/Dialect/Tile/IR/TileAttrs.td"
include "mlir/IR/BuiltinTypeInterfaces.td"

class Tile_Type<string name, string typeMnemonic, list<Trait> traits = []>
    : TypeDef<Tile_Dialect, name, traits> {
  let mnemonic = typeMnemonic;
}

def Tile_TileType : Tile_Type<"Tile", "tile"> {
  let summary = "A tile that one workgroup holds";
  let description = [{
    `shape` has one or two static dimensions. In `registers` the layout is a
    `#tile.layout`, absent until `tile-assign-layouts` has run; in `shared` it is
    a `#tile.swizzle`. Ops say in which spaces their tiles may be, and what is in no other than these is refused:
    a further space is a case of `MemorySpace` and of each `switch` over it.

    ```mlir
    !tile.tile<128x64xf32, registers>
    !tile.tile<64x128xbf16, shared, #tile.swizzle<vector = 8, bits = 3, shift = 0>>
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t">:$shape,
    "::mlir::Type":$elementType,
    EnumParameter<Tile_MemorySpace>:$space,
    OptionalParameter<"::mlir::Attribute">:$layout);
  let assemblyFormat = "`<` custom<ShapedElement>($shape, $elementType) `,` $space (`,` $layout^)? `>`";
  let genVerifyDecl = 1;
  let builders = [
    TypeBuilderWithInferredContext<(ins "::llvm::ArrayRef<int64_t>":$shape, "::mlir::Type":$elementType), [{
      return $_get(elementType.getContext(), shape, elementType, MemorySpace::Registers, ::mlir::Attribute());
    }]>];
  let extraClassDeclaration = [{
    int64_t getRank() const { return getShape().size(); }
    int64_t getNumElements() const;
    bool isRegisters() const { return getSpace() == MemorySpace::Registers; }
    bool isShared() const { return getSpace() == MemorySpace::Shared; }
    /// Rows and columns, where a 1-D tile is one row.
    ::llvm::SmallVector<int64_t, 2> getRowsAndColumns() const;
    /// Of a tile in shared memory: how many rows lie behind each other, and from one to the next in elements.
    ::llvm::SmallVector<int64_t, 2> getStoredShape() const;
    /// Bytes of a tile in shared memory, whose elements are of whole bytes.
    int64_t getSizeInBytes() const;
    /// The layout of a tile in registers; null if it is not assigned, and of tiles in other spaces.
    LayoutAttr getRegisterLayout() const { return ::llvm::dyn_cast_or_null<LayoutAttr>(getLayout()); }
    /// The swizzle of a tile in shared memory; null of tiles in other spaces.
    SwizzleAttr getSwizzle() const { return ::llvm::dyn_cast_or_null<SwizzleAttr>(getLayout()); }
    TileType withLayout(::mlir::Attribute layout) const {
      return get(getContext(), getShape(), getElementType(), getSpace(), layout);
    }
    TileType withElementType(::mlir::Type type) const {
      return get(getContext(), getShape(), type, getSpace(), getLayout());
    }
  }];
}

def Tile_ChannelType : Tile_Type<"Channel", "channel"> {
  let summary = "A ring of tiles in shared memory between a producer and a consumer";
  let description = [{
    `stages` slots, each a 2-D shared tile. Elements are numbered from 0; element
    `e` lives in slot `e mod stages`.

    ```mlir
    !tile.channel<64x128xbf16, stages = 2>
    !tile.channel<64x128xbf16, stages = 2, swizzle_atom = 64>
    !tile.channel<64x128xbf16, stages = 2, swizzle_atom = 64, cluster = 2>
    ```

    With a `swizzle_atom`, slots are stored in columns of swizzle atoms of that width (`#tile.swizzle`) and filled by the
    chip's copy engine, a TMA box of all rows of such a column at a time; a single row is not permuted. Its two ends then wait for each other at
    barriers in shared memory, one pair for each slot, and not for the workgroup as a whole.

    With `padding`, rows start on other banks by elements that nobody uses, at constant distances. Where `transposed`, a slot is
    stored column by column. Where `paired`, pairs of columns alternate in its swizzle atoms; only a `tile.restage` writes it then.

    With a `chunk`, warps fill slots by asynchronous copies that leave what lanes copy in the order of these: rows are not padded, but
    their chunks of so many elements are permuted over all banks (`getForChunks`).

    Channels of a `cluster` of more than one workgroup are one: an element is the same tile in all of
    them. Each workgroup's put copies its share of the rows to the slots of all, and a slot is free when
    all of them have released it. The workgroups start and end together, for each uses the others' memory.
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t">:$shape,
    "::mlir::Type":$elementType,
    "int64_t":$stages,
    DefaultValuedParameter<"int64_t", "0">:$swizzle_atom,
    DefaultValuedParameter<"int64_t", "1">:$cluster,
    DefaultValuedParameter<"int64_t", "0">:$padding,
    DefaultValuedParameter<"bool", "false">:$transposed,
    DefaultValuedParameter<"bool", "false">:$paired,
    DefaultValuedParameter<"int64_t", "0">:$chunk);
  let assemblyFormat = [{
    `<` custom<ShapedElement>($shape, $elementType) `,` `stages` `=` $stages ``
        custom<ChannelDetails>($swizzle_atom, $cluster, $padding, $transposed, $paired, $chunk) `` `>`
  }];
  let builders = [
    TypeBuilder<(ins "::llvm::ArrayRef<int64_t>":$shape, "::mlir::Type":$elementType, "int64_t":$stages,
                     "int64_t":$swizzle_atom, CArg<"bool", "false">:$paired), [{
      return $_get($_ctxt, shape, elementType, stages, swizzle_atom, /*cluster=*/1, /*padding=*/0, /*transposed=*/false, paired, /*chunk=*/0);
    }]>];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The type of one slot.
    TileType getTileType() const;
    /// Bytes of all slots.
    int64_t getSizeInBytes() const;
    /// Rows of a tile that one workgroup copies.
    int64_t getCopiedRows() const { return getShape()[0] / getCluster(); }
    /// The same channel of a cluster; null, with an error, if its tiles cannot be shared.
    ChannelType withCluster(::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError, int64_t cluster) const {
      return getChecked(emitError, getContext(), getShape(), getElementType(), getStages(), getSwizzleAtom(), cluster, getPadding(),
                        getTransposed(), getPaired(), getChunk());
    }
  }];
}

def Tile_PendingType : Tile_Type<"Pending", "pending"> {
  let summary = "A tile in registers that is still being computed";
  let description = [{
    What a `tile.mma_async` gives; a `tile.wait` makes the tile of it. It completes as this value, wherever that
    goes: loops may carry it, and other MMAs may be issued in between.

    ```mlir
    !tile.pending<!tile.tile<64x128xf32, registers>>
    ```
  }];
  let parameters = (ins "::attune::tile::TileType":$tile);
  let assemblyFormat = "`<` $tile `>`";
  let extraClassDeclaration = [{
    /// Of a tile, or `type` itself if that is pending already.
    static PendingType getOf(::mlir::Type type) {
      auto pending = ::llvm::dyn_cast<PendingType>(type);
      return pending ? pending : get(type.getContext(), ::llvm::cast<TileType>(type));
    }
  }];
}

def Tile_TokenType : Tile_Type<"Token", "token"> {
  let summary = "Stands for a copy out of shared memory that may be under way";
  let description = [{
    What a `tile.store_async` gives. Behind a `tile.wait_reads` of it, the copy has read its tile.
  }];
}

def Tile_SchedulerType : Tile_Type<"Scheduler", "scheduler"> {
  let summary = "Where the producers of a workgroup leave the numbers of its next query tiles";
  let description = [{
    Two slots in shared memory, with a pair of barriers each, between a `tile.fetch_work`
    and a `tile.get_work`. Elements are numbered from 0, as those of a channel are.
  }];
  let extraClassDeclaration = [{
    static constexpr int64_t kSlots = 2;
    /// For each slot a number and two barriers, of 8 bytes each.
    static constexpr int64_t kWords = 3 * kSlots;
  }];
}

// Elements of buffers that are loaded: floats, and what is stored in their place.
def Tile_Element : AnyTypeOf<[AnyFloat, I8]>;

def Tile_RegisterTile : Type<
  And<[CPred<"::llvm::isa<::attune::tile::TileType>($_self)">,
       CPred<"::llvm::cast<::attune::tile::TileType>($_self).isRegisters()">]>,
  "tile in registers", "::attune::tile::TileType">;

def Tile_SharedTile : Type<
  And<[CPred<"::llvm::isa<::attune::tile::TileType>($_self)">,
       CPred<"::llvm::cast<::attune::tile::TileType>($_self).isShared()">]>,
  "tile in shared memory", "::attune::tile::TileType">;

/// What an MMA multiplies.
def Tile_OperandTile : Type<
  And<[CPred<"::llvm::isa<::attune::tile::TileType>($_self)">,
       Or<[CPred<"::llvm::cast<::attune::tile::TileType>($_self).isRegisters()">,
           CPred<"::llvm::cast<::attune::tile::TileType>($_self).isShared()">]>]>,
  "tile in registers or in shared memory", "::attune::tile::TileType">;

#endif // ATTUNE_DIALECT_TILE_TYPES_TD
