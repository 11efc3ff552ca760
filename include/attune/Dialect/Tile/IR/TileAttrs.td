// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef ATTUNE_DIALECT_TILE_ATTRS_TD
#define ATTUNE_DIALECT_TILE_ATTRS_TD

include "attune/Dialect/Tile/IR/TileDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class Tile_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Tile_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def Tile_MemorySpace : I32EnumAttr<"MemorySpace", "where a tile lives", [
    I32EnumAttrCase<"Registers", 0, "registers">,
    I32EnumAttrCase<"Shared", 1, "shared">]> {
  let cppNamespace = "::attune::tile";
  let genSpecializedAttr = 0;
}

def Tile_ReductionKind : I32EnumAttr<"ReductionKind", "how elements are combined", [
    I32EnumAttrCase<"Add", 0, "add">,
    I32EnumAttrCase<"Max", 1, "max">]> {
  let cppNamespace = "::attune::tile";
  let genSpecializedAttr = 0;
}
def Tile_ReductionKindAttr : EnumAttr<Tile_Dialect, Tile_ReductionKind, "reduction">;

def Tile_MmaScope : I32EnumAttr<"MmaScope", "which threads issue an MMA together", [
    I32EnumAttrCase<"Warp", 0, "warp">,
    I32EnumAttrCase<"Warpgroup", 1, "warpgroup">]> {
  let cppNamespace = "::attune::tile";
  let genSpecializedAttr = 0;
}
def Tile_MmaScopeAttr : EnumAttr<Tile_Dialect, Tile_MmaScope, "scope">;

def Tile_StorePath : I32EnumAttr<"StorePath", "how a tile in registers reaches a global buffer", [
    I32EnumAttrCase<"Direct", 0, "direct">,
    I32EnumAttrCase<"OperandSlot", 1, "operand_slot">,
    I32EnumAttrCase<"Buffer", 2, "buffer">]> {
  let cppNamespace = "::attune::tile";
  let genSpecializedAttr = 0;
}
def Tile_StorePathAttr : EnumAttr<Tile_Dialect, Tile_StorePath, "path">;

def Tile_Eviction : I32EnumAttr<"Eviction", "when the device's cache gives up what is read", [
    I32EnumAttrCase<"Normal", 0, "normal">,
    I32EnumAttrCase<"First", 1, "first">,
    I32EnumAttrCase<"Last", 2, "last">]> {
  let cppNamespace = "::attune::tile";
  let genSpecializedAttr = 0;
}
def Tile_EvictionAttr : EnumAttr<Tile_Dialect, Tile_Eviction, "eviction">;

def Tile_Overlap : I32EnumAttr<"Overlap", "when an overlapped loop updates its accumulator before the next MMA adds to it", [
    I32EnumAttrCase<"Early", 0, "early">,
    I32EnumAttrCase<"Late", 1, "late">]> {
  let cppNamespace = "::attune::tile";
  let genSpecializedAttr = 0;
}
def Tile_OverlapAttr : EnumAttr<Tile_Dialect, Tile_Overlap, "overlap">;

def Tile_RoleThreads : I32EnumAttr<"RoleThreads", "which threads of a role run its program", [
    I32EnumAttrCase<"All", 0, "all">,
    I32EnumAttrCase<"One", 1, "one">]> {
  let cppNamespace = "::attune::tile";
  let genSpecializedAttr = 0;
}

