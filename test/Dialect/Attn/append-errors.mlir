// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One case for each rule of the verifier of attn.append, named by the id of the rule.
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics

func.func @append_c1_size(%x: tensor<2147483648x1x1xf16>, %slots: tensor<2147483648xi64>, %pool: tensor<2x16x1x1xf16>) {
  // expected-error @below {{expects sizes of at most 2147483647, but got 2147483648}}
  %p = attn.append %x to %pool at %slots : tensor<2147483648x1x1xf16>, tensor<2x16x1x1xf16>, tensor<2147483648xi64>
  return
}

// -----

func.func @append_c1_dynamic_head_size(%x: tensor<2x4x?xf16>, %slots: tensor<2xi64>, %pool: tensor<2x16x4x?xf16>) {
  // expected-error @below {{expects the head size to be static, but got `?`}}
  %p = attn.append %x to %pool at %slots : tensor<2x4x?xf16>, tensor<2x16x4x?xf16>, tensor<2xi64>
  return
}

// -----

func.func @append_c1_head_size(%x: tensor<2x4x0xf16>, %slots: tensor<2xi64>, %pool: tensor<2x16x4x0xf16>) {
  // expected-error @below {{expects the head size to be at least 1, but got 0}}
  %p = attn.append %x to %pool at %slots : tensor<2x4x0xf16>, tensor<2x16x4x0xf16>, tensor<2xi64>
  return
}

// -----

func.func @append_c2_heads(%x: tensor<2x4x64xf16>, %slots: tensor<2xi64>, %pool: tensor<2x16x8x64xf16>) {
  // expected-error @below {{expects rows and pool to have equal heads and head sizes, but got 'tensor<2x4x64xf16>' and 'tensor<2x16x8x64xf16>'}}
  %p = attn.append %x to %pool at %slots : tensor<2x4x64xf16>, tensor<2x16x8x64xf16>, tensor<2xi64>
  return
}

// -----

func.func @append_c3_slots(%x: tensor<?x4x64xf16>, %slots: tensor<2xi64>, %pool: tensor<2x16x4x64xf16>) {
  // expected-error @below {{expects a slot for each token of 'tensor<?x4x64xf16>', but got 'tensor<2xi64>'}}
  %p = attn.append %x to %pool at %slots : tensor<?x4x64xf16>, tensor<2x16x4x64xf16>, tensor<2xi64>
  return
}

// -----

func.func @append_c4_types(%x: tensor<2x4x64xf16>, %slots: tensor<2xi64>, %pool: tensor<2x16x4x64xf16>, %cos: tensor<8x32xf32>,
                           %sin: tensor<9x32xf32>, %positions: tensor<2xi32>) {
  // expected-error @below {{expects tables of rotary of one type, but got 'tensor<8x32xf32>' and 'tensor<9x32xf32>'}}
  %p = attn.append %x to %pool at %slots rotary(%cos, %sin, %positions : tensor<8x32xf32>, tensor<9x32xf32>, tensor<2xi32>)
    : tensor<2x4x64xf16>, tensor<2x16x4x64xf16>, tensor<2xi64>
  return
}

// -----

func.func @append_c4_element(%x: tensor<2x4x64xf16>, %slots: tensor<2xi64>, %pool: tensor<2x16x4x64xf16>, %cos: tensor<8x32xbf16>,
                             %positions: tensor<2xi32>) {
  // expected-error @below {{expects tables of rotary of 'f32' or 'f16', but got 'bf16'}}
  %p = attn.append %x to %pool at %slots rotary(%cos, %cos, %positions : tensor<8x32xbf16>, tensor<8x32xbf16>, tensor<2xi32>)
    : tensor<2x4x64xf16>, tensor<2x16x4x64xf16>, tensor<2xi64>
  return
}

// -----

