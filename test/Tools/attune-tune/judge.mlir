// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The model and the strategies against 24 schedules that were measured on an
// H200, drawn at random but for the best of 201. One more was not timed.
//
// REQUIRES: attune-tune
// RUN: attune-tune %s --judge=%S/Inputs/measured.json | FileCheck %s
// CHECK:      attention on sm_90a: 24 measured schedules
// CHECK-NEXT:   model             rank correlation 0.{{[789][0-9]+}}, median error
// CHECK-NEXT:   model, compiled   rank correlation 0.{{[789][0-9]+}}, median error
// CHECK-NEXT:   regret of its best  1%: {{[0-9.]+}}%
// CHECK-NEXT:   regret of its best  5%: {{[0-9.]+}}%
// CHECK-NEXT:   regret of its best 10%: {{[0-9.]+}}%
// CHECK-NEXT:   guided: within 3% of the best after {{[1-6]$}}
// CHECK-NEXT:   neighbourhood: within 3% of the best after {{[0-9]+}}
// CHECK-NEXT:   evolutionary: within 3% of the best after {{[0-9]+}}
// CHECK-NEXT:   surrogate: within 3% of the best after {{[0-9]+}}
// CHECK-NEXT:   grid: within 3% of the best after {{[0-9]+}}
// CHECK-NEXT:   random: within 3% of the best after {{[0-9]+}}

module {
  func.func @attention(%arg0: tensor<32x32x512x64xbf16>, %arg1: tensor<32x32x512x64xbf16>, %arg2: tensor<32x32x512x64xbf16>) -> tensor<32x32x512x64xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 causal(top_left) : tensor<32x32x512x64xbf16>, tensor<32x32x512x64xbf16>, tensor<32x32x512x64xbf16>
    return %o : tensor<32x32x512x64xbf16>
  }
}
