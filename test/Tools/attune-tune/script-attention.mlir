// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tunables of attention as knobs of a script: the same search, with a
// constraint of one's own, and the script as its result.
//
// REQUIRES: attune-tune
// DEFINE: %{tune} = attune-tune %s --script=%examples/transform/attention_space.mlir --quiet
// RUN: rm -rf %t && mkdir %t
// RUN: %{tune} --chip=gfx1100 --device=none --strategy=grid --budget=2 --finalists=1 --db=%t/tuning.db -o %t/winner.mlir --verbose 2> %t/log | FileCheck %s
// RUN: FileCheck %s --check-prefix=LOG < %t/log
// RUN: FileCheck %s --check-prefix=WINNER < %t/winner.mlir
// RUN: attune-opt %s --transform-preload-library=transform-library-paths=%t/winner.mlir --transform-interpreter | FileCheck %s --check-prefix=SET
// RUN: %{tune} --chip=gfx1100 --device=none --strategy=grid --budget=2 --finalists=1 --db=%t/tuning.db 2> /dev/null | FileCheck %s --check-prefix=AGAIN

// CHECK: attention on gfx1100: 2 of 6 legal schedules tried
// CHECK: 1 {{.*}} right 
// CHECK-NOT: model
// CHECK: default schedule: rank {{[12]}} of 2
// CHECK: the default schedule is block-m=
// CHECK: refused, fewer-than-16-rows-of-a-warp: 2, for example block-m=64 block-n=32 num-warps=8: expects what is asserted at {{.*}}attention_space.mlir:15:7, but got block-m=64 num-warps=8
// CHECK: first that is valid, for nothing ranks them: block-m=
// AGAIN: 2 of 6 legal schedules tried in {{.*}}, 2 of them from the database

// LOG: note: every candidate was compiled; none is ranked
// WINNER: // attention: the first that is valid for gfx1100; nothing was timed
// WINNER-NEXT: // Reproduce with: attune-opt {{.*}}script-attention.mlir --transform-preload-library=transform-library-paths={{.*}}winner.mlir --transform-interpreter
// WINNER: transform.tune.knob<"block-m"> = {{64|128}} : i64 from options = [64, 128]
// WINNER: transform.attune.set_schedule
// SET: attn.attention {{.*}}schedule(<blockM = {{64|128}}, blockN = {{32|64}}

// RUN: not %{tune} --chip=gfx1100 --device=host 2>&1 | FileCheck %s --check-prefix=HOST
// HOST: error: expects no transform script with --device=host, which executes the schedules of ops
// RUN: sed 's/^  return/  %r = attn.attention %q, %q, %q : !q, !q, !q\n  return/' %s > %t/two.mlir
// RUN: not attune-tune %t/two.mlir --script=%examples/transform/attention_space.mlir --chip=gfx1100 --device=none 2>&1 | FileCheck %s --check-prefix=TWO
// TWO: error: expects one op that can be tuned with a transform script, but got 2

!q = tensor<1x1x64x64xf16>

func.func @attention(%q: !q) -> !q {
  %o = attn.attention %q, %q, %q : !q, !q, !q
  return %o : !q
}
