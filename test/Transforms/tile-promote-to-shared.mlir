// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Channels between loads and the MMAs that use them.
//
// RUN: attune-opt %s --split-input-file --pass-pipeline="builtin.module(gpu.module(gpu.func(tile-promote-to-shared)))" | FileCheck %s

!q = !tile.tile<64x32xf16, registers>
!k = !tile.tile<16x32xf16, registers>
!v = !tile.tile<16x32xf16, registers>
!s = !tile.tile<64x16xf32, registers>
!p = !tile.tile<64x16xf16, registers>
!o = !tile.tile<64x32xf32, registers>

gpu.module @kernels {
  // The query is read into registers once; keys and values are multiplied from
  // shared memory, with the slots that each asks for.
  // CHECK-LABEL: gpu.func @attention
  // CHECK-SAME:    %[[QM:[^ ]+]]: memref<64x32xf16>, %[[KM:[^ ]+]]: memref<?x32xf16>, %[[VM:[^ ]+]]: memref<?x32xf16>
  gpu.func @attention(%qm: memref<64x32xf16>, %km: memref<?x32xf16>, %vm: memref<?x32xf16>, %n: index, %p: !p, %zero: !s, %acc: !o) kernel {
    // CHECK: %[[C0:.+]] = arith.constant 0
    // CHECK: %[[QC:.+]] = tile.channel : <64x32xf16, stages = 1>
    // CHECK: tile.put %[[QC]][%[[E:.+]]], %[[QM]]
    // CHECK: %[[QS:.+]] = tile.get %[[QC]][%[[E]]]
    // CHECK: %[[Q:.+]] = tile.read %[[QS]]
    // CHECK: tile.release %[[QC]][%[[E]]]
    // CHECK: %[[KC:.+]] = tile.channel : <16x32xf16, stages = 2>
    // CHECK: %[[VC:.+]] = tile.channel : <16x32xf16, stages = 3>
    // CHECK: scf.for %[[I:[^ ]+]] =
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %q = tile.load %qm[%c0, %c0] stages 1 read_once : memref<64x32xf16> -> !q
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %acc) -> !o {
      // CHECK: tile.put %[[KC]][%[[I]]], %[[KM]][%[[I]], %[[C0]]] in_bounds
      // CHECK: %[[K:.+]] = tile.get %[[KC]][%[[I]]]
      // CHECK: tile.mma %[[Q]], %[[K]], %{{.+}} transpose_rhs
      // CHECK: tile.release %[[KC]][%[[I]]]
      %k = tile.load %km[%i, %c0] in_bounds stages 2 : memref<?x32xf16> -> !k
      %s = tile.mma %q, %k, %zero transpose_rhs : !q, !k, !s
      // CHECK: tile.put %[[VC]][%[[I]]], %[[VM]][%[[I]], %[[C0]]] eviction last :
      // CHECK: %[[V:.+]] = tile.get %[[VC]][%[[I]]]
      // CHECK: tile.mma %{{.+}}, %[[V]], %{{[^ ]+}} :
      // CHECK: tile.release %[[VC]][%[[I]]]
      %v = tile.load %vm[%i, %c0] stages 3 eviction last : memref<?x32xf16> -> !v
      %b = tile.mma %p, %v, %a : !p, !v, !o
      scf.yield %b : !o
    }
    // CHECK-NOT: tile.load
    gpu.return
  }

  // A tile that no MMA multiplies is read from its slot, which is free then.
  // CHECK-LABEL: gpu.func @no_multiply
  // CHECK: %[[C:.+]] = tile.channel : <16x32xf16, stages = 3>
  // CHECK: scf.for %[[I:[^ ]+]] =
  // CHECK:   tile.put %[[C]][%[[I]]]
  // CHECK:   %[[S:.+]] = tile.get %[[C]][%[[I]]]
  // CHECK:   %[[R:.+]] = tile.read %[[S]]
  // CHECK:   tile.release %[[C]][%[[I]]]
  // CHECK:   tile.store %[[R]]
  // CHECK-NOT: tile.load
  gpu.func @no_multiply(%km: memref<?x32xf16>, %om: memref<?x32xf16>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      %k = tile.load %km[%i, %c0] stages 3 : memref<?x32xf16> -> !k
      tile.store %k, %om[%i, %c0] : !k, memref<?x32xf16>
    }
    gpu.return
  }

  // What is multiplied and used otherwise, too, stays until both are done.
  // CHECK-LABEL: gpu.func @both
  // CHECK: %[[S:.+]] = tile.get %[[C:.+]][%[[E:.+]]]
  // CHECK: %[[R:.+]] = tile.read %[[S]]
  // CHECK-NOT: tile.release
  // CHECK: tile.mma %{{.+}}, %[[S]]
  // CHECK-NEXT: tile.release %[[C]][%[[E]]]
  // CHECK: tile.store %[[R]]
  gpu.func @both(%q: !q, %km: memref<?x32xf16>, %om: memref<?x32xf16>, %zero: !s) kernel {
    %c0 = arith.constant 0 : index
    %k = tile.load %km[%c0, %c0] stages 1 : memref<?x32xf16> -> !k
    %s = tile.mma %q, %k, %zero transpose_rhs : !q, !k, !s
    tile.store %k, %om[%c0, %c0] : !k, memref<?x32xf16>
    gpu.return
  }

  // A workgroup that computes one tile after the other counts elements over all
  // of them: queries by the tile, keys by the block.
  // CHECK-LABEL: gpu.func @persistent
  // CHECK:     %[[QC:.+]] = tile.channel : <64x32xf16, stages = 2>
  // CHECK:     %[[KC:.+]] = tile.channel : <16x32xf16, stages = 2>
  // CHECK:     scf.for %{{.+}} iter_args(%[[QN:.+]] = %{{.+}}, %[[KN:.+]] = %{{.+}}) -> (index, index)
  // CHECK:       tile.put %[[QC]][%[[QN]]]
  // CHECK:       tile.get %[[QC]][%[[QN]]]
  // CHECK:       scf.for %[[I:[^ ]+]] = %{{.+}} to %[[N:[^ ]+]] step
  // CHECK:         %[[E:.+]] = arith.addi %[[KN]], %[[I]]
  // CHECK:         tile.put %[[KC]][%[[E]]]
  // CHECK:         tile.get %[[KC]][%[[E]]]
  // CHECK:         tile.release %[[KC]][%[[E]]]
  // CHECK:       tile.release %[[QC]][%[[QN]]]
  // CHECK:       %[[QNEXT:.+]] = arith.addi %[[QN]], %{{.+}}
  // CHECK:       %[[KNEXT:.+]] = arith.addi %[[KN]], %[[N]]
  // CHECK:       scf.yield %[[QNEXT]], %[[KNEXT]]
  gpu.func @persistent(%qm: memref<64x32xf16>, %km: memref<?x32xf16>, %tiles: index, %own: index, %grid: index, %n: index, %zero: !s) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %t = %own to %tiles step %grid {
      %q = tile.load %qm[%c0, %c0] stages 2 : memref<64x32xf16> -> !q
      scf.for %i = %c0 to %n step %c1 {
        %k = tile.load %km[%i, %c0] stages 2 : memref<?x32xf16> -> !k
        %s = tile.mma %q, %k, %zero transpose_rhs : !q, !k, !s
      }
    }
    gpu.return
  }

  // A query that stays in shared memory is released behind the loop that reads it.
  // CHECK-LABEL: gpu.func @query_in_shared
  gpu.func @query_in_shared(%qm: memref<64x32xf16>, %n: index, %k: !k, %zero: !s) kernel {
    // CHECK: %[[QC:.+]] = tile.channel : <64x32xf16, stages = 1>
    // CHECK: %[[QS:.+]] = tile.get %[[QC]]
    // CHECK-NOT: tile.release
    // CHECK: scf.for
    // CHECK:   tile.mma %[[QS]]
    // CHECK: }
    // CHECK: tile.release %[[QC]]
    // CHECK-NOT: tile.read
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %q = tile.load %qm[%c0, %c0] stages 1 : memref<64x32xf16> -> !q
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero) -> !s {
      %s = tile.mma %q, %k, %a transpose_rhs : !q, !k, !s
      scf.yield %s : !s
    }
    gpu.return
  }

  // An accumulator is read from its slot, as is what is stored.
  // CHECK-LABEL: gpu.func @other_uses
  gpu.func @other_uses(%qm: memref<64x32xf16>, %am: memref<64x16xf32>, %k: !k) kernel {
    // CHECK-NOT: tile.load
    // CHECK: %[[Q:.+]] = tile.read
    // CHECK: %[[ACC:.+]] = tile.read
    // CHECK-NEXT: tile.release
    // CHECK: tile.mma %[[Q]], %{{.+}}, %[[ACC]]
    // CHECK: tile.store %[[Q]]
    %c0 = arith.constant 0 : index
    %q = tile.load %qm[%c0, %c0] stages 1 read_once : memref<64x32xf16> -> !q
    %acc = tile.load %am[%c0, %c0] stages 1 : memref<64x16xf32> -> !s
    %s = tile.mma %q, %k, %acc transpose_rhs : !q, !k, !s
    tile.store %q, %qm[%c0, %c0] : !q, memref<64x32xf16>
    gpu.return
  }

  // A put is of the role that the load names.
  // CHECK-LABEL: gpu.func @role
  // CHECK: tile.put %{{.+}} in_bounds role "load_k" :
  // CHECK: tile.put %{{.+}}] :
  gpu.func @role(%km: memref<16x32xf16>, %vm: memref<16x32xf16>, %q: !q, %p: !p, %zero: !s, %acc: !o) kernel {
    %c0 = arith.constant 0 : index
    %k = tile.load %km[%c0, %c0] in_bounds stages 1 role "load_k" : memref<16x32xf16> -> !k
    %s = tile.mma %q, %k, %zero transpose_rhs : !q, !k, !s
    %v = tile.load %vm[%c0, %c0] stages 1 : memref<16x32xf16> -> !v
    %o = tile.mma %p, %v, %acc : !p, !v, !o
    gpu.return
  }

  // CHECK-LABEL: gpu.func @no_stages
  gpu.func @no_stages(%qm: memref<64x32xf16>, %k: !k, %zero: !s) kernel {
    // CHECK-NOT: tile.channel
    // CHECK: tile.load
    %c0 = arith.constant 0 : index
    %q = tile.load %qm[%c0, %c0] : memref<64x32xf16> -> !q
    %s = tile.mma %q, %k, %zero transpose_rhs : !q, !k, !s
    gpu.return
  }
}

