// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops over every n-th tile become loops over the tiles that the producer
// takes from a counter.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(gpu.module(gpu.func(tile-deal-tiles)))" | FileCheck %s

!channel = !tile.channel<16x32xf16, stages = 2, panel = 32>
!shared = !tile.tile<16x32xf16, shared, #tile.swizzle<vector = 8, bits = 2, shift = 1, panel = 32>>

gpu.module @kernels {
  // What the loops carry beside the tile's number goes on; elements of the dealer are
  // counted from 0.
  // CHECK-LABEL: gpu.func @deal
  // CHECK-SAME:    %[[M:[^ ]+]]: memref<?x32xf16>, %[[TILES:[^ ]+]]: index, %[[COUNTER:[^ ]+]]: memref<1xi32>
  // CHECK: %[[DEALER:.+]] = tile.dealer
  // CHECK: %[[OWN:.+]] = gpu.block_id
  // CHECK: tile.specialize producer 1 {
  // CHECK:   scf.while (%[[T:.+]] = %[[OWN]], %[[E:.+]] = %c0{{[^ ,]*}}, %[[N:.+]] = %c0{{[^ ,]*}}) : (index, index, index)
  // CHECK-NEXT: %[[MORE:.+]] = arith.cmpi slt, %[[T]], %[[TILES]]
  // CHECK-NEXT: scf.condition(%[[MORE]]) %[[T]], %[[E]], %[[N]]
  // CHECK-NEXT: } do {
  // CHECK-NEXT: ^bb0(%[[T:.+]]: index, %[[E:.+]]: index, %[[N:.+]]: index):
  // CHECK-NEXT:   tile.put %{{.+}}[%[[N]]], %[[M]][%[[T]], %{{.+}}]
  // CHECK-NEXT:   %[[N2:.+]] = arith.addi %[[N]], %c1
  // CHECK-NEXT:   %[[NEXT:.+]] = tile.deal %[[DEALER]][%[[E]]], %[[COUNTER]] after %[[T]] of %[[TILES]]
  // CHECK:        %[[E2:.+]] = arith.addi %[[E]], %{{.+}}
  // CHECK-NEXT:   scf.yield %[[NEXT]], %[[E2]], %[[N2]]
  // CHECK: } consumer {
  // CHECK:   scf.while
  // CHECK:   ^bb0(%[[T:.+]]: index, %[[E:.+]]: index, %[[N:.+]]: index):
  // CHECK:        tile.get %{{.+}}[%[[N]]]
  // CHECK:        %[[NEXT:.+]] = tile.dealt %[[DEALER]][%[[E]]] after %[[T]]
  // CHECK:        scf.yield %[[NEXT]]
  gpu.func @deal(%m: memref<?x32xf16>, %tiles: index, %counter: memref<1xi32> {tile.counter}) kernel
      attributes {tile.schedule = #schedule.attention<mmaWarps = 4, producerWarps = 1, persistent = dynamic>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c = tile.channel : !channel
    %own = gpu.block_id x
    %grid = gpu.grid_dim x
    tile.specialize producer 1 {
      %r = scf.for %t = %own to %tiles step %grid iter_args(%n = %c0) -> index {
        tile.put %c[%n], %m[%t, %c0] : !channel, memref<?x32xf16>
        %next = arith.addi %n, %c1 : index
        scf.yield %next : index
      }
    } consumer {
      %r = scf.for %t = %own to %tiles step %grid iter_args(%n = %c0) -> index {
        %s = tile.get %c[%n] : !channel -> !shared
        tile.release %c[%n] : !channel
        %next = arith.addi %n, %c1 : index
        scf.yield %next : index
      }
    }
    gpu.return
  }

  // Tiles that are dealt in advance stay so.
  // CHECK-LABEL: gpu.func @in_advance
  // CHECK-NOT: tile.dealer
  // CHECK-COUNT-2: scf.for
  gpu.func @in_advance(%m: memref<?x32xf16>, %tiles: index) kernel
      attributes {tile.schedule = #schedule.attention<mmaWarps = 4, producerWarps = 1, persistent = static>} {
    %c0 = arith.constant 0 : index
    %c = tile.channel : !channel
    %own = gpu.block_id x
    %grid = gpu.grid_dim x
    tile.specialize producer 1 {
      scf.for %t = %own to %tiles step %grid {
        tile.put %c[%t], %m[%t, %c0] : !channel, memref<?x32xf16>
      }
    } consumer {
      scf.for %t = %own to %tiles step %grid {
        %s = tile.get %c[%t] : !channel -> !shared
        tile.release %c[%t] : !channel
      }
    }
    gpu.return
  }
}
