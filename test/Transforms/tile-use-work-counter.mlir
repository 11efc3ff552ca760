// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops over every n-th tile become loops over the tiles that the producer
// takes from a work counter.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(gpu.module(gpu.func(tile-use-work-counter)))" | FileCheck %s

!channel = !tile.channel<16x32xf16, stages = 2, swizzle_atom = 32>
!shared = !tile.tile<16x32xf16, shared, #tile.swizzle<vector = 8, bits = 2, shift = 1, swizzle_atom = 32>>

gpu.module @kernels {
  // What the loops carry beside the tile's number goes on; elements of the tile scheduler are
  // counted from 0.
  // CHECK-LABEL: gpu.func @fetch_work
  // CHECK-SAME:    %[[M:[^ ]+]]: memref<?x32xf16>, %[[TILES:[^ ]+]]: index, %[[COUNTER:[^ ]+]]: memref<1xi32>
  // CHECK: %[[SCHEDULER:.+]] = tile.scheduler
  // CHECK: %[[OWN:.+]] = gpu.block_id
  // CHECK: tile.specialize <"compute", warps = 4> {
  // CHECK:   scf.while
  // CHECK:   ^bb0(%[[T:.+]]: index, %[[E:.+]]: index, %[[N:.+]]: index):
  // CHECK:        tile.get %{{.+}}[%[[N]]]
  // CHECK:        %[[NEXT:.+]] = tile.get_work %[[SCHEDULER]][%[[E]]] after %[[T]]
  // CHECK:        scf.yield %[[NEXT]]
  // CHECK: }, <"load", warps = 1, threads = one> {
  // CHECK:   scf.while (%[[T:.+]] = %[[OWN]], %[[E:.+]] = %c0{{[^ ,]*}}, %[[N:.+]] = %c0{{[^ ,]*}}) : (index, index, index)
  // CHECK-NEXT: %[[MORE:.+]] = arith.cmpi slt, %[[T]], %[[TILES]]
  // CHECK-NEXT: scf.condition(%[[MORE]]) %[[T]], %[[E]], %[[N]]
  // CHECK-NEXT: } do {
  // CHECK-NEXT: ^bb0(%[[T:.+]]: index, %[[E:.+]]: index, %[[N:.+]]: index):
  // CHECK-NEXT:   tile.put %{{.+}}[%[[N]]], %[[M]][%[[T]], %{{.+}}]
  // CHECK-NEXT:   %[[N2:.+]] = arith.addi %[[N]], %c1
  // CHECK-NEXT:   %[[NEXT:.+]] = tile.fetch_work %[[SCHEDULER]][%[[E]]], %[[COUNTER]] after %[[T]] of %[[TILES]]
  // CHECK:        %[[E2:.+]] = arith.addi %[[E]], %{{.+}}
  // CHECK-NEXT:   scf.yield %[[NEXT]], %[[E2]], %[[N2]]
  // CHECK-NOT: tile.dynamic
  // CHECK: gpu.return
  gpu.func @fetch_work(%m: memref<?x32xf16>, %tiles: index, %counter: memref<1xi32> {tile.work_counter}) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c = tile.channel : !channel
    %own = gpu.block_id x
    %grid = gpu.grid_dim x
    tile.specialize <"compute", warps = 4> {
      %r = scf.for %t = %own to %tiles step %grid iter_args(%n = %c0) -> index {
        %s = tile.get %c[%n] : !channel -> !shared
        tile.release %c[%n] : !channel
        %next = arith.addi %n, %c1 : index
        scf.yield %next : index
      } {tile.dynamic}
    }, <"load", warps = 1, threads = one> {
      %r = scf.for %t = %own to %tiles step %grid iter_args(%n = %c0) -> index {
        tile.put %c[%n], %m[%t, %c0] : !channel, memref<?x32xf16>
        %next = arith.addi %n, %c1 : index
        scf.yield %next : index
      } {tile.dynamic}
    }
    gpu.return
  }

  // A token of the tile before goes on, too, and behind the loop.
  // CHECK-LABEL: gpu.func @tokens
  // CHECK: %[[NONE:.+]] = tile.done
  // CHECK: %[[R:.+]]:3 = scf.while (%{{.+}} = %{{.+}}, %{{.+}} = %{{.+}}, %{{.+}} = %[[NONE]]) : (index, index, !tile.token) -> (index, index, !tile.token)
  // CHECK: ^bb0(%{{.+}}: index, %{{.+}}: index, %[[BEFORE:.+]]: !tile.token):
  // CHECK:   tile.wait_reads %[[BEFORE]]
  // CHECK:   %[[STORED:.+]] = tile.store_async
  // CHECK:   scf.yield %{{.+}}, %{{.+}}, %[[STORED]] : index, index, !tile.token
  // CHECK: tile.wait_reads %[[R]]#2
  gpu.func @tokens(%m: memref<?x32xf16>, %tiles: index, %counter: memref<1xi32> {tile.work_counter}) kernel {
    %c0 = arith.constant 0 : index
    %b = tile.buffer : !shared
    %own = gpu.block_id x
    %grid = gpu.grid_dim x
    tile.specialize <"compute", warps = 4> {
      %none = tile.done
      %last = scf.for %t = %own to %tiles step %grid iter_args(%before = %none) -> !tile.token {
        tile.wait_reads %before : !tile.token
        %stored = tile.store_async %b, %m[%t, %c0] : !shared, memref<?x32xf16>
        scf.yield %stored : !tile.token
      } {tile.dynamic}
      tile.wait_reads %last : !tile.token
    }, <"load", warps = 1, threads = one> {
      scf.for %t = %own to %tiles step %grid {
      } {tile.dynamic}
    }
    gpu.return
  }

  // Of several roles of one thread the first one takes tiles, and all others learn of it. A role without such a loop stays.
  // CHECK-LABEL: gpu.func @roles
  // CHECK: tile.specialize <"compute", warps = 4> {
  // CHECK:   tile.get_work
  // CHECK: }, <"load_k", warps = 1, threads = one> {
  // CHECK:   tile.fetch_work %
  // CHECK: }, <"load_v", warps = 1, threads = one> {
  // CHECK:   tile.get_work
  // CHECK: }, <"idle", warps = 2> {
  // CHECK-NEXT: }
  gpu.func @roles(%tiles: index, %counter: memref<1xi32> {tile.work_counter}) kernel {
    %own = gpu.block_id x
    %grid = gpu.grid_dim x
    tile.specialize <"compute", warps = 4> {
      scf.for %t = %own to %tiles step %grid {
      } {tile.dynamic}
    }, <"load_k", warps = 1, threads = one> {
      scf.for %t = %own to %tiles step %grid {
      } {tile.dynamic}
    }, <"load_v", warps = 1, threads = one> {
      scf.for %t = %own to %tiles step %grid {
      } {tile.dynamic}
    }, <"idle", warps = 2> {
    }
    gpu.return
  }

  // Tiles that are assigned in advance stay so.
  // CHECK-LABEL: gpu.func @in_advance
  // CHECK-NOT: tile.scheduler
  // CHECK-COUNT-2: scf.for
  gpu.func @in_advance(%m: memref<?x32xf16>, %tiles: index) kernel {
    %c0 = arith.constant 0 : index
    %c = tile.channel : !channel
    %own = gpu.block_id x
    %grid = gpu.grid_dim x
    tile.specialize <"compute", warps = 4> {
      scf.for %t = %own to %tiles step %grid {
        %s = tile.get %c[%t] : !channel -> !shared
        tile.release %c[%t] : !channel
      }
    }, <"load", warps = 1, threads = one> {
      scf.for %t = %own to %tiles step %grid {
        tile.put %c[%t], %m[%t, %c0] : !channel, memref<?x32xf16>
      }
    }
    gpu.return
  }
}
