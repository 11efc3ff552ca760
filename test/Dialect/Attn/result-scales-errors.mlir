// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every rule about scales of the result.
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics

func.func @attention_c33_none(%q: tensor<1x2x4x64xbf16>) {
  // expected-error @below {{expects scales of a result of 'f8E4M3FN', but got none}}
  %o = attn.attention %q, %q, %q : tensor<1x2x4x64xbf16>, tensor<1x2x4x64xbf16>, tensor<1x2x4x64xbf16> -> tensor<1x2x4x64xf8E4M3FN>
  return
}

// -----

func.func @attention_c33_wide(%q: tensor<1x2x4x64xbf16>, %s: tensor<1x1x1x1xf32>) {
  // expected-error @below {{expects scales of a result of 8 bits alone, but got some of 'bf16'}}
  %o = attn.attention %q, %q, %q result_scales(%s : tensor<1x1x1x1xf32>) : tensor<1x2x4x64xbf16>, tensor<1x2x4x64xbf16>, tensor<1x2x4x64xbf16>
  return
}

// -----

func.func @attention_c34_heads(%q: tensor<1x2x4x64xbf16>, %s: tensor<1x3x1x1xf32>) {
  // expected-error @below {{expects scales of result to have 1 or 2 elements along dimension 1, but got 3}}
  %o = attn.attention %q, %q, %q result_scales(%s : tensor<1x3x1x1xf32>)
    : tensor<1x2x4x64xbf16>, tensor<1x2x4x64xbf16>, tensor<1x2x4x64xbf16> -> tensor<1x2x4x64xf8E4M3FN>
  return
}

// -----

func.func @attention_c34_rows(%q: tensor<1x2x4x64xbf16>, %s: tensor<1x2x4x1xf32>) {
  // expected-error @below {{expects scales of result to have 1 element along dimension 2, but got 4}}
  %o = attn.attention %q, %q, %q result_scales(%s : tensor<1x2x4x1xf32>)
    : tensor<1x2x4x64xbf16>, tensor<1x2x4x64xbf16>, tensor<1x2x4x64xbf16> -> tensor<1x2x4x64xf8E4M3FN>
  return
}

// -----

func.func @attention_c34_batches(%q: tensor<?x2x4x64xbf16>, %s: tensor<?x2x1x1xf32>) {
  // expected-error @below {{expects scales of result to have 1 element along dimension 0, but got `?`}}
  %o = attn.attention %q, %q, %q result_scales(%s : tensor<?x2x1x1xf32>)
    : tensor<?x2x4x64xbf16>, tensor<?x2x4x64xbf16>, tensor<?x2x4x64xbf16> -> tensor<?x2x4x64xf8E4M3FN>
  return
}

// -----

func.func @attention_c2(%q: tensor<1x2x4x64xbf16>, %s: tensor<1x1x1x1xf32>) {
  // expected-error @below {{result #0 must be 4D tensor of}}
  %o = attn.attention %q, %q, %q result_scales(%s : tensor<1x1x1x1xf32>)
    : tensor<1x2x4x64xbf16>, tensor<1x2x4x64xbf16>, tensor<1x2x4x64xbf16> -> tensor<1x2x4x64xi8>
  return
}
