// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns around the multiplies of loops.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(gpu.module(gpu.func(tile-take-turns)))" | FileCheck %s

#swizzle = #tile.swizzle<vector = 8, bits = 2, shift = 1, panel = 32>
!shared = !tile.tile<16x32xf16, shared, #swizzle>
!q = !tile.tile<64x32xf16, registers>
!s = !tile.tile<64x16xf32, registers>

#acc = #tile.layout<registers = [], lanes = [[4, 1, 1], [8, 0, 1]], warps = [[4, 0, 8]]>
#lhs = #tile.layout<registers = [], lanes = [[4, 1, 1], [8, 0, 1]], warps = [[4, 0, 8]]>
#rhs = #tile.layout<registers = [], lanes = [[4, 1, 1], [4, 0, 1], [2, 0, 0]], warps = [[4, 0, 0]]>

module attributes {tile.target = #tile.target<
  chip = "toy", family = "Toy", lanes = 32, cores = 1, shared = 65536, shared_per_core = 65536, registers = 255,
  registers_per_core = 65536, max_threads = 1024, max_threads_per_core = 1024, copy_sync = none, copy_widths = [],
  box_bytes = 128,
  mma = [#tile.mma_atom<name = "group", m = 32, n = 4, k = 4, lhsType = f16, rhsType = f16, accType = f32, lhs = #lhs, rhs = #rhs, acc = #acc>]>} {
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
      attributes {known_block_size = array<i32: 512, 1, 1>, tile.roles = [#tile.role<"compute", warps = 12>, #tile.role<"load", warps = 4, threads = one>]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.if %more {
      scf.for %j = %c0 to %n step %c1 {
        %r = tile.reduce max %zero : !s -> !tile.tile<64xf32, registers>
        %a = tile.mma_async %q, %k, %zero transpose_rhs scope warpgroup : !q, !shared, !s
        %b = tile.mma_async %q, %k, %zero transpose_rhs scope warpgroup : !q, !shared, !s
        %c = tile.await %a : !tile.pending<!s>
        %d = tile.await %b : !tile.pending<!s>
      } {tile.ping_pong}
    }
    scf.for %j = %c0 to %n step %c1 {
      %a = tile.mma_async %q, %k, %zero transpose_rhs scope warpgroup : !q, !shared, !s
      %b = tile.await %a : !tile.pending<!s>
    } {tile.ping_pong}
    gpu.return
  }

  // Without roles, all warps take turns: here two warpgroups of four.
  // CHECK-LABEL: gpu.func @no_roles
  // CHECK:     tile.start_turns of 2
  // CHECK:     scf.for
  // CHECK-NEXT:  tile.take_turn of 2
  gpu.func @no_roles(%n: index, %q: !q, %k: !shared, %zero: !s) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %j = %c0 to %n step %c1 {
      %a = tile.mma_async %q, %k, %zero transpose_rhs scope warpgroup : !q, !shared, !s
      %b = tile.await %a : !tile.pending<!s>
    } {tile.ping_pong}
    gpu.return
  }

  // A multiply outside of a loop, and one that is awaited at once, take no turn.
  // CHECK-LABEL: gpu.func @other_multiplies
  // CHECK-NOT: tile.{{.*}}turn
  // CHECK: gpu.return
  gpu.func @other_multiplies(%n: index, %q: !q, %k: !shared, %zero: !s) kernel
      attributes {known_block_size = array<i32: 384, 1, 1>, tile.roles = [#tile.role<"compute", warps = 8>, #tile.role<"load", warps = 4, threads = one>]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a = tile.mma_async %q, %k, %zero transpose_rhs scope warpgroup : !q, !shared, !s
    scf.for %j = %c0 to %n step %c1 {
      %b = tile.mma %q, %k, %zero transpose_rhs scope warpgroup : !q, !shared, !s
    } {tile.ping_pong}
    gpu.return
  }

  // Where the loop does not ask for turns.
  // CHECK-LABEL: gpu.func @not_wanted
  // CHECK-NOT: tile.{{.*}}turn
  // CHECK: gpu.return
  gpu.func @not_wanted(%n: index, %q: !q, %k: !shared, %zero: !s) kernel
      attributes {known_block_size = array<i32: 384, 1, 1>, tile.roles = [#tile.role<"compute", warps = 8>, #tile.role<"load", warps = 4, threads = one>]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %j = %c0 to %n step %c1 {
      %a = tile.mma_async %q, %k, %zero transpose_rhs scope warpgroup : !q, !shared, !s
    }
    gpu.return
  }
}
}
