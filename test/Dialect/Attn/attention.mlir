// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Round trip of attn.attention: each clause, regions, captures, orders.
//
// RUN: attune-opt %s | attune-opt --mlir-print-op-generic | attune-opt | FileCheck %s
// RUN: attune-opt %s --emit-bytecode | attune-opt | FileCheck %s

// CHECK-LABEL: func.func @plain
// CHECK-SAME:    (%[[Q:.+]]: tensor<2x8x64x32xf16>, %[[K:.+]]: tensor<2x2x96x32xf16>, %[[V:.+]]: tensor<2x2x96x16xf16>)
func.func @plain(%q: tensor<2x8x64x32xf16>, %k: tensor<2x2x96x32xf16>, %v: tensor<2x2x96x16xf16>)
    -> tensor<2x8x64x16xf16> {
  // CHECK: attn.attention %[[Q]], %[[K]], %[[V]] : tensor<2x8x64x32xf16>, tensor<2x2x96x32xf16>, tensor<2x2x96x16xf16>
  %o = attn.attention %q, %k, %v : tensor<2x8x64x32xf16>, tensor<2x2x96x32xf16>, tensor<2x2x96x16xf16>
  return %o : tensor<2x8x64x16xf16>
}

// CHECK-LABEL: func.func @clauses
func.func @clauses(%q: tensor<?x?x8x64xbf16>, %k: tensor<?x?x2x64xbf16>, %v: tensor<3x?x2x64xbf16>,
                   %slopes: tensor<8xf32>, %s: tensor<8xf32>) -> (tensor<3x?x8x64xbf16>, tensor<3x8x?xf32>) {
  // CHECK: %{{.+}}, %{{.+}} = attn.attention %{{.+}}, %{{.+}}, %{{.+}} lse causal(bottom_right)
  // CHECK-SAME: window(128, ?, top_left) softcap(3.000000e+01)
  // CHECK-SAME: alibi(%{{.+}} : tensor<8xf32>) sinks(%{{.+}} : tensor<8xf32>) scale(1.250000e-01) order(bshd)
  // CHECK-SAME: schedule(<blockM = 64>)
  // CHECK-SAME: attributes {note = "kept"} : tensor<?x?x8x64xbf16>, tensor<?x?x2x64xbf16>, tensor<3x?x2x64xbf16>
  %o, %lse = attn.attention %q, %k, %v order(bshd) causal(bottom_right) lse window(128, ?, top_left)
    sinks(%s : tensor<8xf32>) softcap(3.0e+01) alibi(%slopes : tensor<8xf32>) scale(0.125)
    schedule(<blockM = 64>) attributes {note = "kept"}
    : tensor<?x?x8x64xbf16>, tensor<?x?x2x64xbf16>, tensor<3x?x2x64xbf16>
  return %o, %lse : tensor<3x?x8x64xbf16>, tensor<3x8x?xf32>
}

// CHECK-LABEL: func.func @regions
// CHECK-SAME:    %[[DOC:[^ ]+]]: tensor<2x?xi32>
func.func @regions(%q: tensor<2x4x?x64xf16>, %doc: tensor<2x?xi32>, %bias: f32) -> tensor<2x4x?x64xf16> {
  // CHECK: attn.attention
  // CHECK-SAME: score (%[[S:.+]], %[[B:.+]], %[[H:.+]], %[[M:.+]], %[[N:.+]]) {
  // CHECK:   %[[Y:.+]] = arith.addf %[[S]], %{{.+}} : f32
  // CHECK:   attn.yield %[[Y]] : f32
  // CHECK: } mask (%[[MB:.+]], %{{.+}}, %[[MM:.+]], %{{.+}}) {
  // CHECK:   tensor.extract %[[DOC]][%[[MB]], %[[MM]]] : tensor<2x?xi32>
  // CHECK:   attn.yield %{{.+}} : i1
  // CHECK: } : tensor<2x4x?x64xf16>, tensor<2x4x?x64xf16>, tensor<2x4x?x64xf16>
  %o = attn.attention %q, %q, %q score (%s, %b, %h, %m, %n) {
    %y = arith.addf %s, %bias : f32
    attn.yield %y : f32
  } mask (%b, %h, %m, %n) {
    %dm = tensor.extract %doc[%b, %m] : tensor<2x?xi32>
    %dn = tensor.extract %doc[%b, %n] : tensor<2x?xi32>
    %same = arith.cmpi eq, %dm, %dn : i32
    attn.yield %same : i1
  } : tensor<2x4x?x64xf16>, tensor<2x4x?x64xf16>, tensor<2x4x?x64xf16>
  return %o : tensor<2x4x?x64xf16>
}

