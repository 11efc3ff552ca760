// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Channels whose puts are the same in all workgroups of a cluster become
// channels of the cluster; others stay as they are.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(gpu.module(gpu.func(tile-multicast)))" | FileCheck %s

!channel = !tile.channel<16x32xf16, stages = 2, swizzle_atom = 32>
!shared = !tile.tile<16x32xf16, shared, #tile.swizzle<vector = 8, bits = 2, shift = 1, swizzle_atom = 32>>

gpu.module @kernels {
  // The first channel gets what the number of the workgroup in its cluster decides; the second what that of the
  // cluster, which is the same. So does the third, under a condition and with counts that a loop carries.
  // CHECK-LABEL: gpu.func @share
  // CHECK: %[[Q:.+]] = tile.channel : <16x32xf16, stages = 2, swizzle_atom = 32>
  // CHECK: %[[K:.+]] = tile.channel : <16x32xf16, stages = 2, swizzle_atom = 32, cluster = 2>
  // CHECK: %[[V:.+]] = tile.channel : <16x32xf16, stages = 2, swizzle_atom = 32, cluster = 2>
  // CHECK: tile.get %[[K]][%{{.+}} : <16x32xf16, stages = 2, swizzle_atom = 32, cluster = 2>
  // CHECK: tile.put %[[Q]][%{{.+}} : <16x32xf16, stages = 2, swizzle_atom = 32>
  // CHECK: tile.put %[[K]][%{{.+}} : <16x32xf16, stages = 2, swizzle_atom = 32, cluster = 2>
  // CHECK: tile.put %[[V]][%{{.+}} : <16x32xf16, stages = 2, swizzle_atom = 32, cluster = 2>
  gpu.func @share(%m: memref<?x32xf16>, %ends: memref<?xindex>, %tiles: index, %more: i1) kernel
      attributes {known_cluster_size = array<i32: 2, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %q = tile.channel : !channel
    %k = tile.channel : !channel
    %v = tile.channel : !channel
    %own = gpu.cluster_id x
    %grid = gpu.cluster_dim x
    %rank = gpu.cluster_block_id x
    tile.specialize <"compute", warps = 4> {
      %s = tile.get %k[%c0] : !channel -> !shared
      tile.release %k[%c0] : !channel
    }, <"load", warps = 1, threads = one> {
      %r = scf.for %t = %own to %tiles step %grid iter_args(%n = %c0) -> index {
        %row = arith.addi %t, %rank : index
        tile.put %q[%n], %m[%row, %c0] : !channel, memref<?x32xf16>
        %end = memref.load %ends[%t] : memref<?xindex>
        %next = scf.for %j = %c0 to %end step %c1 iter_args(%e = %n) -> index {
          tile.put %k[%e], %m[%j, %c0] : !channel, memref<?x32xf16>
          scf.if %more {
            tile.put %v[%e], %m[%j, %c0] : !channel, memref<?x32xf16>
          }
          %after = arith.addi %e, %c1 : index
          scf.yield %after : index
        }
        scf.yield %next : index
      }
    }
    gpu.return
  }

  // What differs: the bound of a loop, a condition, a count that a loop has carried, and the block that is loaded.
  // CHECK-LABEL: gpu.func @differ
  // CHECK: %[[SAME:.+]] = tile.channel : <16x32xf16, stages = 2, swizzle_atom = 32, cluster = 2>
  // CHECK-COUNT-4: tile.channel : <16x32xf16, stages = 2, swizzle_atom = 32>
  gpu.func @differ(%m: memref<?x32xf16>, %ends: memref<?xindex>) kernel
      attributes {known_cluster_size = array<i32: 2, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c9 = arith.constant 9 : index
    %same = tile.channel : !channel
    %a = tile.channel : !channel
    %b = tile.channel : !channel
    %c = tile.channel : !channel
    %d = tile.channel : !channel
    %rank = gpu.cluster_block_id x
    %block = gpu.block_id x
    tile.specialize <"compute", warps = 4> {
    }, <"load", warps = 1, threads = one> {
      tile.put %same[%c0], %m[%c0, %c0] : !channel, memref<?x32xf16>
      %end = memref.load %ends[%rank] : memref<?xindex>
      scf.for %j = %c0 to %end step %c1 {
        tile.put %a[%c0], %m[%c0, %c0] : !channel, memref<?x32xf16>
      }
      %first = arith.cmpi eq, %rank, %c0 : index
      scf.if %first {
        tile.put %b[%c0], %m[%c0, %c0] : !channel, memref<?x32xf16>
      }
      %count = scf.for %j = %c0 to %c9 step %c1 iter_args(%n = %c0) -> index {
        %next = arith.addi %n, %rank : index
        scf.yield %next : index
      }
      tile.put %c[%count], %m[%c0, %c0] : !channel, memref<?x32xf16>
      %view = memref.subview %m[%block, 0] [1, 32] [1, 1] : memref<?x32xf16> to memref<1x32xf16, strided<[32, 1], offset: ?>>
      tile.put %d[%c0], %view[%c0, %c0] : !channel, memref<1x32xf16, strided<[32, 1], offset: ?>>
    }
    gpu.return
  }

  // Workgroups that are in no cluster, or alone in one.
  // CHECK-LABEL: gpu.func @alone
  // CHECK: tile.channel : <16x32xf16, stages = 2, swizzle_atom = 32>
  gpu.func @alone(%m: memref<?x32xf16>) kernel
      attributes {tile.roles = [#tile.role<"compute", warps = 4>, #tile.role<"load", warps = 1, threads = one>]} {
    %c0 = arith.constant 0 : index
    %k = tile.channel : !channel
    tile.put %k[%c0], %m[%c0, %c0] : !channel, memref<?x32xf16>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @cluster_of_one
  // CHECK: tile.channel : <16x32xf16, stages = 2, swizzle_atom = 32>
  gpu.func @cluster_of_one(%m: memref<?x32xf16>) kernel attributes {known_cluster_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %k = tile.channel : !channel
    tile.specialize <"compute", warps = 4> {
    }, <"load", warps = 1, threads = one> {
      tile.put %k[%c0], %m[%c0, %c0] : !channel, memref<?x32xf16>
    }
    gpu.return
  }

  // Each of two roles that copy may share what it copies.
  // CHECK-LABEL: gpu.func @two_loading_roles
  // CHECK-COUNT-2: tile.channel : <16x32xf16, stages = 2, swizzle_atom = 32, cluster = 2>
  gpu.func @two_loading_roles(%m: memref<?x32xf16>) kernel
      attributes {known_cluster_size = array<i32: 2, 1, 1>} {
    %c0 = arith.constant 0 : index
    %k = tile.channel : !channel
    %v = tile.channel : !channel
    tile.specialize <"load_k", warps = 1, threads = one> {
      tile.put %k[%c0], %m[%c0, %c0] : !channel, memref<?x32xf16>
    }, <"compute", warps = 4> {
    }, <"load_v", warps = 1, threads = one> {
      tile.put %v[%c0], %m[%c0, %c0] : !channel, memref<?x32xf16>
    }
    gpu.return
  }
}
