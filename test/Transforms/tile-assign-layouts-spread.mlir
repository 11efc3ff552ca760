// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where layouts come from, how far they spread, and where two of them meet, on
// a chip that does not exist: 4 lanes, 4x2x2 for f16 and 2x4x2 for bf16.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(gpu.module(gpu.func(tile-assign-layouts)))" | FileCheck %s

#a = #tile.layout<registers = [[2, 0, 2]], lanes = [[2, 0, 1], [2, 1, 1]], warps = []>
#b = #tile.layout<registers = [], lanes = [[2, 1, 1], [2, 0, 1]], warps = []>
#ba = #tile.layout<registers = [], lanes = [[2, 0, 1], [2, 1, 1]], warps = []>
#bb = #tile.layout<registers = [[2, 1, 2]], lanes = [[2, 1, 1], [2, 0, 1]], warps = []>
#bc = #tile.layout<registers = [[2, 1, 2]], lanes = [[2, 0, 1], [2, 1, 1]], warps = []>

module attributes {tile.target = #tile.target<
  chip = "toy", family = "Toy", lanes = 4, sms = 1, shared = 4096, shared_per_sm = 4096, registers = 64,
  registers_per_sm = 4096, max_threads = 64, max_threads_per_sm = 64, copy_sync = none, copy_widths = [],
  mma = [#tile.mma_atom<name = "half", m = 4, n = 2, k = 2, lhsType = f16, rhsType = f16, accType = f32, lhs = #a, rhs = #b, acc = #a>,
         #tile.mma_atom<name = "brain", m = 2, n = 4, k = 2, lhsType = bf16, rhsType = bf16, accType = f32, lhs = #ba, rhs = #bb, acc = #bc>]>} {
gpu.module @kernels {
  // MMAs of two types in one kernel have an atom each.
  // CHECK-LABEL: gpu.func @two_atoms
  // CHECK: %[[ZERO:.+]] = tile.fill {{.*}} -> <4x4xf32, registers, #tile.layout<registers = {{\[\[}}2, 0, 2], [2, 1, 2]], lanes = {{\[\[}}2, 0, 1], [2, 1, 1]], warps = []>>
  // CHECK: tile.mma {{.*}} {atom = #tile.mma_atom<name = "half"
  // CHECK: %[[OTHER:.+]] = tile.fill {{.*}} -> <4x4xf32, registers, #tile.layout<registers = {{\[\[}}2, 1, 2], [2, 0, 2]], lanes = {{\[\[}}2, 0, 1], [2, 1, 1]], warps = []>>
  // CHECK: tile.mma %{{.+}}, %{{.+}}, %[[OTHER]] {atom = #tile.mma_atom<name = "brain"
  gpu.func @two_atoms(%h: f16, %x: bf16, %zero: f32) kernel attributes {known_block_size = array<i32: 4, 1, 1>} {
    %a = tile.fill %h : f16 -> !tile.tile<4x4xf16, registers>
    %c = tile.fill %zero : f32 -> !tile.tile<4x4xf32, registers>
    %d = tile.mma %a, %a, %c : !tile.tile<4x4xf16, registers>, !tile.tile<4x4xf16, registers>, !tile.tile<4x4xf32, registers>
    %b = tile.fill %x : bf16 -> !tile.tile<4x4xbf16, registers>
    %e = tile.fill %zero : f32 -> !tile.tile<4x4xf32, registers>
    %f = tile.mma %b, %b, %e : !tile.tile<4x4xbf16, registers>, !tile.tile<4x4xbf16, registers>, !tile.tile<4x4xf32, registers>
    gpu.return
  }

  // What is computed to be multiplied, and all that it is computed of, is read as the MMA wants it.
  // CHECK-LABEL: gpu.func @computed
  // CHECK: tile.load {{.*}} -> <2x2xf32, registers, #tile.layout<registers = [], lanes = {{\[\[}}2, 0, 1], [2, 1, 1]], warps = []>>
  // CHECK: tile.reduce max {{.*}} -> <2xf32, registers, #tile.layout<registers = [], lanes = {{\[\[}}2, 0, 1], [2, 0, 0]], warps = []>>
  // CHECK: %[[A:.+]] = tile.map(
  // CHECK: tile.mma %[[A]], {{.*}} : <2x2xbf16, registers, #tile.layout<registers = [], lanes = {{\[\[}}2, 0, 1], [2, 1, 1]], warps = []>>
  gpu.func @computed(%x: bf16, %zero: f32, %m: memref<2x2xf32>, %i: index) kernel attributes {known_block_size = array<i32: 4, 1, 1>} {
    %loaded = tile.load %m[%i, %i] : memref<2x2xf32> -> !tile.tile<2x2xf32, registers>
    %largest = tile.reduce max %loaded dim 1 : !tile.tile<2x2xf32, registers> -> !tile.tile<2xf32, registers>
    %rows = tile.broadcast %largest dim 0 : !tile.tile<2xf32, registers> -> !tile.tile<2x2xf32, registers>
    %a = tile.map(%loaded, %rows) {
    ^bb0(%value: f32, %row: f32, %r: index, %c: index):
      %quotient = arith.divf %value, %row : f32
      %narrow = arith.truncf %quotient : f32 to bf16
      tile.yield %narrow : bf16
    } : (!tile.tile<2x2xf32, registers>, !tile.tile<2x2xf32, registers>) -> !tile.tile<2x2xbf16, registers>
    %b = tile.fill %x : bf16 -> !tile.tile<2x4xbf16, registers>
    %c = tile.fill %zero : f32 -> !tile.tile<2x4xf32, registers>
    %sum = tile.mma %a, %b, %c : !tile.tile<2x2xbf16, registers>, !tile.tile<2x4xbf16, registers>, !tile.tile<2x4xf32, registers>
    gpu.return
  }

  // The parts of sums stay where the sums are. What comes in other blocks is converted first.
  // CHECK-LABEL: gpu.func @parts
  // CHECK: %[[SUM:.+]] = tile.mma {{.*}} {atom = #tile.mma_atom<name = "brain"
  // CHECK: %[[PARTS:.+]]:2 = tile.deinterleave %[[SUM]] blocks of 4 dim 1 : <2x8xf32, registers, #tile.layout<registers = {{\[\[}}4, 1, 2]], lanes = {{\[\[}}2, 0, 1], [2, 1, 1]], warps = []>> -> !tile.tile<2x4xf32, registers, #tile.layout<registers = {{\[\[}}2, 1, 2]], lanes = {{\[\[}}2, 0, 1], [2, 1, 1]], warps = []>>
  // CHECK: tile.map(%[[PARTS]]#0, %[[PARTS]]#1)
  // CHECK: %[[LOADED:.+]] = tile.load
  // CHECK: %[[WHOLE:.+]] = tile.convert_layout %[[LOADED]]
  // CHECK: tile.deinterleave %[[WHOLE]]
  gpu.func @parts(%x: bf16, %zero: f32, %m: memref<4x16xf32>, %i: index) kernel attributes {known_block_size = array<i32: 4, 1, 1>} {
    %a = tile.fill %x : bf16 -> !tile.tile<2x2xbf16, registers>
    %b = tile.fill %x : bf16 -> !tile.tile<2x8xbf16, registers>
    %c = tile.fill %zero : f32 -> !tile.tile<2x8xf32, registers>
    %sum = tile.mma %a, %b, %c : !tile.tile<2x2xbf16, registers>, !tile.tile<2x8xbf16, registers>, !tile.tile<2x8xf32, registers>
    %p:2 = tile.deinterleave %sum blocks of 4 dim 1 : !tile.tile<2x8xf32, registers> -> !tile.tile<2x4xf32, registers>, !tile.tile<2x4xf32, registers>
    %product = tile.map(%p#0, %p#1) {
    ^bb0(%left: f32, %right: f32, %row: index, %column: index):
      %times = arith.mulf %left, %right : f32
      tile.yield %times : f32
    } : (!tile.tile<2x4xf32, registers>, !tile.tile<2x4xf32, registers>) -> !tile.tile<2x4xf32, registers>
    %loaded = tile.load %m[%i, %i] : memref<4x16xf32> -> !tile.tile<4x16xf32, registers>
    %q:2 = tile.deinterleave %loaded blocks of 4 dim 1 : !tile.tile<4x16xf32, registers> -> !tile.tile<4x8xf32, registers>, !tile.tile<4x8xf32, registers>
    gpu.return
  }

  // What one of them adds to, the other has computed: its accumulator is
  // converted, and what follows the first keeps the first's layout.
  // CHECK-LABEL: gpu.func @meet
  // CHECK: %[[D:.+]] = tile.mma {{.*}} {atom = #tile.mma_atom<name = "half"
  // CHECK: %[[E:.+]] = tile.map(%[[D]])
  // CHECK-NOT: tile.convert_layout %[[D]]
  // CHECK: %[[ACC:.+]] = tile.convert_layout %[[E]] : <4x4xf32, registers, #tile.layout<registers = {{\[\[}}2, 0, 2], [2, 1, 2]], lanes = {{\[\[}}2, 0, 1], [2, 1, 1]], warps = []>>
  // CHECK-SAME:  -> <4x4xf32, registers, #tile.layout<registers = {{\[\[}}2, 1, 2], [2, 0, 2]], lanes = {{\[\[}}2, 0, 1], [2, 1, 1]], warps = []>>
  // CHECK: tile.mma %{{.+}}, %{{.+}}, %[[ACC]] {atom = #tile.mma_atom<name = "brain"
  gpu.func @meet(%h: f16, %x: bf16, %zero: f32) kernel attributes {known_block_size = array<i32: 4, 1, 1>} {
    %a = tile.fill %h : f16 -> !tile.tile<4x4xf16, registers>
    %c = tile.fill %zero : f32 -> !tile.tile<4x4xf32, registers>
    %d = tile.mma %a, %a, %c : !tile.tile<4x4xf16, registers>, !tile.tile<4x4xf16, registers>, !tile.tile<4x4xf32, registers>
    %e = tile.map(%d) {
    ^bb0(%s: f32, %i: index, %j: index):
      %n = arith.negf %s : f32
      tile.yield %n : f32
    } : (!tile.tile<4x4xf32, registers>) -> !tile.tile<4x4xf32, registers>
    %b = tile.fill %x : bf16 -> !tile.tile<4x4xbf16, registers>
    %f = tile.mma %b, %b, %e : !tile.tile<4x4xbf16, registers>, !tile.tile<4x4xbf16, registers>, !tile.tile<4x4xf32, registers>
    gpu.return
  }

  // Two results of unlike layouts in one map: the one that came first decides.
  // CHECK-LABEL: gpu.func @meet_in_map
  // CHECK: %[[D:.+]] = tile.mma {{.*}} {atom = #tile.mma_atom<name = "half"
  // CHECK: %[[F:.+]] = tile.mma {{.*}} {atom = #tile.mma_atom<name = "brain"
  // CHECK: %[[G:.+]] = tile.convert_layout %[[F]]
  // CHECK: tile.map(%[[D]], %[[G]])
  // CHECK: -> !tile.tile<4x4xf32, registers, #tile.layout<registers = {{\[\[}}2, 0, 2], [2, 1, 2]],
  gpu.func @meet_in_map(%h: f16, %x: bf16, %zero: f32) kernel attributes {known_block_size = array<i32: 4, 1, 1>} {
    %a = tile.fill %h : f16 -> !tile.tile<4x4xf16, registers>
    %c = tile.fill %zero : f32 -> !tile.tile<4x4xf32, registers>
    %d = tile.mma %a, %a, %c : !tile.tile<4x4xf16, registers>, !tile.tile<4x4xf16, registers>, !tile.tile<4x4xf32, registers>
    %b = tile.fill %x : bf16 -> !tile.tile<4x4xbf16, registers>
    %e = tile.fill %zero : f32 -> !tile.tile<4x4xf32, registers>
    %f = tile.mma %b, %b, %e : !tile.tile<4x4xbf16, registers>, !tile.tile<4x4xbf16, registers>, !tile.tile<4x4xf32, registers>
    %sum = tile.map(%d, %f) {
    ^bb0(%s: f32, %t: f32, %i: index, %j: index):
      %n = arith.addf %s, %t : f32
      tile.yield %n : f32
    } : (!tile.tile<4x4xf32, registers>, !tile.tile<4x4xf32, registers>) -> !tile.tile<4x4xf32, registers>
    gpu.return
  }

  // Four warps, two of them along the columns: two rows of warps, each of which
  // has all of its rows of the left-hand side and its columns of the right-hand one.
  // CHECK-LABEL: gpu.func @warps_n
  // CHECK: %[[ACC:.+]] = tile.fill {{.*}} -> <8x8xf32, registers, #tile.layout<registers = {{\[\[}}2, 0, 2], [2, 1, 2]], lanes = {{\[\[}}2, 0, 1], [2, 1, 1]], warps = {{\[\[}}2, 0, 4], [2, 1, 4]]>>
  // CHECK: %[[LHS:.+]] = tile.convert_layout %{{.+}} -> <8x2xf16, registers, #tile.layout<registers = {{\[\[}}2, 0, 2]], lanes = {{\[\[}}2, 0, 1], [2, 1, 1]], warps = {{\[\[}}2, 0, 4], [2, 0, 0]]>>
  // CHECK: %[[RHS:.+]] = tile.convert_layout %{{.+}} -> <2x8xf16, registers, #tile.layout<registers = {{\[\[}}2, 1, 2]], lanes = {{\[\[}}2, 1, 1], [2, 0, 1]], warps = {{\[\[}}2, 0, 0], [2, 1, 4]]>>
  // CHECK: tile.mma %[[LHS]], %[[RHS]], %[[ACC]] warps_n 2 {atom
  // A row is then of two warps.
  // CHECK: tile.reduce max {{.*}} -> <8xf32, registers, #tile.layout<registers = {{\[\[}}2, 0, 2]], lanes = {{\[\[}}2, 0, 1], [2, 0, 0]], warps = {{\[\[}}2, 0, 4], [2, 0, 0]]>>
  gpu.func @warps_n(%h: f16, %zero: f32) kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    %a = tile.fill %h : f16 -> !tile.tile<8x2xf16, registers>
    %b = tile.fill %h : f16 -> !tile.tile<2x8xf16, registers>
    %c = tile.fill %zero : f32 -> !tile.tile<8x8xf32, registers>
    %d = tile.mma %a, %b, %c warps_n 2 : !tile.tile<8x2xf16, registers>, !tile.tile<2x8xf16, registers>, !tile.tile<8x8xf32, registers>
    %e = tile.reduce max %d : !tile.tile<8x8xf32, registers> -> !tile.tile<8xf32, registers>
    gpu.return
  }

  // The warps of the role that computes hold tiles, and none of those that load.
  // CHECK-LABEL: gpu.func @role
  // CHECK: tile.fill {{.*}} -> <8x2xf32, registers, #tile.layout<registers = {{\[\[}}2, 0, 2]], lanes = {{\[\[}}2, 0, 1], [2, 1, 1]], warps = {{\[\[}}2, 0, 4]]>>
  gpu.func @role(%h: f16, %zero: f32) kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    %c = tile.fill %zero : f32 -> !tile.tile<8x2xf32, registers>
    tile.specialize <"load", warps = 2, threads = one> {
    }, <"compute", warps = 2> {
      %a = tile.fill %h : f16 -> !tile.tile<8x2xf16, registers>
      %b = tile.fill %h : f16 -> !tile.tile<2x2xf16, registers>
      %d = tile.mma %a, %b, %c : !tile.tile<8x2xf16, registers>, !tile.tile<2x2xf16, registers>, !tile.tile<8x2xf32, registers>
    }
    gpu.return
  }

