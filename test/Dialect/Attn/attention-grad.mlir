// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Round trip of attn.attention_grad: each clause, which gradients there are, and their types.
//
// RUN: attune-opt %s | attune-opt --mlir-print-op-generic | attune-opt | FileCheck %s
// RUN: attune-opt %s --emit-bytecode | attune-opt | FileCheck %s

!q = tensor<2x8x64x32xf16>
!k = tensor<2x2x96x32xf16>
!v = tensor<2x2x96x16xf16>
!o = tensor<2x8x64x16xf16>
!lse = tensor<2x8x64xf32>

// CHECK-LABEL: func.func @plain
// CHECK-SAME:    (%[[Q:.+]]: tensor<2x8x64x32xf16>, %[[K:.+]]: tensor<2x2x96x32xf16>, %[[V:.+]]: tensor<2x2x96x16xf16>, %[[O:.+]]: tensor<2x8x64x16xf16>, %[[LSE:.+]]: tensor<2x8x64xf32>, %[[DO:.+]]: tensor<2x8x64x16xf16>)
func.func @plain(%q: !q, %k: !k, %v: !v, %o: !o, %lse: !lse, %do: !o) -> (!q, !k, !v) {
  // CHECK: %[[DQ:.+]], %[[DK:.+]], %[[DV:.+]] = attn.attention_grad %[[Q]], %[[K]], %[[V]], %[[O]], %[[LSE]], %[[DO]] : tensor<2x8x64x32xf16>, tensor<2x2x96x32xf16>, tensor<2x2x96x16xf16>, tensor<2x8x64x16xf16>, tensor<2x8x64xf32>, tensor<2x8x64x16xf16>{{$}}
  // CHECK: return %[[DQ]], %[[DK]], %[[DV]]
  %dq, %dk, %dv = attn.attention_grad %q, %k, %v, %o, %lse, %do : !q, !k, !v, !o, !lse, !o
  return %dq, %dk, %dv : !q, !k, !v
}

// CHECK-LABEL: func.func @clauses
func.func @clauses(%q: tensor<?x?x8x64xbf16>, %k: tensor<?x?x2x64xbf16>, %v: tensor<3x?x2x64xbf16>, %o: tensor<3x?x8x64xbf16>,
                   %lse: tensor<3x8x?xf32>, %slopes: tensor<8xf32>, %s: tensor<8xf32>)
    -> (tensor<?x?x8x64xbf16>, tensor<3x?x2x64xbf16>, tensor<8xf32>, tensor<8xf32>) {
  // CHECK: %{{.+}}, %{{.+}}, %[[OTHERS:.+]]:2 = attn.attention_grad %{{.+}} deterministic lse_grad(%{{.+}} : tensor<3x8x?xf32>)
  // CHECK-SAME: wrt(query, value, %[[SLOPES:.+]], %[[SINKS:.+]] : tensor<8xf32>, tensor<8xf32>)
  // CHECK-SAME: causal(bottom_right) window(128, ?, top_left) softcap(3.000000e+01)
  // CHECK-SAME: alibi(%[[SLOPES]] : tensor<8xf32>) sinks(%[[SINKS]] : tensor<8xf32>) scale(1.250000e-01) order(bshd)
  // CHECK-SAME: schedule(<kvBlockM = 32>) attributes {note = "kept"} : tensor<?x?x8x64xbf16>
  // CHECK: return %{{.+}}, %{{.+}}, %[[OTHERS]]#0, %[[OTHERS]]#1 :
  %dq, %dv, %ds:2 = attn.attention_grad %q, %k, %v, %o, %lse, %o order(bshd) wrt(value, query, %slopes, %s : tensor<8xf32>, tensor<8xf32>)
    causal(bottom_right) window(128, ?, top_left) sinks(%s : tensor<8xf32>) softcap(3.0e+01) lse_grad(%lse : tensor<3x8x?xf32>)
    alibi(%slopes : tensor<8xf32>) scale(0.125) deterministic schedule(<kvBlockM = 32>) attributes {note = "kept"}
    : tensor<?x?x8x64xbf16>, tensor<?x?x2x64xbf16>, tensor<3x?x2x64xbf16>, tensor<3x?x8x64xbf16>, tensor<3x8x?xf32>, tensor<3x?x8x64xbf16>
  return %dq, %dv, %ds#0, %ds#1 : tensor<?x?x8x64xbf16>, tensor<3x?x2x64xbf16>, tensor<8xf32>, tensor<8xf32>
}

