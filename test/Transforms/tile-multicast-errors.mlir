// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(gpu.module(gpu.func(tile-multicast)))"

gpu.module @kernels {
  // expected-error @below {{expects workgroups along x alone in a kernel of clusters, but got a 'known_cluster_size' of 2, 2, 1}}
  gpu.func @other_size() kernel
      attributes {known_cluster_size = array<i32: 2, 2, 1>} {
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @below {{expects roles of warps, of tile-specialize-warps, in a kernel of clusters, but got a 'known_cluster_size' of 2, 1, 1}}
  gpu.func @no_roles() kernel
      attributes {known_cluster_size = array<i32: 2, 1, 1>} {
    gpu.return
  }
}

// -----

!channel = !tile.channel<16x32xf16, stages = 2, swizzle_atom = 32>
gpu.module @kernels {
  // expected-error @below {{expects a channel whose puts are the same in all workgroups of a cluster in a kernel of clusters, but got a 'known_cluster_size' of 2, 1, 1}}
  gpu.func @nothing_shared(%m: memref<?x32xf16>) kernel
      attributes {known_cluster_size = array<i32: 2, 1, 1>} {
    %c0 = arith.constant 0 : index
    %k = tile.channel : !channel
    %block = gpu.block_id x
    tile.specialize <"compute", warps = 4> {
    }, <"load", warps = 1, threads = one> {
      tile.put %k[%c0], %m[%block, %c0] : !channel, memref<?x32xf16>
    }
    gpu.return
  }
}

// -----

!channel = !tile.channel<24x32xf16, stages = 2, swizzle_atom = 32>
gpu.module @kernels {
  gpu.func @no_shares(%m: memref<?x32xf16>) kernel
      attributes {known_cluster_size = array<i32: 2, 1, 1>} {
    %c0 = arith.constant 0 : index
    // expected-error @below {{'tile.channel' op expects a multiple of 16 rows, 8 for each of 2 workgroups, but got 24}}
    %k = tile.channel : !channel
    tile.specialize <"compute", warps = 4> {
    }, <"load", warps = 1, threads = one> {
      tile.put %k[%c0], %m[%c0, %c0] : !channel, memref<?x32xf16>
    }
    gpu.return
  }
}
