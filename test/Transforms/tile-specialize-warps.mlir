// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The puts of a kernel, with the control flow and the arithmetic that they
// need, in a program of their own.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(gpu.module(gpu.func(tile-specialize-warps)))" | FileCheck %s

#swizzle = #tile.swizzle<vector = 8, bits = 2, shift = 1, panel = 32>
!channel = !tile.channel<16x32xf16, stages = 2, panel = 32>
!shared = !tile.tile<16x32xf16, shared, #swizzle>
!regs = !tile.tile<16x32xf16, registers>

module attributes {tile.target = #tile.target<
  chip = "toy", family = "Toy", lanes = 32, cores = 1, shared = 65536, shared_per_core = 65536, registers = 255,
  registers_per_core = 65536, max_threads = 1024, max_threads_per_core = 1024, copy_sync = none, copy_widths = [],
  box_bytes = 128, warpgroups = <most_registers = 256, producer_registers = 24, persistent_producer_registers = 32,
  most_columns = 256, beside_multiply = 32, fewest_registers = 80>, mma = []>} {
gpu.module @kernels {
  // Of 65536 registers 4 warps of producers take 24 a lane, and 8 of consumers
  // the rest: 240. Channels stand before the roles, and so does what uses none.
  // CHECK-LABEL: gpu.func @roles
  // CHECK-SAME:    %[[M:[^ ]+]]: memref<?x32xf16>, %[[ENDS:[^ ]+]]: memref<?xindex>, %[[MORE:[^ ]+]]: i1
  // CHECK: %[[Q:.+]] = tile.channel
  // CHECK: %[[K:.+]] = tile.channel
  // CHECK: %[[V:.+]] = tile.channel
  // CHECK: %[[ROW:.+]] = gpu.block_id
  // CHECK-NOT: tile.put
  // CHECK: tile.specialize producer 4 registers 24 {
  // CHECK-NEXT: tile.put %[[Q]][%c0]
  // CHECK:   %[[END:.+]] = memref.load %[[ENDS]][%[[ROW]]]
  // CHECK:   scf.for %[[J:.+]] = %c0 to %[[END]] step %c1 {
  // CHECK:     %[[START:.+]] = arith.muli %[[J]], %c16
  // CHECK:     tile.put %[[K]][%[[J]]], %[[M]][%[[START]], %c0]
  // CHECK-NEXT: scf.if %[[MORE]] {
  // CHECK-NEXT:  tile.put %[[V]][%[[J]]], %[[M]][%[[J]], %c0]
  // CHECK-NEXT: } else {
  // CHECK-NEXT:  tile.put %[[V]][%[[J]]], %[[M]][%[[START]], %c0] if %[[MORE]]
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  // CHECK-NEXT: } consumer registers 240 {
  // CHECK-NOT: tile.put
  // CHECK:   scf.for
  // CHECK:     tile.get %[[K]]
  // CHECK:     tile.get %[[V]]
  // CHECK-NOT: tile.put
  // CHECK:   scf.for
  // CHECK:     tile.get %[[K]]
  // CHECK:   tile.store
  // CHECK-NEXT: }
  // CHECK-NEXT: gpu.return
  gpu.func @roles(%m: memref<?x32xf16>, %ends: memref<?xindex>, %more: i1, %out: memref<16x32xf16>) kernel
      attributes {tile.schedule = #schedule.attention<numWarps = 8, mmaWarps = 4, producerWarps = 4>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %qc = tile.channel : !channel
    %kc = tile.channel : !channel
    %row = gpu.block_id x
    %vc = tile.channel : !channel
    %zero = arith.constant 0.0 : f16
    %init = tile.fill %zero : f16 -> !regs
    tile.put %qc[%c0], %m[%c0, %c0] : !channel, memref<?x32xf16>
    %end = memref.load %ends[%row] : memref<?xindex>
    %r = scf.for %j = %c0 to %end step %c1 iter_args(%a = %init) -> !regs {
      %start = arith.muli %j, %c16 : index
      tile.put %kc[%j], %m[%start, %c0] : !channel, memref<?x32xf16>
      %k = tile.get %kc[%j] : !channel -> !shared
      %b = tile.read %k : !shared -> !regs
      tile.release %kc[%j] : !channel
      scf.if %more {
        tile.put %vc[%j], %m[%j, %c0] : !channel, memref<?x32xf16>
      } else {
        tile.put %vc[%j], %m[%start, %c0] if %more : !channel, memref<?x32xf16>
      }
      %v = tile.get %vc[%j] : !channel -> !shared
      tile.release %vc[%j] : !channel
      scf.yield %b : !regs
    }
    // A loop without puts is the consumer's alone.
    scf.for %j = %c0 to %c1 step %c1 {
      %k = tile.get %kc[%j] : !channel -> !shared
    }
    tile.store %r, %out[%c0, %c0] : !regs, memref<16x32xf16>
    gpu.return
  }

  // Of as many workgroups as a core is to hold each starts with 80 registers a
  // lane, a multiple of 8, and deals those. What is too little for a step of the
  // consumers is the producers'.
  // CHECK-LABEL: gpu.func @two_on_a_core
  // CHECK: tile.specialize producer 4 registers 32 {
  // CHECK: } consumer registers 104 {
  gpu.func @two_on_a_core(%m: memref<?x32xf16>) kernel
      attributes {tile.schedule = #schedule.attention<numWarps = 8, mmaWarps = 4, producerWarps = 4, minBlocksPerCore = 2>} {
    %c0 = arith.constant 0 : index
    %kc = tile.channel : !channel
    tile.put %kc[%c0], %m[%c0, %c0] : !channel, memref<?x32xf16>
    gpu.return
  }

  // A producer that goes from tile to tile has at least 32.
  // CHECK-LABEL: gpu.func @from_tile_to_tile
  // CHECK: tile.specialize producer 4 registers 40 {
  // CHECK: } consumer registers 232 {
  gpu.func @from_tile_to_tile(%m: memref<?x32xf16>) kernel
      attributes {tile.schedule = #schedule.attention<numWarps = 8, mmaWarps = 4, producerWarps = 4, persistent = static>} {
    %c0 = arith.constant 0 : index
    %kc = tile.channel : !channel
    tile.put %kc[%c0], %m[%c0, %c0] : !channel, memref<?x32xf16>
    gpu.return
  }

  // Counts that a loop carries are the producer's, too; values of one inner loop
  // are not seen in the next.
  // CHECK-LABEL: gpu.func @counts
  // CHECK: tile.specialize producer
  // CHECK:   scf.for %{{.+}} iter_args(%[[N:.+]] = %{{.+}}) -> (index)
  // CHECK:     tile.put %{{.+}}[%[[N]]]
  // CHECK:     scf.for %[[I:[^ ]+]] =
  // CHECK:       %[[ROW:.+]] = arith.muli
  // CHECK:       tile.put %{{.+}}[%[[I]]], %{{.+}}[%[[ROW]],
  // CHECK:     scf.for %[[J:[^ ]+]] =
  // CHECK:       %[[AGAIN:.+]] = arith.muli
  // CHECK:       tile.put %{{.+}}[%[[J]]], %{{.+}}[%[[AGAIN]],
  // CHECK:     %[[NEXT:.+]] = arith.addi %[[N]]
  // CHECK:     scf.yield %[[NEXT]] : index
  // CHECK: consumer
  gpu.func @counts(%m: memref<?x32xf16>, %own: index, %tiles: index, %grid: index) kernel
      attributes {tile.schedule = #schedule.attention<numWarps = 8, mmaWarps = 4, producerWarps = 4, persistent = static>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %kc = tile.channel : !channel
    %r = scf.for %t = %own to %tiles step %grid iter_args(%n = %c0) -> index {
      %row = arith.muli %t, %c2 : index
      tile.put %kc[%n], %m[%c0, %c0] : !channel, memref<?x32xf16>
      scf.for %i = %c0 to %c2 step %c1 {
        tile.put %kc[%i], %m[%row, %c0] : !channel, memref<?x32xf16>
      }
      scf.for %j = %c0 to %c2 step %c1 {
        tile.put %kc[%j], %m[%row, %c0] : !channel, memref<?x32xf16>
      }
      %next = arith.addi %n, %c1 : index
      scf.yield %next : index
    }
    gpu.return
  }

  // A warp alone cannot hand registers over.
  // CHECK-LABEL: gpu.func @one_warp
  // CHECK: tile.specialize producer 1 {
  // CHECK-NEXT: tile.put
  // CHECK: } consumer {
  gpu.func @one_warp(%m: memref<?x32xf16>) kernel
      attributes {tile.schedule = #schedule.attention<numWarps = 8, mmaWarps = 4, producerWarps = 1>} {
    %c0 = arith.constant 0 : index
    %kc = tile.channel : !channel
    tile.put %kc[%c0], %m[%c0, %c0] : !channel, memref<?x32xf16>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @no_producer
  // CHECK-NOT: tile.specialize
  // CHECK: tile.put
  gpu.func @no_producer(%m: memref<?x32xf16>) kernel
      attributes {tile.schedule = #schedule.attention<numWarps = 8, mmaWarps = 4>} {
    %c0 = arith.constant 0 : index
    %kc = tile.channel : !channel
    tile.put %kc[%c0], %m[%c0, %c0] : !channel, memref<?x32xf16>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @no_channel
  // CHECK-NOT: tile.specialize
  // CHECK: gpu.return
  gpu.func @no_channel(%m: memref<?x32xf16>) kernel
      attributes {tile.schedule = #schedule.attention<numWarps = 8, mmaWarps = 4, producerWarps = 4>} {
    %c0 = arith.constant 0 : index
    %a = tile.load %m[%c0, %c0] : memref<?x32xf16> -> !regs
    gpu.return
  }
}
}