func.func @append_c4_columns(%x: tensor<2x4x64xf16>, %slots: tensor<2xi64>, %pool: tensor<2x16x4x64xf16>, %cos: tensor<8x33xf32>,
                             %positions: tensor<2xi32>) {
  // expected-error @below {{expects a table of rotary to have from 1 to 32 columns, but got 33}}
  %p = attn.append %x to %pool at %slots rotary(%cos, %cos, %positions : tensor<8x33xf32>, tensor<8x33xf32>, tensor<2xi32>)
    : tensor<2x4x64xf16>, tensor<2x16x4x64xf16>, tensor<2xi64>
  return
}

// -----

func.func @append_c4_dynamic_columns(%x: tensor<2x4x64xf16>, %slots: tensor<2xi64>, %pool: tensor<2x16x4x64xf16>, %cos: tensor<8x?xf32>,
                                     %positions: tensor<2xi32>) {
  // expected-error @below {{expects a table of rotary to have from 1 to 32 columns, but got `?`}}
  %p = attn.append %x to %pool at %slots rotary(%cos, %cos, %positions : tensor<8x?xf32>, tensor<8x?xf32>, tensor<2xi32>)
    : tensor<2x4x64xf16>, tensor<2x16x4x64xf16>, tensor<2xi64>
  return
}

// -----

func.func @append_c4_positions(%x: tensor<2x4x64xf16>, %slots: tensor<2xi64>, %pool: tensor<2x16x4x64xf16>, %cos: tensor<8x32xf32>,
                               %positions: tensor<3xi32>) {
  // expected-error @below {{expects a position for each token of 'tensor<2x4x64xf16>', but got 'tensor<3xi32>'}}
  %p = attn.append %x to %pool at %slots rotary(%cos, %cos, %positions : tensor<8x32xf32>, tensor<8x32xf32>, tensor<3xi32>)
    : tensor<2x4x64xf16>, tensor<2x16x4x64xf16>, tensor<2xi64>
  return
}

// -----

func.func @append_c4_some(%x: tensor<2x4x64xf16>, %slots: tensor<2xi64>, %pool: tensor<2x16x4x64xf16>, %cos: tensor<8x32xf32>) {
  // expected-error @below {{expects cosines, sines and positions of rotary, but got only some of them}}
  %p = "attn.append"(%x, %slots, %cos, %pool) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 0, 0>}>
    : (tensor<2x4x64xf16>, tensor<2xi64>, tensor<8x32xf32>, tensor<2x16x4x64xf16>) -> tensor<2x16x4x64xf16>
  return
}

// -----

func.func @append_c4_interleaved(%x: tensor<2x4x64xf16>, %slots: tensor<2xi64>, %pool: tensor<2x16x4x64xf16>) {
  // expected-error @below {{expects pairs that are interleaved to be rotated, but got no rotary}}
  %p = attn.append %x to %pool at %slots interleaved : tensor<2x4x64xf16>, tensor<2x16x4x64xf16>, tensor<2xi64>
  return
}

// -----

func.func @append_c5_no_scales(%x: tensor<2x4x64xf16>, %slots: tensor<2xi64>, %pool: tensor<2x16x4x64xf8E4M3FN>) {
  // expected-error @below {{expects scales of a pool of 'f8E4M3FN', but got none}}
  %p = attn.append %x to %pool at %slots : tensor<2x4x64xf16>, tensor<2x16x4x64xf8E4M3FN>, tensor<2xi64>
  return
}

// -----

func.func @append_c5_wide(%x: tensor<2x4x64xf16>, %slots: tensor<2xi64>, %pool: tensor<2x16x4x64xf16>, %s: tensor<1x1x1x1xf32>) {
  // expected-error @below {{expects scales of a pool of 8 bits alone, but got some of 'f16'}}
  %p = attn.append %x to %pool at %slots scales(%s : tensor<1x1x1x1xf32>) : tensor<2x4x64xf16>, tensor<2x16x4x64xf16>, tensor<2xi64>
  return
}

// -----

