// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles that are computed, in shared memory: weights that are multiplied, and outputs that are stored.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(attune-attach-target{chip=sm_90a},gpu.module(gpu.func(tile-promote-to-shared)))" | FileCheck %s

!q = !tile.tile<64x32xf16, registers>
!k = !tile.tile<16x32xf16, registers>
!s = !tile.tile<64x16xf32, registers>
!p = !tile.tile<64x16xf16, registers>
!o = !tile.tile<64x32xf16, registers>
!square = !tile.tile<64x64xf16, registers>
!sums = !tile.tile<64x64xf32, registers>
!view = memref<?x32xf16, strided<[32, 1], offset: ?>>

gpu.module @kernels {
  // Weights are written where they are computed, to a buffer in swizzle atoms like a slot's. Operands that are there already stay.
  // CHECK-LABEL: gpu.func @weights
  // CHECK: %[[PLACE:.+]] = tile.buffer : <64x16xf16, shared, #tile.swizzle<vector = 8, bits = 1, shift = 2, swizzle_atom = 16>>
  // CHECK: %[[P:.+]] = tile.fill
  // CHECK-NEXT: tile.write %[[P]], %[[PLACE]]
  // CHECK-NOT: tile.buffer
  // CHECK: %[[V:.+]] = tile.get
  // CHECK: tile.mma %[[PLACE]], %[[V]], %{{.+}} scope warpgroup :
  gpu.func @weights(%vm: memref<16x32xf16>, %x: f16, %acc: !tile.tile<64x32xf32, registers>, %out: memref<64x32xf32>) kernel {
    %c0 = arith.constant 0 : index
    %p = tile.fill %x : f16 -> !p
    %v = tile.load %vm[%c0, %c0] stages 2 : memref<16x32xf16> -> !k
    %o = tile.mma %p, %v, %acc scope warpgroup lhs_through_shared : !p, !k, !tile.tile<64x32xf32, registers>
    tile.store %o, %out[%c0, %c0] : !tile.tile<64x32xf32, registers>, memref<64x32xf32>
    gpu.return
  }

  // What all warps read is written in front of a barrier, by turns to two places. What is added to memory leaves from a buffer as an
  // output does.
  // CHECK-LABEL: gpu.func @transposed
  // CHECK: %[[SUMS:.+]] = tile.buffer : <16x32xf32, shared, #tile.swizzle<vector = 4, bits = 3, shift = 0, swizzle_atom = 32>>
  // CHECK-DAG: %[[EVEN:.+]] = tile.buffer : <64x16xf16, shared, #tile.swizzle<vector = 8, bits = 1, shift = 2, swizzle_atom = 16>>
  // CHECK-DAG: %[[ODD:.+]] = tile.buffer : <64x16xf16, shared, #tile.swizzle<vector = 8, bits = 1, shift = 2, swizzle_atom = 16>>
  // CHECK: scf.for %[[I:[^ ]+]] =
  // CHECK: %[[P:.+]] = tile.fill
  // CHECK-NOT: tile.barrier
  // CHECK: %[[PLACE:.+]] = tile.alternate %[[I]], %{{.+}}, %{{.+}} :
  // CHECK-NEXT: tile.write %[[P]], %[[PLACE]]
  // CHECK-NEXT: tile.barrier
  // CHECK: %[[O:.+]] = tile.mma %[[PLACE]], %{{.+}}, %{{.+}} transpose_lhs scope warpgroup :
  // CHECK-NEXT: tile.wait_reads
  // CHECK-NEXT: tile.write %[[O]], %[[SUMS]]
  // CHECK-NEXT: tile.store_async %[[SUMS]], %{{.+}} accumulate :
  gpu.func @transposed(%vm: memref<64x32xf16>, %x: f16, %acc: !tile.tile<16x32xf32, registers>, %out: memref<16x32xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c9 = arith.constant 9 : index
    %v = tile.load %vm[%c0, %c0] stages 1 : memref<64x32xf16> -> !q
    scf.for %i = %c0 to %c9 step %c1 {
      %p = tile.fill %x : f16 -> !p
      %o = tile.mma %p, %v, %acc transpose_lhs scope warpgroup lhs_through_shared : !p, !q, !tile.tile<16x32xf32, registers>
      tile.store %o, %out[%c0, %c0] accumulate path buffer : !tile.tile<16x32xf32, registers>, memref<16x32xf32>
    }
    gpu.return
  }

  // What is added in turns is handed over to a role that waits, and goes on when the slot has been read.
  // CHECK-LABEL: gpu.func @ordered
  // CHECK: %[[SUMS:.+]] = tile.channel : <16x32xf32, stages = 2, swizzle_atom = 32>
  // CHECK: scf.for %[[I:[^ ]+]] =
  // CHECK: %[[O:.+]] = tile.mma
  // CHECK-NEXT: tile.put_tile %[[SUMS]][%[[I]]], %[[O]]
  // CHECK-NEXT: tile.ordered %{{.+}}[%[[I]]] turn %{{.+}} of %{{.+}} role "store" {
  // CHECK-NEXT:   %[[PUT:.+]] = tile.get %[[SUMS]][%[[I]]]
  // CHECK-NEXT:   %[[STORED:.+]] = tile.store_async %[[PUT]], %{{.+}} accumulate :
  // CHECK-NEXT:   tile.wait_reads %[[STORED]]
  // CHECK-NEXT:   tile.release %[[SUMS]][%[[I]]]
  // CHECK-NEXT: }
  gpu.func @ordered(%vm: memref<64x32xf16>, %x: f16, %acc: !tile.tile<16x32xf32, registers>, %out: memref<16x32xf32>, %turns: memref<?xi32>, %turn: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c9 = arith.constant 9 : index
    %v = tile.load %vm[%c0, %c0] stages 1 : memref<64x32xf16> -> !q
    scf.for %i = %c0 to %c9 step %c1 {
      %p = tile.fill %x : f16 -> !p
      %o = tile.mma %p, %v, %acc transpose_lhs scope warpgroup lhs_through_shared : !p, !q, !tile.tile<16x32xf32, registers>
      tile.ordered %turns[%i] turn %turn of %c9 role "store" {
        tile.store %o, %out[%c0, %c0] accumulate path buffer stages 2 : !tile.tile<16x32xf32, registers>, memref<16x32xf32>
      } : memref<?xi32>
    }
    gpu.return
  }

  // So is what a role of one thread adds in no order, by a ring of one slot where nothing is said.
  // CHECK-LABEL: gpu.func @stored_by_one
  // CHECK: %[[SUMS:.+]] = tile.channel : <16x32xf32, stages = 1, swizzle_atom = 32>
  // CHECK: scf.for %[[I:[^ ]+]] =
  // CHECK: %[[O:.+]] = tile.mma
  // CHECK-NEXT: tile.put_tile %[[SUMS]][%[[I]]], %[[O]]
  // CHECK-NEXT: %[[PUT:.+]] = tile.get %[[SUMS]][%[[I]]]
  // CHECK-NEXT: %[[STORED:.+]] = tile.store_async %[[PUT]], %{{.+}} accumulate role "store" :
  // CHECK-NEXT: tile.wait_reads %[[STORED]]
  // CHECK-NEXT: tile.release %[[SUMS]][%[[I]]]
  gpu.func @stored_by_one(%vm: memref<64x32xf16>, %x: f16, %acc: !tile.tile<16x32xf32, registers>, %out: memref<16x32xf32>) kernel attributes {tile.roles = [
      #tile.role<"compute", warps = 4>, #tile.role<"load", warps = 2, threads = one>, #tile.role<"store", warps = 2, threads = one>]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c9 = arith.constant 9 : index
    %v = tile.load %vm[%c0, %c0] stages 1 : memref<64x32xf16> -> !q
    scf.for %i = %c0 to %c9 step %c1 {
      %p = tile.fill %x : f16 -> !p
      %o = tile.mma %p, %v, %acc transpose_lhs scope warpgroup lhs_through_shared : !p, !q, !tile.tile<16x32xf32, registers>
      tile.store %o, %out[%c0, %c0] accumulate path buffer role "store" : !tile.tile<16x32xf32, registers>, memref<16x32xf32>
    }
    gpu.return
  }

  // A view of the only head, of which a cast forgets where it begins, ends where its tensor does all the same.
  // CHECK-LABEL: gpu.func @only_head
  // CHECK: %[[HEAD:.+]] = memref.cast
  // CHECK: %[[O:.+]] = tile.mma
  // CHECK: tile.write %[[O]], %[[SUMS:[^ ]+]] :
  // CHECK-NEXT: tile.store_async %[[SUMS]], %[[HEAD]]{{.*}} accumulate :
  gpu.func @only_head(%vm: memref<64x32xf16>, %x: f16, %acc: !tile.tile<16x32xf32, registers>, %out: memref<1x16x32xf32>) kernel {
    %c0 = arith.constant 0 : index
    %subview = memref.subview %out[0, 0, 0] [1, 16, 32] [1, 1, 1] : memref<1x16x32xf32> to memref<16x32xf32, strided<[32, 1]>>
    %head = memref.cast %subview : memref<16x32xf32, strided<[32, 1]>> to memref<16x32xf32, strided<[32, 1], offset: ?>>
    %v = tile.load %vm[%c0, %c0] stages 1 : memref<64x32xf16> -> !q
    %p = tile.fill %x : f16 -> !p
    %o = tile.mma %p, %v, %acc transpose_lhs scope warpgroup lhs_through_shared : !p, !q, !tile.tile<16x32xf32, registers>
    tile.store %o, %head[%c0, %c0] accumulate path buffer : !tile.tile<16x32xf32, registers>, memref<16x32xf32, strided<[32, 1], offset: ?>>
    gpu.return
  }

  // What is there in front of the first of them is written in front of one barrier, and once where several read it. The product that ends in the turn
  // lets all take turns.
  // CHECK-LABEL: gpu.func @together
  // CHECK: scf.for
  // CHECK: %[[P:.+]] = tile.fill
  // CHECK-NEXT: %[[G:.+]] = tile.fill
  // CHECK-NEXT: %[[PLACEP:.+]] = tile.alternate
  // CHECK-NEXT: tile.write %[[P]], %[[PLACEP]]
  // CHECK-NEXT: %[[PLACEG:.+]] = tile.alternate
  // CHECK-NEXT: tile.write %[[G]], %[[PLACEG]]
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.mma %[[PLACEP]]
  // CHECK-NEXT: tile.mma %[[PLACEG]], %{{.+}} transpose_lhs
  // CHECK-NEXT: tile.mma %[[PLACEG]]
  // CHECK-NOT: tile.barrier
  // CHECK: scf.yield
  gpu.func @together(%vm: memref<64x64xf16>, %x: f16, %zero: !tile.tile<64x64xf32, registers>, %out: memref<64x64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c9 = arith.constant 9 : index
    %v = tile.load %vm[%c0, %c0] stages 1 : memref<64x64xf16> -> !tile.tile<64x64xf16, registers>
    %sums:2 = scf.for %i = %c0 to %c9 step %c1 iter_args(%a = %zero, %b = %zero) -> (!tile.tile<64x64xf32, registers>, !tile.tile<64x64xf32, registers>) {
      %p = tile.fill %x : f16 -> !tile.tile<64x64xf16, registers>
      %g = tile.fill %x : f16 -> !tile.tile<64x64xf16, registers>
      %first = tile.mma %p, %v, %a scope warpgroup warps_n 2 lhs_through_shared : !tile.tile<64x64xf16, registers>, !tile.tile<64x64xf16, registers>, !tile.tile<64x64xf32, registers>
      %part = tile.mma %g, %v, %zero transpose_lhs scope warpgroup warps_n 2 lhs_through_shared : !tile.tile<64x64xf16, registers>, !tile.tile<64x64xf16, registers>, !tile.tile<64x64xf32, registers>
      %second = tile.mma %g, %v, %b scope warpgroup warps_n 2 lhs_through_shared : !tile.tile<64x64xf16, registers>, !tile.tile<64x64xf16, registers>, !tile.tile<64x64xf32, registers>
      tile.store %part, %out[%c0, %c0] accumulate : !tile.tile<64x64xf32, registers>, memref<64x64xf32>
      scf.yield %first, %second : !tile.tile<64x64xf32, registers>, !tile.tile<64x64xf32, registers>
    }
    tile.store %sums#0, %out[%c0, %c0] : !tile.tile<64x64xf32, registers>, memref<64x64xf32>
    gpu.return
  }

  // So does the product that a turn begins with, which it waits for, where MMAs stay in their order.
  // CHECK-LABEL: gpu.func @begins
  // CHECK: scf.for
  // CHECK: %[[SCORES:.+]] = tile.mma
  // CHECK: %[[P:.+]] = tile.map(%[[SCORES]])
  // CHECK: %[[PLACE:.+]] = tile.alternate
  // CHECK-NEXT: tile.write %[[P]], %[[PLACE]]
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.mma %[[PLACE]]
  // CHECK-NOT: tile.barrier
  // CHECK: scf.yield
  gpu.func @begins(%vm: memref<64x64xf16>, %zero: !tile.tile<64x64xf32, registers>, %out: memref<64x64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c9 = arith.constant 9 : index
    %v = tile.load %vm[%c0, %c0] stages 1 : memref<64x64xf16> -> !tile.tile<64x64xf16, registers>
    %sum = scf.for %i = %c0 to %c9 step %c1 iter_args(%a = %zero) -> !tile.tile<64x64xf32, registers> {
      %scores = tile.mma %v, %v, %zero scope warpgroup warps_n 2 : !tile.tile<64x64xf16, registers>, !tile.tile<64x64xf16, registers>, !tile.tile<64x64xf32, registers>
      %p = tile.map(%scores) {
      ^bb0(%score: f32, %row: index, %column: index):
        %weight = arith.truncf %score : f32 to f16
        tile.yield %weight : f16
      } : (!tile.tile<64x64xf32, registers>) -> !tile.tile<64x64xf16, registers>
      %next = tile.mma %p, %v, %a scope warpgroup warps_n 2 lhs_through_shared : !tile.tile<64x64xf16, registers>, !tile.tile<64x64xf16, registers>, !tile.tile<64x64xf32, registers>
      scf.yield %next : !tile.tile<64x64xf32, registers>
    } {tile.defer_waits}
    tile.store %sum, %out[%c0, %c0] : !tile.tile<64x64xf32, registers>, memref<64x64xf32>
    gpu.return
  }

  // An MMA that may still run in the next turn reads one place, which is written between barriers.
  // CHECK-LABEL: gpu.func @carried
  // CHECK-NOT: tile.alternate
  // CHECK: scf.for
  // CHECK: %[[P:.+]] = tile.fill
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.write %[[P]], %[[PLACE:.+]] :
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.mma %[[PLACE]]
  gpu.func @carried(%vm: memref<64x32xf16>, %x: f16, %zero: !tile.tile<16x32xf32, registers>, %out: memref<16x32xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c9 = arith.constant 9 : index
    %v = tile.load %vm[%c0, %c0] stages 1 : memref<64x32xf16> -> !q
    %sum = scf.for %i = %c0 to %c9 step %c1 iter_args(%acc = %zero) -> !tile.tile<16x32xf32, registers> {
      %p = tile.fill %x : f16 -> !p
      %o = tile.mma %p, %v, %acc transpose_lhs scope warpgroup lhs_through_shared : !p, !q, !tile.tile<16x32xf32, registers>
      scf.yield %o : !tile.tile<16x32xf32, registers>
    }
    tile.store %sum, %out[%c0, %c0] : !tile.tile<16x32xf32, registers>, memref<16x32xf32>
    gpu.return
  }

  // Warpgroups multiply columns of 8 bits, in the order in which lanes hold weights: values go from their slot, which is free then, to
  // a channel of two stages. Keys are columns already.
  // CHECK-LABEL: gpu.func @columns
  // CHECK: %[[COLUMNS:.+]] = tile.channel : <32x64xf8E4M3FN, stages = 2, swizzle_atom = 64, paired = true>
  // CHECK: scf.for %[[I:[^ ]+]] =
  // CHECK: %[[K:.+]] = tile.get
  // CHECK-NEXT: tile.mma %{{.+}}, %[[K]], %{{.+}} transpose_rhs scope warpgroup :
  // CHECK-NEXT: tile.release
  // CHECK: %[[V:.+]] = tile.get %[[RING:[0-9a-z_]+]]
  // CHECK-NEXT: tile.restage %[[V]] into %[[COLUMNS]][%[[I]]] transposed :
  // CHECK-NEXT: tile.release %[[RING]][%[[I]]]
  // CHECK-NEXT: %[[PLACE:.+]] = tile.get %[[COLUMNS]][%[[I]]]
  // CHECK-NEXT: tile.mma %{{.+}}, %[[PLACE]], %{{.+}} transpose_rhs scope warpgroup :
  // CHECK-NEXT: tile.release %[[COLUMNS]][%[[I]]]
  // CHECK-NEXT: scf.yield
  gpu.func @columns(%km: memref<?x32xf8E4M3FN>, %q: !tile.tile<64x32xf8E4M3FN, registers>, %p: !tile.tile<64x64xf8E4M3FN, registers>, %s: !tile.tile<64x64xf32, registers>, %zero: !tile.tile<64x32xf32, registers>, %out: memref<64x32xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c9 = arith.constant 9 : index
    %sum = scf.for %i = %c0 to %c9 step %c1 iter_args(%acc = %zero) -> !tile.tile<64x32xf32, registers> {
      %k = tile.load %km[%i, %c0] stages 2 : memref<?x32xf8E4M3FN> -> !tile.tile<64x32xf8E4M3FN, registers>
      %n = tile.mma %q, %k, %s transpose_rhs scope warpgroup : !tile.tile<64x32xf8E4M3FN, registers>, !tile.tile<64x32xf8E4M3FN, registers>, !tile.tile<64x64xf32, registers>
      %v = tile.load %km[%i, %c0] stages 2 : memref<?x32xf8E4M3FN> -> !tile.tile<64x32xf8E4M3FN, registers>
      %o = tile.mma %p, %v, %acc scope warpgroup : !tile.tile<64x64xf8E4M3FN, registers>, !tile.tile<64x32xf8E4M3FN, registers>, !tile.tile<64x32xf32, registers>
      scf.yield %o : !tile.tile<64x32xf32, registers>
    }
    tile.store %sum, %out[%c0, %c0] : !tile.tile<64x32xf32, registers>, memref<64x32xf32>
    gpu.return
  }

  // Keys that are values as well are released when both have been multiplied; without a loop there is one stage. A role transposes where
  // one is named so.
  // CHECK-LABEL: gpu.func @keys_and_values
  // CHECK: %[[COLUMNS:.+]] = tile.channel : <32x64xf8E4M3FN, stages = 1, swizzle_atom = 64, paired = true>
  // CHECK: %[[K:.+]] = tile.get
  // CHECK-NEXT: tile.restage %[[K]] into %[[COLUMNS]][%{{.+}}] transposed role "restage"
  // CHECK-NEXT: %[[PLACE:.+]] = tile.get %[[COLUMNS]]
  // CHECK-NEXT: tile.mma %{{.+}}, %[[K]], %{{.+}} transpose_rhs
  // CHECK-NEXT: tile.mma %{{.+}}, %[[PLACE]],
  // CHECK-NEXT: tile.release
  // CHECK-NEXT: tile.release
  gpu.func @keys_and_values(%km: memref<?x32xf8E4M3FN>, %q: !tile.tile<64x32xf8E4M3FN, registers>, %p: !tile.tile<64x64xf8E4M3FN, registers>, %s: !tile.tile<64x64xf32, registers>, %acc: !tile.tile<64x32xf32, registers>, %out: memref<64x32xf32>) kernel attributes {tile.roles = [#tile.role<"compute", warps = 4>, #tile.role<"restage", warps = 3>, #tile.role<"load", warps = 1, threads = one>]} {
    %c0 = arith.constant 0 : index
    %k = tile.load %km[%c0, %c0] stages 2 : memref<?x32xf8E4M3FN> -> !tile.tile<64x32xf8E4M3FN, registers>
    %n = tile.mma %q, %k, %s transpose_rhs scope warpgroup : !tile.tile<64x32xf8E4M3FN, registers>, !tile.tile<64x32xf8E4M3FN, registers>, !tile.tile<64x64xf32, registers>
    %o = tile.mma %p, %k, %acc scope warpgroup : !tile.tile<64x64xf8E4M3FN, registers>, !tile.tile<64x32xf8E4M3FN, registers>, !tile.tile<64x32xf32, registers>
    tile.store %o, %out[%c0, %c0] : !tile.tile<64x32xf32, registers>, memref<64x32xf32>
    gpu.return
  }

  // Keys of fewer bits than queries are widened, by a role of its own, and values of two columns a byte.
  // CHECK-LABEL: gpu.func @wide
  // CHECK-DAG: %[[KEYS:.+]] = tile.channel : <64x32xf16, stages = 2, swizzle_atom = 32>
  // CHECK-DAG: %[[VALUES:.+]] = tile.channel : <64x64xf16, stages = 2, swizzle_atom = 64>
  // CHECK: scf.for %[[I:[^ ]+]] =
  // CHECK: %[[K:.+]] = tile.get %[[RING:[0-9a-z_]+]]{{.*}}xf8E4M3FN
  // CHECK-NEXT: tile.restage %[[K]] into %[[KEYS]][%[[I]]] role "restage" :
  // CHECK-NEXT: tile.release %[[RING]][%[[I]]]
  // CHECK-NEXT: %[[WIDE:.+]] = tile.get %[[KEYS]][%[[I]]]
  // CHECK-NEXT: tile.mma %{{.+}}, %[[WIDE]], %{{.+}} transpose_rhs scope warpgroup :
  // CHECK-NEXT: tile.release %[[KEYS]][%[[I]]]
  // CHECK: %[[V:.+]] = tile.get %[[PACKED:[0-9a-z_]+]]{{.*}}xi8
  // CHECK-NEXT: tile.restage %[[V]] into %[[VALUES]][%[[I]]] packed role "restage" :
  // CHECK-NEXT: tile.release %[[PACKED]][%[[I]]]
  // CHECK-NEXT: %[[UNPACKED:.+]] = tile.get %[[VALUES]][%[[I]]]
  // CHECK-NEXT: tile.mma %{{.+}}, %[[UNPACKED]], %{{.+}} scope warpgroup :
  // CHECK-NEXT: tile.release %[[VALUES]][%[[I]]]
  gpu.func @wide(%km: memref<?x32xf8E4M3FN>, %vm: memref<?x32xi8>, %q: !tile.tile<64x32xf16, registers>, %p: !tile.tile<64x64xf16, registers>, %s: !tile.tile<64x64xf32, registers>, %zero: !tile.tile<64x64xf32, registers>, %out: memref<64x64xf32>) kernel attributes {tile.roles = [#tile.role<"compute", warps = 4>, #tile.role<"restage", warps = 2>, #tile.role<"load", warps = 2, threads = one>]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c9 = arith.constant 9 : index
    %sum = scf.for %i = %c0 to %c9 step %c1 iter_args(%acc = %zero) -> !tile.tile<64x64xf32, registers> {
      %k = tile.load %km[%i, %c0] stages 2 : memref<?x32xf8E4M3FN> -> !tile.tile<64x32xf8E4M3FN, registers>
      %n = tile.mma %q, %k, %s transpose_rhs scope warpgroup : !tile.tile<64x32xf16, registers>, !tile.tile<64x32xf8E4M3FN, registers>, !tile.tile<64x64xf32, registers>
      %v = tile.load %vm[%i, %c0] stages 2 : memref<?x32xi8> -> !tile.tile<64x32xi8, registers>
      %o = tile.mma %p, %v, %acc packed_rhs scope warpgroup : !tile.tile<64x64xf16, registers>, !tile.tile<64x32xi8, registers>, !tile.tile<64x64xf32, registers>
      scf.yield %o : !tile.tile<64x64xf32, registers>
    }
    tile.store %sum, %out[%c0, %c0] : !tile.tile<64x64xf32, registers>, memref<64x64xf32>
    gpu.return
  }

  // Keys that are values as well are widened once, and released when both have been multiplied.
  // CHECK-LABEL: gpu.func @wide_keys_and_values
  // CHECK: %[[WIDE:.+]] = tile.channel : <64x32xf16, stages = 1, swizzle_atom = 32>
  // CHECK: tile.restage %{{.+}} into %[[WIDE]][%{{.+}}] :
  // CHECK-NEXT: tile.release
  // CHECK-NEXT: %[[PLACE:.+]] = tile.get %[[WIDE]]
  // CHECK-NEXT: tile.mma %{{.+}}, %[[PLACE]], %{{.+}} transpose_rhs
  // CHECK-NEXT: tile.mma %{{.+}}, %[[PLACE]],
  // CHECK-NEXT: tile.release %[[WIDE]]
  gpu.func @wide_keys_and_values(%km: memref<?x32xi8>, %q: !tile.tile<64x32xf16, registers>, %p: !tile.tile<64x64xf16, registers>, %s: !tile.tile<64x64xf32, registers>, %acc: !tile.tile<64x32xf32, registers>, %out: memref<64x32xf32>) kernel {
    %c0 = arith.constant 0 : index
    %k = tile.load %km[%c0, %c0] stages 2 : memref<?x32xi8> -> !tile.tile<64x32xi8, registers>
    %n = tile.mma %q, %k, %s transpose_rhs scope warpgroup : !tile.tile<64x32xf16, registers>, !tile.tile<64x32xi8, registers>, !tile.tile<64x64xf32, registers>
    %o = tile.mma %p, %k, %acc scope warpgroup : !tile.tile<64x64xf16, registers>, !tile.tile<64x32xi8, registers>, !tile.tile<64x32xf32, registers>
    tile.store %o, %out[%c0, %c0] : !tile.tile<64x32xf32, registers>, memref<64x32xf32>
    gpu.return
  }

  // The slot of the query is released when the output has left it; what else is stored comes in between.
  // CHECK-LABEL: gpu.func @in_slot
  // CHECK-SAME:    %[[QM:[^ ]+]]: memref<64x32xf16>, %{{.+}}, %[[OM:[^ ]+]]: memref<64x32xf16>, %[[LSE:[^ ]+]]: memref<64xf32>
  // CHECK-NOT: tile.buffer
  // CHECK: %[[QC:.+]] = tile.channel : <64x32xf16, stages = 1, swizzle_atom = 32>
  // CHECK: %[[Q:.+]] = tile.get %[[QC]][%[[E:.+]]]
  // CHECK: tile.mma %[[Q]]
  // CHECK-NOT: tile.release %[[QC]]
  // CHECK: tile.write %{{.+}}, %[[Q]]
  // CHECK-NEXT: %[[STORED:.+]] = tile.store_async %[[Q]], %[[OM]][%c0, %c0]
  // CHECK-NEXT: tile.store %{{.+}}, %[[LSE]]
  // CHECK-NEXT: tile.wait_reads %[[STORED]] : !tile.token
  // CHECK-NEXT: tile.release %[[QC]][%[[E]]]
  // CHECK-NEXT: gpu.return
  gpu.func @in_slot(%qm: memref<64x32xf16>, %km: memref<16x32xf16>, %om: memref<64x32xf16>, %lm: memref<64xf32>, %zero: !s, %o: !o, %l: !tile.tile<64xf32, registers>) kernel {
    %c0 = arith.constant 0 : index
    %q = tile.load %qm[%c0, %c0] stages 1 : memref<64x32xf16> -> !q
    %k = tile.load %km[%c0, %c0] stages 2 : memref<16x32xf16> -> !k
    %s = tile.mma %q, %k, %zero transpose_rhs scope warpgroup : !q, !k, !s
    tile.store %o, %om[%c0, %c0] path operand_slot : !o, memref<64x32xf16>
    tile.store %l, %lm[%c0] : !tile.tile<64xf32, registers>, memref<64xf32>
    gpu.return
  }

  // A buffer of its own is written when the tile before has left it, and has left it when the kernel ends.
  // CHECK-LABEL: gpu.func @persistent
  // CHECK: %[[PLACE:.+]] = tile.buffer : <64x32xf16, shared
  // CHECK: %[[NONE:.+]] = tile.done
  // CHECK: %[[LAST:.+]] = scf.for %[[T:[^ ]+]] = %{{.+}} iter_args(%[[BEFORE:.+]] = %[[NONE]]) -> (!tile.token)
  // CHECK:   %[[HEAD:.+]] = memref.subview
  // CHECK:   tile.wait_reads %[[BEFORE]] : !tile.token
  // CHECK-NEXT: tile.write %{{.+}}, %[[PLACE]]
  // CHECK-NEXT: %[[STORED:.+]] = tile.store_async %[[PLACE]], %[[HEAD]][%[[T]], %c0] eviction first :
  // CHECK-NEXT: scf.yield %[[STORED]] : !tile.token
  // CHECK-NEXT: }
  // CHECK-NEXT: tile.wait_reads %[[LAST]] : !tile.token
  // CHECK-NEXT: gpu.return
  gpu.func @persistent(%om: memref<2x?x32xf16>, %o: !o, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %grid = gpu.grid_dim x
    %rows = memref.dim %om, %c1 : memref<2x?x32xf16>
    scf.for %t = %c0 to %n step %grid {
      %head = memref.subview %om[%c1, 0, 0] [1, %rows, 32] [1, 1, 1] : memref<2x?x32xf16> to memref<?x32xf16, strided<[32, 1], offset: ?>>
      tile.store %o, %head[%t, %c0] path buffer eviction first : !o, memref<?x32xf16, strided<[32, 1], offset: ?>>
    }
    gpu.return
  }

  // Rows of a transposed view are columns in memory and on the way there and back. Stores of which groups of warps have the same columns
  // take turns in one buffer: each waits for the one before, the first for the last one of the iteration before.
  // CHECK-LABEL: gpu.func @transposed_views
  // CHECK: %[[SUMS:.+]] = tile.buffer : <64x64xf32, shared, #tile.swizzle<vector = 4, bits = 3, shift = 0, swizzle_atom = 32>>
  // CHECK-NOT: tile.buffer : <64x64xf32
  // CHECK: %[[C:.+]] = tile.channel : <64x64xf16, stages = 2, swizzle_atom = 64>
  // CHECK: %[[NONE:.+]] = tile.done
  // CHECK: %[[LAST:.+]] = scf.for %[[I:[^ ]+]] = %{{.+}} iter_args(%[[BEFORE:.+]] = %[[NONE]]) -> (!tile.token)
  // CHECK:   tile.put %[[C]][%[[I]]], %[[BIAS:[^ ]+]][%[[I]], %c0] : <64x64xf16, stages = 2, swizzle_atom = 64>, memref<64x64xf16>
  // CHECK:   %[[TILE:.+]] = tile.get %[[C]][%[[I]]]
  // CHECK-NEXT: %[[READ:.+]] = tile.read %[[TILE]] transposed :
  // CHECK-NEXT: tile.release %[[C]][%[[I]]]
  // CHECK:   tile.wait_reads %[[BEFORE]] : !tile.token
  // CHECK-NEXT: %[[X:.+]] = tile.map(%[[READ]])
  // CHECK:   tile.write %[[X]], %[[SUMS]] transposed :
  // CHECK-NEXT: %[[FIRST:.+]] = tile.store_async %[[SUMS]], %[[OUT:[^ ]+]][%[[I]], %c0] accumulate : {{.*}}, memref<64x64xf32>
  // CHECK:   %[[O:.+]] = tile.mma
  // CHECK-NEXT: tile.wait_reads %[[FIRST]] : !tile.token
  // CHECK-NEXT: tile.write %[[O]], %[[SUMS]] :
  // CHECK-NEXT: %[[SECOND:.+]] = tile.store_async %[[SUMS]], %{{.+}}[%[[I]], %c0] accumulate :
  // CHECK-NEXT: scf.yield %[[SECOND]] : !tile.token
  // CHECK: tile.wait_reads %[[LAST]] : !tile.token
  gpu.func @transposed_views(%bias: memref<64x64xf16>, %out: memref<64x64xf32>, %other: memref<64x64xf32>, %vm: memref<64x64xf16>, %zero: !sums, %e: f16, %n: index) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>, tile.roles = [#tile.role<"compute", warps = 4>, #tile.role<"load", warps = 4, threads = one>]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %rows = memref.transpose %bias (i, j) -> (j, i) : memref<64x64xf16> to memref<64x64xf16, strided<[1, 64]>>
    %columns = memref.transpose %out (i, j) -> (j, i) : memref<64x64xf32> to memref<64x64xf32, strided<[1, 64]>>
    %v = tile.load %vm[%c0, %c0] stages 1 : memref<64x64xf16> -> !square
    scf.for %i = %c0 to %n step %c1 {
      %t = tile.load %rows[%c0, %i] stages 2 : memref<64x64xf16, strided<[1, 64]>> -> !square
      %x = tile.map(%t) {
      ^bb0(%half: f16, %row: index, %column: index):
        %y = arith.extf %half : f16 to f32
        tile.yield %y : f32
      } : (!square) -> !sums
      tile.store %x, %columns[%c0, %i] accumulate path buffer : !sums, memref<64x64xf32, strided<[1, 64]>>
      %p = tile.fill %e : f16 -> !square
      %o = tile.mma %p, %v, %zero transpose_lhs scope warpgroup lhs_through_shared : !square, !square, !sums
      tile.store %o, %other[%i, %c0] accumulate path buffer : !sums, memref<64x64xf32>
    }
    gpu.return
  }

  // What rounds the tile stands beside the write: no wait comes in between.
  // CHECK-LABEL: gpu.func @rounded
  // CHECK: scf.for {{.*}}iter_args(%[[BEFORE:.+]] = %{{.+}}) -> (!tile.token)
  // CHECK: tile.wait_reads %[[BEFORE]] : !tile.token
  // CHECK-NEXT: %[[O:.+]] = tile.map
  // CHECK: tile.write %[[O]]
  gpu.func @rounded(%om: memref<64x32xf16>, %acc: !tile.tile<64x32xf32, registers>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %t = %c0 to %n step %c1 {
      %o = tile.map(%acc) {
      ^bb0(%x: f32, %row: index, %column: index):
        %y = arith.truncf %x : f32 to f16
        tile.yield %y : f16
      } : (!tile.tile<64x32xf32, registers>) -> !o
      tile.store %o, %om[%c0, %c0] path buffer : !o, memref<64x32xf16>
    }
    gpu.return
  }

  // The copy engine would write on to the end of the tensor.
  // CHECK-LABEL: gpu.func @part_of_a_tensor
  // CHECK-NOT: tile.store_async
  // CHECK: tile.store %{{[^ ]+}}, %{{[^ ]+}}[%c0, %c0] :
  // CHECK-NEXT: tile.store %{{[^ ]+}}, %{{[^ ]+}}[%c0, %c0] :
  // CHECK-NEXT: gpu.return
  gpu.func @part_of_a_tensor(%om: memref<64x32xf16>, %o: !o, %i: index) kernel {
    %c0 = arith.constant 0 : index
    %short = memref.subview %om[0, 0] [7, 32] [1, 1] : memref<64x32xf16> to memref<7x32xf16, strided<[32, 1]>>
    %late = memref.subview %om[%i, 0] [64, 32] [1, 1] : memref<64x32xf16> to memref<64x32xf16, strided<[32, 1], offset: ?>>
    tile.store %o, %short[%c0, %c0] path buffer : !o, memref<7x32xf16, strided<[32, 1]>>
    tile.store %o, %late[%c0, %c0] path operand_slot : !o, memref<64x32xf16, strided<[32, 1], offset: ?>>
    gpu.return
  }

  // What another role reads goes through a channel: MMAs multiply it from there, and are done with it behind the last of them; all else is
  // read first. One element for each iteration, and one where there is no loop.
  // CHECK-LABEL: gpu.func @handed_over
  // CHECK: %[[PC:.+]] = tile.channel : <64x16xf16, stages = 2, swizzle_atom = 16>
  // CHECK: scf.for %[[I:[^ ]+]] =
  // CHECK: %[[P:.+]] = tile.fill
  // CHECK: tile.put_tile %[[PC]][%[[I]]], %[[P]] :
  // CHECK-NEXT: %[[SLOT:.+]] = tile.get %[[PC]][%[[I]]]
  // CHECK: tile.mma %[[SLOT]],
  // CHECK-NEXT: tile.release %[[PC]][%[[I]]]
  // CHECK: }
  // CHECK: %[[FC:.+]] = tile.channel : <1x64xf32, stages = 1, swizzle_atom = 64>
  // CHECK: tile.put_tile %[[FC]][%[[E:.+]]], %{{.+}} role "other" :
  // CHECK-NEXT: %[[ROW:.+]] = tile.get %[[FC]][%[[E]]]
  // CHECK-NEXT: %[[F:.+]] = tile.read %[[ROW]]
  // CHECK-NEXT: tile.release %[[FC]][%[[E]]]
  // CHECK-NEXT: tile.store %[[F]]
  gpu.func @handed_over(%vm: memref<16x32xf16>, %x: f16, %f: f32, %zero: !tile.tile<64x32xf32, registers>, %out: memref<64x32xf32>, %rows: memref<64xf32>) kernel
      attributes {tile.roles = [#tile.role<"compute", warps = 4>, #tile.role<"other", warps = 4>, #tile.role<"load", warps = 4, threads = one>]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c9 = arith.constant 9 : index
    %v = tile.load %vm[%c0, %c0] stages 1 : memref<16x32xf16> -> !k
    %sum = scf.for %i = %c0 to %c9 step %c1 iter_args(%acc = %zero) -> !tile.tile<64x32xf32, registers> {
      %p = tile.fill %x : f16 -> !p
      %w = tile.hand_over %p stages 2 : !p
      %o = tile.mma %w, %v, %acc scope warpgroup : !p, !k, !tile.tile<64x32xf32, registers>
      scf.yield %o : !tile.tile<64x32xf32, registers>
    }
    tile.store %sum, %out[%c0, %c0] : !tile.tile<64x32xf32, registers>, memref<64x32xf32>
    %factors = tile.fill %f : f32 -> !tile.tile<64xf32, registers>
    %handed = tile.hand_over %factors stages 2 role "other" : !tile.tile<64xf32, registers>
    tile.store %handed, %rows[%c0] : !tile.tile<64xf32, registers>, memref<64xf32>
    gpu.return
  }

  // Where all warps are alike nothing is handed over.
  // CHECK-LABEL: gpu.func @one_role
  // CHECK-NOT: tile.channel
  // CHECK: %[[FACTORS:.+]] = tile.fill
  // CHECK-NEXT: tile.store %[[FACTORS]]
  gpu.func @one_role(%f: f32, %rows: memref<64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %factors = tile.fill %f : f32 -> !tile.tile<64xf32, registers>
    %handed = tile.hand_over %factors stages 2 : !tile.tile<64xf32, registers>
    tile.store %handed, %rows[%c0] : !tile.tile<64xf32, registers>, memref<64xf32>
    gpu.return
  }
}
