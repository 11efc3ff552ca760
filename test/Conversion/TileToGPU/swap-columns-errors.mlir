// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Partners that no shuffle reaches.
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(attune-attach-target{chip=sm_80},convert-tile-to-gpu)"

!warps = !tile.tile<16x32xf32, registers, #tile.layout<registers = [[2, 1, 1], [2, 0, 8], [2, 1, 8]], lanes = [[4, 1, 2], [8, 0, 1]], warps = [[2, 1, 16]]>>
gpu.module @kernels {
  gpu.func @of_two_warps(%x: f32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %a = tile.fill %x : f32 -> !warps
    // expected-error @below {{expects columns 16 apart in one thread, or in lanes whose numbers differ in one binary digit, which tells their registers, but got layout #tile.layout<registers = }}
    %b = tile.swap_columns %a stride 16 : !warps
    gpu.return
  }
}

// -----

!warps = !tile.tile<16x48xf32, registers, #tile.layout<registers = [[2, 1, 1], [2, 0, 8], [3, 1, 8]], lanes = [[4, 1, 2], [8, 0, 1]], warps = [[2, 1, 24]]>>
gpu.module @kernels {
  // The second warp begins with a column 8 to 15 of a pair.
  gpu.func @of_warps_between_partners(%x: f32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %a = tile.fill %x : f32 -> !warps
    // expected-error @below {{expects columns 8 apart}}
    %b = tile.swap_columns %a stride 8 : !warps
    gpu.return
  }
}

// -----

!acc = !tile.tile<16x24xf32, registers, #tile.layout<registers = [[2, 1, 1], [2, 0, 8], [3, 1, 8]], lanes = [[4, 1, 2], [8, 0, 1]], warps = []>>
gpu.module @kernels {
  // Column 0 is of lane 0, and column 6 of lane 3.
  gpu.func @of_two_digits(%x: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %a = tile.fill %x : f32 -> !acc
    // expected-error @below {{expects columns 6 apart}}
    %b = tile.swap_columns %a stride 6 : !acc
    gpu.return
  }
}

// -----

!bytes = !tile.tile<16x8xi8, registers, #tile.layout<registers = [[2, 1, 1], [2, 0, 8]], lanes = [[4, 1, 2], [8, 0, 1]], warps = []>>
gpu.module @kernels {
  gpu.func @of_bytes(%x: i8) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %a = tile.fill %x : i8 -> !bytes
    %b = tile.swap_columns %a stride 1 : !bytes
    // expected-error @below {{expects elements of 16 or 32 bits where lanes exchange them, but got 'i8'}}
    %c = tile.swap_columns %a stride 4 : !bytes
    gpu.return
  }
}
