// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MMAs that run under the arithmetic behind them, and loops that are left alone.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(gpu.module(gpu.func(tile-defer-waits)))" | FileCheck %s --implicit-check-not=tile.defer_waits

#roles = [#tile.role<"compute", warps = 4>, #tile.role<"load", warps = 1, threads = one>]
!channel = !tile.channel<32x32xf16, stages = 2, swizzle_atom = 32>
!shared = !tile.tile<32x32xf16, shared, #tile.swizzle<vector = 8, bits = 2, shift = 1, swizzle_atom = 32>>
!rows = !tile.tile<64x32xf16, shared, #tile.swizzle<vector = 8, bits = 2, shift = 1, swizzle_atom = 32>>
!acc = !tile.tile<64x32xf32, registers>
!half = !tile.tile<64x32xf16, registers>

gpu.module @kernels {
  // Each MMA is issued where it stood. The first is waited for where it is read, and the second under the third, which runs
  // until its operand's slot is released: at the end, behind what runs beside it.
  // CHECK-LABEL: gpu.func @deferred
  // CHECK: scf.for %[[I:[^ ]+]] = %{{.+}} iter_args(%[[ACC:.+]] = %{{.+}})
  // CHECK:   %[[Q:.+]] = tile.get %[[QS:.+]][%[[I]]]
  // CHECK:   %[[S:.+]] = tile.mma_async %{{.+}}, %[[Q]], %{{.+}} transpose_rhs scope warpgroup
  // CHECK:   %[[O:.+]] = tile.get %[[OS:.+]][%[[I]]]
  // CHECK:   %[[D:.+]] = tile.mma_async %{{.+}}, %[[O]], %{{.+}} transpose_rhs scope warpgroup
  // CHECK-NEXT: %[[SW:.+]] = tile.wait %[[S]]
  // CHECK-NEXT: %[[P:.+]] = tile.map(%[[SW]])
  // CHECK:   %[[A:.+]] = tile.mma_async %[[P]], %[[O]], %[[ACC]] scope warpgroup
  // CHECK-NEXT: %[[DW:.+]] = tile.wait %[[D]]
  // CHECK-NEXT: tile.map(%[[DW]])
  // CHECK:   tile.store
  // CHECK-NOT: tile.wait
  // CHECK:   tile.release %[[QS]][%[[I]]]
  // CHECK-NEXT: %[[AW:.+]] = tile.wait %[[A]]
  // CHECK-NEXT: tile.release %[[OS]][%[[I]]]
  // CHECK-NEXT: scf.yield %[[AW]]
  gpu.func @deferred(%k: !rows, %v: !rows, %zero: !acc, %out: memref<64x32xf16>, %sums: memref<64x32xf32>) kernel attributes {tile.roles = #roles} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %queries = tile.channel : !channel
    %grads = tile.channel : !channel
    %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%acc = %zero) -> !acc {
      %q = tile.get %queries[%i] : !channel -> !shared
      %s = tile.mma %k, %q, %zero transpose_rhs scope warpgroup : !rows, !shared, !acc
      tile.release %queries[%i] : !channel
      %o = tile.get %grads[%i] : !channel -> !shared
      %d = tile.mma %v, %o, %zero transpose_rhs scope warpgroup : !rows, !shared, !acc
      %p = tile.map(%s) {
      ^bb0(%x: f32, %m: index, %n: index):
        %y = arith.truncf %x : f32 to f16
        tile.yield %y : f16
      } : (!acc) -> !half
      %a = tile.mma %p, %o, %acc scope warpgroup : !half, !shared, !acc
      tile.release %grads[%i] : !channel
      %g = tile.map(%d) {
      ^bb0(%x: f32, %m: index, %n: index):
        %y = arith.truncf %x : f32 to f16
        tile.yield %y : f16
      } : (!acc) -> !half
      tile.store %g, %out[%c0, %c0] : !half, memref<64x32xf16>
      scf.yield %a : !acc
    } {tile.defer_waits}
    tile.store %r, %sums[%c0, %c0] : !acc, memref<64x32xf32>
    gpu.return
  }

  // What one MMA adds to another one's result waits for nothing, and one wait is for both.
  // CHECK-LABEL: gpu.func @added
  // CHECK:   %[[S:.+]] = tile.mma_async %{{.+}}, %[[Q:.+]], %{{.+}} transpose_rhs
  // CHECK-NEXT: %[[T:.+]] = tile.mma_async %{{.+}}, %[[Q]], %[[S]] transpose_rhs
  // CHECK-NEXT: %[[TW:.+]] = tile.wait %[[T]]
  // CHECK-NEXT: tile.store %[[TW]]
  // CHECK-NEXT: tile.release
  gpu.func @added(%k: !rows, %v: !rows, %zero: !acc, %sums: memref<64x32xf32>) kernel attributes {tile.roles = #roles} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %queries = tile.channel : !channel
    scf.for %i = %c0 to %c4 step %c1 {
      %q = tile.get %queries[%i] : !channel -> !shared
      %s = tile.mma %k, %q, %zero transpose_rhs scope warpgroup : !rows, !shared, !acc
      %t = tile.mma %v, %q, %s transpose_rhs scope warpgroup : !rows, !shared, !acc
      tile.release %queries[%i] : !channel
      tile.store %t, %sums[%c0, %c0] : !acc, memref<64x32xf32>
    } {tile.defer_waits}
    gpu.return
  }

  // A result that is read in a branch is waited for in front of it. MMAs of single warps are done when they return.
  // CHECK-LABEL: gpu.func @branch
  // CHECK: %[[S:.+]] = tile.mma_async
  // CHECK: tile.mma %{{.+}} : <64x32xf16, registers>
  // CHECK-NEXT: %[[W:.+]] = tile.wait %[[S]]
  // CHECK-NEXT: scf.if
  // CHECK: scf.yield %[[W]]
  gpu.func @branch(%k: !rows, %q: !shared, %h: !half, %w: !tile.tile<32x32xf16, registers>, %zero: !acc, %is: i1) kernel attributes {tile.roles = #roles} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %r:2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %zero, %b = %zero) -> (!acc, !acc) {
      %s = tile.mma %k, %q, %zero transpose_rhs scope warpgroup : !rows, !shared, !acc
      %t = tile.mma %h, %w, %b : !half, !tile.tile<32x32xf16, registers>, !acc
      %x = scf.if %is -> !acc {
        scf.yield %s : !acc
      } else {
        scf.yield %a : !acc
      }
      scf.yield %x, %t : !acc, !acc
    } {tile.defer_waits}
    gpu.return
  }

  // Without roles, puts would move with the releases.
  // CHECK-LABEL: gpu.func @without_roles
  // CHECK-NOT: tile.mma_async
  // CHECK: tile.mma %{{.+}} transpose_rhs scope warpgroup
  gpu.func @without_roles(%k: !rows, %q: !shared, %zero: !acc) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %zero) -> !acc {
      %s = tile.mma %k, %q, %a transpose_rhs scope warpgroup : !rows, !shared, !acc
      scf.yield %s : !acc
    } {tile.defer_waits}
    gpu.return
  }
}
