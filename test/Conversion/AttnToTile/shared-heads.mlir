// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles of warpgroups whose rows are several queries of several heads: both are dimensions of what is loaded and stored.
// Simulator/attention-shared-heads.test checks numbers, packed-heads.mlir has those of single warps.
//
// DEFINE: %{groups} = block-m=64 block-n=32 num-warps=4 mma-warps=4 q-in-registers=0 tile-order=ascending
// DEFINE: %{schedule} = %{groups}
// DEFINE: %{prefix} = CHECK
// DEFINE: %{run} = attune-opt %s --attune-attach-target="chip=sm_90a" --attune-set-schedule="%{schedule}" \
// DEFINE:   --attn-expand-short-forms --convert-attn-to-tile --canonicalize --cse | FileCheck %s --check-prefix=%{prefix}
// RUN: %{run}
// Parts of split keys lie as heads by queries, whatever the tensors' order is.
// REDEFINE: %{schedule} = %{groups} split-k=2
// REDEFINE: %{prefix} = PARTS
// RUN: %{run}
//
// Where heads share no tile: a cluster, whose other workgroup would have no queries; a result that leaves through shared
// memory; boxes that no place is aligned for; heads that see keys of their own; tensors of which scores read tiles.
// REDEFINE: %{prefix} = APART
// REDEFINE: %{schedule} = %{groups} producer-warps=4 cluster=2
// RUN: sed "/@by[_]head/,$ d" %s > %t.mlir && attune-opt %t.mlir --attune-attach-target="chip=sm_90a" --attune-set-schedule="%{schedule}" \
// RUN:   --attn-expand-short-forms --convert-attn-to-tile | FileCheck %s --check-prefix=%{prefix}
// REDEFINE: %{schedule} = %{groups} o-in-shared=buffer
// RUN: %{run}

// Queries 0 to 2 of 4 heads are rows 0 to 11. What follows behind those of the tile is read, too, but not written.
// CHECK-LABEL: gpu.func @heads_first_kernel
// CHECK-SAME:    %[[Q:[^ ]+]]: memref<3x8x3x64xf16>, %[[K:[^ ]+]]: memref<3x2x96x64xf16>
// CHECK-SAME:    %[[O:[^ ]+]]: memref<3x8x3x64xf16>, %[[LSE:[^ ]+]]: memref<3x8x3xf32>
// CHECK-SAME:    grid = <dim(0, 2) ceildiv 64 * dim(0, 1) ceildiv 4 * dim(0, 0)>
// CHECK-DAG: %[[C3:.+]] = arith.constant 3 : index
// CHECK: %[[HEAD:.+]] = arith.muli %{{.+}}, %c4
// CHECK: %[[LEFT:.+]] = arith.subi %c8, %[[HEAD]]
// CHECK: %[[HEADS:.+]] = memref.subview %{{.+}}[%[[HEAD]], 0, 0] [%[[LEFT]], 3, 64] [1, 1, 1]
// CHECK: %[[ROWS:.+]] = tile.flattened %[[HEADS]] : memref<?x3x64xf16
// CHECK: tile.load %[[ROWS]][%c0, %c0] stages 1
// CHECK: ^bb0(%{{.+}}: f32, %[[I:.+]]: index, %[[J:.+]]: index):
// CHECK:   %[[NUMBER:.+]] = arith.divui %[[I]], %[[C3]]
// CHECK:   %[[LAST:.+]] = arith.minui %[[NUMBER]], %[[C3]]
// CHECK:   arith.remui %[[I]], %[[C3]]
// CHECK:   arith.addi %[[HEAD]], %[[LAST]]
// CHECK: %[[OUT:.+]] = memref.subview %{{.+}}[%[[HEAD]], 0, 0] [4, 3, 64] [1, 1, 1]
// CHECK: %[[ALL:.+]] = tile.flattened %[[OUT]] : memref<4x3x64xf16
// CHECK: tile.store %{{.+}}, %[[ALL]][%c0, %c0]
// CHECK: %[[LOGS:.+]] = memref.subview %{{.+}}[%[[HEAD]], 0] [4, 3] [1, 1]
// CHECK: %[[NUMBERS:.+]] = tile.flattened %[[LOGS]] : memref<4x3xf32
// CHECK: tile.store %{{.+}}, %[[NUMBERS]][%c0]
// PARTS-LABEL: gpu.func @heads_first_kernel
// PARTS: tile.flattened %{{.+}} : memref<?x3x64xf16
// PARTS: tile.flattened %{{.+}} : memref<4x3x64xf32
// PARTS: tile.flattened %{{.+}} : memref<4x3xf32
// APART: gpu.func @heads_first_kernel
// APART-NOT: tile.flattened
func.func @heads_first(%q: tensor<3x8x3x64xf16>, %k: tensor<3x2x96x64xf16>, %slopes: tensor<8xf32>) -> (tensor<3x8x3x64xf16>, tensor<3x8x3xf32>) {
  %o, %lse = attn.attention %q, %k, %k alibi(%slopes : tensor<8xf32>) lse : tensor<3x8x3x64xf16>, tensor<3x2x96x64xf16>, tensor<3x2x96x64xf16>
  return %o, %lse : tensor<3x8x3x64xf16>, tensor<3x8x3xf32>
}

