// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every rule of the verifiers of tile.paged, tile.flattened and tile.ordered.
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics

func.func @paged_use(%m: memref<?x64xf16>, %table: memref<?xi32>, %i: index) {
  // expected-error @below {{expects to be used by tile.load, tile.store and tile.put alone, but got 'memref.load'}}
  %p = tile.paged %m by %table pages of 16 : memref<?x64xf16>, memref<?xi32>
  // expected-note @below {{used here}}
  %x = memref.load %p[%i, %i] : memref<?x64xf16>
  return
}

// -----

#swizzle = #tile.swizzle<vector = 8, bits = 3, shift = 0, swizzle_atom = 64>
func.func @paged_store_async(%m: memref<?x64xf16>, %table: memref<?xi32>, %i: index,
                             %t: !tile.tile<64x64xf16, shared, #swizzle>) {
  // expected-error @below {{expects to be used by tile.load, tile.store and tile.put alone, but got 'tile.store_async'}}
  %p = tile.paged %m by %table pages of 16 : memref<?x64xf16>, memref<?xi32>
  // expected-note @below {{used here}}
  tile.store_async %t, %p[%i, %i] : !tile.tile<64x64xf16, shared, #swizzle>, memref<?x64xf16>
  return
}

// -----

func.func @flattened_use(%m: memref<4x8x64xf16>, %i: index) {
  // expected-error @below {{expects to be used by tile.load, tile.store and tile.put alone, but got 'memref.load'}}
  %p = tile.flattened %m : memref<4x8x64xf16>
  // expected-note @below {{used here}}
  %x = memref.load %p[%i, %i] : memref<32x64xf16>
  return
}

// -----

func.func @flattened_unknown(%m: memref<4x?x64xf16>) {
  // expected-error @below {{expects a static size of the second dimension, of at least 1, but got 'memref<4x?x64xf16>'}}
  %p = tile.flattened %m : memref<4x?x64xf16>
  return
}

// -----

func.func @flattened_without_strides(%m: memref<4x8x64xf16, affine_map<(a, b, c) -> (a, b mod 4, c)>>) {
  // expected-error @below {{expects a buffer with strides, but got 'memref<4x8x64xf16, affine_map<(d0, d1, d2) -> (d0, d1 mod 4, d2)>>'}}
  %p = tile.flattened %m : memref<4x8x64xf16, affine_map<(a, b, c) -> (a, b mod 4, c)>>
  return
}

// -----

func.func @flattened_one(%m: memref<8xf16>) {
  // expected-error @below {{operand #0 must be}}
  %p = "tile.flattened"(%m) : (memref<8xf16>) -> memref<?xf16>
  return
}

// -----

func.func @flattened_other(%m: memref<4x8xf16>) {
  // expected-error @below {{failed to verify that the result is the source with its first two dimensions as one}}
  %p = "tile.flattened"(%m) : (memref<4x8xf16>) -> memref<?xf16>
  return
}

// -----

func.func @paged_pages(%m: memref<?x64xf16>, %table: memref<?xi32>) {
  // expected-error @below {{attribute 'page' failed to satisfy constraint}}
  %p = tile.paged %m by %table pages of 0 : memref<?x64xf16>, memref<?xi32>
  return
}

// -----

func.func @paged_two_sizes(%m: memref<9x16x64xf16>, %table: memref<?xi32>) {
  // expected-error @below {{expects no 'pages of' for a buffer whose second dimension has the rows of a page, but got 16}}
  %p = tile.paged %m by %table pages of 16 : memref<9x16x64xf16>, memref<?xi32>
  return
}

// -----

func.func @paged_unknown_page(%m: memref<9x?x64xf16>, %table: memref<?xi32>) {
  // expected-error @below {{expects a static number of rows in a page, of at least 1, but got 'memref<9x?x64xf16>'}}
  %p = tile.paged %m by %table : memref<9x?x64xf16>, memref<?xi32>
  return
}

// -----

func.func @paged_layout(%m: memref<9x16x64xf16, affine_map<(a, b, c) -> (a, c, b mod 4)>>, %table: memref<?xi32>) {
  // expected-error @below {{expects a buffer of pages with strides, but got 'memref<9x16x64xf16, affine_map<(d0, d1, d2) -> (d0, d2, d1 mod 4)>>'}}
  %p = tile.paged %m by %table : memref<9x16x64xf16, affine_map<(a, b, c) -> (a, c, b mod 4)>>, memref<?xi32>
  return
}

// -----

func.func @paged_units(%m: memref<9x16x64xf16>, %table: memref<?xi32>, %n: index) {
  // expected-error @below {{expects units that divide the 16 rows of a page, but got 12}}
  %p = tile.paged %m by %table rows %n units of 12 : memref<9x16x64xf16>, memref<?xi32>
  return
}

// -----

func.func @paged_units_alone(%m: memref<9x16x64xf16>, %table: memref<?xi32>) {
  // expected-error @below {{expects no units without 'rows', but got 8}}
  %p = tile.paged %m by %table units of 8 : memref<9x16x64xf16>, memref<?xi32>
  return
}

// -----

func.func @paged_rows_of_no_pages(%m: memref<?x64xf16>, %table: memref<?xi32>, %n: index) {
  // expected-error @below {{expects a buffer of three dimensions, the first of which counts pages, with 'rows', but got 'memref<?x64xf16>'}}
  %p = tile.paged %m by %table pages of 16 rows %n : memref<?x64xf16>, memref<?xi32>
  return
}

// -----

func.func @ordered_effects(%m: memref<?x64xf32>, %counters: memref<?xi32>, %i: index) {
  tile.ordered %counters[%i] turn %i of %i {
    // expected-error @below {{'tile.load' op expects to have no effects on memory in 'tile.ordered', where 'tile.store' alone may, and copies of what is put}}
    %tile = tile.load %m[%i, %i] : memref<?x64xf32> -> !tile.tile<32x64xf32, registers>
  } : memref<?xi32>
  return
}

// -----

func.func @load_many_stages(%a: memref<16x128xf16>, %i: index) -> !tile.tile<16x32xf16, registers> {
  // expected-error @below {{'tile.load' op expects at most 2147483647 elements, but got more in 4294967296 of 16, 32}}
  %x = tile.load %a[%i, %i] stages 4294967296 : memref<16x128xf16> -> !tile.tile<16x32xf16, registers>
  return %x : !tile.tile<16x32xf16, registers>
}

// -----

func.func @store_integers(%t: !tile.tile<16x32xi8, registers>, %m: memref<16x32xi8>, %i: index) {
  // expected-error @below {{'tile.store' op expects floats to be added, or to go through shared memory, but got 'i8'}}
  tile.store %t, %m[%i, %i] accumulate : !tile.tile<16x32xi8, registers>, memref<16x32xi8>
  return
}

// -----

func.func @store_stages(%t: !tile.tile<16x32xf32, registers>, %m: memref<16x32xf32>, %i: index) {
  // expected-error @below {{'tile.store' op expects path 'buffer' with 'stages', but got 'direct'}}
  tile.store %t, %m[%i, %i] stages 2 : !tile.tile<16x32xf32, registers>, memref<16x32xf32>
  return
}
