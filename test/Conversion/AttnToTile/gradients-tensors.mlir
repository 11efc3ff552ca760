// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gradients of tensors that scores read: cleared first, and added to by the kernel that owns keys.
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_80" --attune-select-schedule --attn-expand-short-forms --convert-attn-to-tile | FileCheck %s

!t = tensor<2x4x70x64xbf16>
!lse = tensor<2x4x70xf32>

// CHECK-LABEL: gpu.func @bias_clear(
// CHECK-SAME: %[[OUT:.+]]: memref<4x70x1100xf32>
// CHECK-SAME: grid = <dim(0, 0) * dim(0, 1) * dim(0, 2) ceildiv 1024>
// CHECK: %[[ROW:.+]] = arith.divui %block_id_x, %c2
// CHECK: %[[BLOCK:.+]] = arith.remui %block_id_x, %c2
// CHECK: memref.collapse_shape %[[OUT]] {{.*}} into memref<280x1100xf32>
// CHECK: %[[VIEW:.+]] = memref.subview %{{.+}}[%[[ROW]], 0] [1, 1100] [1, 1]
// CHECK: tile.store %{{.+}} : <1024xf32, registers>
// CHECK-LABEL: gpu.func @bias_clear_0(
// CHECK-SAME: memref<f32>
// CHECK: memref.expand_shape %{{.+}} [] output_shape [1]
//
// CHECK-LABEL: gpu.func @bias_key_grad(
// CHECK-SAME: %[[GRAD:[^ ]+]]: memref<4x70x1100xf32>, %[[OFALL:[^ ]+]]: memref<f32>) kernel
// Keys that do not exist have no part in them.
// CHECK: scf.if
// CHECK: %[[NONE:.+]] = arith.cmpf oeq
// CHECK: %[[CHANGE:.+]] = arith.select %[[NONE]], %{{.+}}, %{{.+}} : f32
// CHECK: memref.atomic_rmw addf %{{.+}}, %[[OFALL]][]
// CHECK: memref.atomic_rmw addf %{{.+}}, %[[GRAD]][%{{.+}}, %{{.+}}, %{{.+}}]
// CHECK-LABEL: gpu.func @bias_query_grad(
// CHECK-NOT: memref.atomic_rmw
func.func @bias(%q: !t, %k: tensor<2x4x1100x64xbf16>, %o: !t, %lse: !lse, %do: !t, %bias: tensor<4x70x1100xf32>, %all: tensor<f32>)
    -> (!t, tensor<4x70x1100xf32>, tensor<f32>) {
  %dq, %db, %da = attn.attention_grad %q, %k, %k, %o, %lse, %do wrt(query, %bias, %all : tensor<4x70x1100xf32>, tensor<f32>)
    score (%s, %b, %h, %m, %n) {
      %x = tensor.extract %bias[%h, %m, %n] : tensor<4x70x1100xf32>
      %y = arith.addf %s, %x : f32
      %a = tensor.extract %all[] : tensor<f32>
      %z = arith.mulf %y, %a : f32
      attn.yield %z : f32
    } : !t, tensor<2x4x1100x64xbf16>, tensor<2x4x1100x64xbf16>, !t, !lse, !t
  return %dq, %db, %da : !t, tensor<4x70x1100xf32>, tensor<f32>
}

// Of whole blocks, places are those of the elements, so that diagonals can be told.
// CHECK-LABEL: gpu.func @whole_blocks_key_grad(
// CHECK-NOT: arith.minsi %{{.+}}, %c255
// CHECK: memref.atomic_rmw addf
func.func @whole_blocks(%q: tensor<1x4x256x64xbf16>, %lse: tensor<1x4x256xf32>, %bias: tensor<4x512xf32>) -> tensor<4x512xf32> {
  %db = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(%bias : tensor<4x512xf32>)
    score (%s, %b, %h, %m, %n) {
      %c256 = arith.constant 256 : index
      %distance = arith.subi %m, %n : index
      %place = arith.addi %distance, %c256 : index
      %x = tensor.extract %bias[%h, %place] : tensor<4x512xf32>
      %y = arith.addf %s, %x : f32
      attn.yield %y : f32
    } : tensor<1x4x256x64xbf16>, tensor<1x4x256x64xbf16>, tensor<1x4x256x64xbf16>, tensor<1x4x256x64xbf16>, tensor<1x4x256xf32>, tensor<1x4x256x64xbf16>
  return %db : tensor<4x512xf32>
}
