// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops over key blocks that are unrolled, and those that are left alone.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(gpu.module(gpu.func(tile-unroll-loops)))" | FileCheck %s

#swizzle = #tile.swizzle<vector = 8, bits = 2, shift = 1, swizzle_atom = 32>
!channel = !tile.channel<16x32xf16, stages = 2, swizzle_atom = 32>
!shared = !tile.tile<16x32xf16, shared, #swizzle>
!q = !tile.tile<64x32xf16, registers>
!s = !tile.tile<64x16xf32, registers>

gpu.module @kernels {
  // Two blocks an iteration, and what is left; each of the two roles has iterations of its own.
  // CHECK-LABEL: gpu.func @both_roles
  // CHECK-SAME:    %[[Q:[^ ]+]]: !tile.tile<64x32xf16, registers>, %[[M:[^ ]+]]: memref<?x32xf16>, %[[LO:[^ ]+]]: index, %[[HI:[^ ]+]]: index
  // CHECK: %[[C0:.+]] = arith.constant 0 : index
  // CHECK: %[[C1:.+]] = arith.constant 1 : index
  // CHECK: %[[K:.+]] = tile.channel
  // CHECK: tile.specialize <"compute", warps = 4> {
  // CHECK:   %[[MAIN:.+]] = scf.for %[[J:.+]] = %[[LO]] to %[[END:.+]] step %{{.+}} iter_args(%[[A:.+]] = %{{.+}})
  // CHECK:     %[[T0:.+]] = tile.get %[[K]][%[[J]]]
  // CHECK:     %[[S0:.+]] = tile.mma %[[Q]], %[[T0]], %[[A]]
  // CHECK:     tile.release %[[K]][%[[J]]]
  // CHECK:     %[[J1:.+]] = arith.addi %[[J]]
  // CHECK:     %[[T1:.+]] = tile.get %[[K]][%[[J1]]]
  // CHECK:     %[[S1:.+]] = tile.mma %[[Q]], %[[T1]], %[[S0]]
  // CHECK:     tile.release %[[K]][%[[J1]]]
  // CHECK:     scf.yield %[[S1]]
  // CHECK:   scf.for %[[R:.+]] = %[[END]] to %[[HI]] step %[[C1]] iter_args(%{{.+}} = %[[MAIN]])
  // CHECK:     tile.get %[[K]][%[[R]]]
  // CHECK:     tile.release %[[K]][%[[R]]]
  // CHECK: }, <"load", warps = 4, threads = one> {
  // CHECK:   %[[PLENGTH:.+]] = arith.subi %[[HI]], %[[LO]]
  // CHECK:   arith.remsi
  // CHECK:   scf.for %[[I:.+]] = %[[LO]] to %[[PEND:.+]] step
  // CHECK:     tile.put %[[K]][%[[I]]]
  // CHECK:     %[[I1:.+]] = arith.addi %[[I]]
  // CHECK:     tile.put %[[K]][%[[I1]]]
  // CHECK:   scf.for %[[LAST:.+]] = %[[PEND]] to %[[HI]] step %[[C1]]
  // CHECK:     tile.put %[[K]][%[[LAST]]]
  // What was asked for is done.
  // CHECK-NOT: tile.unroll
  // CHECK: gpu.return
  gpu.func @both_roles(%q: !q, %m: memref<?x32xf16>, %lo: index, %hi: index, %acc: !s, %out: memref<64x16xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %kc = tile.channel : !channel
    tile.specialize <"compute", warps = 4> {
      %r = scf.for %j = %lo to %hi step %c1 iter_args(%a = %acc) -> !s {
        %k = tile.get %kc[%j] : !channel -> !shared
        %s = tile.mma %q, %k, %a transpose_rhs scope warpgroup : !q, !shared, !s
        tile.release %kc[%j] : !channel
        scf.yield %s : !s
      } {tile.unroll = 2 : i64}
      tile.store %r, %out[%c0, %c0] : !s, memref<64x16xf32>
    }, <"load", warps = 4, threads = one> {
      scf.for %j = %lo to %hi step %c1 {
        tile.put %kc[%j], %m[%j, %c0] : !channel, memref<?x32xf16>
      } {tile.unroll = 2 : i64}
    }
    gpu.return
  }

  // The loop over query tiles goes in steps of the grid; the one inside of it is unrolled by four, and its eleven blocks leave three.
  // CHECK-LABEL: gpu.func @persistent
  // CHECK: scf.for %[[T:.+]] = %{{.+}} to %{{.+}} step %grid_dim_x
  // CHECK-NEXT: tile.get
  // CHECK:   scf.for %{{.+}} = %c0 to %[[C8:.+]] step %{{.+}} {
  // CHECK-COUNT-4: tile.release
  // CHECK:   scf.for %{{.+}} = %[[C8]] to %c11 step %c1
  // CHECK-NEXT: tile.get
  // CHECK-NEXT: tile.release
  // CHECK-NEXT: }
  // CHECK:   tile.release
  // CHECK-NEXT: }
  gpu.func @persistent(%first: index, %tiles: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c11 = arith.constant 11 : index
    %kc = tile.channel : !channel
    %qc = tile.channel : !channel
    %grid = gpu.grid_dim x
    scf.for %t = %first to %tiles step %grid {
      %q = tile.get %qc[%t] : !channel -> !shared
      scf.for %j = %c0 to %c11 step %c1 {
        %k = tile.get %kc[%j] : !channel -> !shared
        tile.release %kc[%j] : !channel
      } {tile.unroll = 4 : i64}
      tile.release %qc[%t] : !channel
    }
    gpu.return
  }

  // Where the number of blocks is known to be even nothing is left.
  // CHECK-LABEL: gpu.func @even
  // CHECK: scf.for
  // CHECK: tile.get
  // CHECK: tile.get
  // CHECK-NOT: scf.for
  // CHECK: gpu.return
  gpu.func @even() kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %kc = tile.channel : !channel
    scf.for %j = %c0 to %c8 step %c1 {
      %k = tile.get %kc[%j] : !channel -> !shared
      tile.release %kc[%j] : !channel
    } {tile.unroll = 2 : i64}
    gpu.return
  }

  // Neither loops without channels, nor any that does not ask for it.
  // CHECK-LABEL: gpu.func @other_loops
  // CHECK: scf.for
  // CHECK-NEXT: memref.store
  // CHECK-NEXT: }
  // CHECK-NEXT: gpu.return
  gpu.func @other_loops(%n: index, %x: f32, %m: memref<?xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %j = %c0 to %n step %c1 {
      memref.store %x, %m[%j] : memref<?xf32>
    } {tile.unroll = 2 : i64}
    gpu.return
  }
  // CHECK-LABEL: gpu.func @rolled
  // CHECK: scf.for
  // CHECK-NEXT: tile.get
  // CHECK-NEXT: tile.release
  // CHECK-NEXT: }
  // CHECK-NEXT: gpu.return
  gpu.func @rolled(%n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %kc = tile.channel : !channel
    scf.for %j = %c0 to %n step %c1 {
      %k = tile.get %kc[%j] : !channel -> !shared
      tile.release %kc[%j] : !channel
    }
    gpu.return
  }
}
