// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fused form of gradients: the kernel that owns keys adds those of queries to memory, which the one in front of it has cleared
// and the one behind it rounds.
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_90a" \
// RUN:   --attune-set-schedule="form=fused kv-block-m=64 kv-block-n=128 kv-warps=8 kv-in-registers=0 mma-warps=4 producer-warps=4" \
// RUN:   --attn-expand-short-forms --convert-attn-to-tile --canonicalize --cse | FileCheck %s
// RUN: attune-opt %s --attune-attach-target="chip=sm_90a" \
// RUN:   --attune-set-schedule="form=fused round-last=1 kv-block-m=64 kv-block-n=128 kv-warps=8 kv-in-registers=0 mma-warps=4 producer-warps=4" \
// RUN:   --attn-expand-short-forms --convert-attn-to-tile --canonicalize --cse | FileCheck %s --check-prefix=LAST

!q = tensor<2x4x256x128xbf16>
!k = tensor<2x4x200x128xbf16>
!lse = tensor<2x4x256xf32>

// CHECK-LABEL: gpu.func @fused_deltas
// CHECK-SAME:    memref<2x4x256x128xf32>) kernel
// CHECK: tile.store %{{.+}} : <64xf32, registers>
// CHECK: %[[ZERO:.+]] = tile.fill %cst{{.*}} : f32 -> <64x128xf32, registers>
// CHECK: tile.store %[[ZERO]]

// Numbers of queries come by the copy engine. Keys that do not exist have infinitely low scores, for their weights could be infinite. The product that is added is asked
// for before that which runs while it is, and behind one that runs while warps wait for each other.
// CHECK-LABEL: gpu.func @fused_key_grad
// CHECK: %[[K:.+]] = tile.load {{.*}} -> <128x128xbf16, registers>
// CHECK: scf.for
// CHECK:   tile.load %{{.+}}[%{{.+}}, %{{.+}}] stages 2 : memref<4x256xf32, {{.*}} -> <64xf32, registers>
// CHECK:   tile.load %{{.+}}[%{{.+}}, %{{.+}}] stages 2 : memref<4x256xf32, {{.*}} -> <64xf32, registers>
// CHECK:   %[[EXIST:.+]] = arith.cmpi sle
// CHECK:   scf.if %[[EXIST]]
// CHECK:   %[[DS:.+]] = tile.map(%{{.+}}, %{{.+}}, %{{.+}})
// CHECK:   tile.mma {{.*}} : <128x64xbf16, registers>, <64x128xbf16, registers>, <128x128xf32, registers>
// CHECK:   %[[DQ:.+]] = tile.mma %[[DS]], %[[K]], %{{.+}} transpose_lhs scope warpgroup warps_n 2 lhs_through_shared : <128x64xbf16, registers>, <128x128xbf16, registers>, <64x128xf32, registers>
// CHECK:   tile.mma %[[DS]], {{.*}} : <128x64xbf16, registers>, <64x128xbf16, registers>, <128x128xf32, registers>
// CHECK:   tile.store %[[DQ]], {{.*}} accumulate path buffer stages 2 role "store" : <64x128xf32, registers>

// CHECK-LABEL: gpu.func @fused_query_grad
// CHECK: tile.load {{.*}} -> <64x128xf32, registers>
// CHECK: arith.mulf
// CHECK: arith.truncf
// CHECK: tile.store {{.*}} : <64x128xbf16, registers>

// Or the last workgroup of a head of keys rounds all of its queries, and there is no kernel behind.
// LAST-LABEL: gpu.func @fused_key_grad
// LAST: tile.store {{.*}} accumulate path buffer
// LAST: tile.store {{.*}} : <128x128xbf16, registers>
// LAST: tile.store {{.*}} : <128x128xbf16, registers>
// LAST: %[[LAST:.+]] = tile.join %{{.+}}[%{{.+}}] of %c2 : memref<8xi32>
// LAST: scf.if %[[LAST]] {
// LAST:   tile.load %{{.+}}[%c0, %c0] : {{.*}} -> <256x128xf32, registers>
// LAST:   arith.truncf
// LAST:   tile.store %{{.+}}, %{{.+}}[%c0, %c0] : <256x128xbf16, registers>
// LAST-NOT: @fused_query_grad
// LAST: #launch.workspace<name = "counters", type = i32, sizes = [#launch.product<dim(7, 0) * dim(7, 1)>], alignment = 4, contents = zero, restored = true>

// CHECK-LABEL: func.func @fused
// CHECK-SAME: #launch.workspace<name = "query_sums", type = f32, sizes = [#launch.product<dim(0, 0)>, #launch.product<dim(0, 1)>, #launch.product<dim(0, 2)>, #launch.product<128>], alignment = 16, contents = undefined>
func.func @fused(%q: !q, %k: !k, %v: !k, %o: !q, %lse: !lse, %do: !q) -> (!q, !k, !k) {
  %dq, %dk, %dv = attn.attention_grad %q, %k, %v, %o, %lse, %do : !q, !k, !k, !q, !lse, !q
  return %dq, %dk, %dv : !q, !k, !k
}

// Where gradients of queries are not wanted, none are summed.
// CHECK-LABEL: gpu.func @keys_key_grad
// CHECK-NOT: accumulate
// CHECK-NOT: @keys_query_grad
func.func @keys(%q: !q, %k: !k, %v: !k, %o: !q, %lse: !lse, %do: !q) -> !k {
  %dk = attn.attention_grad %q, %k, %v, %o, %lse, %do wrt(key) : !q, !k, !k, !q, !lse, !q
  return %dk : !k
}
