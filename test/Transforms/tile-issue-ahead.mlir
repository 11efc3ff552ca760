// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The first MMA of a loop, one iteration ahead, and loops that are left alone.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(gpu.module(gpu.func(tile-issue-ahead)))" | FileCheck %s --implicit-check-not=tile.issue_ahead

#roles = [#tile.role<"compute", warps = 4>, #tile.role<"load", warps = 1, threads = one>]
!channel = !tile.channel<32x32xf16, stages = 2, swizzle_atom = 32>
!slot = !tile.channel<32x32xf16, stages = 1, swizzle_atom = 32>
!shared = !tile.tile<32x32xf16, shared, #tile.swizzle<vector = 8, bits = 2, shift = 1, swizzle_atom = 32>>
!rows = !tile.tile<64x32xf16, shared, #tile.swizzle<vector = 8, bits = 2, shift = 1, swizzle_atom = 32>>
!acc = !tile.tile<64x32xf32, registers>
!half = !tile.tile<64x32xf16, registers>

gpu.module @kernels {
  // The put and the get come along. The slot is read again in the iteration that it is of, which also releases it.
  // CHECK-LABEL: gpu.func @ahead
  // CHECK: scf.if
  // CHECK: tile.put %[[QS:.+]][%[[LOWER:[^ ]+]]], %{{.+}}[%[[ROW:.+]], %{{.+}}]
  // CHECK: %[[Q0:.+]] = tile.get %[[QS]][%[[LOWER]]]
  // CHECK: %[[S0:.+]] = tile.mma_async %{{.+}}, %[[Q0]], %{{.+}} transpose_rhs scope warpgroup
  // CHECK-NEXT: %[[S0W:.+]] = tile.wait %[[S0]]
  // CHECK: %[[R:.+]]:2 = scf.for %[[I:[^ ]+]] = %[[LOWER]] to %[[LAST:[^ ]+]] step %{{.+}} iter_args(%[[ACC:.+]] = %{{.+}}, %[[S:.+]] = %[[S0W]])
  // CHECK-NOT: tile.put
  // CHECK:   %[[Q:.+]] = tile.get %[[QS]][%[[I]]]
  // CHECK-NEXT: tile.map(%[[S]])
  // CHECK:   %[[A:.+]] = tile.mma_async %{{.+}}, %[[Q]], %[[ACC]] scope warpgroup
  // CHECK:   %[[NEXT:.+]] = arith.addi %[[I]], %{{.+}}
  // CHECK:   tile.put %[[QS]][%[[NEXT]]]
  // CHECK:   %[[QN:.+]] = tile.get %[[QS]][%[[NEXT]]]
  // CHECK-NEXT: %[[SN:.+]] = tile.mma_async %{{.+}}, %[[QN]], %{{.+}} transpose_rhs scope warpgroup
  // CHECK-NEXT: %[[AW:.+]] = tile.wait %[[A]]
  // CHECK-NEXT: tile.release %[[QS]][%[[I]]]
  // CHECK-NEXT: %[[SNW:.+]] = tile.wait %[[SN]]
  // CHECK-NEXT: scf.yield %[[AW]], %[[SNW]]
  // The last one.
  // CHECK-NOT: tile.put
  // CHECK: %[[QL:.+]] = tile.get %[[QS]][%[[LAST]]]
  // CHECK-NEXT: tile.map(%[[R]]#1)
  // CHECK: %[[AL:.+]] = tile.mma_async %{{.+}}, %[[QL]], %[[R]]#0 scope warpgroup
  // CHECK-NEXT: %[[ALW:.+]] = tile.wait %[[AL]]
  // CHECK-NEXT: tile.release %[[QS]][%[[LAST]]]
  // CHECK-NEXT: scf.yield %[[ALW]]
  gpu.func @ahead(%k: !rows, %zero: !acc, %queries: memref<?x32xf16>, %n: index) kernel attributes {tile.roles = #roles} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %slots = tile.channel : !channel
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> !acc {
      %row = arith.muli %i, %c32 : index
      tile.put %slots[%i], %queries[%row, %c0] : !channel, memref<?x32xf16>
      %q = tile.get %slots[%i] : !channel -> !shared
      %s = tile.mma_async %k, %q, %zero transpose_rhs scope warpgroup : !rows, !shared, !acc
      %sw = tile.wait %s : !tile.pending<!acc>
      %p = tile.map(%sw) {
      ^bb0(%x: f32, %m: index, %l: index):
        %y = arith.truncf %x : f32 to f16
        tile.yield %y : f16
      } : (!acc) -> !half
      %a = tile.mma_async %p, %q, %acc scope warpgroup : !half, !shared, !acc
      %aw = tile.wait %a : !tile.pending<!acc>
      tile.release %slots[%i] : !channel
      scf.yield %aw : !acc
    } {tile.issue_ahead}
    gpu.return
  }

  // The slot of the next iteration would be that of this one.
  // CHECK-LABEL: gpu.func @one_slot
  // CHECK: scf.for
  // CHECK: tile.put
  // CHECK: tile.mma_async
  // CHECK: tile.mma_async
  // CHECK-NOT: tile.mma_async
  gpu.func @one_slot(%k: !rows, %zero: !acc, %queries: memref<?x32xf16>, %n: index) kernel attributes {tile.roles = #roles} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %slots = tile.channel : !slot
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> !acc {
      tile.put %slots[%i], %queries[%i, %c0] : !slot, memref<?x32xf16>
      %q = tile.get %slots[%i] : !slot -> !shared
      %s = tile.mma_async %k, %q, %zero transpose_rhs scope warpgroup : !rows, !shared, !acc
      %sw = tile.wait %s : !tile.pending<!acc>
      %a = tile.mma_async %k, %q, %acc transpose_rhs scope warpgroup : !rows, !shared, !acc
      %aw = tile.wait %a : !tile.pending<!acc>
      tile.release %slots[%i] : !slot
      scf.yield %aw : !acc
    } {tile.issue_ahead}
    gpu.return
  }

  // The first MMA adds to what the iteration before has.
  // CHECK-LABEL: gpu.func @depends
  // CHECK: scf.for
  // CHECK: tile.mma_async
  // CHECK: tile.mma_async
  // CHECK-NOT: tile.mma_async
  gpu.func @depends(%k: !rows, %zero: !acc, %queries: memref<?x32xf16>, %n: index) kernel attributes {tile.roles = #roles} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %slots = tile.channel : !channel
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> !acc {
      tile.put %slots[%i], %queries[%i, %c0] : !channel, memref<?x32xf16>
      %q = tile.get %slots[%i] : !channel -> !shared
      %s = tile.mma_async %k, %q, %acc transpose_rhs scope warpgroup : !rows, !shared, !acc
      %sw = tile.wait %s : !tile.pending<!acc>
      %a = tile.mma_async %k, %q, %sw transpose_rhs scope warpgroup : !rows, !shared, !acc
      %aw = tile.wait %a : !tile.pending<!acc>
      tile.release %slots[%i] : !channel
      scf.yield %aw : !acc
    } {tile.issue_ahead}
    gpu.return
  }
}
