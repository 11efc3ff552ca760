// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What convert-tile-to-gpu refuses of MMAs of warpgroups.
//
// RUN: attune-opt %s --verify-diagnostics \
// RUN:   --pass-pipeline="builtin.module(attune-attach-target{chip=sm_90a},gpu.module(gpu.func(tile-assign-layouts,tile-allocate-shared)),convert-tile-to-gpu)"

!channel = !tile.channel<64x64xf16, stages = 1, swizzle_atom = 64>
!shared = !tile.tile<64x64xf16, shared, #tile.swizzle<vector = 8, bits = 3, shift = 0, swizzle_atom = 64>>
!acc = !tile.tile<64x64xf32, registers>

gpu.module @kernels {
  gpu.func @half_an_atom(%x: f32) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c = tile.channel : !channel
    %a = tile.get %c[%c0] : !channel -> !shared
    %acc = tile.fill %x : f32 -> !acc
    // Columns that are depth of the other side may be shared in any part.
    %right = tile.mma %a, %a, %acc transpose_rhs scope warpgroup warps_n 2 : !shared, !shared, !acc
    // expected-error @below {{'tile.mma' op expects a right operand of a multiple of 128 columns, whole swizzle atoms for each of 2 groups of warps, but got 64}}
    %wrong = tile.mma %a, %a, %acc scope warpgroup warps_n 2 : !shared, !shared, !acc
    gpu.return
  }
}
