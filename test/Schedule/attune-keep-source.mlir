// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions with attention are kept once; others and second runs change nothing.
//
// RUN: attune-opt %s --attune-keep-source | FileCheck %s
// RUN: attune-opt %s --attune-keep-source --attune-keep-source | FileCheck %s
// RUN: echo "func.func private @f()" | attune-opt --attune-keep-source | FileCheck %s --check-prefix=NONE
// NONE-NOT: attune.source

!t = tensor<1x1x8x16xf16>

// CHECK: func.func @attention
// CHECK: func.func @other
// CHECK: module attributes {attune.source} {
// CHECK-NEXT: func.func @attention
// CHECK: attn.attention {{.*}} causal(top_left)
// CHECK-NOT: @other
// CHECK-NOT: attune.source
func.func @attention(%q: !t) -> !t {
  %o = attn.attention %q, %q, %q causal(top_left) : !t, !t, !t
  return %o : !t
}

func.func @other(%q: !t) -> !t {
  return %q : !t
}
