// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics

func.func @attention_c26_operands(%q: tensor<1x2x8x16xf16>, %k: tensor<1x2x8x16xf16>, %v: tensor<1x2x8x16xf16>) {
  // expected-error @below {{expects key and value to be one operand where values are a part of the keys, but got two}}
  %o = attn.attention %q, %k, %v latent(8) : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>
  return
}

// -----

func.func @attention_c26_columns(%q: tensor<1x2x8x16xf16>, %k: tensor<1x2x8x16xf16>) {
  // expected-error @below {{expects values of 1 to 16 columns of the keys, but got 17}}
  %o = attn.attention %q, %k, %k latent(17) : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>
  return
}

// -----

func.func @attention_c26_none(%q: tensor<1x2x8x16xf16>, %k: tensor<1x2x8x16xf16>) {
  // expected-error @below {{expects values of 1 to 16 columns of the keys, but got 0}}
  %o = attn.attention %q, %k, %k latent(0) : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>
  return
}

// -----

func.func @result(%q: tensor<1x2x8x16xf16>, %k: tensor<1x2x8x16xf16>) -> tensor<1x2x8x16xf16> {
  // expected-note @below {{prior use here}}
  %o = attn.attention %q, %k, %k latent(8) : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>
  // expected-error @below {{use of value '%o' expects different type than prior uses: 'tensor<1x2x8x16xf16>' vs 'tensor<1x2x8x8xf16>'}}
  return %o : tensor<1x2x8x16xf16>
}

// -----

func.func @no_number(%q: tensor<1x2x8x16xf16>, %k: tensor<1x2x8x16xf16>) {
  // expected-error @below {{expected attribute value}}
  %o = attn.attention %q, %k, %k latent() : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>
  return
}
