// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef ATTUNE_DIALECT_TILE_DIALECT_TD
#define ATTUNE_DIALECT_TILE_DIALECT_TD

include "mlir/IR/OpBase.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::attune::tile";
  let summary = "Tiles of data inside one workgroup";
  let description = [{
    A value of this dialect is a whole tile that a workgroup holds together: in
    `registers`, spread over its threads as a `#tile.layout` says, or in `shared`
    memory, with its rows permuted as a `#tile.swizzle` says.

    - Moving data between layouts is always an op (`tile.convert_layout`), so
      its cost is visible.
    - All elementwise work is `tile.map` over a scalar region.
    - Data enters shared memory through a *channel*, a ring of slots with
      `tile.put`, `tile.get` and `tile.release`. How far the `put` runs ahead
      of its `get` is pipelining; what a channel becomes (asynchronous copies
      and wait groups, or plain loads and stores) is the target's business.

    The dialect names no chip and no vendor op. Facts about the chip are one
    attribute, `#tile.target`, found on an enclosing op.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerTypes();
    /// Name of the discardable attribute that holds the #tile.target.
    static constexpr ::llvm::StringLiteral kTargetAttrName = "tile.target";
    /// On a kernel, an array of #tile.role: what tile-specialize-warps makes of
    /// it, in the order of the warps.
    static constexpr ::llvm::StringLiteral kRolesAttrName = "tile.roles";
    /// On a kernel, an i64: workgroups that must fit on one SM at a time, which
    /// bounds the registers of a thread.
    static constexpr ::llvm::StringLiteral kResidencyAttrName = "tile.workgroups_per_sm";
    /// On a kernel, a unit: its loops have no counters but those that they are
    /// written with, where the chip's assembler can make others.
    static constexpr ::llvm::StringLiteral kKeepCountersAttrName = "tile.keep_counters";
    /// On a kernel, a string, "sparing" or "plain": how the chip's assembler
    /// works, where it is not thorough (the tunable `assembler`).
    static constexpr ::llvm::StringLiteral kAssemblerAttrName = "tile.assembler";
    /// On a kernel, an i64: bytes of shared memory that tile-allocate-shared
    /// has laid out.
    static constexpr ::llvm::StringLiteral kSharedBytesAttrName = "tile.shared_bytes";
    /// On an scf.for with two MMAs, an #tile.overlap: tile-overlap-mmas
    /// runs the arithmetic between them under them.
    static constexpr ::llvm::StringLiteral kOverlapAttrName = "tile.overlap";
    /// On an scf.for, a unit: its MMAs add to what that of the iteration before
    /// is still computing.
    static constexpr ::llvm::StringLiteral kChainAttrName = "tile.chain";
    /// On an scf.for, a unit: its MMAs are waited for where they must have ended.
    static constexpr ::llvm::StringLiteral kDeferWaitsAttrName = "tile.defer_waits";
    /// On an scf.for, a unit: its first MMA is issued one iteration ahead.
    static constexpr ::llvm::StringLiteral kIssueAheadAttrName = "tile.issue_ahead";
    /// On an scf.for, an i64: so many of the last terms of its last MMA are
    /// issued behind the maxima of rows of what the first one computes.
    static constexpr ::llvm::StringLiteral kIssueLateAttrName = "tile.issue_late";
    /// On an scf.for, a unit: warpgroups issue its MMAs in ping-pong.
    static constexpr ::llvm::StringLiteral kPingPongAttrName = "tile.ping_pong";
    /// On an MMA, a unit: warps that issue it go before others of their
    /// scheduler.
    static constexpr ::llvm::StringLiteral kRaisePriorityAttrName = "tile.raise_priority";
    /// On an MMA, a unit: each of its instructions is issued with some others.
    static constexpr ::llvm::StringLiteral kIssueGroupsAttrName = "tile.issue_groups";
    /// On an scf.for over the tiles of a workgroup, a unit: where a role has
    /// teams, these run its iterations by turns.
    static constexpr ::llvm::StringLiteral kTakeTurnsAttrName = "tile.take_turns";
    /// On an scf.for, a unit: tile-split-loops decides its range test.
    static constexpr ::llvm::StringLiteral kSplitAttrName = "tile.split";
    /// On an scf.for, an i64: how often tile-unroll-loops repeats its body.
    static constexpr ::llvm::StringLiteral kUnrollAttrName = "tile.unroll";
    /// On an scf.for over the tiles of a workgroup, a unit: its next tile is
    /// whatever is next when it is done with one.
    static constexpr ::llvm::StringLiteral kDynamicAttrName = "tile.dynamic";
    /// Name of the discardable attribute on an argument of a kernel, a buffer
    /// with strides known at run time only, that divides all of these.
    static constexpr ::llvm::StringLiteral kDivisorAttrName = "tile.divisor";
    /// Name of the discardable attribute on a math.exp2 of f32, an i64: of 16
    /// elements of a vector, as many are computed by multiplies and adds.
    static constexpr ::llvm::StringLiteral kFmaShareAttrName = "tile.fma_share";
    /// On an arith.truncf, a unit: halfway cases may go either way, and NaN may
    /// become any number, for something else tells of it.
    static constexpr ::llvm::StringLiteral kLooseRoundingAttrName = "tile.loose_rounding";
    /// On an argument of a kernel, a buffer of one i32: counts the tiles that
    /// workgroups have taken. 0 before each launch and after it.
    static constexpr ::llvm::StringLiteral kWorkCounterAttrName = "tile.work_counter";
  }];
}

class Tile_Op<string mnemonic, list<Trait> traits = []> : Op<Tile_Dialect, mnemonic, traits>;

#endif // ATTUNE_DIALECT_TILE_DIALECT_TD
