// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Zero points of integers in keys and values.
//
// RUN: attune-opt %s | attune-opt | FileCheck %s
// RUN: attune-opt %s --mlir-print-op-generic | attune-opt | FileCheck %s

// CHECK-LABEL: func.func @both
// CHECK: attn.attention %{{.+}} key_scales(%{{.+}}, [1, 1, 64, 1] : tensor<2x4x2x1xf32>) value_scales(%{{.+}} : tensor<2x4x1x64xf32>) key_zeros(%{{.+}} : tensor<2x4x2x1xf32>) value_zeros(%{{.+}} : tensor<2x4x1x64xf32>) :
func.func @both(%q: tensor<2x16x1x64xbf16>, %k: tensor<2x4x100x64xi8>, %ks: tensor<2x4x2x1xf32>, %kz: tensor<2x4x2x1xf32>,
                %vs: tensor<2x4x1x64xf32>, %vz: tensor<2x4x1x64xf32>) -> tensor<2x16x1x64xbf16> {
  %o = attn.attention %q, %k, %k value_zeros(%vz : tensor<2x4x1x64xf32>) key_zeros(%kz : tensor<2x4x2x1xf32>)
    key_scales(%ks, [1, 1, 64, 1] : tensor<2x4x2x1xf32>) value_scales(%vs : tensor<2x4x1x64xf32>)
    : tensor<2x16x1x64xbf16>, tensor<2x4x100x64xi8>, tensor<2x4x100x64xi8>
  return %o : tensor<2x16x1x64xbf16>
}

// CHECK-LABEL: func.func @packed
// CHECK: attn.attention %{{.+}} packed(value) value_scales(%{{.+}} : tensor<2x4x100x1xf32>) value_zeros(%{{.+}} : tensor<2x4x100x1xf32>) :
func.func @packed(%q: tensor<2x16x1x64xbf16>, %k: tensor<2x4x100x64xf8E4M3FN>, %v: tensor<2x4x100x32xi8>, %s: tensor<2x4x100x1xf32>) -> tensor<2x16x1x64xbf16> {
  %o = attn.attention %q, %k, %v packed(value) value_scales(%s : tensor<2x4x100x1xf32>) value_zeros(%s : tensor<2x4x100x1xf32>)
    : tensor<2x16x1x64xbf16>, tensor<2x4x100x64xf8E4M3FN>, tensor<2x4x100x32xi8>
  return %o : tensor<2x16x1x64xbf16>
}
