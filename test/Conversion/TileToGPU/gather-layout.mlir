// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two lanes gather in both what each of them has: one instruction for a word
// where the lanes are those of the two rows of a wave, and else a shuffle for
// each element.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(attune-attach-target{chip=gfx1100},gpu.module(gpu.func(tile-allocate-shared)),convert-tile-to-gpu,cse)" | FileCheck %s --check-prefixes=CHECK,RDNA3
// RUN: attune-opt %s --pass-pipeline="builtin.module(attune-attach-target{chip=gfx1201},gpu.module(gpu.func(tile-allocate-shared)),convert-tile-to-gpu,cse)" | FileCheck %s --check-prefixes=CHECK,OTHER

!split = !tile.tile<16x8xf16, registers, #tile.layout<registers = [[4, 1, 1]], lanes = [[16, 0, 1], [2, 1, 4]], warps = []>>
!whole = !tile.tile<16x8xf16, registers, #tile.layout<registers = [[8, 1, 1]], lanes = [[16, 0, 1], [2, 0, 0]], warps = []>>
!near = !tile.tile<16x8xf16, registers, #tile.layout<registers = [[4, 1, 1]], lanes = [[2, 1, 4], [16, 0, 1]], warps = []>>
!near_whole = !tile.tile<16x8xf16, registers, #tile.layout<registers = [[8, 1, 1]], lanes = [[2, 0, 0], [16, 0, 1]], warps = []>>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @rows
  // RDNA3: %[[WORDS:.+]] = vector.bitcast %{{.+}} : vector<4xf16> to vector<2xi32>
  // RDNA3: %[[W0:.+]] = vector.extract %[[WORDS]][0]
  // RDNA3: %[[W1:.+]] = vector.extract %[[WORDS]][1]
  // RDNA3: %[[S0:.+]] = rocdl.permlane16.swap %[[W0]], %[[W0]], false, false
  // RDNA3: %[[S1:.+]] = rocdl.permlane16.swap %[[W1]], %[[W1]], false, false
  // RDNA3: %[[EVEN0:.+]] = llvm.extractvalue %[[S0]][0]
  // RDNA3: %[[ODD0:.+]] = llvm.extractvalue %[[S0]][1]
  // RDNA3: %[[EVEN1:.+]] = llvm.extractvalue %[[S1]][0]
  // RDNA3: %[[ODD1:.+]] = llvm.extractvalue %[[S1]][1]
  // RDNA3: %[[EVEN:.+]] = vector.from_elements %[[EVEN0]], %[[EVEN1]]
  // RDNA3: %[[FIRST:.+]] = vector.bitcast %[[EVEN]] : vector<2xi32> to vector<4xf16>
  // RDNA3: %[[ODD:.+]] = vector.from_elements %[[ODD0]], %[[ODD1]]
  // RDNA3: %[[SECOND:.+]] = vector.bitcast %[[ODD]] : vector<2xi32> to vector<4xf16>
  // RDNA3: vector.shuffle %[[FIRST]], %[[SECOND]] [0, 1, 2, 3, 4, 5, 6, 7]
  // OTHER-COUNT-8: gpu.shuffle idx
  gpu.func @rows(%m: memref<16x8xf16>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = tile.load %m[%c0, %c0] in_bounds : memref<16x8xf16> -> !split
    %b = tile.convert_layout %a : !split -> !whole
    tile.store %b, %m[%c0, %c0] : !whole, memref<16x8xf16>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @neighbours
  // CHECK-NOT: rocdl.permlane16.swap
  // CHECK-COUNT-8: gpu.shuffle idx
  gpu.func @neighbours(%m: memref<16x8xf16>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = tile.load %m[%c0, %c0] in_bounds : memref<16x8xf16> -> !near
    %b = tile.convert_layout %a : !near -> !near_whole
    tile.store %b, %m[%c0, %c0] : !near_whole, memref<16x8xf16>
    gpu.return
  }
}
