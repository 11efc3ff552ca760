// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics --transform-interpreter

!op = !transform.any_op
!q = tensor<1x6x64x32xf16>
!k = tensor<1x2x64x32xf16>

module attributes {transform.with_named_sequence} {

func.func @across_groups(%q: !q, %k: !k) -> !q {
  // expected-error @+3 {{'attn.attention' op expects tiles of one head, of whole groups or within a group, but got 2 heads for groups of 3}}
  // expected-error @+2 {{faild to tile operation}}
  // expected-error @+1 {{failed to generate tiling loops}}
  %o = attn.attention %q, %k, %k : !q, !k, !k
  return %o : !q
}

transform.named_sequence @__transform_main(%root: !op {transform.readonly}) {
  %op = transform.structured.match ops{["attn.attention"]} in %root : (!op) -> !op
  %tile, %loop = transform.structured.tile_using_for %op tile_sizes [0, 2] : (!op) -> (!op, !op)
  transform.yield
}

}

// -----

!op = !transform.any_op
!q = tensor<1x6x64x32xf16>

module attributes {transform.with_named_sequence} {

func.func @loop_over_keys(%q: !q) -> !q {
  // expected-error @+3 {{'attn.attention' op expects keys to be tiled as a partial reduction with independent parts, but got a tile of them}}
  // expected-error @+2 {{faild to tile operation}}
  // expected-error @+1 {{failed to generate tiling loops}}
  %o = attn.attention %q, %q, %q : !q, !q, !q
  return %o : !q
}

transform.named_sequence @__transform_main(%root: !op {transform.readonly}) {
  %op = transform.structured.match ops{["attn.attention"]} in %root : (!op) -> !op
  %tile, %loop = transform.structured.tile_using_for %op tile_sizes [0, 0, 0, 16] : (!op) -> (!op, !op)
  transform.yield
}

}

// -----

!op = !transform.any_op
!q = tensor<1x6x64x32xf16>

module attributes {transform.with_named_sequence} {

func.func @sequence_of_keys(%q: !q) -> !q {
  // expected-error @+3 {{'attn.attention' op expects keys to be tiled into independent parts, but got a sequence of them}}
  // expected-error @+2 {{faild to tile operation}}
  // expected-error @+1 {{failed to generate tiling loops}}
  %o = attn.attention %q, %q, %q : !q, !q, !q
  return %o : !q
}

transform.named_sequence @__transform_main(%root: !op {transform.readonly}) {
  %op = transform.structured.match ops{["attn.attention"]} in %root : (!op) -> !op
  // expected-error @+1 {{failed to tile using partial reduction}}
  %fills:2, %tile, %merge, %loop = transform.structured.tile_reduction_using_for %op by tile_sizes = [0, 0, 0, 16]
    : (!op) -> (!op, !op, !op, !op, !op)
  transform.yield
}

}

// -----

!op = !transform.any_op
!q = tensor<1x6x64x32xf16>
!out = tensor<1x6x64x32xf16, #attn.strided<[12288, 32, 192, 1]>>

module attributes {transform.with_named_sequence} {

func.func @encoded_result(%q: !q) -> !out {
  // expected-error @+3 {{'attn.attention' op expects results without an encoding to be tiled, but got 'tensor<1x6x64x32xf16, #attn.strided<[12288, 32, 192, 1]>>'}}
  // expected-error @+2 {{faild to tile operation}}
  // expected-error @+1 {{failed to generate tiling loops}}
  %o = attn.attention %q, %q, %q : !q, !q, !q -> !out
  return %o : !out
}

transform.named_sequence @__transform_main(%root: !op {transform.readonly}) {
  %op = transform.structured.match ops{["attn.attention"]} in %root : (!op) -> !op
  %tile, %loop = transform.structured.tile_using_for %op tile_sizes [0, 0, 16] : (!op) -> (!op, !op)
  transform.yield
}

}

// -----

!op = !transform.any_op
!q = tensor<1x6x64x32xf16>

module attributes {transform.with_named_sequence} {

func.func @lists(%q: !q, %c: tensor<1x1x2xi32>, %i: tensor<1x1x2x2xi32>) -> !q {
  // expected-error @+3 {{'attn.attention' op expects no lists of blocks to be tiled, for these count queries and keys from the first ones}}
  // expected-error @+2 {{faild to tile operation}}
  // expected-error @+1 {{failed to generate tiling loops}}
  %o = attn.attention %q, %q, %q blocks(%c, %i, [32, 32] : tensor<1x1x2xi32>, tensor<1x1x2x2xi32>) : !q, !q, !q
  return %o : !q
}

transform.named_sequence @__transform_main(%root: !op {transform.readonly}) {
  %op = transform.structured.match ops{["attn.attention"]} in %root : (!op) -> !op
  %tile, %loop = transform.structured.tile_using_for %op tile_sizes [0, 1] : (!op) -> (!op, !op)
  transform.yield
}

}