def Tile_CopySync : I32EnumAttr<"CopySync", "how a copy into shared memory is waited for", [
    I32EnumAttrCase<"None", 0, "none">,
    I32EnumAttrCase<"CommitGroup", 1, "commit_group">,
    I32EnumAttrCase<"Count", 2, "count">]> {
  let cppNamespace = "::attune::tile";
  let genSpecializedAttr = 0;
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

def Tile_LayoutAttr : Tile_Attr<"Layout", "layout"> {
  let summary = "Which lane of which warp holds which element of a tile in which register";
  let description = [{
    Three lists of *modes*, for the register, the lane and the warp index. A mode
    is a triple `[extent, dim, stride]`. An index is split into digits, first
    mode fastest, and each digit adds `digit * stride` to coordinate `dim`:

    `coordinate[d] = sum over all modes with dim == d of digit * stride`

    so that a register number, a lane and a warp together name one element. A
    stride of 0 replicates: all digits hold the same element.

    Example: the accumulator of a 16x8 matrix instruction with 32 lanes, where
    lane `l` holds rows `l / 4` and `l / 4 + 8`, columns `2 * (l % 4)` and one more:

    ```mlir
    #tile.layout<registers = [[2, 1, 1], [2, 0, 8]],
                 lanes = [[4, 1, 2], [8, 0, 1]], warps = []>
    ```

    | register | lane 0 | lane 1 | lane 4 |
    |---|---|---|---|
    | 0 | (0, 0) | (0, 2) | (1, 0) |
    | 1 | (0, 1) | (0, 3) | (1, 1) |
    | 2 | (8, 0) | (8, 2) | (9, 0) |
    | 3 | (8, 1) | (8, 3) | (9, 1) |

    Layouts are kept in normal form: modes of extent 1 are dropped and
    neighbouring modes that continue each other are merged, so that two layouts
    that mean the same (up to replication) are the same attribute.
  }];
  let parameters = (ins
    ArrayRefParameter<"::attune::tile::Mode">:$registers,
    ArrayRefParameter<"::attune::tile::Mode">:$lanes,
    ArrayRefParameter<"::attune::tile::Mode">:$warps);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The layout in normal form.
    static LayoutAttr getNormal(::mlir::MLIRContext *context, ::llvm::ArrayRef<::attune::tile::Mode> registers,
                                ::llvm::ArrayRef<::attune::tile::Mode> lanes,
                                ::llvm::ArrayRef<::attune::tile::Mode> warps);
    /// Registers, lanes and warps that the layout speaks of.
    int64_t getNumRegisters() const;
    int64_t getNumLanes() const;
    int64_t getNumWarps() const;
    /// Coordinate offsets contributed by one register (static part).
    ::llvm::SmallVector<int64_t, 2> getRegisterCoordinates(int64_t reg, int64_t rank) const;
    /// How many neighbouring registers of elements of so many bytes are one run of memory where tiles lie by threads.
    int64_t getRunByThreads(int64_t elementBytes) const;
    /// Extents of the smallest rectangle that holds every element, for `rank` dimensions.
    ::llvm::SmallVector<int64_t, 2> getShape(int64_t rank) const;
    /// The layout of a tile with dimension `dim` removed: its modes are dropped
    /// from the registers and replicate in lanes and warps.
    LayoutAttr dropDim(int64_t dim) const;
    /// The layout of a 1-D tile as a row of a 2-D one.
    LayoutAttr asRow() const;
    /// Of a 2-D layout: that of a tile with one column per lane that shares a
    /// row, where a lane leaves what it summed up over its registers.
    LayoutAttr getPartialColumns() const;
    /// Of a 2-D layout: one in which a lane holds runs of up to `run` neighbouring
    /// columns, by an exchange of registers with lanes that share its rows. The same
    /// layout where no exchange makes runs longer.
    LayoutAttr getWithRuns(int64_t run) const;
    /// The layout with dimensions 0 and 1 exchanged.
    LayoutAttr transpose() const;
    /// The layout of one of `parts` tiles whose blocks of `block` alternate along dimension `dim` of a tile of this one,
    /// and in how many neighbouring registers this one has what is of one of them: register r of part s is register
    /// `(r / apart * parts + s) * apart + r % apart`. Nothing where a thread does not hold the same of all parts.
    std::optional<std::pair<LayoutAttr, int64_t>> deinterleave(int64_t dim, int64_t block, int64_t parts) const;
    /// The reverse: a layout of the tile in which they alternate, of which a thread holds the same of all parts. Nothing
    /// where blocks end within a digit.
    std::optional<LayoutAttr> interleave(int64_t dim, int64_t block, int64_t parts) const;
    /// The layout repeated: the modes are appended to the registers, or to the warps.
    LayoutAttr withRegisterModes(::llvm::ArrayRef<::attune::tile::Mode> modes) const;
    LayoutAttr withWarpModes(::llvm::ArrayRef<::attune::tile::Mode> modes) const;
    /// Of a 2-D layout: that of a tile of that shape, in which it repeats along columns first. Of so many scopes along
    /// rows and along columns, each has what lies `distance` behind that of the one before; 0 where all have the same, as
    /// `replicas` of them have it.
    LayoutAttr repeat(::llvm::ArrayRef<int64_t> shape, int64_t alongRows, int64_t alongColumns, int64_t replicas,
                      std::array<int64_t, 2> distance) const;
  }];
}