func.func @append_c5_both(%x: tensor<2x4x64xf16>, %slots: tensor<2xi64>, %pool: tensor<2x16x4x64xf8E4M3FN>, %s: tensor<1x1x1x1xf32>,
                          %r: tensor<2x16x4x1xf32>) {
  // expected-error @below {{expects scales that are given, or those of rows, but got both}}
  %p, %n = attn.append %x to %pool at %slots scales(%s : tensor<1x1x1x1xf32>) row_scales(%r : tensor<2x16x4x1xf32>)
    : tensor<2x4x64xf16>, tensor<2x16x4x64xf8E4M3FN>, tensor<2xi64>
  return
}

// -----

func.func @append_c6_scales(%x: tensor<2x4x64xf16>, %slots: tensor<2xi64>, %pool: tensor<2x16x4x64xf8E4M3FN>, %s: tensor<2x16x1x1xf32>) {
  // expected-error @below {{expects scales to be 'tensor<1x1x1x1xf32>' or 'tensor<1x1x4x1xf32>', but got 'tensor<2x16x1x1xf32>'}}
  %p = attn.append %x to %pool at %slots scales(%s : tensor<2x16x1x1xf32>) : tensor<2x4x64xf16>, tensor<2x16x4x64xf8E4M3FN>, tensor<2xi64>
  return
}

// -----

func.func @append_c7_row_scales(%x: tensor<2x4x64xf16>, %slots: tensor<2xi64>, %pool: tensor<2x16x4x64xf8E4M3FN>, %r: tensor<2x16x1x1xf32>) {
  // expected-error @below {{expects scales of rows to be 'tensor<2x16x4x1xf32>', but got 'tensor<2x16x1x1xf32>'}}
  %p, %n = attn.append %x to %pool at %slots row_scales(%r : tensor<2x16x1x1xf32>) : tensor<2x4x64xf16>, tensor<2x16x4x64xf8E4M3FN>, tensor<2xi64>
  return
}

// -----

func.func @attention_c18(%x: tensor<2x4x64xf16, "dense">, %slots: tensor<2xi64>, %pool: tensor<2x16x4x64xf16>) {
  // expected-error @below {{expects tensors without an encoding or with #attn.strided, but got "dense"}}
  %p = attn.append %x to %pool at %slots : tensor<2x4x64xf16, "dense">, tensor<2x16x4x64xf16>, tensor<2xi64>
  return
}

// -----

func.func @result(%x: tensor<2x4x64xf16>, %slots: tensor<2xi64>, %pool: tensor<2x16x4x64xf16>) {
  // expected-error @below {{expected type of operand #2 ('tensor<2x16x4x64xf16>') to match type of corresponding result ('tensor<3x16x4x64xf16>')}}
  %p = "attn.append"(%x, %slots, %pool) <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0, 1, 0, 0>}>
    : (tensor<2x4x64xf16>, tensor<2xi64>, tensor<2x16x4x64xf16>) -> tensor<3x16x4x64xf16>
  return
}

// -----

func.func @append_c5_integers(%x: tensor<2x4x64xf16>, %slots: tensor<2xi64>, %pool: tensor<2x16x4x64xi8>) {
  // expected-error @below {{expects scales of a pool of 'i8', but got none}}
  %p = attn.append %x to %pool at %slots : tensor<2x4x64xf16>, tensor<2x16x4x64xi8>, tensor<2xi64>
  return
}

// -----

func.func @append_c2_packed(%x: tensor<2x4x64xf16>, %slots: tensor<2xi64>, %pool: tensor<2x16x4x64xi8>, %s: tensor<1x1x4x1xf32>) {
  // expected-error @below {{expects rows and pool to have equal heads and head sizes, of the pool half, but got 'tensor<2x4x64xf16>' and 'tensor<2x16x4x64xi8>'}}
  %p = attn.append %x to %pool at %slots packed scales(%s : tensor<1x1x4x1xf32>) : tensor<2x4x64xf16>, tensor<2x16x4x64xi8>, tensor<2xi64>
  return
}

// -----

func.func @append_c8_type(%x: tensor<2x4x64xf16>, %slots: tensor<2xi64>, %pool: tensor<2x16x4x32xf16>) {
  // expected-error @below {{expects a packed pool of i8, but got 'f16'}}
  %p = attn.append %x to %pool at %slots packed : tensor<2x4x64xf16>, tensor<2x16x4x32xf16>, tensor<2xi64>
  return
}

