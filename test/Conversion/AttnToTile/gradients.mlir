// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels of gradients: sums of rows, then one that owns tiles of keys, then one that owns tiles of queries.
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_80" --attune-set-schedule="kv-block-m=32 kv-block-n=64 q-block-m=64 q-block-n=16" \
// RUN:   --attn-expand-short-forms --convert-attn-to-tile --canonicalize --cse | FileCheck %s

!q = tensor<2x8x128x64xf16>
!k = tensor<2x2x96x64xf16>
!lse = tensor<2x8x128xf32>

// CHECK-LABEL: gpu.func @grouped_deltas
// CHECK-SAME:    %[[DO:[^ ]+]]: memref<2x8x128x64xf16>, %[[O:[^ ]+]]: memref<2x8x128x64xf16>, %[[LSE:[^ ]+]]: memref<2x8x128xf32>, %[[DLSE:[^ ]+]]: memref<2x8x128xf32>, %[[S:[^ ]+]]: memref<2x8x128xf32>, %[[D:[^ ]+]]: memref<2x8x128xf32>) kernel
// CHECK-SAME:    grid = <dim(0, 2) ceildiv 64 * dim(0, 1) * dim(0, 0)>
// CHECK: arith.cmpf oeq, %{{.+}}, %[[LOWEST:.+]] : f32
// CHECK: arith.mulf %{{.+}}, %cst{{.*}} : f32
// CHECK: memref.subview %[[S]]
// CHECK: tile.store %{{.+}} : <64xf32, registers>
// CHECK: tile.reduce {{ *}}add
// CHECK: tile.load %{{.+}} : memref<128xf32
// CHECK: arith.subf
// CHECK: tile.store %{{.+}} : <64xf32, registers>

// Keys are rows: the tile of scores is transposed, and what belongs to queries runs along its columns. All query heads
// of the group are visited, and of the queries those that may see the keys.
// CHECK-LABEL: gpu.func @grouped_key_grad
// CHECK-SAME:    grid = <dim(1, 2) ceildiv 64 * dim(1, 1) * dim(1, 0)>, block = [128, 1, 1]
// The first keys of all four heads, which most queries see, come before the others.
// CHECK: %[[SECTION:.+]] = arith.remui %block_id_x, %c8
// CHECK: %[[TILE:.+]] = arith.divui %[[SECTION]], %c4
// CHECK: arith.muli %[[TILE]], %c64
// CHECK: %[[K:.+]] = tile.load {{.*}} -> <64x64xf16, registers>
// CHECK: %[[V:.+]] = tile.load {{.*}} -> <64x64xf16, registers>
// CHECK: scf.for %{{.+}} = %{{.+}} to %{{.+}} iter_args
// CHECK:   scf.for %{{.+}} = %[[FIRST:.+]] to %{{.+}} iter_args(%[[DK:.+]] = %{{.+}}, %[[DV:.+]] = %{{.+}})
// CHECK:     %[[Q:.+]] = tile.load {{.*}} stages 2 {{.*}} -> <32x64xf16, registers>
// CHECK:     %[[S:.+]] = tile.mma %[[K]], %[[Q]], %{{.+}} transpose_rhs : {{.*}} <64x32xf32, registers>
// CHECK:     %[[G:.+]] = tile.load {{.*}} stages 2 {{.*}} -> <32x64xf16, registers>
// CHECK:     %[[DP:.+]] = tile.mma %[[V]], %[[G]], %{{.+}} transpose_rhs
// CHECK:     tile.load %{{[^ ]+}}[%{{[^ ]+}}] : {{.*}} -> <32xf32, registers>
// CHECK:     tile.load %{{[^ ]+}}[%{{[^ ]+}}] : {{.*}} -> <32xf32, registers>
// CHECK:     scf.if
// CHECK:     tile.broadcast %{{.+}} dim 1
// CHECK:     math.exp2 {{.*}}fastmath<afn>
// CHECK:     tile.map(%{{.+}}, %[[DP]], %{{.+}})
// CHECK:     tile.mma %{{.+}}, %[[G]], %[[DV]] :
// CHECK:     tile.mma %{{.+}}, %[[Q]], %[[DK]] :
// CHECK:   } {tile.defer_waits, tile.split}
// CHECK: arith.mulf %{{.+}}, %cst
// CHECK: tile.store
// CHECK: tile.store

