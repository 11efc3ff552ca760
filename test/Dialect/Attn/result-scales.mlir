// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Results of 8 bits, and their scales.
//
// RUN: attune-opt %s | attune-opt | FileCheck %s
// RUN: attune-opt %s --mlir-print-op-generic | attune-opt | FileCheck %s

// CHECK-LABEL: func.func @one
// CHECK: attn.attention %{{.+}} lse result_scales(%{{.+}} : tensor<1x1x1x1xf32>) causal(bottom_right) :
// CHECK-SAME: -> (tensor<2x16x7x64xf8E4M3FN>, tensor<2x16x7xf32>)
func.func @one(%q: tensor<2x16x7x64xbf16>, %k: tensor<2x4x9x64xbf16>, %s: tensor<1x1x1x1xf32>) -> (tensor<2x16x7x64xf8E4M3FN>, tensor<2x16x7xf32>) {
  %o, %lse = attn.attention %q, %k, %k causal(bottom_right) result_scales(%s : tensor<1x1x1x1xf32>) lse
    : tensor<2x16x7x64xbf16>, tensor<2x4x9x64xbf16>, tensor<2x4x9x64xbf16> -> (tensor<2x16x7x64xf8E4M3FN>, tensor<2x16x7xf32>)
  return %o, %lse : tensor<2x16x7x64xf8E4M3FN>, tensor<2x16x7xf32>
}

// CHECK-LABEL: func.func @heads
// CHECK: attn.attention %{{.+}} value_scales(%{{.+}} : tensor<1x1x1x1xf32>) result_scales(%{{.+}} : tensor<1x1x?x1xf32>) value_zeros(%{{.+}} : tensor<1x1x1x1xf32>) order(bshd) :
// CHECK-SAME: -> tensor<2x7x?x64xf8E5M2FNUZ>
func.func @heads(%q: tensor<2x7x?x64xf16>, %k: tensor<2x9x?x64xi8>, %s: tensor<1x1x1x1xf32>, %rs: tensor<1x1x?x1xf32>) -> tensor<2x7x?x64xf8E5M2FNUZ> {
  %o = attn.attention %q, %k, %k order(bshd) result_scales(%rs : tensor<1x1x?x1xf32>) value_zeros(%s : tensor<1x1x1x1xf32>)
    value_scales(%s : tensor<1x1x1x1xf32>)
    : tensor<2x7x?x64xf16>, tensor<2x9x?x64xi8>, tensor<2x9x?x64xi8> -> tensor<2x7x?x64xf8E5M2FNUZ>
  return %o : tensor<2x7x?x64xf8E5M2FNUZ>
}
