// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads from global memory. Chips with buffer resources view what a tile starts
// with, and let the resource find the end of the buffer; others branch there.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(attune-attach-target{chip=gfx942},gpu.module(gpu.func(tile-allocate-shared)),convert-tile-to-gpu,canonicalize,cse)" | FileCheck %s --check-prefixes=CHECK,BUFFER
// RUN: attune-opt %s --pass-pipeline="builtin.module(attune-attach-target{chip=sm_80},gpu.module(gpu.func(tile-allocate-shared)),convert-tile-to-gpu,canonicalize,cse)" | FileCheck %s --check-prefixes=CHECK,PLAIN

!tile = !tile.tile<16x32xf16, registers, #tile.layout<registers = [[8, 1, 1]], lanes = [[4, 1, 8], [8, 0, 1]], warps = [[2, 0, 8]]>>
!narrow = !tile.tile<64x1xf16, registers, #tile.layout<registers = [], lanes = [[32, 0, 1]], warps = [[2, 0, 32]]>>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @inside
  // CHECK-SAME:    %[[M:[^ ]+]]: memref<?x32xf16>, %[[I:[^ ]+]]: index
  // BUFFER: %[[TILE:.+]] = memref.subview %[[M]][%[[I]], 0] [16, 32] [1, 1]
  // BUFFER: amdgpu.raw_buffer_load {boundsCheck = false} %[[TILE]][%{{.+}}, %{{.+}}] : {{.*}} -> vector<8xf16>
  // PLAIN:  vector.load %[[M]]
  gpu.func @inside(%m: memref<?x32xf16>, %i: index, %out: memref<16x32xf16>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %t = tile.load %m[%i, %c0] in_bounds : memref<?x32xf16> -> !tile
    tile.store %t, %out[%c0, %c0] : !tile, memref<16x32xf16>
    gpu.return
  }

  // Rows behind the last one: as many are seen as there are, none if the tile
  // starts behind it.
  // CHECK-LABEL: gpu.func @end_of_rows
  // CHECK-SAME:    %[[M:[^ ]+]]: memref<?x32xf16>, %[[I:[^ ]+]]: index
  // BUFFER-NOT: scf.if
  // BUFFER: %[[ROWS:.+]] = memref.dim %[[M]], %c0
  // BUFFER: %[[LEFT:.+]] = arith.subi %[[ROWS]], %[[I]]
  // BUFFER: %[[WORD:.+]] = arith.index_cast %[[LEFT]] : index to i32
  // BUFFER: %[[MOST:.+]] = arith.minsi %[[WORD]], %c16_i32
  // BUFFER: %[[SEEN:.+]] = arith.maxsi %[[MOST]], %c0_i32
  // BUFFER: %[[COUNT:.+]] = arith.index_cast %[[SEEN]] : i32 to index
  // BUFFER: %[[TILE:.+]] = memref.subview %[[M]][%[[I]], 0] [%[[COUNT]], 32] [1, 1]
  // BUFFER: amdgpu.raw_buffer_load %[[TILE]]
  // PLAIN:  scf.if
  // PLAIN:    vector.load %[[M]]
  gpu.func @end_of_rows(%m: memref<?x32xf16>, %i: index, %out: memref<16x32xf16>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %t = tile.load %m[%i, %c0] : memref<?x32xf16> -> !tile
    tile.store %t, %out[%c0, %c0] : !tile, memref<16x32xf16>
    gpu.return
  }

  // Where rows end in the buffer the resource does not know.
  // CHECK-LABEL: gpu.func @end_of_columns
  // CHECK-NOT:  raw_buffer_load
  // CHECK:      scf.if
  // CHECK:        vector.load
  // CHECK:      gpu.return
  gpu.func @end_of_columns(%m: memref<?x24xf16>, %i: index, %out: memref<16x32xf16>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %t = tile.load %m[%i, %c0] : memref<?x24xf16> -> !tile
    tile.store %t, %out[%c0, %c0] : !tile, memref<16x32xf16>
    gpu.return
  }

  // Less than a word is loaded as it is.
  // CHECK-LABEL: gpu.func @halves
  // CHECK-NOT:  raw_buffer_load
  // CHECK:      vector.load
  gpu.func @halves(%m: memref<?x1xf16>, %i: index, %out: memref<64x1xf16>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %t = tile.load %m[%i, %c0] in_bounds : memref<?x1xf16> -> !narrow
    tile.store %t, %out[%c0, %c0] : !narrow, memref<64x1xf16>
    gpu.return
  }
}
