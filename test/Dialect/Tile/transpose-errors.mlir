// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: attune-opt %s -split-input-file -verify-diagnostics

#s = #tile.swizzle<vector = 8, bits = 2, shift = 1>
func.func @transpose_shape(%a: !tile.tile<32x64xf16, shared, #s>) {
  // expected-error @below {{expects a destination of 64x32, but got '!tile.tile<32x64xf16, shared, #tile.swizzle<vector = 8, bits = 2, shift = 1>>'}}
  tile.transpose %a, %a : !tile.tile<32x64xf16, shared, #s>, !tile.tile<32x64xf16, shared, #s>
  return
}

// -----

#s = #tile.swizzle<vector = 8, bits = 2, shift = 1>
func.func @transpose_element(%a: !tile.tile<32x64xf16, shared, #s>, %b: !tile.tile<64x32xbf16, shared, #s>) {
  // expected-error @below {{expects source and destination to have one element type, but got 'f16' and 'bf16'}}
  tile.transpose %a, %b : !tile.tile<32x64xf16, shared, #s>, !tile.tile<64x32xbf16, shared, #s>
  return
}
