// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One case for each rule of the verifier of attn.quantize, named by the id of the rule.
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics

func.func @quantize_c1_order(%x: tensor<2x4x100x64xf16>) {
  // expected-error @below {{expects order to be a permutation of the letters b, h, s and d, but got 'bhss'}}
  %y, %s = attn.quantize %x order(bhss) : tensor<2x4x100x64xf16> -> tensor<2x4x100x64xf8E4M3FN>, tensor<2x4x100x1xf32>
  return
}

// -----

func.func @quantize_c2_size(%x: tensor<2x4x2147483648x1xf16>) {
  // expected-error @below {{expects sizes of at most 2147483647, but got 2147483648}}
  %y, %s = attn.quantize %x : tensor<2x4x2147483648x1xf16> -> tensor<2x4x2147483648x1xf8E4M3FN>, tensor<2x4x2147483648x1xf32>
  return
}

// -----

func.func @quantize_c3_dynamic_head_size(%x: tensor<2x4x100x?xf16>) {
  // expected-error @below {{expects the head size to be static, but got `?`}}
  %y, %s = attn.quantize %x : tensor<2x4x100x?xf16> -> tensor<2x4x100x?xf8E4M3FN>, tensor<2x4x100x1xf32>
  return
}

// -----

func.func @quantize_c3_no_head_size(%x: tensor<2x4x100x0xf16>) {
  // expected-error @below {{expects the head size to be at least 1, but got 0}}
  %y, %s = attn.quantize %x : tensor<2x4x100x0xf16> -> tensor<2x4x100x0xf8E4M3FN>, tensor<2x4x100x1xf32>
  return
}

// -----

func.func @quantize_c4_shape(%x: tensor<2x4x100x64xf16>) {
  // expected-error @below {{expects a quantized tensor of the shape of 'tensor<2x4x100x64xf16>', but got 'tensor<2x4x64x100xf8E4M3FN>'}}
  %y, %s = attn.quantize %x : tensor<2x4x100x64xf16> -> tensor<2x4x64x100xf8E4M3FN>, tensor<2x4x100x1xf32>
  return
}

// -----

func.func @quantize_c5_count(%x: tensor<2x4x100x64xf16>) {
  // expected-error @below {{expects 4 sizes of blocks that share a scale, but got 2}}
  %y, %s = attn.quantize %x blocks [1, 64] : tensor<2x4x100x64xf16> -> tensor<2x4x100x64xf8E4M3FN>, tensor<2x4x100x1xf32>
  return
}

// -----

func.func @quantize_c5_zero(%x: tensor<2x4x100x64xf16>) {
  // expected-error @below {{expects sizes of blocks that share a scale of at least 1, but got 0}}
  %y, %s = attn.quantize %x blocks [1, 1, 0, 1] : tensor<2x4x100x64xf16> -> tensor<2x4x100x64xf8E4M3FN>, tensor<2x4x100x1xf32>
  return
}

// -----

func.func @quantize_c5_batches(%x: tensor<2x4x100x64xf16>) {
  // expected-error @below {{expects rows that share a scale to be of one batch and head, blocks of 1 along dimension 0, but got 2}}
  %y, %s = attn.quantize %x blocks [2, 1, 1, 1] : tensor<2x4x100x64xf16> -> tensor<2x4x100x64xf8E4M3FN>, tensor<2x4x100x1xf32>
  return
}

// -----

func.func @quantize_c5_columns(%x: tensor<2x4x100x64xf16>) {
  // expected-error @below {{expects rows to share a scale as a whole, blocks of 1 or 64 along dimension 3, but got 32}}
  %y, %s = attn.quantize %x blocks [1, 1, 1, 32] : tensor<2x4x100x64xf16> -> tensor<2x4x100x64xf8E4M3FN>, tensor<2x4x100x1xf32>
  return
}

// -----

func.func @quantize_c6_tensor(%x: tensor<2x4x100x64xf16>) {
  // expected-error @below {{expects a scale for each batch and head, 'tensor<2x4x100x64xf16>', but got 'tensor<1x1x1x1xf32>'}}
  %y, %s = attn.quantize %x : tensor<2x4x100x64xf16> -> tensor<2x4x100x64xf8E4M3FN>, tensor<1x1x1x1xf32>
  return
}

// -----

