// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Clauses that do not parse, and attributes whose values make no sense.
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics

func.func @twice(%q: tensor<1x2x8x16xf16>) {
  // expected-error @below {{expects clause 'causal' once, but got it again}}
  %o = attn.attention %q, %q, %q causal(top_left) lse causal(top_left)
    : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>
  return
}

// -----

func.func @alignment(%q: tensor<1x2x8x16xf16>) {
  // expected-error @below {{expects alignment top_left or bottom_right, but got 'middle'}}
  %o = attn.attention %q, %q, %q causal(middle) : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>
  return
}

// -----

func.func @window(%q: tensor<1x2x8x16xf16>) {
  // expected-error @below {{expects window sides of at least -1 (unbounded), but got -7 and 0}}
  %o = attn.attention %q, %q, %q window(-7, 0, top_left)
    : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>
  return
}

// -----

func.func @window_size(%q: tensor<1x2x8x16xf16>) {
  // expected-error @below {{expects window sides of at most 2147483647, but got 2147483648 and 0}}
  %o = attn.attention %q, %q, %q window(2147483648, 0, top_left)
    : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>
  return
}

// -----

func.func @types(%q: tensor<1x2x8x16xf16>) {
  // expected-error @below {{expects the types of query, key and value, but got 1 types}}
  %o = attn.attention %q, %q, %q : tensor<1x2x8x16xf16>
  return
}

// -----

func.func @schedule_without_brackets(%q: tensor<1x2x8x16xf16>) {
  // expected-error @below {{expected '<'}}
  %o = attn.attention %q, %q, %q schedule()
    : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>
  return
}

// -----

func.func @schedule_knob(%q: tensor<1x2x8x16xf16>) {
  // expected-error @below {{expects knob 'block-m' to be one of 16, 32, 64, 96, 128, 192, 256, but got 17}}
  %o = attn.attention %q, %q, %q schedule(<blockM = 17>)
    : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>
  return
}

// -----

func.func @schedule_name(%q: tensor<1x2x8x16xf16>) {
  // expected-error @below {{expects knob 'overlap' to be one of none, softmax, ping-pong, but got all}}
  %o = attn.attention %q, %q, %q schedule(<overlap = all>)
    : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>
  return
}

// -----

func.func @schedule_field(%q: tensor<1x2x8x16xf16>) {
  // expected-error @below {{expects a tunable of attention, but got 'depth'}}
  %o = attn.attention %q, %q, %q schedule(<depth = 1>)
    : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>
  return
}

// -----

func.func @schedule_field_twice(%q: tensor<1x2x8x16xf16>) {
  // expected-error @below {{expects each tunable once, but got 'blockM' again}}
  %o = attn.attention %q, %q, %q schedule(<blockM = 64, blockM = 64>)
    : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>
  return
}

// -----

// expected-error @below {{expects one stride per dimension of the tensor, but got 2 strides for 3 dimensions}}
func.func private @strided_rank(tensor<4x4x4xf16, #attn.strided<[4, 1]>>)

// -----

// expected-error @below {{expects positive strides or `?`, but got 0}}
func.func private @strided_zero(tensor<4x4xf16, #attn.strided<[0, 1]>>)

// -----

// expected-error @below {{expects a positive divisor, but got 0}}
func.func private @strided_divisor(tensor<4x4xf16, #attn.strided<[?, 1], divisor = 0>>)

// -----

func.func @blocks_without_sizes(%q: tensor<1x2x8x16xf16>, %c: tensor<1x1x1xi32>, %i: tensor<1x1x1x1xi32>) {
  // expected-error @below {{expected ','}}
  %o = attn.attention %q, %q, %q blocks(%c, %i : tensor<1x1x1xi32>, tensor<1x1x1x1xi32>)
    : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>
  return
}