def Tile_SwizzleAttr : Tile_Attr<"Swizzle", "swizzle"> {
  let summary = "Permutation of the chunks of a row in shared memory";
  let description = [{
    A row is cut into chunks of `vector` elements. Chunk `c` of row `r` is stored
    at chunk `c xor ((r >> shift) & (2^bits - 1))`. With `bits = 0` rows are
    stored as they are. `bits` and `shift` are chosen so that eight rows of one
    chunk column touch every bank once (`getForRow`).

    With a `swizzle_atom`, the tile is stored as columns of swizzle atoms, each that wide
    and as high as the tile, one after the other, and the above holds for their rows: what TMA writes, and matrix instructions that read shared memory expect.

    With `padding`, so many elements that nobody uses lie behind each row. Where `transposed`, the tile is stored column by column, and
    all of the above holds for its columns.

    Where `paired`, of each 16 columns those of the first eight and of the other eight alternate by pairs: columns 0, 1, 8, 9, 2, 3,
    10, 11 and so on follow each other. A lane has such four of an accumulator, and as an operand of 8 bits four neighbours: a sum
    over columns in that order needs no exchange between lanes.
  }];
  let parameters = (ins "int64_t":$vector, "int64_t":$bits, "int64_t":$shift,
                        DefaultValuedParameter<"int64_t", "0", "columns of a swizzle atom; 0 for whole rows">:$swizzle_atom,
                        DefaultValuedParameter<"int64_t", "0", "elements behind each row">:$padding,
                        DefaultValuedParameter<"bool", "false", "whether columns lie where rows do">:$transposed,
                        DefaultValuedParameter<"bool", "false", "whether pairs of columns alternate">:$paired);
  let builders = [
    AttrBuilder<(ins "int64_t":$vector, "int64_t":$bits, "int64_t":$shift, "int64_t":$swizzle_atom, "int64_t":$padding,
                     "bool":$transposed), [{
      return $_get($_ctxt, vector, bits, shift, swizzle_atom, padding, transposed, /*paired=*/false);
    }]>];
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The swizzle for rows of `columns` elements of `elementBytes` bytes, with
    /// 16-byte chunks where the row is a multiple of that.
    static SwizzleAttr getForRow(::mlir::MLIRContext *context, int64_t columns, int64_t elementBytes);
    /// One with chunks of `chunk` elements, over banks of 256 bytes.
    static SwizzleAttr getForChunks(::mlir::MLIRContext *context, int64_t columns, int64_t elementBytes, int64_t chunk);
    /// The same for rows that are cut into swizzle atoms of `swizzle_atom` columns.
    static SwizzleAttr getForSwizzleAtom(::mlir::MLIRContext *context, int64_t swizzleAtom, int64_t elementBytes);
    /// None, for rows (columns where `transposed`) of `length` elements that start on other banks by `padding`.
    static SwizzleAttr getPadded(::mlir::MLIRContext *context, int64_t length, int64_t elementBytes, int64_t padding, bool transposed);
    /// How many bytes of a row of a swizzle atom are permuted, with elements of `elementBits` bits; 0 where rows are stored as they are.
    int64_t getPermutedBytes(unsigned elementBits) const;
    /// The same with pairs of columns that alternate.
    SwizzleAttr withPairs() const;
  }];
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