// CHECK-LABEL: gpu.func @grouped_query_grad
// CHECK-SAME:    grid = <dim(0, 2) ceildiv 64 * dim(0, 1) * dim(0, 0)>
// The last queries see most keys.
// CHECK: %[[SECTION:.+]] = arith.remui %block_id_x, %c32
// CHECK: %[[NUMBER:.+]] = arith.divui %[[SECTION]], %c16
// CHECK: %[[TILE:.+]] = arith.subi %c1, %[[NUMBER]]
// CHECK: arith.muli %[[TILE]], %c64
// CHECK: %[[Q:.+]] = tile.load {{.*}} -> <64x64xf16, registers>
// CHECK: %[[G:.+]] = tile.load {{.*}} -> <64x64xf16, registers>
// CHECK: tile.load {{.*}} -> <64xf32, registers>
// CHECK: scf.for {{.*}} iter_args(%[[DQ:.+]] = %{{.+}})
// CHECK:   %[[K:.+]] = tile.load {{.*}} stages 2 {{.*}} -> <16x64xf16, registers>
// CHECK:   tile.mma %[[Q]], %[[K]], %{{.+}} transpose_rhs
// CHECK:   %[[V:.+]] = tile.load {{.*}} stages 2 {{.*}} -> <16x64xf16, registers>
// CHECK:   tile.mma %[[G]], %[[V]], %{{.+}} transpose_rhs
// CHECK:   tile.mma %{{.+}}, %[[K]], %[[DQ]] :
// CHECK: tile.store

// The numbers of rows are workspaces of all three, with whole tiles of rows.
// CHECK-LABEL: func.func @grouped
// CHECK-SAME: #launch.workspace<name = "deltas", type = f32, sizes = [#launch.product<dim(0, 0)>, #launch.product<dim(0, 1)>, #launch.product<64 * dim(0, 2) ceildiv 64>], alignment = 16, contents = undefined>
// CHECK: gpu.launch_func @grouped_deltas::@grouped_deltas
// CHECK: gpu.launch_func @grouped_key_grad::@grouped_key_grad
// CHECK: gpu.launch_func @grouped_query_grad::@grouped_query_grad
func.func @grouped(%q: !q, %k: !k, %v: !k, %o: !q, %lse: !lse, %do: !q, %dlse: !lse) -> (!q, !k, !k) {
  %dq, %dk, %dv = attn.attention_grad %q, %k, %v, %o, %lse, %do lse_grad(%dlse : !lse) causal(bottom_right) : !q, !k, !k, !q, !lse, !q
  return %dq, %dk, %dv : !q, !k, !k
}

// Nothing is computed that is not wanted.
// CHECK-NOT: gpu.func @values_query_grad
// CHECK-LABEL: gpu.func @values_key_grad
// CHECK: tile.store
// CHECK-NOT: tile.store
// CHECK: gpu.return
// CHECK-LABEL: func.func @values
func.func @values(%q: !q, %k: !k, %v: !k, %o: !q, %lse: !lse, %do: !q) -> !k {
  %dv = attn.attention_grad %q, %k, %v, %o, %lse, %do wrt(value) : !q, !k, !k, !q, !lse, !q
  return %dv : !k
}

// The derivative of a score region, where the score is worked out again.
// CHECK-LABEL: gpu.func @bounded_key_grad
// CHECK: math.tanh
// CHECK: math.exp2
// CHECK: %[[T:.+]] = math.tanh
// CHECK: %[[SQUARE:.+]] = arith.mulf %[[T]], %[[T]]
// CHECK: arith.subf %{{.+}}, %[[SQUARE]]
// CHECK: arith.select
// CHECK-LABEL: func.func @bounded
func.func @bounded(%q: !q, %k: !k, %v: !k, %o: !q, %lse: !lse, %do: !q) -> !k {
  %dk = attn.attention_grad %q, %k, %v, %o, %lse, %do wrt(key) softcap(30.0) : !q, !k, !k, !q, !lse, !q
  return %dk : !k
}