// CHECK-LABEL: func.func @strided
func.func @strided(%q: tensor<1x2x8x16xf16, #attn.strided<[?, ?, 32, 1], divisor = 8>>)
    -> tensor<1x2x8x16xf16, #attn.strided<[512, 16, 64, 1]>> {
  // CHECK: attn.attention
  // CHECK-SAME: #attn.strided<[?, ?, 32, 1], divisor = 8>>
  // CHECK-SAME: -> tensor<1x2x8x16xf16, #attn.strided<[512, 16, 64, 1]>>
  %o = attn.attention %q, %q, %q
    : tensor<1x2x8x16xf16, #attn.strided<[?, ?, 32, 1], divisor = 8>>,
      tensor<1x2x8x16xf16, #attn.strided<[?, ?, 32, 1], divisor = 8>>,
      tensor<1x2x8x16xf16, #attn.strided<[?, ?, 32, 1], divisor = 8>>
    -> tensor<1x2x8x16xf16, #attn.strided<[512, 16, 64, 1]>>
  return %o : tensor<1x2x8x16xf16, #attn.strided<[512, 16, 64, 1]>>
}

// CHECK-LABEL: func.func @blocks
// CHECK-SAME:  (%[[Q:.+]]: tensor<2x4x64x16xf16>, %[[C:[^ ]+]]: tensor<2x1x4xi32>, %[[I:[^ ]+]]: tensor<2x1x4x3xi32>, %[[FC:[^ ]+]]: tensor<1x4x4xi32>, %[[FI:[^ ]+]]: tensor<1x4x4x?xi32>)
func.func @blocks(%q: tensor<2x4x64x16xf16>, %c: tensor<2x1x4xi32>, %i: tensor<2x1x4x3xi32>,
                  %fc: tensor<1x4x4xi32>, %fi: tensor<1x4x4x?xi32>) -> (tensor<2x4x64x16xf16>, tensor<2x4x64x16xf16>) {
  // CHECK: attn.attention %[[Q]], %[[Q]], %[[Q]] blocks(%[[C]], %[[I]], [16, 32] : tensor<2x1x4xi32>, tensor<2x1x4x3xi32>) :
  %o = attn.attention %q, %q, %q blocks(%c, %i, [16, 32] : tensor<2x1x4xi32>, tensor<2x1x4x3xi32>)
    : tensor<2x4x64x16xf16>, tensor<2x4x64x16xf16>, tensor<2x4x64x16xf16>
  // CHECK: attn.attention %[[Q]], %[[Q]], %[[Q]] causal(top_left)
  // CHECK-SAME: blocks(%[[C]], %[[I]], [16, 32] : tensor<2x1x4xi32>, tensor<2x1x4x3xi32>)
  // CHECK-SAME: full_blocks(%[[FC]], %[[FI]] : tensor<1x4x4xi32>, tensor<1x4x4x?xi32>) scale(
  %o2 = attn.attention %q, %q, %q full_blocks(%fc, %fi : tensor<1x4x4xi32>, tensor<1x4x4x?xi32>) causal(top_left)
    scale(1.0) blocks(%c, %i, [16, 32] : tensor<2x1x4xi32>, tensor<2x1x4x3xi32>)
    : tensor<2x4x64x16xf16>, tensor<2x4x64x16xf16>, tensor<2x4x64x16xf16>
  return %o, %o2 : tensor<2x4x64x16xf16>, tensor<2x4x64x16xf16>
}

// CHECK-LABEL: func.func @lengths
// CHECK-SAME:  (%[[Q:.+]]: tensor<2x4x64x16xf16>, %[[LQ:[^ ]+]]: tensor<2xi32>, %[[LK:[^ ]+]]: tensor<?xi32>)
func.func @lengths(%q: tensor<2x4x64x16xf16>, %lq: tensor<2xi32>, %lk: tensor<?xi32>)
    -> (tensor<2x4x64x16xf16>, tensor<2x4x64x16xf16>) {
  // CHECK: attn.attention %[[Q]], %[[Q]], %[[Q]] key_lengths(%[[LK]] : tensor<?xi32>) :
  %o = attn.attention %q, %q, %q key_lengths(%lk : tensor<?xi32>)
    : tensor<2x4x64x16xf16>, tensor<2x4x64x16xf16>, tensor<2x4x64x16xf16>
  // CHECK: attn.attention %[[Q]], %[[Q]], %[[Q]] lse query_lengths(%[[LQ]] : tensor<2xi32>) key_lengths(%[[LK]] : tensor<?xi32>) causal(top_left)
  %o2, %lse = attn.attention %q, %q, %q causal(top_left) key_lengths(%lk : tensor<?xi32>) lse query_lengths(%lq : tensor<2xi32>)
    : tensor<2x4x64x16xf16>, tensor<2x4x64x16xf16>, tensor<2x4x64x16xf16>
  return %o, %o2 : tensor<2x4x64x16xf16>, tensor<2x4x64x16xf16>
}

