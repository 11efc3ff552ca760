// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies that pass through registers: loads stand in front of all else in an
// iteration, what is put first is loaded first, and what is for later
// iterations is put at the end.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(gpu.module(gpu.func(tile-pipeline-loops)))" | FileCheck %s

!key = !tile.channel<16x32xf16, stages = 1, padding = 4>
!value = !tile.channel<16x32xf16, stages = 1, padding = 4, transposed = true>
#rows = #tile.swizzle<vector = 4, bits = 0, shift = 0, padding = 4>
#columns = #tile.swizzle<vector = 4, bits = 0, shift = 0, padding = 4, transposed = true>
!tile = !tile.tile<16x32xf16, registers>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @one_slot_each
  // CHECK-SAME:    %[[M:[^ ]+]]: memref<?x32xf16>, %[[LO:[^ ]+]]: index, %[[HI:[^ ]+]]: index
  // CHECK: %[[K:.+]] = tile.channel
  // CHECK: %[[V:.+]] = tile.channel
  // CHECK: %[[ANY:.+]] = arith.cmpi slt, %[[LO]], %[[HI]]
  // CHECK: scf.if %[[ANY]] {
  // CHECK:   %[[FIRST:.+]] = tile.load %[[M]][%[[LO]], %c0]
  // CHECK:   tile.put_tile %[[K]][%[[LO]]], %[[FIRST]]
  // CHECK: }
  // CHECK: scf.for %[[I:[^ ]+]] =
  // CHECK:   %[[OWN:.+]] = tile.load %[[M]][%[[I]], %c0]
  // CHECK:   %[[END:.+]] = arith.subi %[[HI]], %c1
  // CHECK:   %[[LAST:.+]] = arith.index_cast %[[END]] : index to i32
  // CHECK:   %[[SUM:.+]] = arith.addi %[[I]], %c1
  // CHECK:   %[[WANTED:.+]] = arith.index_cast %[[SUM]] : index to i32
  // CHECK:   %[[LEAST:.+]] = arith.minsi %[[WANTED]], %[[LAST]] : i32
  // CHECK:   %[[THERE:.+]] = arith.index_cast %[[LEAST]] : i32 to index
  // CHECK:   %[[NEXT:.+]] = tile.load %[[M]][%[[THERE]], %c0]
  // CHECK:   tile.get %[[K]][%[[I]]] :
  // CHECK:   tile.release %[[K]][%[[I]]]
  // CHECK:   tile.put_tile %[[V]][%[[I]]], %[[OWN]]
  // CHECK:   tile.get %[[V]][%[[I]]] :
  // CHECK:   tile.release %[[V]][%[[I]]]
  // CHECK:   %[[E:.+]] = arith.addi %[[I]], %c1
  // CHECK:   tile.put_tile %[[K]][%[[E]]], %[[NEXT]]
  // CHECK-NEXT: }
  gpu.func @one_slot_each(%m: memref<?x32xf16>, %lo: index, %hi: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %k = tile.channel : !key
    %v = tile.channel : !value
    scf.for %i = %lo to %hi step %c1 {
      %loaded = tile.load %m[%i, %c0] : memref<?x32xf16> -> !tile
      tile.put_tile %k[%i], %loaded : !key, !tile
      %key = tile.get %k[%i] : !key -> !tile.tile<16x32xf16, shared, #rows>
      tile.release %k[%i] : !key
      %other = tile.load %m[%i, %c0] : memref<?x32xf16> -> !tile
      tile.put_tile %v[%i], %other : !value, !tile
      %value = tile.get %v[%i] : !value -> !tile.tile<16x32xf16, shared, #columns>
      tile.release %v[%i] : !value
    }
    gpu.return
  }

  // A tile that something else uses as well stays where it is.
  // CHECK-LABEL: gpu.func @used_twice
  // CHECK: scf.for %[[I:[^ ]+]] =
  // CHECK-NEXT: %[[T:.+]] = tile.load
  // CHECK-NEXT: tile.put_tile %{{.+}}[%[[I]]], %[[T]]
  // CHECK-NEXT: tile.store %[[T]]
  gpu.func @used_twice(%m: memref<?x32xf16>, %lo: index, %hi: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %k = tile.channel : !key
    scf.for %i = %lo to %hi step %c1 {
      %loaded = tile.load %m[%i, %c0] : memref<?x32xf16> -> !tile
      tile.put_tile %k[%i], %loaded : !key, !tile
      tile.store %loaded, %m[%i, %c0] : !tile, memref<?x32xf16>
      %key = tile.get %k[%i] : !key -> !tile.tile<16x32xf16, shared, #rows>
      tile.release %k[%i] : !key
    }
    gpu.return
  }
}
