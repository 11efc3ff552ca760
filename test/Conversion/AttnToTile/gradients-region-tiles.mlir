// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the copy engine loads what is visited, tiles that scores read for each query and key come with it, and their gradients are added by tiles.
// The kernel that owns keys sees both transposed.
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_90a" \
// RUN:   --attune-set-schedule="form=split kv-in-registers=0 q-in-registers=0 mma-warps=4 producer-warps=4 kv-block-m=64 kv-block-n=128 kv-warps=8 q-block-m=128 q-block-n=64 q-warps=8" \
// RUN:   --attn-expand-short-forms --convert-attn-to-tile --canonicalize --cse | FileCheck %s
//
// Elsewhere elements are read and added one by one: by single warps, and without a producer.
// RUN: attune-opt %s --attune-attach-target="chip=sm_90a" --attune-set-schedule="form=split" --attn-expand-short-forms --convert-attn-to-tile | FileCheck %s --check-prefix=ELEMENTS
// RUN: attune-opt %s --attune-attach-target="chip=sm_90a" \
// RUN:   --attune-set-schedule="form=split kv-in-registers=0 q-in-registers=0 mma-warps=4 kv-block-m=64 kv-block-n=128 kv-warps=8 q-block-m=128 q-block-n=64 q-warps=8" \
// RUN:   --attn-expand-short-forms --convert-attn-to-tile | FileCheck %s --check-prefix=ELEMENTS

!t = tensor<3x4x256x64xbf16>
!lse = tensor<3x4x256xf32>
!bias = tensor<4x256x256xbf16>

// Batches that share the tiles go side by side. A bfloat16 is the upper half of a float.
// CHECK-LABEL: gpu.func @of_heads_clear(
// CHECK-LABEL: gpu.func @of_heads_key_grad(
// CHECK-SAME:    %[[BIAS:[^ ]+]]: memref<4x256x256xbf16>, {{.*}}%[[GRAD:[^ ]+]]: memref<4x256x256xf32>) kernel
// CHECK: %[[NUMBER:.+]] = gpu.block_id x
// CHECK: %[[BATCH:.+]] = arith.remui %[[NUMBER]], %c3
// CHECK: %[[KEYS:.+]] = arith.muli %{{.+}}, %c128
// CHECK-DAG: %[[PART:.+]] = memref.subview %[[BIAS]][%[[HEAD:[^,]+]], 0, 0] [1, 256, 256]
// CHECK-DAG: %[[VIEW:.+]] = memref.transpose %[[PART]] (d0, d1) -> (d1, d0)
// CHECK-DAG: %[[SUMS:.+]] = memref.subview %[[GRAD]][%[[HEAD]], 0, 0] [1, 256, 256]
// CHECK-DAG: %[[ADDED:.+]] = memref.transpose %[[SUMS]] (d0, d1) -> (d1, d0)
// CHECK: scf.for
// CHECK:   %[[QUERIES:.+]] = arith.muli %{{.+}}, %c64
// CHECK:   %[[TILE:.+]] = tile.load %[[VIEW]][%[[KEYS]], %[[QUERIES]]] stages 2 eviction first : {{.*}} -> <128x64xbf16, registers>
// CHECK:   tile.map(%{{.+}}, %[[TILE]]) {
// CHECK:     arith.shli %{{.+}}, %c16_i32
// CHECK-NOT: memref.load
// CHECK-NOT: memref.atomic_rmw
// CHECK:   arith.truncf %{{.+}} : f32 to bf16
// CHECK:   %[[CHANGES:.+]] = tile.map(%{{.+}}, %[[TILE]]) {
// CHECK-NOT: arith.truncf
// CHECK:   tile.store %[[CHANGES]], %[[ADDED]][%[[KEYS]], %[[QUERIES]]] accumulate path buffer : <128x64xf32, registers>
// CHECK-LABEL: gpu.func @of_heads_query_grad(
// CHECK: %[[ROW:.+]] = arith.muli %{{.+}}, %c128
// CHECK: scf.for
// CHECK:   tile.load %{{.+}}[%[[ROW]], %{{.+}}] stages 2 eviction first : memref<256x256xbf16, strided<[256, 1], offset: ?>> -> <128x64xbf16, registers>
// CHECK-NOT: memref.load
// CHECK-NOT: accumulate
// CHECK: gpu.return
// ELEMENTS-LABEL: gpu.func @of_heads_key_grad(
// ELEMENTS-NOT: memref.transpose
// ELEMENTS: memref.load %{{.+}} : memref<4x256x256xbf16>
// ELEMENTS: memref.atomic_rmw addf %{{.+}} : (f32, memref<4x256x256xf32>) -> f32
func.func @of_heads(%q: !t, %lse: !lse, %bias: !bias) -> (!t, !t, tensor<4x256x256xf32>) {
  %dq, %dk, %db = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(query, key, %bias : !bias)
    score (%s, %b, %h, %m, %n) {
      %x = tensor.extract %bias[%h, %m, %n] : !bias
      %f = arith.extf %x : bf16 to f32
      %y = arith.addf %s, %f : f32
      attn.yield %y : f32
    } : !t, !t, !t, !t, !lse, !t
  return %dq, %dk, %db : !t, !t, tensor<4x256x256xf32>
}

