// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// On chips whose copies pass through registers, a put is a load and a put of
// what it brought. Rows are padded, what is summed over is contiguous, and what
// is only read once is loaded by the threads that have it.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(attune-attach-target{chip=gfx942},gpu.module(gpu.func(tile-promote-to-shared)))" | FileCheck %s

!q = !tile.tile<128x64xbf16, registers>
!k = !tile.tile<32x64xbf16, registers>
!s = !tile.tile<128x32xf32, registers>
!p = !tile.tile<128x32xbf16, registers>
!o = !tile.tile<128x64xf32, registers>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @attention
  // CHECK: %[[Q:.+]] = tile.load %{{.+}}[%c0, %c0] : memref<128x64xbf16> -> <128x64xbf16, registers>
  // CHECK: %[[K:.+]] = tile.channel : <32x64xbf16, stages = 1, padding = 8>
  // CHECK: %[[V:.+]] = tile.channel : <32x64xbf16, stages = 2, padding = 8, transposed = true>
  // CHECK: scf.for %[[I:[^ ]+]] =
  // CHECK:   %[[KEYS:.+]] = tile.load %{{.+}}[%[[I]], %c0] in_bounds :
  // CHECK:   tile.put_tile %[[K]][%[[I]]], %[[KEYS]]
  // CHECK:   %[[KEY:.+]] = tile.get %[[K]][%[[I]]]
  // CHECK:   tile.mma %[[Q]], %[[KEY]]
  // CHECK:   tile.release %[[K]][%[[I]]]
  // CHECK:   %[[VALUES:.+]] = tile.load
  // CHECK:   tile.put_tile %[[V]][%[[I]]], %[[VALUES]]
  // CHECK:   %[[VALUE:.+]] = tile.get %[[V]][%[[I]]] : {{.*}} -> <32x64xbf16, shared, #tile.swizzle<vector = 8, bits = 0, shift = 0, padding = 8, transposed = true>>
  // CHECK:   tile.mma %{{.+}}, %[[VALUE]]
  // CHECK:   tile.release %[[V]][%[[I]]]
  gpu.func @attention(%qm: memref<128x64xbf16>, %km: memref<?x64xbf16>, %p: !p, %zero: !s, %none: !o, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %q = tile.load %qm[%c0, %c0] stages 1 read_once : memref<128x64xbf16> -> !q
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%o = %none) -> !o {
      %k = tile.load %km[%i, %c0] in_bounds stages 1 : memref<?x64xbf16> -> !k
      %s = tile.mma %q, %k, %zero transpose_rhs : !q, !k, !s
      %v = tile.load %km[%i, %c0] stages 2 : memref<?x64xbf16> -> !k
      %next = tile.mma %p, %v, %o : !p, !k, !o
      scf.yield %next : !o
    }
    gpu.return
  }

  // What MMAs sum over along rows and along columns is stored by rows.
  // CHECK-LABEL: gpu.func @both_ways
  // CHECK: tile.channel : <32x64xbf16, stages = 1, padding = 8>
  // CHECK-NOT: tile.channel
  gpu.func @both_ways(%q: !q, %p: !p, %km: memref<?x64xbf16>, %zero: !s, %none: !o) kernel {
    %c0 = arith.constant 0 : index
    %k = tile.load %km[%c0, %c0] stages 1 : memref<?x64xbf16> -> !k
    %s = tile.mma %q, %k, %zero transpose_rhs : !q, !k, !s
    %o = tile.mma %p, %k, %none : !p, !k, !o
    gpu.return
  }
}
