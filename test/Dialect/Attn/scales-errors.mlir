// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics

func.func @integers(%k: tensor<1x2x8x16xi8>) {
  // expected-error @below {{operand #0 must be 4D tensor of 16-bit float or bfloat16 type or 32-bit float or f8E4M3FN type or f8E5M2 type or f8E4M3FNUZ type or f8E5M2FNUZ type values, but got 'tensor<1x2x8x16xi8>'}}
  %o = attn.attention %k, %k, %k : tensor<1x2x8x16xi8>, tensor<1x2x8x16xi8>, tensor<1x2x8x16xi8>
  return
}

// -----

func.func @wide_integers(%q: tensor<1x2x8x16xf16>, %k: tensor<1x2x8x16xi16>) {
  // expected-error @below {{operand #1 must be 4D tensor of 16-bit float or bfloat16 type or 32-bit float or f8E4M3FN type or f8E5M2 type or f8E4M3FNUZ type or f8E5M2FNUZ type or 8-bit signless integer values, but got 'tensor<1x2x8x16xi16>'}}
  %o = attn.attention %q, %k, %k : tensor<1x2x8x16xf16>, tensor<1x2x8x16xi16>, tensor<1x2x8x16xi16>
  return
}

// -----

func.func @attention_c27_rows(%q: tensor<1x2x8x16xf16>, %s: tensor<1x2x3x1xf32>) {
  // expected-error @below {{expects scales of query to have 1 or 2 elements along dimension 2, but got 3}}
  %o = attn.attention %q, %q, %q query_scales(%s, [1, 1, 5, 1] : tensor<1x2x3x1xf32>)
    : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>
  return
}

// -----

func.func @attention_c27_heads(%q: tensor<1x2x8x16xf16>, %s: tensor<1x4x1x1xf32>) {
  // expected-error @below {{expects scales of value to have 1 or 2 elements along dimension 1, but got 4}}
  %o = attn.attention %q, %q, %q value_scales(%s : tensor<1x4x1x1xf32>)
    : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>
  return
}

// -----

func.func @attention_c27_none(%q: tensor<1x2x8x16xf16>, %s: tensor<1x2x0x1xf32>) {
  // expected-error @below {{expects scales of key to have 1 or 8 elements along dimension 2, but got 0}}
  %o = attn.attention %q, %q, %q key_scales(%s : tensor<1x2x0x1xf32>)
    : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>
  return
}

// -----

func.func @attention_c27_sizes(%q: tensor<1x2x8x16xf16>, %s: tensor<1x2x2x1xf32>) {
  // expected-error @below {{expects 4 sizes of blocks of key that share a scale, but got 2}}
  %o = attn.attention %q, %q, %q key_scales(%s, [4, 1] : tensor<1x2x2x1xf32>)
    : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>
  return
}

// -----

func.func @attention_c27_least(%q: tensor<1x2x8x16xf16>, %s: tensor<1x2x2x1xf32>) {
  // expected-error @below {{expects sizes of blocks of key that share a scale of at least 1, but got 0}}
  %o = attn.attention %q, %q, %q key_scales(%s, [1, 0, 4, 1] : tensor<1x2x2x1xf32>)
    : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>
  return
}

// -----

func.func @attention_c27_blocks_alone(%q: tensor<1x2x8x16xf16>) {
  // expected-error @below {{expects scales of query beside blocks that share one, but got none}}
  %o = "attn.attention"(%q, %q, %q) <{
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>,
    queryScaleBlocks = array<i64: 1, 1, 4, 1>, order = "bhsd"}> ({}, {})
    : (tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>) -> tensor<1x2x8x16xf16>
  return
}

// -----

func.func @attention_c28(%q: tensor<1x2x8x16xf16>, %s: tensor<1x1x1x1xf32>) {
  // expected-error @below {{expects no scales of values that are a part of the keys, but got 'tensor<1x1x1x1xf32>'}}
  %o = attn.attention %q, %q, %q latent(8) value_scales(%s : tensor<1x1x1x1xf32>)
    : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>
  return
}

// -----

func.func @scales_of_f16(%q: tensor<1x2x8x16xf16>, %s: tensor<1x1x1x1xf16>) {
  // expected-error @below {{operand #3 must be 4D tensor of 32-bit float values, but got 'tensor<1x1x1x1xf16>'}}
  %o = attn.attention %q, %q, %q key_scales(%s : tensor<1x1x1x1xf16>)
    : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>
  return
}

// -----

func.func @twice(%q: tensor<1x2x8x16xf16>, %s: tensor<1x1x1x1xf32>) {
  // expected-error @below {{expects clause 'key_scales' once, but got it again}}
  %o = attn.attention %q, %q, %q key_scales(%s : tensor<1x1x1x1xf32>) key_scales(%s : tensor<1x1x1x1xf32>)
    : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>
  return
}

// -----

func.func @no_integer(%q: tensor<1x2x8x16xf16>, %s: tensor<1x1x1x1xf32>) {
  // expected-error @below {{expected integer value}}
  %o = attn.attention %q, %q, %q key_scales(%s, [1, x] : tensor<1x1x1x1xf32>)
    : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>
  return
}

// -----

func.func @attention_grad_c7(%q: tensor<1x2x8x16xf16>, %k: tensor<1x2x8x16xbf16>, %lse: tensor<1x2x8xf32>) {
  // expected-error @below {{expects query and key to have one element type, but got 'f16' and 'bf16'}}
  %dq, %dk, %dv = attn.attention_grad %q, %k, %q, %q, %lse, %q : tensor<1x2x8x16xf16>, tensor<1x2x8x16xbf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8xf32>, tensor<1x2x8x16xf16>
  return
}

// -----

func.func @no_float(%q: tensor<1x2x8x16xindex>) {
  // expected-error @below {{operand #0 must be 4D tensor of}}
  %o = attn.attention %q, %q, %q : tensor<1x2x8x16xindex>, tensor<1x2x8x16xindex>, tensor<1x2x8x16xindex>
  return
}

// -----

func.func @attention_c29(%q: tensor<1x2x8x16xf16>) {
  // expected-error @below {{expects weights of f16, bf16, or a float of 8 bits that operands may have, but got 'f32'}}
  %o = attn.attention %q, %q, %q weights(f32) : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>
  return
}

// -----

func.func @attention_c29_no_float(%q: tensor<1x2x8x16xf16>) {
  // expected-error @below {{expects weights of f16, bf16, or a float of 8 bits that operands may have, but got 'tensor<2xf16>'}}
  %o = attn.attention %q, %q, %q weights(tensor<2xf16>) : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>
  return
}

// -----

func.func @no_type_of_weights(%q: tensor<1x2x8x16xf16>) {
  // expected-error @below {{invalid kind of attribute specified}}
  %o = attn.attention %q, %q, %q weights(8) : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>
  return
}
