// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Workgroups that store one after the other. Integration/ordered.mlir checks numbers.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(attune-attach-target{chip=sm_90a},convert-tile-to-gpu,cse)" | FileCheck %s

#layout = #tile.layout<registers = [[4, 1, 1]], lanes = [[32, 0, 1]], warps = [[4, 0, 32]]>
!tile = !tile.tile<128x4xf32, registers, #layout>
!out = memref<128x4xf32>
#of_both = #tile.layout<registers = [[4, 1, 1]], lanes = [[32, 0, 1]], warps = [[8, 0, 32]]>
!both = !tile.tile<256x4xf32, registers, #of_both>
#of_mma = #tile.layout<registers = [[2, 1, 1], [2, 0, 8], [4, 1, 8]], lanes = [[4, 1, 2], [8, 0, 1]], warps = [[4, 0, 16]]>
!sums = !tile.tile<64x32xf32, registers, #of_mma>
!channel = !tile.channel<64x32xf32, stages = 1, swizzle_atom = 32>
!shared = !tile.tile<64x32xf32, shared, #tile.swizzle<vector = 4, bits = 3, shift = 0, swizzle_atom = 32>>

module attributes {gpu.container_module} {
gpu.module @kernels {
  // One thread waits, all meet, add, and meet again; the thread counts, in the last turn back to 0, which waits for nothing. Its fence orders what
  // the others do, too.
  // CHECK-LABEL: gpu.func @workgroup
  // CHECK-SAME:    %[[OUT:[^ ]+]]: memref<128x4xf32>, %[[COUNTERS:[^ ]+]]: memref<?xi32>, %[[I:[^ ]+]]: index, %[[TURN:[^ ]+]]: index, %[[TURNS:[^ ]+]]: index
  // CHECK:         %[[FIRST:.+]] = arith.cmpi eq, %thread_id_x, %c0
  // CHECK:         %[[BEFORE:.+]] = arith.index_cast %[[TURN]] : index to i32
  // CHECK:         scf.if %[[FIRST]] {
  // CHECK:           scf.while : () -> () {
  // CHECK:             %[[COUNT:.+]] = memref.atomic_rmw addi %c0_i32, %[[COUNTERS]][%[[I]]]
  // CHECK-NEXT:        %[[EARLY:.+]] = arith.cmpi ult, %[[COUNT]], %[[BEFORE]]
  // CHECK-NEXT:        scf.condition(%[[EARLY]])
  // CHECK:         gpu.barrier
  // CHECK:         memref.atomic_rmw addf
  // CHECK:         gpu.barrier
  // CHECK-NEXT:    scf.if %[[FIRST]] {
  // CHECK:           %[[NEXT:.+]] = arith.addi %[[TURN]], %c1
  // CHECK-NEXT:      %[[LAST:.+]] = arith.cmpi eq, %[[NEXT]], %[[TURNS]]
  // CHECK-NEXT:      %[[BACK:.+]] = arith.subi %c1, %[[TURNS]]
  // CHECK:           %[[BACK32:.+]] = arith.index_cast %[[BACK]] : index to i32
  // CHECK:           %[[BY:.+]] = arith.select %[[LAST]], %[[BACK32]], %{{.+}} : i32
  // CHECK-NEXT:      llvm.fence syncscope("device") acq_rel
  // CHECK-NEXT:      memref.atomic_rmw addi %[[BY]], %[[COUNTERS]][%[[I]]]
  // CHECK-NEXT:    }
  gpu.func @workgroup(%out: !out, %counters: memref<?xi32>, %i: index, %turn: index, %turns: index) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %tile = tile.fill %zero : f32 -> !tile
    tile.ordered %counters[%i] turn %turn of %turns {
      tile.store %tile, %out[%c0, %c0] accumulate : !tile, !out
    } : memref<?xi32>
    gpu.return
  }

