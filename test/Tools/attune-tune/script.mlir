// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A space in transform IR, in the module of its payload: numbers, strings, and
// alternatives with a knob of their own. Programs are verified and timed on this
// CPU; the winner is the module with all of it selected, and upstream's tools
// read it.
//
// REQUIRES: attune-tune
// DEFINE: %{pipeline} = --pipeline="builtin.module(one-shot-bufferize{bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map},canonicalize,convert-linalg-to-loops,lower-affine,convert-scf-to-cf,expand-strided-metadata,lower-affine,convert-to-llvm,reconcile-unrealized-casts)"
// RUN: rm -rf %t && mkdir %t
// RUN: attune-tune %s %{pipeline} --dry-run | FileCheck %s --check-prefix=DRY
// DRY: scale on {{.*}}: 8 of 16 schedules are legal
// DRY-NEXT: refused, not-used: 6, for example kind=1 width=5 label=full zero=0: expects width=4, the default, where no alternative that is selected uses it, but got 5
// DRY-NEXT: refused, widths-are-even: 2, for example kind=0 width=5 label=full zero=0: expects what is asserted at {{.*}}script.mlir:[[@LINE+63]]:9, but got kind=0 width=5
//
// RUN: attune-tune %s %{pipeline} --quiet --strategy=grid --db=%t/tuning.db --json=%t/report.json -o %t/winner.mlir | FileCheck %s --check-prefix=TABLE
// TABLE: scale on {{.*}}: 8 of 8 legal schedules tried
// TABLE: default schedule: rank {{[0-9]+}} of 8
// TABLE: best: kind={{[01]}} width={{[0-9]+}} label={{full|part}} zero=
// RUN: FileCheck %s --check-prefix=REPORT < %t/report.json
// REPORT: "widths-are-even": {
// REPORT-NEXT: "count": 2
// REPORT: "label": "{{full|part}}"
//
// RUN: attune-report %t/report.json | FileCheck %s --check-prefix=PAGE
// PAGE: <tr><td>label</td><td class=number>full</td><td class=number>4</td>
// PAGE-NEXT: <tr><td>label</td><td class=number>part</td><td class=number>4</td>
//
// RUN: FileCheck %s --check-prefix=WINNER < %t/winner.mlir
// WINNER: // scale: {{[0-9.]+}} us on CPU
// WINNER: // Reproduce with: mlir-opt {{.*}}winner.mlir --transform-interpreter | mlir-opt --pass-pipeline='builtin.module(
// WINNER: transform.tune.alternatives<"kind"> selected_region = {{[01]}}
// WINNER: transform.tune.knob<"label"> = "{{full|part}}" from options = ["full", "part"]
// RUN: mlir-opt %t/winner.mlir --transform-interpreter -o /dev/null
// RUN: attune-opt %t/winner.mlir --transform-interpreter -o /dev/null
//
// The same command again takes all of it from the database, whatever is selected.
// RUN: attune-tune %s %{pipeline} --quiet --strategy=grid --db=%t/tuning.db | FileCheck %s --check-prefix=AGAIN
// AGAIN: 8 of 8 legal schedules tried in {{.*}}, 8 of them from the database
// RUN: attune-tune --status --db=%t/tuning.db | FileCheck %s --check-prefix=STATUS
// STATUS: session 1: scale on {{.*}}, device CPU ({{.*}}), strategy grid
// STATUS: resume with: {{.*}}'--pipeline=builtin.module(one-shot-bufferize{{.*}})' --quiet --strategy=grid
// STATUS: session 2:
//
// One candidate, by the spelling of its options; and one beside the default.
// RUN: attune-tune %s %{pipeline} --quiet --only=label=full,kind=0,width=4 | FileCheck %s --check-prefix=ONE
// ONE: 1 of 1 legal schedules tried
// ONE: best: kind=0 width=4 label=full zero=0
// RUN: attune-tune %s %{pipeline} --quiet --only=label=part,kind=1 | FileCheck %s --check-prefix=BESIDE
// BESIDE: 2 of 2 legal schedules tried
// The table names what differs from the default, in the order that was timed.
// BESIDE-DAG: {{[12] .* default$}}
// BESIDE-DAG: {{[12] .* kind=1 label=part$}}

module attributes {transform.with_named_sequence} {
  func.func @scale(%x: memref<64x32xf32>, %y: memref<64x32xf32>, %factor: f32) {
    linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                    iterator_types = ["parallel", "parallel"]}
        ins(%x : memref<64x32xf32>) outs(%y : memref<64x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %p = arith.mulf %in, %factor : f32
      linalg.yield %p : f32
    }
    return
  }

  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["linalg.generic"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled = transform.tune.alternatives<"kind"> -> !transform.any_op {
      %width = transform.tune.knob<"width"> options = [4, 5, 8, 16] -> !transform.param<i64>
      %checked = transform.smt.constrain_params(%width) : (!transform.param<i64>) -> (!transform.param<i64>) {
      ^bb0(%w: !smt.int):
        %two = smt.int.constant 2
        %zero = smt.int.constant 0
        %rest = smt.int.mod %w, %two
        %even = smt.eq %rest, %zero : !smt.int
        smt.assert %even {reason = "widths-are-even"}
        %half = smt.int.div %w, %two
        smt.yield %half : !smt.int
      }
      %t, %loops:2 = transform.structured.tile_using_for %op tile_sizes [%checked, %width]
        : (!transform.any_op, !transform.param<i64>, !transform.param<i64>) -> (!transform.any_op, !transform.any_op, !transform.any_op)
      transform.yield %t : !transform.any_op
    }, {
      transform.yield %op : !transform.any_op
    }
    %label = transform.tune.knob<"label"> options = ["full", "part"] -> !transform.any_param
    transform.annotate %tiled "label" = %label : !transform.any_op, !transform.any_param
    %zero = transform.tune.knob<"zero"> options = [0] -> !transform.param<i64>
    transform.yield
  }
}
