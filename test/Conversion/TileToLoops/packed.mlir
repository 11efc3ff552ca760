// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products with bytes that hold two columns, half a row apart, in numbers.
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_80" | attune-run --device=host --print --function=packed | FileCheck %s
// RUN: attune-opt %s --convert-tile-to-loops | FileCheck %s --check-prefix=OPS

module attributes {gpu.container_module} {
gpu.module @packed_module {
  // (1 2 3 4, 2 3 4 5) by the columns (1 -1 7 -8) and (0 2 0 1), of which each is in two bytes of a row, and by
  // (1 -1 0 2) and (7 -8 0 1), of which each byte has one row.
  // OPS-LABEL: gpu.func @packed
  // OPS: %[[COLUMN:.+]] = arith.remui
  // OPS: %[[BYTE:.+]] = memref.load %{{.+}}[%{{.+}}, %[[COLUMN]]]
  // OPS: arith.cmpi uge
  // OPS: arith.shrsi %[[BYTE]]
  // OPS: arith.sitofp %{{.+}} : i8 to f32
  // OPS: arith.addi %{{.+}}, %c8_i8 : i8
  // OPS: arith.uitofp %{{.+}} : i8 to f32
  gpu.func @packed(%out: memref<8x2xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c6 = arith.constant 6 : index
    %zero = arith.constant 0.0 : f32
    %acc = tile.fill %zero : f32 -> !tile.tile<2x2xf32, registers>
    %left = tile.map() {
    ^bb0(%i: index, %j: index):
      %one = arith.constant 1 : index
      %sum = arith.addi %i, %j : index
      %next = arith.addi %sum, %one : index
      %n = arith.index_cast %next : index to i32
      %x = arith.sitofp %n : i32 to bf16
      tile.yield %x : bf16
    } : () -> !tile.tile<2x4xbf16, registers>
    %rows = tile.map() {
    ^bb0(%i: index, %j: index):
      %two = arith.constant 2 : index
      %first = arith.muli %i, %two : index
      %place = arith.addi %first, %j : index
      %k1 = arith.constant 1 : index
      %k2 = arith.constant 2 : index
      %k3 = arith.constant 3 : index
      %b0 = arith.constant 0x71 : i8
      %b1 = arith.constant 0x8f : i8
      %b2 = arith.constant 0x00 : i8
      %b3 = arith.constant 0x12 : i8
      %is1 = arith.cmpi eq, %place, %k1 : index
      %is2 = arith.cmpi eq, %place, %k2 : index
      %is3 = arith.cmpi eq, %place, %k3 : index
      %x = arith.select %is1, %b1, %b0 : i8
      %y = arith.select %is2, %b2, %x : i8
      %byte = arith.select %is3, %b3, %y : i8
      tile.yield %byte : i8
    } : () -> !tile.tile<2x2xi8, registers>
    %column = tile.map() {
    ^bb0(%i: index, %j: index):
      %k1 = arith.constant 1 : index
      %k2 = arith.constant 2 : index
      %k3 = arith.constant 3 : index
      %b0 = arith.constant 0x71 : i8
      %b1 = arith.constant 0x8f : i8
      %b2 = arith.constant 0x00 : i8
      %b3 = arith.constant 0x12 : i8
      %is1 = arith.cmpi eq, %i, %k1 : index
      %is2 = arith.cmpi eq, %i, %k2 : index
      %is3 = arith.cmpi eq, %i, %k3 : index
      %x = arith.select %is1, %b1, %b0 : i8
      %y = arith.select %is2, %b2, %x : i8
      %byte = arith.select %is3, %b3, %y : i8
      tile.yield %byte : i8
    } : () -> !tile.tile<4x1xi8, registers>
    %p = tile.mma %left, %rows, %acc transpose_rhs packed_rhs
      : !tile.tile<2x4xbf16, registers>, !tile.tile<2x2xi8, registers>, !tile.tile<2x2xf32, registers>
    %q = tile.mma %left, %column, %acc packed_rhs
      : !tile.tile<2x4xbf16, registers>, !tile.tile<4x1xi8, registers>, !tile.tile<2x2xf32, registers>
    tile.store %p, %out[%c0, %c0] : !tile.tile<2x2xf32, registers>, memref<8x2xf32>
    tile.store %q, %out[%c2, %c0] : !tile.tile<2x2xf32, registers>, memref<8x2xf32>
    // The same of numbers that are 8 more, halves of the lower ones and twice the upper ones.
    %r = tile.mma %left, %rows, %acc transpose_rhs packed_rhs unit_exponents [-1, 1]
      : !tile.tile<2x4xbf16, registers>, !tile.tile<2x2xi8, registers>, !tile.tile<2x2xf32, registers>
    %s = tile.mma %left, %column, %acc packed_rhs unit_exponents [-1, 1]
      : !tile.tile<2x4xbf16, registers>, !tile.tile<4x1xi8, registers>, !tile.tile<2x2xf32, registers>
    tile.store %r, %out[%c4, %c0] : !tile.tile<2x2xf32, registers>, memref<8x2xf32>
    tile.store %s, %out[%c6, %c0] : !tile.tile<2x2xf32, registers>, memref<8x2xf32>
    gpu.return
  }
}
// CHECK: result 0: 8x2xf32
// CHECK-NEXT: {{^}}-12 8
// CHECK-NEXT: {{^}}-13 11
// CHECK-NEXT: {{^}}7 -5
// CHECK-NEXT: {{^}}9 -5
// CHECK-NEXT: {{^}}101.5 134
// CHECK-NEXT: {{^}}139.5 177
// CHECK-NEXT: {{^}}43.5 150
// CHECK-NEXT: {{^}}60.5 214
func.func @packed() -> tensor<8x2xf32> {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %out = memref.alloc() : memref<8x2xf32>
  gpu.launch_func @packed_module::@packed blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
    args(%out : memref<8x2xf32>)
  %tensor = bufferization.to_tensor %out restrict : memref<8x2xf32> to tensor<8x2xf32>
  return %tensor : tensor<8x2xf32>
}
}
