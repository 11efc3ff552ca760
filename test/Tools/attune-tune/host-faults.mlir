// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What fails on the CPU: a score that reads behind its tensor is found by a
// check, one whose index arithmetic needs more than 32 bits is wrong. A
// failure is a row, a file that shows it, and the exit code; other problems of the
// file are executed all the same.
//
// REQUIRES: attune-tune
// RUN: rm -rf %t && mkdir %t
// RUN: bash -c 'attune-tune %s --chip=gfx942 --device=host --strategy=grid --budget=3 --quiet --repro-dir=%t/repro --json=%t/report.json \
// RUN:   > %t/table 2> %t/log; test $? = 2'
// RUN: FileCheck %s --check-prefix=TABLE < %t/table
// RUN: FileCheck %s --check-prefix=LOG < %t/log
// RUN: FileCheck %s --check-prefix=REPORT < %t/report.json

// TABLE: behind on gfx942: 3 of 504 legal schedules tried
// TABLE: executed on the CPU: {{.*}} 0 of these are right
// TABLE: run-error: 3, for example {{.*}}: cannot run the kernel: {{.*}}reads {{.*}}outside
// TABLE: wide on gfx942: 3 of 504 legal schedules tried
// TABLE: executed on the CPU: {{.*}} 0 of these are right
// TABLE: wrong-result: 3, for example {{.*}}: result 0:
// TABLE: right on gfx942: 3 of 504 legal schedules tried
// TABLE: executed on the CPU: {{.*}} 3 of these are right
// LOG: attune-tune: error: 3 of 3 schedules of 'behind' failed on the host executor for gfx942; 3 of 3 schedules of 'wide' failed on the host executor for gfx942
// REPORT: "message": "cannot run the kernel: {{.*}}reads
// REPORT: "run-error": 3

// The command at the head of a file shows the failure again, with the same order of threads.
// RUN: cd %t/repro && sed -n 's/.*Reproduce with: //p' behind-*.mlir | head -1 > again && sed 's|attune.opt|attune-opt|; s|attune.run|attune-run|' again > run && not sh run 2>&1 \
// RUN:   | FileCheck %s --check-prefix=AGAIN
// RUN: cd %t/repro && sed -n 's/.*Reproduce with: //p' wide-*.mlir | head -1 > again && sed 's|attune.opt|attune-opt|; s|attune.run|attune-run|' again > run && not sh run 2>&1 \
// RUN:   | FileCheck %s --check-prefix=WRONG
// RUN: FileCheck %s --check-prefix=COMMAND < %t/repro/again
// AGAIN: error: {{.*}}reads {{.*}}outside
// WRONG: WRONG
// COMMAND: attune-opt wide-wrong-result-{{.*}}.mlir --attune-compile="chip=gfx942 sms=1 format=llvm" | attune-run --device=host --host-seed={{[0-9]+}}

!q = tensor<1x1x40x320xf16>
!k = tensor<1x1x70x320xf16>

func.func @behind(%q: !q, %k: !k, %bias: tensor<70xf32>) -> !q {
  %one = arith.constant 1 : index
  %o = attn.attention %q, %k, %k
     score (%s, %b, %h, %m, %n) {
       %next = arith.addi %n, %one : index
       %x = tensor.extract %bias[%next] : tensor<70xf32>
       %y = arith.addf %s, %x : f32
       attn.yield %y : f32
     } : !q, !k, !k
  return %o : !q
}

func.func @wide(%q: !q, %k: !k) -> !q {
  %million = arith.constant 1000000 : index
  %o = attn.attention %q, %k, %k
     mask (%b, %h, %m, %n) {
       %x = arith.muli %m, %million : index
       %y = arith.muli %n, %million : index
       %z = arith.muli %x, %y : index
       %zero = arith.constant 0 : index
       %visible = arith.cmpi sge, %z, %zero : index
       attn.yield %visible : i1
     } : !q, !k, !k
  return %o : !q
}

func.func @right(%q: !q, %k: !k) -> !q {
  %o = attn.attention %q, %k, %k : !q, !k, !k
  return %o : !q
}
