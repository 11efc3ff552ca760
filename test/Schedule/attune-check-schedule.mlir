// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops that pass the check are left as they are; ops without a schedule are not checked.
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_80" --attune-check-schedule | FileCheck %s
// RUN: echo "module {}" | attune-opt --attune-check-schedule | FileCheck %s --check-prefix=EMPTY
// EMPTY: module

!t = tensor<1x1x256x64xf16>

// CHECK-LABEL: func.func @legal
func.func @legal(%q: !t) -> !t {
  // CHECK: attn.attention {{.*}} schedule(<blockM = 64, blockN = 32>)
  %o = attn.attention %q, %q, %q schedule(<blockM = 64, blockN = 32>) : !t, !t, !t
  return %o : !t
}

// CHECK-LABEL: func.func @no_schedule
func.func @no_schedule(%q: !t) -> !t {
  // CHECK: attn.attention %{{.+}}, %{{.+}}, %{{.+}} : tensor
  %o = attn.attention %q, %q, %q : !t, !t, !t
  return %o : !t
}
