// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is picked is legal on the chip; what is given stays.
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_80" --attune-select-schedule --attune-check-schedule | FileCheck %s
// RUN: attune-opt %s --attune-attach-target="chip=gfx1100" --attune-select-schedule --attune-check-schedule | FileCheck %s
// RUN: attune-opt %s --attune-attach-target="chip=gfx942" --attune-select-schedule --attune-check-schedule | FileCheck %s

// CHECK-LABEL: func.func @picked
func.func @picked(%q: tensor<1x1x256x128xf16>) -> tensor<1x1x256x128xf16> {
  // CHECK: attn.attention {{.*}} schedule(<
  %o = attn.attention %q, %q, %q : tensor<1x1x256x128xf16>, tensor<1x1x256x128xf16>, tensor<1x1x256x128xf16>
  return %o : tensor<1x1x256x128xf16>
}

// CHECK-LABEL: func.func @wide_heads
func.func @wide_heads(%q: tensor<1x1x256x256xbf16>) -> tensor<1x1x256x256xbf16> {
  // CHECK: attn.attention {{.*}} schedule(<
  %o = attn.attention %q, %q, %q : tensor<1x1x256x256xbf16>, tensor<1x1x256x256xbf16>, tensor<1x1x256x256xbf16>
  return %o : tensor<1x1x256x256xbf16>
}

// CHECK-LABEL: func.func @given
func.func @given(%q: tensor<1x1x256x64xf16>) -> tensor<1x1x256x64xf16> {
  // CHECK: attn.attention {{.*}} schedule(<blockM = 32, blockN = 32, numWarps = 1, kStages = 1>)
  %o = attn.attention %q, %q, %q schedule(<blockM = 32, blockN = 32, numWarps = 1, kStages = 1>)
    : tensor<1x1x256x64xf16>, tensor<1x1x256x64xf16>, tensor<1x1x256x64xf16>
  return %o : tensor<1x1x256x64xf16>
}
