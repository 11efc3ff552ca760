// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a role cannot put for others.
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(attune-attach-target{chip=sm_90a},gpu.module(gpu.func(tile-allocate-shared)),convert-tile-to-gpu)"

#blocked = #tile.layout<registers = [[8, 1, 1]], lanes = [[4, 1, 8], [8, 0, 1]], warps = [[4, 0, 8]]>
gpu.module @kernels {
  gpu.func @other_layout(%x: f16) kernel attributes {known_block_size = array<i32: 160, 1, 1>} {
    %c0 = arith.constant 0 : index
    %w = tile.channel : !tile.channel<32x32xf16, stages = 1, swizzle_atom = 32>
    tile.specialize <"first", warps = 4> {
      %p = tile.fill %x : f16 -> !tile.tile<32x32xf16, registers, #blocked>
      // expected-error @below {{expects elements of 8, 16 or 32 bits in the layout of the accumulator of a warpgroup MMA, but got}}
      tile.put_tile %w[%c0], %p : !tile.channel<32x32xf16, stages = 1, swizzle_atom = 32>, !tile.tile<32x32xf16, registers, #blocked>
    }, <"load", warps = 1, threads = one> {
    }
    gpu.return
  }
}

// -----

#acc = #tile.layout<registers = [[2, 1, 1], [2, 0, 8], [4, 1, 8]], lanes = [[4, 1, 2], [8, 0, 1]], warps = [[4, 0, 16]]>
gpu.module @kernels {
  gpu.func @copied_too(%x: f16, %m: memref<64x32xf16>) kernel attributes {known_block_size = array<i32: 160, 1, 1>} {
    %c0 = arith.constant 0 : index
    %w = tile.channel : !tile.channel<64x32xf16, stages = 1, swizzle_atom = 32>
    tile.specialize <"first", warps = 4> {
      %p = tile.fill %x : f16 -> !tile.tile<64x32xf16, registers, #acc>
      tile.put_tile %w[%c0], %p : !tile.channel<64x32xf16, stages = 1, swizzle_atom = 32>, !tile.tile<64x32xf16, registers, #acc>
    }, <"load", warps = 1, threads = one> {
      // expected-error @below {{expects a channel that no 'tile.put_tile' puts into}}
      tile.put %w[%c0], %m[%c0, %c0] : !tile.channel<64x32xf16, stages = 1, swizzle_atom = 32>, memref<64x32xf16>
    }
    gpu.return
  }
}
