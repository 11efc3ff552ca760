// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What makes a kernel wrong stays: here a mask that needs more than the 32 bits
// that index arithmetic in regions has.
//
// RUN: attune-reduce %s \
// RUN:   --reduction-tree="traversal-mode=0 test=%attune_build/bin/kernel-is-wrong.sh test-arg=--chip=gfx942 test-arg=--function=wrong" | FileCheck %s
//
// CHECK-NOT:  @right
// CHECK:      func.func @wrong
// CHECK:        attn.attention %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}} mask (
// CHECK:          arith.cmpi sge
// CHECK-NOT:  @right

!q = tensor<1x1x40x64xbf16>
!k = tensor<1x1x70x64xbf16>

func.func @right(%q: !q, %k: !k, %v: !k) -> !q {
  %o = attn.attention %q, %k, %v : !q, !k, !k
  return %o : !q
}

func.func @wrong(%q: !q, %k: !k, %v: !k, %sinks: tensor<1xf32>) -> !q {
  %million = arith.constant 1000000 : index
  %o = attn.attention %q, %k, %v softcap(2.000000e+01) sinks(%sinks : tensor<1xf32>)
     score (%s, %b, %h, %m, %n) {
       %twice = arith.addf %s, %s : f32
       attn.yield %twice : f32
     } mask (%b, %h, %m, %n) {
       %x = arith.muli %m, %million : index
       %y = arith.muli %n, %million : index
       %z = arith.muli %x, %y : index
       %zero = arith.constant 0 : index
       %visible = arith.cmpi sge, %z, %zero : index
       attn.yield %visible : i1
     } schedule(<blockN = 32>) : !q, !k, !k
  return %o : !q
}
