// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: not attune-opt %s --attn-differentiate=wrt=5 2>&1 | FileCheck %s --check-prefix=RANGE
// RUN: not attune-opt %s --attn-differentiate=wrt=0,1,0 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not attune-opt %s --attn-differentiate=wrt=4 2>&1 | FileCheck %s --check-prefix=UNREAD
// RUN: not attune-opt %s --attn-differentiate=wrt=3 2>&1 | FileCheck %s --check-prefix=INTEGERS

!t = tensor<1x2x8x16xf16>

// RANGE: [[@LINE+4]]:1: error: expects the numbers in 'wrt' to be less than 5, but got 5
// TWICE: [[@LINE+3]]:1: error: expects argument 0 once in 'wrt', but got it again
// UNREAD: [[@LINE+2]]:1: error: expects argument 4 of 'wrt' to be query, key or value of attention, or what it reads beside these
// INTEGERS: [[@LINE+1]]:1: error: expects a tensor of floats as argument 3 of 'wrt', but got 'tensor<8xi32>'
func.func @f(%q: !t, %k: !t, %v: !t, %table: tensor<8xi32>, %unread: !t) -> !t {
  %o = attn.attention %q, %k, %v score (%s, %b, %h, %m, %n) {
    %x = tensor.extract %table[%m] : tensor<8xi32>
    %f = arith.sitofp %x : i32 to f32
    %y = arith.addf %s, %f : f32
    attn.yield %y : f32
  } : !t, !t, !t
  return %o : !t
}
