// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is chosen for packed queries of keys in pages, by how many queries sequences have in the mean: heads of a group share tiles, of which those of
// single queries are read as fast as memory gives keys.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(attune-attach-target{chip=sm_90a},attune-select-schedule)" | FileCheck %s

!k = tensor<8192x64x8x128xbf16>
!narrow = tensor<8192x64x8x128xf8E4M3FN>
!n = tensor<64xi32>
!s = tensor<65xi32>
!t = tensor<64x128xi32>

// CHECK-LABEL: func.func @one_query_each
// CHECK: schedule(<blockM = 64, mmaWarps = 4, producerWarps = 1, qStages = 2, kStages = 4, vStages = 4, qInRegisters = 0, rescale = 8, tileOrder = ascending, persistent = dynamic
func.func @one_query_each(%q: tensor<1x64x32x128xbf16>, %k: !k, %n: !n, %s: !s, %t: !t) -> tensor<1x64x32x128xbf16> {
  %o = attn.attention %q, %k, %k order(bshd) causal(bottom_right) key_lengths(%n : !n) query_starts(%s : !s) pages(%t : !t) : tensor<1x64x32x128xbf16>, !k, !k
  return %o : tensor<1x64x32x128xbf16>
}

// 16 queries of 4 heads are the rows of one warpgroup, more those of two.
// CHECK-LABEL: func.func @several_queries_each
// CHECK: schedule(<blockM = 64, mmaWarps = 4, producerWarps = 1,
// CHECK: schedule(<numWarps = 8, mmaWarps = 4, producerWarps = 4, qStages = 2, kStages = 4, vStages = 4, qInRegisters = 0, overlap = softmax, rescale = 8, tileOrder = ascending, persistent = dynamic
func.func @several_queries_each(%q: tensor<1x1024x32x128xbf16>, %p: tensor<1x2048x32x128xbf16>, %k: !k, %n: !n, %s: !s, %t: !t) -> (tensor<1x1024x32x128xbf16>, tensor<1x2048x32x128xbf16>) {
  %o = attn.attention %q, %k, %k order(bshd) causal(bottom_right) key_lengths(%n : !n) query_starts(%s : !s) pages(%t : !t) : tensor<1x1024x32x128xbf16>, !k, !k
  %x = attn.attention %p, %k, %k order(bshd) causal(bottom_right) key_lengths(%n : !n) query_starts(%s : !s) pages(%t : !t) : tensor<1x2048x32x128xbf16>, !k, !k
  return %o, %x : tensor<1x1024x32x128xbf16>, tensor<1x2048x32x128xbf16>
}

// Heads that come before queries share none.
// CHECK-LABEL: func.func @heads_apart
// CHECK: schedule(<blockM = 64, mmaWarps = 4, producerWarps = 1, {{.*}}workgroupsPerSm = 2
func.func @heads_apart(%q: tensor<1x32x1024x128xbf16>, %k: tensor<8192x8x64x128xbf16>, %n: !n, %s: !s, %t: !t) -> tensor<1x32x1024x128xbf16> {
  %o = attn.attention %q, %k, %k causal(bottom_right) key_lengths(%n : !n) query_starts(%s : !s) pages(%t : !t) : tensor<1x32x1024x128xbf16>, tensor<8192x8x64x128xbf16>, tensor<8192x8x64x128xbf16>
  return %o : tensor<1x32x1024x128xbf16>
}

// Keys of 8 bits: a warp widens them for 4 queries of 4 heads, a role for more.
// CHECK-LABEL: func.func @narrow_keys
// CHECK: schedule(<blockM = 16, numWarps = 1, kStages = 1, vStages = 1,
// CHECK: schedule(<blockM = 64, {{.*}}producerWarps = 8,
func.func @narrow_keys(%q: tensor<1x256x32x128xbf16>, %p: tensor<1x512x32x128xbf16>, %k: !narrow, %n: !n, %s: !s, %t: !t) -> (tensor<1x256x32x128xbf16>, tensor<1x512x32x128xbf16>) {
  %o = attn.attention %q, %k, %k order(bshd) causal(bottom_right) key_lengths(%n : !n) query_starts(%s : !s) pages(%t : !t) : tensor<1x256x32x128xbf16>, !narrow, !narrow
  %x = attn.attention %p, %k, %k order(bshd) causal(bottom_right) key_lengths(%n : !n) query_starts(%s : !s) pages(%t : !t) : tensor<1x512x32x128xbf16>, !narrow, !narrow
  return %o, %x : tensor<1x256x32x128xbf16>, tensor<1x512x32x128xbf16>
}
