// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gradients of packed sequences: a tile of what is owned finds its batch by bisection, rows are placed behind its start, and neither loads nor stores
// go past its end. Simulator/gradients-packed.test checks numbers.
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_80" --attune-set-schedule="kv-block-m=32 kv-block-n=64 q-block-m=64 q-block-n=16" \
// RUN:   --attn-expand-short-forms --convert-attn-to-tile --canonicalize --cse | FileCheck %s
// RUN: attune-opt %s --attune-attach-target="chip=sm_90a" --attn-expand-short-forms \
// RUN:   --attune-set-schedule="kv-block-m=64 kv-block-n=64 kv-in-registers=0 q-block-m=64 q-block-n=64 q-in-registers=0 mma-warps=4 producer-warps=4" \
// RUN:   --convert-attn-to-tile --canonicalize --cse | FileCheck %s --check-prefix=BOXES
// RUN: attune-opt %s --attune-attach-target="chip=sm_90a" --attn-expand-short-forms \
// RUN:   --attune-set-schedule="form=fused kv-block-m=64 kv-block-n=128 kv-warps=8 kv-in-registers=0 mma-warps=4 producer-warps=4" \
// RUN:   --convert-attn-to-tile --canonicalize --cse | FileCheck %s --check-prefix=FUSED

!q = tensor<1x?x8x64xf16>
!k = tensor<1x?x2x64xf16>
!lse = tensor<1x8x?xf32>

// Numbers of rows belong to no sequence.
// CHECK-LABEL: gpu.func @packed_deltas
// CHECK-NOT: memref<?xi32>

// CHECK-LABEL: gpu.func @packed_key_grad
// CHECK-SAME:    %[[Q:[^ ]+]]: memref<1x?x8x64xf16>, %[[K:[^ ]+]]: memref<1x?x2x64xf16>, {{.*}}, %[[USED:[^ ]+]]: memref<?xi32>, %[[SQ:[^ ]+]]: memref<?xi32>, %[[SK:[^ ]+]]: memref<?xi32>
// CHECK-SAME:    grid = <(dim(1, 1) ceildiv 64 + dim({{[0-9]+}}, 0)) * dim(1, 2) * dim(1, 0)>
// CHECK: %[[FOUND:.+]]:2 = scf.for
// CHECK:   memref.load %[[SK]]
// CHECK:   arith.divui %{{.+}}, %c64
// Of the batch, the place behind the rows that are stored; behind the last one it is the end of the tensor.
// CHECK: %[[IS_BATCH:.+]] = arith.cmpi slt, %[[FOUND]]#0,
// CHECK: %[[AFTER:.+]] = arith.select %[[IS_BATCH]]
// CHECK: memref.load %[[SQ]]
// CHECK: memref.load %[[USED]]
// CHECK: %[[FIRST:.+]] = arith.muli %{{.+}}, %c64
// Keys that do not exist visit no queries.
// CHECK: %[[EXISTS:.+]] = arith.cmpi slt, %[[FIRST]], %[[KEYS:.+]] :
// CHECK: %[[QUERIES:.+]] = arith.select %[[EXISTS]], %[[ALL_QUERIES:.+]], %c0
// CHECK: %[[END:.+]] = arith.addi %[[START:.+]], %[[KEYS]]
// CHECK: %[[ROWS:.+]] = memref.subview %{{.+}}[0, 0] [%[[END]], 64]
// CHECK: %[[PLACE:.+]] = arith.addi %[[START]], %[[FIRST]]
// CHECK: tile.load %[[ROWS]][%[[PLACE]], %c0]
// CHECK: scf.for
// CHECK:   %[[LAST:.+]] = arith.addi %[[START_OF_QUERIES:.+]], %[[ALL_QUERIES]]
// CHECK:   memref.subview %{{.+}}[0, 0] [%[[LAST]], 64]
// CHECK:   scf.for
// CHECK:     %[[QUERY:.+]] = arith.muli %{{.+}}, %c32
// CHECK:     %[[QUERY_PLACE:.+]] = arith.addi %[[START_OF_QUERIES]], %[[QUERY]]
// CHECK:     tile.load %{{.+}}[%[[QUERY_PLACE]], %c0] stages 2
// Log-sum-exps of queries that do not exist are not read, either.
// CHECK:     %[[LOGS:.+]] = memref.subview %{{.+}}[0, %{{.+}}, 0] [1, 1, %[[LAST]]]
// CHECK:     tile.load %[[LOGS]][%[[QUERY_PLACE]]]
// Rows behind the keys that are used are the tile's to write, too, and 0.
// CHECK: } {tile.defer_waits
// CHECK: %[[ROW:.+]] = arith.addi %[[FIRST]], %{{.+}} : index
// CHECK: %[[IS_KEY:.+]] = arith.cmpi slt, %[[ROW]], %[[KEYS]]
// CHECK: arith.select %[[IS_KEY]], %{{.+}}, %cst
// CHECK: %[[GRAD:.+]] = memref.subview %{{.+}}[0, 0] [%[[AFTER]], 64]
// CHECK: tile.store %{{.+}}, %[[GRAD]][%[[PLACE]], %c0]
// CHECK: tile.store %{{.+}}, %{{.+}}[%[[PLACE]], %c0]

