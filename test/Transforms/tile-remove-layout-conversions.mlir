// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions that disappear into what produces their input, and those that stay.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(gpu.module(gpu.func(tile-remove-layout-conversions)))" | FileCheck %s

#rows = #tile.layout<registers = [[8, 1, 1]], lanes = [[16, 0, 1]], warps = []>
#halves = #tile.layout<registers = [[4, 1, 1]], lanes = [[16, 0, 1], [2, 1, 4]], warps = []>
#swizzle = #tile.swizzle<vector = 8, bits = 0, shift = 3>
!rows = !tile.tile<16x8xf16, registers, #rows>
!halves = !tile.tile<16x8xf16, registers, #halves>
!shared = !tile.tile<16x8xf16, shared, #swizzle>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @into_load
  gpu.func @into_load(%m: memref<16x8xf16>, %out: memref<16x8xf16>) kernel {
    // CHECK: %[[A:.+]] = tile.load {{.*}} -> <16x8xf16, registers, #tile.layout<registers = {{\[\[}}4, 1, 1]]
    // CHECK-NOT: tile.convert_layout
    // CHECK: tile.store %[[A]]
    %c0 = arith.constant 0 : index
    %a = tile.load %m[%c0, %c0] : memref<16x8xf16> -> !rows
    %b = tile.convert_layout %a : !rows -> !halves
    tile.store %b, %out[%c0, %c0] : !halves, memref<16x8xf16>
    gpu.return
  }

  // The read stays where it was: behind it the slot is free for others.
  // CHECK-LABEL: gpu.func @into_read
  gpu.func @into_read(%m: memref<16x8xf16>, %out: memref<16x8xf16>) kernel {
    // CHECK: %[[S:.+]] = tile.get
    // CHECK: %[[A:.+]] = tile.read %[[S]] {{.*}}registers = {{\[\[}}4, 1, 1]]
    // CHECK: tile.release
    // CHECK-NOT: tile.convert_layout
    // CHECK: tile.store %[[A]]
    %c0 = arith.constant 0 : index
    %c = tile.channel : !tile.channel<16x8xf16, stages = 1>
    tile.put %c[%c0], %m[%c0, %c0] : !tile.channel<16x8xf16, stages = 1>, memref<16x8xf16>
    %s = tile.get %c[%c0] : !tile.channel<16x8xf16, stages = 1> -> !shared
    %a = tile.read %s : !shared -> !rows
    tile.release %c[%c0] : !tile.channel<16x8xf16, stages = 1>
    %b = tile.convert_layout %a : !rows -> !halves
    tile.store %b, %out[%c0, %c0] : !halves, memref<16x8xf16>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @into_fill
  gpu.func @into_fill(%x: f16, %out: memref<16x8xf16>) kernel {
    // CHECK: %[[A:.+]] = tile.fill {{.*}}registers = {{\[\[}}4, 1, 1]]
    // CHECK-NOT: tile.convert_layout
    // CHECK: tile.store %[[A]]
    %c0 = arith.constant 0 : index
    %a = tile.fill %x : f16 -> !rows
    %b = tile.convert_layout %a : !rows -> !halves
    tile.store %b, %out[%c0, %c0] : !halves, memref<16x8xf16>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @there_and_back
  // CHECK-SAME:    %[[A:[^ ]+]]: !tile
  gpu.func @there_and_back(%a: !rows, %out: memref<16x8xf16>) kernel {
    // CHECK-NOT: tile.convert_layout
    // CHECK: tile.store %[[A]]
    %c0 = arith.constant 0 : index
    %b = tile.convert_layout %a : !rows -> !halves
    %c = tile.convert_layout %b : !halves -> !rows
    tile.store %c, %out[%c0, %c0] : !rows, memref<16x8xf16>
    gpu.return
  }

  // With other users the conversion is cheaper than a second load.
  // CHECK-LABEL: gpu.func @other_users
  gpu.func @other_users(%m: memref<16x8xf16>, %out: memref<16x8xf16>) kernel {
    // CHECK: %[[A:.+]] = tile.load
    // CHECK-NOT: tile.load
    // CHECK: %[[B:.+]] = tile.convert_layout %[[A]]
    // CHECK: tile.store %[[A]]
    // CHECK: tile.store %[[B]]
    %c0 = arith.constant 0 : index
    %a = tile.load %m[%c0, %c0] : memref<16x8xf16> -> !rows
    %b = tile.convert_layout %a : !rows -> !halves
    tile.store %a, %out[%c0, %c0] : !rows, memref<16x8xf16>
    tile.store %b, %out[%c0, %c0] : !halves, memref<16x8xf16>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @other_producer
  gpu.func @other_producer(%a: !rows, %out: memref<16x8xf16>) kernel {
    // CHECK: tile.map
    // CHECK: tile.convert_layout
    %c0 = arith.constant 0 : index
    %n = tile.map(%a) {
    ^bb0(%x: f16, %i: index, %j: index):
      %y = arith.negf %x : f16
      tile.yield %y : f16
    } : (!rows) -> !rows
    %b = tile.convert_layout %n : !rows -> !halves
    tile.store %b, %out[%c0, %c0] : !halves, memref<16x8xf16>
    gpu.return
  }
}
