// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a score region reads an element for each query and key, and the copy engine loads keys, a tile of them is loaded
// with each block of keys. Where all batches read the same one, these go side by side.
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_90a" --attune-set-schedule="block-m=128 block-n=64 num-warps=8 mma-warps=4 producer-warps=4 q-in-registers=0" \
// RUN:   --convert-attn-to-tile --canonicalize --cse | FileCheck %s
//
// Elsewhere its elements are read one by one: by single warps, in clusters, without a producer.
// RUN: attune-opt %s --attune-attach-target="chip=sm_80" --attune-set-schedule="block-m=64 num-warps=4" --convert-attn-to-tile | FileCheck %s --check-prefix=ELEMENTS
// RUN: attune-opt %s --attune-attach-target="chip=sm_90a" --attune-set-schedule="block-m=128 block-n=64 num-warps=8 mma-warps=4 producer-warps=4 q-in-registers=0 cluster=2" \
// RUN:   --convert-attn-to-tile | FileCheck %s --check-prefix=ELEMENTS
// RUN: attune-opt %s --attune-attach-target="chip=sm_90a" --attune-set-schedule="block-m=128 block-n=64 num-warps=8 mma-warps=4 q-in-registers=0" \
// RUN:   --convert-attn-to-tile | FileCheck %s --check-prefix=ELEMENTS

!t = tensor<3x4x256x64xbf16>
!bias = tensor<4x256x256xbf16>

// CHECK-LABEL: gpu.func @of_heads_kernel
// CHECK-SAME:    %[[BIAS:[^ ]+]]: memref<4x256x256xbf16>
// CHECK: %[[NUMBER:.+]] = gpu.block_id x
// CHECK: %[[BATCH:.+]] = arith.remui %[[NUMBER]], %c3
// CHECK: %[[REST:.+]] = arith.divui %[[NUMBER]], %c3
// CHECK: arith.remui %[[REST]], %c2
// CHECK: %[[HEAD:.+]] = arith.remui
// CHECK: %[[ROW:.+]] = arith.muli %{{.+}}, %c128
// CHECK: %[[VIEW:.+]] = memref.subview %[[BIAS]][%[[HEAD]], 0, 0] [1, 256, 256]
// CHECK: scf.for
// CHECK:   %[[COLUMN:.+]] = arith.muli %{{.+}}, %c64
// CHECK:   %[[TILE:.+]] = tile.load %[[VIEW]][%[[ROW]], %[[COLUMN]]] stages 1 eviction first : {{.*}} -> <128x64xbf16, registers>
// CHECK:   %[[PRODUCT:.+]] = tile.mma {{.*}} transpose_rhs
// CHECK:   tile.map(%[[PRODUCT]], %[[TILE]]) {
// CHECK-NOT: memref.load
// CHECK: gpu.return
// ELEMENTS-LABEL: gpu.func @of_heads_kernel
// ELEMENTS: tile.map
// ELEMENTS: memref.load %{{.+}} : memref<4x256x256xbf16>
func.func @of_heads(%q: !t, %bias: !bias) -> !t {
  %o = attn.attention %q, %q, %q score (%s, %b, %h, %m, %n) {
    %x = tensor.extract %bias[%h, %m, %n] : !bias
    %f = arith.extf %x : bf16 to f32
    %r = arith.addf %s, %f : f32
    attn.yield %r : f32
  } : !t, !t, !t -> !t
  return %o : !t
}

// Of several tensors, with indices that are computed of batch and head, one number of which is read itself.
// CHECK-LABEL: gpu.func @of_batches_kernel
// CHECK: %[[GROUP:.+]] = memref.load %{{.+}}[%[[BATCH:.+]]] : memref<3xindex>
// CHECK: memref.subview %{{.+}}[%[[GROUP]], 0, 0]
// CHECK: memref.subview %{{.+}}[%[[BATCH]], 0, 0, 0]
// CHECK: %[[PAIR:.+]] = arith.divui %{{.+}}, %c2
// CHECK: memref.subview %{{.+}}[%[[PAIR]], 0, 0]
// CHECK: scf.for
// CHECK:   tile.load {{.*}} stages 1 {{.*}} -> <128x64xbf16, registers>
// CHECK:   tile.load {{.*}} stages 1 {{.*}} -> <128x64xf32, registers>
// CHECK: gpu.return
func.func @of_batches(%q: !t, %bias: !bias, %groups: tensor<3xindex>, %other: tensor<3x2x256x256xf32>) -> !t {
  %o = attn.attention %q, %q, %q score (%s, %b, %h, %m, %n) {
    %c2 = arith.constant 2 : index
    %group = tensor.extract %groups[%b] : tensor<3xindex>
    %pair = arith.divui %h, %c2 : index
    %x = tensor.extract %bias[%group, %m, %n] : !bias
    %y = tensor.extract %other[%b, %pair, %m, %n] : tensor<3x2x256x256xf32>
    %f = arith.extf %x : bf16 to f32
    %r = arith.addf %s, %f : f32
    %p = arith.mulf %r, %y : f32
    attn.yield %p : f32
  } : !t, !t, !t -> !t
  return %o : !t
}

