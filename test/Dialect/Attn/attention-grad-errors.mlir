// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One case for each rule of the verifier of attn.attention_grad, named by the id of the rule, and for its syntax.
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics

!q = tensor<1x2x8x16xf16>
func.func @attention_grad_c1_output(%q: !q, %lse: tensor<1x2x8xf32>, %o: tensor<1x2x9x16xf16>) {
  // expected-error @below {{expects output to be 'tensor<1x2x8x16xf16>', but got 'tensor<1x2x9x16xf16>'}}
  %dq, %dk, %dv = attn.attention_grad %q, %q, %q, %o, %lse, %q : !q, !q, !q, tensor<1x2x9x16xf16>, tensor<1x2x8xf32>, !q
  return
}

// -----

!q = tensor<1x2x8x16xf16>
func.func @attention_grad_c1_output_grad(%q: !q, %lse: tensor<1x2x8xf32>, %do: tensor<1x2x8x16xbf16>) {
  // expected-error @below {{expects output_grad to be 'tensor<1x2x8x16xf16>', but got 'tensor<1x2x8x16xbf16>'}}
  %dq, %dk, %dv = attn.attention_grad %q, %q, %q, %q, %lse, %do : !q, !q, !q, !q, tensor<1x2x8xf32>, tensor<1x2x8x16xbf16>
  return
}

// -----

!q = tensor<1x2x8x16xf16>
func.func @attention_grad_c2_lse(%q: !q, %lse: tensor<1x2x64xf32>) {
  // expected-error @below {{expects lse to be 'tensor<1x2x8xf32>', but got 'tensor<1x2x64xf32>'}}
  %dq, %dk, %dv = attn.attention_grad %q, %q, %q, %q, %lse, %q : !q, !q, !q, !q, tensor<1x2x64xf32>, !q
  return
}

// -----

!q = tensor<1x2x8x16xf16>
func.func @attention_grad_c2_lse_grad(%q: !q, %lse: tensor<1x2x8xf32>, %dlse: tensor<1x8x2xf32>) {
  // expected-error @below {{expects lse_grad to be 'tensor<1x2x8xf32>', but got 'tensor<1x8x2xf32>'}}
  %dq, %dk, %dv = attn.attention_grad %q, %q, %q, %q, %lse, %q lse_grad(%dlse : tensor<1x8x2xf32>) : !q, !q, !q, !q, tensor<1x2x8xf32>, !q
  return
}

// -----

!q = tensor<1x2x8x16xf16>
func.func @attention_grad_c3_none(%q: !q, %lse: tensor<1x2x8xf32>) {
  // expected-error @below {{expects at least one gradient to be wanted}}
  "attn.attention_grad"(%q, %q, %q, %q, %lse, %q) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>,
    order = "bhsd", resultSegmentSizes = array<i32: 0, 0, 0, 0>}> ({}, {}) : (!q, !q, !q, !q, tensor<1x2x8xf32>, !q) -> ()
  return
}

// -----

!q = tensor<1x2x8x16xf16>
func.func @attention_grad_c4_integers(%q: !q, %lse: tensor<1x2x8xf32>, %doc: tensor<2x128xi32>) {
  // expected-error @below {{expects a tensor of floats to have a gradient, but got 'tensor<2x128xi32>'}}
  %d = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(%doc : tensor<2x128xi32>) : !q, !q, !q, !q, tensor<1x2x8xf32>, !q
  return
}

// -----

!q = tensor<1x2x8x16xf16>
func.func @attention_grad_c5_twice(%q: !q, %lse: tensor<1x2x8xf32>, %bias: tensor<2xf32>) {
  // expected-error @below {{expects a tensor to be named once in 'wrt', but got one of 'tensor<2xf32>' again}}
  %d:2 = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(%bias, %bias : tensor<2xf32>, tensor<2xf32>) : !q, !q, !q, !q, tensor<1x2x8xf32>, !q
  return
}

// -----

!q = tensor<1x2x8x16xf16>
func.func @attention_grad_c6_derivative(%q: !q, %lse: tensor<1x2x8xf32>) {
  %dq, %dk, %dv = attn.attention_grad %q, %q, %q, %q, %lse, %q score (%s, %b, %h, %m, %n) {
    // expected-error @below {{expects an operation with a known derivative in the score region of attn.attention_grad, but got 'math.sincos'}}
    %y, %z = math.sincos %s : f32
    attn.yield %y : f32
  } : !q, !q, !q, !q, tensor<1x2x8xf32>, !q
  return
}

// -----

