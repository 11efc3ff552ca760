// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles whose rows are those of several heads.
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_80" --attune-set-schedule="block-m=16 block-n=32 num-warps=1 tile-order=ascending" \
// RUN:   --attn-expand-short-forms --convert-attn-to-tile --canonicalize --cse | FileCheck %s
// Rows of packed heads are as aligned as others: they are copied in pieces of 16 bytes.
// RUN: attune-opt %s --attune-attach-target="chip=sm_80" --attune-set-schedule="block-m=16 block-n=32 num-warps=1 tile-order=ascending q-in-registers=0" \
// RUN:   --attn-expand-short-forms --convert-attn-to-tile --canonicalize --cse --tile-to-gpu-pipeline | FileCheck %s --check-prefix=GPU

!q = tensor<3x8x3x64xf16>
!k = tensor<3x2x96x64xf16>

// Four heads of three positions each in a tile of 16 rows: there are two such
// tiles in each batch, one for each head of keys.
// CHECK-LABEL: gpu.func @positions_kernel
// CHECK-SAME:    %[[Q:[^ ]+]]: memref<3x8x3x64xf16>, %[[K:[^ ]+]]: memref<3x2x96x64xf16>
// CHECK-SAME:    %[[O:[^ ]+]]: memref<3x8x3x64xf16>, %[[LSE:[^ ]+]]: memref<3x8x3xf32>
// CHECK-SAME:    grid = <dim(0, 2) ceildiv 16 * dim(0, 1) ceildiv 4 * dim(0, 0)>
// CHECK-DAG: %[[C3:.+]] = arith.constant 3 : index
// CHECK: %[[ID:.+]] = gpu.block_id x
// CHECK: %[[PACK:.+]] = arith.remui %[[ID]], %c2
// CHECK: %[[BATCH:.+]] = arith.divui %[[ID]], %c2
// CHECK: %[[HEAD:.+]] = arith.muli %[[PACK]], %c4
// CHECK-DAG: memref.subview %[[K]][%[[BATCH]], %[[PACK]], 0, 0] [1, 1, 96, 64]
// CHECK-DAG: %[[HEADS:.+]] = memref.subview %[[Q]][%[[BATCH]], %[[HEAD]], 0, 0] [1, 4, 3, 64]
// CHECK-DAG: %[[ROWS:.+]] = memref.collapse_shape %[[HEADS]] {{\[\[}}0, 1], [2]]
// CHECK: tile.load %[[ROWS]][%c0, %c0] stages 1{{.*}} : memref<12x64xf16
// Key n of 96 is seen by position m from n = m + 93 down; slopes are those of
// the row's head, of which there is none in rows behind the last one.
// CHECK: ^bb0(%{{.+}}: f32, %[[I:.+]]: index, %[[J:.+]]: index):
// CHECK:   %[[NUMBER:.+]] = arith.divui %[[I]], %[[C3]]
// CHECK:   %[[LAST:.+]] = arith.minui %[[NUMBER]], %[[C3]]
// CHECK:   arith.addi %[[HEAD]], %[[LAST]]
// CHECK:   arith.remui %[[I]], %[[C3]]
// CHECK: %[[OUT:.+]] = memref.subview %[[O]][%[[BATCH]], %[[HEAD]], 0, 0] [1, 4, 3, 64]
// CHECK: %[[ALL:.+]] = memref.collapse_shape %[[OUT]]
// CHECK: tile.store %{{.+}}, %[[ALL]]
// CHECK: memref.subview %[[LSE]][%[[BATCH]], %[[HEAD]], 0] [1, 4, 3]
// CHECK: memref.collapse_shape
// CHECK: gpu.launch_func @positions_kernel::@positions_kernel blocks in (%c6, %c1, %c1)
// GPU-LABEL: gpu.func @positions_kernel
// GPU: nvgpu.device_async_copy {{.*}}, 8, %{{[0-9]+}} {{.*}}: memref<12x64xf16
func.func @positions(%q: !q, %k: !k, %slopes: tensor<8xf32>) -> (!q, tensor<3x8x3xf32>) {
  %o, %lse = attn.attention %q, %k, %k causal(bottom_right) alibi(%slopes : tensor<8xf32>) lse : !q, !k, !k
  return %o, %lse : !q, tensor<3x8x3xf32>
}

// Heads of one position each are the rows, wherever they stand. What follows
// behind those of the tile is read, too, but not written.
// CHECK-LABEL: gpu.func @step_kernel
// CHECK-SAME:    %[[Q:[^ ]+]]: memref<3x1x8x64xf16>
// CHECK-SAME:    %[[O:[^ ]+]]: memref<3x1x8x64xf16>
// CHECK: %[[HEAD:.+]] = arith.muli %{{.+}}, %c4
// CHECK: %[[LEFT:.+]] = arith.subi %c8, %[[HEAD]]
// CHECK: %[[ROWS:.+]] = memref.subview %[[Q]][%{{.+}}, 0, %[[HEAD]], 0] [1, 1, %[[LEFT]], 64] [1, 1, 1, 1] : memref<3x1x8x64xf16> to memref<?x64xf16
// CHECK: tile.load %[[ROWS]][%c0, %c0]
// CHECK: %[[OUT:.+]] = memref.subview %[[O]][%{{.+}}, 0, %[[HEAD]], 0] [1, 1, 4, 64] [1, 1, 1, 1] : memref<3x1x8x64xf16> to memref<4x64xf16
// CHECK: tile.store %{{.+}}, %[[OUT]]
func.func @step(%q: tensor<3x1x8x64xf16>, %k: tensor<3x96x2x64xf16>) -> tensor<3x1x8x64xf16> {
  %o = attn.attention %q, %k, %k order(bshd) : tensor<3x1x8x64xf16>, tensor<3x96x2x64xf16>, tensor<3x96x2x64xf16>
  return %o : tensor<3x1x8x64xf16>
}

// One tile holds all heads: that it goes on to the last one is known.
// CHECK-LABEL: gpu.func @all_kernel
// CHECK: memref.subview %{{.+}}[%{{.+}}, 0, 0, 0] [1, 2, 1, 64] [1, 1, 1, 1] : memref<3x2x1x64xf16> to memref<2x64xf16
func.func @all(%q: tensor<3x2x1x64xf16>, %k: tensor<3x1x96x64xf16>) -> tensor<3x2x1x64xf16> {
  %o = attn.attention %q, %k, %k : tensor<3x2x1x64xf16>, tensor<3x1x96x64xf16>, tensor<3x1x96x64xf16>
  return %o : tensor<3x2x1x64xf16>
}
