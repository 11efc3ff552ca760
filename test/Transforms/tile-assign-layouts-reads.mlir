// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is read of a tile that is multiplied from shared memory is read as the MMA would: rows are where the result has them, and nothing is converted
// in between.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(attune-attach-target{chip=sm_90a},gpu.module(gpu.func(tile-assign-layouts)))" | FileCheck %s

#s = #tile.swizzle<vector = 8, bits = 3, shift = 0, swizzle_atom = 64>
!channel = !tile.channel<64x64xf16, stages = 1, swizzle_atom = 64>
!shared = !tile.tile<64x64xf16, shared, #s>
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @read_beside
  // CHECK: tile.read %{{.+}} -> <64x64xf16, registers, #tile.layout<registers = {{\[\[}}2, 1, 1], [2, 0, 8], [8, 1, 8]], lanes = {{\[\[}}4, 1, 2], [8, 0, 1]], warps = {{\[\[}}4, 0, 16]]>>
  // CHECK-NOT: tile.convert_layout
  // CHECK: tile.map
  gpu.func @read_beside(%x: f32, %out: memref<64x64xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c = tile.channel : !channel
    %a = tile.get %c[%c0] : !channel -> !shared
    %read = tile.read %a : !shared -> !tile.tile<64x64xf16, registers>
    %sums = tile.reduce add %read : !tile.tile<64x64xf16, registers> -> !tile.tile<64xf16, registers>
    %acc = tile.fill %x : f32 -> !tile.tile<64x64xf32, registers>
    %product = tile.mma %a, %a, %acc scope warpgroup : !shared, !shared, !tile.tile<64x64xf32, registers>
    %all = tile.broadcast %sums dim 0 : !tile.tile<64xf16, registers> -> !tile.tile<64x64xf16, registers>
    %result = tile.map(%product, %all) {
    ^bb0(%p: f32, %s: f16, %i: index, %j: index):
      %w = arith.extf %s : f16 to f32
      %r = arith.addf %p, %w : f32
      tile.yield %r : f32
    } : (!tile.tile<64x64xf32, registers>, !tile.tile<64x64xf16, registers>) -> !tile.tile<64x64xf32, registers>
    tile.store %result, %out[%c0, %c0] : !tile.tile<64x64xf32, registers>, memref<64x64xf32>
    gpu.return
  }
}
