// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is picked where bits of a batch do not depend on the others: the same for any number of batches and any room for keys.
//
// RUN: attune-opt %s --split-input-file --attune-attach-target="chip=sm_90a" --attune-select-schedule --attune-check-schedule | FileCheck %s
// RUN: attune-opt %s --split-input-file --attune-attach-target="chip=sm_90a" --attune-select-schedule="sizes=batch=64,seq-q=1,seq-k=1000" | FileCheck %s

// CHECK-LABEL: func.func @one
// CHECK: batch_invariant schedule(<[[DECODING:.*splitK = 4, merge = last]]>)
func.func @one(%q: tensor<1x32x1x128xbf16>, %k: tensor<1x8x8192x128xbf16>, %n: tensor<1xi32>) -> tensor<1x32x1x128xbf16> {
  %o = attn.attention %q, %k, %k key_lengths(%n : tensor<1xi32>) batch_invariant : tensor<1x32x1x128xbf16>, tensor<1x8x8192x128xbf16>, tensor<1x8x8192x128xbf16>
  return %o : tensor<1x32x1x128xbf16>
}
// CHECK-LABEL: func.func @many
// CHECK: batch_invariant schedule(<[[DECODING]]>)
func.func @many(%q: tensor<64x32x1x128xbf16>, %k: tensor<64x8x500x128xbf16>, %n: tensor<64xi32>) -> tensor<64x32x1x128xbf16> {
  %o = attn.attention %q, %k, %k key_lengths(%n : tensor<64xi32>) batch_invariant : tensor<64x32x1x128xbf16>, tensor<64x8x500x128xbf16>, tensor<64x8x500x128xbf16>
  return %o : tensor<64x32x1x128xbf16>
}
// CHECK-LABEL: func.func @any
// CHECK: batch_invariant schedule(<[[DECODING]]>)
func.func @any(%q: tensor<?x32x1x128xbf16>, %k: tensor<?x8x?x128xbf16>, %n: tensor<?xi32>) -> tensor<?x32x1x128xbf16> {
  %o = attn.attention %q, %k, %k key_lengths(%n : tensor<?xi32>) batch_invariant : tensor<?x32x1x128xbf16>, tensor<?x8x?x128xbf16>, tensor<?x8x?x128xbf16>
  return %o : tensor<?x32x1x128xbf16>
}

// -----

// No shares of all keys, and no rescaling that another sequence decides.
// CHECK-LABEL: func.func @latent
// CHECK-NOT: rescale
// CHECK-NOT: splitK = 0
// CHECK: return
func.func @latent(%q: tensor<64x128x1x576xbf16>, %k: tensor<64x1x8192x576xbf16>, %n: tensor<64xi32>) -> tensor<64x128x1x512xbf16> {
  %o = attn.attention %q, %k, %k key_lengths(%n : tensor<64xi32>) latent(512) batch_invariant : tensor<64x128x1x576xbf16>, tensor<64x1x8192x576xbf16>, tensor<64x1x8192x576xbf16>
  return %o : tensor<64x128x1x512xbf16>
}

// -----

// CHECK-LABEL: func.func @packed
// CHECK: batch_invariant {{.*}}schedule(<[[PACKED:.*]]>)
// CHECK-NOT: rescale
func.func @packed(%q: tensor<1x16x500x128xbf16>, %k: tensor<1x16x900x128xbf16>, %s: tensor<2xi32>) -> tensor<1x16x500x128xbf16> {
  %o = attn.attention %q, %k, %k query_starts(%s : tensor<2xi32>) key_starts(%s : tensor<2xi32>) batch_invariant causal(bottom_right)
    : tensor<1x16x500x128xbf16>, tensor<1x16x900x128xbf16>, tensor<1x16x900x128xbf16>
  return %o : tensor<1x16x500x128xbf16>
}
// CHECK-LABEL: func.func @packed_many
// CHECK: batch_invariant {{.*}}schedule(<[[PACKED]]>)
func.func @packed_many(%q: tensor<1x16x90000x128xbf16>, %k: tensor<1x16x90000x128xbf16>, %s: tensor<65xi32>) -> tensor<1x16x90000x128xbf16> {
  %o = attn.attention %q, %k, %k query_starts(%s : tensor<65xi32>) key_starts(%s : tensor<65xi32>) batch_invariant causal(bottom_right)
    : tensor<1x16x90000x128xbf16>, tensor<1x16x90000x128xbf16>, tensor<1x16x90000x128xbf16>
  return %o : tensor<1x16x90000x128xbf16>
}
