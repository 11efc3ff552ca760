// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Workgroups that share the keys of a tile, and the kernel that merges what they leave.
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_80" --attune-set-schedule="block-m=16 block-n=32 num-warps=1 split-k=3 tile-order=ascending" \
// RUN:   --attn-expand-short-forms --convert-attn-to-tile --canonicalize --cse | FileCheck %s

!q = tensor<2x4x1x64xf16>
!k = tensor<2x2x?x64xf16>

// Three workgroups for each of two tiles in two batches. Sinks are none of theirs.
// CHECK-LABEL: gpu.func @one_kernel
// CHECK-SAME:    %{{[^ ]+}}: memref<2x4x1x64xf16>, %[[K:[^ ]+]]: memref<2x2x?x64xf16>
// CHECK-SAME:    %[[PARTS:[^ ]+]]: memref<3x2x4x1x64xf32>, %[[LOGS:[^ ]+]]: memref<3x2x4x1xf32>)
// CHECK-SAME:    name = "part_output", type = memref<3x2x4x1x64xf32>, access = write
// CHECK-SAME:    grid = <3 * dim(0, 2) ceildiv 16 * dim(0, 1) ceildiv 2 * dim(0, 0)>
// CHECK: %[[LENGTH:.+]] = memref.dim %[[K]], %c2
// CHECK: %[[ID:.+]] = gpu.block_id x
// CHECK: %[[PART:.+]] = arith.remui %[[ID]], %c3
// CHECK: %[[TILE:.+]] = arith.divui %[[ID]], %c3
// Part i of n blocks is those from n * i / 3 on.
// CHECK: %[[BLOCKS:.+]] = arith.ceildivui %[[LENGTH]], %c32
// CHECK: %[[NEXT:.+]] = arith.addi %[[PART]], %c1
// CHECK: %[[BEFORE:.+]] = arith.muli %[[BLOCKS]], %[[PART]]
// CHECK: %[[FIRST:.+]] = arith.divui %[[BEFORE]], %c3
// CHECK: %[[UPTO:.+]] = arith.muli %[[BLOCKS]], %[[NEXT]]
// CHECK: %[[AFTER:.+]] = arith.divui %[[UPTO]], %c3
// CHECK: scf.for %[[STEP:[^ ]+]] = %[[FIRST]] to %[[AFTER]] step %c1
// The loop is split where blocks are no longer whole, and not before the first one.
// CHECK: arith.cmpi sge, %[[STEP]], %[[FIRST]]
// CHECK: memref.subview %[[PARTS]][%[[PART]], 0, 0, 0, 0] [1, 2, 4, 1, 64]
// CHECK: memref.subview %[[LOGS]][%[[PART]], 0, 0, 0] [1, 2, 4, 1]
// CHECK: tile.store %{{.+}} : <16x64xf32, registers>
// CHECK: tile.store %{{.+}} : <16xf32, registers>

// A row for each warp, of heads where each has one query. All parts are loaded before the first is needed.
// CHECK-LABEL: gpu.func @one_merge
// CHECK-SAME:    %[[PARTS:[^ ]+]]: memref<3x2x4x1x64xf32>, %[[LOGS:[^ ]+]]: memref<3x2x4x1xf32>, %[[SINKS:[^ ]+]]: memref<4xf32>, %[[O:[^ ]+]]: memref<2x4x1x64xf16>, %[[LSE:[^ ]+]]: memref<2x4x1xf32>)
// CHECK-SAME:    known_block_size = array<i32: 128, 1, 1>
// CHECK-SAME:    grid = <dim(3, 1) ceildiv 4 * dim(3, 0)>
// CHECK-COUNT-3: tile.load {{.+}} -> <4x64xf32, registers>
// CHECK-NOT: arith.maxnumf
// CHECK: memref.load %[[SINKS]]
// CHECK: arith.maxnumf
// CHECK: tile.store {{.+}} : <4x64xf16, registers>
// CHECK: tile.store {{.+}} : <4xf32, registers>

// CHECK-LABEL: func.func @one
// CHECK: gpu.launch_func @one_kernel::@one_kernel blocks in (%c12,
// CHECK: gpu.launch_func @one_merge::@one_merge blocks in (%c2,
func.func @one(%q: !q, %k: !k, %sinks: tensor<4xf32>) -> (!q, tensor<2x4x1xf32>) {
  %o, %lse = attn.attention %q, %k, %k lse sinks(%sinks : tensor<4xf32>) : !q, !k, !k
  return %o, %lse : !q, tensor<2x4x1xf32>
}
