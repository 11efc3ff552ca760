// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A test case becomes smaller while a script finds it interesting: functions and ops go, and of an attention op
// what it does not need.
//
// RUN: echo 'grep -q softcap "$1" && grep -q "attn.attention" "$1" && exit 1; exit 0' > %t.sh
// RUN: attune-reduce %s --reduction-tree="traversal-mode=0 test=/bin/sh test-arg=%t.sh" | FileCheck %s
// RUN: not attune-reduce %s --reduction-tree="traversal-mode=0 test=/bin/false-that-is-not-there" 2>&1 | FileCheck %s --check-prefix=NOTEST
// RUN: not attune-reduce %s --reduction-tree="traversal-mode=0 test=/bin/true" 2>&1 | FileCheck %s --check-prefix=BORING
//
// CHECK-NOT:  @other
// CHECK:      func.func @wanted
// CHECK:        attn.attention %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}} softcap(2.000000e+01) :
// CHECK-NOT:  @other
// BORING: attune-reduce: error: expects files that can be read and written, and a test that finds the input interesting
// NOTEST: Error running interestingness test: {{.*}}No such file

!t = tensor<1x2x64x64xbf16>
func.func @other(%q: !t) -> !t {
  %o = attn.attention %q, %q, %q : !t, !t, !t
  return %o : !t
}
func.func @wanted(%q: !t, %k: !t, %v: !t, %slopes: tensor<2xf32>, %sinks: tensor<2xf32>,
                  %counts: tensor<1x1x2xi32>, %indices: tensor<1x1x2x2xi32>) -> !t {
  %o = attn.attention %q, %k, %v causal(top_left) window(3, 0, top_left) softcap(2.000000e+01) alibi(%slopes : tensor<2xf32>) sinks(%sinks : tensor<2xf32>)
    blocks(%counts, %indices, [32, 32] : tensor<1x1x2xi32>, tensor<1x1x2x2xi32>) full_blocks(%counts, %indices : tensor<1x1x2xi32>, tensor<1x1x2x2xi32>)
    score (%s, %b, %h, %m, %n) {
      %x = arith.addf %s, %s : f32
      attn.yield %x : f32
    } mask (%b, %h, %m, %n) {
      %seen = arith.cmpi ne, %m, %n : index
      attn.yield %seen : i1
    } : !t, !t, !t
  return %o : !t
}
