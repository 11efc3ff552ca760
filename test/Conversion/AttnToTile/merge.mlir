// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel of attn.merge.
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_80" --attune-select-schedule --convert-attn-to-tile --canonicalize --cse | FileCheck %s
// RUN: attune-opt %s --attune-attach-target="chip=gfx942" --attune-set-schedule="num-warps=2" --convert-attn-to-tile --canonicalize --cse | FileCheck %s --check-prefix=WAVES

// Sixteen lanes read a row of 128 elements of 16 bits: eight rows for four warps.
// CHECK-LABEL: gpu.func @queries_merge
// CHECK-SAME:    %[[O0:[^ ]+]]: memref<2x?x4x128xf16>, %[[L0:[^ ]+]]: memref<2x4x?xf32>, %[[O1:[^ ]+]]: memref<2x?x4x128xf16>, %[[L1:[^ ]+]]: memref<2x4x?xf32>, %[[O:[^ ]+]]: memref<2x?x4x128xf16>, %[[LSE:[^ ]+]]: memref<2x4x?xf32>)
// CHECK-SAME:    known_block_size = array<i32: 128, 1, 1>
// CHECK-SAME:    name = "part0"{{.+}} access = read
// CHECK-SAME:    grid = <dim(4, 1) ceildiv 8 * dim(4, 2) * dim(4, 0)>
// CHECK: tile.load {{.+}} -> <8x128xf16, registers>
// CHECK: tile.load {{.+}} -> <8xf32, registers>
// CHECK: tile.load {{.+}} -> <8x128xf16, registers>
// CHECK: tile.load {{.+}} -> <8xf32, registers>
// CHECK: arith.maxnumf
// CHECK: arith.extf
// CHECK: arith.select
// CHECK: math.fma
// CHECK: tile.store {{.+}} : <8x128xf16, registers>
// CHECK: tile.store {{.+}} : <8xf32, registers>
// WAVES-LABEL: gpu.func @queries_merge
// WAVES-SAME:    grid = <dim(4, 1) ceildiv 8 * dim(4, 2) * dim(4, 0)>
// CHECK-LABEL: func.func @queries
// CHECK: cf.assert {{.*}}expects part 0 and part 1 to have one length
// CHECK: gpu.launch_func @queries_merge::@queries_merge
func.func @queries(%o0: tensor<2x?x4x128xf16>, %o1: tensor<2x?x4x128xf16>, %l0: tensor<2x4x?xf32>, %l1: tensor<2x4x?xf32>)
    -> (tensor<2x?x4x128xf16>, tensor<2x4x?xf32>) {
  %o, %lse = attn.merge %o0, %o1 lses(%l0, %l1 : tensor<2x4x?xf32>, tensor<2x4x?xf32>) order(bshd)
    : tensor<2x?x4x128xf16>, tensor<2x?x4x128xf16> -> tensor<2x?x4x128xf16>, tensor<2x4x?xf32>
  return %o, %lse : tensor<2x?x4x128xf16>, tensor<2x4x?xf32>
}

// Rows of heads, where each has one query. Columns are a power of two.
// CHECK-LABEL: gpu.func @heads_merge
// CHECK-SAME:    grid = <dim(2, 1) ceildiv 4 * dim(2, 0)>
// CHECK: tile.load {{.+}} -> <4x128xf32, registers>
// CHECK: tile.store {{.+}} : <4x128xbf16, registers>
// CHECK-NOT: tile.store
func.func @heads(%o: tensor<2x16x1x80xf32>, %lse: tensor<2x16x1xf32>) -> tensor<2x16x1x80xbf16> {
  %r = attn.merge %o lses(%lse : tensor<2x16x1xf32>) : tensor<2x16x1x80xf32> -> tensor<2x16x1x80xbf16>
  return %r : tensor<2x16x1x80xbf16>
}
