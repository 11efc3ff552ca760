// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The gradients that are asked for, in that order, as they are asked for.
//
// RUN: attune-opt %s --attn-differentiate=wrt=3,0 | FileCheck %s
// RUN: attune-opt %s --attn-differentiate="wrt=3,0 deterministic keep-forward=false" | FileCheck %s --check-prefixes=CHECK,ALONE

!t = tensor<1x2x8x16xf16>
!b = tensor<8x8xf16>

// ALONE-NOT: func.func @bias(
// CHECK-LABEL: func.func @bias_grad(
// CHECK-SAME: -> (tensor<8x8xf32>, tensor<1x2x8x16xf16>)
// CHECK: %[[DQ:.+]], %[[DB:.+]] = attn.attention_grad
// ALONE-SAME: deterministic
// CHECK-SAME: wrt(query, %arg3 : tensor<8x8xf16>)
// CHECK: return %[[DB]], %[[DQ]]
func.func @bias(%q: !t, %k: !t, %v: !t, %bias: !b) -> !t {
  %o = attn.attention %q, %k, %v score (%s, %b, %h, %m, %n) {
    %x = tensor.extract %bias[%m, %n] : !b
    %f = arith.extf %x : f16 to f32
    %y = arith.addf %s, %f : f32
    attn.yield %y : f32
  } : !t, !t, !t
  return %o : !t
}