def Tile_RoleAttr : Tile_Attr<"Role", "role"> {
  let summary = "Warps of a workgroup that run a program of their own";
  let description = [{
    A role has a name, by which `tile.put` says who issues it, and `warps`
    consecutive warps. With `registers`, each of their threads gets so many 32-bit
    registers, of which the target says how many there may be;
    0 leaves what the kernel started with. Where `threads = one`, a single elected thread
    runs the program, as the one that issues copies does. With `teams`, the warps are divided into so many teams of
    consecutive ones, each of which runs the program for itself and holds tiles of its own (`tile.is_turn`).

    ```mlir
    #tile.role<"compute", warps = 8, registers = 240>
    #tile.role<"compute", warps = 8, registers = 240, teams = 2>
    #tile.role<"load", warps = 4, registers = 24, threads = one>
    ```
  }];
  let parameters = (ins
    StringRefParameter<"by which ops name it">:$name,
    "int64_t":$warps,
    DefaultValuedParameter<"int64_t", "0">:$registers,
    DefaultValuedParameter<"::attune::tile::RoleThreads", "RoleThreads::All">:$threads,
    DefaultValuedParameter<"int64_t", "1">:$teams);
  let assemblyFormat = "`<` $name `,` `warps` `=` $warps `` custom<RoleDetails>($registers, $threads, $teams) `` `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getTeamWarps() const { return getWarps() / getTeams(); }
  }];
}

//===----------------------------------------------------------------------===//
// The chip
//===----------------------------------------------------------------------===//

def Tile_MmaAtomAttr : Tile_Attr<"MmaAtom", "mma_atom"> {
  let summary = "One matrix instruction, described by itself";
  let description = [{
    `acc[m, n] += sum_k lhs[m, k] * rhs[k, n]` on one warp, or on as many as the
    layouts speak of. The three layouts say
    where the operands live: `lhs` over (m, k), `rhs` over (k, n), `acc` over
    (m, n). Generic passes read shapes and layouts; only the target that lists
    the atom looks at `name`, to emit the instruction.

    An atom of several warps reads `rhs`, and `lhs` where it is not in registers, from
    shared memory itself and runs on its own (`tile.mma_async`); its `n` is
    the unit, and the target makes its instructions as wide as the tile. Its `rhs` layout is not read.
    Where a lane holds pairs of columns of `lhs` eight apart next to each other, it is multiplied by rows of `rhs` in
    that order (`paired` in `#tile.swizzle`).

    With `transposes`, an instruction of the chip reads rows of shared memory as columns, for operands that are summed over rows: these
    lie there as they do in memory.

    With `unit_exponents`, an `rhs` of bytes that hold two integers of 4 bits each is widened with the fewest instructions if it is
    multiplied in these units (`tile.mma`).
  }];
  let parameters = (ins
    StringRefParameter<"name, understood by the target alone">:$name,
    "int64_t":$m, "int64_t":$n, "int64_t":$k,
    "::mlir::Type":$lhsType, "::mlir::Type":$rhsType, "::mlir::Type":$accType,
    "::attune::tile::LayoutAttr":$lhs,
    "::attune::tile::LayoutAttr":$rhs,
    "::attune::tile::LayoutAttr":$acc,
    DefaultValuedParameter<"bool", "false", "whether rows are read as columns">:$transposes,
    OptionalParameter<"::mlir::DenseI64ArrayAttr", "of the lower and the upper part of a byte">:$unit_exponents);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Warps that issue it together.
    int64_t getWarps() const { return getAcc().getNumWarps(); }
    MmaScope getScope() const { return getWarps() == 1 ? MmaScope::Warp : MmaScope::Warpgroup; }
    /// The layout of a result of that shape, of which so many scopes have rows, and columns, each; each part is that of
    /// `replicas` scopes.
    LayoutAttr getAccLayout(::llvm::ArrayRef<int64_t> shape, int64_t alongRows, int64_t alongColumns,
                            int64_t replicas = 1) const;
    /// Whether rows of `rhs` are paired where `lhs` is in registers.
    bool isPaired() const;
    /// Whether `rhs` is read from shared memory by columns alone: an atom of several warps for elements of 8 bits.
    bool readsColumns() const;
  }];
}

