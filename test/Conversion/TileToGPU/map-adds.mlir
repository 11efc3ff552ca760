// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Maps that add to memory: what meets in one place is added up by each thread, and by a warp where all of it does.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(convert-tile-to-gpu)" | FileCheck %s

!t = !tile.tile<32x4xf32, registers, #tile.layout<registers = [[4, 1, 1]], lanes = [[32, 0, 1]], warps = []>>
module attributes {tile.target = #tile.target<chip = "toy", family = "RDNA3", lanes = 32, sms = 1, shared = 1024,
  shared_per_sm = 1024, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @each
    // CHECK-COUNT-4: memref.atomic_rmw addf %{{.+}}, %arg0[%{{.+}}, %{{.+}}]
    // CHECK-NOT: memref.atomic_rmw
    gpu.func @each(%m: memref<32x4xf32>, %x: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      %a = tile.map() {
      ^bb0(%i: index, %j: index):
        %old = memref.atomic_rmw addf %x, %m[%i, %j] : (f32, memref<32x4xf32>) -> f32
        tile.yield %x : f32
      } : () -> !t
      gpu.return
    }
    // CHECK-LABEL: gpu.func @rows
    // CHECK-COUNT-3: arith.addf
    // CHECK: memref.atomic_rmw addf %{{.+}}, %arg0[%{{.+}}]
    // CHECK-NOT: memref.atomic_rmw
    gpu.func @rows(%m: memref<32xf32>, %x: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      %a = tile.map() {
      ^bb0(%i: index, %j: index):
        %old = memref.atomic_rmw addf %x, %m[%i] : (f32, memref<32xf32>) -> f32
        tile.yield %x : f32
      } : () -> !t
      gpu.return
    }
    // CHECK-LABEL: gpu.func @columns
    // CHECK-COUNT-4: memref.atomic_rmw addf
    // CHECK-NOT: memref.atomic_rmw
    gpu.func @columns(%m: memref<4xf32>, %x: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      %a = tile.map() {
      ^bb0(%i: index, %j: index):
        %old = memref.atomic_rmw addf %x, %m[%j] : (f32, memref<4xf32>) -> f32
        tile.yield %x : f32
      } : () -> !t
      gpu.return
    }
    // CHECK-LABEL: gpu.func @all
    // CHECK-COUNT-3: arith.addf
    // CHECK: gpu.shuffle xor %{{.+}}, %c1_i32
    // CHECK-COUNT-3: gpu.shuffle xor
    // CHECK: gpu.shuffle xor %{{.+}}, %c16_i32
    // CHECK: %[[FIRST:.+]] = arith.cmpi eq
    // CHECK: scf.if %[[FIRST]]
    // CHECK-NEXT: memref.atomic_rmw addf %{{.+}}, %arg0[%arg2]
    // CHECK-NOT: memref.atomic_rmw
    gpu.func @all(%m: memref<4xf32>, %x: f32, %h: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      %a = tile.map() {
      ^bb0(%i: index, %j: index):
        %old = memref.atomic_rmw addf %x, %m[%h] : (f32, memref<4xf32>) -> f32
        tile.yield %x : f32
      } : () -> !t
      gpu.return
    }
    // Three diagonals of four elements: what is known to be read, or added to, in one place is so once.
    // CHECK-LABEL: gpu.func @diagonals
    // CHECK-COUNT-3: memref.load %arg0
    // CHECK-NOT: memref.load
    // CHECK: arith.addf
    // CHECK-COUNT-3: memref.atomic_rmw addf
    // CHECK-NOT: memref.atomic_rmw
    gpu.func @diagonals(%m: memref<?xf32>, %size: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      %a = tile.map() {
      ^bb0(%i: index, %j: index):
        %c0 = arith.constant 0 : index
        %distance = arith.subi %j, %i : index
        %isBehind = arith.cmpi slt, %distance, %c0 : index
        %wrapped = arith.addi %distance, %size : index
        %place = arith.select %isBehind, %wrapped, %distance : index
        %x = memref.load %m[%place] : memref<?xf32>
        %old = memref.atomic_rmw addf %x, %m[%place] : (f32, memref<?xf32>) -> f32
        tile.yield %x : f32
      } : () -> !tile.tile<64x2xf32, registers, #tile.layout<registers = [[2, 1, 1], [2, 0, 1]], lanes = [[32, 0, 2]], warps = []>>
      gpu.return
    }
  }
}