// Heads 0 to 3 of 3 queries: the last query ends what is read. A row behind it has the last one, where a tensor is read by it.
// CHECK-LABEL: gpu.func @queries_first_kernel
// CHECK-DAG: %[[C2:.+]] = arith.constant 2 : index
// CHECK-DAG: %[[C4:.+]] = arith.constant 4 : index
// CHECK: %[[HEAD:.+]] = arith.muli %{{.+}}, %[[C4]]
// CHECK: %[[HEADS:.+]] = memref.subview %{{.+}}[0, %[[HEAD]], 0] [3, 4, 64] [1, 1, 1]
// CHECK: %[[ROWS:.+]] = tile.flattened %[[HEADS]] : memref<3x4x64xf16
// CHECK: tile.load %[[ROWS]][%c0, %c0] stages 1
// CHECK: ^bb0(%{{.+}}: f32, %[[I:.+]]: index, %[[J:.+]]: index):
// CHECK:   %[[QUERY:.+]] = arith.divui %[[I]], %[[C4]]
// CHECK:   %[[LAST:.+]] = arith.minui %[[QUERY]], %[[C2]]
// CHECK:   %[[NUMBER:.+]] = arith.remui %[[I]], %[[C4]]
// CHECK:   arith.addi %[[HEAD]], %[[NUMBER]]
// CHECK: tile.flattened %{{.+}} : memref<3x4x64xf16
// CHECK: %[[LOGS:.+]] = memref.subview %{{.+}}[%[[HEAD]], 0] [4, 3] [1, 1]
// CHECK: %[[TURNED:.+]] = memref.transpose %[[LOGS]] (d0, d1) -> (d1, d0)
// CHECK: tile.flattened %[[TURNED]] : memref<3x4xf32
// PARTS-LABEL: gpu.func @queries_first_kernel
// PARTS: tile.flattened %{{.+}} : memref<3x4x64xf16
// PARTS: memref.transpose %{{.+}} (d0, d1, d2) -> (d1, d0, d2)
// PARTS: tile.flattened %{{.+}} : memref<3x4x64xf32
// PARTS: memref.transpose %{{.+}} (d0, d1) -> (d1, d0)
// PARTS: tile.flattened %{{.+}} : memref<3x4xf32
func.func @queries_first(%q: tensor<3x3x8x64xf16>, %k: tensor<3x96x2x64xf16>, %slopes: tensor<8xf32>) -> (tensor<3x3x8x64xf16>, tensor<3x8x3xf32>) {
  %o, %lse = attn.attention %q, %k, %k alibi(%slopes : tensor<8xf32>) lse order(bshd) : tensor<3x3x8x64xf16>, tensor<3x96x2x64xf16>, tensor<3x96x2x64xf16>
  return %o, %lse : tensor<3x3x8x64xf16>, tensor<3x8x3xf32>
}

// Strides do not matter.
// CHECK-LABEL: gpu.func @strided_kernel
// CHECK: tile.flattened %{{.+}} : memref<?x3x64xf16
func.func @strided(%q: tensor<3x8x3x64xf16, #attn.strided<[?, ?, ?, 1], divisor = 64>>, %k: tensor<3x2x96x64xf16>) -> tensor<3x8x3x64xf16> {
  %o = attn.attention %q, %k, %k : tensor<3x8x3x64xf16, #attn.strided<[?, ?, ?, 1], divisor = 64>>, tensor<3x2x96x64xf16>, tensor<3x2x96x64xf16> -> tensor<3x8x3x64xf16>
  return %o : tensor<3x8x3x64xf16>
}

// 63 rows of 16 columns are no multiple of 128 bytes, 60 of 4 each are.
// CHECK-LABEL: gpu.func @narrow_kernel
// CHECK-NOT: tile.flattened
func.func @narrow(%q: tensor<3x8x3x16xf16>, %k: tensor<3x2x96x16xf16>) -> tensor<3x8x3x16xf16> {
  %o = attn.attention %q, %k, %k : tensor<3x8x3x16xf16>, tensor<3x2x96x16xf16>, tensor<3x2x96x16xf16>
  return %o : tensor<3x8x3x16xf16>
}
// CHECK-LABEL: gpu.func @narrow_even_kernel
// CHECK: tile.flattened %{{.+}} : memref<?x5x16xf16
func.func @narrow_even(%q: tensor<3x8x5x16xf16>, %k: tensor<3x2x96x16xf16>) -> tensor<3x8x5x16xf16> {
  %o = attn.attention %q, %k, %k : tensor<3x8x5x16xf16>, tensor<3x2x96x16xf16>, tensor<3x2x96x16xf16>
  return %o : tensor<3x8x5x16xf16>
}

// Heads that see other keys than the next one.
// CHECK-LABEL: gpu.func @by_head_kernel
// CHECK-NOT: tile.flattened
func.func @by_head(%q: tensor<3x8x3x64xf16>, %k: tensor<3x2x96x64xf16>) -> tensor<3x8x3x64xf16> {
  %o = attn.attention %q, %k, %k mask (%b, %h, %m, %n) {
    %visible = arith.cmpi sle, %n, %h : index
    attn.yield %visible : i1
  } : tensor<3x8x3x64xf16>, tensor<3x2x96x64xf16>, tensor<3x2x96x64xf16>
  return %o : tensor<3x8x3x64xf16>
}

// Tiles of a tensor that scores are added to are those of one head.
// CHECK-LABEL: gpu.func @bias_kernel
// CHECK-NOT: tile.flattened
func.func @bias(%q: tensor<3x8x3x64xf16>, %k: tensor<3x2x96x64xf16>, %bias: tensor<8x3x96xf16>) -> tensor<3x8x3x64xf16> {
  %o = attn.attention %q, %k, %k score (%s, %b, %h, %m, %n) {
    %x = tensor.extract %bias[%h, %m, %n] : tensor<8x3x96xf16>
    %wide = arith.extf %x : f16 to f32
    %sum = arith.addf %s, %wide : f32
    attn.yield %sum : f32
  } : tensor<3x8x3x64xf16>, tensor<3x2x96x64xf16>, tensor<3x2x96x64xf16>
  return %o : tensor<3x8x3x64xf16>
}
