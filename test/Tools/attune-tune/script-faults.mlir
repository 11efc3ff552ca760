// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a point of a script may do: fail, compute something else, write outside
// of its buffers, leave a result as it found it, crash, hang. Each is a row with
// its reason and a file that shows it; those that are right are timed.
//
// REQUIRES: attune-tune
// DEFINE: %{pipeline} = --pipeline="builtin.module(inline,convert-linalg-to-loops,lower-affine,convert-scf-to-cf,expand-strided-metadata,lower-affine,convert-to-llvm,reconcile-unrealized-casts)"
// RUN: rm -rf %t && mkdir %t
// RUN: attune-tune %s %{pipeline} --quiet --strategy=grid --run-timeout=10 --db=%t/tuning.db --repro-dir=%t/repro --json=%t/report.json | FileCheck %s --check-prefix=TABLE
// TABLE: run on {{.*}}: 8 of 8 legal schedules tried
// TABLE: default schedule: rank 1 of 1
// TABLE-DAG: compile-error: 1, for example what=@"no-such-op": 'func.call' op 'no-such-op' does not reference a valid function
// TABLE-DAG: run-error: 1, for example what=@outside: wrote outside of buffer 1
// TABLE-DAG: wrong-result: 3, for example what=@{{other|nothing|once}}: result 1: expects
// TABLE-DAG: timeout: 1, for example what=@hang:
// TABLE-DAG: crash: 1, for example what=@crash: worker ended by signal 11 (Segmentation fault)
// TABLE: best: what=@right
//
// A file of a failure shows it again.
// RUN: ls %t/repro | count 7
// RUN: sed -n 's|.*Reproduce with: attune.tune ||p' %t/repro/run-run-error-*.mlir > %t/command
// RUN: FileCheck %s --check-prefix=COMMAND < %t/command
// COMMAND: run-run-error-{{[0-9a-f]+}}.mlir --pipeline='builtin.module(inline,{{.*}})' --entry=run --budget=1
// RUN: not attune-tune %t/repro/run-run-error-*.mlir %{pipeline} --entry=run --budget=1 --quiet 2>&1 | FileCheck %s --check-prefix=REPRO
// REPRO: default schedule: run-error: wrote outside of buffer 1
// REPRO: error: no schedule of 'run' that was tried is valid on

module attributes {transform.with_named_sequence} {
  func.func private @right(%x: memref<64xf32>, %y: memref<64xf32>) {
    linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        ins(%x : memref<64xf32>) outs(%y : memref<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %s = arith.addf %in, %out : f32
      linalg.yield %s : f32
    }
    return
  }
  func.func private @other(%x: memref<64xf32>, %y: memref<64xf32>) {
    linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        ins(%x : memref<64xf32>) outs(%y : memref<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %s = arith.subf %out, %in : f32
      linalg.yield %s : f32
    }
    return
  }
  func.func private @nothing(%x: memref<64xf32>, %y: memref<64xf32>) {
    return
  }
  // Leaves out the last element.
  func.func private @once(%x: memref<64xf32>, %y: memref<64xf32>) {
    affine.for %i = 0 to 63 {
      %in = memref.load %x[%i] : memref<64xf32>
      %out = memref.load %y[%i] : memref<64xf32>
      %s = arith.addf %in, %out : f32
      memref.store %s, %y[%i] : memref<64xf32>
    }
    return
  }
  func.func private @outside(%x: memref<64xf32>, %y: memref<64xf32>) {
    func.call @right(%x, %y) : (memref<64xf32>, memref<64xf32>) -> ()
    %one = arith.constant 1.0 : f32
    %i = arith.constant 64 : index
    memref.store %one, %y[%i] : memref<64xf32>
    return
  }
  func.func private @crash(%x: memref<64xf32>, %y: memref<64xf32>) {
    %one = arith.constant 1.0 : f32
    %i = arith.constant 1000000000000 : index
    memref.store %one, %y[%i] : memref<64xf32>
    return
  }
  func.func private @hang(%x: memref<64xf32>, %y: memref<64xf32>) {
    %true = arith.constant true
    %one = arith.constant 1.0 : f32
    %i = arith.constant 0 : index
    scf.while : () -> () {
      memref.store %one, %y[%i] : memref<64xf32>
      scf.condition(%true)
    } do {
      scf.yield
    }
    return
  }

  func.func @run(%x: memref<64xf32>, %y: memref<64xf32>) {
    func.call @right(%x, %y) : (memref<64xf32>, memref<64xf32>) -> ()
    return
  }

  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %what = transform.tune.knob<"what"> options = [@right, @other, @nothing, @once, @outside, @crash, @hang, @"no-such-op"]
      -> !transform.any_param
    %run = transform.structured.match ops{["func.func"]} attributes {sym_name = "run"} in %root : (!transform.any_op) -> !transform.any_op
    %call = transform.structured.match ops{["func.call"]} in %run : (!transform.any_op) -> !transform.any_op
    transform.annotate %call "callee" = %what : !transform.any_op, !transform.any_param
    transform.yield
  }
}
