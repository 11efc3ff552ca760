// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a role computes and others get: its warps wait for a slot that all of
// these have released, write, and say so, each once.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(attune-attach-target{chip=sm_90a},gpu.module(gpu.func(tile-allocate-shared)),convert-tile-to-gpu,cse)" | FileCheck %s

#acc = #tile.layout<registers = [[2, 1, 1], [2, 0, 8], [4, 1, 8]], lanes = [[4, 1, 2], [8, 0, 1]], warps = [[4, 0, 16]]>
#rows = #tile.layout<registers = [[2, 0, 8]], lanes = [[4, 0, 0], [8, 0, 1]], warps = [[4, 0, 16]]>
!p = !tile.tile<64x32xf16, registers, #acc>
!factors = !tile.tile<64xf32, registers, #rows>
!weights = !tile.channel<64x32xf16, stages = 1, swizzle_atom = 32>
!numbers = !tile.channel<1x64xf32, stages = 1, swizzle_atom = 64>
!slot = !tile.tile<64x32xf16, shared, #tile.swizzle<vector = 8, bits = 2, shift = 1, swizzle_atom = 32>>
!row = !tile.tile<1x64xf32, shared, #tile.swizzle<vector = 4, bits = 0, shift = 0, swizzle_atom = 64>>

module attributes {gpu.container_module} {
gpu.module @kernels {
  // Full says a slot when the 4 warps of the first role have put their parts,
  // empty when the 8 of the others have released it.
  // CHECK-LABEL: gpu.func @hands_over
  // CHECK:       nvvm.mbarrier.init %{{.+}}, %c4_i32
  // CHECK:       nvvm.mbarrier.init %{{.+}}, %c8_i32
  // CHECK:       nvvm.mbarrier.init %{{.+}}, %c4_i32
  // CHECK:       nvvm.mbarrier.init %{{.+}}, %c4_i32
  // The last role first: threads read numbers, and each warp releases them.
  // CHECK:       nvvm.mbarrier.try_wait.parity
  // CHECK:       memref.load
  // CHECK:       nvvm.bar.warp.sync
  // CHECK:       nvvm.mbarrier.arrive
  // CHECK:       } else {
  // Matrices of 8x8 elements, published to MMAs, in a slot that is free.
  // CHECK:       nvvm.mbarrier.try_wait.parity
  // CHECK-COUNT-2: nvvm.stmatrix
  // CHECK-NEXT:  nvvm.fence.proxy
  // CHECK-NEXT:  nvvm.bar.warp.sync
  // CHECK:       %[[FIRST:.+]] = arith.cmpi eq, %{{.+}}, %c0
  // CHECK-NEXT:  scf.if %[[FIRST]] {
  // CHECK:         nvvm.mbarrier.arrive
  // CHECK-NEXT:  }
  // One of the lanes that hold a row writes its number.
  // CHECK:       nvvm.mbarrier.try_wait.parity
  // CHECK:       scf.if
  // CHECK-COUNT-2: vector.store %{{.+}} : memref<64xf32
  // CHECK:       nvvm.bar.warp.sync
  // CHECK:         nvvm.mbarrier.arrive
  gpu.func @hands_over(%x: f16, %f: f32, %out: memref<64xf32>) kernel attributes {known_block_size = array<i32: 416, 1, 1>} {
    %c0 = arith.constant 0 : index
    %w = tile.channel : !weights
    %n = tile.channel : !numbers
    tile.specialize <"first", warps = 4> {
      %p = tile.fill %x : f16 -> !p
      %factors = tile.fill %f : f32 -> !factors
      tile.put_tile %w[%c0], %p : !weights, !p
      tile.put_tile %n[%c0], %factors : !numbers, !factors
      tile.release %w[%c0] : !weights
    }, <"load", warps = 1, threads = one> {
    }, <"unused", warps = 4> {
      tile.release %w[%c0] : !weights
    }, <"other", warps = 4> {
      %row = tile.get %n[%c0] : !numbers -> !row
      %factors = tile.read %row : !row -> !factors
      tile.release %n[%c0] : !numbers
      tile.store %factors, %out[%c0] : !factors, memref<64xf32>
    }
    gpu.return
  }
}
}