def Tile_RatesAttr : Tile_Attr<"Rates", "rates"> {
  let summary = "How fast the parts of a chip are";
  let description = [{
    What the search's model predicts times from, and nothing else reads: a
    wrong rate costs time in the search and never a result. All but `clock` and
    `memory` are for one clock of one SM. `mma` and `group_mma` are
    floating-point operations on 16-bit inputs by instructions of one warp and of
    several, `exp` counts exponentials, `issue` threads that issue a vector
    instruction, `shared` bytes of shared memory and `cache` bytes from the
    device's cache. `memory` is bytes from the device's memory in one clock, for
    all SMs together.
  }];
  let parameters = (ins
    AttrParameter<"int64_t", "in MHz">:$clock,
    AttrParameter<"int64_t", "floating-point operations a clock and SM, by MMAs of one warp, on 16-bit inputs">:$mma,
    AttrParameter<"int64_t", "the same by MMAs of a warpgroup; as `mma` where there are none">:$group_mma,
    AttrParameter<"int64_t", "exponentials a clock and SM">:$exp,
    AttrParameter<"int64_t", "threads a clock and SM whose vector instruction is issued">:$issue,
    AttrParameter<"int64_t", "bytes of shared memory a clock and SM">:$shared,
    AttrParameter<"int64_t", "bytes from the device's cache a clock and SM">:$cache,
    AttrParameter<"int64_t", "bytes from the device's memory a clock, for all SMs together">:$memory);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Those of a target that says nothing.
    static RatesAttr getDefault(::mlir::MLIRContext *context);
  }];
}

