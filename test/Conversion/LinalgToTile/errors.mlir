// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics --attune-attach-target=chip=sm_80 --linalg-to-tile
// RUN: not attune-opt %s --split-input-file --linalg-to-tile -o /dev/null 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: errors.mlir:{{[0-9]+}}:11: error: expects a 'tile.target' attribute around it; run attune-attach-target first

#pairs = affine_map<(i, j, l) -> (i, j, l)>
#partner = affine_map<(i, j, l) -> (i, j, 1 - l)>

func.func @partner(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x64xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  // expected-error @below {{expects an epilogue that reads the sums of its own column, of which a kernel can be made}}
  %sums = linalg.matmul {attune.schedule = {}}
    ins(%a, %b : tensor<64x64xf16>, tensor<64x64xf16>) outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
  %split = tensor.expand_shape %sums [[0], [1, 2]] output_shape [64, 32, 2] : tensor<64x64xf32> into tensor<64x32x2xf32>
  %out = tensor.empty() : tensor<64x32x2xf32>
  %both = linalg.generic {indexing_maps = [#pairs, #partner, #pairs], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%split, %split : tensor<64x32x2xf32>, tensor<64x32x2xf32>) outs(%out : tensor<64x32x2xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %sum = arith.addf %x, %y : f32
    linalg.yield %sum : f32
  } -> tensor<64x32x2xf32>
  %result = tensor.collapse_shape %both [[0], [1, 2]] : tensor<64x32x2xf32> into tensor<64x64xf32>
  return %result : tensor<64x64xf32>
}

// -----

#all = affine_map<(i, h, j) -> (i, h, j)>
#head = affine_map<(i, h, j) -> (h)>

// A number for each head, which is a part of the columns.
func.func @parts(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %scales: tensor<4xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x64xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  // expected-error @below {{expects tensors that are read by dimensions of the contraction as a whole, of which a kernel can be made}}
  %sums = linalg.matmul {attune.schedule = {}}
    ins(%a, %b : tensor<64x64xf16>, tensor<64x64xf16>) outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
  %split = tensor.expand_shape %sums [[0], [1, 2]] output_shape [64, 4, 16] : tensor<64x64xf32> into tensor<64x4x16xf32>
  %out = tensor.empty() : tensor<64x4x16xf32>
  %scaled = linalg.generic {indexing_maps = [#all, #head, #all], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%split, %scales : tensor<64x4x16xf32>, tensor<4xf32>) outs(%out : tensor<64x4x16xf32>) {
  ^bb0(%x: f32, %scale: f32, %o: f32):
    %product = arith.mulf %x, %scale : f32
    linalg.yield %product : f32
  } -> tensor<64x4x16xf32>
  %result = tensor.collapse_shape %scaled [[0], [1, 2]] : tensor<64x4x16xf32> into tensor<64x64xf32>
  return %result : tensor<64x64xf32>
}
