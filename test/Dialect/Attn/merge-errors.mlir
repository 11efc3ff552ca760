// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One case for each rule of the verifier of attn.merge, named by the id of the rule.
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics

!o = tensor<2x4x8x64xf16>
!lse = tensor<2x4x8xf32>
func.func @merge_c1_order(%o: !o, %lse: !lse) {
  // expected-error @below {{expects order to be a permutation of the letters b, h, s and d, but got 'bhss'}}
  %r = attn.merge %o, %o lses(%lse, %lse : !lse, !lse) order(bhss) : !o, !o -> !o
  return
}

// -----

func.func @merge_c2_parts() {
  // expected-error @below {{expects at least 1 part, but got 0}}
  %r = "attn.merge"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> tensor<2x4x8x64xf16>
  return
}

// -----

!o = tensor<2x4x8x64xf16>
!lse = tensor<2x4x8xf32>
func.func @merge_c3_lses(%o: !o, %lse: !lse) {
  // expected-error @below {{expects one lse for each part, but got 1 for 2 parts}}
  %r = attn.merge %o, %o lses(%lse : !lse) : !o, !o -> !o
  return
}

// -----

!lse = tensor<2x4x8xf32>
func.func @merge_c4_shape(%o: tensor<2x4x8x64xf16>, %p: tensor<2x4x8x32xf16>, %lse: !lse) {
  // expected-error @below {{expects all parts to be 'tensor<2x4x8x64xf16>' as the first one, but got 'tensor<2x4x8x32xf16>'}}
  %r = attn.merge %o, %p lses(%lse, %lse : !lse, !lse) : tensor<2x4x8x64xf16>, tensor<2x4x8x32xf16> -> tensor<2x4x8x64xf16>
  return
}

// -----

!lse = tensor<2x4x8xf32>
func.func @merge_c4_element_type(%o: tensor<2x4x8x64xf16>, %p: tensor<2x4x8x64xbf16>, %lse: !lse) {
  // expected-error @below {{expects all parts to be 'tensor<2x4x8x64xf16>' as the first one, but got 'tensor<2x4x8x64xbf16>'}}
  %r = attn.merge %o, %p lses(%lse, %lse : !lse, !lse) : tensor<2x4x8x64xf16>, tensor<2x4x8x64xbf16> -> tensor<2x4x8x64xf16>
  return
}

// -----

!o = tensor<2x4x2147483648x1xf16>
!lse = tensor<2x4x2147483648xf32>
func.func @merge_c5_size(%o: !o, %lse: !lse) {
  // expected-error @below {{expects sizes of parts of at most 2147483647, but got 2147483648}}
  %r = attn.merge %o lses(%lse : !lse) : !o -> !o
  return
}

// -----

!lse = tensor<2x4x8xf32>
func.func @merge_c6_dynamic_head_size(%o: tensor<2x4x8x?xf16>, %lse: !lse) {
  // expected-error @below {{expects the head size of parts to be static, but got `?`}}
  %r = attn.merge %o lses(%lse : !lse) : tensor<2x4x8x?xf16> -> tensor<2x4x8x?xf16>
  return
}

// -----

!lse = tensor<2x4x8xf32>
func.func @merge_c6_no_head_size(%o: tensor<2x4x8x0xf16>, %lse: !lse) {
  // expected-error @below {{expects the head size of parts to be at least 1, but got 0}}
  %r = attn.merge %o lses(%lse : !lse) : tensor<2x4x8x0xf16> -> tensor<2x4x8x0xf16>
  return
}

// -----

!o = tensor<2x8x4x64xf16>
func.func @merge_c7_lse(%o: !o, %lse: tensor<2x8x4xf32>) {
  // expected-error @below {{expects each lse to be 'tensor<2x4x8xf32>', but got 'tensor<2x8x4xf32>'}}
  %r = attn.merge %o lses(%lse : tensor<2x8x4xf32>) order(bshd) : !o -> !o
  return
}

// -----

!o = tensor<2x4x8x64xf16>
func.func @merge_c7_result(%o: !o, %lse: tensor<2x4x8xf32>) {
  // expected-error @below {{expects each lse to be 'tensor<2x4x8xf32>', but got 'tensor<2x4x?xf32>'}}
  %r, %rl = attn.merge %o lses(%lse : tensor<2x4x8xf32>) : !o -> !o, tensor<2x4x?xf32>
  return
}

// -----

!o = tensor<2x4x8x64xf16>
func.func @lse_type(%o: !o, %lse: tensor<2x4x8xf16>) {
  // expected-error @below {{operand #1 must be variadic of 3D tensor of 32-bit float values, but got 'tensor<2x4x8xf16>'}}
  %r = attn.merge %o lses(%lse : tensor<2x4x8xf16>) : !o -> !o
  return
}

// -----

!o = tensor<2x4x8x64xf16>
func.func @merge_c8_shape(%o: !o, %lse: tensor<2x4x8xf32>) {
  // expected-error @below {{expects a result of the shape of 'tensor<2x4x8x64xf16>', but got 'tensor<2x4x8x32xf16>'}}
  %r = attn.merge %o lses(%lse : tensor<2x4x8xf32>) : !o -> tensor<2x4x8x32xf16>
  return
}

// -----

!o = tensor<2x4x8x64xf16>
func.func @merge_c9_element_type(%o: !o, %lse: tensor<2x4x8xf32>) {
  // expected-error @below {{expects a result of 'f16' as the parts are, but got 'f32'}}
  %r = attn.merge %o lses(%lse : tensor<2x4x8xf32>) : !o -> tensor<2x4x8x64xf32>
  return
}

// -----

!o = tensor<2147483647x2147483647x2x1xf16>
!lse = tensor<2147483647x2147483647x2xf32>
func.func @attention_c9_bytes(%o: !o, %lse: !lse) {
  // expected-error @below {{expects tensors of at most 9223372036854775807 bytes, but got 'tensor<2147483647x2147483647x2x1xf16>'}}
  %r = attn.merge %o lses(%lse : !lse) : !o -> !o
  return
}

// -----

func.func @attention_c18_encoding(%o: tensor<2x4x8x64xf16, "dense">, %lse: tensor<2x4x8xf32>) {
  // expected-error @below {{expects tensors without an encoding or with #attn.strided, but got "dense"}}
  %r = attn.merge %o lses(%lse : tensor<2x4x8xf32>) : tensor<2x4x8x64xf16, "dense"> -> tensor<2x4x8x64xf16>
  return
}

// -----

!o = tensor<2x4x8x64xf16>
func.func @attention_c19_places(%o: !o, %lse: tensor<2x4x8xf32>) {
  // expected-error @below {{expects results with known strides, but got}}
  %r = attn.merge %o lses(%lse : tensor<2x4x8xf32>) : !o -> tensor<2x4x8x64xf16, #attn.strided<[?, 512, 64, 1]>>
  return
}

// -----

!o = tensor<2x4x8x64xf16>
func.func @syntax(%o: !o, %lse: tensor<2x4x8xf32>) {
  // expected-error @below {{expected 'lses'}}
  %r = attn.merge %o : !o -> !o
  return
}

// -----

!o = tensor<2x4x8x64xf16>
func.func @tunable(%o: !o, %lse: tensor<2x4x8xf32>) {
  // expected-error @below {{expects a tunable of merge, but got 'blockM'}}
  %r = attn.merge %o lses(%lse : tensor<2x4x8xf32>) schedule(<blockM = 16>) : !o -> !o
  return
}