def Tile_WarpgroupsAttr : Tile_Attr<"Warpgroups", "warpgroups"> {
  let summary = "Limits of warps that multiply together and exchange registers";
  let description = [{
    Registers are those of a thread, in words of 32 bits. `most_registers` is what
    a warpgroup can ask for while a kernel runs; `producer_registers` is what
    threads need that only issue copies, and `persistent_producer_registers`
    what they need where they go from tile to tile. The
    assembler wants each MMA to fit the registers that a thread starts with:
    the accumulators of `most_columns` columns, the widest instruction, and
    `beside_multiply` for its operands and what lives across it; with fewer
    than `fewest_registers` it gives up.
  }];
  let parameters = (ins
    AttrParameter<"int64_t", "32-bit registers of a thread">:$most_registers,
    AttrParameter<"int64_t", "32-bit registers of a thread">:$producer_registers,
    AttrParameter<"int64_t", "32-bit registers of a thread">:$persistent_producer_registers,
    AttrParameter<"int64_t", "columns of an accumulator, in elements">:$most_columns,
    AttrParameter<"int64_t", "32-bit registers of a thread">:$beside_multiply,
    AttrParameter<"int64_t", "32-bit registers of a thread">:$fewest_registers);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Tile_TargetAttr : Tile_Attr<"Target", "target"> {
  let summary = "The facts about a chip that decide what is legal";
  let description = [{
    Sizes are in bytes. `shared` is what one workgroup may use, `shared_per_sm`
    what an SM (a streaming multiprocessor, or an AMD compute unit) has for all its workgroups together; `registers` is the most
    32-bit registers that one thread can address, `registers_per_sm` all that an SM has.
    `copy_widths` lists the widths, in bytes, of an asynchronous copy from global
    to shared memory; empty where the chip has none. `copy_sync` says how a thread waits for its copies: for groups that it commits, or,
    with `count`, until so many of the last ones alone are under way; there a warp copies what its lanes find to neighbouring places, in their
    order. `tma_box_bytes` is the longest row
    of a TMA box that the chip's copy engine permutes, 0 where it has no such engine; rows of the tensor that it
    copies start at multiples of `tma_box_alignment`. An SM has `schedulers`, to which its warps and registers are
    divided, and a thread gets registers in steps of `register_step`. `warpgroups` is there where warps
    multiply together. `cache` is how much
    of the device's cache may be counted on to hold what workgroups share. It may be several, `caches`, that share nothing (an L2 of each
    XCD of AMD's): workgroup i of a launch uses that of number i mod `caches`.
    `rates` say how fast all that is.
  }];
  let parameters = (ins
    StringRefParameter<"name, as the vendor's tools spell it">:$chip,
    StringRefParameter<"the folder of lib/Target that knows how to lower to it">:$family,
    AttrParameter<"int64_t", "threads of a warp (wave)">:$lanes,
    AttrParameter<"int64_t", "SMs (CUs) of the device">:$sms,
    AttrParameter<"int64_t", "bytes of shared memory, of one workgroup">:$shared,
    AttrParameter<"int64_t", "bytes of shared memory, of all workgroups of an SM">:$shared_per_sm,
    AttrParameter<"int64_t", "32-bit registers of a thread">:$registers,
    AttrParameter<"int64_t", "32-bit registers of an SM">:$registers_per_sm,
    AttrParameter<"int64_t", "threads of a workgroup">:$max_threads,
    AttrParameter<"int64_t", "threads of an SM">:$max_threads_per_sm,
    EnumParameter<Tile_CopySync>:$copy_sync,
    ArrayRefParameter<"int64_t", "bytes of an asynchronous copy of a thread">:$copy_widths,
    DefaultValuedParameter<"int64_t", "0", "bytes of a row; 0 without TMA">:$tma_box_bytes,
    DefaultValuedParameter<"int64_t", "16", "bytes">:$tma_box_alignment,
    DefaultValuedParameter<"int64_t", "4", "warp schedulers of an SM">:$schedulers,
    DefaultValuedParameter<"int64_t", "8", "32-bit registers of a thread">:$register_step,
    OptionalParameter<"::attune::tile::WarpgroupsAttr">:$warpgroups,
    DefaultValuedParameter<"int64_t", "33554432", "bytes of the device's cache">:$cache,
    DefaultValuedParameter<"int64_t", "1", "parts of the device's cache">:$caches,
    DefaultValuedParameter<"::attune::tile::RatesAttr", "RatesAttr::getDefault($_ctxt)">:$rates,
    ArrayRefParameter<"::attune::tile::MmaAtomAttr">:$mma);
  let assemblyFormat = [{
    `<` struct($chip, $family, $lanes, $sms, $shared, $shared_per_sm, $registers, $registers_per_sm,
               $max_threads, $max_threads_per_sm, $copy_sync, custom<IntegerList>($copy_widths), $tma_box_bytes, $tma_box_alignment,
               $schedulers, $register_step, $warpgroups, $cache, $caches, $rates,
               custom<AtomList>($mma)) `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The #tile.target on `op` or the closest op around it; null if there is none.
    static TargetAttr lookup(::mlir::Operation *op);
    /// The atom that multiplies elements of these types and adds to an
    /// accumulator of `acc`, issued by a `scope`; null if the chip has none.
    MmaAtomAttr findAtom(::mlir::Type lhs, ::mlir::Type rhs, ::mlir::Type acc, MmaScope scope) const;
    /// Whether what threads copy to shared memory passes through their registers: the chip has neither a copy engine nor
    /// asynchronous copies, but for rings of several slots where these are counted (`copiesDirectly`).
    bool copiesThroughRegisters() const { return getCopySync() != CopySync::CommitGroup && getTmaBoxBytes() == 0; }
    /// Warps of a warpgroup: of the largest atom, 1 where all are of one warp.
    int64_t getWarpgroupWarps() const;
    /// Columns of the swizzle atoms in which a tile with rows of `columns` elements is
    /// copied and multiplied; 0 where the chip has no TMA.
    int64_t getSwizzleAtom(int64_t columns, ::mlir::Type elementType) const;
    /// The same chip with another number of SMs.
    TargetAttr withSms(int64_t sms) const;
  }];
}

#endif // ATTUNE_DIALECT_TILE_ATTRS_TD
