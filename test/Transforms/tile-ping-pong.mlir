// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ping-pong around the MMAs of loops.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(gpu.module(gpu.func(tile-ping-pong)))" | FileCheck %s

#swizzle = #tile.swizzle<vector = 8, bits = 2, shift = 1, swizzle_atom = 32>
!shared = !tile.tile<16x32xf16, shared, #swizzle>
!q = !tile.tile<64x32xf16, registers>
!s = !tile.tile<64x16xf32, registers>

#acc = #tile.layout<registers = [], lanes = [[4, 1, 1], [8, 0, 1]], warps = [[4, 0, 8]]>
#lhs = #tile.layout<registers = [], lanes = [[4, 1, 1], [8, 0, 1]], warps = [[4, 0, 8]]>
#rhs = #tile.layout<registers = [], lanes = [[4, 1, 1], [4, 0, 1], [2, 0, 0]], warps = [[4, 0, 0]]>

module attributes {tile.target = #tile.target<
  chip = "toy", family = "Toy", lanes = 32, sms = 1, shared = 65536, shared_per_sm = 65536, registers = 255,
  registers_per_sm = 65536, max_threads = 1024, max_threads_per_sm = 1024, copy_sync = none, copy_widths = [],
  tma_box_bytes = 128,
  mma = [#tile.mma_atom<name = "group", m = 32, n = 4, k = 4, lhsType = f16, rhsType = f16, accType = f32, lhs = #lhs, rhs = #rhs, acc = #acc>]>} {
gpu.module @kernels {
  // One start for two loops, before the branch that the first one stands in.
  // CHECK-LABEL: gpu.func @two_loops
  // CHECK:     tile.ping_pong_init of 3
  // CHECK-NEXT: scf.if
  // CHECK:       scf.for
  // CHECK:         tile.reduce
  // CHECK-NEXT:    tile.ping_pong_wait of 3
  // CHECK-NEXT:    %[[A:.+]] = tile.mma_async
  // CHECK-NEXT:    %[[B:.+]] = tile.mma_async
  // CHECK-NEXT:    tile.ping_pong_arrive of 3
  // CHECK-NEXT:    tile.wait %[[A]]
  // CHECK-NEXT:    tile.wait %[[B]]
  // CHECK-NOT: tile.ping_pong_init
  // CHECK:     scf.for
  // CHECK-NEXT:  tile.ping_pong_wait of 3
  // CHECK-NEXT:  tile.mma_async
  // CHECK-NEXT:  tile.ping_pong_arrive of 3
  gpu.func @two_loops(%n: index, %more: i1, %q: !q, %k: !shared, %zero: !s) kernel
      attributes {known_block_size = array<i32: 512, 1, 1>, tile.roles = [#tile.role<"compute", warps = 12>, #tile.role<"load", warps = 4, threads = one>]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.if %more {
      scf.for %j = %c0 to %n step %c1 {
        %r = tile.reduce max %zero : !s -> !tile.tile<64xf32, registers>
        %a = tile.mma_async %q, %k, %zero transpose_rhs scope warpgroup : !q, !shared, !s
        %b = tile.mma_async %q, %k, %zero transpose_rhs scope warpgroup : !q, !shared, !s
        %c = tile.wait %a : !tile.pending<!s>
        %d = tile.wait %b : !tile.pending<!s>
      } {tile.ping_pong}
    }
    scf.for %j = %c0 to %n step %c1 {
      %a = tile.mma_async %q, %k, %zero transpose_rhs scope warpgroup : !q, !shared, !s
      %b = tile.wait %a : !tile.pending<!s>
    } {tile.ping_pong}
    gpu.return
  }

  // Without roles, all warps are in ping-pong: here two warpgroups of four.
  // CHECK-LABEL: gpu.func @no_roles
  // CHECK:     tile.ping_pong_init of 2
  // CHECK:     scf.for
  // CHECK-NEXT:  tile.ping_pong_wait of 2
  gpu.func @no_roles(%n: index, %q: !q, %k: !shared, %zero: !s) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %j = %c0 to %n step %c1 {
      %a = tile.mma_async %q, %k, %zero transpose_rhs scope warpgroup : !q, !shared, !s
      %b = tile.wait %a : !tile.pending<!s>
    } {tile.ping_pong}
    gpu.return
  }

  // An MMA outside of a loop, and one that is waited for at once, have no ping-pong.
  // CHECK-LABEL: gpu.func @other_multiplies
  // CHECK-NOT: tile.ping_pong_
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

  // Where the loop does not ask for ping-pong.
  // CHECK-LABEL: gpu.func @not_wanted
  // CHECK-NOT: tile.ping_pong_
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
