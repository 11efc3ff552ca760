// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What convert-tile-to-gpu refuses of products with bytes that hold two columns.
//
// RUN: attune-opt %s --verify-diagnostics --split-input-file \
// RUN:   --pass-pipeline="builtin.module(attune-attach-target{chip=sm_80},gpu.module(gpu.func(tile-assign-layouts,tile-allocate-shared)),convert-tile-to-gpu)"

gpu.module @kernels {
  gpu.func @registers(%x: f32, %h: f16, %b: i8) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %a = tile.fill %h : f16 -> !tile.tile<16x64xf16, registers>
    %k = tile.fill %b : i8 -> !tile.tile<64x16xi8, registers>
    %acc = tile.fill %x : f32 -> !tile.tile<16x32xf32, registers>
    // expected-error @below {{expects a packed rhs in shared memory, but got}}
    %s = tile.mma %a, %k, %acc packed_rhs : !tile.tile<16x64xf16, registers>, !tile.tile<64x16xi8, registers>, !tile.tile<16x32xf32, registers>
    gpu.return
  }
}

// -----

!channel = !tile.channel<64x32xi8, stages = 1>
!shared = !tile.tile<64x32xi8, shared, #tile.swizzle<vector = 16, bits = 1, shift = 2>>

gpu.module @kernels {
  gpu.func @shared_columns(%x: f32, %h: f16) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c = tile.channel : !channel
    %k = tile.get %c[%c0] : !channel -> !shared
    %a = tile.fill %h : f16 -> !tile.tile<16x64xf16, registers>
    %acc = tile.fill %x : f32 -> !tile.tile<16x64xf32, registers>
    // expected-error @below {{expects a warp to multiply all columns of a packed rhs, but got warps_n 2}}
    %s = tile.mma %a, %k, %acc packed_rhs warps_n 2 : !tile.tile<16x64xf16, registers>, !shared, !tile.tile<16x64xf32, registers>
    gpu.return
  }
}
