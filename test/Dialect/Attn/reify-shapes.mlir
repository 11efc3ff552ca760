// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes of results are those of operands: a static one from any operand that
// has it, a dynamic one from query.
//
// RUN: attune-opt %s --resolve-ranked-shaped-type-result-dims | FileCheck %s

// CHECK-LABEL: func.func @sizes
// CHECK-SAME:    (%[[Q:[^ ]+]]: tensor<?x?x8x32xf16>
func.func @sizes(%q: tensor<?x?x8x32xf16>, %k: tensor<3x?x2x32xf16>, %v: tensor<?x?x2x16xf16>)
    -> (index, index, index, index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %o, %lse = attn.attention %q, %k, %v lse order(bshd)
    : tensor<?x?x8x32xf16>, tensor<3x?x2x32xf16>, tensor<?x?x2x16xf16>
  // CHECK-DAG: %[[C1:.+]] = arith.constant 1 : index
  // CHECK-DAG: %[[B:.+]] = arith.constant 3 : index
  // CHECK-DAG: %[[H:.+]] = arith.constant 8 : index
  // CHECK-DAG: %[[S0:.+]] = tensor.dim %[[Q]], %[[C1]]
  // CHECK-DAG: %[[S1:.+]] = tensor.dim %[[Q]], %[[C1]]
  %b = tensor.dim %o, %c0 : tensor<3x?x8x16xf16>
  %s = tensor.dim %o, %c1 : tensor<3x?x8x16xf16>
  %lb = tensor.dim %lse, %c0 : tensor<3x8x?xf32>
  %lh = tensor.dim %lse, %c1 : tensor<3x8x?xf32>
  %ls = tensor.dim %lse, %c2 : tensor<3x8x?xf32>
  // CHECK: return %[[B]], %[[S0]], %[[B]], %[[H]], %[[S1]]
  return %b, %s, %lb, %lh, %ls : index, index, index, index, index
}
