// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What tile-promote-to-shared refuses.
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(gpu.module(gpu.func(tile-promote-to-shared)))"

gpu.module @kernels {
  // How wide panels are is the chip's to say.
  // expected-error @below {{expects a 'tile.target' attribute on the kernel or around it; run attune-attach-target first}}
  gpu.func @no_target() kernel attributes {tile.schedule = #schedule.attention<mmaWarps = 4, qInRegisters = 0>} {
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @below {{expects multiplies by groups of warps where the schedule says p-in-registers = 0 or o-in-shared, but got mma-warps = 1}}
  gpu.func @no_groups() kernel attributes {tile.schedule = #schedule.attention<oInShared = "query-slot">} {
    gpu.return
  }
}

// -----

module attributes {tile.target = #tile.target<chip = "toy", family = "Hopper", lanes = 32, cores = 1, shared = 65536,
  shared_per_core = 65536, registers = 1, registers_per_core = 1, max_threads = 1, max_threads_per_core = 1,
  copy_sync = none, copy_widths = [], box_bytes = 128, mma = []>} {
  gpu.module @kernels {
    gpu.func @no_query(%o: !tile.tile<64x32xf16, registers>, %om: memref<64x32xf16>) kernel
        attributes {tile.schedule = #schedule.attention<mmaWarps = 4, qInRegisters = 0, oInShared = "query-slot">} {
      %c0 = arith.constant 0 : index
      // expected-error @below {{'tile.store' op expects a left-hand operand of a multiply of the type of the tile in the same block, whose slot it can take}}
      tile.store %o, %om[%c0, %c0] : !tile.tile<64x32xf16, registers>, memref<64x32xf16>
      gpu.return
    }
  }
}
