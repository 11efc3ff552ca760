// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The space of a search, in upstream's transform dialect: sizes of a tile, the
// order of the loops over tiles, and whether a tile becomes vectors.

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %m = transform.tune.knob<"tile-m"> options = [1, 4, 8] -> !transform.param<i64>
    %n = transform.tune.knob<"tile-n"> options = [8, 16, 32] -> !transform.param<i64>
    %k = transform.tune.knob<"tile-k"> options = [1, 4] -> !transform.param<i64>
    transform.smt.constrain_params(%m, %n) : (!transform.param<i64>, !transform.param<i64>) -> () {
    ^bb0(%rows: !smt.int, %columns: !smt.int):
      %elements = smt.int.mul %rows, %columns
      %most = smt.int.constant 128
      %fits = smt.int.cmp le %elements, %most
      smt.assert %fits {reason = "tile-exceeds-registers"}
    }
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    %tile = transform.tune.alternatives<"order"> -> !transform.any_op {
      %tiled, %loops:3 = transform.structured.tile_using_for %matmul tile_sizes [%m, %n, %k]
        : (!transform.any_op, !transform.param<i64>, !transform.param<i64>, !transform.param<i64>)
        -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
      transform.yield %tiled : !transform.any_op
    }, {
      %tiled, %loops:3 = transform.structured.tile_using_for %matmul tile_sizes [%m, %n, %k] interchange = [1, 0, 2]
        : (!transform.any_op, !transform.param<i64>, !transform.param<i64>, !transform.param<i64>)
        -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
      transform.yield %tiled : !transform.any_op
    }
    transform.tune.alternatives<"body"> {
      transform.structured.vectorize %tile : !transform.any_op
      %function = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
      transform.apply_patterns to %function {
        transform.apply_patterns.vector.reduction_to_contract
        transform.apply_patterns.vector.transfer_permutation_patterns
      } : !transform.any_op
      transform.apply_patterns to %function {
        transform.apply_patterns.vector.lower_contraction lowering_strategy = outerproduct
        transform.apply_patterns.vector.lower_outerproduct
      } : !transform.any_op
      transform.yield
    }, {
      transform.yield
    }
    transform.yield
  }
}
