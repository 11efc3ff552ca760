// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel of attn.quantize.
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_90a" --attune-select-schedule --convert-attn-to-tile --canonicalize --cse | FileCheck %s

// Sixteen lanes read a row of 128 elements of 16 bits: eight rows for four warps.
// CHECK-LABEL: gpu.func @rows_quantize
// CHECK-SAME:    %[[X:[^ ]+]]: memref<2x?x4x128xf16>, %[[Y:[^ ]+]]: memref<2x?x4x128xf8E4M3FN>, %[[S:[^ ]+]]: memref<2x?x4x1xf32>)
// CHECK-SAME:    known_block_size = array<i32: 128, 1, 1>
// CHECK-SAME:    grid = <dim(0, 1) ceildiv 8 * dim(0, 2) * dim(0, 0)>
// CHECK: tile.load {{.+}} -> <8x128xf16, registers>
// CHECK: %[[AMOUNTS:.+]] = tile.reduce max {{.+}} -> <8xf32, registers>
// CHECK: %[[SCALES:.+]] = tile.map(%[[AMOUNTS]])
// CHECK: tile.store %[[SCALES]], {{.+}} : <8xf32, registers>, memref<?xf32
// CHECK: arith.truncf %{{.+}} : f32 to f8E4M3FN
// CHECK: tile.store {{.+}} : <8x128xf8E4M3FN, registers>
func.func @rows(%x: tensor<2x?x4x128xf16>) -> (tensor<2x?x4x128xf8E4M3FN>, tensor<2x?x4x1xf32>) {
  %y, %s = attn.quantize %x order(bshd) : tensor<2x?x4x128xf16> -> tensor<2x?x4x128xf8E4M3FN>, tensor<2x?x4x1xf32>
  return %y, %s : tensor<2x?x4x128xf8E4M3FN>, tensor<2x?x4x1xf32>
}

// All rows that share a scale are a tile, of eight warps.
// CHECK-LABEL: gpu.func @blocks_quantize
// CHECK-SAME:    known_block_size = array<i32: 256, 1, 1>
// CHECK-SAME:    grid = <dim(0, 2) ceildiv 100 * dim(0, 1) * dim(0, 0)>
// CHECK-NOT: scf.for
// CHECK: tile.load {{.+}} -> <128x128xf16, registers>
// CHECK: tile.reduce max {{.+}} dim 0 : <128x4xf32, registers> -> <4xf32, registers>
// CHECK: tile.store {{.+}} : <128xf32, registers>, memref<1xf32
// CHECK: tile.store {{.+}} : <128x128xf8E5M2, registers>
func.func @blocks(%x: tensor<2x4x512x128xf16>) -> (tensor<2x4x512x128xf8E5M2>, tensor<2x4x6x1xf32>) {
  %y, %s = attn.quantize %x blocks [1, 1, 100, 1] : tensor<2x4x512x128xf16> -> tensor<2x4x512x128xf8E5M2>, tensor<2x4x6x1xf32>
  return %y, %s : tensor<2x4x512x128xf8E5M2>, tensor<2x4x6x1xf32>
}

// Those of a head are read twice. Butterflies rotate them.
// CHECK-LABEL: gpu.func @heads_quantize
// CHECK-SAME:    grid = <dim(0, 1) * dim(0, 0)>
// CHECK: scf.for
// CHECK:   tile.load {{.+}} -> <[[ROWS:[0-9]+]]x4xf32, registers>
// CHECK:   tile.swap_columns %{{.+}} stride 1
// CHECK:   tile.swap_columns %{{.+}} stride 2
// CHECK-NOT: tile.swap_columns
// CHECK:   arith.maxnumf
// CHECK:   scf.yield
// CHECK: tile.store {{.+}} : <[[ROWS]]xf32, registers>, memref<1xf32
// CHECK: scf.for
// CHECK:   tile.load
// CHECK:   tile.swap_columns
// CHECK:   tile.store {{.+}} : <[[ROWS]]x4xf8E4M3FN, registers>
func.func @heads(%x: tensor<2x4x?x4xf32>) -> (tensor<2x4x?x4xf8E4M3FN>, tensor<2x4x1x1xf32>) {
  %y, %s = attn.quantize %x rotate : tensor<2x4x?x4xf32> -> tensor<2x4x?x4xf8E4M3FN>, tensor<2x4x1x1xf32>
  return %y, %s : tensor<2x4x?x4xf8E4M3FN>, tensor<2x4x1x1xf32>
}

