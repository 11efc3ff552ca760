// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is chosen for few queries of 8 bits, as for those of 16: one warp, with the rows of one instruction, for each warp
// that multiplies reads all keys and values.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(attune-attach-target{chip=sm_90a},attune-select-schedule)" | FileCheck %s

// CHECK-LABEL: func.func @narrow_query
// CHECK: schedule(<blockM = 16, blockN = 32, numWarps = 1, kStages = 4, vStages = 4,
func.func @narrow_query(%q: tensor<16x32x1x128xf8E4M3FN>, %k: tensor<16x8x4096x128xf8E4M3FN>) -> tensor<16x32x1x128xbf16> {
  %o = attn.attention %q, %k, %k : tensor<16x32x1x128xf8E4M3FN>, tensor<16x8x4096x128xf8E4M3FN>, tensor<16x8x4096x128xf8E4M3FN>
  return %o : tensor<16x32x1x128xbf16>
}
