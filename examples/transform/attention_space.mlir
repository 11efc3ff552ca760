// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A part of the space of attention in transform IR, with a rule of one's own.

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %m = transform.tune.knob<"block-m"> options = [64, 128] -> !transform.param<i64>
    %n = transform.tune.knob<"block-n"> options = [32, 64] -> !transform.param<i64>
    %warps = transform.tune.knob<"num-warps"> options = [4, 8] -> !transform.param<i64>
    transform.smt.constrain_params(%m, %warps) : (!transform.param<i64>, !transform.param<i64>) -> () {
    ^bb0(%rows: !smt.int, %count: !smt.int):
      %sixteen = smt.int.constant 16
      %each = smt.int.div %rows, %count
      %enough = smt.int.cmp ge %each, %sixteen
      smt.assert %enough {reason = "fewer-than-16-rows-of-a-warp"}
    }
    %attention = transform.structured.match ops{["attn.attention"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.attune.set_schedule %attention {"block-m" = %m, "block-n" = %n, "num-warps" = %warps}
      : !transform.any_op, !transform.param<i64>, !transform.param<i64>, !transform.param<i64>
    transform.yield
  }
}