// -----

// MMAs of several warps read swizzle atoms: as wide as the copy engine's TMA boxes
// are, or as divides the rows. Elements count from 0, wherever the loop starts.
!q = !tile.tile<64x96xf16, registers>
!k = !tile.tile<16x96xf16, registers>
!s = !tile.tile<64x16xf32, registers>
module attributes {tile.target = #tile.target<
  chip = "toy", family = "Toy", lanes = 32, sms = 1, shared = 65536, shared_per_sm = 65536, registers = 255,
  registers_per_sm = 65536, max_threads = 1024, max_threads_per_sm = 1024, copy_sync = none, copy_widths = [],
  tma_box_bytes = 128, mma = []>} {
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @swizzle_atoms
  // CHECK-SAME:    %[[LO:[^ ]+]]: index
  // CHECK: tile.channel : <64x96xf16, stages = 1, swizzle_atom = 32>
  // CHECK: %[[KC:.+]] = tile.channel : <16x96xf16, stages = 2, swizzle_atom = 32>
  // CHECK: scf.for %[[I:.+]] = %[[LO]]
  // CHECK:   %[[E:.+]] = arith.subi %[[I]], %[[LO]]
  // CHECK:   tile.put %[[KC]][%[[E]]], %{{.+}}[%[[I]], %c0]
  // CHECK:   %[[K:.+]] = tile.get %[[KC]][%[[E]]] : {{.*}} -> <16x96xf16, shared, #tile.swizzle<vector = 8, bits = 2, shift = 1, swizzle_atom = 32>>
  // CHECK:   tile.mma %{{.+}}, %[[K]]
  // CHECK:   tile.release %[[KC]][%[[E]]]
  gpu.func @swizzle_atoms(%lo: index, %n: index, %qm: memref<64x96xf16>, %km: memref<?x96xf16>, %zero: !s) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %q = tile.load %qm[%c0, %c0] stages 1 : memref<64x96xf16> -> !q
    %r = scf.for %i = %lo to %n step %c1 iter_args(%a = %zero) -> !s {
      %k = tile.load %km[%i, %c0] stages 2 : memref<?x96xf16> -> !k
      %s = tile.mma %q, %k, %a transpose_rhs scope warpgroup : !q, !k, !s
      scf.yield %s : !s
    }
    gpu.return
  }

  // What is multiplied with itself is loaded for each side: the one stays in
  // registers.
  // CHECK-LABEL: gpu.func @itself
  // CHECK: %[[K:.+]] = tile.get {{.*}} -> <16x64xf16, shared
  // CHECK: %[[SHARED:.+]] = tile.get
  // CHECK: %[[Q:.+]] = tile.read %[[SHARED]]
  // CHECK: tile.mma %[[Q]], %[[K]],
  gpu.func @itself(%m: memref<?x64xf16>, %zero: !tile.tile<16x16xf32, registers>) kernel {
    %c0 = arith.constant 0 : index
    %x = tile.load %m[%c0, %c0] stages 2 read_once : memref<?x64xf16> -> !tile.tile<16x64xf16, registers>
    %s = tile.mma %x, %x, %zero transpose_rhs : !tile.tile<16x64xf16, registers>, !tile.tile<16x64xf16, registers>, !tile.tile<16x16xf32, registers>
    gpu.return
  }

  // A row of numbers comes by the copy engine, unpermuted. It is asked for where it stood, read where it is used, and released last.
  // CHECK-LABEL: gpu.func @numbers
  // CHECK-SAME:    %[[M:[^ ]+]]: memref<4x?xf32>
  // CHECK: %[[C:.+]] = tile.channel : <1x64xf32, stages = 2, swizzle_atom = 64>
  // CHECK: scf.for %[[I:[^ ]+]] =
  // CHECK-NEXT: tile.put %[[C]][%[[I]]], %[[M]][%{{.+}}, %[[I]]]
  // CHECK-NEXT: %[[ROW:.+]] = tile.get %[[C]][%[[I]]] : <1x64xf32, stages = 2, swizzle_atom = 64> -> <1x64xf32, shared, #tile.swizzle<vector = 4, bits = 0, shift = 0, swizzle_atom = 64>>
  // CHECK-NEXT: %[[X:.+]] = tile.fill
  // CHECK-NEXT: %[[READ:.+]] = tile.read %[[ROW]] : {{.*}} -> <64xf32, registers>
  // CHECK-NEXT: tile.broadcast %[[READ]]
  // CHECK-NEXT: tile.fill
  // CHECK-NEXT: tile.release %[[C]][%[[I]]]
  // CHECK-NEXT: }
  gpu.func @numbers(%m: memref<4x?xf32>, %head: index, %n: index, %f: f32) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      %row = tile.load %m[%head, %i] stages 2 : memref<4x?xf32> -> !tile.tile<64xf32, registers>
      %x = tile.fill %f : f32 -> !tile.tile<64x64xf32, registers>
      %y = tile.broadcast %row dim 1 : !tile.tile<64xf32, registers> -> !tile.tile<64x64xf32, registers>
      %z = tile.fill %f : f32 -> !tile.tile<64x64xf32, registers>
    }
    gpu.return
  }

  // So is what arithmetic alone reads of the tiles of a role that loads, where it begins; its slot is free before that.
  // CHECK-LABEL: gpu.func @of_arithmetic
  // CHECK:      %[[C:.+]] = tile.channel : <64x64xf16, stages = 1, swizzle_atom = 64>
  // CHECK:      tile.put %[[C]][%[[I:.+]]], %{{.+}}[%[[I]], %{{.+}}]
  // CHECK-NEXT: %[[X:.+]] = tile.fill
  // CHECK-NEXT: %[[TILE:.+]] = tile.get %[[C]][%[[I]]]
  // CHECK-NEXT: %[[READ:.+]] = tile.read %[[TILE]] : {{.*}} -> <64x64xf16, registers>
  // CHECK-NEXT: tile.release %[[C]][%[[I]]]
  // CHECK-NEXT: tile.map(%[[X]], %[[READ]]) {
  gpu.func @of_arithmetic(%m: memref<?x?xf16, strided<[64, 1]>>, %n: index, %f: f32) kernel
      attributes {tile.roles = [#tile.role<"compute", warps = 4, registers = 160>, #tile.role<"load", warps = 4, registers = 32, threads = one>]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      %b = tile.load %m[%i, %c0] stages 1 : memref<?x?xf16, strided<[64, 1]>> -> !tile.tile<64x64xf16, registers>
      %x = tile.fill %f : f32 -> !tile.tile<64x64xf32, registers>
      %y = tile.map(%x, %b) {
      ^bb0(%s: f32, %t: f16, %r: index, %c: index):
        %e = arith.extf %t : f16 to f32
        %z = arith.addf %s, %e : f32
        tile.yield %z : f32
      } : (!tile.tile<64x64xf32, registers>, !tile.tile<64x64xf16, registers>) -> !tile.tile<64x64xf32, registers>
    }
    gpu.return
  }

  // A head of 64 columns is one swizzle atom.
  // CHECK-LABEL: gpu.func @one_swizzle_atom
  // CHECK: tile.channel : <16x64xf16, stages = 1, swizzle_atom = 64>
  gpu.func @one_swizzle_atom(%q: !tile.tile<64x64xf16, registers>, %km: memref<?x64xf16>, %zero: !s) kernel {
    %c0 = arith.constant 0 : index
    %k = tile.load %km[%c0, %c0] stages 2 : memref<?x64xf16> -> !tile.tile<16x64xf16, registers>
    %s = tile.mma %q, %k, %zero transpose_rhs scope warpgroup : !tile.tile<64x64xf16, registers>, !tile.tile<16x64xf16, registers>, !s
    gpu.return
  }
}
}
