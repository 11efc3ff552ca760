// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every rule of the verifiers of tile.interleaved and tile.deinterleave.
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics

func.func @interleaved_use(%m: memref<?x64xf16>, %i: index, %t: !tile.tile<16x64xf16, registers>) {
  // expected-error @below {{expects to be used by tile.load and tile.put alone, but got 'tile.store'}}
  %p = tile.interleaved %m, %m blocks of 16 : memref<?x64xf16>, memref<?x64xf16>
  // expected-note @below {{used here}}
  tile.store %t, %p[%i, %i] : !tile.tile<16x64xf16, registers>, memref<?x64xf16>
  return
}

// -----

func.func @interleaved_one(%m: memref<?x64xf16>) {
  // expected-error @below {{expects at least two sources, but got 1}}
  %p = tile.interleaved %m blocks of 16 : memref<?x64xf16>
  return
}

// -----

func.func @interleaved_none() {
  // expected-error @below {{expects at least two sources, but got 0}}
  %p = "tile.interleaved"() <{block = 16 : i64}> : () -> memref<?x64xf16>
  return
}

// -----

func.func @interleaved_rank(%m: memref<?xf16>) {
  // expected-error @below {{expects sources that are memrefs of two dimensions, but got 'memref<?xf16>'}}
  %p = tile.interleaved %m, %m blocks of 16 : memref<?xf16>, memref<?xf16>
  return
}

// -----

func.func @interleaved_tensor(%m: tensor<?x64xf16>) {
  // expected-error @below {{expects sources that are memrefs of two dimensions, but got 'tensor<?x64xf16>'}}
  %p = tile.interleaved %m, %m blocks of 16 : tensor<?x64xf16>, tensor<?x64xf16>
  return
}

// -----

func.func @interleaved_dim(%m: memref<?x64xf16>) {
  // expected-error @below {{expects dimension 0 or 1, but got 4}}
  %p = tile.interleaved %m, %m blocks of 16 dim 4 : memref<?x64xf16>, memref<?x64xf16>
  return
}

// -----

func.func @interleaved_types(%m: memref<?x64xf16>, %n: memref<8x64xf16>) {
  // expected-error @below {{requires all operands to have the same type}}
  %p = tile.interleaved %m, %n blocks of 16 : memref<?x64xf16>, memref<8x64xf16>
  return
}

// -----

func.func @interleaved_block(%m: memref<?x64xf16>) {
  // expected-error @below {{attribute 'block' failed to satisfy constraint}}
  %p = tile.interleaved %m, %m blocks of 0 : memref<?x64xf16>, memref<?x64xf16>
  return
}

// -----

func.func @deinterleave_one(%a: !tile.tile<32x32xf32, registers>) {
  // expected-error @+1 {{'tile.deinterleave' op expects at least two parts of a tile of two dimensions, but got 1}}
  %b = tile.deinterleave %a blocks of 8 : !tile.tile<32x32xf32, registers> -> !tile.tile<32x32xf32, registers>
  return
}

// -----

func.func @deinterleave_vector(%a: !tile.tile<32xf32, registers>) {
  // expected-error @+1 {{'tile.deinterleave' op expects at least two parts of a tile of two dimensions, but got 2 of}}
  %b:2 = tile.deinterleave %a blocks of 8 : !tile.tile<32xf32, registers> -> !tile.tile<16xf32, registers>, !tile.tile<16xf32, registers>
  return
}

// -----

func.func @deinterleave_blocks(%a: !tile.tile<32x32xf32, registers>) {
  // expected-error @+1 {{'tile.deinterleave' op expects 2 parts in blocks of 12 to divide the input along dimension 1, but got}}
  %b:2 = tile.deinterleave %a blocks of 12 dim 1 : !tile.tile<32x32xf32, registers>
    -> !tile.tile<32x16xf32, registers>, !tile.tile<32x16xf32, registers>
  return
}

// -----

func.func @deinterleave_shape(%a: !tile.tile<32x32xf32, registers>) {
  // expected-error @+1 {{'tile.deinterleave' op expects parts of 32x16x'f32', but got '!tile.tile<16x32xf32, registers>'}}
  %b:2 = tile.deinterleave %a blocks of 8 dim 1 : !tile.tile<32x32xf32, registers>
    -> !tile.tile<32x16xf32, registers>, !tile.tile<16x32xf32, registers>
  return
}

// -----

func.func @deinterleave_element(%a: !tile.tile<32x32xf32, registers>) {
  // expected-error @+1 {{'tile.deinterleave' op expects parts of 32x16x'f32', but got '!tile.tile<32x16xf16, registers>'}}
  %b:2 = tile.deinterleave %a blocks of 8 dim 1 : !tile.tile<32x32xf32, registers>
    -> !tile.tile<32x16xf16, registers>, !tile.tile<32x16xf16, registers>
  return
}
