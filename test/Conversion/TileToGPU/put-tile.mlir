// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tile in registers is written to a slot that is stored by columns: four
// neighbours of a column at once, at constant distances.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(attune-attach-target{chip=gfx942},gpu.module(gpu.func(tile-assign-layouts,tile-allocate-shared)),convert-tile-to-gpu,canonicalize,cse)" | FileCheck %s

!channel = !tile.channel<16x32xbf16, stages = 1, padding = 8, transposed = true>
!tile = !tile.tile<16x32xbf16, registers>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @columns
  // CHECK: memref.view {{.*}} to memref<1x32x24xbf16, #gpu.address_space<workgroup>>
  // CHECK-COUNT-4: amdgpu.raw_buffer_load {boundsCheck = false} %{{.+}} -> vector<2xbf16>
  // CHECK-NOT: raw_buffer_load
  // CHECK: %[[FIRST:.+]] = vector.shuffle %[[ALL:.+]], %[[ALL]] [0, 2, 4, 6] : vector<8xbf16>, vector<8xbf16>
  // CHECK: vector.store %[[FIRST]], %[[SLOT:.+]][%[[AT:.+]]] {alignment = 8 : i64} : memref<768xbf16, {{.*}}>, vector<4xbf16>
  // CHECK: %[[SECOND:.+]] = vector.shuffle %[[ALL]], %[[ALL]] [1, 3, 5, 7]
  // CHECK: %[[NEXT:.+]] = arith.addi %[[AT]], %c24
  // CHECK: vector.store %[[SECOND]], %[[SLOT]][%[[NEXT]]] {alignment = 8 : i64}
  // CHECK: amdgpu.lds_barrier
  gpu.func @columns(%m: memref<?x32xbf16>, %i: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c = tile.channel : !channel
    %t = tile.load %m[%i, %c0] in_bounds : memref<?x32xbf16> -> !tile
    tile.put_tile %c[%c0], %t : !channel, !tile
    %s = tile.get %c[%c0] : !channel -> !tile.tile<16x32xbf16, shared, #tile.swizzle<vector = 8, bits = 0, shift = 0, padding = 8, transposed = true>>
    gpu.return
  }
}
