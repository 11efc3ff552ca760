// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Workgroups of a cluster end together, in a kernel that has no tiles as well.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(gpu.module(gpu.func(tile-allocate-shared)))" | FileCheck %s

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @no_tiles
  // CHECK: tile.arrive_cluster
  // CHECK: gpu.return
  gpu.func @no_tiles() kernel attributes {known_cluster_size = array<i32: 2, 1, 1>} {
    gpu.return
  }
}
