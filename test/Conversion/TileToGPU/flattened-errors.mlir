// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics \
// RUN:   --pass-pipeline="builtin.module(attune-attach-target{chip=sm_90a},gpu.module(gpu.func(tile-allocate-shared)),convert-tile-to-gpu)"

!channel = !tile.channel<32x64xf16, stages = 2, swizzle_atom = 64>

module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @start(%heads: memref<12x8x64xf16>, %block: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %row = arith.muli %block, %c4 : index
    %rows = tile.flattened %heads : memref<12x8x64xf16>
    %channel = tile.channel : !channel
    // expected-error @+1 {{'tile.put' op expects a first row that is known to be a multiple of the 8 rows of the second of two dimensions, but got one of 4}}
    tile.put %channel[%c0], %rows[%row, %c0] : !channel, memref<96x64xf16>
    gpu.return
  }
}
}

// -----

!channel = !tile.channel<32x16xf16, stages = 2, swizzle_atom = 16>

module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @place(%heads: memref<12x3x16xf16>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %rows = tile.flattened %heads : memref<12x3x16xf16>
    %channel = tile.channel : !channel
    // expected-error @+1 {{'tile.put' op expects TMA boxes in shared memory at multiples of 128 bytes, but got 30 rows of 32 bytes in front of one}}
    tile.put %channel[%c0], %rows[%c0, %c0] : !channel, memref<36x16xf16>
    gpu.return
  }
}
}

// -----

!channel = !tile.channel<32x64xf16, stages = 2, swizzle_atom = 64, cluster = 2>

module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @cluster(%heads: memref<12x8x64xf16>) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
    %c0 = arith.constant 0 : index
    %rows = tile.flattened %heads : memref<12x8x64xf16>
    %channel = tile.channel : !channel
    // expected-error @+1 {{'tile.put' op expects a channel of one workgroup for rows of two dimensions, but got one of 2}}
    tile.put %channel[%c0], %rows[%c0, %c0] : !channel, memref<96x64xf16>
    gpu.return
  }
}
}
