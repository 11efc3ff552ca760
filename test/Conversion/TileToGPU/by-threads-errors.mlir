// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(attune-attach-target{chip=sm_90a},convert-tile-to-gpu)" --split-input-file --verify-diagnostics

// Both halves of the workgroup have the same.
!twice = !tile.tile<128x4xf32, registers, #tile.layout<registers = [[4, 1, 1]], lanes = [[32, 0, 1]], warps = [[4, 0, 32], [2, 0, 0]]>>
module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @replicated(%sums: memref<?x4xf32>, %x: f32) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %tile = tile.fill %x : f32 -> !twice
    // expected-error @+1 {{expects a tile of which each element is one thread's with 'by_threads', but got '!tile.tile<128x4xf32}}
    tile.store %tile, %sums[%c0, %c0] accumulate by_threads : !twice, memref<?x4xf32>
    gpu.return
  }
}
}

// -----

!twice = !tile.tile<128x4xf32, registers, #tile.layout<registers = [[4, 1, 1]], lanes = [[32, 0, 1]], warps = [[4, 0, 32], [2, 0, 0]]>>
module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @read_twice(%sums: memref<?x4xf32>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    // expected-error @+1 {{expects a tile of which each element is one thread's with 'by_threads'}}
    %tile = tile.load %sums[%c0, %c0] by_threads : memref<?x4xf32> -> !twice
    gpu.return
  }
}
}
