// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A reference is that of one group, whose results are returned.
//
// RUN: attune-opt %s --convert-matmul-to-loops -split-input-file -verify-diagnostics -o /dev/null

// expected-error @below {{'func.func' op expects one group of contractions to lower to a reference, but got 0}}
func.func @none(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}

// -----

// expected-error @below {{'func.func' op expects to return results of a contraction's group, or their reshapes, to lower to a reference}}
func.func @more(%a: tensor<32x64xbf16>, %b: tensor<64x16xbf16>, %c: tensor<32x16xf32>, %d: tensor<32xf32>) -> tensor<32xf32> {
  // expected-note @below {{the group ends here: linalg.reduce: expects an op on tensors with parallel loops alone}}
  %0 = linalg.matmul ins(%a, %b : tensor<32x64xbf16>, tensor<64x16xbf16>) outs(%c : tensor<32x16xf32>) -> tensor<32x16xf32>
  %1 = linalg.reduce {arith.addf} ins(%0 : tensor<32x16xf32>) outs(%d : tensor<32xf32>) dimensions = [1]
  return %1 : tensor<32xf32>
}
