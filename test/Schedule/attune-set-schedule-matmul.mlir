// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Knobs go to the ops whose sets have them: a name that two sets share sets
// both, and one that no op has is an error.
//
// RUN: rm -rf %t && split-file %s %t
// RUN: attune-opt %t/both.mlir --attune-set-schedule="block-m=64 num-warps=8 block-k=64 k-stages=3 raster=along-n" | FileCheck %s
// RUN: attune-opt %t/both.mlir --attune-set-schedule="block-k=64" | FileCheck %s --check-prefix=ONE
// RUN: not attune-opt %t/matmul.mlir --attune-set-schedule="k-stages=2" 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not attune-opt %t/matmul.mlir --attune-set-schedule="raster=3" 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not attune-opt %t/matmul.mlir --attune-set-schedule="block-k=33" 2>&1 | FileCheck %s --check-prefix=DOMAIN

// OTHER: matmul.mlir:3:8: error: expects a tunable of matmul, but got 'k-stages'
// NAME: matmul.mlir:3:8: error: expects knob 'raster' to be one of along-m, along-n, but got 3
// DOMAIN: matmul.mlir:3:8: error: expects knob 'block-k' to be one of 32, 64, 128, but got 33
// CHECK: linalg.matmul {attune.schedule = #schedule.matmul<blockM = 64, blockK = 64, numWarps = 8, raster = "along-n">}
// CHECK: attn.attention {{.*}} schedule(<blockM = 64, numWarps = 8, kStages = 3>)
// ONE: linalg.matmul {attune.schedule = #schedule.matmul<blockK = 64>}
// ONE: attn.attention {{.*}} schedule(<>)
//--- both.mlir
func.func @both(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %c: tensor<64x64xf32>, %q: tensor<1x1x64x64xf16>) -> (tensor<64x64xf32>, tensor<1x1x64x64xf16>) {
  %x = linalg.matmul ins(%a, %b : tensor<64x64xf16>, tensor<64x64xf16>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  %o = attn.attention %q, %q, %q : tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>
  return %x, %o : tensor<64x64xf32>, tensor<1x1x64x64xf16>
}
//--- matmul.mlir
// Of matmuls alone.
func.func @matmul(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %x = linalg.matmul ins(%a, %b : tensor<64x64xf16>, tensor<64x64xf16>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %x : tensor<64x64xf32>
}
