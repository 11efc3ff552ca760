// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gradients of sinks: cleared first, and added to, one number for each tile of rows, by the kernel that goes through these anyway.
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_80" --attune-select-schedule --attn-expand-short-forms --convert-attn-to-tile | FileCheck %s

!t = tensor<2x4x70x64xbf16>
!lse = tensor<2x4x70xf32>

// CHECK-LABEL: gpu.func @sinks_clear(
// CHECK-SAME: memref<4xf32>
//
// CHECK-LABEL: gpu.func @sinks_deltas(
// CHECK-SAME: %[[SINKS:[^ ]+]]: memref<4xf32>, %[[GRAD:[^ ]+]]: memref<4xf32>) kernel
// CHECK-SAME: name = "tensor0_grad", type = memref<4xf32>, access = read_write>
// CHECK: %[[LSE:.+]] = tile.load %{{.+}} -> <64xf32, registers>
// CHECK: %[[DELTAS:.+]] = tile.reduce add
// CHECK: %[[SINK:.+]] = memref.load %[[SINKS]][%[[HEAD:.+]]]
// CHECK: tile.map(%[[LSE]], %[[DELTAS]])
// Rows that see nothing or are not there have no part in it.
// CHECK: %[[EMPTY:.+]] = arith.cmpf oeq, %{{.+}}, %{{.+}} : f32
// CHECK: %[[BEYOND:.+]] = arith.cmpi uge, %{{.+}}, %c70
// CHECK: arith.subf %[[SINK]]
// CHECK: math.exp2
// CHECK: %[[NONE:.+]] = arith.ori %[[EMPTY]], %[[BEYOND]]
// CHECK: arith.select %[[NONE]]
// CHECK: %[[SUM:.+]] = tile.reduce add %{{.+}} dim 0 : <64x4xf32, registers> -> <4xf32, registers>
// CHECK: %[[OWN:.+]] = memref.subview %[[GRAD]][%[[HEAD]]] [1] [1]
// CHECK: tile.store %[[SUM]], %[[OWN]][%{{.+}}] accumulate
//
// Scores do not read them.
// CHECK-LABEL: gpu.func @sinks_key_grad(
// CHECK-NOT: atomic_rmw
// CHECK-LABEL: gpu.func @sinks_query_grad(
func.func @sinks(%q: !t, %o: !t, %lse: !lse, %do: !t, %s: tensor<4xf32>) -> (!t, !t, !t, tensor<4xf32>) {
  %dq, %dk, %dv, %ds = attn.attention_grad %q, %q, %q, %o, %lse, %do sinks(%s : tensor<4xf32>) wrt(query, key, value, %s : tensor<4xf32>)
    : !t, !t, !t, !t, !lse, !t
  return %dq, %dk, %dv, %ds : !t, !t, !t, tensor<4xf32>
}

// Alone, they take no kernel that multiplies.
// CHECK-LABEL: gpu.func @alone_clear(
// CHECK-LABEL: gpu.func @alone_deltas(
// CHECK-NOT: gpu.func @alone
func.func @alone(%q: !t, %o: !t, %lse: !lse, %do: !t, %s: tensor<4xf32>) -> tensor<4xf32> {
  %ds = attn.attention_grad %q, %q, %q, %o, %lse, %do sinks(%s : tensor<4xf32>) wrt(%s : tensor<4xf32>) : !t, !t, !t, !t, !lse, !t
  return %ds : tensor<4xf32>
}

// What scores read as well is added to by both.
// CHECK-LABEL: gpu.func @both_clear(
// CHECK-LABEL: gpu.func @both_deltas(
// CHECK: tile.store {{.+}} accumulate
// CHECK-LABEL: gpu.func @both_key_grad(
// CHECK: memref.atomic_rmw addf
func.func @both(%q: !t, %o: !t, %lse: !lse, %do: !t, %s: tensor<4xf32>) -> tensor<4xf32> {
  %ds = attn.attention_grad %q, %q, %q, %o, %lse, %do sinks(%s : tensor<4xf32>) wrt(%s : tensor<4xf32>)
    score (%x, %b, %h, %m, %n) {
      %a = tensor.extract %s[%h] : tensor<4xf32>
      %y = arith.mulf %x, %a : f32
      attn.yield %y : f32
    } : !t, !t, !t, !t, !lse, !t
  return %ds : tensor<4xf32>
}
