// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: attune-opt %s --verify-diagnostics --pass-pipeline="builtin.module(attune-attach-target{chip=sm_90a},convert-tile-to-gpu)"

module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @one_thread(%counters: memref<?xi32>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    tile.specialize #tile.role<"compute", warps = 4> {
    }, #tile.role<"load", warps = 4, threads = one> {
      // expected-error @below {{'tile.ordered' op expects to stand in a role of which all threads run the program}}
      tile.ordered %counters[%i] turn %i of %i {
      } : memref<?xi32>
    }
    gpu.return
  }
}
}
