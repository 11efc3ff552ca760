// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The last one of some workgroups. Integration/join.mlir checks numbers.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(gpu.module(gpu.func(tile-allocate-shared)),attune-attach-target{chip=sm_90a},convert-tile-to-gpu,cse)" | FileCheck %s

#layout = #tile.layout<registers = [[4, 1, 1]], lanes = [[32, 0, 1]], warps = [[4, 0, 32]]>
!tile = !tile.tile<128x4xf32, registers, #layout>
!out = memref<128x4xf32>
!shared = !tile.tile<64x32xf32, shared, #tile.swizzle<vector = 4, bits = 3, shift = 0, swizzle_atom = 32>>
!wide = !tile.tile<256x4xf32, registers, #tile.layout<registers = [[4, 1, 1]], lanes = [[32, 0, 1]], warps = [[8, 0, 32]]>>

module attributes {gpu.container_module} {
gpu.module @kernels {
  // All meet; one thread counts, between fences that order what the others do, too, and leaves in shared memory what it has
  // found, which all read behind a second meeting. The last one starts the count anew.
  // CHECK-LABEL: gpu.func @workgroup
  // CHECK-SAME:    %[[OUT:[^ ]+]]: memref<128x4xf32>, %[[COUNTERS:[^ ]+]]: memref<?xi32>, %[[I:[^ ]+]]: index, %[[PARTS:[^ ]+]]: index
  // CHECK:         %[[WORD:.+]] = memref.view %{{.+}}[%c0][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<1xi32, #gpu.address_space<workgroup>>
  // CHECK:         gpu.barrier
  // CHECK:         %[[FIRST:.+]] = arith.cmpi eq, %thread_id_x, %c0
  // CHECK-NEXT:    scf.if %[[FIRST]] {
  // CHECK-NEXT:      llvm.fence syncscope("device") acq_rel
  // CHECK:           %[[BEFORE:.+]] = memref.atomic_rmw addi %c1_i32, %[[COUNTERS]][%[[I]]]
  // CHECK:           %[[NOW:.+]] = arith.addi %[[BEFORE]], %c1_i32
  // CHECK:           %[[ALL:.+]] = arith.index_cast %[[PARTS]] : index to i32
  // CHECK:           %[[LAST:.+]] = arith.cmpi eq, %[[NOW]], %[[ALL]]
  // CHECK:           %[[FOUND:.+]] = arith.extui %[[LAST]]
  // CHECK:           memref.store %[[FOUND]], %[[WORD]][%c0]
  // CHECK:           scf.if %[[LAST]] {
  // CHECK-NEXT:        llvm.fence syncscope("device") acq_rel
  // CHECK:             memref.store %c0_i32{{.*}}, %[[COUNTERS]][%[[I]]]
  // CHECK:         gpu.barrier
  // CHECK:         %[[READ:.+]] = memref.load %[[WORD]][%c0]
  // CHECK:         nvvm.shfl.sync
  // CHECK:         %[[IS:.+]] = arith.cmpi ne
  // CHECK-NEXT:    scf.if %[[IS]] {
  // CHECK:           vector.store %{{.+}}, %[[OUT]]
  gpu.func @workgroup(%out: !out, %counters: memref<?xi32>, %i: index, %parts: index) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %last = tile.join %counters[%i] of %parts : memref<?xi32>
    scf.if %last {
      %tile = tile.fill %zero : f32 -> !tile
      tile.store %tile, %out[%c0, %c0] : !tile, !out
    }
    gpu.return
  }

  // A role meets alone.
  // CHECK-LABEL: gpu.func @role
  // CHECK:         nvvm.barrier id = %{{.+}} number_of_threads = %c128_i32
  // CHECK:         memref.atomic_rmw addi
  // CHECK:         nvvm.barrier id = %{{.+}} number_of_threads = %c128_i32
  // CHECK-NOT:     gpu.barrier
  gpu.func @role(%out: !out, %counters: memref<?xi32>, %i: index, %parts: index) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    tile.specialize #tile.role<"compute", warps = 4> {
      %last = tile.join %counters[%i] of %parts : memref<?xi32>
      scf.if %last {
        %tile = tile.fill %zero : f32 -> !tile
        tile.store %tile, %out[%c0, %c0] : !tile, !out
      }
    }, #tile.role<"load", warps = 4, threads = one> {
    }
    gpu.return
  }

  // Of several warpgroups one thread counts for all, behind what the copy engine has stored for each thread.
  // CHECK-LABEL: gpu.func @warpgroups
  // CHECK:         nvvm.cp.async.bulk.wait_group 0
  // CHECK:         nvvm.barrier id = %[[ID:.+]] number_of_threads = %c256_i32
  // CHECK:         %[[FIRST:.+]] = arith.cmpi eq, %thread_id_x, %c128
  // CHECK-NEXT:    scf.if %[[FIRST]] {
  // CHECK:           memref.atomic_rmw addi
  // CHECK:         nvvm.barrier id = %[[ID]] number_of_threads = %c256_i32
  gpu.func @warpgroups(%out: memref<256x4xf32>, %added: memref<64x32xf32>, %counters: memref<?xi32>, %i: index, %parts: index) kernel
      attributes {known_block_size = array<i32: 384, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    tile.specialize #tile.role<"load", warps = 4, threads = one> {
    }, #tile.role<"compute", warps = 8> {
      %sums = tile.buffer at 1024 : !shared
      %stored = tile.store_async %sums, %added[%c0, %c0] accumulate : !shared, memref<64x32xf32>
      %last = tile.join %counters[%i] of %parts : memref<?xi32>
      scf.if %last {
        %tile = tile.fill %zero : f32 -> !wide
        tile.store %tile, %out[%c0, %c0] : !wide, memref<256x4xf32>
      }
      tile.wait_reads %stored : !tile.token
    }
    gpu.return
  }
}
}
