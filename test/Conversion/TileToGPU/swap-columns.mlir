// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Columns of an accumulator change places: in one thread, or between two lanes.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(attune-attach-target{chip=sm_80},gpu.module(gpu.func(tile-allocate-shared)),convert-tile-to-gpu,cse)" | FileCheck %s

!acc = !tile.tile<16x32xf32, registers, #tile.layout<registers = [[2, 1, 1], [2, 0, 8], [4, 1, 8]], lanes = [[4, 1, 2], [8, 0, 1]], warps = []>>
!half = !tile.tile<16x16xf16, registers, #tile.layout<registers = [[2, 1, 1], [2, 0, 8], [2, 1, 8]], lanes = [[4, 1, 2], [8, 0, 1]], warps = []>>
!three = !tile.tile<16x48xf32, registers, #tile.layout<registers = [[2, 1, 1], [2, 0, 8], [6, 1, 8]], lanes = [[4, 1, 2], [8, 0, 1]], warps = []>>
!narrow = !tile.tile<16x24xf32, registers, #tile.layout<registers = [[2, 1, 1], [2, 0, 8], [3, 1, 8]], lanes = [[4, 1, 2], [8, 0, 1]], warps = []>>
!warps = !tile.tile<16x32xf32, registers, #tile.layout<registers = [[2, 1, 1], [2, 0, 8], [2, 1, 8]], lanes = [[4, 1, 2], [8, 0, 1]], warps = [[2, 1, 16]]>>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @neighbours
  // CHECK-NOT: gpu.shuffle
  // CHECK: %[[IN:.+]] = vector.from_elements
  // CHECK: %[[E1:.+]] = vector.extract %[[IN]][1]
  // CHECK-NEXT: %[[E0:.+]] = vector.extract %[[IN]][0]
  // CHECK-NEXT: %[[E3:.+]] = vector.extract %[[IN]][3]
  // CHECK: vector.from_elements %[[E1]], %[[E0]], %[[E3]], %{{.+}} : vector<16xf32>
  gpu.func @neighbours(%m: memref<16x32xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = tile.load %m[%c0, %c0] in_bounds : memref<16x32xf32> -> !acc
    %b = tile.swap_columns %a stride 1 : !acc
    tile.store %b, %m[%c0, %c0] : !acc, memref<16x32xf32>
    gpu.return
  }

  // Lanes 2 apart, with the same register of the other.
  // CHECK-LABEL: gpu.func @lanes
  // CHECK: %[[IN:.+]] = vector.from_elements
  // CHECK: %[[E0:.+]] = vector.extract %[[IN]][0]
  // CHECK: %[[SENT:.+]] = arith.bitcast %[[E0]] : f32 to i32
  // CHECK: %[[GOT:.+]], %{{.+}} = gpu.shuffle xor %[[SENT]], %c2_i32, %c32_i32 : i32
  // CHECK: %[[R0:.+]] = arith.bitcast %[[GOT]] : i32 to f32
  // CHECK-COUNT-15: gpu.shuffle xor
  // CHECK-NOT: gpu.shuffle
  // CHECK: vector.from_elements %[[R0]],
  gpu.func @lanes(%m: memref<16x32xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = tile.load %m[%c0, %c0] in_bounds : memref<16x32xf32> -> !acc
    %b = tile.swap_columns %a stride 4 : !acc
    tile.store %b, %m[%c0, %c0] : !acc, memref<16x32xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @half
  // CHECK: %[[BITS:.+]] = arith.bitcast %{{.+}} : f16 to i16
  // CHECK: %[[SENT:.+]] = arith.extui %[[BITS]] : i16 to i32
  // CHECK: %[[GOT:.+]], %{{.+}} = gpu.shuffle xor %[[SENT]], %c1_i32, %c32_i32 : i32
  // CHECK: %[[BACK:.+]] = arith.trunci %[[GOT]] : i32 to i16
  // CHECK: arith.bitcast %[[BACK]] : i16 to f16
  gpu.func @half(%m: memref<16x16xf16>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = tile.load %m[%c0, %c0] in_bounds : memref<16x16xf16> -> !half
    %b = tile.swap_columns %a stride 2 : !half
    tile.store %b, %m[%c0, %c0] : !half, memref<16x16xf16>
    gpu.return
  }

  // Strides that are no powers of two: column 0 is where 24 was.
  // CHECK-LABEL: gpu.func @three
  // CHECK-NOT: gpu.shuffle
  // CHECK: %[[IN:.+]] = vector.from_elements
  // CHECK: %[[E12:.+]] = vector.extract %[[IN]][12]
  // CHECK: %[[E11:.+]] = vector.extract %[[IN]][11]
  // CHECK: vector.from_elements %[[E12]], {{.*}}%[[E11]] : vector<24xf32>
  gpu.func @three(%m: memref<16x48xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = tile.load %m[%c0, %c0] in_bounds : memref<16x48xf32> -> !three
    %b = tile.swap_columns %a stride 24 : !three
    tile.store %b, %m[%c0, %c0] : !three, memref<16x48xf32>
    gpu.return
  }

  // Column 0 of lane 0 is where 12 is, of lane 2 in register 4, and 4 of lane 2 where 16 is, of lane 0 in register 8: lanes
  // with the digit set give register 4, the others 8.
  // CHECK-LABEL: gpu.func @two_registers
  // CHECK: %[[IN:.+]] = vector.from_elements
  // CHECK: %[[E4:.+]] = vector.extract %[[IN]][4]
  // CHECK: %[[DIGIT:.+]] = arith.andi %{{.+}}, %c2{{.*}} : index
  // CHECK: %[[SET:.+]] = arith.cmpi ne, %[[DIGIT]], %c0
  // CHECK: %[[E8:.+]] = vector.extract %[[IN]][8]
  // CHECK: %[[GIVEN:.+]] = arith.select %[[SET]], %[[E4]], %[[E8]] : f32
  // CHECK: %[[SENT:.+]] = arith.bitcast %[[GIVEN]] : f32 to i32
  // CHECK: gpu.shuffle xor %[[SENT]], %c2_i32, %c32_i32 : i32
  gpu.func @two_registers(%m: memref<16x24xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = tile.load %m[%c0, %c0] in_bounds : memref<16x24xf32> -> !narrow
    %b = tile.swap_columns %a stride 12 : !narrow
    tile.store %b, %m[%c0, %c0] : !narrow, memref<16x24xf32>
    gpu.return
  }

  // A warp has both of its own 16 columns.
  // CHECK-LABEL: gpu.func @warps
  // CHECK-NOT: gpu.shuffle
  // CHECK: vector.from_elements {{.*}} vector<8xf32>
  gpu.func @warps(%m: memref<16x32xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = tile.load %m[%c0, %c0] in_bounds : memref<16x32xf32> -> !warps
    %b = tile.swap_columns %a stride 8 : !warps
    tile.store %b, %m[%c0, %c0] : !warps, memref<16x32xf32>
    gpu.return
  }
}
