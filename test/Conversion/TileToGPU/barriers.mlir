// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A put needs a barrier of its own only where no get of any channel stands
// between it and the release of its slot, around the loop as well.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(attune-attach-target{chip=sm_80},gpu.module(gpu.func(tile-allocate-shared)),convert-tile-to-gpu)" | FileCheck %s

!channel = !tile.channel<16x64xf16, stages = 1>
!shared = !tile.tile<16x64xf16, shared, #tile.swizzle<vector = 8, bits = 3, shift = 0>>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @first_put
  gpu.func @first_put(%m: memref<16x64xf16>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // CHECK-NOT: gpu.barrier
    // CHECK: nvvm.cp.async.commit.group
    // CHECK: nvvm.cp.async.wait.group 0
    // CHECK-NEXT: gpu.barrier
    // CHECK-NOT: gpu.barrier
    // CHECK: gpu.return
    %c0 = arith.constant 0 : index
    %c = tile.channel : !channel
    tile.put %c[%c0], %m[%c0, %c0] in_bounds : !channel, memref<16x64xf16>
    %s = tile.get %c[%c0] : !channel -> !shared
    tile.release %c[%c0] : !channel
    gpu.return
  }

  // CHECK-LABEL: gpu.func @put_behind_release
  gpu.func @put_behind_release(%m: memref<16x64xf16>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // CHECK: nvvm.cp.async.wait.group 0
    // CHECK-NEXT: gpu.barrier
    // CHECK: gpu.barrier
    // CHECK: nvvm.cp.async.commit.group
    // CHECK: gpu.return
    %c0 = arith.constant 0 : index
    %c = tile.channel : !channel
    %s = tile.get %c[%c0] : !channel -> !shared
    tile.release %c[%c0] : !channel
    tile.put %c[%c0], %m[%c0, %c0] in_bounds : !channel, memref<16x64xf16>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @other_get_between
  gpu.func @other_get_between(%m: memref<16x64xf16>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // CHECK-COUNT-1: gpu.barrier
    // CHECK-NOT: gpu.barrier
    // CHECK: nvvm.cp.async.commit.group
    // CHECK: gpu.return
    %c0 = arith.constant 0 : index
    %c = tile.channel : !channel
    %d = tile.channel : !channel
    tile.release %c[%c0] : !channel
    %s = tile.get %d[%c0] : !channel -> !shared
    tile.put %c[%c0], %m[%c0, %c0] in_bounds : !channel, memref<16x64xf16>
    gpu.return
  }

  // The release of the iteration before stands in front of the put.
  // CHECK-LABEL: gpu.func @around_the_loop
  gpu.func @around_the_loop(%m: memref<16x64xf16>, %n: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // CHECK: scf.for
    // CHECK: gpu.barrier
    // CHECK: nvvm.cp.async.commit.group
    // CHECK: nvvm.cp.async.wait.group 0
    // CHECK-NEXT: gpu.barrier
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c = tile.channel : !channel
    scf.for %i = %c0 to %n step %c1 {
      tile.put %c[%i], %m[%c0, %c0] in_bounds : !channel, memref<16x64xf16>
      %s = tile.get %c[%i] : !channel -> !shared
      tile.release %c[%i] : !channel
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @behind_a_loop
  gpu.func @behind_a_loop(%m: memref<16x64xf16>, %n: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // CHECK: scf.for
    // CHECK: }
    // CHECK: gpu.barrier
    // CHECK: nvvm.cp.async.commit.group
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c = tile.channel : !channel
    scf.for %i = %c0 to %n step %c1 {
      %s = tile.get %c[%i] : !channel -> !shared
      tile.release %c[%i] : !channel
    }
    tile.put %c[%c0], %m[%c0, %c0] in_bounds : !channel, memref<16x64xf16>
    gpu.return
  }
}