  // Without an MMA, a thread has 16 bytes of neighbours, lanes go along a row
  // first, and then along the rows, as do warps.
  // CHECK-LABEL: gpu.func @blocked
  // CHECK: tile.load {{.*}} -> <8x16xf16, registers, #tile.layout<registers = {{\[\[}}8, 1, 1], [2, 0, 4]], lanes = {{\[\[}}2, 1, 8], [2, 0, 1]], warps = {{\[\[}}2, 0, 2]]>>
  // CHECK: tile.load {{.*}} -> <8x16xf32, registers, #tile.layout<registers = {{\[\[}}4, 1, 1], [4, 0, 2]], lanes = {{\[\[}}4, 1, 4]], warps = {{\[\[}}2, 0, 1]]>>
  // A row of more than all lanes hold goes on in registers.
  // CHECK: tile.load {{.*}} -> <2x48xf32, registers, #tile.layout<registers = {{\[\[}}4, 1, 1], [3, 1, 16]], lanes = {{\[\[}}4, 1, 4]], warps = {{\[\[}}2, 0, 1]]>>
  gpu.func @blocked(%m: memref<8x16xf16>, %n: memref<8x16xf32>, %o: memref<2x48xf32>) kernel attributes {known_block_size = array<i32: 8, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = tile.load %m[%c0, %c0] : memref<8x16xf16> -> !tile.tile<8x16xf16, registers>
    %b = tile.load %n[%c0, %c0] : memref<8x16xf32> -> !tile.tile<8x16xf32, registers>
    %c = tile.load %o[%c0, %c0] : memref<2x48xf32> -> !tile.tile<2x48xf32, registers>
    gpu.return
  }

