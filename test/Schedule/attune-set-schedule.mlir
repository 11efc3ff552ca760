// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: attune-opt %s --attune-set-schedule="block-m=64 num-warps=8" | FileCheck %s
// RUN: attune-opt %s --attune-set-schedule | FileCheck %s --check-prefix=DEFAULT
// RUN: not attune-opt %s --attune-set-schedule="block-m=65" 2>&1 | FileCheck %s --check-prefix=DOMAIN
// RUN: not attune-opt %s --attune-set-schedule="block-q=64" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: attune-opt %s --attune-set-schedule="overlap=ping-pong persistent=static" | FileCheck %s --check-prefix=NAMED
// RUN: not attune-opt %s --attune-set-schedule="block-m=64 num-warps=8 block-m=128" 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not attune-run %s --function=none_yet --device=host --chip=sm_80 --schedule="block-m=64 block-m=128" 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not attune-opt %s --attune-set-schedule="overlap=2" 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: attune-opt %s --pass-pipeline="builtin.module(attune-set-schedule{block-m=64 overlap=softmax})" --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=PIPELINE

// DOMAIN: attune-set-schedule.mlir:[[#@LINE+13]]:8: error: expects knob 'block-m' to be one of 16, {{.+}}, but got 65
// UNKNOWN: no such option block-q
// TWICE: expects one value of 'block-m', but got 2
// NAME: attune-set-schedule.mlir:{{.*}}: error: expects knob 'overlap' to be one of none, softmax, ping-pong, but got 2
// PIPELINE: attune-set-schedule{{.*}} block-m=64{{.*}}overlap=softmax

// CHECK-LABEL: func.func @none_yet
// CHECK: schedule(<blockM = 64, numWarps = 8>)
// DEFAULT-LABEL: func.func @none_yet
// DEFAULT: schedule(<>)
// NAMED-LABEL: func.func @none_yet
// NAMED: schedule(<overlap = "ping-pong", persistent = static>)
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
