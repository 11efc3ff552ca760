// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: attune-opt %s -split-input-file -verify-diagnostics

#s = #tile.swizzle<vector = 8, bits = 2, shift = 1>
func.func @transpose_shape(%a: !tile.tile<32x64xf16, shared, #s>, %c: !tile.channel<32x64xf16, stages = 1>, %i: index) {
  // expected-error @below {{expects a channel of 64x32, but got '!tile.channel<32x64xf16, stages = 1>'}}
  tile.restage %a into %c[%i] transposed : !tile.tile<32x64xf16, shared, #s>, !tile.channel<32x64xf16, stages = 1>
  return
}

// -----

#s = #tile.swizzle<vector = 8, bits = 2, shift = 1>
func.func @transpose_element(%a: !tile.tile<32x64xf16, shared, #s>, %c: !tile.channel<64x32xbf16, stages = 1>, %i: index) {
  // expected-error @below {{expects source and channel to have one element type, but got 'f16' and 'bf16'}}
  tile.restage %a into %c[%i] transposed : !tile.tile<32x64xf16, shared, #s>, !tile.channel<64x32xbf16, stages = 1>
  return
}

// -----

#s = #tile.swizzle<vector = 8, bits = 2, shift = 1>
!cluster = !tile.channel<64x32xf16, stages = 1, swizzle_atom = 32, cluster = 2>
func.func @transpose_cluster(%a: !tile.tile<32x64xf16, shared, #s>, %c: !cluster, %i: index) {
  // expected-error @below {{expects a channel of one workgroup, but got '!tile.channel<64x32xf16, stages = 1, swizzle_atom = 32, cluster = 2>'}}
  tile.restage %a into %c[%i] transposed : !tile.tile<32x64xf16, shared, #s>, !cluster
  return
}

// -----

#s = #tile.swizzle<vector = 8, bits = 2, shift = 1>
func.func @widen_shape(%a: !tile.tile<32x64xi8, shared, #s>, %c: !tile.channel<32x64xf16, stages = 1>, %i: index) {
  // expected-error @below {{expects a channel of 32x128, but got '!tile.channel<32x64xf16, stages = 1>'}}
  tile.restage %a into %c[%i] packed : !tile.tile<32x64xi8, shared, #s>, !tile.channel<32x64xf16, stages = 1>
  return
}

// -----

#s = #tile.swizzle<vector = 8, bits = 2, shift = 1>
func.func @narrow(%a: !tile.tile<32x64xf16, shared, #s>, %c: !tile.channel<32x64xf8E4M3FN, stages = 1>, %i: index) {
  // expected-error @below {{expects source and channel to have one element type, but got 'f16' and 'f8E4M3FN'}}
  tile.restage %a into %c[%i] : !tile.tile<32x64xf16, shared, #s>, !tile.channel<32x64xf8E4M3FN, stages = 1>
  return
}

// -----

#s = #tile.swizzle<vector = 8, bits = 2, shift = 1>
func.func @widen_transposed(%a: !tile.tile<32x64xi8, shared, #s>, %c: !tile.channel<64x32xf16, stages = 1>, %i: index) {
  // expected-error @below {{expects source and channel to have one element type, but got 'i8' and 'f16'}}
  tile.restage %a into %c[%i] transposed : !tile.tile<32x64xi8, shared, #s>, !tile.channel<64x32xf16, stages = 1>
  return
}

// -----

#s = #tile.swizzle<vector = 8, bits = 2, shift = 1>
func.func @packed_floats(%a: !tile.tile<32x64xf8E4M3FN, shared, #s>, %c: !tile.channel<32x128xf16, stages = 1>, %i: index) {
  // expected-error @below {{expects packed elements of i8 that are widened, and not transposed, but got}}
  tile.restage %a into %c[%i] packed : !tile.tile<32x64xf8E4M3FN, shared, #s>, !tile.channel<32x128xf16, stages = 1>
  return
}

// -----

!paired = !tile.channel<64x32xf8E4M3FN, stages = 1, swizzle_atom = 32, paired = true>
func.func @put_pairs(%m: memref<64x32xf8E4M3FN>, %c: !paired, %i: index) {
  // expected-error @below {{'tile.put' op expects a channel without pairs that alternate, but got '!tile.channel<64x32xf8E4M3FN, stages = 1, swizzle_atom = 32, paired = true>'}}
  tile.put %c[%i], %m[%i, %i] : !paired, memref<64x32xf8E4M3FN>
  return
}

// -----

!paired = !tile.channel<64x32xf8E4M3FN, stages = 1, swizzle_atom = 32, paired = true>
func.func @put_tile_of_pairs(%t: !tile.tile<64x32xf8E4M3FN, registers>, %c: !paired, %i: index) {
  // expected-error @below {{'tile.put_tile' op expects a channel without pairs that alternate, but got '!tile.channel<64x32xf8E4M3FN, stages = 1, swizzle_atom = 32, paired = true>'}}
  tile.put_tile %c[%i], %t : !paired, !tile.tile<64x32xf8E4M3FN, registers>
  return
}

// -----

// expected-error @below {{expects swizzle atoms of several rows of elements of 8 bits where 'paired', but got 'f8E4M3FN' in 64 rows}}
func.func private @pairs_in_rows(!tile.channel<64x32xf8E4M3FN, stages = 1, paired = true>)

// -----

// expected-error @below {{expects swizzle atoms of several rows of elements of 8 bits where 'paired', but got 'f16' in 64 rows}}
func.func private @wide_pairs(!tile.channel<64x32xf16, stages = 1, swizzle_atom = 32, paired = true>)
