// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics

!q = tensor<1x2x8x16xf16>
func.func @attention_c30_one(%q: !q, %random: tensor<2xi64>) {
  // expected-error @below {{expects the probability of dropout to be at least 0 and less than 1, but got 1.000000e+00}}
  %o = attn.attention %q, %q, %q dropout(%random, 1.0 : tensor<2xi64>) : !q, !q, !q
  return
}

// -----

!q = tensor<1x2x8x16xf16>
func.func @attention_c30_negative(%q: !q, %lse: tensor<1x2x8xf32>, %random: tensor<2xi64>) {
  // expected-error @below {{expects the probability of dropout to be at least 0 and less than 1, but got -1.000000e-01}}
  %d:3 = attn.attention_grad %q, %q, %q, %q, %lse, %q dropout(%random, -0.1 : tensor<2xi64>) : !q, !q, !q, !q, tensor<1x2x8xf32>, !q
  return
}

// -----

!q = tensor<1x2x8x16xf16>
func.func @attention_c30_nan(%q: !q, %random: tensor<2xi64>) {
  // expected-error @below {{expects the probability of dropout to be at least 0 and less than 1, but got 0x7FC00000}}
  %o = attn.attention %q, %q, %q dropout(%random, 0x7FC00000 : tensor<2xi64>) : !q, !q, !q
  return
}

// -----

!q = tensor<1x2x8x16xf16>
func.func @attention_c30_numbers(%q: !q, %random: tensor<3xi64>) {
  // expected-error @below {{expects a seed and an offset of dropout in 'tensor<2xi64>', but got 'tensor<3xi64>'}}
  %o = attn.attention %q, %q, %q dropout(%random, 0.5 : tensor<3xi64>) : !q, !q, !q
  return
}

// -----

!q = tensor<1x2x8x16xf16>
func.func @attention_c30_dynamic(%q: !q, %random: tensor<?xi64>) {
  // expected-error @below {{expects a seed and an offset of dropout in 'tensor<2xi64>', but got 'tensor<?xi64>'}}
  %o = attn.attention %q, %q, %q dropout(%random, 0.5 : tensor<?xi64>) : !q, !q, !q
  return
}

// -----

!q = tensor<1x2x8x16xf16>
func.func @attention_c30_alone(%q: !q) {
  // expected-error @below {{expects dropout to have a probability beside a seed and an offset, but got only one of them}}
  %o = "attn.attention"(%q, %q, %q) <{dropoutProbability = 1.000000e-01 : f32, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}> ({}, {})
    : (!q, !q, !q) -> !q
  return
}

// -----

!q = tensor<1x2x8x16xf16>
func.func @element_type(%q: !q, %random: tensor<2xi32>) {
  // expected-error @below {{must be 1D tensor of 64-bit signless integer values, but got 'tensor<2xi32>'}}
  %o = attn.attention %q, %q, %q dropout(%random, 0.5 : tensor<2xi32>) : !q, !q, !q
  return
}

// -----

!q = tensor<1x2x8x16xf16>
func.func @no_probability(%q: !q, %random: tensor<2xi64>) {
  // expected-error @below {{expected ','}}
  %o = attn.attention %q, %q, %q dropout(%random : tensor<2xi64>) : !q, !q, !q
  return
}
