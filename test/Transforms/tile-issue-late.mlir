// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The last terms of a loop's last MMA behind maxima of what the first one computes, and loops that are left alone.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(gpu.module(gpu.func(tile-issue-late)))" | FileCheck %s --implicit-check-not=tile.issue_late

!q = !tile.tile<64x32xf16, shared, #tile.swizzle<vector = 8, bits = 2, shift = 1, swizzle_atom = 32>>
!k = !tile.tile<48x32xf16, shared, #tile.swizzle<vector = 8, bits = 2, shift = 1, swizzle_atom = 32>>
!s = !tile.tile<64x48xf32, registers>
!p = !tile.tile<64x48xf16, registers>
!o = !tile.tile<64x32xf32, registers>
!m = !tile.tile<64xf32, registers>

gpu.module @kernels {
  // Who wants the sum waits for both parts.
  // CHECK-LABEL: gpu.func @late
  // CHECK:      %[[S:.+]] = tile.mma_async
  // CHECK-NEXT: %[[EARLY:.+]] = tile.mma_async %[[P:.+]], %[[V:.+]], %{{.+}} scope warpgroup terms [0, 32] : {{.*}}, !tile.tile<64x32xf32, registers>
  // CHECK-NEXT: %[[SW:.+]] = tile.wait %[[S]]
  // CHECK-NEXT: %[[M:.+]] = tile.reduce max %[[SW]]
  // CHECK-NEXT: %[[ALL:.+]] = tile.mma_async %[[P]], %[[V]], %[[EARLY]] scope warpgroup terms [32, 48] : {{.*}}, !tile.pending<
  // CHECK-NEXT: tile.reduce add %[[SW]]
  // CHECK-NEXT: tile.wait %[[ALL]]
  gpu.func @late(%q: !q, %k: !k, %p: !p, %zero: !s, %none: !o, %n: index) kernel {
    %r = scf.for %i = %n to %n step %n iter_args(%acc = %none) -> !o {
      %s = tile.mma_async %q, %k, %zero transpose_rhs scope warpgroup : !q, !k, !s
      %o = tile.mma_async %p, %k, %acc scope warpgroup : !p, !k, !o
      %sw = tile.wait %s : !tile.pending<!s>
      %m = tile.reduce max %sw : !s -> !m
      %l = tile.reduce add %sw : !s -> !m
      %ow = tile.wait %o : !tile.pending<!o>
      scf.yield %ow : !o
    } {tile.issue_late = 16 : i64}
    gpu.return
  }

  // CHECK-LABEL: gpu.func @wanted_before
  // CHECK-NOT: terms
  gpu.func @wanted_before(%q: !q, %k: !k, %p: !p, %zero: !s, %none: !o, %n: index) kernel {
    %r = scf.for %i = %n to %n step %n iter_args(%acc = %none) -> !o {
      %s = tile.mma_async %q, %k, %zero transpose_rhs scope warpgroup : !q, !k, !s
      %o = tile.mma_async %p, %k, %acc scope warpgroup : !p, !k, !o
      %sw = tile.wait %s : !tile.pending<!s>
      %ow = tile.wait %o : !tile.pending<!o>
      %m = tile.reduce max %sw : !s -> !m
      scf.yield %ow : !o
    } {tile.issue_late = 16 : i64}
    gpu.return
  }

  // Sums of rows, maxima of columns, maxima of something else, and none behind the MMAs.
  // CHECK-LABEL: gpu.func @no_maxima
  // CHECK-NOT: terms
  gpu.func @no_maxima(%q: !q, %k: !k, %p: !p, %zero: !s, %none: !o, %n: index) kernel {
    %r = scf.for %i = %n to %n step %n iter_args(%acc = %none) -> !o {
      %before = tile.reduce max %zero : !s -> !m
      %s = tile.mma_async %q, %k, %zero transpose_rhs scope warpgroup : !q, !k, !s
      %o = tile.mma_async %p, %k, %acc scope warpgroup : !p, !k, !o
      %other = tile.reduce max %zero : !s -> !m
      %sw = tile.wait %s : !tile.pending<!s>
      %l = tile.reduce add %sw : !s -> !m
      %c = tile.reduce max %sw dim 0 : !s -> !tile.tile<48xf32, registers>
      %ow = tile.wait %o : !tile.pending<!o>
      scf.yield %ow : !o
    } {tile.issue_late = 16 : i64}
    gpu.return
  }

  // No more terms than these, MMAs of warps, and a single MMA.
  // CHECK-LABEL: gpu.func @others
  // CHECK-NOT: terms
  gpu.func @others(%q: !q, %k: !k, %p: !p, %zero: !s, %none: !o, %n: index) kernel {
    %r = scf.for %i = %n to %n step %n iter_args(%acc = %none) -> !o {
      %s = tile.mma_async %q, %k, %zero transpose_rhs scope warpgroup : !q, !k, !s
      %o = tile.mma_async %p, %k, %acc scope warpgroup : !p, !k, !o
      %sw = tile.wait %s : !tile.pending<!s>
      %m = tile.reduce max %sw : !s -> !m
      %ow = tile.wait %o : !tile.pending<!o>
      scf.yield %ow : !o
    } {tile.issue_late = 48 : i64}
    %t = scf.for %i = %n to %n step %n iter_args(%acc = %none) -> !o {
      %s = tile.mma_async %q, %k, %zero transpose_rhs : !q, !k, !s
      %o = tile.mma_async %p, %k, %acc : !p, !k, !o
      %sw = tile.wait %s : !tile.pending<!s>
      %m = tile.reduce max %sw : !s -> !m
      %ow = tile.wait %o : !tile.pending<!o>
      scf.yield %ow : !o
    } {tile.issue_late = 16 : i64}
    scf.for %i = %n to %n step %n {
      %s = tile.mma_async %q, %k, %zero transpose_rhs scope warpgroup : !q, !k, !s
      %sw = tile.wait %s : !tile.pending<!s>
      %m = tile.reduce max %sw : !s -> !m
    } {tile.issue_late = 16 : i64}
    gpu.return
  }
}
