// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: attune-opt %s --attn-differentiate --split-input-file --verify-diagnostics

!t = tensor<1x2x8x16xf16>
func.func @used(%q: !t) -> !t {
  %o = attn.attention %q, %q, %q : !t, !t, !t
  %p = arith.addf %o, %q : !t
  // expected-error @below {{expects '@used' to return the results of its attention alone}}
  return %p : !t
}

// -----

!t = tensor<1x2x8x16xf16>
func.func @two(%q: !t) -> !t {
  %o = attn.attention %q, %q, %q : !t, !t, !t
  // expected-error @below {{expects one attention in '@two', but got 2}}
  %p = attn.attention %o, %q, %q : !t, !t, !t
  return %p : !t
}

// -----

!t = tensor<1x2x8x16xf16>
// expected-error @below {{expects a function without callers}}
func.func @called(%q: !t) -> !t {
  %o = attn.attention %q, %q, %q : !t, !t, !t
  return %o : !t
}
func.func @caller(%q: !t) -> !t {
  %o = call @called(%q) : (!t) -> !t
  return %o : !t
}

// -----

!t = tensor<1x2x8x16xf16>
func.func @taken(%q: !t) -> !t {
  %o = attn.attention %q, %q, %q : !t, !t, !t
  return %o : !t
}
// expected-error @below {{expects no symbol '@taken_grad' beside '@taken'}}
func.func private @taken_grad()

// -----

!t = tensor<1x2x8x16xf16>
func.func @unknown(%q: !t) -> !t {
  %o = attn.attention %q, %q, %q score (%s, %b, %h, %m, %n) {
    // expected-error @below {{expects an operation with a known derivative, but got 'arith.bitcast'}}
    %i = arith.bitcast %s : f32 to i32
    %y = arith.bitcast %i : i32 to f32
    attn.yield %y : f32
  } : !t, !t, !t
  return %o : !t
}

// -----

!t = tensor<1x2x8x16xf16>
func.func @inside(%q: !t, %c: i1) -> !t {
  %o = scf.if %c -> !t {
    // expected-error @below {{expects to be in the body of '@inside', but got 'scf.if' around it}}
    %x = attn.attention %q, %q, %q : !t, !t, !t
    scf.yield %x : !t
  } else {
    scf.yield %q : !t
  }
  return %o : !t
}

// -----

!t = tensor<1x2x8x16xf16>
func.func @none(%a: !t) -> !t {
  %q = arith.addf %a, %a : !t
  // expected-error @below {{expects query, key or value to be an argument of '@none', but got none}}
  %o = attn.attention %q, %q, %q : !t, !t, !t
  return %o : !t
}

// -----

!t = tensor<1x2x8x16xf16>
func.func @pages(%q: !t, %pages: tensor<1x1xi32>) -> !t {
  // expected-error @below {{expects no pages or latent, for attn.attention_grad has none}}
  %o = attn.attention %q, %q, %q pages(%pages : tensor<1x1xi32>) : !t, !t, !t
  return %o : !t
}

// -----

!t = tensor<1x2x8x16xf16>
func.func @scales(%q: !t, %s: tensor<1x1x1x1xf32>) -> !t {
  // expected-error @below {{expects no query_scales, key_scales, value_scales, result_scales or weights, for attn.attention_grad has none}}
  %o = attn.attention %q, %q, %q key_scales(%s : tensor<1x1x1x1xf32>) : !t, !t, !t
  return %o : !t
}

// -----

!t = tensor<1x2x8x16xf16>
func.func @types(%q: !t, %v: tensor<1x2x8x16xf8E5M2>) -> !t {
  // expected-error @below {{expects operands and result of one element type to be differentiated, but got 'f16' and 'f8E5M2'}}
  %o = attn.attention %q, %q, %v : !t, !t, tensor<1x2x8x16xf8E5M2>
  return %o : !t
}

// -----

!t = tensor<1x2x8x16xf16>
func.func @result(%q: !t) -> tensor<1x2x8x16xf32> {
  // expected-error @below {{expects operands and result of one element type to be differentiated, but got 'f16' and 'f32'}}
  %o = attn.attention %q, %q, %q : !t, !t, !t -> tensor<1x2x8x16xf32>
  return %o : tensor<1x2x8x16xf32>
}
