// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each short form as regions; with static and with dynamic lengths.
//
// RUN: attune-opt %s --attn-expand-short-forms | FileCheck %s

!q = tensor<1x2x8x16xf16>
!k = tensor<1x2x11x16xf16>
!d = tensor<1x2x?x16xf16>

// CHECK-LABEL: func.func @causal_bottom_right
func.func @causal_bottom_right(%q: !q, %k: !k) -> !q {
  // CHECK: attn.attention %{{.+}}, %{{.+}}, %{{.+}} mask (%{{.+}}, %{{.+}}, %[[M:.+]], %[[N:.+]]) {
  // CHECK-NEXT: %[[OFFSET:.+]] = arith.constant 3 : index
  // CHECK-NEXT: %[[LAST:.+]] = arith.addi %[[M]], %[[OFFSET]] : index
  // CHECK-NEXT: %[[VISIBLE:.+]] = arith.cmpi sle, %[[N]], %[[LAST]] : index
  // CHECK-NEXT: attn.yield %[[VISIBLE]] : i1
  %o = attn.attention %q, %k, %k causal(bottom_right) : !q, !k, !k
  return %o : !q
}

// CHECK-LABEL: func.func @window_dynamic
// CHECK-SAME:    (%[[Q:[^ ]+]]: tensor<1x2x?x16xf16>, %[[K:[^ ]+]]: tensor<1x2x?x16xf16>)
func.func @window_dynamic(%q: !d, %k: !d) -> !d {
  // CHECK-DAG: %[[SK:.+]] = tensor.dim %[[K]], %{{.+}}
  // CHECK-DAG: %[[SQ:.+]] = tensor.dim %[[Q]], %{{.+}}
  // CHECK: %[[OFFSET:.+]] = arith.subi %[[SK]], %[[SQ]] : index
  // CHECK: attn.attention %{{.+}}, %{{.+}}, %{{.+}} mask (%{{.+}}, %{{.+}}, %[[M:.+]], %[[N:.+]]) {
  // CHECK-NEXT: %[[DIAGONAL:.+]] = arith.addi %[[M]], %[[OFFSET]] : index
  // CHECK: %[[FIRST:.+]] = arith.addi %[[DIAGONAL]], %{{.+}} : index
  // CHECK: %[[LEFT:.+]] = arith.cmpi sge, %[[N]], %[[FIRST]] : index
  // CHECK: %[[LAST:.+]] = arith.addi %[[DIAGONAL]], %{{.+}} : index
  // CHECK: %[[RIGHT:.+]] = arith.cmpi sle, %[[N]], %[[LAST]] : index
  // CHECK: %[[VISIBLE:.+]] = arith.andi %[[LEFT]], %[[RIGHT]] : i1
  // CHECK: attn.yield %[[VISIBLE]] : i1
  %o = attn.attention %q, %k, %k window(5, 2, bottom_right) : !d, !d, !d
  return %o : !d
}

// Softcap, then ALiBi, then what the region said.
// CHECK-LABEL: func.func @order_of_scores
// CHECK-SAME:    %[[SLOPES:[^ ]+]]: tensor<2xf32>
func.func @order_of_scores(%q: !q, %k: !k, %slopes: tensor<2xf32>) -> !q {
  // CHECK: attn.attention {{.*}} score (%[[S:.+]], %{{.+}}, %[[H:.+]], %[[M:.+]], %[[N:.+]]) {
  // CHECK: %[[IN:.+]] = arith.mulf %[[S]], %{{.+}} : f32
  // CHECK: %[[TANH:.+]] = math.tanh %[[IN]] fastmath<afn> : f32
  // CHECK: %[[CAPPED:.+]] = arith.mulf %[[TANH]], %{{.+}} : f32
  // CHECK: %[[DIAGONAL:.+]] = arith.addi %[[M]], %{{.+}} : index
  // CHECK: %[[DISTANCE:.+]] = arith.subi %[[DIAGONAL]], %[[N]] : index
  // CHECK: %[[SLOPE:.+]] = tensor.extract %[[SLOPES]][%[[H]]] : tensor<2xf32>
  // CHECK: %[[BIAS:.+]] = arith.mulf %[[SLOPE]], %{{.+}} : f32
  // CHECK: %[[BIASED:.+]] = arith.subf %[[CAPPED]], %[[BIAS]] : f32
  // CHECK: %[[Y:.+]] = math.absf %[[BIASED]] : f32
  // CHECK: attn.yield %[[Y]] : f32
  %o = attn.attention %q, %k, %k softcap(20.0) alibi(%slopes : tensor<2xf32>) score (%s, %b, %h, %m, %n) {
    %y = math.absf %s : f32
    attn.yield %y : f32
  } : !q, !k, !k
  return %o : !q
}

