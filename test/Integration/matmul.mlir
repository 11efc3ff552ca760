// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matmuls as linalg says them, made into kernels and run: with ends in every
// dimension, with what is fused behind, and in a batch.
//
// DEFINE: %{chip} =
// DEFINE: %{run} = attune-opt %s --attune-attach-target=chip=%{chip} --convert-linalg-to-tile --tile-to-gpu-pipeline --gpu-to-llvm-pipeline --emit-bytecode -o %t.mlirbc \
// DEFINE:   && attune-run %t.mlirbc --device=host --print --function=fused | FileCheck %s --check-prefix=FUSED \
// DEFINE:   && attune-run %t.mlirbc --device=host --print --function=batch | FileCheck %s --check-prefix=BATCH
// REDEFINE: %{chip} = sm_80
// RUN: %{run}
// REDEFINE: %{chip} = sm_90a
// RUN: %{run}
// REDEFINE: %{chip} = gfx942
// RUN: %{run}
// REDEFINE: %{chip} = gfx1100
// RUN: %{run}

#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
#schedule = #schedule.matmul<blockM = 64, blockN = 32, blockK = 32, numWarps = 2>

// relu(a * b + bias)
// FUSED: result 0: 3x4xf16
// FUSED-NEXT: {{^}}8 0 10 1{{$}}
// FUSED-NEXT: {{^}}17 0 25 1{{$}}
// FUSED-NEXT: {{^}}26 0 40 1{{$}}
func.func @fused() -> tensor<3x4xf16> {
  %a = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf16>
  %b = arith.constant dense<[[2.5, -1.0, 3.0, 0.0], [2.0, -1.0, 4.5, 0.0]]> : tensor<2x4xf16>
  %bias = arith.constant dense<[1.5, 2.0, -2.0, 1.0]> : tensor<4xf16>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<3x4xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<3x4xf32>) -> tensor<3x4xf32>
  %sums = linalg.matmul {attune.schedule = #schedule}
    ins(%a, %b : tensor<3x2xf16>, tensor<2x4xf16>) outs(%init : tensor<3x4xf32>) -> tensor<3x4xf32>
  %out = tensor.empty() : tensor<3x4xf16>
  %result = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
    ins(%sums, %bias : tensor<3x4xf32>, tensor<4xf16>) outs(%out : tensor<3x4xf16>) {
  ^bb0(%sum: f32, %b0: f16, %o: f16):
    %wide = arith.extf %b0 : f16 to f32
    %both = arith.addf %sum, %wide : f32
    %relu = arith.maximumf %both, %zero : f32
    %half = arith.truncf %relu : f32 to f16
    linalg.yield %half : f16
  } -> tensor<3x4xf16>
  return %result : tensor<3x4xf16>
}

// BATCH: result 0: 2x2x2xf32
// BATCH: {{^}}1 2{{$}}
// BATCH: {{^}}3 4{{$}}
// BATCH: {{^}}7 8{{$}}
// BATCH: {{^}}5 6{{$}}
func.func @batch() -> tensor<2x2x2xf32> {
  %a = arith.constant dense<[[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]]> : tensor<2x2x2xbf16>
  %b = arith.constant dense<[[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]]> : tensor<2x2x2xbf16>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x2x2xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
  %sums = linalg.batch_matmul {attune.schedule = #schedule}
    ins(%a, %b : tensor<2x2x2xbf16>, tensor<2x2x2xbf16>) outs(%init : tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
  return %sums : tensor<2x2x2xf32>
}
