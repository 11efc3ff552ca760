// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops whose MMAs are issued before those of the iteration before have ended, and those that are left alone.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(gpu.module(gpu.func(tile-chain-mmas)))" | FileCheck %s --implicit-check-not=tile.chain

#roles = [#tile.role<"compute", warps = 4>, #tile.role<"load", warps = 1, threads = one>]
!a = !tile.channel<64x32xf16, stages = 2, swizzle_atom = 32>
!b = !tile.channel<16x32xf16, stages = 3, swizzle_atom = 32>
!single = !tile.channel<16x32xf16, stages = 1, swizzle_atom = 32>
!as = !tile.tile<64x32xf16, shared, #tile.swizzle<vector = 8, bits = 2, shift = 1, swizzle_atom = 32>>
!bs = !tile.tile<16x32xf16, shared, #tile.swizzle<vector = 8, bits = 2, shift = 1, swizzle_atom = 32>>
!acc = !tile.tile<64x16xf32, registers>
!regs = !tile.tile<64x32xf16, registers>

gpu.module @kernels {
  // The first iteration stands in front of the loop. An iteration releases what the one before has read, when that is
  // known; behind the loop the last one's.
  // CHECK-LABEL: gpu.func @chained
  // CHECK-SAME:    %[[ACC:[^ ]+]]: !tile.tile<64x16xf32, registers>
  // CHECK-DAG: %[[C0:.+]] = arith.constant 0 : index
  // CHECK-DAG: %[[C1:.+]] = arith.constant 1 : index
  // CHECK: %[[A:.+]] = tile.channel : <64x32xf16, stages = 2
  // CHECK: %[[B:.+]] = tile.channel : <16x32xf16, stages = 3
  // CHECK-NOT: scf.if
  // CHECK: tile.get %[[A]][%[[C0]]]
  // CHECK: tile.get %[[B]][%[[C0]]]
  // CHECK: %[[FIRST:.+]] = tile.mma_async %{{.+}}, %{{.+}}, %[[ACC]] transpose_rhs scope warpgroup :
  // CHECK-NOT: tile.release
  // CHECK: %[[LAST:.+]] = scf.for %[[I:.+]] = %{{.+}} to %{{.+}} step %[[C1]] iter_args(%[[P:.+]] = %[[FIRST]]) -> (!tile.pending<<64x16xf32, registers>>)
  // CHECK:   %[[AT:.+]] = tile.get %[[A]][%[[I]]]
  // CHECK:   %[[BT:.+]] = tile.get %[[B]][%[[I]]]
  // CHECK:   %[[Q:.+]] = tile.mma_async %[[AT]], %[[BT]], %[[P]] transpose_rhs scope warpgroup :
  // CHECK-NEXT: tile.wait_reads %[[P]] :
  // CHECK-NEXT: %[[BEFORE:.+]] = arith.subi %[[I]], %[[C1]]
  // CHECK-NEXT: tile.release %[[A]][%[[BEFORE]]]
  // CHECK-NEXT: tile.release %[[B]][%[[BEFORE]]]
  // CHECK-NEXT: scf.yield %[[Q]]
  // CHECK: %[[SUM:.+]] = tile.wait %[[LAST]] :
  // CHECK: %[[END:.+]] = arith.subi %c4
  // CHECK: tile.release %[[A]][%[[END]]]
  // CHECK: tile.release %[[B]][%[[END]]]
  // CHECK: tile.store %[[SUM]]
  gpu.func @chained(%acc: !acc, %out: memref<64x16xf32>) kernel attributes {tile.roles = #roles} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %a = tile.channel : !a
    %b = tile.channel : !b
    %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%s = %acc) -> !acc {
      %x = tile.get %a[%i] : !a -> !as
      %y = tile.get %b[%i] : !b -> !bs
      %t = tile.mma %x, %y, %s transpose_rhs scope warpgroup : !as, !bs, !acc
      tile.release %a[%i] : !a
      tile.release %b[%i] : !b
      scf.yield %t : !acc
    } {tile.chain}
    tile.store %r, %out[%c0, %c0] : !acc, memref<64x16xf32>
    gpu.return
  }

  // Of two MMAs in an iteration the later one is waited for: then both have read. A loop that may not run has a branch for it.
  // CHECK-LABEL: gpu.func @two
  // CHECK-SAME:    %[[ACC:[^ ]+]]: !tile.tile<64x16xf32, registers>, %[[OTHER:[^ ]+]]: !tile.tile<64x16xf32, registers>
  // CHECK: %[[R:.+]]:2 = scf.if
  // CHECK:   %[[F:.+]] = tile.mma_async %{{.+}}, %{{.+}}, %[[ACC]]
  // CHECK:   %[[G:.+]] = tile.mma_async %{{.+}}, %{{.+}}, %[[OTHER]]
  // CHECK:   scf.for %{{.+}} iter_args(%[[P:.+]] = %[[F]], %[[Q:.+]] = %[[G]])
  // CHECK:     tile.mma_async %{{.+}}, %{{.+}}, %[[P]]
  // CHECK:     tile.mma_async %{{.+}}, %{{.+}}, %[[Q]]
  // CHECK-NEXT: tile.wait_reads %[[Q]] :
  // CHECK-NOT: tile.wait_reads
  // CHECK:   tile.wait %
  // CHECK:   tile.wait %
  // CHECK: } else {
  // CHECK-NEXT: scf.yield %[[ACC]], %[[OTHER]]
  gpu.func @two(%acc: !acc, %other: !acc, %n: index, %out: memref<64x16xf32>) kernel attributes {tile.roles = #roles} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a = tile.channel : !a
    %b = tile.channel : !b
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %acc, %u = %other) -> (!acc, !acc) {
      %x = tile.get %a[%i] : !a -> !as
      %y = tile.get %b[%i] : !b -> !bs
      %t = tile.mma %x, %y, %s transpose_rhs scope warpgroup : !as, !bs, !acc
      %v = tile.mma %x, %y, %u transpose_rhs scope warpgroup : !as, !bs, !acc
      tile.release %a[%i] : !a
      tile.release %b[%i] : !b
      scf.yield %t, %v : !acc, !acc
    } {tile.chain}
    tile.store %r#0, %out[%c0, %c0] : !acc, memref<64x16xf32>
    tile.store %r#1, %out[%c0, %c0] : !acc, memref<64x16xf32>
    gpu.return
  }

  // With one slot the producer would wait for a release that comes after its put; without roles puts are placed by the
  // releases; registers are overwritten by the next iteration; MMAs of a warp do not run on their own; and what is read
  // of the sum in between must be there.
  // CHECK-LABEL: gpu.func @one_slot
  // CHECK-NOT: tile.mma_async
  // CHECK-LABEL: gpu.func @no_roles
  // CHECK-NOT: tile.mma_async
  // CHECK-LABEL: gpu.func @registers
  // CHECK-NOT: tile.mma_async
  // CHECK-LABEL: gpu.func @of_a_warp
  // CHECK-NOT: tile.mma_async
  // CHECK-LABEL: gpu.func @read_in_between
  // CHECK-NOT: tile.mma_async
  gpu.func @one_slot(%acc: !acc, %x: !as, %n: index) kernel attributes {tile.roles = #roles} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %b = tile.channel : !single
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %acc) -> !acc {
      %y = tile.get %b[%i] : !single -> !bs
      %t = tile.mma %x, %y, %s transpose_rhs scope warpgroup : !as, !bs, !acc
      tile.release %b[%i] : !single
      scf.yield %t : !acc
    } {tile.chain}
    gpu.return
  }
  gpu.func @no_roles(%acc: !acc, %x: !as, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %b = tile.channel : !b
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %acc) -> !acc {
      %y = tile.get %b[%i] : !b -> !bs
      %t = tile.mma %x, %y, %s transpose_rhs scope warpgroup : !as, !bs, !acc
      tile.release %b[%i] : !b
      scf.yield %t : !acc
    } {tile.chain}
    gpu.return
  }
  gpu.func @registers(%acc: !acc, %x: !regs, %n: index) kernel attributes {tile.roles = #roles} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %b = tile.channel : !b
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %acc) -> !acc {
      %y = tile.get %b[%i] : !b -> !bs
      %t = tile.mma %x, %y, %s transpose_rhs scope warpgroup : !regs, !bs, !acc
      tile.release %b[%i] : !b
      scf.yield %t : !acc
    } {tile.chain}
    gpu.return
  }
  gpu.func @of_a_warp(%acc: !acc, %x: !as, %n: index) kernel attributes {tile.roles = #roles} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %b = tile.channel : !b
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %acc) -> !acc {
      %y = tile.get %b[%i] : !b -> !bs
      %t = tile.mma %x, %y, %s transpose_rhs : !as, !bs, !acc
      tile.release %b[%i] : !b
      scf.yield %t : !acc
    } {tile.chain}
    gpu.return
  }
  gpu.func @read_in_between(%acc: !acc, %x: !as, %n: index, %out: memref<64x16xf32>) kernel attributes {tile.roles = #roles} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %b = tile.channel : !b
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %acc) -> !acc {
      %y = tile.get %b[%i] : !b -> !bs
      %t = tile.mma %x, %y, %s transpose_rhs scope warpgroup : !as, !bs, !acc
      tile.release %b[%i] : !b
      tile.store %t, %out[%c0, %c0] : !acc, memref<64x16xf32>
      scf.yield %t : !acc
    } {tile.chain}
    gpu.return
  }
}
