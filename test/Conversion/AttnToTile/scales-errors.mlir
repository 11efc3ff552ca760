// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scales that kernels cannot multiply by.
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(attune-attach-target{chip=sm_80},convert-attn-to-tile)"

!t = tensor<1x2x64x64xbf16>

func.func @columns_of_query(%q: !t, %s: tensor<1x1x1x2xf32>) -> !t {
  // expected-error @below {{expects scales of query that the columns of a row share, for kernels multiply scores by them, but got some along dimension 3}}
  %o = attn.attention %q, %q, %q query_scales(%s, [1, 1, 1, 32] : tensor<1x1x1x2xf32>) schedule(<>) : !t, !t, !t
  return %o : !t
}

// -----

!t = tensor<1x64x2x64xbf16>

func.func @columns_of_key(%q: !t, %s: tensor<1x1x1x64xf32>) -> !t {
  // expected-error @below {{expects scales of key that the columns of a row share, for kernels multiply scores by them, but got some along dimension 3}}
  %o = attn.attention %q, %q, %q order(bshd) key_scales(%s : tensor<1x1x1x64xf32>) schedule(<>) : !t, !t, !t
  return %o : !t
}

// -----

!t = tensor<1x2x64x64xbf16>

func.func @both_of_value(%q: !t, %s: tensor<1x1x64x64xf32>) -> !t {
  // expected-error @below {{expects scales of value that either its rows or its columns share, for kernels multiply results or weights by them, but got some for both}}
  %o = attn.attention %q, %q, %q value_scales(%s : tensor<1x1x64x64xf32>) schedule(<>) : !t, !t, !t
  return %o : !t
}

// -----

!t = tensor<1x2x64x64xf8E4M3FN>

func.func @keys_of_narrow_weights(%q: !t, %s: tensor<1x1x64x1xf32>) -> tensor<1x2x64x64xbf16> {
  // expected-error @below {{expects scales of value that all keys of a head share, for weights of 8 bits have no room for factors, but got some that differ, beside 'f8E4M3FN'}}
  %o = attn.attention %q, %q, %q weights(f8E4M3FN) value_scales(%s : tensor<1x1x64x1xf32>) schedule(<>) : !t, !t, !t
  return %o : tensor<1x2x64x64xbf16>
}
