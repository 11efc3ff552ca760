// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The copy engine fetches a TMA box of each block, by the map of its buffer. Integration/interleaved.mlir checks numbers.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(attune-attach-target{chip=sm_90a},gpu.module(gpu.func(tile-allocate-shared)),convert-tile-to-gpu,cse)" | FileCheck %s

!rows = !tile.channel<64x64xf16, stages = 2, swizzle_atom = 64>
!shared = !tile.channel<64x64xf16, stages = 2, swizzle_atom = 64, cluster = 2>
!columns = !tile.channel<32x128xf16, stages = 2, swizzle_atom = 64>
!view = memref<?x64xf16>
!wide = memref<32x?xf16, strided<[512, 1]>>

#acc = #tile.layout<registers = [[2, 1, 1], [2, 0, 8], [8, 1, 8]], lanes = [[4, 1, 2], [8, 0, 1]], warps = [[4, 0, 16]]>
#part = #tile.layout<registers = [[2, 1, 1], [2, 0, 8], [4, 1, 8]], lanes = [[4, 1, 2], [8, 0, 1]], warps = [[4, 0, 16]]>

module attributes {gpu.container_module} {
gpu.module @kernels {
  // Of a tile of 64 rows: 16 of each, and the next 16 of each.
  // CHECK-LABEL: gpu.func @rows
  // CHECK-SAME:    %[[MAP0:[^ ]+]]: !nvgpu.tensormap.descriptor<tensor = memref<16x64xf16, {{.+}}>, %[[MAP1:[^ ]+]]: !nvgpu.tensormap.descriptor<tensor = memref<16x64xf16
  // CHECK:         nvvm.mbarrier.arrive.expect_tx %[[FULL:[^ ]+]], %c8192_i32
  // CHECK:         %[[ROW:.+]] = arith.divui %{{.+}}, %c2
  // CHECK:         %[[NEXT:.+]] = arith.addi %[[ROW]], %c16
  // CHECK:         %[[X:.+]] = builtin.unrealized_conversion_cast %[[MAP0]]
  // CHECK:         %[[ROW32:.+]] = arith.index_cast %[[ROW]]
  // CHECK:         nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.+}}, %[[X]], %[[FULL]], box[%c0_i32, %[[ROW32]]]
  // CHECK:         %[[Y:.+]] = builtin.unrealized_conversion_cast %[[MAP1]]
  // CHECK:         nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.+}}, %[[Y]], %[[FULL]], box[%c0_i32, %[[ROW32]]]
  // CHECK:         %[[NEXT32:.+]] = arith.index_cast %[[NEXT]]
  // CHECK:         nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.+}}, %[[X]], %[[FULL]], box[%c0_i32, %[[NEXT32]]]
  // CHECK:         nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.+}}, %[[Y]], %[[FULL]], box[%c0_i32, %[[NEXT32]]]
  // CHECK-NOT:     nvvm.cp.async.bulk
  gpu.func @rows(%x: !view, %y: !view, %block: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %row = arith.muli %block, %c64 : index
    %both = tile.interleaved %x, %y blocks of 16 : !view, !view
    %channel = tile.channel : !rows
    tile.put %channel[%c0], %both[%row, %c0] : !rows, !view
    gpu.return
  }

  // Each workgroup of a cluster copies half of each block to both.
  // CHECK-LABEL: gpu.func @of_a_cluster
  // CHECK-SAME:    tensor = memref<16x64xf16, {{.+}}tensor = memref<16x64xf16
  // CHECK-COUNT-2: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.+}} multicast_mask
  // CHECK-NOT:     nvvm.cp.async.bulk
  gpu.func @of_a_cluster(%x: !view, %y: !view, %block: index) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %row = arith.muli %block, %c64 : index
    %both = tile.interleaved %x, %y blocks of 32 : !view, !view
    %channel = tile.channel : !shared
    tile.put %channel[%c0], %both[%row, %c0] : !shared, !view
    gpu.return
  }

  // CHECK-LABEL: gpu.func @columns
  // CHECK-SAME:    tensor = memref<32x64xf16, {{.+}}tensor = memref<32x64xf16
  // CHECK-COUNT-2: nvvm.cp.async.bulk.tensor.shared.cluster.global
  // CHECK-NOT:     nvvm.cp.async.bulk
  gpu.func @columns(%x: !wide, %y: !wide, %block: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c128 = arith.constant 128 : index
    %column = arith.muli %block, %c128 : index
    %both = tile.interleaved %x, %y blocks of 64 dim 1 : !wide, !wide
    %channel = tile.channel : !columns
    tile.put %channel[%c0], %both[%c0, %column] : !columns, !wide
    gpu.return
  }

  // Registers 0 to 7 of a thread are of one part, the next eight of the other.
  // CHECK-LABEL: gpu.func @parts
  // CHECK:         vector.shuffle %[[TILE:.+]], %[[TILE]] [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23] : vector<32xf32>, vector<32xf32>
  // CHECK:         vector.shuffle %[[TILE]], %[[TILE]] [8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31] : vector<32xf32>, vector<32xf32>
  gpu.func @parts(%x: memref<64x64xf32>, %out: memref<64x32xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %tile = tile.load %x[%c0, %c0] : memref<64x64xf32> -> !tile.tile<64x64xf32, registers, #acc>
    %parts:2 = tile.deinterleave %tile blocks of 16 dim 1 : !tile.tile<64x64xf32, registers, #acc>
      -> !tile.tile<64x32xf32, registers, #part>, !tile.tile<64x32xf32, registers, #part>
    tile.store %parts#0, %out[%c0, %c0] : !tile.tile<64x32xf32, registers, #part>, memref<64x32xf32>
    tile.store %parts#1, %out[%c0, %c0] : !tile.tile<64x32xf32, registers, #part>, memref<64x32xf32>
    gpu.return
  }
}
}
