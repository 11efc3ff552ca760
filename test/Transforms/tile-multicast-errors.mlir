// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(gpu.module(gpu.func(tile-multicast)))"

#schedule = #schedule.attention<mmaWarps = 4, producerWarps = 1, cluster = 2>
gpu.module @kernels {
  // expected-error @below {{expects a known_cluster_size of 2, 1, 1 where the schedule says cluster = 2}}
  gpu.func @no_size() kernel attributes {tile.schedule = #schedule} {
    gpu.return
  }
}

// -----

#schedule = #schedule.attention<mmaWarps = 4, producerWarps = 1, cluster = 2>
gpu.module @kernels {
  // expected-error @below {{expects a known_cluster_size of 2, 1, 1 where the schedule says cluster = 2}}
  gpu.func @other_size() kernel
      attributes {known_cluster_size = array<i32: 2, 2, 1>, tile.schedule = #schedule} {
    gpu.return
  }
}

// -----

#schedule = #schedule.attention<mmaWarps = 4, cluster = 2>
gpu.module @kernels {
  // expected-error @below {{expects roles of warps, of tile-specialize-warps, where the schedule says cluster = 2}}
  gpu.func @no_roles() kernel
      attributes {known_cluster_size = array<i32: 2, 1, 1>, tile.schedule = #schedule} {
    gpu.return
  }
}

// -----

#schedule = #schedule.attention<mmaWarps = 4, producerWarps = 1, cluster = 2>
!channel = !tile.channel<16x32xf16, stages = 2, panel = 32>
gpu.module @kernels {
  // expected-error @below {{expects a channel whose puts are the same in all workgroups of a cluster where the schedule says cluster = 2}}
  gpu.func @nothing_shared(%m: memref<?x32xf16>) kernel
      attributes {known_cluster_size = array<i32: 2, 1, 1>, tile.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %k = tile.channel : !channel
    %block = gpu.block_id x
    tile.specialize producer 1 {
      tile.put %k[%c0], %m[%block, %c0] : !channel, memref<?x32xf16>
    } consumer {
    }
    gpu.return
  }
}

// -----

#schedule = #schedule.attention<mmaWarps = 4, producerWarps = 1, cluster = 2>
!channel = !tile.channel<24x32xf16, stages = 2, panel = 32>
gpu.module @kernels {
  gpu.func @no_shares(%m: memref<?x32xf16>) kernel
      attributes {known_cluster_size = array<i32: 2, 1, 1>, tile.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    // expected-error @below {{'tile.channel' op expects a multiple of 16 rows, 8 for each of 2 workgroups, but got 24}}
    %k = tile.channel : !channel
    tile.specialize producer 1 {
      tile.put %k[%c0], %m[%c0, %c0] : !channel, memref<?x32xf16>
    } consumer {
    }
    gpu.return
  }
}
