// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef ATTUNE_DIALECT_TILE_TRANSFORMS_PASSES_TD
#define ATTUNE_DIALECT_TILE_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def TilePromoteToSharedPass : Pass<"tile-promote-to-shared", "::mlir::gpu::GPUFuncOp"> {
  let summary = "Brings the operands of matrix multiplies into shared memory";
  let description = [{
    A `tile.load` that feeds a `tile.mma` becomes a channel with a `tile.put`, a
    `tile.get` and, after the last use, a `tile.release`. Right-hand operands are
    then multiplied from shared memory. A left-hand operand is read into registers
    once where the schedule says `q-in-registers`, and multiplied from shared memory otherwise.

    The number of slots is the schedule's `k-stages` for operands that are
    multiplied transposed and `v-stages` for the others; operands loaded outside
    of a loop get one slot. Not its job: issuing a put ahead of time
    (`tile-pipeline-loops`).

    A left-hand operand that was computed goes through shared memory where the schedule
    says `p-in-registers = 0`: a `tile.write` into a `tile.buffer`.

    Where it says `o-in-shared`, so does a `tile.store` of two dimensions: the tile is written to a buffer of its own (2) or to the slot
    of a left-hand operand (1), which is then released later, and `tile.store_async` takes it from there.
    `tile.drain` stands in front of what overwrites it. A store to a view that ends before its tensor does
    stays as it is: the copy engine would go on to the tensor's end.

    **Errors**: `o-in-shared=query-slot` without a left-hand operand of the same type as the stored tile in the same block.
  }];
}

