// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where threads copy through registers, they meet at a get only if they have not
// since the element was put, or if a put relies on it to find its slot read.
// Asynchronous copies are waited for at each get.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(attune-attach-target{chip=gfx942},gpu.module(gpu.func(tile-allocate-shared)),convert-tile-to-gpu)" \
// RUN:   | FileCheck %s --check-prefixes=CHECK,REGISTERS --implicit-check-not=gpu.barrier
// RUN: attune-opt %s --pass-pipeline="builtin.module(attune-attach-target{chip=sm_80},gpu.module(gpu.func(tile-allocate-shared)),convert-tile-to-gpu)" \
// RUN:   | FileCheck %s --check-prefixes=CHECK,ASYNC --implicit-check-not=amdgpu.lds_barrier

!one = !tile.channel<16x32xf16, stages = 1>
!two = !tile.channel<16x32xf16, stages = 2>
!tile = !tile.tile<16x32xf16, shared, #tile.swizzle<vector = 8, bits = 2, shift = 1>>

gpu.module @kernels {
  // Both are there when they meet for the first.
  // CHECK-LABEL: gpu.func @put_together
  // REGISTERS:     amdgpu.lds_barrier
  // REGISTERS-NOT: amdgpu.lds_barrier
  // ASYNC-COUNT-2: gpu.barrier
  // CHECK:         gpu.return
  gpu.func @put_together(%m: memref<64x32xf16>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = tile.channel : !one
    %b = tile.channel : !one
    tile.put %a[%c0], %m[%c0, %c0] in_bounds : !one, memref<64x32xf16>
    tile.put %b[%c0], %m[%c0, %c0] in_bounds : !one, memref<64x32xf16>
    %x = tile.get %a[%c0] : !one -> !tile
    %y = tile.get %b[%c0] : !one -> !tile
    gpu.return
  }

  // What is put in between is not.
  // CHECK-LABEL: gpu.func @put_between
  // REGISTERS-COUNT-2: amdgpu.lds_barrier
  // REGISTERS-NOT:     amdgpu.lds_barrier
  // ASYNC-COUNT-2: gpu.barrier
  // CHECK:         gpu.return
  gpu.func @put_between(%m: memref<64x32xf16>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = tile.channel : !one
    %b = tile.channel : !one
    tile.put %a[%c0], %m[%c0, %c0] in_bounds : !one, memref<64x32xf16>
    %x = tile.get %a[%c0] : !one -> !tile
    tile.put %b[%c0], %m[%c0, %c0] in_bounds : !one, memref<64x32xf16>
    %y = tile.get %b[%c0] : !one -> !tile
    gpu.return
  }

  // The second meeting is what lets the slot be put again.
  // CHECK-LABEL: gpu.func @relied_on
  // CHECK:         scf.for
  // REGISTERS-COUNT-2: amdgpu.lds_barrier
  // REGISTERS-NOT:     amdgpu.lds_barrier
  // ASYNC-COUNT-2: gpu.barrier
  // CHECK:         gpu.return
  gpu.func @relied_on(%m: memref<64x32xf16>, %n: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a = tile.channel : !one
    %b = tile.channel : !two
    scf.for %i = %c0 to %n step %c1 {
      %x = tile.get %a[%i] : !one -> !tile
      tile.release %a[%i] : !one
      %y = tile.get %b[%i] : !two -> !tile
      tile.release %b[%i] : !two
      %next = arith.addi %i, %c1 : index
      tile.put %b[%next], %m[%c0, %c0] in_bounds : !two, memref<64x32xf16>
      tile.put %a[%next], %m[%c0, %c0] in_bounds : !one, memref<64x32xf16>
    }
    gpu.return
  }

  // Slots that were released in the iteration before are read when they meet for
  // the first.
  // CHECK-LABEL: gpu.func @two_slots
  // CHECK:         scf.for
  // REGISTERS:     amdgpu.lds_barrier
  // REGISTERS-NOT: amdgpu.lds_barrier
  // ASYNC-COUNT-2: gpu.barrier
  // CHECK:         gpu.return
  gpu.func @two_slots(%m: memref<64x32xf16>, %n: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a = tile.channel : !two
    %b = tile.channel : !two
    scf.for %i = %c0 to %n step %c1 {
      %x = tile.get %a[%i] : !two -> !tile
      tile.release %a[%i] : !two
      %y = tile.get %b[%i] : !two -> !tile
      tile.release %b[%i] : !two
      %next = arith.addi %i, %c1 : index
      tile.put %a[%next], %m[%c0, %c0] in_bounds : !two, memref<64x32xf16>
      tile.put %b[%next], %m[%c0, %c0] in_bounds : !two, memref<64x32xf16>
    }
    gpu.return
  }

  // A slot that is put again two elements later is the same one.
  // CHECK-LABEL: gpu.func @same_slot
  // CHECK:         scf.for
  // REGISTERS-COUNT-2: amdgpu.lds_barrier
  // REGISTERS-NOT:     amdgpu.lds_barrier
  // ASYNC-COUNT-2: gpu.barrier
  // CHECK:         gpu.return
  gpu.func @same_slot(%m: memref<64x32xf16>, %n: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %a = tile.channel : !two
    %b = tile.channel : !two
    scf.for %i = %c0 to %n step %c1 {
      %x = tile.get %a[%i] : !two -> !tile
      tile.release %a[%i] : !two
      %y = tile.get %b[%i] : !two -> !tile
      tile.release %b[%i] : !two
      %next = arith.addi %i, %c1 : index
      %later = arith.addi %i, %c2 : index
      tile.put %a[%later], %m[%c0, %c0] in_bounds : !two, memref<64x32xf16>
      tile.put %b[%next], %m[%c0, %c0] in_bounds : !two, memref<64x32xf16>
    }
    gpu.return
  }
}
