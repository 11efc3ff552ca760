// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Packed sequences: a tile finds its batch by bisection, rows are placed behind its start, and stores end with it. Simulator/attention-packed.test
// checks numbers.
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_80" --attune-set-schedule="block-m=16 block-n=32 num-warps=1 tile-order=ascending" \
// RUN:   --attn-expand-short-forms --convert-attn-to-tile --canonicalize --cse | FileCheck %s
// RUN: attune-opt %s --attune-attach-target="chip=sm_90a" --attune-set-schedule="block-m=64 block-n=32 num-warps=4 mma-warps=4 q-in-registers=0 tile-order=ascending" \
// RUN:   --attn-expand-short-forms --convert-attn-to-tile --canonicalize --cse | FileCheck %s --check-prefix=BOXES

!q = tensor<1x70x4x64xf16>
!k = tensor<1x90x4x64xf16>

// CHECK-LABEL: gpu.func @both_kernel
// CHECK-SAME:    %[[SQ:[^ ]+]]: memref<3xi32>, %[[SK:[^ ]+]]: memref<3xi32>
// CHECK-SAME:    grid = <(dim(0, 1) ceildiv 16 + dim(2, 0)) * dim(0, 2) * dim(0, 0)>
// 5 tiles of 16 rows, and one more for each start.
// All heads of a tile come side by side.
// CHECK: %[[NUMBER:.+]] = arith.divui %{{.+}}, %c4
// CHECK: %[[FOUND:.+]]:2 = scf.for %{{.+}} = %c0 to %c2
// CHECK:   %[[START:.+]] = memref.load %[[SQ]]
// CHECK:   arith.divui %{{.+}}, %c16
// CHECK:   arith.cmpi sgt, %{{.+}}, %[[NUMBER]]
// CHECK: %[[IS_BATCH:.+]] = arith.cmpi slt, %[[FOUND]]#0, %c2
// CHECK: %[[AFTER:.+]] = arith.select %[[IS_BATCH]], %{{.+}}, %c70
// CHECK: %[[FIRST:.+]] = arith.muli %{{.+}}, %c16
// CHECK: memref.load %[[SK]]
// CHECK: %[[EXISTS:.+]] = arith.cmpi slt, %[[FIRST]], %[[QUERIES:.+]] :
// CHECK: %[[KEYS:.+]] = arith.select %[[EXISTS]], %{{.+}}, %c0
// CHECK: %[[END:.+]] = arith.addi %[[START_OF_KEYS:.+]], %[[KEYS]]
// CHECK: %[[KEY_ROWS:.+]] = memref.subview %{{.+}}[0, 0] [%[[END]], 64]
// CHECK: %[[PLACE:.+]] = arith.addi %{{.+}}, %[[FIRST]]
// CHECK: tile.load %{{.+}}[%[[PLACE]], %c0]
// CHECK: scf.for
// CHECK:   %[[ROW:.+]] = arith.muli %{{.+}}, %c32
// CHECK:   %[[KEY_PLACE:.+]] = arith.addi %[[START_OF_KEYS]], %[[ROW]]
// CHECK:   tile.load %[[KEY_ROWS]][%[[KEY_PLACE]], %c0]
// The mask sees the key of the sequence.
// CHECK:   %[[KEY:.+]] = arith.addi %[[ROW]], %{{.+}}
// CHECK:   arith.cmpi slt, %[[KEY]], %[[KEYS]]
// CHECK: %[[ROWS:.+]] = memref.subview %{{.+}}[0, 0] [%[[AFTER]], 64]
// CHECK: tile.store %{{.+}}, %[[ROWS]][%[[PLACE]], %c0]
// CHECK: %[[LOGS:.+]] = memref.subview %{{.+}}[0, %{{.+}}, 0] [1, 1, %[[AFTER]]]
// CHECK: tile.store %{{.+}}, %[[LOGS]][%[[PLACE]]]
// CHECK: gpu.launch_func @both_kernel::@both_kernel blocks in (%c32, %c1, %c1)
//
// The last block of keys ends with the last key.
// BOXES-LABEL: gpu.func @both_kernel
// BOXES: tile.load
// BOXES: scf.for
// BOXES: %[[BACK:.+]] = arith.select %{{.+}}, %{{.+}}, %c0
// BOXES: %[[READ:.+]] = arith.subi %{{.+}}, %[[BACK]]
// BOXES: %[[PLACE:.+]] = arith.addi %{{.+}}, %[[READ]]
// BOXES: tile.load %{{.+}}[%[[PLACE]], %c0]
func.func @both(%q: !q, %k: !k, %sq: tensor<3xi32>, %sk: tensor<3xi32>) -> (!q, tensor<1x4x70xf32>) {
  %o, %lse = attn.attention %q, %k, %k lse order(bshd) query_starts(%sq : tensor<3xi32>) key_starts(%sk : tensor<3xi32>) : !q, !k, !k
  return %o, %lse : !q, tensor<1x4x70xf32>
}

