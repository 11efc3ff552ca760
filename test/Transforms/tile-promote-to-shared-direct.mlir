// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where warps copy past registers, rings of several slots are filled so, and
// rows are permuted in them: chunks of 16 bytes of what is summed over along
// rows, and of 64 of what is read as columns. One slot is padded, and so are
// rows that are read as columns.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(attune-attach-target{chip=gfx950},gpu.module(gpu.func(tile-promote-to-shared)))" | FileCheck %s

!q = !tile.tile<128x64xbf16, registers>
!k = !tile.tile<32x64xbf16, registers>
!s = !tile.tile<128x32xf32, registers>
!p = !tile.tile<128x32xbf16, registers>
!o = !tile.tile<128x64xf32, registers>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @attention
  // CHECK: %[[K:.+]] = tile.channel : <32x64xbf16, stages = 2, chunk = 8>
  // CHECK: %[[V:.+]] = tile.channel : <32x64xbf16, stages = 3, chunk = 32>
  // CHECK: scf.for %[[I:[^ ]+]] =
  // CHECK:   tile.put %[[K]][%[[I]]], %{{.+}}[%[[I]], %c0] in_bounds
  // CHECK:   tile.get %[[K]][%[[I]]] : {{.*}} -> <32x64xbf16, shared, #tile.swizzle<vector = 8, bits = 3, shift = 1>>
  // CHECK:   tile.put %[[V]][%[[I]]], %{{.+}}[%[[I]], %c0] :
  // CHECK:   tile.get %[[V]][%[[I]]] : {{.*}} -> <32x64xbf16, shared, #tile.swizzle<vector = 32, bits = 1, shift = 1>>
  gpu.func @attention(%q: !q, %km: memref<?x64xbf16>, %p: !p, %zero: !s, %none: !o, %n: index) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%o = %none) -> !o {
      %k = tile.load %km[%i, %c0] in_bounds stages 2 : memref<?x64xbf16> -> !k
      %s = tile.mma %q, %k, %zero transpose_rhs : !q, !k, !s
      %v = tile.load %km[%i, %c0] stages 3 : memref<?x64xbf16> -> !k
      %next = tile.mma %p, %v, %o : !p, !k, !o
      scf.yield %next : !o
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @one_slot
  // CHECK: tile.channel : <32x64xbf16, stages = 1, padding = 8>
  // CHECK: tile.channel : <32x64xbf16, stages = 1, padding = 32>
  // CHECK-NOT: tile.put %
  gpu.func @one_slot(%q: !q, %km: memref<?x64xbf16>, %p: !p, %zero: !s, %none: !o, %n: index) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%o = %none) -> !o {
      %k = tile.load %km[%i, %c0] stages 1 : memref<?x64xbf16> -> !k
      %s = tile.mma %q, %k, %zero transpose_rhs : !q, !k, !s
      %v = tile.load %km[%i, %c0] stages 1 : memref<?x64xbf16> -> !k
      %next = tile.mma %p, %v, %o : !p, !k, !o
      scf.yield %next : !o
    }
    gpu.return
  }

  // Rows that start anywhere, and pieces that are fewer than threads, pass
  // through registers.
  // CHECK-LABEL: gpu.func @no_pieces
  // CHECK: tile.channel : <32x64xbf16, stages = 2, padding = 8>
  // CHECK-NOT: tile.put %
  gpu.func @no_pieces(%q: !q, %km: memref<?x64xbf16, strided<[100, 1]>>, %zero: !s, %n: index) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%o = %zero) -> !s {
      %k = tile.load %km[%i, %c0] stages 2 : memref<?x64xbf16, strided<[100, 1]>> -> !k
      %s = tile.mma %q, %k, %o transpose_rhs : !q, !k, !s
      scf.yield %s : !s
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @few_pieces
  // CHECK: tile.channel : <32x64xbf16, stages = 2, padding = 8>
  // CHECK-NOT: tile.put %
  gpu.func @few_pieces(%q: !q, %km: memref<?x64xbf16>, %zero: !s, %n: index) kernel
      attributes {known_block_size = array<i32: 512, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%o = %zero) -> !s {
      %k = tile.load %km[%i, %c0] stages 2 : memref<?x64xbf16> -> !k
      %s = tile.mma %q, %k, %o transpose_rhs : !q, !k, !s
      scf.yield %s : !s
    }
    gpu.return
  }
}
