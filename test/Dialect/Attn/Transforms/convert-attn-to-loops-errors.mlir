// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: attune-opt %s --convert-attn-to-loops=output=f32 --split-input-file --verify-diagnostics

!t = tensor<1x2x8x16xf16>
func.func @used_elsewhere(%q: !t) -> !t {
  // expected-error @below {{expects its result to be returned by the function or merged, reshaped or transposed at most, for output=f32}}
  %o = attn.attention %q, %q, %q : !t, !t, !t
  // expected-note @below {{used here by 'attn.attention'}}
  %p = attn.attention %o, %q, %q : !t, !t, !t
  return %p : !t
}

// -----

!t = tensor<1x2x8x16xf16>
func.func @called(%q: !t) -> !t {
  // expected-error @below {{expects a function without callers for output=f32, but '@called' is called}}
  %o = attn.attention %q, %q, %q : !t, !t, !t
  return %o : !t
}
func.func @caller(%q: !t) -> !t {
  %o = call @called(%q) : (!t) -> !t
  return %o : !t
}

// -----

!t = tensor<1x2x8x16xf16>
func.func @nested(%q: !t, %p: i1) -> !t {
  %r = scf.if %p -> !t {
    // expected-error @below {{expects to be in a function of one block for output=f32}}
    %o = attn.attention %q, %q, %q : !t, !t, !t
    scf.yield %o : !t
  } else {
    scf.yield %q : !t
  }
  return %r : !t
}

// -----

!s = tensor<1x2x8x16xf32>
func.func @encoded_result(%q: !s) -> tensor<1x2x8x16xf32, #attn.strided<[256, 128, 16, 1]>> {
  // expected-error @below {{expects results without an encoding, but got 'tensor<1x2x8x16xf32, #attn.strided<[256, 128, 16, 1]>>'}}
  %o = attn.attention %q, %q, %q : !s, !s, !s -> tensor<1x2x8x16xf32, #attn.strided<[256, 128, 16, 1]>>
  return %o : tensor<1x2x8x16xf32, #attn.strided<[256, 128, 16, 1]>>
}