def TileOverlapMultipliesPass : Pass<"tile-overlap-multiplies", "::mlir::gpu::GPUFuncOp"> {
  let summary = "Runs the arithmetic between two multiplies of a loop under them";
  let description = [{
    Where the schedule says `overlap`, a loop with two multiplies, the second of
    which takes what was computed from the result of the first and accumulates
    over the iterations, is rotated: the first multiply of the next
    iteration and the second one of this start together, and the arithmetic on the former's result runs while
    the latter does. What the second multiply reads is overwritten only when it is done, and so is its accumulator.

    ```
    before                          after
    for j:                          s, p, acc = half(0)
      s = q k[j]                    for j from 1:
      p, acc = softmax(s, acc)        s = q k[j]  and  acc += p v[j - 1]   asynchronously
      acc += p v[j]                   p, acc = softmax(s, acc)
                                    acc += p v[last]
    ```

    The arithmetic on the accumulator, its rescaling, runs when the second multiply is done, or, with `rescale-late`, in
    the next iteration: behind the start of its first multiply, right in front of the second one.

    Other loops stay as they are. Source: Shah et al., FlashAttention-3 (2024), section 3.2.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def TileTakeTurnsPass : Pass<"tile-take-turns", "::mlir::gpu::GPUFuncOp"> {
  let summary = "Lets the groups of warps of a workgroup multiply in turns";
  let description = [{
    Where the schedule says `overlap = "ping-pong"`, each loop with asynchronous multiplies takes the
    turn before it starts them and gives it to the next group when it has, so that the arithmetic of one
    group runs under the multiplies of another. Source: FlashAttention-3, section 3.1.
  }];
}

def TilePipelineLoopsPass : Pass<"tile-pipeline-loops", "::mlir::gpu::GPUFuncOp"> {
  let summary = "Issues the puts of a loop's channels as early as their slots are free";
  let description = [{
    A channel with S slots runs S elements ahead: the put of element e + S moves to the
    first get, of any channel, after the release of element e, because a get
    makes all lanes meet and so costs no extra barrier. The first elements are put before the
    loop. Each get then states how many later puts may still be under way.

    A loop with one channel of one slot is left as it is: there is nothing to overlap with.
    Does nothing where the schedule says `producer-warps`: these run ahead on their own.
  }];
}

def TileSplitLoopsPass : Pass<"tile-split-loops", "::mlir::gpu::GPUFuncOp"> {
  let summary = "Splits a loop at the bounds of a range test on its induction variable";
  let description = [{
    A loop whose body holds an `scf.if` on `iv >= a and iv < b`, with a and b
    defined outside, becomes up to three loops, before, inside and after [a, b), in
    which the test is decided and only the branch taken is left. This is what
    gives fully visible key blocks a loop without masking code.
    Runs where the schedule says `split-masked`.
  }];
}

def TileSpecializeWarpsPass : Pass<"tile-specialize-warps", "::mlir::gpu::GPUFuncOp"> {
  let summary = "Gives the puts of a kernel to warps of their own";
  let description = [{
    Where the schedule says `producer-warps`, everything from the first put or get on becomes a
    `tile.specialize`: the producer's region holds the puts, with the loops and branches
    around them and the arithmetic that they read, and the consumer's all else.
    The order of the puts stays, so a loop whose gets were moved ahead has its
    puts ahead too.

    **Errors**: a put reads something that is not computed by arithmetic from what is there before.
  }];
}

def TileDealTilesPass : Pass<"tile-deal-tiles", "::mlir::gpu::GPUFuncOp"> {
  let summary = "Lets a persistent workgroup take its next tile when it is done with one";
  let description = [{
    Where the schedule says `persistent = dynamic`, the loops of both roles over tiles dealt in advance become
    loops over the tiles that the producers take from a counter: the argument of the kernel with the attribute
    `tile.counter`. A workgroup with short tiles then computes more of them.

    **Errors**: such a schedule without roles, without such a loop in both of them, or without a counter.
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect"];
}

def TileMulticastPass : Pass<"tile-multicast", "::mlir::gpu::GPUFuncOp"> {
  let summary = "Lets the workgroups of a cluster share what all of them copy";
  let description = [{
    Where the schedule says `cluster`, channels whose puts are the same in all workgroups of a cluster
    become channels of the cluster: each workgroup then copies its share of a tile to all of them. A put is the
    same where nothing that it reads, and nothing that decides whether and how often it runs, is
    computed from what tells these workgroups apart.

    ```
    before                                             after
    %k = tile.channel : <..., panel = 64>              %k = tile.channel : <..., panel = 64, cluster = 2>
    ```

    Without this pass each workgroup copies all of its tiles itself, and computes the same.

    **Errors**: such a schedule without roles of warps, or on a kernel with another
    `known_cluster_size`; no channel that could be shared.
  }];
}

def TileUnrollLoopsPass : Pass<"tile-unroll-loops", "::mlir::gpu::GPUFuncOp"> {
  let summary = "Repeats the body of the loops over key blocks";
  let description = [{
    Where the schedule says `unroll`, each innermost loop that goes from one block to the next, and puts or
    gets, has its body that many times, and a second loop behind it takes the blocks that are left. Both roles
    of warps have such loops: they meet in channels alone, so that each may take its own turns.

    Where the first block is known, and the factor is a multiple of a ring's slots, each copy of a put or a get uses
    one slot alone. Done by upstream's `loopUnrollByFactor`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def TileAssignLayoutsPass : Pass<"tile-assign-layouts", "::mlir::gpu::GPUFuncOp"> {
  let summary = "Gives every tile in registers a layout";
  let description = [{
    Layouts come from the matrix instruction that the target lists for the
    operands' element type. Every 2-D tile gets the accumulator's layout, repeated over
    its shape with the rows dealt to the warps, and every 1-D tile the row part of it,
    so that elementwise code and reductions need no data movement. A tile that is read only to be
    the left-hand side of a multiply gets that operand's layout at once. Where else a `tile.mma`
    takes an operand from registers, a `tile.convert_layout` to the operand's
    layout is put in front of it, and so is one in front of a `tile.store` where lanes can
    exchange elements such that each holds, and writes, up to 16 neighbouring bytes.

    Refuses shapes that the instruction and the number of warps do not divide.
  }];
}

def TileRemoveLayoutConversionsPass : Pass<"tile-remove-layout-conversions", "::mlir::gpu::GPUFuncOp"> {
  let summary = "Produces tiles in the layout in which they are used";
  let description = [{
    Conversions of what was just read, loaded or filled disappear into their
    producer; conversions between equal layouts and chains of conversions fold.
  }];
}

#endif // ATTUNE_DIALECT_TILE_TRANSFORMS_PASSES_TD
