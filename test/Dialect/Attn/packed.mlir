// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keys and values of 4 bits, two in a byte.
//
// RUN: attune-opt %s | attune-opt | FileCheck %s
// RUN: attune-opt %s --mlir-print-op-generic | attune-opt | FileCheck %s

// CHECK-LABEL: func.func @both
// CHECK-SAME: (%[[Q:.+]]: tensor<2x8x1x64xbf16>, %[[K:.+]]: tensor<2x2x?x32xi8>, %[[V:.+]]: tensor<2x2x?x48xi8>
func.func @both(%q: tensor<2x8x1x64xbf16>, %k: tensor<2x2x?x32xi8>, %v: tensor<2x2x?x48xi8>, %s: tensor<2x2x?x1xf32>) -> tensor<2x8x1x96xbf16> {
  // CHECK: attn.attention %[[Q]], %[[K]], %[[V]] packed(key, value) key_scales(
  %o = attn.attention %q, %k, %v key_scales(%s : tensor<2x2x?x1xf32>) value_scales(%s : tensor<2x2x?x1xf32>) packed(value, key)
    : tensor<2x8x1x64xbf16>, tensor<2x2x?x32xi8>, tensor<2x2x?x48xi8>
  // CHECK: return %{{.+}} : tensor<2x8x1x96xbf16>
  return %o : tensor<2x8x1x96xbf16>
}

// CHECK-LABEL: func.func @one
func.func @one(%q: tensor<1x2x4x32xf16>, %k: tensor<1x2x4x16xi8>, %v: tensor<1x2x4x32xi8>, %w: tensor<1x2x4x32xf16>) -> (tensor<1x2x4x32xf16>, tensor<1x2x4x64xf16>) {
  // CHECK: attn.attention %{{.+}}, %{{.+}}, %{{.+}} packed(key) :
  %o = attn.attention %q, %k, %w packed(key) : tensor<1x2x4x32xf16>, tensor<1x2x4x16xi8>, tensor<1x2x4x32xf16>
  // CHECK: attn.attention %{{.+}}, %{{.+}}, %{{.+}} packed(value) :
  %p = attn.attention %q, %w, %v packed(value) : tensor<1x2x4x32xf16>, tensor<1x2x4x32xf16>, tensor<1x2x4x32xi8>
  return %o, %p : tensor<1x2x4x32xf16>, tensor<1x2x4x64xf16>
}
