// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles that are read from shared memory, or written to it, transposed.
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics

#s = #tile.swizzle<vector = 8, bits = 3, shift = 0>
func.func @read_shape(%a: !tile.tile<32x64xf16, shared, #s>) {
  // expected-error @below {{'tile.read' op expects source and result with each other's rows and columns where it is transposed, but got '!tile.tile<32x64xf16, shared, #tile.swizzle<vector = 8, bits = 3, shift = 0>>' and '!tile.tile<32x64xf16, registers>'}}
  %b = tile.read %a transposed : !tile.tile<32x64xf16, shared, #s> -> !tile.tile<32x64xf16, registers>
  return
}

// -----

#s = #tile.swizzle<vector = 8, bits = 3, shift = 0>
func.func @read_row(%a: !tile.tile<1x64xf16, shared, #s>) {
  // expected-error @below {{'tile.read' op expects source and result with each other's rows and columns where it is transposed, but got}}
  %b = tile.read %a transposed : !tile.tile<1x64xf16, shared, #s> -> !tile.tile<64xf16, registers>
  return
}

// -----

#s = #tile.swizzle<vector = 8, bits = 3, shift = 0>
func.func @read_element(%a: !tile.tile<32x64xf16, shared, #s>) {
  // expected-error @below {{'tile.read' op expects source and result to have one element type, but got 'f16' and 'f32'}}
  %b = tile.read %a transposed : !tile.tile<32x64xf16, shared, #s> -> !tile.tile<64x32xf32, registers>
  return
}

// -----

!shared = !tile.tile<32x64xf16, shared, #tile.swizzle<vector = 8, bits = 3, shift = 0>>
func.func @write_shape(%a: !tile.tile<32x64xf16, registers>, %b: !shared) {
  // expected-error @below {{'tile.write' op expects value and destination with each other's rows and columns where it is transposed, but got}}
  tile.write %a, %b transposed : !tile.tile<32x64xf16, registers>, !shared
  return
}