// -----

!op = !transform.any_op
!q = tensor<1x6x64x32xf16>

module attributes {transform.with_named_sequence} {

func.func @lengths(%q: !q, %lengths: tensor<1xi32>) -> !q {
  // expected-error @+3 {{'attn.attention' op expects no query_lengths, key_lengths, query_starts, key_starts or pages to be tiled, for these count from the first query and key}}
  // expected-error @+2 {{faild to tile operation}}
  // expected-error @+1 {{failed to generate tiling loops}}
  %o = attn.attention %q, %q, %q key_lengths(%lengths : tensor<1xi32>) : !q, !q, !q
  return %o : !q
}

transform.named_sequence @__transform_main(%root: !op {transform.readonly}) {
  %op = transform.structured.match ops{["attn.attention"]} in %root : (!op) -> !op
  %tile, %loop = transform.structured.tile_using_for %op tile_sizes [0, 1] : (!op) -> (!op, !op)
  transform.yield
}

}

// -----

!op = !transform.any_op
!q = tensor<1x6x64x32xf16>

module attributes {transform.with_named_sequence} {

func.func @scales(%q: !q, %scales: tensor<1x1x1x1xf32>) -> !q {
  // expected-error @+3 {{'attn.attention' op expects no query_scales, key_scales, value_scales or result_scales to be tiled, for these count blocks from the first element}}
  // expected-error @+2 {{faild to tile operation}}
  // expected-error @+1 {{failed to generate tiling loops}}
  %o = attn.attention %q, %q, %q key_scales(%scales : tensor<1x1x1x1xf32>) : !q, !q, !q
  return %o : !q
}

transform.named_sequence @__transform_main(%root: !op {transform.readonly}) {
  %op = transform.structured.match ops{["attn.attention"]} in %root : (!op) -> !op
  %tile, %loop = transform.structured.tile_using_for %op tile_sizes [0, 1] : (!op) -> (!op, !op)
  transform.yield
}

}

// -----

!op = !transform.any_op
!q = tensor<1x6x64x32xf16>

module attributes {transform.with_named_sequence} {

func.func @weights(%q: !q) -> !q {
  // expected-error @+3 {{'attn.attention' op expects no weights to be tiled, for tiles have the default, but got 'bf16'}}
  // expected-error @+2 {{faild to tile operation}}
  // expected-error @+1 {{failed to generate tiling loops}}
  %o = attn.attention %q, %q, %q weights(bf16) : !q, !q, !q
  return %o : !q
}

transform.named_sequence @__transform_main(%root: !op {transform.readonly}) {
  %op = transform.structured.match ops{["attn.attention"]} in %root : (!op) -> !op
  %tile, %loop = transform.structured.tile_using_for %op tile_sizes [0, 1] : (!op) -> (!op, !op)
  transform.yield
}

}

// -----

!op = !transform.any_op
!q = tensor<1x6x64x32xf16>

module attributes {transform.with_named_sequence} {

func.func @dropout(%q: !q, %random: tensor<2xi64>) -> !q {
  // expected-error @+3 {{'attn.attention' op expects no dropout to be tiled, for it counts queries and keys from the first ones}}
  // expected-error @+2 {{faild to tile operation}}
  // expected-error @+1 {{failed to generate tiling loops}}
  %o = attn.attention %q, %q, %q dropout(%random, 0.5 : tensor<2xi64>) : !q, !q, !q
  return %o : !q
}

transform.named_sequence @__transform_main(%root: !op {transform.readonly}) {
  %op = transform.structured.match ops{["attn.attention"]} in %root : (!op) -> !op
  %tile, %loop = transform.structured.tile_using_for %op tile_sizes [0, 1] : (!op) -> (!op, !op)
  transform.yield
}

}

// -----

!op = !transform.any_op
!q = tensor<1x6x64x32xf16>
!k = tensor<1x6x64x16xi8>

module attributes {transform.with_named_sequence} {

func.func @packed(%q: !q, %k: !k) -> !q {
  // expected-error @+3 {{'attn.attention' op expects no packed operands to be tiled, for rows of tiles are as long as those of query}}
  // expected-error @+2 {{faild to tile operation}}
  // expected-error @+1 {{failed to generate tiling loops}}
  %o = attn.attention %q, %k, %k packed(key, value) : !q, !k, !k
  return %o : !q
}

transform.named_sequence @__transform_main(%root: !op {transform.readonly}) {
  %op = transform.structured.match ops{["attn.attention"]} in %root : (!op) -> !op
  %tile, %loop = transform.structured.tile_using_for %op tile_sizes [0, 2] : (!op) -> (!op, !op)
  transform.yield
}

}