// CHECK-LABEL: gpu.func @packed_query_grad
// CHECK-SAME:    grid = <(dim(0, 1) ceildiv 64 + dim({{[0-9]+}}, 0)) * dim(0, 2) * dim(0, 0)>
// CHECK: scf.for
// CHECK:   arith.divui %{{.+}}, %c64
// CHECK: tile.load %{{.+}} stages 1 read_once
// CHECK: tile.load %{{.+}} stages 1 read_once
// CHECK: %[[KEY_END:.+]] = arith.addi %[[KEY_START:.+]], %{{.+}} : index
// CHECK-NEXT: %[[KEY_ROWS:.+]] = memref.subview %{{.+}}[0, 0] [%[[KEY_END]], 64]
// CHECK: scf.for
// CHECK:   %[[KEY:.+]] = arith.muli %{{.+}}, %c16
// CHECK:   %[[KEY_PLACE:.+]] = arith.addi %[[KEY_START]], %[[KEY]]
// CHECK:   tile.load %[[KEY_ROWS]][%[[KEY_PLACE]], %c0] stages 2
// The mask sees the key of the sequence.
// CHECK:   %[[COLUMN:.+]] = arith.addi %[[KEY]], %{{.+}}
// CHECK:   arith.cmpi slt, %[[COLUMN]],
// CHECK: tile.store

// What starts hold is on the device, and is not checked.
// CHECK-LABEL: func.func @packed(
// CHECK: cf.assert %{{.+}}, "expects query starts and key starts to have one number of batches"
// CHECK-NOT: memref.load
// CHECK: gpu.launch_func @packed_query_grad::@packed_query_grad
func.func @packed(%q: !q, %k: !k, %v: !k, %o: !q, %lse: !lse, %do: !q, %sq: tensor<?xi32>, %sk: tensor<?xi32>, %used: tensor<?xi32>) -> (!q, !k, !k) {
  %dq, %dk, %dv = attn.attention_grad %q, %k, %v, %o, %lse, %do order(bshd) causal(bottom_right)
    key_lengths(%used : tensor<?xi32>) query_starts(%sq : tensor<?xi32>) key_starts(%sk : tensor<?xi32>) : !q, !k, !k, !q, !lse, !q
  return %dq, %dk, %dv : !q, !k, !k
}

