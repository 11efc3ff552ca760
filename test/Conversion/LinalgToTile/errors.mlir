// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics --attune-attach-target=chip=sm_80 --convert-linalg-to-tile
// RUN: not attune-opt %s --split-input-file --convert-linalg-to-tile -o /dev/null 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: errors.mlir:{{.*}} error: expects a 'tile.target' attribute on the module; run attune-attach-target first

// Strides are those of two dimensions, which the contraction has as one.
func.func @strided(%a: tensor<2x32x64xf16, #attn.strided<[4096, 64, 1]>>, %b: tensor<64x64xf16>, %c: tensor<2x32x64xf32>) -> tensor<2x32x64xf32> {
  // expected-error @below {{'linalg.contract' op no-kernel: expects a tensor with strides to have a dimension for each of the contraction, of which a kernel can be made}}
  %x = linalg.contract indexing_maps = [affine_map<(p, q, n, k) -> (p, q, k)>, affine_map<(p, q, n, k) -> (k, n)>, affine_map<(p, q, n, k) -> (p, q, n)>]
    {attune.schedule = #schedule.matmul<blockM = 64>}
    ins(%a, %b : tensor<2x32x64xf16, #attn.strided<[4096, 64, 1]>>, tensor<64x64xf16>) outs(%c : tensor<2x32x64xf32>) -> tensor<2x32x64xf32>
  return %x : tensor<2x32x64xf32>
}

// -----

#halves = affine_map<(i, h, d, j) -> (i, h, d, j)>
#partner = affine_map<(i, h, d, j) -> (i, h, 1 - d, j)>

// Halves of 12 columns: a lane's partners are in two registers of another lane.
func.func @rotated(%a: tensor<64x64xf16>, %b: tensor<64x96xf16>) -> tensor<64x8x2x6xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x96xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x96xf32>) -> tensor<64x96xf32>
  // expected-error @below {{'linalg.matmul' op partner-lanes: expects columns that are rotated together to be where a shuffle of 'sm_80' reaches, but got some 6 apart in the lanes and registers of 'mma.sync.m16n8k16'}}
  %sums = linalg.matmul {attune.schedule = #schedule.matmul<blockM = 64, blockN = 96>}
    ins(%a, %b : tensor<64x64xf16>, tensor<64x96xf16>) outs(%init : tensor<64x96xf32>) -> tensor<64x96xf32>
  %split = tensor.expand_shape %sums [[0], [1, 2, 3]] output_shape [64, 8, 2, 6] : tensor<64x96xf32> into tensor<64x8x2x6xf32>
  %out = tensor.empty() : tensor<64x8x2x6xf32>
  %both = linalg.generic {indexing_maps = [#halves, #partner, #halves], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%split, %split : tensor<64x8x2x6xf32>, tensor<64x8x2x6xf32>) outs(%out : tensor<64x8x2x6xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %sum = arith.addf %x, %y : f32
    linalg.yield %sum : f32
  } -> tensor<64x8x2x6xf32>
  return %both : tensor<64x8x2x6xf32>
}

// -----

// A schedule that the lowering would ignore is a mistake.
func.func @other_attribute(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error @below {{'linalg.matmul' op expects 'attune.schedule' to be a '#schedule.matmul', but got {block_m = 64 : i64}}}
  %sums = linalg.matmul {attune.schedule = {block_m = 64 : i64}}
    ins(%a, %b : tensor<64x64xf16>, tensor<64x64xf16>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %sums : tensor<64x64xf32>
}

// -----

func.func @no_contraction(%a: tensor<64xf32>, %b: tensor<64xf32>) -> tensor<64xf32> {
  // expected-error @below {{'linalg.add' op has 'attune.schedule' and expects a reduction, but got none}}
  %sum = linalg.add {attune.schedule = #schedule.matmul<>} ins(%a, %b : tensor<64xf32>, tensor<64xf32>) outs(%a : tensor<64xf32>) -> tensor<64xf32>
  return %sum : tensor<64xf32>
}

// -----

#all = affine_map<(i, j) -> (i, j)>

func.func @second(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %g: tensor<64x64xf16>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x64xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  %x = linalg.matmul ins(%a, %b : tensor<64x64xf16>, tensor<64x64xf16>) outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
  // expected-error @below {{'linalg.matmul' op expects 'attune.schedule' on the first contraction of a kernel alone}}
  %y = linalg.matmul {attune.schedule = #schedule.matmul<>}
    ins(%a, %g : tensor<64x64xf16>, tensor<64x64xf16>) outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
  %result = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel"]}
    ins(%x, %y : tensor<64x64xf32>, tensor<64x64xf32>) outs(%empty : tensor<64x64xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %product = arith.mulf %p, %q : f32
    linalg.yield %product : f32
  } -> tensor<64x64xf32>
  return %result : tensor<64x64xf32>
}

// -----

func.func @illegal(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error @below {{'linalg.matmul' op rows-per-warp: expects block-m to be a multiple of 64 rows (4 warps of 16), but got 32}}
  %sums = linalg.matmul {attune.schedule = #schedule.matmul<blockM = 32>}
    ins(%a, %b : tensor<64x64xf16>, tensor<64x64xf16>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %sums : tensor<64x64xf32>
}

// -----

func.func @types(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-warning @below {{is left as it is: expects operands of a contraction to be both f16 or both bf16, but got 'f32' and 'f32'}}
  %sums = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %sums : tensor<64x64xf32>
}