// What is not on the way to the yielded value needs none, nor do masks.
!q = tensor<1x2x8x16xf16>
func.func @unused_or_inactive(%q: !q, %lse: tensor<1x2x8xf32>, %table: tensor<8xf32>) {
  %dq, %dk, %dv = attn.attention_grad %q, %q, %q, %q, %lse, %q score (%s, %b, %h, %m, %n) {
    %unused, %also = math.sincos %s : f32
    %t = tensor.extract %table[%m] : tensor<8xf32>
    %inactive, %cos = math.sincos %t : f32
    %y = arith.addf %s, %inactive : f32
    attn.yield %y : f32
  } : !q, !q, !q, !q, tensor<1x2x8xf32>, !q
  return
}

// -----

!q = tensor<1x2x8x16xf16>
func.func @part(%q: !q, %lse: tensor<1x2x8xf32>) {
  // expected-error @below {{expects query, key, value or a tensor, but got 'output'}}
  %d = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(output) : !q, !q, !q, !q, tensor<1x2x8xf32>, !q
  return
}

// -----

!q = tensor<1x2x8x16xf16>
func.func @part_twice(%q: !q, %lse: tensor<1x2x8xf32>) {
  // expected-error @below {{expects 'key' once, but got it again}}
  %d = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(key, key) : !q, !q, !q, !q, tensor<1x2x8xf32>, !q
  return
}

// -----

!q = tensor<1x2x8x16xf16>
func.func @types(%q: !q, %lse: tensor<1x2x8xf32>) {
  // expected-error @below {{expects the types of query, key, value, output, lse and output_grad, but got 3 types}}
  %d:3 = attn.attention_grad %q, %q, %q, %q, %lse, %q : !q, !q, !q
  return
}

// -----

!q = tensor<1x2x8x16xf16>
func.func @lse_clause(%q: !q, %lse: tensor<1x2x8xf32>) {
  // expected-error @below {{expected ':'}}
  %d:3 = attn.attention_grad %q, %q, %q, %q, %lse, %q lse : !q, !q, !q, !q, tensor<1x2x8xf32>, !q
  return
}

// -----

!q = tensor<1x2x8x16xf16>
func.func @shared_rules(%q: !q, %k: tensor<1x2x8x32xf16>, %lse: tensor<1x2x8xf32>) {
  // expected-error @below {{expects query and key to have one head size, but got 16 and 32}}
  %d:3 = attn.attention_grad %q, %k, %q, %q, %lse, %q : !q, tensor<1x2x8x32xf16>, !q, !q, tensor<1x2x8xf32>, !q
  return
}

// -----

!q = tensor<1x2x8x16xf16>
func.func @result_type(%q: !q, %lse: tensor<1x2x8xf32>) {
  // expected-error @below {{failed to infer returned types}}
  // expected-error @below {{inferred type(s) 'tensor<1x2x8x16xf16>' are incompatible with return type(s) of operation 'tensor<1x2x8x16xf32>'}}
  %d = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(key) : !q, !q, !q, !q, tensor<1x2x8xf32>, !q -> tensor<1x2x8x16xf32>
  return
}

// -----

!q = tensor<1x2x8x16xf16>
func.func @attention_grad_c2_packed(%q: !q, %lse: tensor<3x2x8xf32>, %starts: tensor<4xi32>) {
  // expected-error @below {{expects lse to be 'tensor<1x2x8xf32>', but got 'tensor<3x2x8xf32>'}}
  %dq, %dk, %dv = attn.attention_grad %q, %q, %q, %q, %lse, %q query_starts(%starts : tensor<4xi32>) key_starts(%starts : tensor<4xi32>) : !q, !q, !q, !q, tensor<3x2x8xf32>, !q
  return
}

// -----

!q = tensor<2x2x8x16xf16>
func.func @attention_c25_packed(%q: !q, %lse: tensor<2x2x8xf32>, %starts: tensor<3xi32>) {
  // expected-error @below {{expects query to have 1 batch beside query starts, but got 2}}
  %dq, %dk, %dv = attn.attention_grad %q, %q, %q, %q, %lse, %q query_starts(%starts : tensor<3xi32>) : !q, !q, !q, !q, tensor<2x2x8xf32>, !q
  return
}

// -----

!q = tensor<2x2x8x16xf16>
func.func @attention_c23_lengths(%q: !q, %lse: tensor<2x2x8xf32>, %lengths: tensor<3xi32>) {
  // expected-error @below {{expects key lengths to have one element per batch, but got 3 for 2 batches}}
  %dq, %dk, %dv = attn.attention_grad %q, %q, %q, %q, %lse, %q key_lengths(%lengths : tensor<3xi32>) : !q, !q, !q, !q, tensor<2x2x8xf32>, !q
  return
}
