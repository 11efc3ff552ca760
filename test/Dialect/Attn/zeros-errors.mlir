// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every rule about zero points.
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics

func.func @attention_c32_type(%q: tensor<1x2x4x64xbf16>, %k: tensor<1x2x9x64xf8E4M3FN>, %v: tensor<1x2x9x64xi8>, %s: tensor<1x2x9x1xf32>, %z: tensor<1x2x9x1xf32>) {
  // expected-error @below {{expects zero points of a key of i8, but got 'f8E4M3FN'}}
  %o = attn.attention %q, %k, %v key_scales(%s : tensor<1x2x9x1xf32>) key_zeros(%z : tensor<1x2x9x1xf32>)
    : tensor<1x2x4x64xbf16>, tensor<1x2x9x64xf8E4M3FN>, tensor<1x2x9x64xi8>
  return
}

// -----

func.func @attention_c32_scales(%q: tensor<1x2x4x64xbf16>, %k: tensor<1x2x9x64xi8>, %v: tensor<1x2x9x64xi8>, %s: tensor<1x2x9x1xf32>, %z: tensor<1x2x9x1xf32>) {
  // expected-error @below {{expects scales of value beside its zero points, but got none}}
  %o = attn.attention %q, %k, %v value_zeros(%z : tensor<1x2x9x1xf32>)
    : tensor<1x2x4x64xbf16>, tensor<1x2x9x64xi8>, tensor<1x2x9x64xi8>
  return
}

// -----

func.func @attention_c32_shape(%q: tensor<1x2x4x64xbf16>, %k: tensor<1x2x9x64xi8>, %v: tensor<1x2x9x64xi8>, %s: tensor<1x2x9x1xf32>, %z: tensor<1x2x1x1xf32>) {
  // expected-error @below {{expects a zero point for each scale of key, 'tensor<1x2x9x1xf32>', but got 'tensor<1x2x1x1xf32>'}}
  %o = attn.attention %q, %k, %v key_scales(%s : tensor<1x2x9x1xf32>) key_zeros(%z : tensor<1x2x1x1xf32>)
    : tensor<1x2x4x64xbf16>, tensor<1x2x9x64xi8>, tensor<1x2x9x64xi8>
  return
}

// -----

func.func @attention_c32_query(%q: tensor<1x2x4x64xf8E4M3FN>, %k: tensor<1x2x9x64xi8>, %v: tensor<1x2x9x64xi8>, %s: tensor<1x2x9x1xf32>, %z: tensor<1x2x9x1xf32>) {
  // expected-error @below {{expects query of at least 16 bits beside zero points, but got 'f8E4M3FN'}}
  %o = attn.attention %q, %k, %v key_scales(%s : tensor<1x2x9x1xf32>) key_zeros(%z : tensor<1x2x9x1xf32>)
    : tensor<1x2x4x64xf8E4M3FN>, tensor<1x2x9x64xi8>, tensor<1x2x9x64xi8>
  return
}

// -----

func.func @attention_c32_weights(%q: tensor<1x2x4x64xbf16>, %k: tensor<1x2x9x64xi8>, %v: tensor<1x2x9x64xi8>, %s: tensor<1x2x9x1xf32>, %z: tensor<1x2x9x1xf32>) {
  // expected-error @below {{expects weights of at least 16 bits beside zero points, but got 'f8E4M3FN'}}
  %o = attn.attention %q, %k, %v weights(f8E4M3FN) value_scales(%s : tensor<1x2x9x1xf32>) value_zeros(%z : tensor<1x2x9x1xf32>)
    : tensor<1x2x4x64xbf16>, tensor<1x2x9x64xi8>, tensor<1x2x9x64xi8>
  return
}

// -----

func.func @attention_c32_columns(%q: tensor<1x2x4x64xbf16>, %k: tensor<1x2x9x64xi8>, %v: tensor<1x2x9x64xi8>, %s: tensor<1x2x9x1xf32>, %z: tensor<1x2x9x1xf32>, %c: tensor<1x2x1x64xf32>) {
  // expected-error @below {{expects zero points of key that the columns of a row share, but got some along dimension 3}}
  %o = attn.attention %q, %k, %v key_scales(%c : tensor<1x2x1x64xf32>) key_zeros(%c : tensor<1x2x1x64xf32>)
    : tensor<1x2x4x64xbf16>, tensor<1x2x9x64xi8>, tensor<1x2x9x64xi8>
  return
}

// -----

func.func @attention_c32_latent(%q: tensor<1x2x4x64xbf16>, %k: tensor<1x1x9x64xi8>, %s: tensor<1x1x9x1xf32>) {
  // expected-error @below {{expects no zero points where values are a part of the keys, but got some of key}}
  %o = attn.attention %q, %k, %k latent(32) key_scales(%s : tensor<1x1x9x1xf32>) key_zeros(%s : tensor<1x1x9x1xf32>)
    : tensor<1x2x4x64xbf16>, tensor<1x1x9x64xi8>, tensor<1x1x9x64xi8>
  return
}
