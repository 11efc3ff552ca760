// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All legal schedules of a problem, executed on the CPU with all checks on: a
// mask, heads that share keys, lengths that no block divides, and two blocks of
// keys where there can be. Nothing is timed, so nothing is best. The same
// command again takes all of it from the database.
//
// REQUIRES: attune-tune
// RUN: rm -rf %t && mkdir %t
// RUN: attune-tune %s --chip=gfx942 --device=host --strategy=grid --only=mma-schedule=none --db=%t/tuning.db --json=%t/report.json > %t/table 2> %t/log
// RUN: FileCheck %s --check-prefix=TABLE < %t/table
// RUN: FileCheck %s --check-prefix=LOG < %t/log
// RUN: FileCheck %s --check-prefix=REPORT < %t/report.json
// RUN: attune-tune %s --chip=gfx942 --device=host --strategy=grid --only=mma-schedule=none --db=%t/tuning.db --quiet | FileCheck %s --check-prefix=AGAIN
// RUN: attune-tune --status --db=%t/tuning.db | FileCheck %s --check-prefix=STATUS
//
// Schedules that differ in bounds of registers are one kernel.
// RUN: attune-tune %s --chip=sm_86 --device=host --strategy=grid --budget=4 --quiet | FileCheck %s --check-prefix=BOUNDS
// BOUNDS: attention on sm_86: 4 of {{[0-9]+}} legal schedules tried in {{.*}}, 2 not measured because their binary equals another
// BOUNDS: executed on the CPU: 2 different kernels, which are those of 4 schedules; 4 of these are right

// TABLE: attention on gfx942: 168 of 168 legal schedules tried
// TABLE-NOT: rank
// TABLE: executed on the CPU: 120 different kernels, which are those of 168 schedules; 168 of these are right and have no fault
// TABLE-NOT: best

// LOG: 168/168 ok 168
// LOG-NOT: warning

// REPORT: "binaries": 120
// REPORT: "device": "host executor, {{.*}}"
// REPORT: "executed": true
// REPORT: "results": []
// REPORT: "statuses": {
// REPORT-NEXT: "ok": 168
// REPORT: "timed": false
// REPORT: "tried": 168

// AGAIN: 168 of 168 legal schedules tried in 0s, 168 of them from the database
// AGAIN: executed on the CPU: 120 different kernels

// STATUS: session 1: attention on gfx942, device host executor, {{.*}}, finished
// STATUS-NEXT: 168 results for 168 legal schedules: ok 168

func.func @attention(%q: tensor<1x2x40x320xf16>, %k: tensor<1x1x70x320xf16>,
                     %v: tensor<1x1x70x320xf16>) -> tensor<1x2x40x320xf16> {
  %o = attn.attention %q, %k, %v causal(bottom_right)
     : tensor<1x2x40x320xf16>, tensor<1x1x70x320xf16>, tensor<1x1x70x320xf16>
  return %o : tensor<1x2x40x320xf16>
}
