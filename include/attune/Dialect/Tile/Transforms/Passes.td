// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef ATTUNE_DIALECT_TILE_TRANSFORMS_PASSES_TD
#define ATTUNE_DIALECT_TILE_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def TilePromoteToSharedPass : Pass<"tile-promote-to-shared", "::mlir::gpu::GPUFuncOp"> {
  let summary = "Brings the operands of MMAs into shared memory";
  let description = [{
    A `tile.load` with `stages` becomes a channel of as many slots with a `tile.put`, a
    `tile.get` and, after the last use, a `tile.release`. What no `tile.mma` multiplies is read into registers
    from there. Right-hand operands are multiplied from shared memory. A left-hand operand with `read_once` is read into registers,
    and any other is multiplied from shared memory. What is loaded outside of a loop gets one slot. Where
    a warpgroup multiplies it, slots have swizzle atoms. Not its job: issuing a put ahead of time
    (`tile-pipeline-loops`). Where a copy engine fetches a tile of a transposed view (`memref.transpose`) that nothing multiplies, its slot is that of the
    buffer's own tile, which is read `transposed`.

    On chips without asynchronous copies and without a copy engine, a put is a `tile.load` and a `tile.put_tile`. The slots of what MMAs of warps multiply are
    padded, and `transposed` where all of these sum over its rows. What is `read_once` needs no slot then: each thread loads its part.

    What a warpgroup multiplies by columns alone, as right-hand operands of 8 bits, or as elements of more bits than are stored, goes from its slot through a
    `tile.restage` to a channel of two stages. A role named "restage" puts it there, or where the kernel has none, the one that multiplies.

    A left-hand operand that was computed, of an MMA with `lhs_through_shared`, goes through shared memory: a `tile.write`
    into a `tile.buffer`. What other warps read, of a transposed operand or where `warps_n` share columns, is written in front of a
    `tile.barrier`: once for several MMAs of a block, all that is there in front of the first of them. In a loop it is written to two places by
    turns, where one of these MMAs ends in the turn, or in a loop with `tile.defer_waits` the MMA that it begins with, as soon as all of it is
    there: MMAs that are issued in front of the barrier then run while warps wait for each other. Else it is written between two barriers. A `tile.hand_over` becomes a channel with a `tile.put_tile`, a `tile.get` and a `tile.release` where several roles
    compute, and its input elsewhere.

    A `tile.store` by way of a `buffer` in a role of which one thread runs the program becomes a channel of `stages` slots with a `tile.put_tile`, and a
    `tile.get`, a `tile.store_async`, a `tile.wait_reads` and a `tile.release` of that role: who computes waits for a slot alone. Another
    `tile.store` with a `path` goes through shared memory, too: the tile is written to a buffer of its own (`buffer`) or to the slot
    of a left-hand operand (`operand_slot`), which is then released later, and `tile.store_async` takes it from there.
    `tile.wait_reads` stands in front of what overwrites it; a loop carries the token there from the iteration before. A store to a view that ends before its tensor does
    stays as it is: the copy engine would go on to the tensor's end. A tile that is stored to a transposed view is written `transposed`.

    **Errors**: `operand_slot` without a left-hand operand of the same type as the stored tile in the same block;
    `lhs_through_shared` of an MMA that is not of a warpgroup; a role of one thread that is to store otherwise, or to a view that ends before its
    tensor does.
  }];
}

