// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keys and values in pages: two views, and what is outside of the length is hidden. Simulator/attention-pages.test checks numbers.
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_80" --attune-set-schedule="block-m=16 block-n=32 num-warps=1 tile-order=ascending" \
// RUN:   --attn-expand-short-forms --convert-attn-to-tile --canonicalize --cse | FileCheck %s
// RUN: attune-opt %s --attune-attach-target="chip=sm_90a" --attune-set-schedule="block-m=64 block-n=32 num-warps=4 mma-warps=4 q-in-registers=0 tile-order=ascending" \
// RUN:   --attn-expand-short-forms --convert-attn-to-tile --canonicalize --cse | FileCheck %s --check-prefix=BOXES

!q = tensor<2x4x1x64xf16>

// Threads stop at the last key.
// CHECK-LABEL: gpu.func @small_kernel
// CHECK-SAME:    %[[LENGTHS:[^ ]+]]: memref<2xi32>, %[[PAGES:[^ ]+]]: memref<2x6xi32>
// CHECK: %[[LENGTH:.+]] = arith.minsi %{{.+}}, %c96
// CHECK: %[[POOL:.+]] = memref.subview %{{.+}}[0, %[[HEAD:.+]], 0, 0] [12, 1, 16, 64] [1, 1, 1, 1] : memref<12x2x16x64xf16> to memref<12x16x64xf16, strided<[2048, 64, 1], offset: ?>>
// CHECK: %[[TABLE:.+]] = memref.subview %[[PAGES]][%[[BATCH:.+]], 0] [1, 6] [1, 1]
// CHECK: %[[KEYS:.+]] = tile.paged %[[POOL]] by %[[TABLE]] rows %[[LENGTH]] :
// CHECK: %[[VALUES:.+]] = tile.paged %{{.+}} by %[[TABLE]] rows %[[LENGTH]] :
// CHECK: scf.for
// CHECK:   %[[ROW:.+]] = arith.muli %{{.+}}, %c32
// CHECK:   tile.load %[[KEYS]][%[[ROW]], %c0] stages
// CHECK:   arith.cmpi slt, %{{.+}}, %[[LENGTH]]
// CHECK:   tile.load %[[VALUES]][%[[ROW]], %c0] stages
//
// TMA boxes of 16 keys: the last one ends with the last key, and what is before it in the box is hidden.
// BOXES-LABEL: gpu.func @small_kernel
// BOXES: %[[LENGTH:.+]] = arith.minsi %{{.+}}, %c96
// BOXES: %[[UNITS:.+]] = arith.ceildivui %[[LENGTH]], %c16
// BOXES: %[[AFTER:.+]] = arith.muli %[[UNITS]], %c16
// BOXES: %[[LAST:.+]] = arith.subi %[[AFTER]], %c16
// BOXES: %[[MISSING:.+]] = arith.subi %[[AFTER]], %[[LENGTH]]
// BOXES: tile.paged %{{.+}} by %{{.+}} rows %[[LENGTH]] units of 16 :
// BOXES: scf.for
// BOXES:   tile.load
// BOXES:   %[[PLACE:.+]] = arith.addi
// BOXES:   %[[IS_LAST:.+]] = arith.cmpi sge, %[[PLACE]], %[[LAST]]
// BOXES:   %[[BACK:.+]] = arith.select %[[IS_LAST]], %[[MISSING]], %c0
// BOXES:   %[[KEY:.+]] = arith.subi %[[PLACE]], %[[BACK]]
// BOXES:   arith.cmpi slt, %[[KEY]], %[[LENGTH]]
// BOXES:   %[[FIRST:.+]] = arith.select %{{.+}}, %[[LAST]], %c0
// BOXES:   arith.cmpi sge, %[[KEY]], %[[FIRST]]
func.func @small(%q: !q, %k: tensor<12x2x16x64xf16>, %v: tensor<12x2x16x64xf16>, %lengths: tensor<2xi32>, %pages: tensor<2x6xi32>) -> !q {
  %o = attn.attention %q, %k, %v key_lengths(%lengths : tensor<2xi32>) pages(%pages : tensor<2x6xi32>)
    : !q, tensor<12x2x16x64xf16>, tensor<12x2x16x64xf16>
  return %o : !q
}

// Heads within a key, and batches of one length, of whole blocks: nothing is hidden. Whether pages exist is asked all the same.
// CHECK-LABEL: gpu.func @large_kernel
// CHECK: memref.subview %{{.+}}[0, 0, %{{.+}}, 0] [5, 64, 1, 64] [1, 1, 1, 1] : memref<5x64x2x64xf16> to memref<5x64x64xf16, strided<[8192, 128, 1], offset: ?>>
// CHECK: tile.paged
// CHECK-NOT: rows
// CHECK: scf.for
// CHECK-NOT: in_bounds
// CHECK-NOT: arith.cmpi
// CHECK: tile.store
// BOXES-LABEL: gpu.func @large_kernel
// BOXES: tile.paged
// BOXES-NOT: units
// BOXES: tile.store
func.func @large(%q: tensor<2x1x4x64xf16>, %k: tensor<5x64x2x64xf16>, %pages: tensor<2x2xi32>) -> tensor<2x1x4x64xf16> {
  %o = attn.attention %q, %k, %k pages(%pages : tensor<2x2xi32>) order(bshd)
    : tensor<2x1x4x64xf16>, tensor<5x64x2x64xf16>, tensor<5x64x2x64xf16>
  return %o : tensor<2x1x4x64xf16>
}

// What a region reads has an element for each key that there are pages for.
// CHECK-LABEL: func.func @bias
// CHECK: %[[MOST:.+]] = tensor.dim %{{.+}}, %c1 : tensor<2x?xi32>
// CHECK: %[[KEYS:.+]] = arith.muli %[[MOST]], %c16
// CHECK: %[[HOLDS:.+]] = arith.cmpi ule, %[[KEYS]], %c100
// CHECK: cf.assert %[[HOLDS]], "expects no more keys than elements of dimension 0 of a tensor that a region reads"
func.func @bias(%q: !q, %k: tensor<12x2x16x64xf16>, %pages: tensor<2x?xi32>, %bias: tensor<100xf32>) -> !q {
  %o = attn.attention %q, %k, %k pages(%pages : tensor<2x?xi32>) score (%s, %b, %h, %m, %n) {
    %x = tensor.extract %bias[%n] : tensor<100xf32>
    %y = arith.addf %s, %x : f32
    attn.yield %y : f32
  } : !q, tensor<12x2x16x64xf16>, tensor<12x2x16x64xf16>
  return %o : !q
}