// The mask region comes first, and both have to agree.
// CHECK-LABEL: func.func @joins_mask
func.func @joins_mask(%q: !q) -> !q {
  // CHECK: %[[OWN:.+]] = arith.cmpi ne, %{{.+}}, %{{.+}} : index
  // CHECK: %[[CAUSAL:.+]] = arith.cmpi sle
  // CHECK: %[[BOTH:.+]] = arith.andi %[[OWN]], %[[CAUSAL]] : i1
  // CHECK: attn.yield %[[BOTH]] : i1
  %o = attn.attention %q, %q, %q causal(top_left) mask (%b, %h, %m, %n) {
    %other = arith.cmpi ne, %m, %n : index
    attn.yield %other : i1
  } : !q, !q, !q
  return %o : !q
}

// CHECK-LABEL: func.func @nothing_to_do
func.func @nothing_to_do(%q: !q, %sinks: tensor<2xf32>) -> !q {
  // CHECK-NEXT: attn.attention %{{.+}}, %{{.+}}, %{{.+}} sinks(%{{.+}} : tensor<2xf32>) scale(1.000000e+00) : tensor
  %o = attn.attention %q, %q, %q scale(1.0) sinks(%sinks : tensor<2xf32>) : !q, !q, !q
  return %o : !q
}

// The diagonal is that of the batch. Its lengths are within those of the tensors.
// CHECK-LABEL: func.func @lengths
// CHECK-SAME: (%[[Q:.+]]: tensor<2x4x8x16xf16>, %[[K:.+]]: tensor<2x4x?x16xf16>, %[[LQ:.+]]: tensor<2xi32>, %[[LK:.+]]: tensor<2xi32>)
func.func @lengths(%q: tensor<2x4x8x16xf16>, %k: tensor<2x4x?x16xf16>, %lq: tensor<2xi32>, %lk: tensor<2xi32>)
    -> tensor<2x4x8x16xf16> {
  // CHECK: %[[ALL:.+]] = tensor.dim %[[K]], %{{.+}}
  // CHECK: attn.attention
  // CHECK-SAME: query_lengths(%[[LQ]] : tensor<2xi32>) key_lengths(%[[LK]] : tensor<2xi32>) mask (%[[B:.+]], %{{.+}}, %[[M:.+]], %[[N:.+]]) {
  // CHECK:   %[[KEYS:.+]] = tensor.extract %[[LK]][%[[B]]]
  // CHECK:   %[[ATMOST:.+]] = arith.minsi %{{.+}}, %[[ALL]]
  // CHECK:   %[[QUERIES:.+]] = tensor.extract %[[LQ]][%[[B]]]
  // CHECK:   %[[EIGHT:.+]] = arith.minsi
  // CHECK:   %[[OFFSET:.+]] = arith.subi %[[ATMOST]], %[[EIGHT]]
  // CHECK:   %[[DIAGONAL:.+]] = arith.addi %[[M]], %[[OFFSET]]
  // CHECK:   arith.cmpi sle, %[[N]], %[[DIAGONAL]]
  %o = attn.attention %q, %k, %k query_lengths(%lq : tensor<2xi32>) key_lengths(%lk : tensor<2xi32>) causal(bottom_right)
    : tensor<2x4x8x16xf16>, tensor<2x4x?x16xf16>, tensor<2x4x?x16xf16>
  return %o : tensor<2x4x8x16xf16>
}
