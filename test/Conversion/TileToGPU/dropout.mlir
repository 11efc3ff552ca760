// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(attune-attach-target{chip=sm_80},gpu.module(gpu.func(tile-allocate-shared)),convert-tile-to-gpu,canonicalize,cse)" | FileCheck %s

#acc = #tile.layout<registers = [[2, 1, 1], [2, 0, 8], [4, 1, 8]], lanes = [[4, 1, 2], [8, 0, 1]], warps = [[2, 0, 16]]>
!acc = !tile.tile<32x32xf32, registers, #acc>
!half = !tile.tile<32x32xf16, registers, #acc>

gpu.module @kernels {
  // Two lanes make a call each, which has 20 products of scalars, and exchange two words of four. What is rounded to 16 bits is
  // cleared in pairs, by a mask that has two signs.
  // CHECK-LABEL: gpu.func @cleared
  gpu.func @cleared(%m: memref<32x32xf16>, %t: memref<32x32xf32>, %key: index, %w: i32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    // CHECK-COUNT-20: arith.mului_extended %{{.+}}, %{{.+}} : i32
    // CHECK-NOT: mului_extended
    // CHECK-COUNT-2: gpu.shuffle xor %{{.+}}, %c4_i32, %c32_i32 : i32
    // CHECK-NOT: gpu.shuffle
    // CHECK: arith.truncf %{{.+}} : vector<16xf32> to vector<16xf16>
    // CHECK-COUNT-8: nvvm.prmt
    // CHECK: arith.andi %{{.+}}, %{{.+}} : vector<8xi32>
    // CHECK-NOT: arith.select %{{.+}} : vector
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %zero = arith.constant 0.0 : f32
    %first = arith.muli %key, %c16 : index
    %a = tile.load %t[%c0, %c0] : memref<32x32xf32> -> !acc
    %b = tile.map(%a) {
    ^bb0(%x: f32, %i: index, %j: index):
      %n = arith.addi %first, %j : index
      %k = tile.is_kept %i, %n head %w seed(%w, %w) offset %w threshold 26
      %y = arith.select %k, %x, %zero : f32
      %z = arith.truncf %y : f32 to f16
      tile.yield %z : f16
    } : (!acc) -> !half
    tile.store %b, %m[%c0, %c0] : !half, memref<32x32xf16>
    gpu.return
  }

  // Where keys are rows, it is bit 0 of the key that the lanes differ in. A sign is one bit.
  // CHECK-LABEL: gpu.func @negated
  gpu.func @negated(%t: memref<32x32xf32>, %w: i32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    // CHECK-COUNT-2: gpu.shuffle xor %{{.+}}, %c4_i32, %c32_i32 : i32
    // CHECK: arith.xori %{{.+}}, %{{.+}} : vector<16xi32>
    // CHECK-NOT: arith.select %{{.+}} : vector
    %c0 = arith.constant 0 : index
    %a = tile.load %t[%c0, %c0] : memref<32x32xf32> -> !acc
    %b = tile.map(%a) {
    ^bb0(%x: f32, %i: index, %j: index):
      %k = tile.is_kept %j, %i head %w seed(%w, %w) offset %w threshold 200
      %no = arith.negf %x : f32
      %y = arith.select %k, %x, %no : f32
      tile.yield %y : f32
    } : (!acc) -> !acc
    tile.store %b, %t[%c0, %c0] : !acc, memref<32x32xf32>
    gpu.return
  }

  // From an unknown place, it is asked whether that is a multiple of 16, which shows in the low bits of what is added to the
  // thread's own place. Elsewhere a scalar call works out each of 16 elements, whose bit is put where the pairs have it.
  // CHECK-LABEL: gpu.func @anywhere
  // CHECK:         %[[KEYS:.+]] = arith.addi %[[FIRST:[^,]+]], %[[OWN:[^ ]+]] : i32
  // CHECK:         %[[CHANGE:.+]] = arith.xori %[[KEYS]], %[[OWN]] : i32
  // CHECK:         %[[LOW:.+]] = arith.andi %[[CHANGE]], %c15_i32
  // CHECK:         %[[STARTS:.+]] = arith.cmpi eq, %[[LOW]], %c0_i32
  // CHECK:         %[[WORDS:.+]]:4 = scf.if %[[STARTS]] -> (i32, i32, i32, i32) {
  // CHECK-COUNT-20:  arith.mului_extended %{{.+}}, %{{.+}} : i32
  // CHECK-COUNT-2:   gpu.shuffle xor
  // CHECK:         } else {
  // CHECK-NOT:       gpu.shuffle
  // CHECK-COUNT-16:  arith.cmpi uge
  // CHECK:         }
  // CHECK:         arith.andi %[[WORDS]]#{{[0-3]}}
  gpu.func @anywhere(%t: memref<32x32xf32>, %first: index, %w: i32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %a = tile.load %t[%c0, %c0] : memref<32x32xf32> -> !acc
    %b = tile.map(%a) {
    ^bb0(%x: f32, %i: index, %j: index):
      %n = arith.addi %first, %j : index
      %k = tile.is_kept %i, %n head %w seed(%w, %w) offset %w threshold 26
      %y = arith.select %k, %x, %zero : f32
      tile.yield %y : f32
    } : (!acc) -> !acc
    tile.store %b, %t[%c0, %c0] : !acc, memref<32x32xf32>
    gpu.return
  }

  // Places that are not those of the tile, as much further: each element is worked out by itself.
  // CHECK-LABEL: gpu.func @scattered
  gpu.func @scattered(%t: memref<32x32xf32>, %w: i32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    // CHECK-NOT: gpu.shuffle
    // CHECK: arith.mului_extended {{.*}} : vector<{{.+}}xi32>
    // CHECK: arith.select %{{.+}} : vector
    // CHECK-NOT: gpu.shuffle
    %c0 = arith.constant 0 : index
    %c3 = arith.constant 3 : index
    %zero = arith.constant 0.0 : f32
    %a = tile.load %t[%c0, %c0] : memref<32x32xf32> -> !acc
    %b = tile.map(%a) {
    ^bb0(%x: f32, %i: index, %j: index):
      %n = arith.muli %j, %c3 : index
      %k = tile.is_kept %i, %n head %w seed(%w, %w) offset %w threshold 26
      %y = arith.select %k, %x, %zero : f32
      tile.yield %y : f32
    } : (!acc) -> !acc
    tile.store %b, %t[%c0, %c0] : !acc, memref<32x32xf32>
    gpu.return
  }
}
