// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dimensions that no tensor has, which upstream's verifier lets pass in the generic form: the reshape is no part of a kernel.
//
// RUN: attune-opt %s --attune-set-schedule="block-m=64" | FileCheck %s
// CHECK: linalg.matmul {attune.schedule
// CHECK: tensor.expand_shape

func.func @far(%a: tensor<64x64xf16>, %b: tensor<64x96xf16>) -> tensor<64x8x12xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x96xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x96xf32>) -> tensor<64x96xf32>
  %sum = linalg.matmul ins(%a, %b : tensor<64x64xf16>, tensor<64x96xf16>) outs(%init : tensor<64x96xf32>) -> tensor<64x96xf32>
  %r = "tensor.expand_shape"(%sum) <{reassociation = [[-9223372036854775808], [1, 2]], static_output_shape = array<i64: 64, 8, 12>}> : (tensor<64x96xf32>) -> tensor<64x8x12xf32>
  return %r : tensor<64x8x12xf32>
}
