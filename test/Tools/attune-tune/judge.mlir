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
// CHECK-NEXT:   strategy      | regret after 1%     5%    10%    50 | tried until within 3%     2% | in 10%: shapes fastest
// CHECK-NEXT:   guided        |{{ +[0-9.]+% +[0-9.]+% +[0-9.]+% +0.0%}} |{{ +[1-6]\.0 +[0-9.]+}} |{{ +[0-9]+% +[0-9]+%$}}
// CHECK-NEXT:   neighbourhood |
// CHECK-NEXT:   evolutionary  |
// CHECK-NEXT:   surrogate     |
// CHECK-NEXT:   grid          |
// CHECK-NEXT:   random        |
// CHECK-NEXT:   replay        | {{.* +0.0%}} |
//
// The same numbers for programs.
// RUN: attune-tune %s --judge=%S/Inputs/measured.json --json=%t.json
// RUN: FileCheck %s --check-prefix=JSON < %t.json
// JSON:      "chip": "sm_90a"
// JSON:      "correlation": 0.
// JSON:      "schedules": 24
// JSON:      "evolutionary": {
// JSON-NEXT:   "fastest_in_10_percent": {{[0-9.]+}}
// JSON-NEXT:   "regret_after_10_percent": {{[0-9.]+}}
// JSON-NEXT:   "regret_after_1_percent": {{[0-9.]+}}
// JSON-NEXT:   "regret_after_50": 0,
// JSON-NEXT:   "regret_after_5_percent": {{[0-9.]+}}
// JSON-NEXT:   "shapes_in_10_percent": {{[0-9.]+}}
// JSON-NEXT:   "tried_until_within_2_percent": {{[0-9.]+}}
// JSON-NEXT:   "tried_until_within_3_percent": {{[0-9.]+}}

module {
  func.func @attention(%arg0: tensor<32x32x512x64xbf16>, %arg1: tensor<32x32x512x64xbf16>, %arg2: tensor<32x32x512x64xbf16>) -> tensor<32x32x512x64xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 causal(top_left) : tensor<32x32x512x64xbf16>, tensor<32x32x512x64xbf16>, tensor<32x32x512x64xbf16>
    return %o : tensor<32x32x512x64xbf16>
  }
}
