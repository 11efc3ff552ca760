// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What folds in the tile dialect, and what must not.
//
// RUN: attune-opt %s --canonicalize --cse | FileCheck %s

#rows = #tile.layout<registers = [[8, 1, 1]], lanes = [[16, 0, 1]], warps = []>
#halves = #tile.layout<registers = [[4, 1, 1]], lanes = [[16, 0, 1], [2, 1, 4]], warps = []>
!rows = !tile.tile<16x8xf32, registers, #rows>
!halves = !tile.tile<16x8xf32, registers, #halves>

// CHECK-LABEL: func.func @conversion_to_the_same_layout
// CHECK-SAME:    %[[A:.+]]: !tile
func.func @conversion_to_the_same_layout(%a: !rows) -> !rows {
  // CHECK-NEXT: return %[[A]]
  %b = tile.convert_layout %a : !rows -> !rows
  return %b : !rows
}

// CHECK-LABEL: func.func @conversion_to_another_layout
func.func @conversion_to_another_layout(%a: !rows) -> !halves {
  // CHECK: %[[B:.+]] = tile.convert_layout
  // CHECK: return %[[B]]
  %b = tile.convert_layout %a : !rows -> !halves
  return %b : !halves
}

// CHECK-LABEL: func.func @unused
func.func @unused(%m: memref<16x8xf32>, %a: !rows) {
  // CHECK-NEXT: return
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %fill = tile.fill %zero : f32 -> !rows
  %load = tile.load %m[%c0, %c0] : memref<16x8xf32> -> !rows
  %map = tile.map(%a) {
  ^bb0(%x: f32, %i: index, %j: index):
    tile.yield %x : f32
  } : (!rows) -> !rows
  return
}

// A map whose region reads memory is no constant expression.
// CHECK-LABEL: func.func @maps_around_a_store
func.func @maps_around_a_store(%bias: memref<1xf32>) -> (!rows, !rows) {
  // CHECK: tile.map
  // CHECK: memref.store
  // CHECK: tile.map
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %before = tile.map() {
  ^bb0(%i: index, %j: index):
    %x = memref.load %bias[%c0] : memref<1xf32>
    tile.yield %x : f32
  } : () -> !rows
  memref.store %one, %bias[%c0] : memref<1xf32>
  %after = tile.map() {
  ^bb0(%i: index, %j: index):
    %x = memref.load %bias[%c0] : memref<1xf32>
    tile.yield %x : f32
  } : () -> !rows
  return %before, %after : !rows, !rows
}

// Loads on both sides of a store stay two.
// CHECK-LABEL: func.func @loads_around_a_store
func.func @loads_around_a_store(%m: memref<16x8xf32>, %a: !rows) -> (!rows, !rows) {
  // CHECK: tile.load
  // CHECK: tile.store
  // CHECK: tile.load
  %c0 = arith.constant 0 : index
  %before = tile.load %m[%c0, %c0] : memref<16x8xf32> -> !rows
  tile.store %a, %m[%c0, %c0] : !rows, memref<16x8xf32>
  %after = tile.load %m[%c0, %c0] : memref<16x8xf32> -> !rows
  return %before, %after : !rows, !rows
}

// Puts, gets and releases have effects even where nothing uses them.
// CHECK-LABEL: func.func @channel_protocol
func.func @channel_protocol(%m: memref<16x8xf32>) {
  // CHECK: tile.channel
  // CHECK: tile.put
  // CHECK: tile.get
  // CHECK: tile.release
  %c0 = arith.constant 0 : index
  %c = tile.channel : !tile.channel<16x8xf32, stages = 1>
  tile.put %c[%c0], %m[%c0, %c0] : !tile.channel<16x8xf32, stages = 1>, memref<16x8xf32>
  %t = tile.get %c[%c0] : !tile.channel<16x8xf32, stages = 1>
    -> !tile.tile<16x8xf32, shared, #tile.swizzle<vector = 4, bits = 1, shift = 2>>
  tile.release %c[%c0] : !tile.channel<16x8xf32, stages = 1>
  return
}