// A gradient of each head of each batch is stored, and if that is all of it, nothing is 0 before.
// CHECK-NOT: gpu.func @own_clear
// CHECK-LABEL: gpu.func @own_key_grad(
// CHECK-SAME: #launch.buffer<name = "tensor0_grad", type = memref<3x4x256x256xf32>, access = write>
// CHECK-NOT: accumulate
// CHECK: tile.store %{{.+}} path buffer : <128x64xf32, registers>
// ELEMENTS-LABEL: gpu.func @own_clear(
func.func @own(%q: !t, %lse: !lse, %bias: tensor<3x4x256x256xf32>) -> tensor<3x4x256x256xf32> {
  %db = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(%bias : tensor<3x4x256x256xf32>)
    score (%s, %b, %h, %m, %n) {
      %x = tensor.extract %bias[%b, %h, %m, %n] : tensor<3x4x256x256xf32>
      %y = arith.addf %s, %x : f32
      attn.yield %y : f32
    } : !t, !t, !t, !t, !lse, !t
  return %db : tensor<3x4x256x256xf32>
}

// Behind the ends of sequences, and where a mask hides blocks, it is 0 all the same.
// CHECK-LABEL: gpu.func @larger_clear(
// CHECK-LABEL: gpu.func @larger_key_grad(
// CHECK-NOT: accumulate
// CHECK: tile.store %{{.+}} path buffer : <128x64xf32, registers>
func.func @larger(%q: !t, %lse: !lse, %bias: tensor<3x4x256x512xf32>) -> tensor<3x4x256x512xf32> {
  %db = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(%bias : tensor<3x4x256x512xf32>)
    score (%s, %b, %h, %m, %n) {
      %x = tensor.extract %bias[%b, %h, %m, %n] : tensor<3x4x256x512xf32>
      %y = arith.addf %s, %x : f32
      attn.yield %y : f32
    } : !t, !t, !t, !t, !lse, !t
  return %db : tensor<3x4x256x512xf32>
}
// CHECK-LABEL: gpu.func @hidden_clear(
// CHECK-LABEL: gpu.func @hidden_key_grad(
// CHECK-NOT: accumulate
// CHECK: tile.store %{{.+}} path buffer : <128x64xf32, registers>
func.func @hidden(%q: !t, %lse: !lse, %bias: tensor<3x4x256x256xf32>) -> tensor<3x4x256x256xf32> {
  %db = attn.attention_grad %q, %q, %q, %q, %lse, %q causal(bottom_right) wrt(%bias : tensor<3x4x256x256xf32>)
    score (%s, %b, %h, %m, %n) {
      %x = tensor.extract %bias[%b, %h, %m, %n] : tensor<3x4x256x256xf32>
      %y = arith.addf %s, %x : f32
      attn.yield %y : f32
    } : !t, !t, !t, !t, !lse, !t
  return %db : tensor<3x4x256x256xf32>
}

// What is read twice is added twice. A tile of the mask is loaded as well, and a transpose, or rows that the engine does not take, are read by elements.
// CHECK-LABEL: gpu.func @several_key_grad(
// CHECK: scf.for
// CHECK: tile.load {{.*}} eviction first : {{.*}} -> <128x64xf32, registers>
// CHECK: tile.load {{.*}} eviction first : {{.*}} -> <128x64xi8, registers>
// CHECK-COUNT-2: memref.load
// CHECK-COUNT-2: memref.atomic_rmw
// CHECK-COUNT-2: tile.store %{{.+}} accumulate path buffer : <128x64xf32, registers>
func.func @several(%q: !t, %lse: !lse, %bias: tensor<3x4x256x256xf32>, %seen: tensor<256x256xi8>, %odd: tensor<256x257xf32>) -> (tensor<3x4x256x256xf32>, tensor<256x257xf32>) {
  %db, %do = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(%bias, %odd : tensor<3x4x256x256xf32>, tensor<256x257xf32>)
    score (%s, %b, %h, %m, %n) {
      %x = tensor.extract %bias[%b, %h, %m, %n] : tensor<3x4x256x256xf32>
      %y = arith.addf %s, %x : f32
      %x2 = tensor.extract %bias[%b, %h, %m, %n] : tensor<3x4x256x256xf32>
      %y2 = arith.mulf %y, %x2 : f32
      %x3 = tensor.extract %bias[%b, %h, %n, %m] : tensor<3x4x256x256xf32>
      %y3 = arith.mulf %y2, %x3 : f32
      %x4 = tensor.extract %odd[%m, %n] : tensor<256x257xf32>
      %y4 = arith.addf %y3, %x4 : f32
      attn.yield %y4 : f32
    } mask (%b, %h, %m, %n) {
      %zero = arith.constant 0 : i8
      %x = tensor.extract %seen[%m, %n] : tensor<256x256xi8>
      %is = arith.cmpi ne, %x, %zero : i8
      attn.yield %is : i1
    } : !t, !t, !t, !t, !lse, !t
  return %db, %do : tensor<3x4x256x256xf32>, tensor<256x257xf32>
}
