// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions of rows: where an instruction adds two pairs or finds the largest of
// three, as many are reduced at once. Where only the scheduler finds pairs of
// sums, they are kept behind what they add up.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(attune-attach-target{chip=gfx942},gpu.module(gpu.func(tile-allocate-shared)),convert-tile-to-gpu,canonicalize,cse)" | FileCheck %s --check-prefixes=CHECK,AMD --implicit-check-not=rocdl.sched.barrier
// RUN: attune-opt %s --pass-pipeline="builtin.module(attune-attach-target{chip=gfx1100},gpu.module(gpu.func(tile-allocate-shared)),convert-tile-to-gpu,canonicalize,cse)" | FileCheck %s --check-prefixes=CHECK,AMD,RDNA3
// RUN: attune-opt %s --pass-pipeline="builtin.module(attune-attach-target{chip=sm_80},gpu.module(gpu.func(tile-allocate-shared)),convert-tile-to-gpu,canonicalize,cse)" | FileCheck %s --check-prefixes=CHECK,NVIDIA

!tile = !tile.tile<32x8xf32, registers, #tile.layout<registers = [[8, 1, 1]], lanes = [[32, 0, 1]], warps = []>>
!sums = !tile.tile<32x1xf32, registers, #tile.layout<registers = [], lanes = [[32, 0, 1]], warps = []>>
!rows = !tile.tile<32xf32, registers, #tile.layout<registers = [], lanes = [[32, 0, 1]], warps = []>>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @add
  // RDNA3:          rocdl.sched.barrier 0
  // AMD-COUNT-3:    arith.addf {{.*}} : vector<2xf32>
  // AMD-COUNT-2:    arith.addf {{.*}} : f32
  // NVIDIA-COUNT-8: arith.addf {{.*}} : f32
  // CHECK-NOT:      arith.addf
  // CHECK:          gpu.return
  gpu.func @add(%m: memref<32x8xf32>, %x: f32, %out: memref<32x1xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %t = tile.load %m[%c0, %c0] in_bounds : memref<32x8xf32> -> !tile
    %init = tile.fill %x : f32 -> !sums
    %s = tile.reduce add %t init %init : !tile -> !sums
    tile.store %s, %out[%c0, %c0] : !sums, memref<32x1xf32>
    gpu.return
  }

  // Groups of three, and what is left of them with their results: (a b c) (d e f) g h, and (1 2 g) h.
  // CHECK-LABEL: gpu.func @max
  // RDNA3-NOT: rocdl.sched.barrier
  // AMD:      %[[AB:.+]] = arith.maxnumf
  // AMD-NEXT: %[[FIRST:.+]] = arith.maxnumf %[[AB]],
  // AMD-NEXT: %[[DE:.+]] = arith.maxnumf
  // AMD-NEXT: %[[SECOND:.+]] = arith.maxnumf %[[DE]],
  // AMD-NEXT: %[[BOTH:.+]] = arith.maxnumf %[[FIRST]], %[[SECOND]]
  // AMD-NEXT: %[[THREE:.+]] = arith.maxnumf %[[BOTH]],
  // AMD-NEXT: arith.maxnumf %[[THREE]],
  // NVIDIA-COUNT-7: arith.maxnumf
  // CHECK-NOT: arith.maxnumf
  // CHECK: gpu.return
  gpu.func @max(%m: memref<32x8xf32>, %out: memref<32xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %t = tile.load %m[%c0, %c0] in_bounds : memref<32x8xf32> -> !tile
    %s = tile.reduce max %t : !tile -> !rows
    tile.store %s, %out[%c0] : !rows, memref<32xf32>
    gpu.return
  }
}
