// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What tile-promote-to-shared refuses.
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(gpu.module(gpu.func(tile-promote-to-shared)))"

gpu.module @kernels {
  // How wide swizzle atoms are is the chip's to say.
  // expected-error @below {{expects a 'tile.target' attribute on the kernel or around it; run attune-attach-target first}}
  gpu.func @no_target_of_store(%o: !tile.tile<64x32xf16, registers>, %om: memref<64x32xf16>) kernel {
    %c0 = arith.constant 0 : index
    tile.store %o, %om[%c0, %c0] path buffer : !tile.tile<64x32xf16, registers>, memref<64x32xf16>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @below {{expects a 'tile.target' attribute on the kernel or around it; run attune-attach-target first}}
  gpu.func @no_target_of_warpgroup(%a: !tile.tile<64x16xf16, registers>, %bm: memref<16x32xf16>, %c: !tile.tile<64x32xf32, registers>) kernel {
    %c0 = arith.constant 0 : index
    %b = tile.load %bm[%c0, %c0] stages 1 : memref<16x32xf16> -> !tile.tile<16x32xf16, registers>
    %d = tile.mma %a, %b, %c scope warpgroup : !tile.tile<64x16xf16, registers>, !tile.tile<16x32xf16, registers>, !tile.tile<64x32xf32, registers>
    gpu.return
  }
}

// -----

module attributes {tile.target = #tile.target<chip = "toy", family = "Hopper", lanes = 32, sms = 1, shared = 65536,
  shared_per_sm = 65536, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], tma_box_bytes = 128, mma = []>} {
  gpu.module @kernels {
    gpu.func @of_a_warp(%a: !tile.tile<64x16xf16, registers>, %b: !tile.tile<16x32xf16, registers>, %c: !tile.tile<64x32xf32, registers>) kernel {
      // expected-error @below {{expects an MMA of a warpgroup where its lhs goes through shared memory, but got one of a warp}}
      %d = tile.mma %a, %b, %c lhs_through_shared : !tile.tile<64x16xf16, registers>, !tile.tile<16x32xf16, registers>, !tile.tile<64x32xf32, registers>
      gpu.return
    }
  }
}

// -----

module attributes {tile.target = #tile.target<chip = "toy", family = "Hopper", lanes = 32, sms = 1, shared = 65536,
  shared_per_sm = 65536, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], tma_box_bytes = 128, mma = []>} {
  gpu.module @kernels {
    gpu.func @no_query(%o: !tile.tile<64x32xf16, registers>, %om: memref<64x32xf16>) kernel {
      %c0 = arith.constant 0 : index
      // expected-error @below {{'tile.store' op expects a left-hand operand of an MMA of the type of the tile in the same block, whose slot it can take}}
      tile.store %o, %om[%c0, %c0] path operand_slot : !tile.tile<64x32xf16, registers>, memref<64x32xf16>
      gpu.return
    }
  }
}

// -----

module attributes {tile.target = #tile.target<chip = "toy", family = "Hopper", lanes = 32, sms = 1, shared = 65536,
  shared_per_sm = 65536, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], tma_box_bytes = 128, mma = []>} {
  gpu.module @kernels {
    // Those who compute would wait themselves.
    gpu.func @order_of_no_role(%o: !tile.tile<64x32xf32, registers>, %om: memref<64x32xf32>, %turns: memref<?xi32>, %i: index) kernel {
      tile.ordered %turns[%i] turn %i of %i {
        // expected-error @below {{expects a role of which one thread runs the program to store a tile by way of a buffer, to a view that ends where its tensor does}}
        tile.store %o, %om[%i, %i] accumulate path buffer : !tile.tile<64x32xf32, registers>, memref<64x32xf32>
      } : memref<?xi32>
      gpu.return
    }
  }
}
