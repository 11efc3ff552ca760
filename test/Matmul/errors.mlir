// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matmuls of types that no MMA takes are left to others, with a warning.
//
// REQUIRES: plugin
// RUN: attune-opt %s --load-pass-plugin=%test_passes --pass-pipeline="builtin.module(test-print-contraction-groups)" \
// RUN:   -split-input-file -verify-diagnostics -o /dev/null | FileCheck %s
// CHECK-NOT: group

func.func @single(%a: tensor<32x64xf32>, %b: tensor<64x16xf32>, %c: tensor<32x16xf32>) -> tensor<32x16xf32> {
  // expected-warning @below {{is left as it is: expects operands of a contraction to be both f16 or both bf16, but got 'f32' and 'f32'}}
  %r = linalg.matmul ins(%a, %b : tensor<32x64xf32>, tensor<64x16xf32>) outs(%c : tensor<32x16xf32>) -> tensor<32x16xf32>
  return %r : tensor<32x16xf32>
}

// -----

func.func @mixed(%a: tensor<32x64xf16>, %b: tensor<64x16xbf16>, %c: tensor<32x16xf32>) -> tensor<32x16xf32> {
  // expected-warning @below {{is left as it is: expects operands of a contraction to be both f16 or both bf16, but got 'f16' and 'bf16'}}
  %r = linalg.matmul ins(%a, %b : tensor<32x64xf16>, tensor<64x16xbf16>) outs(%c : tensor<32x16xf32>) -> tensor<32x16xf32>
  return %r : tensor<32x16xf32>
}

// -----

func.func @narrow(%a: tensor<2x32x64xbf16>, %b: tensor<2x64x16xbf16>, %c: tensor<2x32x16xbf16>) -> tensor<2x32x16xbf16> {
  // expected-warning @below {{is left as it is: expects a contraction to accumulate in f32, but got 'bf16'}}
  %r = linalg.batch_matmul ins(%a, %b : tensor<2x32x64xbf16>, tensor<2x64x16xbf16>) outs(%c : tensor<2x32x16xbf16>) -> tensor<2x32x16xbf16>
  return %r : tensor<2x32x16xbf16>
}
