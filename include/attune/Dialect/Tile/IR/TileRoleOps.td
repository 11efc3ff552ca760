// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs of warps, and what lets them learn of their tiles and go one after
// the other.

#ifndef ATTUNE_DIALECT_TILE_ROLEOPS_TD
#define ATTUNE_DIALECT_TILE_ROLEOPS_TD

include "attune/Dialect/Tile/IR/TileTypes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tile_SpecializeOp : Tile_Op<"specialize", [NoTerminator, SingleBlock, RecursiveMemoryEffects]> {
  let summary = "Gives the roles of a workgroup's warps a program each";
  let description = [{
    Role `i` has the warps behind those of the roles before it, and runs region `i` (`#tile.role`). Roles
    meet in channels alone, and at the end of the kernel. An element of a channel is released by each role that gets it. So do the teams of a role, each of which runs the region for itself.

    **Example**
    ```mlir
    tile.specialize <"compute", warps = 8, registers = 240> {
      ...
    }, <"load", warps = 4, registers = 24, threads = one> {
      ...
    }
    ```

    **Errors**: fewer than two roles, or as many regions as roles; names that are not different; no role of which all
    threads run the program; registers of some roles and not of others; an op that is not in the body of the kernel.
  }];
  let arguments = (ins TypedArrayAttrBase<Tile_RoleAttr, "array of roles">:$roles);
  let regions = (region VariadicRegion<SizedRegion<1>>:$programs);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    RoleAttr getRole(unsigned i) { return ::llvm::cast<RoleAttr>(getRoles()[i]); }
    /// The number of the role's first warp in the workgroup.
    int64_t getFirstWarp(unsigned i);
    /// Which of its roles `op` is in; it is in one.
    unsigned getRoleOf(::mlir::Operation *op);
  }];
}

def Tile_HandOverOp : Tile_Op<"hand_over", [Pure, AllTypesMatch<["input", "result"]>]> {
  let summary = "Hands what one role computes to others";
  let description = [{
    The result is the input. In a kernel with roles, those that read the result get it from the role `role`, or the first one of which all threads
    run the program: through a ring of `stages` slots in shared memory, into which `tile-promote-to-shared` has the
    input put and which the others get. MMAs multiply it from there; all else reads it into registers first.

    So what is expensive is computed once: of the scores of attention, one role makes weights, and each of several roles multiplies
    them by its own columns of the values.

    **Example**
    ```mlir
    %left = tile.mma %p, %v0, %acc0 scope warpgroup : ...
    %w = tile.hand_over %p stages 1 role "scores" : !tile.tile<64x64xbf16, registers>
    %right = tile.mma %w, %v1, %acc1 scope warpgroup : ...
    ```
  }];
  let arguments = (ins Tile_RegisterTile:$input, ConfinedAttr<I64Attr, [IntPositive]>:$stages, OptionalAttr<StrAttr>:$role);
  let results = (outs Tile_RegisterTile:$result);
  let assemblyFormat = "$input `stages` $stages (`role` $role^)? attr-dict `:` type($input)";
}

def Tile_IsTurnOp : Tile_Op<"is_turn", [Pure]> {
  let summary = "Whether it is the turn of the team";
  let description = [{
    True in the team of number `number mod teams` of the role in whose program it stands (`#tile.role`), and everywhere where
    that has one team. What stands in an `scf.if` on it is done by one team: an element of a channel that is got and
    released there is that team's alone. Teams get elements in their order: each waits until the team before has got its own
    (`tile.ping_pong_wait`). Otherwise all teams get each element and release it.

    **Example**
    ```mlir
    %own = tile.is_turn %n
    scf.if %own {
      tile.ping_pong_wait of 2
      %k = tile.get %keys[%n] : !channel -> !slot
      tile.ping_pong_arrive of 2
      ...
      tile.release %keys[%n] : !channel
    }
    ```

    **Errors**: by `convert-tile-to-gpu`: a channel of which some elements are released by one team, and some by all.
  }];
  let arguments = (ins Index:$number);
  let results = (outs I1:$result);
  let assemblyFormat = "$number attr-dict";
}