// -----

func.func @append_c8_columns(%x: tensor<2x4x80xf16>, %slots: tensor<2xi64>, %pool: tensor<2x16x4x40xi8>, %s: tensor<1x1x4x1xf32>) {
  // expected-error @below {{expects a head size that is a multiple of 32 to be packed, but got 80}}
  %p = attn.append %x to %pool at %slots packed scales(%s : tensor<1x1x4x1xf32>) : tensor<2x4x80xf16>, tensor<2x16x4x40xi8>, tensor<2xi64>
  return
}

// -----

func.func @append_c8_rotary(%x: tensor<2x4x64xf16>, %slots: tensor<2xi64>, %pool: tensor<2x16x4x32xi8>, %s: tensor<1x1x4x1xf32>,
                            %cos: tensor<512x24xf32>, %positions: tensor<2xi32>) {
  // expected-error @below {{expects a table of rotary to have a multiple of 16 columns where rows are packed, but got 24}}
  %p = attn.append %x to %pool at %slots rotary(%cos, %cos, %positions : tensor<512x24xf32>, tensor<512x24xf32>, tensor<2xi32>) packed
    scales(%s : tensor<1x1x4x1xf32>) : tensor<2x4x64xf16>, tensor<2x16x4x32xi8>, tensor<2xi64>
  return
}

// -----

func.func @append_c9_type(%x: tensor<2x4x64xf16>, %slots: tensor<2xi64>, %pool: tensor<2x16x4x64xf8E4M3FN>, %s: tensor<1x1x4x1xf32>) {
  // expected-error @below {{expects zero points of a pool of i8, but got 'f8E4M3FN'}}
  %p = attn.append %x to %pool at %slots scales(%s : tensor<1x1x4x1xf32>) zeros(%s : tensor<1x1x4x1xf32>)
    : tensor<2x4x64xf16>, tensor<2x16x4x64xf8E4M3FN>, tensor<2xi64>
  return
}

// -----

func.func @append_c9_given(%x: tensor<2x4x64xf16>, %slots: tensor<2xi64>, %pool: tensor<2x16x4x64xi8>, %s: tensor<2x16x4x1xf32>, %z: tensor<1x1x4x1xf32>) {
  // expected-error @below {{expects scales beside their zero points, but got none}}
  %p, %n = attn.append %x to %pool at %slots zeros(%z : tensor<1x1x4x1xf32>) row_scales(%s : tensor<2x16x4x1xf32>)
    : tensor<2x4x64xf16>, tensor<2x16x4x64xi8>, tensor<2xi64>
  return
}

// -----

func.func @append_c9_rows(%x: tensor<2x4x64xf16>, %slots: tensor<2xi64>, %pool: tensor<2x16x4x64xi8>, %s: tensor<1x1x4x1xf32>, %z: tensor<2x16x4x1xf32>) {
  // expected-error @below {{expects scales of rows beside their zero points, but got none}}
  %p, %n = attn.append %x to %pool at %slots scales(%s : tensor<1x1x4x1xf32>) row_zeros(%z : tensor<2x16x4x1xf32>)
    : tensor<2x4x64xf16>, tensor<2x16x4x64xi8>, tensor<2xi64>
  return
}

// -----

func.func @append_c9_shape(%x: tensor<2x4x64xf16>, %slots: tensor<2xi64>, %pool: tensor<2x16x4x64xi8>, %s: tensor<1x1x4x1xf32>, %z: tensor<1x1x1x1xf32>) {
  // expected-error @below {{expects a zero point for each of scales, 'tensor<1x1x4x1xf32>', but got 'tensor<1x1x1x1xf32>'}}
  %p = attn.append %x to %pool at %slots scales(%s : tensor<1x1x4x1xf32>) zeros(%z : tensor<1x1x1x1xf32>)
    : tensor<2x4x64xf16>, tensor<2x16x4x64xi8>, tensor<2xi64>
  return
}
