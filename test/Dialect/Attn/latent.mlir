// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values that are a part of the keys.
//
// RUN: attune-opt %s | attune-opt | FileCheck %s
// RUN: attune-opt %s --mlir-print-op-generic | attune-opt | FileCheck %s

// CHECK-LABEL: func.func @latent
// CHECK-SAME: (%[[Q:.+]]: tensor<2x8x1x48xbf16>, %[[K:.+]]: tensor<2x1x?x48xbf16>, %[[L:.+]]: tensor<2xi32>)
func.func @latent(%q: tensor<2x8x1x48xbf16>, %k: tensor<2x1x?x48xbf16>, %l: tensor<2xi32>) -> tensor<2x8x1x32xbf16> {
  // CHECK: attn.attention %[[Q]], %[[K]], %[[K]] key_lengths(%[[L]] : tensor<2xi32>) latent(32) scale(1.000000e-01)
  %o = attn.attention %q, %k, %k scale(0.1) latent(32) key_lengths(%l : tensor<2xi32>)
    : tensor<2x8x1x48xbf16>, tensor<2x1x?x48xbf16>, tensor<2x1x?x48xbf16>
  // CHECK: return %{{.+}} : tensor<2x8x1x32xbf16>
  return %o : tensor<2x8x1x32xbf16>
}

// CHECK-LABEL: func.func @all_columns
func.func @all_columns(%q: tensor<1x4x2x8xf16>, %k: tensor<1x4x2x8xf16>) -> tensor<1x4x2x8xf16> {
  // CHECK: latent(8) order(bshd)
  %o = attn.attention %q, %k, %k order(bshd) latent(8) : tensor<1x4x2x8xf16>, tensor<1x4x2x8xf16>, tensor<1x4x2x8xf16>
  return %o : tensor<1x4x2x8xf16>
}
