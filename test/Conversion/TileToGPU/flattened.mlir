// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows of two dimensions: threads find both by arithmetic, and the copy engine copies a box of as many of the first
// dimension as the tile has whole, and another one of the rows that are left. Integration/flattened.mlir checks numbers.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(attune-attach-target{chip=sm_90a},gpu.module(gpu.func(tile-allocate-shared)),convert-tile-to-gpu,cse)" | FileCheck %s

!channel = !tile.channel<32x64xf16, stages = 2, swizzle_atom = 64>
!view = memref<?x64xf16, strided<[64, 1], offset: ?>>
!heads = memref<?x8x64xf16, strided<[4096, 64, 1], offset: ?>>

module attributes {gpu.container_module} {
gpu.module @kernels {
  // Four heads of 8 rows each.
  // CHECK-LABEL: gpu.func @whole
  // CHECK-SAME:    tensor = memref<4x8x64xf16
  // CHECK-NOT:     tensor =
  // CHECK:         nvvm.mbarrier.arrive.expect_tx %[[FULL:[^ ]+]], %c4096_i32
  // CHECK:         %[[HEAD:.+]] = arith.index_cast %arg1
  // CHECK:         nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.+}}, %{{.+}}, %[[FULL]], box[%c0_i32, %c0_i32, %[[HEAD]]]
  // CHECK-NOT:     nvvm.cp.async.bulk
  gpu.func @whole(%tensor: memref<12x8x64xf16>, %head: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c12 = arith.constant 12 : index
    %left = arith.subi %c12, %head : index
    %heads = memref.subview %tensor[%head, 0, 0] [%left, 8, 64] [1, 1, 1] : memref<12x8x64xf16> to memref<?x8x64xf16, strided<[512, 64, 1], offset: ?>>
    %rows = tile.flattened %heads : memref<?x8x64xf16, strided<[512, 64, 1], offset: ?>>
    %channel = tile.channel : !channel
    tile.put %channel[%c0], %rows[%c0, %c0] : !channel, !view
    gpu.return
  }

  // Six of 5 rows and 2 of the one behind them, of a tile that starts with a head; 4096 bytes together.
  // CHECK-LABEL: gpu.func @left
  // CHECK-SAME:    tensor = memref<6x5x64xf16
  // CHECK-SAME:    tensor = memref<1x2x64xf16
  // CHECK:         nvvm.mbarrier.arrive.expect_tx %[[FULL:[^ ]+]], %c4096_i32
  // CHECK:         %[[NEXT:.+]] = arith.addi %{{.+}}, %c30
  // CHECK:         arith.divui %{{.+}}, %c5
  // CHECK:         nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.+}}, %{{.+}}, %[[FULL]], box[
  // CHECK:         arith.divui %[[NEXT]], %c5
  // CHECK:         arith.addi %{{.+}}, %c3840
  // CHECK:         nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.+}}, %{{.+}}, %[[FULL]], box[
  // CHECK-NOT:     nvvm.cp.async.bulk
  gpu.func @left(%heads: memref<12x5x64xf16>, %block: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c5 = arith.constant 5 : index
    %row = arith.muli %block, %c5 : index
    %rows = tile.flattened %heads : memref<12x5x64xf16>
    %channel = tile.channel : !channel
    tile.put %channel[%c0], %rows[%row, %c0] : !channel, memref<60x64xf16>
    gpu.return
  }

  // Queries by heads: the second dimension of the tensor comes first.
  // CHECK-LABEL: gpu.func @transposed
  // CHECK-SAME:    tensor = memref<4x8x64xf16
  gpu.func @transposed(%heads: memref<4x12x64xf16>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %some = memref.subview %heads[0, 0, 0] [4, 8, 64] [1, 1, 1] : memref<4x12x64xf16> to memref<4x8x64xf16, strided<[768, 64, 1]>>
    %turned = memref.transpose %some (a, b, c) -> (b, a, c) : memref<4x8x64xf16, strided<[768, 64, 1]>> to memref<8x4x64xf16, strided<[64, 768, 1]>>
    %rows = tile.flattened %turned : memref<8x4x64xf16, strided<[64, 768, 1]>>
    %channel = tile.channel : !channel
    tile.put %channel[%c0], %rows[%c0, %c0] : !channel, memref<32x64xf16, strided<[768, 1]>>
    gpu.return
  }

  // What is stored ends with the first dimension.
  // CHECK-LABEL: gpu.func @store
  // CHECK:         %[[OUTER:.+]] = arith.divui %{{.+}}, %c3
  // CHECK:         %[[INNER:.+]] = arith.remui %{{.+}}, %c3
  // CHECK:         %[[INSIDE:.+]] = arith.cmpi ult, %[[OUTER]], %c4
  // CHECK:         scf.if %[[INSIDE]]
  // CHECK:           memref.store %{{.+}}, %{{.+}}[%[[OUTER]], %[[INNER]]]
  gpu.func @store(%numbers: memref<4x3xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1.0 : f32
    %rows = tile.flattened %numbers : memref<4x3xf32>
    %ones = tile.fill %one : f32 -> !tile.tile<32xf32, registers, #tile.layout<registers = [], lanes = [[32, 0, 1]], warps = []>>
    tile.store %ones, %rows[%c0] : !tile.tile<32xf32, registers, #tile.layout<registers = [], lanes = [[32, 0, 1]], warps = []>>, memref<12xf32>
    gpu.return
  }
}
}
