// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics

func.func @attention_c31_type(%q: tensor<1x2x4x64xf16>, %k: tensor<1x2x4x32xf16>, %v: tensor<1x2x4x64xf16>) {
  // expected-error @below {{expects a packed key of i8, but got 'f16'}}
  %o = attn.attention %q, %k, %v packed(key) : tensor<1x2x4x64xf16>, tensor<1x2x4x32xf16>, tensor<1x2x4x64xf16>
  return
}

// -----

func.func @attention_c31_columns(%q: tensor<1x2x4x64xf16>, %k: tensor<1x2x4x32xi8>, %v: tensor<1x2x4x40xi8>) {
  // expected-error @below {{expects a packed value of a multiple of 32 columns, but got one of 80; leave it unpacked, or add columns of 0}}
  %o = attn.attention %q, %k, %v packed(key, value) : tensor<1x2x4x64xf16>, tensor<1x2x4x32xi8>, tensor<1x2x4x40xi8>
  return
}

// -----

func.func @attention_c31_scales(%q: tensor<1x2x4x64xf16>, %k: tensor<1x2x4x32xi8>, %s: tensor<1x2x1x32xf32>) {
  // expected-error @below {{expects scales of a packed value that its columns share, but got some along dimension 3}}
  %o = attn.attention %q, %k, %k packed(key, value) value_scales(%s : tensor<1x2x1x32xf32>)
    : tensor<1x2x4x64xf16>, tensor<1x2x4x32xi8>, tensor<1x2x4x32xi8>
  return
}

// -----

func.func @attention_c31_query(%q: tensor<1x2x4x64xf8E4M3FN>, %k: tensor<1x2x4x32xi8>) {
  // expected-error @below {{expects queries of at least 16 bits beside packed operands, but got 'f8E4M3FN'}}
  %o = attn.attention %q, %k, %k packed(key, value) : tensor<1x2x4x64xf8E4M3FN>, tensor<1x2x4x32xi8>, tensor<1x2x4x32xi8>
  return
}

// -----

func.func @attention_c31_weights(%q: tensor<1x2x4x64xf16>, %k: tensor<1x2x4x32xi8>) {
  // expected-error @below {{expects weights of at least 16 bits beside packed operands, but got 'f8E5M2'}}
  %o = attn.attention %q, %k, %k packed(key, value) weights(f8E5M2) : tensor<1x2x4x64xf16>, tensor<1x2x4x32xi8>, tensor<1x2x4x32xi8>
  return
}

// -----

func.func @attention_c31_latent(%q: tensor<1x2x4x64xf16>, %k: tensor<1x2x4x32xi8>) {
  // expected-error @below {{expects unpacked keys where values are a part of them, but got packed ones}}
  %o = attn.attention %q, %k, %k packed(key) latent(32) : tensor<1x2x4x64xf16>, tensor<1x2x4x32xi8>, tensor<1x2x4x32xi8>
  return
}

// -----

func.func @attention_c6(%q: tensor<1x2x4x32xf16>, %k: tensor<1x2x4x32xi8>) {
  // expected-error @below {{expects query and key to have one head size, but got 32 and 64}}
  %o = attn.attention %q, %k, %k packed(key, value) : tensor<1x2x4x32xf16>, tensor<1x2x4x32xi8>, tensor<1x2x4x32xi8>
  return
}

// -----

func.func @other_operand(%q: tensor<1x2x4x64xf16>, %k: tensor<1x2x4x32xi8>) {
  // expected-error @below {{expects key or value, but got 'query'}}
  %o = attn.attention %q, %k, %k packed(query) : tensor<1x2x4x64xf16>, tensor<1x2x4x32xi8>, tensor<1x2x4x32xi8>
  return
}

// -----

func.func @twice(%q: tensor<1x2x4x64xf16>, %k: tensor<1x2x4x32xi8>) {
  // expected-error @below {{expects 'key' once, but got it again}}
  %o = attn.attention %q, %k, %k packed(key, key) : tensor<1x2x4x64xf16>, tensor<1x2x4x32xi8>, tensor<1x2x4x32xi8>
  return
}
