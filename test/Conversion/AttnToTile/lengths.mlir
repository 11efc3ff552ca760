// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Batches that end before the tensor does.
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_80" --attune-set-schedule="block-m=16 block-n=32 num-warps=1 tile-order=ascending" \
// RUN:   --attn-expand-short-forms --convert-attn-to-tile --canonicalize --cse | FileCheck %s
// RUN: attune-opt %s --attune-attach-target="chip=sm_90a" --attune-set-schedule="block-m=64 block-n=32 num-warps=4 mma-warps=4 q-in-registers=0 tile-order=ascending" \
// RUN:   --attn-expand-short-forms --convert-attn-to-tile --canonicalize --cse | FileCheck %s --check-prefix=BOXES

!q = tensor<2x4x80x64xf16>
!k = tensor<2x4x96x64xf16>

// Of threads that copy, a view of so many rows.
// CHECK-LABEL: gpu.func @keys_kernel
// CHECK-SAME:    %[[LENGTHS:[^ ]+]]: memref<2xi32>
// CHECK: %[[ELEMENT:.+]] = memref.load %[[LENGTHS]][%[[BATCH:.+]]]
// CHECK: %[[NUMBER:.+]] = arith.index_cast %[[ELEMENT]] : i32 to index
// CHECK: %[[LEAST:.+]] = arith.maxsi %[[NUMBER]], %c0
// CHECK: %[[LENGTH:.+]] = arith.minsi %[[LEAST]], %c96
// CHECK: %[[BLOCKS:.+]] = arith.ceildivui %[[LENGTH]], %c32
// CHECK: %[[FULL:.+]] = arith.divui %[[LENGTH]], %c32
// CHECK: %[[ROWS:.+]] = memref.subview %{{.+}}[0, 0] [%[[LENGTH]], 64] [1, 1]
// CHECK: scf.for %{{.+}} = %c0 to %[[BLOCKS]] step %c1
// CHECK:   tile.load %[[ROWS]]
// CHECK:   arith.cmpi slt, %{{.+}}, %[[LENGTH]]
//
// A copy engine reads zeros before the first row alone: the last block is read so that it ends with the last key, and what is before it is hidden.
// BOXES-LABEL: gpu.func @keys_kernel
// BOXES: %[[LENGTH:.+]] = arith.minsi %{{.+}}, %c96
// BOXES: %[[BLOCKS:.+]] = arith.ceildivui %[[LENGTH]], %c32
// BOXES: %[[AFTER:.+]] = arith.muli %[[BLOCKS]], %c32
// BOXES: %[[LAST:.+]] = arith.subi %[[AFTER]], %c32
// BOXES: %[[MISSING:.+]] = arith.subi %[[AFTER]], %[[LENGTH]]
// BOXES: %[[ROWS:.+]] = memref.subview %{{.+}}[%{{.+}}, %{{.+}}, 0, 0] [1, 1, 96, 64]
// BOXES: scf.for %[[STEP:[^ ]+]] = %c0 to
// BOXES:   %[[FIRST:.+]] = arith.muli %[[STEP]], %c32
// BOXES:   %[[IS_LAST:.+]] = arith.cmpi sge, %[[FIRST]], %[[LAST]]
// BOXES:   %[[BACK:.+]] = arith.select %[[IS_LAST]], %[[MISSING]], %c0
// BOXES:   %[[READ:.+]] = arith.subi %[[FIRST]], %[[BACK]]
// BOXES:   tile.load %{{.+}}[%[[READ]], %c0]
// BOXES:   %[[COLUMN:.+]] = arith.addi %[[READ]], %{{.+}}
// BOXES:   arith.cmpi sge, %[[COLUMN]], %[[FIRST]]
func.func @keys(%q: !q, %k: !k, %lengths: tensor<2xi32>) -> !q {
  %o = attn.attention %q, %k, %k key_lengths(%lengths : tensor<2xi32>) : !q, !k, !k
  return %o : !q
}

// Rows behind the last query see nothing, and are 0. The diagonal of the batch is found once for the tile.
// CHECK-LABEL: gpu.func @queries_kernel
// CHECK: %[[QUERIES:.+]] = arith.minsi %{{.+}}, %c80
// CHECK: %[[EXISTS:.+]] = arith.cmpi slt, %[[FIRST:.+]], %[[QUERIES]]
// CHECK: arith.select %[[EXISTS]], %c96, %c0
// CHECK: %[[OFFSET:.+]] = arith.subi %c96, %[[QUERIES]]
// CHECK: scf.for
// CHECK-NOT: memref.load
// CHECK:   arith.addi %{{.+}}, %[[OFFSET]]
// CHECK: tile.map
// CHECK: arith.cmpi slt, %{{.+}}, %[[QUERIES]]
// CHECK-NEXT: arith.select
// CHECK: tile.store
func.func @queries(%q: !q, %k: !k, %lengths: tensor<2xi32>) -> !q {
  %o = attn.attention %q, %k, %k query_lengths(%lengths : tensor<2xi32>) causal(bottom_right) : !q, !k, !k
  return %o : !q
}
