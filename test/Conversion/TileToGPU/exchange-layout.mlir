// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registers change places with lanes: one shuffle for two words and each binary
// digit of the lane's number, and two elements of 16 bits move as one word.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(attune-attach-target{chip=sm_80},gpu.module(gpu.func(tile-allocate-shared)),convert-tile-to-gpu,cse)" | FileCheck %s

!f16 = !tile.tile<16x32xf16, registers, #tile.layout<registers = [[2, 1, 1], [2, 0, 8], [4, 1, 8]], lanes = [[4, 1, 2], [8, 0, 1]], warps = []>>
!f16_runs = !tile.tile<16x32xf16, registers, #tile.layout<registers = [[8, 1, 1], [2, 0, 8]], lanes = [[4, 1, 8], [8, 0, 1]], warps = []>>
!f32 = !tile.tile<16x16xf32, registers, #tile.layout<registers = [[2, 1, 1], [2, 0, 8], [2, 1, 8]], lanes = [[4, 1, 2], [8, 0, 1]], warps = []>>
!f32_runs = !tile.tile<16x16xf32, registers, #tile.layout<registers = [[4, 1, 1], [2, 0, 8]], lanes = [[2, 1, 8], [2, 1, 4], [8, 0, 1]], warps = []>>

gpu.module @kernels {
  // Eight words and two digits: lanes 1 apart exchange words 2 apart, lanes 2
  // apart words 4 apart. The lane without the digit gives its second word.
  // CHECK-LABEL: gpu.func @halves
  // CHECK: %[[WORDS:.+]] = vector.bitcast %{{.+}} : vector<16xf16> to vector<8xi32>
  // CHECK: %[[W0:.+]] = vector.extract %[[WORDS]][0]
  // CHECK: %[[W2:.+]] = vector.extract %[[WORDS]][2]
  // CHECK: %[[BIT:.+]] = arith.andi %{{.+}}, %c1_i32
  // CHECK: %[[UPPER:.+]] = arith.cmpi ne, %[[BIT]], %c0_i32
  // CHECK: %[[SENT:.+]] = arith.select %[[UPPER]], %[[W0]], %[[W2]]
  // CHECK: %[[GOT:.+]], %{{.+}} = gpu.shuffle xor %[[SENT]], %c1_i32, %c32_i32
  // CHECK: arith.select %[[UPPER]], %[[GOT]], %[[W0]]
  // CHECK: arith.select %[[UPPER]], %[[W2]], %[[GOT]]
  // CHECK-COUNT-3: gpu.shuffle xor %{{.+}}, %c1_i32, %c32_i32
  // CHECK-COUNT-4: gpu.shuffle xor %{{.+}}, %c2_i32, %c32_i32
  // CHECK-NOT: gpu.shuffle
  // CHECK: vector.bitcast %{{.+}} : vector<8xi32> to vector<16xf16>
  // CHECK: vector.store {{.*}} vector<8xf16>
  gpu.func @halves(%m: memref<16x32xf16>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = tile.load %m[%c0, %c0] in_bounds : memref<16x32xf16> -> !f16
    %b = tile.convert_layout %a : !f16 -> !f16_runs
    tile.store %b, %m[%c0, %c0] : !f16_runs, memref<16x32xf16>
    gpu.return
  }

  // Only one digit of the lanes is exchanged.
  // CHECK-LABEL: gpu.func @floats
  // CHECK-COUNT-4: gpu.shuffle xor %{{.+}}, %c1_i32, %c32_i32
  // CHECK-NOT: gpu.shuffle
  // CHECK: vector.store {{.*}} vector<4xf32>
  gpu.func @floats(%m: memref<16x16xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = tile.load %m[%c0, %c0] in_bounds : memref<16x16xf32> -> !f32
    %b = tile.convert_layout %a : !f32 -> !f32_runs
    tile.store %b, %m[%c0, %c0] : !f32_runs, memref<16x16xf32>
    gpu.return
  }
}
