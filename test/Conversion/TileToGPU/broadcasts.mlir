// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers that all lanes have, said so that the back end knows.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(attune-attach-target{chip=sm_80},convert-tile-to-gpu)" | FileCheck %s --check-prefixes=CHECK,AMPERE
// RUN: attune-opt %s --pass-pipeline="builtin.module(attune-attach-target{chip=sm_90a},convert-tile-to-gpu)" | FileCheck %s --check-prefixes=CHECK,HOPPER
// RUN: attune-opt %s --pass-pipeline="builtin.module(attune-attach-target{chip=gfx1100},convert-tile-to-gpu)" | FileCheck %s --check-prefixes=CHECK,RDNA

!rows = !tile.tile<32xf32, registers, #tile.layout<registers = [], lanes = [[32, 0, 1]], warps = []>>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @first
  // CHECK-SAME:    %[[OUT:[^ ]+]]: memref<32xf32>, %[[X:[^ ]+]]: index
  // CHECK: %[[WORD:.+]] = arith.index_cast %[[X]] : index to i32
  // AMPERE: %[[FIRST:.+]] = nvvm.shfl.sync idx %{{.+}}, %[[WORD]]
  // HOPPER: %[[FIRST:.+]] = nvvm.redux.sync or %[[WORD]]
  // RDNA: %[[FIRST:.+]] = rocdl.readfirstlane %[[WORD]]
  // CHECK: %[[INDEX:.+]] = arith.index_cast %[[FIRST]] : i32 to index
  // CHECK: arith.addi %[[INDEX]], %{{.+}}
  gpu.func @first(%out: memref<32xf32>, %x: index, %y: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %first = gpu.subgroup_broadcast %x, first_active_lane : index
    %t = tile.fill %y : f32 -> !rows
    tile.store %t, %out[%first] : !rows, memref<32xf32>
    gpu.return
  }

  // Of another lane, and of other types: left to conversions of GPU ops.
  // CHECK-LABEL: gpu.func @others
  // CHECK: gpu.subgroup_broadcast %{{.+}}, specific_lane
  // CHECK: gpu.subgroup_broadcast %{{.+}}, first_active_lane : f32
  gpu.func @others(%out: memref<32xf32>, %x: f32, %lane: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %other = gpu.subgroup_broadcast %x, specific_lane %lane : f32
    %first = gpu.subgroup_broadcast %x, first_active_lane : f32
    %sum = arith.addf %other, %first : f32
    %t = tile.fill %sum : f32 -> !rows
    tile.store %t, %out[%c0] : !rows, memref<32xf32>
    gpu.return
  }
}
