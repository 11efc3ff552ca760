// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Channels whose chunks warps copy, on a chip that does not count copies.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(attune-attach-target{chip=sm_90a},gpu.module(gpu.func(tile-assign-layouts,tile-allocate-shared)),convert-tile-to-gpu)" --verify-diagnostics

!channel = !tile.channel<32x128xbf16, stages = 2, chunk = 8>

gpu.module @kernels {
  gpu.func @chunks(%m: memref<?x128xbf16>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c = tile.channel : !channel
    // expected-error @below {{'tile.put' op expects a channel without chunks on 'sm_90a', whose warps do not count their copies, but got '!tile.channel<32x128xbf16, stages = 2, chunk = 8>'}}
    tile.put %c[%c0], %m[%c0, %c0] : !channel, memref<?x128xbf16>
    gpu.return
  }
}
