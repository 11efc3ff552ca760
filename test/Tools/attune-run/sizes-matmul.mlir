// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes of a matmul that do not agree are errors with both numbers when the
// host function runs, in front of the launch.
//
// RUN: attune-run %s --device=host --chip=sm_80 --shape=0=40x48 --shape=1=48x64 --shape=2=64 | FileCheck %s --check-prefix=RIGHT
// RIGHT: right     result 0
// RUN: not attune-run %s --device=host --chip=sm_80 --shape=0=40x48 --shape=1=50x64 --shape=2=64 2>&1 | FileCheck %s --check-prefix=K
// K: sizes-matmul.mlir:[[# @LINE + 12]]:8: error: expects lhs and rhs to have one size of k, but got 48 and 50
// RUN: not attune-run %s --device=host --chip=sm_80 --shape=0=40x48 --shape=1=48x64 --shape=2=60 2>&1 | FileCheck %s --check-prefix=N
// N: error: expects rhs and operand to have one size of n, but got 64 and 60

func.func @biased(%a: tensor<?x?xf16>, %b: tensor<?x?xf16>, %bias: tensor<?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x?xf16>
  %n = tensor.dim %b, %c1 : tensor<?x?xf16>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %r = linalg.matmul ins(%a, %b : tensor<?x?xf16>, tensor<?x?xf16>) outs(%f : tensor<?x?xf32>) -> tensor<?x?xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%r, %bias : tensor<?x?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %sum = arith.addf %x, %y : f32
    linalg.yield %sum : f32
  } -> tensor<?x?xf32>
  return %s : tensor<?x?xf32>
}