// A kernel in front finds means. Rows behind the last one of a block have none.
// CHECK-LABEL: gpu.func @keys_mean
// CHECK-SAME:    grid = <dim(0, 1) * dim(0, 0)>
// CHECK: scf.for
// CHECK:   tile.load {{.+}} -> <16x64xf16, registers>
// CHECK:   arith.addf
// CHECK: tile.reduce add {{.+}} dim 0 : <16x64xf32, registers> -> <64xf32, registers>
// CHECK: arith.divf
// CHECK: tile.store {{.+}} : <64xf32, registers>, memref<64xf32
// CHECK-LABEL: gpu.func @keys_quantize
// CHECK: tile.load {{.+}} -> <64x64xf16, registers>
// CHECK: %[[MEAN:.+]] = tile.load {{.+}} -> <64xf32, registers>
// CHECK: tile.broadcast %[[MEAN]] dim 1
// CHECK: arith.cmpi ult
// CHECK: arith.subf
// CHECK: arith.select
func.func @keys(%x: tensor<2x4x512x64xf16>) -> (tensor<2x4x512x64xf8E4M3FN>, tensor<2x4x8x1xf32>) {
  %y, %s = attn.quantize %x blocks [1, 1, 64, 1] smooth : tensor<2x4x512x64xf16> -> tensor<2x4x512x64xf8E4M3FN>, tensor<2x4x8x1xf32>
  return %y, %s : tensor<2x4x512x64xf8E4M3FN>, tensor<2x4x8x1xf32>
}

// Halves of packed rows are two tiles, with one scale, and become the parts of bytes. A butterfly across both is no exchange.
// CHECK-LABEL: gpu.func @packed_quantize
// CHECK-SAME:    %[[Y:[^ ]+]]: memref<2x?x4x64xi8>
// CHECK-SAME:    grid = <dim(0, 1) ceildiv 16 * dim(0, 2) * dim(0, 0)>
// CHECK-COUNT-2: tile.load {{.+}} -> <16x64xf16, registers>
// CHECK-COUNT-12: tile.swap_columns
// CHECK-NOT: tile.swap_columns
// CHECK-COUNT-2: tile.reduce max
// CHECK: arith.shli
// CHECK: arith.trunci %{{.+}} : i32 to i8
// CHECK: tile.store {{.+}} : <16x64xi8, registers>, memref<?x64xi8
func.func @packed(%x: tensor<2x?x4x128xf16>) -> (tensor<2x?x4x64xi8>, tensor<2x?x4x1xf32>) {
  %y, %s = attn.quantize %x rotate packed order(bshd) : tensor<2x?x4x128xf16> -> tensor<2x?x4x64xi8>, tensor<2x?x4x1xf32>
  return %y, %s : tensor<2x?x4x64xi8>, tensor<2x?x4x1xf32>
}

// Extremes of elements that exist alone, and a zero point beside the scale.
// CHECK-LABEL: gpu.func @zeros_quantize
// CHECK: arith.cmpi ult
// CHECK: tile.reduce max
// CHECK: arith.negf
// CHECK: tile.reduce max
// CHECK: tile.store {{.+}} : <8xf32, registers>, memref<?xf32
// CHECK: tile.store {{.+}} : <8xf32, registers>, memref<?xf32
// CHECK: math.fma
// CHECK: arith.minnumf
// CHECK: tile.store {{.+}} : <8x128xi8, registers>
func.func @zeros(%x: tensor<2x?x4x80xf16>) -> (tensor<2x?x4x80xi8>, tensor<2x?x4x1xf32>, tensor<2x?x4x1xf32>) {
  %y, %s, %z = attn.quantize %x order(bshd) : tensor<2x?x4x80xf16> -> tensor<2x?x4x80xi8>, tensor<2x?x4x1xf32>, tensor<2x?x4x1xf32>
  return %y, %s, %z : tensor<2x?x4x80xi8>, tensor<2x?x4x1xf32>, tensor<2x?x4x1xf32>
}