  // Those of the first turn do not wait, but count.
  // CHECK-LABEL: gpu.func @first
  // CHECK-NOT:     scf.while
  // CHECK-NOT:     gpu.barrier
  // CHECK:         vector.store
  // CHECK:         gpu.barrier
  // CHECK-NEXT:    scf.if
  // CHECK:           llvm.fence syncscope("device") acq_rel
  // CHECK-NOT:     scf.while
  // CHECK:           memref.atomic_rmw addi
  // CHECK:         gpu.return
  gpu.func @first(%out: !out, %counters: memref<?xi32>, %i: index, %turns: index) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %tile = tile.fill %zero : f32 -> !tile
    tile.ordered %counters[%i] turn %c0 of %turns {
      tile.store %tile, %out[%c0, %c0] : !tile, !out
    } : memref<?xi32>
    gpu.return
  }

  // Warpgroups of a role wait and count each for itself, and meet with nobody else: a turn is two counts.
  // CHECK-LABEL: gpu.func @role
  // CHECK-SAME:    %[[COUNTERS:[^ ]+]]: memref<?xi32>, %[[I:[^ ]+]]: index, %[[TURN:[^ ]+]]: index, %[[TURNS:[^ ]+]]: index
  // CHECK:         %[[THREAD:.+]] = arith.remui %thread_id_x, %c128
  // CHECK:         %[[FIRST:.+]] = arith.cmpi eq, %[[THREAD]], %c0
  // CHECK:         %[[DOUBLE:.+]] = arith.muli %[[TURN]], %c2
  // CHECK:         %[[BEFORE:.+]] = arith.index_cast %[[DOUBLE]] : index to i32
  // CHECK:         scf.if %[[FIRST]]
  // CHECK:           arith.cmpi ult, %{{.+}}, %[[BEFORE]]
  // CHECK-NOT:     gpu.barrier
  // CHECK:         nvvm.barrier id = %{{.+}} number_of_threads = %c128_i32
  // CHECK:         memref.atomic_rmw addf
  // CHECK:         nvvm.barrier id = %{{.+}} number_of_threads = %c128_i32
  // CHECK:         scf.if %[[FIRST]]
  // CHECK:           llvm.fence syncscope("device") acq_rel
  // CHECK-NEXT:      %[[LEFT:.+]] = memref.atomic_rmw addi %{{.+}}, %[[COUNTERS]][%[[I]]]
  // CHECK:           %[[NOW:.+]] = arith.addi %[[LEFT]]
  // CHECK:           %[[DOUBLES:.+]] = arith.muli %[[TURNS]], %c2
  // CHECK:           %[[ALL:.+]] = arith.index_cast %[[DOUBLES]] : index to i32
  // CHECK:           %[[LAST:.+]] = arith.cmpi eq, %[[NOW]], %[[ALL]]
  // CHECK:           scf.if %[[LAST]] {
  // CHECK:             memref.store %{{.+}}, %[[COUNTERS]][%[[I]]]
  gpu.func @role(%counters: memref<?xi32>, %i: index, %turn: index, %turns: index, %out: memref<256x4xf32>) kernel
      attributes {known_block_size = array<i32: 384, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    tile.specialize #tile.role<"compute", warps = 8> {
      %tile = tile.fill %zero : f32 -> !both
      tile.ordered %counters[%i] turn %turn of %turns {
        tile.store %tile, %out[%c0, %c0] accumulate : !both, memref<256x4xf32>
      } : memref<?xi32>
    }, #tile.role<"load", warps = 4, threads = one> {
    }
    gpu.return
  }

  // One thread meets nobody: it waits in front of the tile, lets the copy engine come after that, frees the slot when it has been read, and counts
  // when the sums are there.
  // CHECK-LABEL: gpu.func @copies
  // CHECK-SAME:    %[[COUNTERS:[^ ]+]]: memref<?xi32>, %[[I:[^ ]+]]: index, %[[TURN:[^ ]+]]: index, %[[TURNS:[^ ]+]]: index
  // CHECK:         nvvm.elect.sync
  // CHECK:         %[[BEFORE:.+]] = arith.index_cast %[[TURN]] : index to i32
  // CHECK:         scf.while : () -> () {
  // CHECK:           arith.cmpi ult, %{{.+}}, %[[BEFORE]]
  // CHECK-NOT:     llvm.fence
  // CHECK:         nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.global>}
  // CHECK-NOT:     barrier
  // CHECK:         nvvm.mbarrier.try_wait.parity
  // CHECK:         nvvm.cp.async.bulk.tensor.reduce
  // CHECK:         nvvm.cp.async.bulk.wait_group 0 {read}
  // CHECK:         nvvm.mbarrier.arrive
  // CHECK:         nvvm.cp.async.bulk.wait_group 0
  // CHECK-NOT:     read
  // CHECK:         llvm.fence syncscope("device") acq_rel
  // CHECK-NEXT:    memref.atomic_rmw addi
  // CHECK-NOT:     memref.store
  gpu.func @copies(%counters: memref<?xi32>, %i: index, %turn: index, %turns: index, %out: memref<64x32xf32>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %channel = tile.channel at 0 barriers at 8192 : !channel
    tile.specialize #tile.role<"compute", warps = 4> {
      %zero = arith.constant 0.0 : f32
      %tile = tile.fill %zero : f32 -> !sums
      tile.put_tile %channel[%c0], %tile : !channel, !sums
    }, #tile.role<"store", warps = 4, threads = one> {
      tile.ordered %counters[%i] turn %turn of %turns {
        %sums = tile.get %channel[%c0] : !channel -> !shared
        %stored = tile.store_async %sums, %out[%c0, %c0] accumulate : !shared, memref<64x32xf32>
        tile.wait_reads %stored : !tile.token
        tile.release %channel[%c0] : !channel
      } : memref<?xi32>
    }
    gpu.return
  }
}
}
