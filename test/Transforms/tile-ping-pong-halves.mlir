// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where warps multiply alone, two halves of a workgroup have ping-pong, if what
// is put for later iterations allows one to be a phase behind the other.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(attune-attach-target{chip=gfx942},gpu.module(gpu.func(tile-ping-pong)))" | FileCheck %s

#rows = #tile.swizzle<vector = 4, bits = 0, shift = 0, padding = 4>
!ring = !tile.channel<16x32xf16, stages = 3, padding = 4>
!two = !tile.channel<16x32xf16, stages = 2, padding = 4>
!shared = !tile.tile<16x32xf16, shared, #rows>
!tile = !tile.tile<16x32xf16, registers>
!q = !tile.tile<256x32xf16, registers>
!s = !tile.tile<256x16xf32, registers>
#size = array<i32: 512, 1, 1>

gpu.module @kernels {
  // An element of iteration i + 2 is put behind the MMA, in the third slot.
  // CHECK-LABEL: gpu.func @two_ahead
  // CHECK:      tile.ping_pong_init of 2
  // CHECK-NEXT: scf.for
  // CHECK-NEXT:   arith.subi
  // CHECK-NEXT:   tile.ping_pong_wait of 2
  // CHECK-NEXT:   tile.get
  // CHECK-NEXT:   tile.mma_async
  // CHECK-NEXT:   tile.ping_pong_arrive of 2
  // CHECK-NEXT:   tile.wait
  // CHECK:        tile.put_tile
  // CHECK-NEXT: }
  // CHECK-NEXT: tile.ping_pong_end of 2
  gpu.func @two_ahead(%n: index, %q: !q, %zero: !s, %next: !tile) kernel attributes {known_block_size = #size} {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %k = tile.channel : !ring
    scf.for %i = %c1 to %n step %c1 {
      %e = arith.subi %i, %c1 : index
      %b = tile.get %k[%e] : !ring -> !shared
      %a = tile.mma_async %q, %b, %zero transpose_rhs : !q, !shared, !s
      %c = tile.wait %a : !tile.pending<!s>
      tile.release %k[%e] : !ring
      %later = arith.addi %e, %c2 : index
      tile.put_tile %k[%later], %next : !ring, !tile
    } {tile.ping_pong}
    gpu.return
  }

  // The second half would put what the first one already reads; or the first
  // one what the second one still reads; or while the other one multiplies; or
  // by a copy that only those wait for who issued it; or for who knows when.
  // CHECK-LABEL: gpu.func @others
  // CHECK-NOT: tile.ping_pong
  // CHECK: gpu.return
  gpu.func @others(%n: index, %m: index, %q: !q, %zero: !s, %next: !tile, %from: memref<64x32xf16>) kernel
      attributes {known_block_size = #size} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %k = tile.channel : !ring
    %v = tile.channel : !two
    scf.for %i = %c0 to %n step %c1 {
      %b = tile.get %k[%i] : !ring -> !shared
      %a = tile.mma_async %q, %b, %zero transpose_rhs : !q, !shared, !s
      tile.release %k[%i] : !ring
      %later = arith.addi %i, %c1 : index
      tile.put_tile %k[%later], %next : !ring, !tile
    } {tile.ping_pong}
    scf.for %i = %c0 to %n step %c1 {
      %b = tile.get %v[%i] : !two -> !shared
      %a = tile.mma_async %q, %b, %zero transpose_rhs : !q, !shared, !s
      tile.release %v[%i] : !two
      %later = arith.addi %i, %c2 : index
      tile.put_tile %v[%later], %next : !two, !tile
    } {tile.ping_pong}
    scf.for %i = %c0 to %n step %c1 {
      %later = arith.addi %i, %c2 : index
      tile.put_tile %k[%later], %next : !ring, !tile
      %b = tile.get %k[%i] : !ring -> !shared
      %a = tile.mma_async %q, %b, %zero transpose_rhs : !q, !shared, !s
      tile.release %k[%i] : !ring
    } {tile.ping_pong}
    scf.for %i = %c0 to %n step %c1 {
      %b = tile.get %k[%i] : !ring -> !shared
      %a = tile.mma_async %q, %b, %zero transpose_rhs : !q, !shared, !s
      tile.release %k[%i] : !ring
      %later = arith.addi %i, %c2 : index
      tile.put %k[%later], %from[%c0, %c0] : !ring, memref<64x32xf16>
    } {tile.ping_pong}
    scf.for %i = %c0 to %n step %c1 {
      %b = tile.get %k[%i] : !ring -> !shared
      %a = tile.mma_async %q, %b, %zero transpose_rhs : !q, !shared, !s
      tile.release %k[%i] : !ring
      %later = arith.addi %i, %m : index
      tile.put_tile %k[%later], %next : !ring, !tile
    } {tile.ping_pong}
    gpu.return
  }
}
