// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The gradients of a function, and what it returns for them.
//
// RUN: attune-opt %s --attn-differentiate --split-input-file | FileCheck %s

!q = tensor<1x4x8x16xf16>
!k = tensor<1x2x8x16xf16>

// CHECK-LABEL: func.func @causal(
// CHECK: %[[O:.+]], %[[LSE:.+]] = attn.attention {{.*}} lse causal(bottom_right)
// CHECK: return %[[O]], %[[LSE]]
// CHECK-LABEL: func.func @causal_grad(
// CHECK-SAME: %[[Q:.+]]: tensor<1x4x8x16xf16>, %[[K:.+]]: tensor<1x2x8x16xf16>, %[[V:.+]]: tensor<1x2x8x16xf16>, %[[O:.+]]: tensor<1x4x8x16xf16>, %[[LSE:.+]]: tensor<1x4x8xf32>, %[[DO:.+]]: tensor<1x4x8x16xf16>) -> (tensor<1x4x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>)
// CHECK: %[[DQ:.+]], %[[DK:.+]], %[[DV:.+]] = attn.attention_grad %[[Q]], %[[K]], %[[V]], %[[O]], %[[LSE]], %[[DO]] causal(bottom_right)
// CHECK: return %[[DQ]], %[[DK]], %[[DV]]
func.func @causal(%q: !q, %k: !k, %v: !k) -> !q {
  %o = attn.attention %q, %k, %v causal(bottom_right) : !q, !k, !k
  return %o : !q
}

// -----

!t = tensor<1x2x8x16xf16>

// One tensor is key and value; log-sum-exps were returned, so they have a
// gradient.
// CHECK-LABEL: func.func @shared_grad(
// CHECK-SAME: %[[LG:[^:]+]]: tensor<1x2x8xf32>) -> (tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>)
// CHECK: %[[DQ:.+]], %[[DK:.+]], %[[DV:.+]] = attn.attention_grad {{.*}} lse_grad(%[[LG]]
// CHECK: %[[SUM:.+]] = arith.addf %[[DK]], %[[DV]]
// CHECK: return %[[DQ]], %[[SUM]]
func.func @shared(%q: !t, %k: !t) -> (!t, tensor<1x2x8xf32>) {
  %o, %lse = attn.attention %q, %k, %k lse : !t, !t, !t
  return %o, %lse : !t, tensor<1x2x8xf32>
}

// -----

!q = tensor<1x2x8x16xf16>

// The same weights are dropped.
// CHECK-LABEL: func.func @dropout(
// CHECK: attn.attention %{{.+}}, %{{.+}}, %{{.+}} lse dropout(%{{.+}}, 2.500000e-01 : tensor<2xi64>)
// CHECK-LABEL: func.func @dropout_grad(
// CHECK-SAME: %[[RANDOM:[^:]+]]: tensor<2xi64>
// CHECK: attn.attention_grad {{.*}} dropout(%[[RANDOM]], 2.500000e-01 : tensor<2xi64>)
func.func @dropout(%q: !q, %k: !q, %v: !q, %random: tensor<2xi64>) -> !q {
  %o = attn.attention %q, %k, %v dropout(%random, 0.25 : tensor<2xi64>) : !q, !q, !q
  return %o : !q
}