  // 1-D tiles are assigned row by row, to lanes and then to warps.
  // CHECK-LABEL: gpu.func @one_dimension
  // CHECK: tile.fill {{.*}} -> <32xf32, registers, #tile.layout<registers = {{\[\[}}4, 0, 8]], lanes = {{\[\[}}4, 0, 1]], warps = {{\[\[}}2, 0, 4]]>>
  gpu.func @one_dimension(%x: f32) kernel attributes {known_block_size = array<i32: 8, 1, 1>} {
    %a = tile.fill %x : f32 -> !tile.tile<32xf32, registers>
    gpu.return
  }

  // What is left of lanes and of warps when all elements are assigned has the same
  // again.
  // CHECK-LABEL: gpu.func @replicated
  // CHECK: tile.fill {{.*}} -> <1x8xf32, registers, #tile.layout<registers = {{\[\[}}4, 1, 1]], lanes = {{\[\[}}2, 1, 4], [2, 0, 0]], warps = {{\[\[}}4, 0, 0]]>>
  // CHECK: tile.fill {{.*}} -> <2xf32, registers, #tile.layout<registers = [], lanes = {{\[\[}}2, 0, 1], [2, 0, 0]], warps = {{\[\[}}4, 0, 0]]>>
  // CHECK: tile.fill {{.*}} -> <8xf32, registers, #tile.layout<registers = [], lanes = {{\[\[}}4, 0, 1]], warps = {{\[\[}}2, 0, 4], [2, 0, 0]]>>
  // CHECK: tile.fill {{.*}} -> <3x5xf32, registers, #tile.layout<registers = {{\[\[}}5, 1, 1], [3, 0, 1]], lanes = {{\[\[}}4, 0, 0]], warps = {{\[\[}}4, 0, 0]]>>
  gpu.func @replicated(%x: f32) kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    %a = tile.fill %x : f32 -> !tile.tile<1x8xf32, registers>
    %b = tile.fill %x : f32 -> !tile.tile<2xf32, registers>
    %c = tile.fill %x : f32 -> !tile.tile<8xf32, registers>
    %d = tile.fill %x : f32 -> !tile.tile<3x5xf32, registers>
    gpu.return
  }

  // Layouts by hand stay, spread, and are converted where an MMA wants another.
  // CHECK-LABEL: gpu.func @by_hand
  // CHECK: %[[A:.+]] = tile.fill {{.*}} -> <4x4xf32, registers, #tile.layout<registers = {{\[\[}}4, 1, 1]], lanes = {{\[\[}}4, 0, 1]], warps = []>>
  // CHECK: %[[B:.+]] = tile.map(%[[A]])
  // CHECK: -> !tile.tile<4x4xf32, registers, #tile.layout<registers = {{\[\[}}4, 1, 1]], lanes = {{\[\[}}4, 0, 1]], warps = []>>
  // CHECK: tile.reduce add %[[B]] {{.*}} -> <4xf32, registers, #tile.layout<registers = [], lanes = {{\[\[}}4, 0, 1]], warps = []>>
  // CHECK: %[[C:.+]] = tile.convert_layout %[[B]] {{.*}} -> <4x4xf32, registers, #tile.layout<registers = {{\[\[}}2, 0, 2], [2, 1, 2]],
  // CHECK: tile.mma %{{.+}}, %{{.+}}, %[[C]] {atom
  gpu.func @by_hand(%x: f32, %h: f16) kernel attributes {known_block_size = array<i32: 4, 1, 1>} {
    %a = tile.fill %x : f32 -> !tile.tile<4x4xf32, registers, #tile.layout<registers = [[4, 1, 1]], lanes = [[4, 0, 1]], warps = []>>
    %b = tile.map(%a) {
    ^bb0(%s: f32, %i: index, %j: index):
      %n = arith.negf %s : f32
      tile.yield %n : f32
    } : (!tile.tile<4x4xf32, registers, #tile.layout<registers = [[4, 1, 1]], lanes = [[4, 0, 1]], warps = []>>)
      -> !tile.tile<4x4xf32, registers, #tile.layout<registers = [[4, 1, 1]], lanes = [[4, 0, 1]], warps = []>>
    %c = tile.reduce add %b : !tile.tile<4x4xf32, registers, #tile.layout<registers = [[4, 1, 1]], lanes = [[4, 0, 1]], warps = []>>
      -> !tile.tile<4xf32, registers, #tile.layout<registers = [], lanes = [[4, 0, 1]], warps = []>>
    %f = tile.fill %h : f16 -> !tile.tile<4x4xf16, registers>
    %conv = tile.convert_layout %b : !tile.tile<4x4xf32, registers, #tile.layout<registers = [[4, 1, 1]], lanes = [[4, 0, 1]], warps = []>>
      -> !tile.tile<4x4xf32, registers>
    %d = tile.mma %f, %f, %conv : !tile.tile<4x4xf16, registers>, !tile.tile<4x4xf16, registers>, !tile.tile<4x4xf32, registers>
    gpu.return
  }

  // What a loop carries has one layout, in which it also comes and goes.
  // CHECK-LABEL: gpu.func @carried
  // CHECK: %[[C:.+]] = tile.convert_layout %{{.+}} : <4x4xf32, registers, #tile.layout<registers = {{\[\[}}4, 1, 1]], {{.*}} -> <4x4xf32, registers, #tile.layout<registers = {{\[\[}}2, 0, 2], [2, 1, 2]]
  // CHECK: scf.for {{.*}} iter_args(%[[S:.+]] = %[[C]])
  // CHECK:   tile.mma %{{.+}}, %{{.+}}, %[[S]]
  // CHECK-NOT: tile.convert_layout
  // CHECK: gpu.return
  gpu.func @carried(%x: f32, %am: memref<4x4xf16>, %n: index) kernel attributes {known_block_size = array<i32: 4, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a = tile.fill %x : f32 -> !tile.tile<4x4xf32, registers, #tile.layout<registers = [[4, 1, 1]], lanes = [[4, 0, 1]], warps = []>>
    %b = tile.convert_layout %a : !tile.tile<4x4xf32, registers, #tile.layout<registers = [[4, 1, 1]], lanes = [[4, 0, 1]], warps = []>> -> !tile.tile<4x4xf32, registers>
    %shared = tile.channel : !tile.channel<4x4xf16, stages = 1>
    %r = tile.get %shared[%c0] : !tile.channel<4x4xf16, stages = 1> -> !tile.tile<4x4xf16, shared, #tile.swizzle<vector = 4, bits = 0, shift = 3>>
    %l = tile.load %am[%c0, %c0] : memref<4x4xf16> -> !tile.tile<4x4xf16, registers>
    %d = scf.for %i = %c0 to %n step %c1 iter_args(%s = %b) -> !tile.tile<4x4xf32, registers> {
      %e = tile.mma %l, %r, %s : !tile.tile<4x4xf16, registers>, !tile.tile<4x4xf16, shared, #tile.swizzle<vector = 4, bits = 0, shift = 3>>, !tile.tile<4x4xf32, registers>
      scf.yield %e : !tile.tile<4x4xf32, registers>
    }
    gpu.return
  }
}
}