// Of packed sequences, and of batches with lengths.
// CHECK-LABEL: func.func @lengths
func.func @lengths(%q: tensor<1x8x64x32xf16>, %k: tensor<2x2x96x32xf16>, %lse: tensor<1x8x64xf32>, %starts: tensor<3xi32>, %lengths: tensor<2xi32>) -> tensor<2x2x96x32xf16> {
  // CHECK: attn.attention_grad %{{.+}} wrt(key) query_lengths(%[[LENGTHS:.+]] : tensor<2xi32>) key_lengths(%[[LENGTHS]] : tensor<2xi32>) query_starts(%{{.+}} : tensor<3xi32>) causal(bottom_right) :
  %dk = attn.attention_grad %q, %k, %k, %q, %lse, %q causal(bottom_right) query_starts(%starts : tensor<3xi32>) wrt(key)
    key_lengths(%lengths : tensor<2xi32>) query_lengths(%lengths : tensor<2xi32>)
    : tensor<1x8x64x32xf16>, tensor<2x2x96x32xf16>, tensor<2x2x96x32xf16>, tensor<1x8x64x32xf16>, tensor<1x8x64xf32>, tensor<1x8x64x32xf16>
  return %dk : tensor<2x2x96x32xf16>
}

// The gradient of a tensor that a region reads is f32, whatever the tensor is.
// CHECK-LABEL: func.func @regions
func.func @regions(%q: !q, %k: !k, %v: !v, %o: !o, %lse: !lse, %bias: tensor<8x96xf16>) -> tensor<8x96xf32> {
  // CHECK: %[[DB:.+]] = attn.attention_grad %{{.+}} wrt(%[[BIAS:[^ ]+]] : tensor<8x96xf16>) score (%[[S:.+]], %{{.+}}, %[[H:.+]], %{{.+}}, %[[N:.+]]) {
  // CHECK:   tensor.extract %[[BIAS]][%[[H]], %[[N]]]
  // CHECK: } mask (%{{.+}}, %{{.+}}, %[[M:.+]], %[[N2:.+]]) {
  // CHECK:   arith.cmpi sge, %[[M]], %[[N2]]
  %db = attn.attention_grad %q, %k, %v, %o, %lse, %o wrt(%bias : tensor<8x96xf16>)
    score (%s, %b, %h, %m, %n) {
      %x = tensor.extract %bias[%h, %n] : tensor<8x96xf16>
      %f = arith.extf %x : f16 to f32
      %y = arith.addf %s, %f : f32
      attn.yield %y : f32
    } mask (%b, %h, %m, %n) {
      %y = arith.cmpi sge, %m, %n : index
      attn.yield %y : i1
    } : !q, !k, !v, !o, !lse, !o
  return %db : tensor<8x96xf32>
}

// CHECK-LABEL: func.func @encodings
func.func @encodings(%q: !q, %k: !k, %v: !v, %o: !o, %lse: !lse) -> tensor<2x8x64x32xf16, #attn.strided<[16384, 32, 256, 1]>> {
  // CHECK: attn.attention_grad {{.*}} wrt(query) : {{.*}} -> tensor<2x8x64x32xf16, #attn.strided<[16384, 32, 256, 1]>>
  %dq = attn.attention_grad %q, %k, %v, %o, %lse, %o wrt(query) : !q, !k, !v, !o, !lse, !o
    -> tensor<2x8x64x32xf16, #attn.strided<[16384, 32, 256, 1]>>
  return %dq : tensor<2x8x64x32xf16, #attn.strided<[16384, 32, 256, 1]>>
}

// CHECK-LABEL: func.func @lists
func.func @lists(%q: !q, %k: !k, %v: !v, %o: !o, %lse: !lse, %counts: tensor<2x1x2xi32>, %indices: tensor<2x1x2x3xi32>) -> !q {
  // CHECK: wrt(query) blocks(%{{.+}}, %{{.+}}, [32, 32] : tensor<2x1x2xi32>, tensor<2x1x2x3xi32>)
  %dq = attn.attention_grad %q, %k, %v, %o, %lse, %o wrt(query)
    blocks(%counts, %indices, [32, 32] : tensor<2x1x2xi32>, tensor<2x1x2x3xi32>) : !q, !k, !v, !o, !lse, !o
  return %dq : !q
}
