// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lanes that share a row of an accumulator exchange what they hold before they
// store it.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(gpu.module(gpu.func(tile-assign-layouts)))" | FileCheck %s

#acc = #tile.layout<registers = [[2, 1, 1], [2, 0, 8]], lanes = [[4, 1, 2], [8, 0, 1]], warps = []>
#rhs = #tile.layout<registers = [[2, 0, 1]], lanes = [[4, 0, 2], [8, 1, 1]], warps = []>
#of_64 = #tile.layout<registers = [[2, 1, 1], [2, 0, 8], [8, 1, 8]], lanes = [[4, 1, 2], [8, 0, 1]], warps = []>
#of_24 = #tile.layout<registers = [[2, 1, 1], [2, 0, 8], [3, 1, 8]], lanes = [[4, 1, 2], [8, 0, 1]], warps = []>
#of_16 = #tile.layout<registers = [[2, 1, 1], [2, 0, 8], [2, 1, 8]], lanes = [[4, 1, 2], [8, 0, 1]], warps = []>
!wide = !tile.tile<16x64xf16, registers, #of_64>
!half = !tile.tile<16x16xf16, registers, #of_16>
!odd = !tile.tile<16x24xf16, registers, #of_24>
!f32 = !tile.tile<16x64xf32, registers, #of_64>

module attributes {tile.target = #tile.target<
  chip = "toy", family = "Toy", lanes = 32, sms = 1, shared = 65536, shared_per_sm = 65536, registers = 255,
  registers_per_sm = 65536, max_threads = 1024, max_threads_per_sm = 1024, copy_sync = none, copy_widths = [],
  mma = [#tile.mma_atom<name = "toy", m = 16, n = 8, k = 8, lhsType = f16, rhsType = f16, accType = f32, lhs = #acc, rhs = #rhs, acc = #acc>]>} {
gpu.module @kernels {
  // A lane has pairs of every eighth column, and then eight columns in a row: 16 bytes.
  // CHECK-LABEL: gpu.func @sixteen_bytes
  // CHECK: %[[O:.+]] = tile.convert_layout %{{.+}} -> <16x64xf16, registers, #tile.layout<registers = {{\[\[}}8, 1, 1], [2, 0, 8], [2, 1, 32]], lanes = {{\[\[}}4, 1, 8], [8, 0, 1]], warps = []>>
  // CHECK-NEXT: tile.store %[[O]]
  gpu.func @sixteen_bytes(%x: f16, %m: memref<?x64xf16>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = tile.fill %x : f16 -> !wide
    tile.store %a, %m[%c0, %c0] : !wide, memref<?x64xf16>
    gpu.return
  }

  // Two lanes exchange where there are columns for no more.
  // CHECK-LABEL: gpu.func @eight_bytes
  // CHECK: tile.convert_layout %{{.+}} -> <16x16xf16, registers, #tile.layout<registers = {{\[\[}}4, 1, 1], [2, 0, 8]], lanes = {{\[\[}}2, 1, 8], [2, 1, 4], [8, 0, 1]], warps = []>>
  gpu.func @eight_bytes(%x: f16, %m: memref<?x16xf16>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = tile.fill %x : f16 -> !half
    tile.store %a, %m[%c0, %c0] : !half, memref<?x16xf16>
    gpu.return
  }

  // Four elements are 16 bytes here.
  // CHECK-LABEL: gpu.func @float
  // CHECK: tile.convert_layout %{{.+}} -> <16x64xf32, registers, #tile.layout<registers = {{\[\[}}4, 1, 1], [2, 0, 8], [4, 1, 16]], lanes = {{\[\[}}2, 1, 8], [2, 1, 4], [8, 0, 1]], warps = []>>
  gpu.func @float(%x: f32, %m: memref<?x64xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = tile.fill %x : f32 -> !f32
    tile.store %a, %m[%c0, %c0] : !f32, memref<?x64xf32>
    gpu.return
  }

  // Three groups of columns cannot be assigned to two lanes, and neighbours that
  // are apart in memory are not worth it.
  // CHECK-LABEL: gpu.func @as_they_are
  // CHECK-NOT: tile.convert_layout
  // CHECK: gpu.return
  gpu.func @as_they_are(%x: f16, %m: memref<?x24xf16>, %apart: memref<?x64xf16, strided<[1, 1024]>>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = tile.fill %x : f16 -> !odd
    tile.store %a, %m[%c0, %c0] : !odd, memref<?x24xf16>
    %b = tile.fill %x : f16 -> !wide
    tile.store %b, %apart[%c0, %c0] : !wide, memref<?x64xf16, strided<[1, 1024]>>
    gpu.return
  }

  // What no MMA reaches has 16 bytes in a row at once.
  // CHECK-LABEL: gpu.func @blocked
  // CHECK-NOT: tile.convert_layout
  // CHECK: gpu.return
  gpu.func @blocked(%x: f16, %m: memref<?x64xf16>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = tile.fill %x : f16 -> !tile.tile<16x64xf16, registers>
    tile.store %a, %m[%c0, %c0] : !tile.tile<16x64xf16, registers>, memref<?x64xf16>
    gpu.return
  }
}
}
