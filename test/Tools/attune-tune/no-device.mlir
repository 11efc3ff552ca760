// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Without a device: candidates are compiled and ranked, the kernels of the best
// are executed on the CPU, nothing is timed, and both the tool and its output
// say so. The same command again takes all of it
// from the database.
//
// REQUIRES: attune-tune, ptxas
// DEFINE: %{part} = --only=block-n=32,block-n=64,exp-on-fma=0,rescale=0,tile-order=ascending
// RUN: rm -rf %t && mkdir %t
// RUN: attune-tune %s %{part} --chip=sm_90 --device=none --budget=3 --db=%t/tuning.db -o %t/tuned.mlir --json=%t/report.json \
// RUN:   > %t/table 2> %t/log
// RUN: FileCheck %s --check-prefix=TABLE < %t/table
// RUN: FileCheck %s --check-prefix=LOG < %t/log
// RUN: FileCheck %s --check-prefix=TUNED < %t/tuned.mlir
// RUN: FileCheck %s --check-prefix=REPORT < %t/report.json
// RUN: attune-opt %t/tuned.mlir --attune-compile=chip=sm_90 -o /dev/null
// RUN: attune-tune %s %{part} --chip=sm_90 --device=none --budget=3 --db=%t/tuning.db 2> /dev/null \
// RUN:   | FileCheck %s --check-prefix=AGAIN
// RUN: attune-tune %s %{part} --chip=sm_90 --device=none --budget=3 --db=%t/tuning.db --verbose 2> /dev/null \
// RUN:   | FileCheck %s --check-prefix=VERBOSE
// RUN: attune-tune %s %{part} --chip=sm_90 --device=none --budget=0 --db=%t/tuning.db 2> /dev/null \
// RUN:   | FileCheck %s --check-prefix=LOOKUP
// RUN: not attune-tune %s %{part} --chip=sm_90 --device=none --budget=0 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: attune-tune --status --db=%t/tuning.db | FileCheck %s --check-prefix=STATUS
// RUN: attune-tune %s %{part} --chip=sm_90 --device=none --budget=3 --jobs=1 --db=%t/tuning.db -o - 2> /dev/null \
// RUN:   | FileCheck %s --check-prefix=TUNED

// TABLE: first on sm_90: 3 of {{[0-9]+}} legal schedules tried
// TABLE-NEXT: rank predicted us numbers {{.*}} schedule, where it is not the default
// TABLE-NEXT: 1 {{.*}} right
// TABLE: default schedule: rank {{[0-9]}} of 3
// TABLE-NEXT: other schedules: {{[0-9]+}} refused by {{[0-9]+}} rules, {{[0-9]+}} not worth trying by {{[0-9]+}} rules (--verbose names them)
// TABLE-NEXT: best by model: block-m={{.*}} block-n=
// TABLE-NEXT: run it on sm_90: attune-run
// TABLE: second on sm_90: 3 of {{[0-9]+}} legal schedules tried
// TABLE-NOT: TFLOP

// LOG: [{{[0-9]+}}s] 3/3 best {{[0-9.]+}} us (predicted) ok 3 with
// LOG: attune-tune: warning: nothing was timed (--device=none was given)
// LOG: the kernels of the best were executed on the CPU

// TUNED: // first: chosen for sm_90 by a model; nothing was timed
// TUNED: // second: chosen for sm_90 by a model; nothing was timed
// TUNED: attn.attention {{.*}} schedule(<
// TUNED: attn.attention {{.*}} causal(top_left) {{.*}}schedule(<

// REPORT: "timed": false
// REPORT-NOT: median_ns

// AGAIN: 3 of {{[0-9]+}} legal schedules tried in 0s, 3 of them from the database

// VERBOSE: the default schedule is block-m={{.*}} block-n=
// VERBOSE: refused, register-overflow: {{[0-9]+}}, for example {{.*}}: expects accumulators of at most {{[0-9]+}} registers
// VERBOSE: not worth trying,
// VERBOSE: best by model: block-m=

// LOOKUP: first on sm_90: 1 of {{[0-9]+}} legal schedules tried in {{.*}}, 1 of them from the database
// NOTHING: attune-tune: error: expects a stored result of 'first' on sm_90, for a budget of 0 compiles nothing, but there is none

// STATUS: session 1: first on sm_90, device none, strategy guided, started {{.*}}, finished
// STATUS-NEXT: 6 results for {{[0-9]+}} legal schedules: ok 6
// STATUS-NEXT: resume with: {{.*}}--chip=sm_90
// STATUS: session 2: second on sm_90

func.func @first(%q: tensor<1x2x64x64xf16>, %k: tensor<1x2x64x64xf16>,
                 %v: tensor<1x2x64x64xf16>) -> tensor<1x2x64x64xf16> {
  %o = attn.attention %q, %k, %v
     : tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>
  return %o : tensor<1x2x64x64xf16>
}

func.func @second(%q: tensor<1x2x64x32xf16>, %k: tensor<1x2x64x32xf16>,
                  %v: tensor<1x2x64x32xf16>) -> tensor<1x2x64x32xf16> {
  %o = attn.attention %q, %k, %v causal(top_left)
     : tensor<1x2x64x32xf16>, tensor<1x2x64x32xf16>, tensor<1x2x64x32xf16>
  return %o : tensor<1x2x64x32xf16>
}
