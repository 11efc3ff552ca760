// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ways to tile every attention op of a module.

!op = !transform.any_op

module attributes {transform.with_named_sequence} {

transform.named_sequence @forall_queries(%root: !op) {
  %all = transform.structured.match ops{["attn.attention"]} in %root : (!op) -> !op
  transform.foreach %all : !op {
  ^bb0(%one: !op):
    %tile, %loop = transform.structured.tile_using_forall %one tile_sizes [1, 1, 2] : (!op) -> (!op, !op)
  }
  transform.yield
}

// One loop in another: the second tile is a tile of a tile.
transform.named_sequence @for_queries(%root: !op) {
  %all = transform.structured.match ops{["attn.attention"]} in %root : (!op) -> !op
  transform.foreach %all : !op {
  ^bb0(%one: !op):
    %outer, %outer_loop = transform.structured.tile_using_for %one tile_sizes [0, 0, 3] : (!op) -> (!op, !op)
    %inner, %loops:3 = transform.structured.tile_using_for %outer tile_sizes [1, 1, 1] : (!op) -> (!op, !op, !op, !op)
  }
  transform.yield
}

// More threads than some problems have keys.
transform.named_sequence @forall_keys(%root: !op) {
  %all = transform.structured.match ops{["attn.attention"]} in %root : (!op) -> !op
  transform.foreach %all : !op {
  ^bb0(%one: !op):
    %fills:2, %tile, %merge, %loop = transform.structured.tile_reduction_using_forall %one by num_threads = [0, 0, 0, 3]
      : (!op) -> (!op, !op, !op, !op, !op)
  }
  transform.yield
}

transform.named_sequence @keys_of_queries(%root: !op) {
  %all = transform.structured.match ops{["attn.attention"]} in %root : (!op) -> !op
  transform.foreach %all : !op {
  ^bb0(%one: !op):
    %rows, %row_loop = transform.structured.tile_using_for %one tile_sizes [0, 0, 2] : (!op) -> (!op, !op)
    %fills:2, %tile, %merge, %loop = transform.structured.tile_reduction_using_forall %rows by num_threads = [0, 0, 0, 2]
      : (!op) -> (!op, !op, !op, !op, !op)
  }
  transform.yield
}

}
