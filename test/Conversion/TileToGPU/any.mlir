// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A vote of the lanes of a warp: the rows that a lane holds first, then those of all.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(attune-attach-target{chip=sm_80},gpu.module(gpu.func(tile-allocate-shared)),convert-tile-to-gpu)" | FileCheck %s --check-prefixes=CHECK,NVIDIA
// RUN: attune-opt %s --pass-pipeline="builtin.module(attune-attach-target{chip=gfx942},gpu.module(gpu.func(tile-allocate-shared)),convert-tile-to-gpu)" | FileCheck %s --check-prefixes=CHECK,CDNA
// RUN: attune-opt %s --pass-pipeline="builtin.module(attune-attach-target{chip=gfx1100},gpu.module(gpu.func(tile-allocate-shared)),convert-tile-to-gpu)" | FileCheck %s --check-prefixes=CHECK,RDNA

!flags = !tile.tile<32xi1, registers, #tile.layout<registers = [[2, 0, 16]], lanes = [[16, 0, 1], [4, 0, 0]], warps = []>>
!rows = !tile.tile<32xf32, registers, #tile.layout<registers = [[2, 0, 16]], lanes = [[16, 0, 1], [4, 0, 0]], warps = []>>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @any
  // CHECK: %[[FLAGS:.+]] = arith.cmpf ogt, %{{.+}}, %{{.+}} : vector<2xf32>
  // CHECK: %[[OWN:.+]] = vector.reduction <or>, %[[FLAGS]] : vector<2xi1> into i1
  // NVIDIA: %[[ALL:.+]] = arith.constant -1 : i32
  // NVIDIA: %[[ANY:.+]] = nvvm.vote.sync any %[[ALL]], %[[OWN]] -> i1
  // CDNA: %[[LANES:.+]] = rocdl.ballot %[[OWN]] : i64
  // RDNA: %[[LANES:.+]] = rocdl.ballot %[[OWN]] : i32
  // CDNA: %[[NONE:.+]] = arith.constant 0 : i64
  // CDNA: %[[ANY:.+]] = arith.cmpi ne, %[[LANES]], %[[NONE]] : i64
  // RDNA: %[[ANY:.+]] = arith.cmpi ne, %[[LANES]], %{{.+}} : i32
  // CHECK: scf.if %[[ANY]] -> (vector<2xf32>)
  gpu.func @any(%x: f32, %y: f32, %out: memref<32xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %t = tile.fill %x : f32 -> !rows
    %grown = tile.map(%t) {
    ^bb0(%e: f32, %i: index):
      %is = arith.cmpf ogt, %e, %y : f32
      tile.yield %is : i1
    } : (!rows) -> !flags
    %any = tile.any %grown : !flags
    %r = scf.if %any -> !rows {
      %s = tile.fill %y : f32 -> !rows
      scf.yield %s : !rows
    } else {
      scf.yield %t : !rows
    }
    tile.store %r, %out[%c0] : !rows, memref<32xf32>
    gpu.return
  }
}
