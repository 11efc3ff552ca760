// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gradients whose kernels visit blocks that kernels in front of them list: of queries for tiles of keys, of keys for tiles of queries.
//
// DEFINE: %{pipeline} = attn-expand-short-forms --convert-attn-to-tile --canonicalize --cse
// RUN: attune-opt %s --attune-attach-target="chip=sm_80" --attune-set-schedule="form=apart kv-block-m=32 kv-block-n=64 q-block-m=128 q-block-n=16 list-blocks=1" \
// RUN:   --%{pipeline} | FileCheck %s
// RUN: attune-opt %s --attune-attach-target="chip=sm_90a" --attune-set-schedule="form=fused kv-block-m=64 kv-block-n=64 kv-in-registers=0 mma-warps=4 producer-warps=4 list-blocks=1" \
// RUN:   --%{pipeline} | FileCheck %s --check-prefix=FUSED
// RUN: attune-opt %s --attune-attach-target="chip=gfx942" --attune-set-schedule="kv-block-m=32 kv-block-n=128 q-block-m=128 q-block-n=32 list-blocks=1" \
// RUN:   --%{pipeline} | FileCheck %s --check-prefix=WAVES

!q = tensor<2x4x250x64xf16>
!k = tensor<2x2x300x64xf16>
!lse = tensor<2x4x250xf32>

// Whether a query is seen is asked for each key, and lanes have keys of their own.
// CHECK-LABEL: gpu.func @made_key_pairs
// CHECK-SAME:    memref<2x250xi32>, %[[OF_KEYS:[^ ]+]]: memref<2x300xi32>, %[[PAIRS:[^ ]+]]: memref<2x1x5x8xi32>)
// CHECK-SAME:    known_block_size = array<i32: 32, 1, 1>
// CHECK:         scf.for %{{.+}} to %c64 step %c32
// CHECK:           scf.for %{{.+}} to %c32 step %c1
// CHECK:             memref.load %{{.+}} : memref<2x250xi32>
// CHECK:             memref.load %[[OF_KEYS]]
// CHECK:             arith.cmpi eq
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK:         scf.if
// CHECK:           memref.store %{{.+}}, %[[PAIRS]]

// Lanes count blocks of their own, learn what those before have, and store.
// CHECK-LABEL: gpu.func @made_key_lists
// CHECK-SAME:    memref<2x1x5x8xi32>, %[[COUNTS:[^ ]+]]: memref<2x1x5xi32>, %[[INDICES:[^ ]+]]: memref<2x1x5x8xi32>, %[[FULL_COUNTS:[^ ]+]]: memref<2x1x5xi32>, %[[FULL_INDICES:[^ ]+]]: memref<2x1x5x8xi32>
// CHECK-SAME:    known_block_size = array<i32: 32, 1, 1>
// CHECK:         scf.for
// CHECK-COUNT-10: gpu.shuffle xor
// CHECK:         scf.for
// CHECK:           memref.store %{{.+}}, %[[INDICES]]
// CHECK:           memref.store %{{.+}}, %[[FULL_INDICES]]
// CHECK:         scf.if
// CHECK:           memref.store %{{.+}}, %[[COUNTS]]
// CHECK:           memref.store %{{.+}}, %[[FULL_COUNTS]]

// Both kernels that own keys read the same lists. Full blocks ask no mask, but keep weights of queries that are not there, for these have no part.
// CHECK-LABEL: gpu.func @made_key_grad
// CHECK:         memref.load %{{.+}} : memref<2x1x5xi32>
// CHECK:         scf.for
// CHECK:           memref.load %{{.+}} : memref<2x1x5x8xi32>
// CHECK:           memref.load %{{.+}} : memref<2x1x5x8xi32>
// CHECK:           scf.if
// CHECK-NEXT:        scf.yield
// CHECK-NEXT:      } else {
// CHECK-NEXT:        tile.map
// CHECK-LABEL: gpu.func @made_value_grad
// CHECK:         memref.load %{{.+}} : memref<2x1x5xi32>
// CHECK:           memref.load %{{.+}} : memref<2x1x5x8xi32>

// That of queries has lists of its own blocks. Full ones may reach beyond the last key.
// CHECK-LABEL: gpu.func @made_pairs
// CHECK-SAME:    memref<2x1x2x19xi32>)
// CHECK-LABEL: gpu.func @made_lists
// CHECK-LABEL: gpu.func @made_query_grad
// CHECK:         memref.load %{{.+}} : memref<2x1x2xi32>
// CHECK:         scf.for
// CHECK:           memref.load %{{.+}} : memref<2x1x2x19xi32>
// CHECK:           scf.if
// CHECK-NEXT:        tile.map
// CHECK:           } else {
// CHECK-NEXT:        tile.map

// CHECK-LABEL: func.func @made
// CHECK:         gpu.launch_func {{ *}}@made_deltas::@made_deltas
// CHECK:         gpu.launch_func {{ *}}@made_key_pairs::@made_key_pairs
// CHECK:         gpu.launch_func {{ *}}@made_key_lists::@made_key_lists
// CHECK:         gpu.launch_func {{ *}}@made_key_grad::@made_key_grad
// CHECK-NEXT:    gpu.launch_func {{ *}}@made_value_grad::@made_value_grad
// CHECK:         gpu.launch_func {{ *}}@made_pairs::@made_pairs
// CHECK:         gpu.launch_func {{ *}}@made_lists::@made_lists
// CHECK:         gpu.launch_func {{ *}}@made_query_grad::@made_query_grad

// FUSED-LABEL: gpu.func @made_key_pairs
// FUSED-SAME:    memref<2x1x5x4xi32>
// FUSED-LABEL: gpu.func @made_key_grad
// FUSED:         memref.load %{{.+}} : memref<2x1x5x4xi32>
// FUSED-NOT:   gpu.func @made_pairs

// WAVES-LABEL: gpu.func @made_pairs
// WAVES-SAME:    known_block_size = array<i32: 64, 1, 1>
// WAVES-LABEL: gpu.func @made_query_grad
// WAVES:         memref.load %{{.+}} : memref<2x1x2x10xi32>
func.func @made(%q: !q, %k: !k, %v: !k, %o: !q, %lse: !lse, %do: !q, %of_queries: tensor<2x250xi32>, %of_keys: tensor<2x300xi32>) -> (!q, !k, !k) {
  %dq, %dk, %dv = attn.attention_grad %q, %k, %v, %o, %lse, %do mask (%b, %h, %m, %n) {
    %dm = tensor.extract %of_queries[%b, %m] : tensor<2x250xi32>
    %dn = tensor.extract %of_keys[%b, %n] : tensor<2x300xi32>
    %same = arith.cmpi eq, %dm, %dn : i32
    attn.yield %same : i1
  } : !q, !k, !k, !q, !lse, !q
  return %dq, %dk, %dv : !q, !k, !k
}
