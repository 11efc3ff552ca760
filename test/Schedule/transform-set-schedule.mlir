// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A transform script sets tunables by name; those that it does not name stay as
// they are, or have their defaults.
//
// RUN: attune-opt %s --transform-interpreter | FileCheck %s
// RUN: attune-opt %s | attune-opt | FileCheck %s --check-prefix=SYNTAX

!x = tensor<1x1x64x64xf16>

module attributes {transform.with_named_sequence} {
  // CHECK-LABEL: func.func @without
  // CHECK: attn.attention {{.*}}schedule(<blockM = 64, blockN = 32, overlap = "ping-pong">)
  func.func @without(%x: !x) -> !x {
    %o = attn.attention %x, %x, %x : !x, !x, !x
    return %o : !x
  }
  // CHECK-LABEL: func.func @with
  // CHECK: attn.attention {{.*}}schedule(<blockM = 64, blockN = 32, numWarps = 8, overlap = "ping-pong">)
  func.func @with(%x: !x) -> !x {
    %o = attn.attention %x, %x, %x schedule(<blockM = 128, numWarps = 8>) : !x, !x, !x
    return %o : !x
  }

  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %m = transform.tune.knob<"block-m"> = 64 : i64 from options = [64, 128] -> !transform.param<i64>
    %w = transform.tune.knob<"overlap"> = "ping-pong" from options = ["none", "ping-pong"] -> !transform.any_param
    %n = transform.param.constant 32 : i64 -> !transform.param<i64>
    %attention = transform.structured.match ops{["attn.attention"]} in %root : (!transform.any_op) -> !transform.any_op
    // SYNTAX: transform.attune.set_schedule %{{.*}} {"block-m" = %{{.*}}, "block-n" = %{{.*}}} : !transform.any_op, !transform.param<i64>, !transform.param<i64>
    transform.attune.set_schedule %attention {"block-m" = %m, "block-n" = %n} : !transform.any_op, !transform.param<i64>, !transform.param<i64>
    transform.attune.set_schedule %attention {"overlap" = %w} : !transform.any_op, !transform.any_param
    // SYNTAX: transform.attune.set_schedule %{{.*}} {} : !transform.any_op
    transform.attune.set_schedule %attention {} : !transform.any_op
    transform.yield
  }
}