// CHECK-LABEL: func.func @pages
// CHECK-SAME:  (%[[Q:.+]]: tensor<?x4x1x16xf16>, %[[K:.+]]: tensor<9x2x8x16xf16>, %[[V:.+]]: tensor<?x2x8x32xf16>, %[[L:[^ ]+]]: tensor<2xi32>, %[[P:[^ ]+]]: tensor<2x?xi32>)
func.func @pages(%q: tensor<?x4x1x16xf16>, %k: tensor<9x2x8x16xf16>, %v: tensor<?x2x8x32xf16>, %l: tensor<2xi32>,
                 %p: tensor<2x?xi32>) -> (tensor<2x4x1x32xf16>, tensor<2x4x1xf32>) {
  // The batch is that of the query, or of the pages.
  // CHECK: attn.attention %[[Q]], %[[K]], %[[V]] lse key_lengths(%[[L]] : tensor<2xi32>) pages(%[[P]] : tensor<2x?xi32>) causal(bottom_right)
  %o, %lse = attn.attention %q, %k, %v pages(%p : tensor<2x?xi32>) lse causal(bottom_right) key_lengths(%l : tensor<2xi32>)
    : tensor<?x4x1x16xf16>, tensor<9x2x8x16xf16>, tensor<?x2x8x32xf16>
  return %o, %lse : tensor<2x4x1x32xf16>, tensor<2x4x1xf32>
}

// CHECK-LABEL: func.func @packed
// CHECK-SAME:  (%[[Q:.+]]: tensor<1x4x?x16xf16>, %[[K:.+]]: tensor<1x2x90x16xf16>, %[[P:.+]]: tensor<9x2x8x16xf16>, %[[LQ:[^ ]+]]: tensor<?xi32>, %[[SQ:[^ ]+]]: tensor<?xi32>, %[[SK:[^ ]+]]: tensor<4xi32>, %[[T:[^ ]+]]: tensor<3x?xi32>)
func.func @packed(%q: tensor<1x4x?x16xf16>, %k: tensor<1x2x90x16xf16>, %p: tensor<9x2x8x16xf16>, %lq: tensor<?xi32>,
                  %sq: tensor<?xi32>, %sk: tensor<4xi32>, %t: tensor<3x?xi32>)
    -> (tensor<1x4x?x16xf16>, tensor<1x4x?xf32>, tensor<1x4x?x16xf16>) {
  // CHECK: attn.attention %[[Q]], %[[K]], %[[K]] lse query_lengths(%[[LQ]] : tensor<?xi32>) query_starts(%[[SQ]] : tensor<?xi32>) key_starts(%[[SK]] : tensor<4xi32>) causal(bottom_right)
  %o, %lse = attn.attention %q, %k, %k key_starts(%sk : tensor<4xi32>) causal(bottom_right) query_starts(%sq : tensor<?xi32>) lse
    query_lengths(%lq : tensor<?xi32>) : tensor<1x4x?x16xf16>, tensor<1x2x90x16xf16>, tensor<1x2x90x16xf16>
  // CHECK: attn.attention %[[Q]], %[[P]], %[[P]] query_starts(%[[SQ]] : tensor<?xi32>) pages(%[[T]] : tensor<3x?xi32>)
  %o2 = attn.attention %q, %p, %p pages(%t : tensor<3x?xi32>) query_starts(%sq : tensor<?xi32>)
    : tensor<1x4x?x16xf16>, tensor<9x2x8x16xf16>, tensor<9x2x8x16xf16>
  return %o, %lse, %o2 : tensor<1x4x?x16xf16>, tensor<1x4x?xf32>, tensor<1x4x?x16xf16>
}

// Batches of queries, whose keys are packed.
// CHECK-LABEL: func.func @packed_keys
func.func @packed_keys(%q: tensor<3x4x1x16xf16>, %k: tensor<1x2x90x16xf16>, %sk: tensor<4xi32>) -> tensor<3x4x1x16xf16> {
  // CHECK: key_starts(%{{.+}} : tensor<4xi32>)
  %o = attn.attention %q, %k, %k key_starts(%sk : tensor<4xi32>) : tensor<3x4x1x16xf16>, tensor<1x2x90x16xf16>, tensor<1x2x90x16xf16>
  return %o : tensor<3x4x1x16xf16>
}
