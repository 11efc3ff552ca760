// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An epilogue that reads parts of all dimensions, executed and compared to the reference: tiles end inside of parts and beyond the
// matrix, where nothing may be read. All checks are on.
//
// RUN: attune-run %s --device=host --chip=sm_80 -m 35 --schedule="block-m=32 block-n=32 block-k=32 num-warps=4 warps-n=2" | FileCheck %s
// RUN: attune-run %s --device=host --chip=sm_80 -m 64 --schedule="block-m=64 block-n=64 block-k=64 num-warps=2" --host-seed=2 | FileCheck %s
// RUN: attune-run %s --device=host --chip=sm_90a -m 70 --schedule="block-m=64 block-n=32 block-k=32 num-warps=4 mma-warps=4 producer-warps=4 result-path=shared" | FileCheck %s
// RUN: attune-run %s --device=host --chip=sm_90a -m 70 --schedule="block-m=64 block-n=64 block-k=32 num-warps=4 mma-warps=4 producer-warps=4 cluster=2 stages=3" --host-seed=2 | FileCheck %s
// RUN: attune-run %s --device=host --chip=sm_90a -m 70 --schedule="block-m=64 block-n=48 block-k=32 num-warps=4 mma-warps=4 producer-warps=4 cluster=2 cluster-along=n persistent=static stages=3" --host-seed=3 | FileCheck %s
// RUN: attune-run %s --device=host --chip=gfx942 -m 35 --schedule="block-m=32 block-n=64 block-k=32 num-warps=2 warps-n=2" | FileCheck %s
// RUN: attune-run %s --device=host --chip=gfx1100 -m 35 --schedule="block-m=32 block-n=64 block-k=32 num-warps=4 warps-n=2" | FileCheck %s
//
// CHECK: device    host executor
// CHECK-NEXT: right     result 0: error

#all = affine_map<(g, b, m, h, d) -> (g, b, m, h, d)>
// A number for each group of the batch; for each row and head; for each column of a head, turned around; for each matrix of a
// group and each head; a vector of all columns.
#group = affine_map<(g, b, m, h, d) -> (g)>
#heads = affine_map<(g, b, m, h, d) -> (m, h)>
#columns = affine_map<(g, b, m, h, d) -> (d)>
#matrix = affine_map<(g, b, m, h, d) -> (h, b)>
#row = affine_map<(g, b, m, h, d) -> (h, d)>

func.func @parts(%a: tensor<2x3x?x72xf16>, %b: tensor<2x3x72x80xf16>, %group: tensor<2xf32>, %heads: tensor<?x5xf16>,
                 %columns: tensor<16xf32>, %matrix: tensor<5x3xbf16>, %row: tensor<5x16xf16>) -> tensor<2x3x?x5x16xf16> {
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c2 : tensor<2x3x?x72xf16>
  %empty = tensor.empty(%m) : tensor<2x3x?x80xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x3x?x80xf32>) -> tensor<2x3x?x80xf32>
  %sums = linalg.contract indexing_maps = [affine_map<(g, h, m, n, k) -> (g, h, m, k)>, affine_map<(g, h, m, n, k) -> (g, h, k, n)>, affine_map<(g, h, m, n, k) -> (g, h, m, n)>]
    ins(%a, %b : tensor<2x3x?x72xf16>, tensor<2x3x72x80xf16>) outs(%init : tensor<2x3x?x80xf32>) -> tensor<2x3x?x80xf32>
  %split = tensor.expand_shape %sums [[0], [1], [2], [3, 4]] output_shape [2, 3, %m, 5, 16] : tensor<2x3x?x80xf32> into tensor<2x3x?x5x16xf32>
  %out = tensor.empty(%m) : tensor<2x3x?x5x16xf16>
  %result = linalg.generic {indexing_maps = [#all, #group, #heads, #columns, #matrix, #row, #all],
                            iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
    ins(%split, %group, %heads, %columns, %matrix, %row : tensor<2x3x?x5x16xf32>, tensor<2xf32>, tensor<?x5xf16>, tensor<16xf32>, tensor<5x3xbf16>, tensor<5x16xf16>)
    outs(%out : tensor<2x3x?x5x16xf16>) {
  ^bb0(%x: f32, %e0: f32, %n1: f16, %e2: f32, %n3: bf16, %n4: f16, %o: f16):
    %e1 = arith.extf %n1 : f16 to f32
    %e3 = arith.extf %n3 : bf16 to f32
    %e4 = arith.extf %n4 : f16 to f32
    %x0 = arith.mulf %x, %e0 : f32
    %x1 = arith.addf %x0, %e1 : f32
    %x2 = arith.mulf %x1, %e2 : f32
    %x3 = arith.addf %x2, %e3 : f32
    %x4 = arith.addf %x3, %e4 : f32
    %y = arith.truncf %x4 : f32 to f16
    linalg.yield %y : f16
  } -> tensor<2x3x?x5x16xf16>
  return %result : tensor<2x3x?x5x16xf16>
}