def TileOverlapMmasPass : Pass<"tile-overlap-mmas", "::mlir::gpu::GPUFuncOp"> {
  let summary = "Runs the arithmetic between two MMAs of a loop under them";
  let description = [{
    A loop with `tile.overlap` and two MMAs, the second of
    which takes what was computed from the result of the first and accumulates
    over the iterations, is rotated: the first MMA of the next
    iteration and the second one of this are issued together, and the arithmetic on the former's result runs while
    the latter does. What the second MMA reads is overwritten only when it is done, and so is its accumulator.

    ```
    before                          after
    for j:                          s, p, acc = half(0)
      s = q k[j]                    for j from 1:
      p, acc = softmax(s, acc)        s = q k[j]  and  acc += p v[j - 1]   asynchronously
      acc += p v[j]                   p, acc = softmax(s, acc)
                                    acc += p v[last]
    ```

    The arithmetic on the accumulator, its rescaling, runs when the second MMA is done (`early`) or (`late`) in
    the next iteration: behind the start of its first MMA, right in front of the second one.

    Other loops stay as they are. Source: Shah et al., FlashAttention-3 (2024), section 3.2.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def TileDeferWaitsPass : Pass<"tile-defer-waits", "::mlir::gpu::GPUFuncOp"> {
  let summary = "Runs the MMAs of a loop under what does not need them";
  let description = [{
    In a kernel with roles, the MMAs of warpgroups in a loop with `tile.defer_waits` are issued where they stand and
    waited for where their results are read, or where a slot that they read is released; releases move to the end of
    the iteration. An MMA so runs under the arithmetic that stands behind it and reads another one's result.

    ```
    before                after
    s = mma(k, q, 0)      s' = mma_async(k, q, 0)
    d = mma(v, o, 0)      d' = mma_async(v, o, 0)
    p = exp(s)            s = wait s'
    acc = mma(p, o, acc)  p = exp(s)
    release o             acc' = mma_async(p, o, acc)
    x = p * d             d = wait d'
    yield acc             x = p * d
                          acc = wait acc'
                          release o
                          yield acc
    ```

    The order of MMAs is that of the loop. Nothing runs from one iteration into the next. One that adds to another one's result does not wait for
    that.
  }];
}

def TileIssueAheadPass : Pass<"tile-issue-ahead", "::mlir::gpu::GPUFuncOp"> {
  let summary = "Issues the first MMA of a loop behind the last one of the iteration before";
  let description = [{
    In a loop with `tile.issue_ahead`, the first asynchronous MMA of an iteration, whose operands follow from the induction variable
    alone, is issued behind the last one of the iteration before, with the put of what it reads. It so runs under what
    the warps do at the end of an iteration, and its result is there when the next one starts.

    ```
    before                           after
    for i:                           s = wait mma_async(k, q[0], 0)
      s' = mma_async(k, q[i], 0)     for i up to the one before the last:
      s = wait s'                      ...
      ...                              acc' = mma_async(x, q[i], acc)
      acc' = mma_async(x, q[i], acc)   s' = mma_async(k, q[i + 1], 0)
      acc = wait acc'                  acc = wait acc'
      release q[i]                     release q[i]
                                       s = wait s'
                                     the last one, without issuing another
    ```

    The slot of an iteration is read until its end: rings need two slots at least. Other loops stay as they are: those whose
    first MMA reads what an iteration computes, those of one MMA, a ring of one slot.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def TileIssueLatePass : Pass<"tile-issue-late", "::mlir::gpu::GPUFuncOp"> {
  let summary = "Issues the end of a loop's last MMA behind maxima of what the first one computes";
  let description = [{
    Warps that issue more MMAs than the matrix unit takes at a time wait until it takes the next one, and compute nothing meanwhile: not
    even of results that are there. In a loop with `tile.issue_late = n`, the last `n` terms of the last MMA, of warpgroups, are issued behind
    the first maxima of rows after the wait for the first one. Those are computed while the terms before run.

    ```
    before                        after
    s' = mma_async(q, k, 0)       s' = mma_async(q, k, 0)
    o' = mma_async(p, v, o)       a' = mma_async(p, v, o) terms [0, K - n]
    s = wait s'                   s = wait s'
    m = reduce max s              m = reduce max s
                                  o' = mma_async(p, v, a') terms [K - n, K]
    ...                           ...
    o = wait o'                   o = wait o'
    ```

    Other loops stay as they are: those without such maxima, those that want the sum before, those of no more terms.
  }];
}

def TileChainMmasPass : Pass<"tile-chain-mmas", "::mlir::gpu::GPUFuncOp"> {
  let summary = "Keeps the matrix unit busy from one iteration of a loop to the next";
  let description = [{
    In a kernel with roles, a loop with `tile.chain` whose MMAs, of warpgroups, do nothing but add to what it carries: each MMA is
    issued before that of the iteration before has ended, and slots are released when the MMAs that read them are
    known to have ended, one iteration late.

    ```
    before                       after
    for k:                       p = mma_async(a[0], b[0], acc)
      acc = mma(a[k], b[k], acc) for k from 1:
      release a[k], b[k]           q = mma_async(a[k], b[k], p)
                                   wait_reads p
                                   release a[k - 1], b[k - 1]
                                   p = q
                                 acc = wait p
                                 release a[last], b[last]
    ```

    Rings then need two slots at least, or the producer would wait for what comes after it. Other loops stay as they are: a
    ring of one slot, operands in registers, a kernel without roles.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def TilePingPongPass : Pass<"tile-ping-pong", "::mlir::gpu::GPUFuncOp"> {
  let summary = "Lets the warpgroups of a workgroup multiply in ping-pong";
  let description = [{
    Each loop with `tile.ping_pong` and asynchronous MMAs waits until
    the warpgroup before has issued its own and lets the next one go on when it has, so that the arithmetic of one
    warpgroup runs under the MMAs of another. Source: FlashAttention-3, section 3.1.

    Where warps multiply alone, groups are two halves of the workgroup, such that each scheduler has warps of both, and the second half is a phase
    behind the first one. A loop has two phases: up to its last MMA, and the arithmetic and puts behind that. Threads of both halves put what all of them read, so that
    in between no other meetings are needed

    - each element must be put two iterations ahead: the second half puts while the first one already multiplies again;
    - rings need a slot more than elements are put ahead: the second half still reads what the first one would overwrite.

    ```
    before                       after
                                 ping_pong_init of 2
    for i:                       for i:
                                   ping_pong_wait of 2
      s' = mma_async(q, k[i])      s' = mma_async(q, k[i])
      a' = mma_async(p, v[i-1])    a' = mma_async(p, v[i-1])
                                   ping_pong_arrive of 2
      p = softmax(wait s')         p = softmax(wait s')
      put k[i + 2], v[i + 1]       put k[i + 2], v[i + 1]
                                 ping_pong_end of 2
    ```

    Other loops stay as they are. Source: ROCm/composable_kernel, block_fmha_fwd_v3_pipeline.hpp.

    **Errors**: fewer than two warpgroups, or a part of one; an odd number of warps.
  }];
}

def TilePipelineLoopsPass : Pass<"tile-pipeline-loops", "::mlir::gpu::GPUFuncOp"> {
  let summary = "Issues the puts of a loop's channels as early as their slots are free";
  let description = [{
    A channel with S slots runs S elements ahead: the put of element e + S moves to the
    first get, of any channel, after the release of element e, because a get
    makes all threads meet and so costs no extra barrier. The first elements are put before the
    loop. Each get then states how many later puts may still be under way.

    Where copies pass through registers (`tile.load` and `tile.put_tile`), the loads stand in front of all else in an iteration. What is put for a
    later element stands at its end, and what is for the own one right in front of the get. Loads of elements behind the last one load that again.
    Rings of S > 1 slots run S - 1 elements ahead there, so that a slot was read when threads met for the first get.

    A loop with one channel of one slot is left as it is: there is nothing to overlap with.
    Does nothing in a kernel with roles (`tile.roles`): these run ahead on their own.
  }];
}

def TileSplitLoopsPass : Pass<"tile-split-loops", "::mlir::gpu::GPUFuncOp"> {
  let summary = "Splits a loop at the bounds of a range test on its induction variable";
  let description = [{
    A loop with `tile.split` whose body holds an `scf.if` on `iv >= a and iv < b`, with a and b
    defined outside, becomes up to three loops, before, inside and after [a, b), in
    which the test is decided and only the branch taken is left. This is what
    gives fully visible key blocks a loop without masking code.
  }];
}

def TileSpecializeWarpsPass : Pass<"tile-specialize-warps", "::mlir::gpu::GPUFuncOp"> {
  let summary = "Gives the warps of a kernel programs of their own";
  let description = [{
    In a kernel with `tile.roles`, everything from the first put or get on becomes a
    `tile.specialize`. The program of a role of one thread holds its puts (those that name it; the first such role has those
    that name none), with the loops and branches around them and the arithmetic that they read, and the one role of all
    threads has all else. The order of the puts stays, so a loop whose gets were moved ahead has its puts ahead too.

    Of several roles of all threads, each has the `tile.store` and `tile.put_tile` ops that name it, and the first one all else
    that has effects. A role then has what these read: it computes itself what is pure, multiplies included, and gets what comes from a
    channel, so that what it is handed over (`tile.hand_over`) it does not compute. It gets and releases either all elements of
    a channel or none.

    ```
    before                               after
    for i:                               role 0: for i:            role 1: for i:
      s = mma(q, get k[i])                 s = mma(q, get k[i])      x = get p[i]
      put_tile p[i], s                     put_tile p[i], s          b = mma(x, get w[i], b)
      x = get p[i]                         a = mma(s, get v[i], a)   release p[i], w[i]
      a = mma(s, get v[i], a)              release k[i], v[i]      store b
      b = mma(x, get w[i], b)            store a
      release k[i], v[i], p[i], w[i]
    store a
    store b role 1
    ```

    **Errors**: no role of all threads; no role of one thread; an op that names a role that does not run such ops; a put reads something that is not computed by arithmetic from what is there before.
  }];
}

def TileTakeTurnsPass : Pass<"tile-take-turns", "::mlir::gpu::GPUFuncOp"> {
  let summary = "Lets the teams of a role run the iterations of a loop by turns";
  let description = [{
    In a role with teams, an iteration of a loop with `tile.take_turns` is run by one team, and the next one by the
    next team. All of them go through all iterations, so that each knows where those of the others end in a channel:
    what is carried of counts is computed in any case, and all else in the branch of a `tile.is_turn`. A team gets its first
    element when the one before has got its last one. So one team has the
    end of a tile, its epilogue, while another one multiplies (CUTLASS's ping-pong kernels).

    ```
    before                         after
    for t, e:                      for t, e, i:
      x = get k[e]                   if is_turn i:
      ...                              ping_pong_wait
      release k[e]                     x = get k[e]
      yield e + 1                      ping_pong_arrive
                                       ...
                                       release k[e]
                                     yield e + 1, i + 1
    ```

    Tokens that a loop carries are those of the team's own iteration before.

    **Errors**: a count that such a loop carries that does not follow by arithmetic; a tile that it carries.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def TileUseWorkCounterPass : Pass<"tile-use-work-counter", "::mlir::gpu::GPUFuncOp"> {
  let summary = "Lets a persistent workgroup take its next tile when it is done with one";
  let description = [{
    In a kernel with roles, their loops over tiles with `tile.dynamic`, which are assigned in advance, become
    loops over the tiles that the first role of one thread takes from a work counter, and all others learn of: the argument of the
    kernel with the attribute `tile.work_counter`. A workgroup with short tiles then computes more of them.

    **Errors**: such a loop without roles, in one of them alone, in none of one thread, or without a counter.
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect"];
}

def TileMulticastPass : Pass<"tile-multicast", "::mlir::gpu::GPUFuncOp"> {
  let summary = "Lets the workgroups of a cluster share what all of them copy";
  let description = [{
    In a kernel with a `known_cluster_size`, channels whose puts are the same in all workgroups of a cluster
    become channels of the cluster: each workgroup then copies its share of a tile to all of them. A put is the
    same where nothing that it reads, and nothing that decides whether and how often it runs, is
    computed from what tells these workgroups apart.

    ```
    before                                             after
    %k = tile.channel : <..., swizzle_atom = 64>              %k = tile.channel : <..., swizzle_atom = 64, cluster = 2>
    ```

    Without this pass each workgroup copies all of its tiles itself, and computes the same.

    **Errors**: such a kernel without roles of warps; a cluster that does not lie along x; no channel that could be shared.
  }];
}

def TileUnrollLoopsPass : Pass<"tile-unroll-loops", "::mlir::gpu::GPUFuncOp"> {
  let summary = "Repeats the body of the loops over key blocks";
  let description = [{
    Each loop with `tile.unroll` that puts or gets has its body that many times, and a second loop behind it takes the blocks that are left. Both roles
    of warps have such loops: they meet in channels alone, so that each may have iterations of its own.

    Where the first block is known, and the factor is a multiple of a ring's slots, each copy of a put or a get uses
    one slot alone. Done by upstream's `loopUnrollByFactor`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def TileAssignLayoutsPass : Pass<"tile-assign-layouts", "::mlir::gpu::GPUFuncOp"> {
  let summary = "Gives every tile in registers a layout";
  let description = [{
    Layouts start at the MMAs: the target's matrix instruction for the types of the operands and the scope, repeated over
    the shape, with rows (and, by `warps_n`, columns) assigned to the warps or warpgroups of the role. They spread through
    elementwise code, reductions, broadcasts and what loops and branches carry, so that these need no data movement. A tile that
    is read only to be the left-hand side of an MMA, or to be reduced besides, gets that operand's layout at once. Tiles that no
    MMA reaches are assigned to the threads in blocks, each with up to 16 bytes of neighbours. Where layouts meet that differ, a `tile.convert_layout` is put in
    between, and so is one in front of a `tile.store` where lanes can exchange elements such that each holds, and writes, up to 16
    neighbouring bytes.

    **Errors**: types that the chip has no matrix instruction for in that scope; shapes that the
    instruction and the number of warps do not divide; a kernel without a `known_block_size`.
  }];
}

def TileRemoveLayoutConversionsPass : Pass<"tile-remove-layout-conversions", "::mlir::gpu::GPUFuncOp"> {
  let summary = "Produces tiles in the layout in which they are used";
  let description = [{
    Conversions of what was just read, loaded or filled disappear into their
    producer; conversions between equal layouts and chains of conversions fold.
  }];
}

def TileConvertInSharedPass : Pass<"tile-convert-in-shared", "::mlir::gpu::GPUFuncOp"> {
  let summary = "Lets tiles pass through shared memory where warps exchange elements";
  let description = [{
    A `tile.convert_layout` for which lanes of a warp cannot exchange registers becomes a put of the tile into a channel of one slot, and a
    read of it in the other layout. Conversions of one shape and element type share a channel. So does a `tile.reduce` across warps get what it reduces:
    each of these warps reads all of it and has the result.

    **Errors**: such a conversion in a role, of which others would have to wait, or where halves of a workgroup multiply in ping-pong; elements of less than a byte.
  }];
  let dependentDialects = ["::attune::tile::TileDialect", "::mlir::arith::ArithDialect"];
}

def TileAllocateSharedPass : Pass<"tile-allocate-shared", "::mlir::gpu::GPUFuncOp"> {
  let summary = "Lays out shared memory, and makes waits for it explicit";
  let description = [{
    Gives each channel and buffer its place in the workgroup's memory, and behind these their barriers and the
    slots of tile schedulers; `tile.shared_bytes` on the kernel says how much that is. Legality counts bytes by the same code
    (`SharedMemoryLayout`).

    What has barriers moves to the start of the kernel, where one `tile.fence_barriers` makes all of them usable. A
    `gpu.barrier` stands in front of a put that would overwrite what others may still read, a `tile.sync_warp` in front of a
    release that not all lanes of the warp have come to, and workgroups of a cluster end together.

    The last pass on tiles: `convert-tile-to-gpu` expects it.
  }];
  let dependentDialects = ["::attune::tile::TileDialect"];
}

#endif // ATTUNE_DIALECT_TILE_TRANSFORMS_PASSES_TD
