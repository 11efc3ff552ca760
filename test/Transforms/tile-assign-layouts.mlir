// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layouts from the matrix instruction of a chip that does not exist: 4 lanes, 4x2x2.
//
// RUN: attune-opt %s --split-input-file --pass-pipeline="builtin.module(gpu.module(gpu.func(tile-assign-layouts)))" | FileCheck %s

#lhs = #tile.layout<registers = [[2, 0, 2]], lanes = [[2, 0, 1], [2, 1, 1]], warps = []>
#rhs = #tile.layout<registers = [], lanes = [[2, 1, 1], [2, 0, 1]], warps = []>
#acc = #tile.layout<registers = [[2, 0, 2]], lanes = [[2, 0, 1], [2, 1, 1]], warps = []>

!a = !tile.tile<8x8xf16, registers>
!b = !tile.tile<8x4xf16, registers>
!c = !tile.tile<8x4xf32, registers>
!shared = !tile.tile<4x4xf16, shared, #tile.swizzle<vector = 4, bits = 0, shift = 3>>
!rows = !tile.tile<8xf32, registers>
!partial = !tile.tile<8x2xf32, registers>

module attributes {tile.target = #tile.target<
  chip = "toy", family = "Toy", lanes = 4, sms = 1, shared = 4096, shared_per_sm = 4096, registers = 64,
  registers_per_sm = 4096, max_threads = 64, max_threads_per_sm = 64, copy_sync = none, copy_widths = [],
  mma = [#tile.mma_atom<name = "toy", m = 4, n = 2, k = 2, lhsType = f16, rhsType = f16, accType = f32,
         lhs = #lhs, rhs = #rhs, acc = #acc>]>} {
gpu.module @kernels {
  // Rows are assigned to the warps, columns repeat in registers.
  // CHECK-LABEL: gpu.func @multiply
  gpu.func @multiply(%am: memref<8x8xf16>, %w4: !shared) kernel
      attributes {known_block_size = array<i32: 8, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    // A tile that only feeds an MMA is loaded as its left-hand side.
    // CHECK: %[[A:.+]] = tile.load {{.*}} -> <8x8xf16, registers, #tile.layout<registers = {{\[\[}}2, 0, 2], [4, 1, 2]], lanes = {{\[\[}}2, 0, 1], [2, 1, 1]], warps = {{\[\[}}2, 0, 4]]>>
    %a = tile.load %am[%c0, %c0] : memref<8x8xf16> -> !a
    // CHECK: %[[B:.+]] = tile.fill
    %half = arith.constant 1.0 : f16
    %b = tile.fill %half : f16 -> !b
    // CHECK: %[[ACC:.+]] = tile.fill {{.*}} -> <8x4xf32, registers, #tile.layout<registers = {{\[\[}}2, 0, 2], [2, 1, 2]], lanes = {{\[\[}}2, 0, 1], [2, 1, 1]], warps = {{\[\[}}2, 0, 4]]>>
    %acc = tile.fill %zero : f32 -> !c
    // Every warp needs all of the right-hand side.
    // CHECK: %[[RHS:.+]] = tile.convert_layout %{{.+}} -> <8x4xf16, registers, #tile.layout<registers = {{\[\[}}2, 1, 2], [4, 0, 2]], lanes = {{\[\[}}2, 1, 1], [2, 0, 1]], warps = {{\[\[}}2, 0, 0]]>>
    // CHECK: %[[C:.+]] = tile.mma %[[A]], %[[RHS]], %[[ACC]] {atom = #tile.mma_atom<name = "toy"
    %c = tile.mma %a, %b, %acc : !a, !b, !c
    // The same lanes: what they exchange is not the layout's.
    // CHECK: tile.swap_columns %[[C]] stride 2 : <8x4xf32, registers, #tile.layout<registers = {{\[\[}}2, 0, 2], [2, 1, 2]], lanes = {{\[\[}}2, 0, 1], [2, 1, 1]], warps = {{\[\[}}2, 0, 4]]>>
    %swapped = tile.swap_columns %c stride 2 : !c
    // Rows alone, repeated in the lanes along a row.
    // CHECK: tile.reduce max {{.*}} -> <8xf32, registers, #tile.layout<registers = {{\[\[}}2, 0, 2]], lanes = {{\[\[}}2, 0, 1], [2, 0, 0]], warps = {{\[\[}}2, 0, 4]]>>
    %max = tile.reduce max %c : !c -> !rows
    // A column for each lane along a row: the size of one instruction's columns here.
    // CHECK: tile.reduce add {{.*}} -> <8x2xf32, registers, #tile.layout<registers = {{\[\[}}2, 0, 2]], lanes = {{\[\[}}2, 0, 1], [2, 1, 1]], warps = {{\[\[}}2, 0, 4]]>>
    %sum = tile.reduce add %c : !c -> !partial
    // An initial value is held as the result is.
    // CHECK: %[[INIT:.+]] = tile.fill {{.*}} -> <8x2xf32, registers, #tile.layout<registers = {{\[\[}}2, 0, 2]], lanes = {{\[\[}}2, 0, 1], [2, 1, 1]], warps = {{\[\[}}2, 0, 4]]>>
    // CHECK: tile.reduce add {{.*}} init %[[INIT]] :
    %init = tile.fill %zero : f32 -> !partial
    %more = tile.reduce add %c init %init : !c -> !partial
    // What a loop carries gets layouts too.
    // CHECK: scf.for {{.*}} -> (!tile.tile<8x4xf32, registers, #tile.layout
    %c1 = arith.constant 1 : index
    %d = scf.for %i = %c0 to %c1 step %c1 iter_args(%s = %c) -> !c {
      %e = tile.map(%s) {
      ^bb0(%x: f32, %row: index, %column: index):
        %y = arith.negf %x : f32
        tile.yield %y : f32
      } : (!c) -> !c
      scf.yield %e : !c
    }
    // An operand that was computed needs a conversion; this accumulator's layout is that of the operand.
    // CHECK: scf.yield
    // CHECK: %[[P:.+]] = tile.map
    // CHECK: tile.mma %[[P]],
    %p = tile.map(%d) {
    ^bb0(%x: f32, %row: index, %column: index):
      %y = arith.truncf %x : f32 to f16
      tile.yield %y : f16
    } : (!c) -> !tile.tile<8x4xf16, registers>
    %w = tile.mma %p, %w4, %acc : !tile.tile<8x4xf16, registers>, !shared, !c
    gpu.return
  }

  // One whose rows are summed up besides is, too; one that is stored, or widened for anything else, is not.
  // CHECK-LABEL: gpu.func @summed_besides
  // CHECK: %[[A:.+]] = tile.load {{.*}} -> <8x8xf16, registers, #tile.layout<registers = {{\[\[}}2, 0, 2], [4, 1, 2]], lanes = {{\[\[}}2, 0, 1], [2, 1, 1]], warps = {{\[\[}}2, 0, 4]]>>
  // CHECK: tile.map(%[[A]])
  // CHECK-NOT: tile.convert_layout %[[A]]
  // CHECK: tile.mma %[[A]],
  // CHECK: %[[OTHER:.+]] = tile.load
  // CHECK: %[[CONVERTED:.+]] = tile.convert_layout %[[OTHER]]
  // CHECK: tile.mma %[[CONVERTED]],
  gpu.func @summed_besides(%am: memref<8x8xf16>, %rhs: !tile.tile<8x4xf16, shared, #tile.swizzle<vector = 4, bits = 0, shift = 3>>,
                           %rows: memref<8xf32>, %all: memref<8x8xf32>) kernel
      attributes {known_block_size = array<i32: 8, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %acc = tile.fill %zero : f32 -> !c
    %a = tile.load %am[%c0, %c0] : memref<8x8xf16> -> !a
    %wide = tile.map(%a) {
    ^bb0(%x: f16, %row: index, %column: index):
      %y = arith.extf %x : f16 to f32
      tile.yield %y : f32
    } : (!a) -> !tile.tile<8x8xf32, registers>
    %sums = tile.reduce add %wide : !tile.tile<8x8xf32, registers> -> !rows
    tile.store %sums, %rows[%c0] : !rows, memref<8xf32>
    %c = tile.mma %a, %rhs, %acc : !a, !tile.tile<8x4xf16, shared, #tile.swizzle<vector = 4, bits = 0, shift = 3>>, !c
    %other = tile.load %am[%c0, %c0] : memref<8x8xf16> -> !a
    %kept = tile.map(%other) {
    ^bb0(%x: f16, %row: index, %column: index):
      %y = arith.extf %x : f16 to f32
      tile.yield %y : f32
    } : (!a) -> !tile.tile<8x8xf32, registers>
    tile.store %kept, %all[%c0, %c0] : !tile.tile<8x8xf32, registers>, memref<8x8xf32>
    %d = tile.mma %other, %rhs, %acc : !a, !tile.tile<8x4xf16, shared, #tile.swizzle<vector = 4, bits = 0, shift = 3>>, !c
    gpu.return
  }
}
}

// -----

#one = #tile.layout<registers = [], lanes = [[2, 0, 1], [2, 1, 1]], warps = []>
#group_rhs = #tile.layout<registers = [[2, 0, 2]], lanes = [[2, 1, 1], [2, 0, 1]], warps = [[4, 0, 0]]>
#four = #tile.layout<registers = [], lanes = [[2, 0, 1], [2, 1, 1]], warps = [[4, 0, 2]]>
#four_lhs = #tile.layout<registers = [[2, 1, 2]], lanes = [[2, 0, 1], [2, 1, 1]], warps = [[4, 0, 2]]>
!ga = !tile.tile<16x8xf16, registers>
!gb = !tile.tile<8x4xf16, shared, #tile.swizzle<vector = 4, bits = 0, shift = 3, swizzle_atom = 4>>
!gc = !tile.tile<16x4xf32, registers>

// The scope says which of the chip's instructions is meant: that of four warps.
module attributes {tile.target = #tile.target<
  chip = "toy", family = "Toy", lanes = 4, sms = 1, shared = 4096, shared_per_sm = 4096, registers = 64,
  registers_per_sm = 4096, max_threads = 64, max_threads_per_sm = 64, copy_sync = none, copy_widths = [],
  mma = [#tile.mma_atom<name = "one", m = 2, n = 2, k = 2, lhsType = f16, rhsType = f16, accType = f32, lhs = #one, rhs = #one, acc = #one>,
         #tile.mma_atom<name = "group", m = 8, n = 2, k = 4, lhsType = f16, rhsType = f16, accType = f32,
         lhs = #four_lhs, rhs = #group_rhs, acc = #four>]>} {
gpu.module @groups {
  // Rows are assigned to two warpgroups, in which the instruction divides them.
  // CHECK-LABEL: gpu.func @asynchronous
  // CHECK: %[[A:.+]] = tile.load {{.*}} -> <16x8xf16, registers, #tile.layout<registers = {{\[\[}}4, 1, 2]], lanes = {{\[\[}}2, 0, 1], [2, 1, 1]], warps = {{\[\[}}8, 0, 2]]>>
  // CHECK: %[[ACC:.+]] = tile.fill {{.*}} -> <16x4xf32, registers, #tile.layout<registers = {{\[\[}}2, 1, 2]], lanes = {{\[\[}}2, 0, 1], [2, 1, 1]], warps = {{\[\[}}8, 0, 2]]>>
  // CHECK: %[[P:.+]] = tile.mma_async %[[A]], %{{.+}}, %[[ACC]] scope warpgroup {atom = #tile.mma_atom<name = "group"
  // CHECK: tile.wait %[[P]] : <<16x4xf32, registers, #tile.layout<registers = {{\[\[}}2, 1, 2]], lanes = {{\[\[}}2, 0, 1], [2, 1, 1]], warps = {{\[\[}}8, 0, 2]]>>
  // The right-hand side stays where it is.
  // CHECK-NOT: tile.convert_layout
  // CHECK: gpu.return
  gpu.func @asynchronous(%am: memref<16x8xf16>, %b: !gb) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %a = tile.load %am[%c0, %c0] : memref<16x8xf16> -> !ga
    %acc = tile.fill %zero : f32 -> !gc
    %p = tile.mma_async %a, %b, %acc scope warpgroup : !ga, !gb, !gc
    %c = tile.wait %p : !tile.pending<!gc>
    gpu.return
  }
}
}