func.func @quantize_c6_columns(%x: tensor<2x4x100x64xf16>) {
  // expected-error @below {{expects scales to have 1 element along dimension 3, but got 64}}
  %y, %s = attn.quantize %x : tensor<2x4x100x64xf16> -> tensor<2x4x100x64xf8E4M3FN>, tensor<2x4x100x64xf32>
  return
}

// -----

func.func @quantize_c6_blocks(%x: tensor<2x4x100x64xf16>) {
  // expected-error @below {{expects scales to have 1 or 2 elements along dimension 2, but got 100}}
  %y, %s = attn.quantize %x blocks [1, 1, 64, 1] : tensor<2x4x100x64xf16> -> tensor<2x4x100x64xf8E4M3FN>, tensor<2x4x100x1xf32>
  return
}

// -----

func.func @quantize_c6_unknown(%x: tensor<2x4x100x64xf16>) {
  // expected-error @below {{expects scales to have 1 or 100 elements along dimension 2, but got `?`}}
  %y, %s = attn.quantize %x : tensor<2x4x100x64xf16> -> tensor<2x4x100x64xf8E4M3FN>, tensor<2x4x?x1xf32>
  return
}

// -----

func.func @quantize_c6_known(%x: tensor<2x4x?x64xf16>) {
  // expected-error @below {{expects scales of 1 element, or as many as are known at run time, along dimension 2, but got 100}}
  %y, %s = attn.quantize %x : tensor<2x4x?x64xf16> -> tensor<2x4x?x64xf8E4M3FN>, tensor<2x4x100x1xf32>
  return
}

// -----

func.func @quantize_c7_rotate(%x: tensor<2x4x100x80xf16>) {
  // expected-error @below {{expects a head size that is a power of 2 to rotate, but got 80}}
  %y, %s = attn.quantize %x rotate : tensor<2x4x100x80xf16> -> tensor<2x4x100x80xf8E4M3FN>, tensor<2x4x100x1xf32>
  return
}

// -----

func.func @attention_c18_encoding(%x: tensor<2x4x100x64xf16, "sparse">) {
  // expected-error @below {{expects tensors without an encoding or with #attn.strided, but got "sparse"}}
  %y, %s = attn.quantize %x : tensor<2x4x100x64xf16, "sparse"> -> tensor<2x4x100x64xf8E4M3FN>, tensor<2x4x100x1xf32>
  return
}

// -----

func.func @quantize_c4_packed(%x: tensor<2x4x100x64xf16>) {
  // expected-error @below {{expects a quantized tensor of the shape of 'tensor<2x4x100x64xf16>', with half the head size, but got 'tensor<2x4x100x64xi8>'}}
  %y, %s = attn.quantize %x packed : tensor<2x4x100x64xf16> -> tensor<2x4x100x64xi8>, tensor<2x4x100x1xf32>
  return
}

// -----

func.func @quantize_c8_type(%x: tensor<2x4x100x64xf16>) {
  // expected-error @below {{expects a packed tensor of i8, but got 'f8E4M3FN'}}
  %y, %s = attn.quantize %x packed : tensor<2x4x100x64xf16> -> tensor<2x4x100x32xf8E4M3FN>, tensor<2x4x100x1xf32>
  return
}

// -----

func.func @quantize_c8_columns(%x: tensor<2x4x100x80xf16>) {
  // expected-error @below {{expects a head size that is a multiple of 32 to be packed, but got 80}}
  %y, %s = attn.quantize %x packed : tensor<2x4x100x80xf16> -> tensor<2x4x100x40xi8>, tensor<2x4x100x1xf32>
  return
}

// -----

func.func @quantize_c9_type(%x: tensor<2x4x100x64xf16>) {
  // expected-error @below {{expects zero points of i8, but got some of 'f8E4M3FN'}}
  %y, %s, %z = attn.quantize %x : tensor<2x4x100x64xf16> -> tensor<2x4x100x64xf8E4M3FN>, tensor<2x4x100x1xf32>, tensor<2x4x100x1xf32>
  return
}

// -----

func.func @quantize_c9_shape(%x: tensor<2x4x100x64xf16>) {
  // expected-error @below {{expects a zero point for each scale, 'tensor<2x4x100x1xf32>', but got 'tensor<2x4x1x1xf32>'}}
  %y, %s, %z = attn.quantize %x : tensor<2x4x100x64xf16> -> tensor<2x4x100x64xi8>, tensor<2x4x100x1xf32>, tensor<2x4x1x1xf32>
  return
}
