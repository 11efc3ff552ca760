// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Element types of each operand, scales, and the type of the result.
//
// RUN: attune-opt %s | attune-opt | FileCheck %s
// RUN: attune-opt %s --mlir-print-op-generic | attune-opt | FileCheck %s

// CHECK-LABEL: func.func @cache
// CHECK-SAME: (%[[Q:.+]]: tensor<2x8x1x64xbf16>, %[[K:.+]]: tensor<2x2x?x64xf8E4M3FN>, %[[V:.+]]: tensor<2x2x?x64xf8E5M2>, %[[KS:.+]]: tensor<2x2x?x1xf32>, %[[VS:.+]]: tensor<1x1x1x1xf32>)
func.func @cache(%q: tensor<2x8x1x64xbf16>, %k: tensor<2x2x?x64xf8E4M3FN>, %v: tensor<2x2x?x64xf8E5M2>,
                 %ks: tensor<2x2x?x1xf32>, %vs: tensor<1x1x1x1xf32>) -> tensor<2x8x1x64xbf16> {
  // CHECK: attn.attention %[[Q]], %[[K]], %[[V]] key_scales(%[[KS]], [1, 1, 64, 1] : tensor<2x2x?x1xf32>)
  // CHECK-SAME: value_scales(%[[VS]] : tensor<1x1x1x1xf32>) causal(bottom_right)
  // CHECK-SAME: : tensor<2x8x1x64xbf16>, tensor<2x2x?x64xf8E4M3FN>, tensor<2x2x?x64xf8E5M2>{{$}}
  %o = attn.attention %q, %k, %v causal(bottom_right) value_scales(%vs : tensor<1x1x1x1xf32>)
    key_scales(%ks, [1, 1, 64, 1] : tensor<2x2x?x1xf32>)
    : tensor<2x8x1x64xbf16>, tensor<2x2x?x64xf8E4M3FN>, tensor<2x2x?x64xf8E5M2>
  return %o : tensor<2x8x1x64xbf16>
}

// Queries of 8 bits have a result of bf16 unless another is written.
// CHECK-LABEL: func.func @queries
func.func @queries(%q: tensor<1x2x32x16xf8E4M3FNUZ>, %s: tensor<1x2x4x1xf32>) -> (tensor<1x2x32x16xbf16>, tensor<1x2x32x16xf16>) {
  // CHECK: query_scales(%{{.+}}, [1, 1, 8, 1] : tensor<1x2x4x1xf32>) : tensor<1x2x32x16xf8E4M3FNUZ>, tensor<1x2x32x16xf8E4M3FNUZ>, tensor<1x2x32x16xf8E4M3FNUZ>{{$}}
  %o = attn.attention %q, %q, %q query_scales(%s, [1, 1, 8, 1] : tensor<1x2x4x1xf32>)
    : tensor<1x2x32x16xf8E4M3FNUZ>, tensor<1x2x32x16xf8E4M3FNUZ>, tensor<1x2x32x16xf8E4M3FNUZ>
  // CHECK: attn.attention %{{.+}}, %{{.+}}, %{{.+}} lse : {{.+}} -> (tensor<1x2x32x16xf16>, tensor<1x2x32xf32>)
  %o2, %lse = attn.attention %q, %q, %q lse
    : tensor<1x2x32x16xf8E4M3FNUZ>, tensor<1x2x32x16xf8E4M3FNUZ>, tensor<1x2x32x16xf8E4M3FNUZ>
    -> (tensor<1x2x32x16xf16>, tensor<1x2x32xf32>)
  return %o, %o2 : tensor<1x2x32x16xbf16>, tensor<1x2x32x16xf16>
}

// CHECK-LABEL: func.func @wide_result
func.func @wide_result(%q: tensor<1x2x32x16xbf16>) -> tensor<1x2x32x16xf32> {
  // CHECK: attn.attention {{.+}} -> tensor<1x2x32x16xf32>
  %o = attn.attention %q, %q, %q : tensor<1x2x32x16xbf16>, tensor<1x2x32x16xbf16>, tensor<1x2x32x16xbf16> -> tensor<1x2x32x16xf32>
  return %o : tensor<1x2x32x16xf32>
}

// Pages have scales, values that are a part of the keys have theirs, and each
// group of columns may have its own.
// CHECK-LABEL: func.func @pages
func.func @pages(%q: tensor<2x1x8x96xf16>, %k: tensor<?x16x1x96xf8E4M3FN>, %p: tensor<2x8xi32>, %s: tensor<?x16x1x3xf32>)
    -> tensor<2x1x8x64xf16> {
  // CHECK: pages(%{{.+}} : tensor<2x8xi32>) latent(64) key_scales(%{{.+}}, [1, 1, 1, 32] : tensor<?x16x1x3xf32>)
  %o = attn.attention %q, %k, %k order(bshd) pages(%p : tensor<2x8xi32>) latent(64)
    key_scales(%s, [1, 1, 1, 32] : tensor<?x16x1x3xf32>)
    : tensor<2x1x8x96xf16>, tensor<?x16x1x96xf8E4M3FN>, tensor<?x16x1x96xf8E4M3FN>
  return %o : tensor<2x1x8x64xf16>
}

// Weights have a type of their own where one is written.
// CHECK-LABEL: func.func @weights
func.func @weights(%q: tensor<1x2x32x16xf8E5M2>, %s: tensor<1x1x1x1xf32>) -> tensor<1x2x32x16xbf16> {
  // CHECK: attn.attention %{{.+}} weights(f8E4M3FN) value_scales(
  // CHECK-SAME: tensor<1x2x32x16xf8E5M2>{{$}}
  %o = attn.attention %q, %q, %q value_scales(%s : tensor<1x1x1x1xf32>) weights(f8E4M3FN)
    : tensor<1x2x32x16xf8E5M2>, tensor<1x2x32x16xf8E5M2>, tensor<1x2x32x16xf8E5M2>
  return %o : tensor<1x2x32x16xbf16>
}