def Tile_SchedulerOp : Tile_Op<"scheduler", [MemoryEffects<[MemAlloc]>]> {
  let summary = "Makes a tile scheduler: where a workgroup learns of its next tiles";
  let description = "`offset` is its place in workgroup memory, in bytes, which `tile-allocate-shared` gives it.";
  let arguments = (ins OptionalAttr<I64Attr>:$offset);
  let results = (outs Tile_SchedulerType:$result);
  let assemblyFormat = "(`at` $offset^)? attr-dict `:` type($result)";
}

def Tile_FetchWorkOp : Tile_Op<"fetch_work", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Takes the next tile that no workgroup has taken, and leaves its number to the consumers";
  let description = [{
    The work counter has the number of the tiles that were taken after the first one of each workgroup, which has that of its
    own number: it is 0 before a launch. The result is the number of a tile, or no less than `total` where none is left; the
    workgroup that learns so last sets the counter back to 0. Waits until the slot of `element` is free. `after` is the tile
    before: where workgroups run one after the other, tiles may as well be assigned in advance.

    **Example**
    ```mlir
    %next = tile.fetch_work %scheduler[%n], %counter after %tile of %total : !tile.scheduler, memref<1xi32>
    ```
  }];
  let arguments = (ins Tile_SchedulerType:$scheduler, Index:$element, MemRefRankOf<[I32], [1]>:$counter, Index:$after, Index:$total);
  let results = (outs Index:$result);
  let assemblyFormat = [{
    $scheduler `[` $element `]` `,` $counter `after` $after `of` $total attr-dict `:` type($scheduler) `,` type($counter)
  }];
}

def Tile_GetWorkOp : Tile_Op<"get_work", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Waits for the number that the producers leave, and frees its slot";
  let arguments = (ins Tile_SchedulerType:$scheduler, Index:$element, Index:$after);
  let results = (outs Index:$result);
  let assemblyFormat = "$scheduler `[` $element `]` `after` $after attr-dict `:` type($scheduler)";
}

def Tile_PingPongInitOp : Tile_Op<"ping_pong_init", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Lets the first warpgroup go first";
  let description = "Stands once, before any `tile.ping_pong_wait`, which see.";
  let arguments = (ins ConfinedAttr<I64Attr, [IntMinValue<2>]>:$groups);
  let assemblyFormat = "`of` $groups attr-dict";
}

def Tile_PingPongWaitOp : Tile_Op<"ping_pong_wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Waits until the warpgroup before has gone on";
  let description = [{
    The warps are assigned to `groups` groups, those of a role with teams to its teams, which go in order, the first one
    first. `tile.ping_pong_arrive` lets the next group go on. So the MMAs of one group run while another computes on
    what it multiplied (Shah et al., FlashAttention-3, 2024, section 3.1).

    On chips whose threads meet all together or not at all, groups are two halves of the workgroup, and both of these ops a meeting. The second
    half meets once more in `tile.ping_pong_init` and the first in `tile.ping_pong_end`, so that in between the first half
    is where the second one will be after the next meeting.
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntMinValue<2>]>:$groups);
  let assemblyFormat = "`of` $groups attr-dict";
}

def Tile_PingPongArriveOp : Tile_Op<"ping_pong_arrive", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Lets the next warpgroup go on";
  let description = "See `tile.ping_pong_wait`.";
  let arguments = (ins ConfinedAttr<I64Attr, [IntMinValue<2>]>:$groups);
  let assemblyFormat = "`of` $groups attr-dict";
}

def Tile_PingPongEndOp : Tile_Op<"ping_pong_end", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Lets two halves of a workgroup meet in the same places again";
  let description = "Stands behind what `tile.ping_pong_init` stands in front of, where groups are halves. See `tile.ping_pong_wait`.";
  let arguments = (ins ConfinedAttr<I64Attr, [IntMinValue<2>]>:$groups);
  let assemblyFormat = "`of` $groups attr-dict";
}

#endif // ATTUNE_DIALECT_TILE_ROLEOPS_TD
