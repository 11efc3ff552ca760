// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: attune-opt %s --transform-interpreter --split-input-file --verify-diagnostics

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %k = transform.param.constant 1 : i64 -> !transform.param<i64>
    // expected-error@below {{expects the name of a tunable, but got 'depth'}}
    transform.attune.set_schedule %root {"depth" = %k} : !transform.any_op, !transform.param<i64>
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %k = transform.param.constant 64 : i64 -> !transform.param<i64>
    // expected-error@below {{expects each tunable once, but got 'block-m' twice}}
    transform.attune.set_schedule %root {"block-m" = %k, "block-m" = %k} : !transform.any_op, !transform.param<i64>, !transform.param<i64>
    transform.yield
  }
}

// -----

// expected-note@below {{the op is here}}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %k = transform.param.constant 64 : i64 -> !transform.param<i64>
    // expected-error@below {{expects an op that can be tuned, but got 'builtin.module'}}
    transform.attune.set_schedule %root {"block-m" = %k} : !transform.any_op, !transform.param<i64>
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %k = transform.param.constant 1.0 : f32 -> !transform.any_param
    // expected-error@below {{expects an integer or a string for 'block-m', but got 1.000000e+00 : f32}}
    transform.attune.set_schedule %root {"block-m" = %k} : !transform.any_op, !transform.any_param
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  func.func @f(%x: tensor<1x1x64x64xf16>) -> tensor<1x1x64x64xf16> {
    %o = attn.attention %x, %x, %x : tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>
    return %o : tensor<1x1x64x64xf16>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %k = transform.param.constant 17 : i64 -> !transform.param<i64>
    %op = transform.structured.match ops{["attn.attention"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error@below {{block-m}}
    transform.attune.set_schedule %op {"block-m" = %k} : !transform.any_op, !transform.param<i64>
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  func.func @f(%x: tensor<1x1x64x64xf16>) -> tensor<1x1x64x64xf16> {
    %o = attn.attention %x, %x, %x : tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>
    return %o : tensor<1x1x64x64xf16>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %k = transform.param.constant "much" -> !transform.any_param
    %op = transform.structured.match ops{["attn.attention"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error@below {{expects knob 'overlap' to be one of none, softmax, ping-pong, but got much}}
    transform.attune.set_schedule %op {"overlap" = %k} : !transform.any_op, !transform.any_param
    transform.yield
  }
}