// Sizes are checked where the kernel is launched, and what starts hold is not, for it may be on a device. What a region reads has an element for
// each batch, and for each query that one may have.
// CHECK-LABEL: func.func @dynamic
// CHECK: cf.assert %{{.+}}, "expects query starts to have at least 2 elements"
// CHECK: cf.assert %{{.+}}, "expects query starts to have one element more than there are batches of pages"
// CHECK: cf.assert %{{.+}}, "expects dimension 0 of a tensor that a region reads to have at least as many elements as there are batches"
// CHECK: cf.assert %{{.+}}, "expects no more queries than elements of dimension 1 of a tensor that a region reads"
// CHECK-NOT: cf.assert
// CHECK: arith.ceildivui %{{.+}}, %c16
// CHECK: %[[TILES:.+]] = arith.addi
func.func @dynamic(%q: tensor<1x?x4x64xf16>, %k: tensor<9x16x4x64xf16>, %sq: tensor<?xi32>, %pages: tensor<?x3xi32>, %bias: tensor<?x100xf32>) -> tensor<1x?x4x64xf16> {
  %o = attn.attention %q, %k, %k order(bshd) query_starts(%sq : tensor<?xi32>) pages(%pages : tensor<?x3xi32>) score (%s, %b, %h, %m, %n) {
    %x = tensor.extract %bias[%b, %m] : tensor<?x100xf32>
    %y = arith.addf %s, %x : f32
    attn.yield %y : f32
  } : tensor<1x?x4x64xf16>, tensor<9x16x4x64xf16>, tensor<9x16x4x64xf16>
  return %o : tensor<1x?x4x64xf16>
}

// Heads of a group share tiles: 8 rows of a tile of 16 for each of two, of which 70 queries and 3 starts fill at most 12. The rows of a query, which
// has all heads behind each other, are those of the query times 2.
// CHECK-LABEL: gpu.func @shared_kernel
// CHECK-SAME:    %[[Q:[^ ]+]]: memref<1x70x4x64xf16>
// CHECK-SAME:    grid = <(dim(0, 1) ceildiv 8 + dim(2, 0)) * dim(0, 2) ceildiv 2 * dim(0, 0)>
// CHECK: %[[GROUP:.+]] = arith.remui %{{.+}}, %c2
// CHECK: %[[NUMBER:.+]] = arith.divui %{{.+}}, %c2
// CHECK: %[[HEAD:.+]] = arith.muli %[[GROUP]], %c2
// CHECK: arith.divui %{{.+}}, %c8
// CHECK: %[[AFTER:.+]] = arith.select %{{.+}}, %{{.+}}, %c70
// CHECK: %[[FIRST:.+]] = arith.muli %{{.+}}, %c8
// CHECK: memref.subview %{{.+}}[0, %[[HEAD]], 0] [70, 2, 64]
// CHECK: %[[ROWS:.+]] = tile.flattened
// CHECK: %[[PLACE:.+]] = arith.addi %{{.+}}, %[[FIRST]]
// CHECK: %[[ROW:.+]] = arith.muli %[[PLACE]], %c2
// CHECK: tile.load %[[ROWS]][%[[ROW]], %c0]
// The mask is given the head and the query of a row.
// CHECK: ^bb0(%{{.+}}: f32, %[[I:.+]]: index, %{{.+}}: index):
// CHECK:   %[[QUERY:.+]] = arith.divui %[[I]], %c2
// CHECK:   arith.addi %[[FIRST]], %[[QUERY]]
// Rows end with the sequence, and with the tile.
// CHECK: %[[AFTERTILE:.+]] = arith.addi %[[PLACE]], %c8
// CHECK: %[[END:.+]] = arith.minsi %[[AFTER]], %[[AFTERTILE]]
// CHECK: memref.subview %{{.+}}[0, %[[HEAD]], 0] [%[[END]], 2, 64]
// CHECK: %[[OUT:.+]] = tile.flattened
// CHECK: tile.store %{{.+}}, %[[OUT]][%[[ROW]], %c0]
// CHECK: %[[LOGS:.+]] = tile.flattened
// CHECK: tile.store %{{.+}}, %[[LOGS]][%[[ROW]]]
//
// Boxes are those of two dimensions, too.
// BOXES-LABEL: gpu.func @shared_kernel
// BOXES-SAME:    grid = <(dim(0, 1) ceildiv 32 + dim(2, 0)) * dim(0, 2) ceildiv 2 * dim(0, 0)>
// BOXES: %[[ROWS:.+]] = tile.flattened
// BOXES: tile.load %[[ROWS]]
func.func @shared(%q: !q, %k: tensor<1x90x2x64xf16>, %sq: tensor<3xi32>, %sk: tensor<3xi32>) -> (!q, tensor<1x4x70xf32>) {
  %o, %lse = attn.attention %q, %k, %k lse order(bshd) causal(bottom_right) query_starts(%sq : tensor<3xi32>) key_starts(%sk : tensor<3xi32>)
    : !q, tensor<1x90x2x64xf16>, tensor<1x90x2x64xf16>
  return %o, %lse : !q, tensor<1x4x70xf32>
}

// Not where heads come before queries, nor where the mask asks for the head.
// CHECK-LABEL: gpu.func @apart_kernel
// CHECK-NOT: tile.flattened
// CHECK: gpu.return
func.func @apart(%q: tensor<1x4x70x64xf16>, %k: tensor<1x2x90x64xf16>, %p: !q, %l: tensor<1x90x2x64xf16>, %sq: tensor<3xi32>, %sk: tensor<3xi32>) -> (tensor<1x4x70x64xf16>, !q) {
  %o = attn.attention %q, %k, %k query_starts(%sq : tensor<3xi32>) key_starts(%sk : tensor<3xi32>) : tensor<1x4x70x64xf16>, tensor<1x2x90x64xf16>, tensor<1x2x90x64xf16>
  %x = attn.attention %p, %l, %l order(bshd) query_starts(%sq : tensor<3xi32>) key_starts(%sk : tensor<3xi32>) mask (%b, %h, %m, %n) {
    %near = arith.addi %n, %h : index
    %sees = arith.cmpi ule, %near, %m : index
    attn.yield %sees : i1
  } : !q, tensor<1x90x2x64xf16>, tensor<1x90x2x64xf16>
  return %o, %x : tensor<1x4x70x64xf16>, !q
}
