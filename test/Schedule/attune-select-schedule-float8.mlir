// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is chosen for few queries of 8 bits, as for those of 16: one warp, with the rows of one instruction, for each warp
// that multiplies reads all keys and values. For many, warpgroups multiply, where weights have 8 bits as well.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(attune-attach-target{chip=sm_90a},attune-select-schedule)" | FileCheck %s

// CHECK-LABEL: func.func @narrow_query
// CHECK: schedule(<blockM = 16, blockN = 32, numWarps = 1, kStages = 4, vStages = 4,
func.func @narrow_query(%q: tensor<16x32x1x128xf8E4M3FN>, %k: tensor<16x8x4096x128xf8E4M3FN>) -> tensor<16x32x1x128xbf16> {
  %o = attn.attention %q, %k, %k : tensor<16x32x1x128xf8E4M3FN>, tensor<16x8x4096x128xf8E4M3FN>, tensor<16x8x4096x128xf8E4M3FN>
  return %o : tensor<16x32x1x128xbf16>
}

!many = tensor<4x16x4096x128xf8E4M3FN>

// CHECK-LABEL: func.func @narrow_weights
// CHECK: schedule(<blockN = 128, numWarps = 8, mmaWarps = 4, producerWarps = 4, {{.*}}overlap = softmax
func.func @narrow_weights(%q: !many) -> tensor<4x16x4096x128xbf16> {
  %o = attn.attention %q, %q, %q weights(f8E4M3FN) : !many, !many, !many
  return %o : tensor<4x16x4096x128xbf16>
}

// CHECK-LABEL: func.func @small_heads
// CHECK: schedule(<blockM = 192, blockN = 96, numWarps = 12, mmaWarps = 4, producerWarps = 4, {{.*}}overlap = softmax
func.func @small_heads(%q: tensor<4x32x4096x64xf8E4M3FN>) -> tensor<4x32x4096x64xbf16> {
  %o = attn.attention %q, %q, %q causal(bottom_right) weights(f8E4M3FN) : tensor<4x32x4096x64xf8E4M3FN>, tensor<4x32x4096x64xf8E4M3FN>, tensor<4x32x4096x64xf8E4M3FN>
  return %o : tensor<4x32x4096x64xbf16>
}

// CHECK-LABEL: func.func @large_heads
// CHECK: schedule(<{{(blockN = (96|128), )?}}numWarps = 8, mmaWarps = 4, producerWarps = 4, {{.*}}overlap = softmax
func.func @large_heads(%q: tensor<4x8x4096x256xf8E4M3FN>) -> tensor<4x8x4096x256xbf16> {
  %o = attn.attention %q, %q, %q weights(f8E4M3FN) : tensor<4x8x4096x256xf8E4M3FN>, tensor<4x8x4096x256xf8E4M3FN>, tensor<4x8x4096x256xf8E4M3FN>
  return %o : tensor<4x8x4096x256xbf16>
}

// Weights of 16 bits are multiplied by values that each warp widens.
// CHECK-LABEL: func.func @wide_weights
// CHECK: schedule(<
// CHECK-NOT: mmaWarps = 4
// CHECK: return
func.func @wide_weights(%q: !many) -> tensor<4x16x4096x128xbf16> {
  %o = attn.attention %q, %q, %q : !many, !many, !many
  return %o : tensor<4x16x4096x128xbf16>
}

// CHECK-LABEL: func.func @narrow_weights_of_one_query
// CHECK: schedule(<blockM = 16, blockN = 32, numWarps = 1, kStages = 4, vStages = 4,
func.func @narrow_weights_of_one_query(%q: tensor<16x32x1x128xf8E4M3FN>, %k: tensor<16x8x4096x128xf8E4M3FN>) -> tensor<16x32x1x128xbf16> {
  %o = attn.attention %q, %k, %k weights(f8E4M3FN) : tensor<16x32x1x128xf8E4M3FN>, tensor<16x8x4096x128xf8E4M3FN>, tensor<16x8x4096x128xf8E4M3FN>
  return %o : tensor<16x32x1x128xbf16>
}
