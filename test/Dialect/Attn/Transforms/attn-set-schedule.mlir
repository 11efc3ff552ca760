// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: attune-opt %s --attn-set-schedule="block-m=64 num-warps=8" | FileCheck %s
// RUN: attune-opt %s --attn-set-schedule | FileCheck %s --check-prefix=DEFAULT
// RUN: not attune-opt %s --attn-set-schedule="block-m=65" 2>&1 | FileCheck %s --check-prefix=DOMAIN
// RUN: not attune-opt %s --attn-set-schedule="block-q=64" 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// DOMAIN: attn-set-schedule.mlir:[[#@LINE+8]]:8: error: expects knob 'block-m' to be one of 16, {{.+}}, but got 65
// UNKNOWN: no such option block-q

// CHECK-LABEL: func.func @none_yet
// CHECK: schedule(<blockM = 64, numWarps = 8>)
// DEFAULT-LABEL: func.func @none_yet
// DEFAULT: schedule(<>)
func.func @none_yet(%q: tensor<1x2x8x16xf16>) -> tensor<1x2x8x16xf16> {
  %o = attn.attention %q, %q, %q : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>
  return %o : tensor<1x2x8x16xf16>
}

// What was there is replaced as a whole.
// CHECK-LABEL: func.func @replaced
// CHECK: schedule(<blockM = 64, numWarps = 8>)
// DEFAULT-LABEL: func.func @replaced
// DEFAULT: schedule(<>)
func.func @replaced(%q: tensor<1x2x8x16xf16>) -> tensor<1x2x8x16xf16> {
  %o = attn.attention %q, %q, %q schedule(<blockM = 256, blockN = 16>)
    : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>
  return %o : tensor<1x2x8x16xf16>
}

// CHECK-LABEL: func.func @nothing_to_do
// CHECK-NOT: schedule
func.func @nothing_to_do() {
  return
}
