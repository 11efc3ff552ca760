// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The puts of a kernel, with the control flow and the arithmetic that they
// need, in a program of their own.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(gpu.module(gpu.func(tile-specialize-warps)))" | FileCheck %s

#swizzle = #tile.swizzle<vector = 8, bits = 2, shift = 1, swizzle_atom = 32>
!channel = !tile.channel<16x32xf16, stages = 2, swizzle_atom = 32>
!shared = !tile.tile<16x32xf16, shared, #swizzle>
!regs = !tile.tile<16x32xf16, registers>

module attributes {tile.target = #tile.target<
  chip = "toy", family = "Toy", lanes = 32, sms = 1, shared = 65536, shared_per_sm = 65536, registers = 255,
  registers_per_sm = 65536, max_threads = 1024, max_threads_per_sm = 1024, copy_sync = none, copy_widths = [],
  tma_box_bytes = 128, mma = []>} {
gpu.module @kernels {
  // The roles are those of the plan, in its order. Channels stand before them,
  // and so does what uses none.
  // CHECK-LABEL: gpu.func @roles
  // CHECK-SAME:    %[[M:[^ ]+]]: memref<?x32xf16>, %[[ENDS:[^ ]+]]: memref<?xindex>, %[[MORE:[^ ]+]]: i1
  // CHECK: %[[Q:.+]] = tile.channel
  // CHECK: %[[K:.+]] = tile.channel
  // CHECK: %[[V:.+]] = tile.channel
  // CHECK: %[[ROW:.+]] = gpu.block_id
  // CHECK-NOT: tile.put
  // CHECK: tile.specialize <"compute", warps = 8, registers = 240> {
  // CHECK-NOT: tile.put
  // CHECK:   scf.for
  // CHECK:     tile.get %[[K]]
  // CHECK:     tile.get %[[V]]
  // CHECK-NOT: tile.put
  // CHECK:   scf.for
  // CHECK:     tile.get %[[K]]
  // CHECK:   tile.store
  // CHECK-NEXT: }, <"load", warps = 4, registers = 24, threads = one> {
  // CHECK-NEXT: tile.put %[[Q]][%c0], %[[M]][%c0, %c0]
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
  // CHECK-NEXT: }
  // CHECK-NEXT: gpu.return
  gpu.func @roles(%m: memref<?x32xf16>, %ends: memref<?xindex>, %more: i1, %out: memref<16x32xf16>) kernel
      attributes {known_block_size = array<i32: 384, 1, 1>, tile.roles = [#tile.role<"compute", warps = 8, registers = 240>, #tile.role<"load", warps = 4, registers = 24, threads = one>]} {
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

  // Counts that a loop carries are the producer's, too; values of one inner loop
  // are not seen in the next.
  // CHECK-LABEL: gpu.func @counts
  // CHECK: tile.specialize <"compute"
  // CHECK: }, <"load"
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
  // CHECK: gpu.return
  gpu.func @counts(%m: memref<?x32xf16>, %own: index, %tiles: index, %grid: index) kernel
      attributes {known_block_size = array<i32: 384, 1, 1>, tile.roles = [#tile.role<"compute", warps = 8>, #tile.role<"load", warps = 4, threads = one>]} {
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

  // Two roles that load each have their own puts alone, with the control flow
  // around these. Puts that name no role are of the first role of one thread,
  // and one that has none of them has nothing to do.
  // CHECK-LABEL: gpu.func @two_loading_roles
  // CHECK: %[[K:.+]] = tile.channel
  // CHECK: %[[V:.+]] = tile.channel
  // CHECK: %[[Q:.+]] = tile.channel
  // CHECK: tile.specialize <"load_k", warps = 1, threads = one> {
  // CHECK-NEXT: scf.for %[[J:.+]] = %c0 to %{{.+}} step %c1 {
  // CHECK-NEXT:   tile.put %[[K]][%[[J]]], %{{.+}}[%[[J]], %c0] role "load_k"
  // CHECK-NEXT:   tile.put %[[Q]][%[[J]]], %{{.+}}[%[[J]], %c0] :
  // CHECK-NEXT: }
  // CHECK-NEXT: }, <"compute", warps = 4> {
  // CHECK-NOT: tile.put
  // CHECK:     tile.get %[[K]]
  // CHECK:     tile.get %[[Q]]
  // CHECK:     tile.get %[[V]]
  // CHECK-NOT: tile.put
  // CHECK: }, <"load_v", warps = 1, threads = one> {
  // CHECK-NEXT: scf.for %[[J:.+]] = %c0 to %{{.+}} step %c1 {
  // CHECK-NEXT:   %[[ROW:.+]] = arith.muli %[[J]], %c2
  // CHECK-NEXT:   tile.put %[[V]][%[[J]]], %{{.+}}[%[[ROW]], %c0] role "load_v"
  // CHECK-NEXT: }
  // CHECK-NEXT: }, <"idle", warps = 1, threads = one> {
  // CHECK-NEXT: }
  // CHECK-NEXT: gpu.return
  gpu.func @two_loading_roles(%m: memref<?x32xf16>, %n: index) kernel
      attributes {known_block_size = array<i32: 224, 1, 1>, tile.roles = [
        #tile.role<"load_k", warps = 1, threads = one>, #tile.role<"compute", warps = 4>,
        #tile.role<"load_v", warps = 1, threads = one>, #tile.role<"idle", warps = 1, threads = one>]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %kc = tile.channel : !channel
    %vc = tile.channel : !channel
    %qc = tile.channel : !channel
    scf.for %j = %c0 to %n step %c1 {
      tile.put %kc[%j], %m[%j, %c0] role "load_k" : !channel, memref<?x32xf16>
      %k = tile.get %kc[%j] : !channel -> !shared
      tile.release %kc[%j] : !channel
      tile.put %qc[%j], %m[%j, %c0] : !channel, memref<?x32xf16>
      %q = tile.get %qc[%j] : !channel -> !shared
      tile.release %qc[%j] : !channel
      %row = arith.muli %j, %c2 : index
      tile.put %vc[%j], %m[%row, %c0] role "load_v" : !channel, memref<?x32xf16>
      %v = tile.get %vc[%j] : !channel -> !shared
      tile.release %vc[%j] : !channel
    }
    gpu.return
  }

  // Loops that compute numbers are arithmetic as well.
  // CHECK-LABEL: gpu.func @searches
  // CHECK-SAME:    %[[M:[^ ]+]]: memref<?x32xf16>, %[[STARTS:[^ ]+]]: memref<?xindex>
  // CHECK: tile.specialize
  // CHECK: }, <"load"
  // CHECK:   scf.for %[[J:.+]] = %c0
  // CHECK:   %[[FOUND:.+]] = scf.for %{{.+}} = %c0 to %[[J]] step %c1 iter_args(%[[BEFORE:.+]] = %c0) -> (index) {
  // CHECK:     %[[START:.+]] = memref.load %[[STARTS]][%[[BEFORE]]]
  // CHECK:     scf.yield %{{.+}} : index
  // CHECK:   }
  // CHECK-NEXT: tile.put %{{.+}}[%[[J]]], %[[M]][%[[FOUND]], %c0]
  gpu.func @searches(%m: memref<?x32xf16>, %starts: memref<?xindex>, %steps: index) kernel
      attributes {known_block_size = array<i32: 384, 1, 1>, tile.roles = [#tile.role<"compute", warps = 8>, #tile.role<"load", warps = 4, threads = one>]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %kc = tile.channel : !channel
    scf.for %j = %c0 to %steps step %c1 {
      %found = scf.for %i = %c0 to %j step %c1 iter_args(%before = %c0) -> index {
        %start = memref.load %starts[%before] : memref<?xindex>
        %next = arith.addi %start, %c1 : index
        scf.yield %next : index
      }
      tile.put %kc[%j], %m[%found, %c0] : !channel, memref<?x32xf16>
      %k = tile.get %kc[%j] : !channel -> !shared
      tile.release %kc[%j] : !channel
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @no_producer
  // CHECK-NOT: tile.specialize
  // CHECK: tile.put
  gpu.func @no_producer(%m: memref<?x32xf16>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %kc = tile.channel : !channel
    tile.put %kc[%c0], %m[%c0, %c0] : !channel, memref<?x32xf16>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @no_channel
  // CHECK-NOT: tile.specialize
  // CHECK: gpu.return
  gpu.func @no_channel(%m: memref<?x32xf16>) kernel
      attributes {known_block_size = array<i32: 384, 1, 1>, tile.roles = [#tile.role<"compute", warps = 8>, #tile.role<"load", warps = 4, threads = one>]} {
    %c0 = arith.constant 0 : index
    %a = tile.load %m[%c0, %c0] : memref<?x32xf16> -> !regs
    gpu.return
  }

  // Each of several roles that compute has its own stores and what is put by
  // it, and what these read: what it gets from another role it does not compute,
  // and a channel that two get is released by both, each as soon as it has read.
  // What is pure, both compute.
  // CHECK-LABEL: gpu.func @hands_over
  // CHECK-SAME:    %[[M:[^ ]+]]: memref<?x32xf16>, %[[N:[^ ]+]]: index, %[[MORE:[^ ]+]]: i1
  // CHECK: %[[K:.+]] = tile.channel
  // CHECK: %[[V:.+]] = tile.channel
  // CHECK: %[[P:.+]] = tile.channel
  // CHECK: tile.specialize <"compute", warps = 4> {
  // CHECK:   %[[L:.+]]:2 = scf.for %{{.+}} iter_args(%{{.+}} = %{{.+}}, %{{.+}} = %{{.+}}) -> (!tile.tile<16x32xf16, registers>, index) {
  // CHECK:     tile.get %[[K]]
  // CHECK-NEXT: tile.read
  // CHECK-NEXT: tile.release %[[K]]
  // CHECK:     tile.map
  // CHECK:     tile.put_tile %[[P]]
  // CHECK-NOT: tile.get
  // CHECK:     scf.if %[[MORE]] -> (!tile.tile<16x32xf16, registers>) {
  // CHECK-NOT: tile.get
  // CHECK:   tile.store %[[L]]#0, %[[M]][%c0, %c0] :
  // CHECK-NEXT: }, <"other", warps = 4> {
  // CHECK-NOT: tile.put_tile
  // CHECK:   %[[R:.+]] = scf.for %{{.+}} iter_args(%[[B:.+]] = %{{.+}}) -> (!tile.tile<16x32xf16, registers>) {
  // CHECK-NOT: tile.get %[[K]]
  // CHECK:     tile.get %[[P]]
  // CHECK:     tile.release %[[P]]
  // CHECK-NOT: tile.put_tile
  // CHECK:     %[[S:.+]] = scf.if %[[MORE]] -> (!tile.tile<16x32xf16, registers>) {
  // CHECK-NEXT:  tile.map(%[[B]],
  // CHECK:     tile.get %[[V]]
  // CHECK:     scf.yield %{{.+}} : !tile.tile<16x32xf16, registers>
  // CHECK:   tile.store %[[R]], %[[M]][%c0, %{{.+}}] role "other"
  // CHECK-NEXT: }, <"load", warps = 1, threads = one> {
  // CHECK:     tile.put %[[K]]
  // CHECK:     tile.put %[[V]]
  // CHECK: gpu.return
  gpu.func @hands_over(%m: memref<?x32xf16>, %n: index, %more: i1) kernel
      attributes {known_block_size = array<i32: 288, 1, 1>, tile.roles = [
        #tile.role<"compute", warps = 4>, #tile.role<"other", warps = 4>, #tile.role<"load", warps = 1, threads = one>]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %zero = arith.constant 0.0 : f16
    %init = tile.fill %zero : f16 -> !regs
    %kc = tile.channel : !channel
    %vc = tile.channel : !channel
    %pc = tile.channel : !channel
    %r:3 = scf.for %j = %c0 to %n step %c1 iter_args(%a = %init, %b = %init, %count = %c0) -> (!regs, !regs, index) {
      tile.put %kc[%j], %m[%j, %c0] : !channel, memref<?x32xf16>
      %ks = tile.get %kc[%j] : !channel -> !shared
      %k = tile.read %ks : !shared -> !regs
      %p = tile.map(%k) {
      ^bb0(%x: f16, %row: index, %column: index):
        %y = arith.addf %x, %x : f16
        tile.yield %y : f16
      } : (!regs) -> !regs
      tile.put_tile %pc[%count], %p : !channel, !regs
      tile.release %kc[%j] : !channel
      %qs = tile.get %pc[%j] : !channel -> !shared
      %q = tile.read %qs : !shared -> !regs
      tile.release %pc[%j] : !channel
      %both:2 = scf.if %more -> (!regs, !regs) {
        %a1 = tile.map(%a, %p) {
        ^bb0(%x: f16, %y: f16, %row: index, %column: index):
          %z = arith.addf %x, %y : f16
          tile.yield %z : f16
        } : (!regs, !regs) -> !regs
        %b1 = tile.map(%b, %q) {
        ^bb0(%x: f16, %y: f16, %row: index, %column: index):
          %z = arith.addf %x, %y : f16
          tile.yield %z : f16
        } : (!regs, !regs) -> !regs
        scf.yield %a1, %b1 : !regs, !regs
      } else {
        scf.yield %a, %b : !regs, !regs
      }
      tile.put %vc[%j], %m[%j, %c0] : !channel, memref<?x32xf16>
      %vs = tile.get %vc[%j] : !channel -> !shared
      %v = tile.read %vs : !shared -> !regs
      tile.release %vc[%j] : !channel
      %b2 = tile.map(%both#1, %v) {
      ^bb0(%x: f16, %y: f16, %row: index, %column: index):
        %z = arith.addf %x, %y : f16
        tile.yield %z : f16
      } : (!regs, !regs) -> !regs
      %next = arith.addi %count, %c1 : index
      scf.yield %both#0, %b2, %next : !regs, !regs, index
    }
    tile.store %r#0, %m[%c0, %c0] : !regs, memref<?x32xf16>
    tile.store %r#1, %m[%c0, %c16] role "other" : !regs, memref<?x32xf16>
    gpu.return
  }

  // A role that transposes gets, transposes and releases, whatever the release came behind. What another one stores, that one waits for.
  // CHECK-LABEL: gpu.func @transposes
  // CHECK: %[[R:.+]] = tile.channel
  // CHECK: %[[C:.+]] = tile.channel
  // CHECK: tile.specialize <"compute", warps = 4> {
  // CHECK-NOT: tile.restage
  // CHECK:     %[[LOOP:.+]]:2 = scf.for {{.*}} iter_args(%{{.+}} = %{{.+}}, %[[BEFORE:.+]] = %{{.+}}) -> (!tile.tile<32x16xf16, registers>, !tile.token)
  // CHECK:     tile.get %[[C]]
  // CHECK:     tile.release %[[C]][%{{.+}}] after(%{{.+}} : !tile.tile<32x16xf16, registers>)
  // CHECK-NOT: tile.get
  // CHECK:     tile.wait_reads %[[BEFORE]]
  // CHECK:     tile.store_async
  // CHECK:     tile.wait_reads %[[LOOP]]#1
  // CHECK: }, <"restage", warps = 3> {
  // CHECK-NEXT: scf.for %[[J:[^ ]+]] =
  // CHECK-NEXT:   %[[V:.+]] = tile.get %[[R]][%[[J]]]
  // CHECK-NEXT:   tile.restage %[[V]] into %[[C]][%[[J]]] transposed role "restage"
  // CHECK-NEXT:   tile.release %[[R]][%[[J]]] :
  // CHECK-NEXT: }
  // CHECK-NEXT: }, <"load", warps = 1, threads = one> {
  // CHECK-NOT: tile.get
  // CHECK: gpu.return
  gpu.func @transposes(%m: memref<?x32xf16>, %n: index) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>, tile.roles = [
        #tile.role<"compute", warps = 4>, #tile.role<"restage", warps = 3>, #tile.role<"load", warps = 1, threads = one>]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f16
    %init = tile.fill %zero : f16 -> !tile.tile<32x16xf16, registers>
    %rows = tile.channel : !channel
    %columns = tile.channel : !tile.channel<32x16xf16, stages = 2>
    %place = tile.buffer : !shared
    %none = tile.done
    %r:2 = scf.for %j = %c0 to %n step %c1 iter_args(%a = %init, %before = %none) -> (!tile.tile<32x16xf16, registers>, !tile.token) {
      tile.put %rows[%j], %m[%j, %c0] : !channel, memref<?x32xf16>
      %v = tile.get %rows[%j] : !channel -> !shared
      tile.restage %v into %columns[%j] transposed role "restage" : !shared, !tile.channel<32x16xf16, stages = 2>
      %c = tile.get %columns[%j] : !tile.channel<32x16xf16, stages = 2> -> !tile.tile<32x16xf16, shared, #tile.swizzle<vector = 8, bits = 1, shift = 2>>
      %t = tile.read %c : !tile.tile<32x16xf16, shared, #tile.swizzle<vector = 8, bits = 1, shift = 2>> -> !tile.tile<32x16xf16, registers>
      %sum = tile.map(%a, %t) {
      ^bb0(%x: f16, %y: f16, %row: index, %column: index):
        %z = arith.addf %x, %y : f16
        tile.yield %z : f16
      } : (!tile.tile<32x16xf16, registers>, !tile.tile<32x16xf16, registers>) -> !tile.tile<32x16xf16, registers>
      tile.release %rows[%j] after(%sum : !tile.tile<32x16xf16, registers>) : !channel
      tile.release %columns[%j] after(%sum : !tile.tile<32x16xf16, registers>) : !tile.channel<32x16xf16, stages = 2>
      tile.wait_reads %before : !tile.token
      %stored = tile.store_async %place, %m[%j, %c0] : !shared, memref<?x32xf16>
      scf.yield %sum, %stored : !tile.tile<32x16xf16, registers>, !tile.token
    }
    tile.wait_reads %r#1 : !tile.token
    tile.store %r#0, %m[%c0, %c0] : !tile.tile<32x16xf16, registers>, memref<?x32xf16>
    gpu.return
  }
}

gpu.module @turns {
  // A role of one thread stores what another one puts, in its turns; it has the loop, the count of what is put and whose turn it is, and no more.
  // CHECK-LABEL: gpu.func @in_turns
  // CHECK: %[[C:.+]] = tile.channel
  // CHECK: tile.specialize <"compute", warps = 4> {
  // CHECK-NOT: tile.ordered
  // CHECK:     scf.for
  // CHECK:     tile.map
  // CHECK:     tile.put_tile %[[C]]
  // CHECK-NOT: tile.get
  // CHECK: }, <"load", warps = 2, threads = one> {
  // CHECK-NEXT: }, <"store", warps = 2, threads = one> {
  // CHECK-NEXT: scf.for %[[J:[^ ]+]] =
  // CHECK-NEXT:   %[[TURN:.+]] = arith.remui %[[J]]
  // CHECK-NEXT:   tile.ordered %{{.+}}[%[[J]]] turn %[[TURN]] of %{{.+}} role "store" {
  // CHECK-NEXT:     %[[PUT:.+]] = tile.get %[[C]][%[[J]]]
  // CHECK-NEXT:     %[[STORED:.+]] = tile.store_async %[[PUT]]
  // CHECK-NEXT:     tile.wait_reads %[[STORED]]
  // CHECK-NEXT:     tile.release %[[C]][%[[J]]]
  // CHECK-NEXT:   }
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  gpu.func @in_turns(%m: memref<?x32xf32>, %n: index, %turns: memref<?xi32>, %t: !tile.tile<16x32xf32, registers>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>, tile.roles = [
        #tile.role<"compute", warps = 4>, #tile.role<"load", warps = 2, threads = one>, #tile.role<"store", warps = 2, threads = one>]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c = tile.channel : !tile.channel<16x32xf32, stages = 1, swizzle_atom = 32>
    %all = scf.for %j = %c0 to %n step %c1 iter_args(%a = %t) -> !tile.tile<16x32xf32, registers> {
      %sum = tile.map(%a) {
      ^bb0(%x: f32, %row: index, %column: index):
        %z = arith.addf %x, %x : f32
        tile.yield %z : f32
      } : (!tile.tile<16x32xf32, registers>) -> !tile.tile<16x32xf32, registers>
      %turn = arith.remui %j, %n : index
      tile.put_tile %c[%j], %sum : !tile.channel<16x32xf32, stages = 1, swizzle_atom = 32>, !tile.tile<16x32xf32, registers>
      tile.ordered %turns[%j] turn %turn of %n role "store" {
        %put = tile.get %c[%j] : !tile.channel<16x32xf32, stages = 1, swizzle_atom = 32> -> !tile.tile<16x32xf32, shared, #tile.swizzle<vector = 4, bits = 3, shift = 0, swizzle_atom = 32>>
        %stored = tile.store_async %put, %m[%j, %c0] accumulate : !tile.tile<16x32xf32, shared, #tile.swizzle<vector = 4, bits = 3, shift = 0, swizzle_atom = 32>>, memref<?x32xf32>
        tile.wait_reads %stored : !tile.token
        tile.release %c[%j] : !tile.channel<16x32xf32, stages = 1, swizzle_atom = 32>
      } : memref<?xi32>
      scf.yield %sum : !tile.tile<16x32xf32, registers>
    }
    gpu.return
  }

  // So it does what is stored in no order.
  // CHECK-LABEL: gpu.func @handed_over
  // CHECK: %[[C:.+]] = tile.channel
  // CHECK: tile.specialize <"compute", warps = 4> {
  // CHECK:     scf.for
  // CHECK:     tile.put_tile %[[C]]
  // CHECK-NOT: tile.get
  // CHECK-NOT: tile.wait_reads
  // CHECK: }, <"load", warps = 2, threads = one> {
  // CHECK-NEXT: }, <"store", warps = 2, threads = one> {
  // CHECK-NEXT: scf.for %[[J:[^ ]+]] =
  // CHECK-NEXT:   %[[PUT:.+]] = tile.get %[[C]][%[[J]]]
  // CHECK-NEXT:   %[[STORED:.+]] = tile.store_async %[[PUT]]{{.*}} role "store"
  // CHECK-NEXT:   tile.wait_reads %[[STORED]]
  // CHECK-NEXT:   tile.release %[[C]][%[[J]]]
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  gpu.func @handed_over(%m: memref<?x32xf32>, %n: index, %t: !tile.tile<16x32xf32, registers>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>, tile.roles = [
        #tile.role<"compute", warps = 4>, #tile.role<"load", warps = 2, threads = one>, #tile.role<"store", warps = 2, threads = one>]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c = tile.channel : !tile.channel<16x32xf32, stages = 1, swizzle_atom = 32>
    scf.for %j = %c0 to %n step %c1 {
      tile.put_tile %c[%j], %t : !tile.channel<16x32xf32, stages = 1, swizzle_atom = 32>, !tile.tile<16x32xf32, registers>
      %put = tile.get %c[%j] : !tile.channel<16x32xf32, stages = 1, swizzle_atom = 32> -> !tile.tile<16x32xf32, shared, #tile.swizzle<vector = 4, bits = 3, shift = 0, swizzle_atom = 32>>
      %stored = tile.store_async %put, %m[%j, %c0] accumulate role "store" : !tile.tile<16x32xf32, shared, #tile.swizzle<vector = 4, bits = 3, shift = 0, swizzle_atom = 32>>, memref<?x32xf32>
      tile.wait_reads %stored : !tile.token
      tile.release %c[%j] : !tile.channel<16x32xf32, stages = 1, swizzle_atom = 32>
    }
    gpu.return
  }
}
}
