// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the way through registers to shared memory, and how tiles lie there,
// refuse.
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics


// expected-error @below {{expects swizzle_atom, cluster, padding, transposed, paired or chunk, but got 'slots'}}
func.func private @channel_detail(!tile.channel<16x8xf32, stages = 1, slots = 2>)

// -----

// expected-error @below {{expects a padding of 0 to 1024 elements, but got 1025}}
func.func private @channel_padding(!tile.channel<16x8xf32, stages = 1, padding = 1025>)

// -----

// expected-error @below {{expects neither padding nor 'transposed' of swizzle atoms, but got a padding of 4}}
func.func private @channel_padded_atoms(!tile.channel<16x8xf32, stages = 1, swizzle_atom = 8, padding = 4>)

// -----

// expected-error @below {{expects a chunk that divides rows which are neither padded nor in swizzle atoms nor 'transposed', but got 3}}
func.func private @channel_chunk(!tile.channel<16x8xf32, stages = 2, chunk = 3>)

// -----

// expected-error @below {{expects a chunk that divides rows which are neither padded nor in swizzle atoms nor 'transposed', but got 8}}
func.func private @channel_padded_chunks(!tile.channel<16x8xf32, stages = 2, padding = 8, chunk = 8>)

// -----

// expected-error @below {{expects a padding of up to 65536 elements in multiples of the vector's 8, but got 4}}
func.func private @swizzle_padding() attributes {s = #tile.swizzle<vector = 8, bits = 0, shift = 0, padding = 4>}

// -----

// expected-error @below {{expects neither padding nor 'transposed' of swizzle atoms, but got a padding of 0}}
func.func private @transposed_atoms() attributes {s = #tile.swizzle<vector = 8, bits = 3, shift = 0, swizzle_atom = 64, transposed = true>}

// -----

// expected-error @below {{expects rows that are a multiple of the 8 elements that the swizzle permutes, but got 12}}
func.func private @transposed_short(!tile.tile<12x32xf16, shared, #tile.swizzle<vector = 8, bits = 0, shift = 0, transposed = true>>)

// -----

func.func @rounding_value(%x: f32) -> bf16 {
  // expected-error @below {{expects 'tile.loose_rounding' to be a unit, but got 2}}
  %y = arith.truncf %x {tile.loose_rounding = 2 : i64} : f32 to bf16
  return %y : bf16
}

// -----

func.func @put_tile_shape(%c: !tile.channel<32x64xf16, stages = 1>, %t: !tile.tile<64x32xf16, registers>, %i: index) {
  // expected-error @below {{expects value and channel to have one shape, but got '!tile.tile<64x32xf16, registers>' and '!tile.tile<32x64xf16, shared}}
  tile.put_tile %c[%i], %t : !tile.channel<32x64xf16, stages = 1>, !tile.tile<64x32xf16, registers>
  return
}

// -----

func.func @put_tile_element(%c: !tile.channel<32x64xf16, stages = 1>, %t: !tile.tile<32x64xbf16, registers>, %i: index) {
  // expected-error @below {{expects value and channel to have one element type, but got 'bf16' and 'f16'}}
  tile.put_tile %c[%i], %t : !tile.channel<32x64xf16, stages = 1>, !tile.tile<32x64xbf16, registers>
  return
}

// -----

func.func @put_tile_cluster(%c: !tile.channel<32x64xf16, stages = 1, swizzle_atom = 64, cluster = 2>, %t: !tile.tile<32x64xf16, registers>, %i: index) {
  // expected-error @below {{expects a channel of one workgroup, but got '!tile.channel<32x64xf16, stages = 1, swizzle_atom = 64, cluster = 2>'}}
  tile.put_tile %c[%i], %t : !tile.channel<32x64xf16, stages = 1, swizzle_atom = 64, cluster = 2>, !tile.tile<32x64xf16, registers>
  return
}

// -----

func.func @hand_over_stages(%t: !tile.tile<32x64xf16, registers>) {
  // expected-error @below {{attribute 'stages' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  %handed = tile.hand_over %t stages 0 : !tile.tile<32x64xf16, registers>
  return
}
