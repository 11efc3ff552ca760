// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ordered form of gradients: as the fused one, but tiles of keys take turns at each block of queries.
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_90a" \
// RUN:   --attune-set-schedule="form=ordered kv-block-m=64 kv-block-n=128 kv-warps=8 kv-in-registers=0 mma-warps=4 producer-warps=4" \
// RUN:   --attn-expand-short-forms --convert-attn-to-tile --canonicalize --cse | FileCheck %s

!q = tensor<2x4x256x128xbf16>
!k = tensor<2x2x200x128xbf16>
!lse = tensor<2x4x256xf32>

// Half of the producer's warps store. Without a mask all tiles of keys visit all blocks of queries, the last one of which comes first: tile
// t has turn t of 2 at block i of 4 of head h of batch b, whose count is number (4 b + h) * 4 + i.
// CHECK-LABEL: gpu.func @full_key_grad
// CHECK-SAME:    %[[TURNS:[^ ]+]]: memref<32xi32>)
// CHECK-SAME:    #tile.role<"load", warps = 2, registers = 24, threads = one>, #tile.role<"store", warps = 2, registers = 24, threads = one>
// CHECK-DAG: %[[C64:.+]] = arith.constant 64 : index
// CHECK-DAG: %[[C3:.+]] = arith.constant 3 : index
// CHECK-DAG: %[[C2:.+]] = arith.constant 2 : index
// CHECK-DAG: %[[C4:.+]] = arith.constant 4 : index
// CHECK:     gpu.block_id
// CHECK:     scf.for %[[HEAD:[^ ]+]] =
// CHECK:     scf.for %[[STEP:[^ ]+]] = %{{.+}} to %[[C4]]
// CHECK:       %[[BLOCK:.+]] = arith.subi %[[C3]], %[[STEP]]
// CHECK:       %[[FIRST:.+]] = arith.muli %[[BLOCK]], %[[C64]]
// CHECK:       %[[DQ:.+]] = tile.mma {{.*}} transpose_lhs scope warpgroup warps_n 2 lhs_through_shared
// CHECK:       tile.ordered %[[TURNS]][%{{.+}}] turn %{{.+}} of %[[C2]] role "store" {
// CHECK:         tile.store %[[DQ]], %{{.+}}[%[[FIRST]], %{{.+}}] accumulate path buffer
// CHECK:       }

// CHECK-LABEL: func.func @full
// CHECK-SAME: #launch.workspace<name = "turns", type = i32, sizes = [#launch.product<dim({{[0-9]+}}, 0) * dim({{[0-9]+}}, 1) * dim({{[0-9]+}}, 2) ceildiv 64>], alignment = 4, contents = zero, restored = true>
func.func @full(%q: !q, %k: !k, %v: !k, %o: !q, %lse: !lse, %do: !q) -> (!q, !k, !k) {
  %dq, %dk, %dv = attn.attention_grad %q, %k, %v, %o, %lse, %do deterministic : !q, !k, !k, !q, !lse, !q
  return %dq, %dk, %dv : !q, !k, !k
}

// Of a window, a block of queries counts from the first tile that sees it: the turn and all turns are less by that.
// CHECK-LABEL: gpu.func @window_key_grad
// CHECK:     scf.for
// CHECK:     scf.for
// CHECK:       %[[BEGIN:.+]] = arith.divui %{{.+}}, %c128
// CHECK:       %[[END:.+]] = arith.maxsi %{{.+}}, %[[BEGIN]]
// CHECK:       %[[TURN:.+]] = arith.subi %{{.+}}, %[[BEGIN]]
// CHECK:       %[[ALL:.+]] = arith.subi %[[END]], %[[BEGIN]]
// CHECK:       tile.ordered %{{.+}} turn %[[TURN]] of %[[ALL]] role "store"
func.func @window(%q: !q, %k: !k, %v: !k, %o: !q, %lse: !lse, %do: !q) -> (!q, !k, !k) {
  %dq, %dk, %dv = attn.attention_grad %q, %k, %v, %o, %lse, %do window(20, 3, bottom_right) deterministic : !q, !k, !k, !q, !lse, !q
  return %dq, %dk, %dv : !q, !k, !k
}