// Not rows that no copy engine takes, the transpose, a place that is computed of the key, or more dimensions than a tensor map has.
// CHECK-LABEL: gpu.func @no_tiles_kernel
// CHECK: scf.for
// CHECK-NOT: stages 1 {{.*}} -> <128x64x
// CHECK-COUNT-4: memref.load
// CHECK: gpu.return
func.func @no_tiles(%q: !t, %odd: tensor<256x257xf16>, %bias: !bias, %deep: tensor<1x1x1x1x256x256xf32>) -> !t {
  %o = attn.attention %q, %q, %q score (%s, %b, %h, %m, %n) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %before = arith.maxui %n, %c1 : index
    %x = tensor.extract %odd[%m, %n] : tensor<256x257xf16>
    %y = tensor.extract %bias[%h, %n, %m] : !bias
    %z = tensor.extract %bias[%h, %m, %before] : !bias
    %fx = arith.extf %x : f16 to f32
    %fy = arith.extf %y : bf16 to f32
    %fz = arith.extf %z : bf16 to f32
    %r = arith.addf %s, %fx : f32
    %r1 = arith.addf %r, %fy : f32
    %r2 = arith.mulf %r1, %fz : f32
    %w = tensor.extract %deep[%c0, %c0, %c0, %c0, %m, %n] : tensor<1x1x1x1x256x256xf32>
    %r3 = arith.mulf %r2, %w : f32
    attn.yield %r3 : f32
  } : !t, !t, !t -> !t
  return %o : !t
}

// Tiles have no elements that are larger integers.
// CHECK-LABEL: gpu.func @no_tiles_of_integers_kernel
// CHECK: scf.for
// CHECK-NOT: tile.load {{.*}} -> <128x64xi
// CHECK:   memref.load %{{.+}} : memref<256x256xi32>
// CHECK:   memref.load %{{.+}} : memref<256x256xi16>
// CHECK: gpu.return
func.func @no_tiles_of_integers(%q: !t, %words: tensor<256x256xi32>, %halves: tensor<256x256xi16>) -> !t {
  %o = attn.attention %q, %q, %q score (%s, %b, %h, %m, %n) {
    %x = tensor.extract %words[%m, %n] : tensor<256x256xi32>
    %y = tensor.extract %halves[%m, %n] : tensor<256x256xi16>
    %fx = arith.sitofp %x : i32 to f32
    %fy = arith.sitofp %y : i16 to f32
    %r = arith.addf %s, %fx : f32
    %r1 = arith.addf %r, %fy : f32
    attn.yield %r1 : f32
  } : !t, !t, !t -> !t
  return %o : !t
}

// What a mask reads is such a tile as well, unless lists say which blocks ask it.
// CHECK-LABEL: gpu.func @masked_kernel
// CHECK: scf.for
// CHECK:   %[[SEEN:.+]] = tile.load {{.*}} stages 1 {{.*}} -> <128x64xi8, registers>
// CHECK:   tile.map(%{{.+}}, %[[SEEN]]) {
// CHECK:     arith.cmpi ne
// CHECK:     arith.select
// CHECK-NOT: memref.load
// CHECK: gpu.return
func.func @masked(%q: !t, %seen: tensor<3x256x256xi8>) -> !t {
  %o = attn.attention %q, %q, %q mask (%b, %h, %m, %n) {
    %zero = arith.constant 0 : i8
    %x = tensor.extract %seen[%b, %m, %n] : tensor<3x256x256xi8>
    %is = arith.cmpi ne, %x, %zero : i8
    attn.yield %is : i1
  } : !t, !t, !t -> !t
  return %o : !t
}
