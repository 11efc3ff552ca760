// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who can take turns: threads that meet store what they hold, and one thread what the copy engine takes.
//
// RUN: attune-opt %s --verify-diagnostics --split-input-file --pass-pipeline="builtin.module(attune-attach-target{chip=sm_90a},convert-tile-to-gpu)"

#layout = #tile.layout<registers = [[4, 1, 1]], lanes = [[32, 0, 1]], warps = [[4, 0, 32]]>
!tile = !tile.tile<128x4xf32, registers, #layout>
module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @one_thread(%counters: memref<?xi32>, %i: index, %out: memref<128x4xf32>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %zero = arith.constant 0.0 : f32
    %tile = tile.fill %zero : f32 -> !tile
    tile.specialize #tile.role<"compute", warps = 4> {
    }, #tile.role<"load", warps = 4, threads = one> {
      tile.ordered %counters[%i] turn %i of %i {
        // expected-error @below {{'tile.store' op expects tiles in registers in roles of which all threads run the program, but got one in 'load'}}
        tile.store %tile, %out[%i, %i] accumulate : !tile, memref<128x4xf32>
      } : memref<?xi32>
    }
    gpu.return
  }
}
}

// -----

!channel = !tile.channel<64x32xf32, stages = 1, swizzle_atom = 32>
!shared = !tile.tile<64x32xf32, shared, #tile.swizzle<vector = 4, bits = 3, shift = 0, swizzle_atom = 32>>
module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @all_threads(%counters: memref<?xi32>, %i: index, %out: memref<64x32xf32>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %channel = tile.channel at 0 barriers at 8192 : !channel
    tile.specialize #tile.role<"compute", warps = 4> {
      tile.ordered %counters[%i] turn %i of %i {
        %sums = tile.get %channel[%i] : !channel -> !shared
        // expected-error @below {{'tile.store_async' op expects to stand in a role of which one thread runs the program, for it is in 'tile.ordered'}}
        %stored = tile.store_async %sums, %out[%i, %i] accumulate : !shared, memref<64x32xf32>
        tile.wait_reads %stored : !tile.token
      } : memref<?xi32>
    }, #tile.role<"load", warps = 4, threads = one> {
    }
    gpu.return
  }
}
}