// Of packed sequences, a tile's number is that among the tiles of its sequence, of which there are as many turns. A block of queries is known by the
// queries that no other box has, and its count by a number that no block of another sequence has: those of sequence b begin behind starts[b] / 64 + b.
// CHECK-LABEL: gpu.func @packed_key_grad
// CHECK-SAME:    %[[Q:[^ ]+]]: memref<1x4x?x128xbf16>
// CHECK-SAME:    %[[SQ:[^ ]+]]: memref<?xi32>, %[[SK:[^ ]+]]: memref<?xi32>
// CHECK-SAME:    #launch.workspace<name = "turns", type = i32, sizes = [#launch.product<dim(0, 0) * dim(0, 1) * (dim(0, 2) ceildiv 64 + dim(4, 0))>], alignment = 4, contents = zero, restored = true>
// CHECK:     memref.load %[[SQ]][%[[BATCH:[0-9a-z]+]]]
// CHECK:     %[[START:.+]] = arith.minsi
// CHECK:     arith.muli %[[TILE:.+]], %c128
// CHECK:     %[[TILES:.+]] = arith.ceildivui %{{.+}}, %c128
// CHECK:     scf.for %[[HEAD:[^ ]+]] =
// CHECK:     scf.for
// CHECK:       %[[LEAST:.+]] = arith.muli %{{.+}}, %c64
// CHECK:       arith.select
// CHECK:       %[[FIRST:.+]] = arith.subi %[[LEAST]],
// CHECK:       %[[QUERY:.+]] = arith.addi %[[START]], %[[FIRST]]
// CHECK-DAG:   %[[BLOCK:.+]] = arith.divui %[[LEAST]], %c64
// CHECK-DAG:   %[[SIZE:.+]] = arith.ceildivui %{{.+}}, %c64
// CHECK-DAG:   %[[STARTS:.+]] = memref.dim %[[SQ]]
// CHECK-DAG:   %[[BLOCKS:.+]] = arith.addi %[[SIZE]], %[[STARTS]]
// CHECK-DAG:   %[[BEFORE:.+]] = arith.divui %[[START]], %c64
// CHECK-DAG:   %[[OF_BATCH:.+]] = arith.addi %[[BATCH]], %[[BEFORE]]
// CHECK-DAG:   %[[OF_HEAD:.+]] = arith.addi %[[OF_BATCH]], %[[BLOCK]]
// CHECK-DAG:   %[[HEADS:.+]] = arith.muli %[[HEAD]], %[[BLOCKS]]
// CHECK:       %[[PLACE:.+]] = arith.addi %[[HEADS]], %[[OF_HEAD]]
// CHECK:       tile.ordered %{{.+}}[%[[PLACE]]] turn %[[TILE]] of %[[TILES]] role "store" {
// CHECK:         %[[ROW:.+]] = arith.addi %[[QUERY]], %c64
// CHECK:         tile.store %{{.+}}, %{{.+}}[%[[ROW]], %{{.+}}] accumulate path buffer

!rows = tensor<1x4x?x128xbf16>
!kept = tensor<1x2x?x128xbf16>
!logs = tensor<1x4x?xf32>
func.func @packed(%q: !rows, %k: !kept, %v: !kept, %o: !rows, %lse: !logs, %do: !rows, %sq: tensor<?xi32>, %sk: tensor<?xi32>) -> (!rows, !kept, !kept) {
  %dq, %dk, %dv = attn.attention_grad %q, %k, %v, %o, %lse, %do deterministic query_starts(%sq : tensor<?xi32>) key_starts(%sk : tensor<?xi32>)
    : !rows, !kept, !kept, !rows, !logs, !rows
  return %dq, %dk, %dv : !rows, !kept, !kept
}

// Of lengths, counts have the places that they would have without.
// CHECK-LABEL: gpu.func @lengths_key_grad
// CHECK-SAME:    %[[TURNS:[^ ]+]]: memref<32xi32>)
// CHECK:     scf.for %[[HEAD:[^ ]+]] =
// CHECK:     scf.for
// CHECK:       %[[LEAST:.+]] = arith.muli %{{.+}}, %c64
// CHECK:       %[[BLOCK:.+]] = arith.divui %[[LEAST]], %c64
// CHECK:       %[[OF_BATCH:.+]] = arith.addi %{{.+}}, %[[HEAD]]
// CHECK:       %[[BLOCKS:.+]] = arith.muli %[[OF_BATCH]], %c4
// CHECK:       %[[PLACE:.+]] = arith.addi %[[BLOCKS]], %[[BLOCK]]
// CHECK:       tile.ordered %[[TURNS]][%[[PLACE]]]
func.func @lengths(%q: !q, %k: !k, %v: !k, %o: !q, %lse: !lse, %do: !q, %lengths: tensor<2xi32>) -> (!q, !k, !k) {
  %dq, %dk, %dv = attn.attention_grad %q, %k, %v, %o, %lse, %do deterministic query_lengths(%lengths : tensor<2xi32>) key_lengths(%lengths : tensor<2xi32>)
    : !q, !k, !k, !q, !lse, !q
  return %dq, %dk, %dv : !q, !k, !k
}

// Where gradients of queries are not wanted, nobody waits.
// CHECK-LABEL: gpu.func @keys_key_grad
// CHECK-NOT: tile.ordered
// CHECK-NOT: "store"
func.func @keys(%q: !q, %k: !k, %v: !k, %o: !q, %lse: !lse, %do: !q) -> !k {
  %dk = attn.attention_grad %q, %k, %v, %o, %lse, %do wrt(key) : !q, !k, !k, !q, !lse, !q
  return %dk : !k
}
