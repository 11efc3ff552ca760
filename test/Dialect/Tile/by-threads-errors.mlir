// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics

func.func @columns(%tile: !tile.tile<64x32xf32, registers>, %sums: memref<?x64xf32>, %i: index) {
  // expected-error @+1 {{expects contiguous rows of the tile's columns with 'by_threads', but got 'memref<?x64xf32>' for '!tile.tile<64x32xf32, registers>'}}
  tile.store %tile, %sums[%i, %i] accumulate by_threads : !tile.tile<64x32xf32, registers>, memref<?x64xf32>
  return
}

// -----

func.func @apart(%sums: memref<?x32xf32, strided<[40, 1]>>, %i: index) {
  // expected-error @+1 {{expects contiguous rows of the tile's columns with 'by_threads', but got 'memref<?x32xf32, strided<[40, 1]>>'}}
  %tile = tile.load %sums[%i, %i] by_threads : memref<?x32xf32, strided<[40, 1]>> -> !tile.tile<64x32xf32, registers>
  return
}

// -----

func.func @path(%tile: !tile.tile<64x32xf32, registers>, %sums: memref<?x32xf32>, %i: index) {
  // expected-error @+1 {{expects no path 'buffer' with 'by_threads'}}
  tile.store %tile, %sums[%i, %i] path buffer by_threads : !tile.tile<64x32xf32, registers>, memref<?x32xf32>
  return
}

// -----

func.func @stages(%sums: memref<?x32xf32>, %i: index) {
  // expected-error @+1 {{expects no 'stages' with 'by_threads'}}
  %tile = tile.load %sums[%i, %i] stages 2 by_threads : memref<?x32xf32> -> !tile.tile<64x32xf32, registers>
  return
}

// -----

func.func @types(%run: vector<4xf16>, %sums: memref<?xf32>, %i: index) {
  // expected-error @+1 {{'tile.add_run' op operand #0 must be}}
  tile.add_run %run, %sums[%i] : vector<4xf16>, memref<?xf32>
  return
}
