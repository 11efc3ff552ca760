// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(attune-attach-target{chip=sm_90a},convert-tile-to-gpu)"

module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @no_place(%counters: memref<?xi32>, %i: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // expected-error @below {{'tile.join' op expects a place in shared memory; run tile-allocate-shared first}}
    %last = tile.join %counters[%i] of %i : memref<?xi32>
    gpu.return
  }
}
}

// -----

module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @one_thread(%counters: memref<?xi32>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    tile.specialize #tile.role<"compute", warps = 4> {
    }, #tile.role<"load", warps = 4, threads = one> {
      // expected-error @below {{'tile.join' op expects to stand in a role of which all threads run the program}}
      %last = tile.join %counters[%i] of %i at 0 : memref<?xi32>
    }
    gpu.return
  }
}
}

// -----

module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @teams(%counters: memref<?xi32>, %i: index) kernel attributes {known_block_size = array<i32: 384, 1, 1>} {
    tile.specialize #tile.role<"compute", warps = 8, teams = 2> {
      // expected-error @below {{'tile.join' op expects to stand in a role of one team, but got one of 2}}
      %last = tile.join %counters[%i] of %i at 0 : memref<?xi32>
    }, #tile.role<"load", warps = 4, threads = one> {
    }
    gpu.return
  }
}
}