// Four copies of the numbers, of which the second begins with a zero.
// BOXES-LABEL: gpu.func @boxes_deltas
// BOXES: %[[IS_FIRST:.+]] = arith.cmpi eq, %[[ROW:.+]], %c0
// BOXES: %[[ZERO:.+]] = arith.select %[[IS_FIRST]], %c-63, %c-64
// BOXES: tile.store %{{.+}}, %{{.+}}[%[[ZERO]]]
//
// Boxes of warpgroups: the last one of what is visited ends with the last row, and scores of rows that it has again are -inf.
// BOXES-LABEL: gpu.func @boxes_key_grad
// BOXES: %[[AFTER:.+]] = arith.muli %{{.+}}, %c64
// BOXES: %[[LAST_BOX:.+]] = arith.subi %[[AFTER]], %c64
// BOXES: %[[MOVED:.+]] = arith.subi %[[AFTER]], %[[QUERIES:.+]] :
// No view ends with the batch.
// BOXES-NOT: memref.subview %{{.+}}[0, 0] [
// BOXES: scf.for
// BOXES:   %[[FIRST:.+]] = arith.muli %{{.+}}, %c64
// BOXES:   %[[IS_LAST:.+]] = arith.cmpi sge, %[[FIRST]], %[[LAST_BOX]]
// BOXES:   %[[BACK:.+]] = arith.select %[[IS_LAST]], %[[MOVED]], %c0
// BOXES:   %[[READ:.+]] = arith.subi %[[FIRST]], %[[BACK]]
// BOXES:   %[[PLACE:.+]] = arith.addi %{{.+}}, %[[READ]]
// BOXES:   tile.load %{{.+}}[%[[PLACE]], %c0] stages 2
// BOXES:   tile.load %{{.+}}[%[[PLACE]], %c0] stages 2
// Numbers of queries as well, of a copy that has them at a multiple of 16 bytes.
// BOXES:   %[[LESS:.+]] = arith.subi %c0, %[[PLACE]]
// BOXES:   %[[ZEROS:.+]] = arith.andi %[[LESS]], %c3
// BOXES:   %[[NUMBER:.+]] = arith.addi %[[PLACE]], %[[ZEROS]]
// BOXES:   %[[COPY:.+]] = memref.subview %{{.+}}[%[[ZEROS]], 0, 0]
// BOXES:   tile.load %[[COPY]][%{{.+}}, %[[NUMBER]]] stages 2 {{.*}} -> <64xf32, registers>
// BOXES:   %[[IS_WHOLE:.+]] = arith.cmpi sge, %[[READ]], %[[FIRST]]
// BOXES:   scf.if %[[IS_WHOLE]]
// BOXES:     %[[QUERY:.+]] = arith.addi %[[READ]], %{{.+}}
// BOXES:     arith.cmpi sge, %[[QUERY]], %[[FIRST]]
// BOXES: tile.store
//
// BOXES-LABEL: gpu.func @boxes_query_grad
// BOXES: tile.load {{.*}} stages 1
// BOXES: tile.load {{.*}} stages 1
// BOXES: scf.for
// BOXES:   %[[KEY_BACK:.+]] = arith.select %{{.+}}, %{{.+}}, %c0
// BOXES:   %[[KEY_READ:.+]] = arith.subi %[[KEY_FIRST:.+]], %[[KEY_BACK]]
// BOXES:   arith.cmpi sge, %[[KEY_READ]], %[[KEY_FIRST]]
//
// Where gradients of queries are added, the last tile of keys ends with the last key as well, and neither has weights of, nor stores, rows that are
// another tile's.
// FUSED-LABEL: gpu.func @boxes_key_grad
// FUSED: %[[FIRST:.+]] = arith.muli %{{.+}}, %c128
// FUSED: %[[EXISTS:.+]] = arith.cmpi slt, %[[FIRST]], %{{.+}} :
// FUSED: arith.ceildivui %{{.+}}, %c128
// FUSED: %[[LAST:.+]] = arith.select %{{.+}}, %{{.+}}, %c0
// FUSED: %[[BACK:.+]] = arith.select %[[EXISTS]], %[[LAST]], %c0
// FUSED: %[[READ:.+]] = arith.subi %[[FIRST]], %[[BACK]]
// FUSED: %[[PLACE:.+]] = arith.addi %[[START:.+]], %[[READ]]
// FUSED: tile.load %{{.+}}[%[[PLACE]], %c0] stages 1
// FUSED: scf.for
// FUSED:   arith.cmpi sge, %[[READ]], %[[FIRST]]
// FUSED:   %[[KEY:.+]] = arith.addi %[[READ]], %{{.+}}
// FUSED:   arith.cmpi sge, %[[KEY]], %[[FIRST]]
// Rows before the first query are there to be added to.
// FUSED:   %[[SUM:.+]] = arith.addi %{{.+}}, %c64 :
// FUSED:   tile.store %{{.+}}, %{{.+}}[%[[SUM]], %c0] accumulate
// FUSED: %[[OWN:.+]] = arith.addi %[[START]], %[[FIRST]]
// FUSED: %[[ROWS:.+]] = memref.subview %{{.+}}[%[[OWN]], 0]
// FUSED: %[[BEFORE:.+]] = arith.subi %c0, %[[BACK]]
// FUSED: tile.store %{{.+}}, %[[ROWS]][%[[BEFORE]], %c0]
func.func @boxes(%q: !q, %k: !k, %v: !k, %o: !q, %lse: !lse, %do: !q, %sq: tensor<?xi32>, %sk: tensor<?xi32>) -> (!q, !k, !k) {
  %dq, %dk, %dv = attn.attention_grad %q, %k, %v, %o, %lse, %do order(bshd) query_starts(%sq : tensor<?xi32>) key_starts(%sk : tensor<?xi32>)
    : !q, !k, !k, !q, !lse, !q
  return %dq, %dk, %dv : !q, !k, !k
}

