// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Round trip of dropout, and what carries it.
//
// RUN: attune-opt %s | attune-opt --mlir-print-op-generic | attune-opt | FileCheck %s
// RUN: attune-opt %s --emit-bytecode | attune-opt | FileCheck %s
// RUN: attune-opt %s --canonicalize | FileCheck %s --check-prefix=CANONICAL
// RUN: attune-opt %s --attn-expand-short-forms | FileCheck %s --check-prefix=EXPANDED

!q = tensor<2x8x64x32xf16>
!lse = tensor<2x8x64xf32>

// CHECK-LABEL: func.func @forward
// CHECK: attn.attention %{{.+}}, %{{.+}}, %{{.+}} query_lengths(%{{.+}} : tensor<2xi32>)
// CHECK-SAME: causal(top_left) sinks(%{{.+}} : tensor<8xf32>) dropout(%{{.+}}, 1.000000e-01 : tensor<2xi64>) scale(1.250000e-01)
// CANONICAL-LABEL: func.func @forward
// CANONICAL: attn.attention {{.*}} dropout(%{{.+}}, 1.000000e-01 : tensor<2xi64>)
// EXPANDED-LABEL: func.func @forward
// EXPANDED: attn.attention {{.*}} dropout(%{{.+}}, 1.000000e-01 : tensor<2xi64>) {{.*}} mask
func.func @forward(%q: !q, %random: tensor<2xi64>, %sinks: tensor<8xf32>, %lengths: tensor<2xi32>) -> !q {
  // The logarithm that nobody reads is left out, dropout is not.
  %o, %lse = attn.attention %q, %q, %q dropout(%random, 0.1 : tensor<2xi64>) lse causal(top_left) sinks(%sinks : tensor<8xf32>)
    query_lengths(%lengths : tensor<2xi32>) scale(0.125) : !q, !q, !q
  return %o : !q
}

// CHECK-LABEL: func.func @gradients
// CHECK: attn.attention_grad {{.*}} wrt(query, %[[BIAS:[^ ]+]] : tensor<64xf32>) dropout(%{{.+}}, 0.000000e+00 : tensor<2xi64>) score
// CANONICAL-LABEL: func.func @gradients
// CANONICAL: attn.attention_grad {{.*}} dropout(%{{.+}}, 0.000000e+00 : tensor<2xi64>)
func.func @gradients(%q: !q, %lse: !lse, %random: tensor<2xi64>, %bias: tensor<64xf32>) -> (!q, tensor<64xf32>) {
  %dq, %db = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(query, %bias : tensor<64xf32>) dropout(%random, 0.0 : tensor<2xi64>)
    score (%s, %b, %h, %m, %n) {
      %x = tensor.extract %bias[%n] : tensor<64xf32>
      %y = arith.addf %s, %x : f32
      attn.yield %y : f32
    } : !q, !q, !q, !q, !lse, !q
  return %dq, %db : !q, tensor<64xf32>
}
