// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns around the multiplies of loops.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(gpu.module(gpu.func(tile-take-turns)))" | FileCheck %s

#swizzle = #tile.swizzle<vector = 8, bits = 2, shift = 1, panel = 32>
!shared = !tile.tile<16x32xf16, shared, #swizzle>
!q = !tile.tile<64x32xf16, registers>
!s = !tile.tile<64x16xf32, registers>

gpu.module @kernels {
  // One start for two loops, before the branch that the first one stands in.
  // CHECK-LABEL: gpu.func @two_loops
  // CHECK:     tile.start_turns of 3
  // CHECK-NEXT: scf.if
  // CHECK:       scf.for
  // CHECK:         tile.reduce
  // CHECK-NEXT:    tile.take_turn of 3
  // CHECK-NEXT:    %[[A:.+]] = tile.mma_async
  // CHECK-NEXT:    %[[B:.+]] = tile.mma_async
  // CHECK-NEXT:    tile.give_turn of 3
  // CHECK-NEXT:    tile.await %[[A]]
  // CHECK-NEXT:    tile.await %[[B]]
  // CHECK-NOT: tile.start_turns
  // CHECK:     scf.for
  // CHECK-NEXT:  tile.take_turn of 3
  // CHECK-NEXT:  tile.mma_async
  // CHECK-NEXT:  tile.give_turn of 3
  gpu.func @two_loops(%n: index, %more: i1, %q: !q, %k: !shared, %zero: !s) kernel
      attributes {tile.schedule = #schedule.attention<numWarps = 12, mmaWarps = 4, producerWarps = 4, overlap = "ping-pong">} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.if %more {
      scf.for %j = %c0 to %n step %c1 {
        %r = tile.reduce max %zero : !s -> !tile.tile<64xf32, registers>
        %a = tile.mma_async %q, %k, %zero transpose_rhs : !q, !shared, !s
        %b = tile.mma_async %q, %k, %zero transpose_rhs : !q, !shared, !s
        %c = tile.await %a running 1 : !tile.pending<!s>
        %d = tile.await %b : !tile.pending<!s>
      }
    }
    scf.for %j = %c0 to %n step %c1 {
      %a = tile.mma_async %q, %k, %zero transpose_rhs : !q, !shared, !s
      %b = tile.await %a : !tile.pending<!s>
    }
    gpu.return
  }

  // A multiply outside of a loop, and one that is awaited at once, take no turn.
  // CHECK-LABEL: gpu.func @other_multiplies
  // CHECK-NOT: tile.{{.*}}turn
  // CHECK: gpu.return
  gpu.func @other_multiplies(%n: index, %q: !q, %k: !shared, %zero: !s) kernel
      attributes {tile.schedule = #schedule.attention<numWarps = 8, mmaWarps = 4, producerWarps = 4, overlap = "ping-pong">} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a = tile.mma_async %q, %k, %zero transpose_rhs : !q, !shared, !s
    scf.for %j = %c0 to %n step %c1 {
      %b = tile.mma %q, %k, %zero transpose_rhs : !q, !shared, !s
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @overlap_of_one
  // CHECK-NOT: tile.{{.*}}turn
  // CHECK: gpu.return
  gpu.func @overlap_of_one(%n: index, %q: !q, %k: !shared, %zero: !s) kernel
      attributes {tile.schedule = #schedule.attention<numWarps = 8, mmaWarps = 4, producerWarps = 4, overlap = softmax>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %j = %c0 to %n step %c1 {
      %a = tile.mma_async %q, %k, %zero transpose_rhs : !q, !shared, !s
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @no_schedule
  // CHECK-NOT: tile.{{.*}}turn
  // CHECK: gpu.return
  gpu.func @no_schedule(%n: index, %q: !q, %k: !shared, %zero: !s) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %j = %c0 to %n step %c1 {
      %a = tile.mma_async %q, %k, %zero transpose_rhs : !q, !shared, !s
    }
    gpu.return
  }
}