// Behind the last key of a batch, where no tile is that begins with it, the one that ends with it stores zeros.
// FUSED-LABEL: gpu.func @lengths_key_grad
// FUSED: memref.load %{{.+}} : memref<3xi32>
// FUSED: %[[LENGTH:.+]] = arith.minsi %{{.+}}, %c200
// FUSED: %[[FIRST:.+]] = arith.muli %{{.+}}, %c128
// FUSED: %[[EXISTS:.+]] = arith.cmpi slt, %[[FIRST]], %[[LENGTH]]
// FUSED: %[[LAST:.+]] = arith.cmpi sge, %[[FIRST]],
// FUSED: %[[MOVED:.+]] = arith.select %[[LAST]],
// FUSED: %[[BACK:.+]] = arith.select %[[EXISTS]], %[[MOVED]], %c0
// FUSED: %[[BEFORE:.+]] = arith.subi %c0, %[[BACK]]
// FUSED: tile.store %{{.+}}, %{{.+}}[%[[BEFORE]], %c0]
// FUSED: %[[MOVES:.+]] = arith.cmpi ne, %[[BEFORE]], %c0
// FUSED: %[[FROM:.+]] = arith.subi %[[FIRST]], %[[LENGTH]]
// FUSED: %[[PLACE:.+]] = arith.select %[[MOVES]], %[[FROM]], %c-128
// FUSED: %[[ZEROS:.+]] = tile.fill
// FUSED: %[[BEHIND:.+]] = memref.subview %{{.+}}[%[[LENGTH]], 0]
// FUSED: tile.store %[[ZEROS]], %[[BEHIND]][%[[PLACE]], %c0]
// FUSED: tile.store %{{.+}}, %{{.+}}[%[[BEFORE]], %c0]
// FUSED: tile.store %[[ZEROS]], %{{.+}}[%[[PLACE]], %c0]
!some = tensor<3x2x200x64xf16>
!numbers = tensor<3x2x200xf32>
func.func @lengths(%q: !some, %k: !some, %v: !some, %o: !some, %lse: !numbers, %do: !some, %used: tensor<3xi32>) -> (!some, !some, !some) {
  %dq, %dk, %dv = attn.attention_grad %q, %k, %v, %o, %lse, %do key_lengths(%used : tensor<3xi32>) : !some, !some, !some, !some, !numbers, !some
  return %dq, %dk, %dv : !some, !some, !some
}
