// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// convert-tile-to-gpu expects places in shared memory.
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(attune-attach-target{chip=sm_90a},convert-tile-to-gpu)"

gpu.module @kernels {
  gpu.func @channel() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // expected-error @below {{'tile.channel' op expects a place in shared memory; run tile-allocate-shared first}}
    %c = tile.channel : !tile.channel<16x64xf16, stages = 1>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @buffer() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // expected-error @below {{'tile.buffer' op expects a place in shared memory; run tile-allocate-shared first}}
    %b = tile.buffer : !tile.tile<64x64xf16, shared, #tile.swizzle<vector = 8, bits = 3, shift = 0, swizzle_atom = 64>>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @scheduler() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // expected-error @below {{'tile.scheduler' op expects a place in shared memory; run tile-allocate-shared first}}
    %d = tile.scheduler : !tile.scheduler
    gpu.return
  }
}
