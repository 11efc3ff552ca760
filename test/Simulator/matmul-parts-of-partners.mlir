// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Columns that are rotated together after each was multiplied by a number of its own, which all heads share: the epilogue reads
// that of the partner, too. Executed and compared to the reference, with all checks on.
//
// RUN: attune-run %s --device=host --chip=sm_80 -m 35 --schedule="block-m=32 block-n=32 block-k=32 num-warps=4 warps-n=2" | FileCheck %s
// RUN: attune-run %s --device=host --chip=sm_90a -m 70 --schedule="block-m=64 block-n=32 block-k=32 num-warps=4 mma-warps=4 producer-warps=4 cluster=2 cluster-along=n stages=3" | FileCheck %s
// RUN: attune-run %s --device=host --chip=gfx942 -m 35 --schedule="block-m=32 block-n=32 block-k=32 num-warps=1" | FileCheck %s
// RUN: attune-run %s --device=host --chip=gfx1100 -m 35 --schedule="block-m=32 block-n=64 block-k=32 num-warps=4 warps-n=2" | FileCheck %s
// Partners 40 columns apart are of the other half of a wave, in registers that depend on the half.
// RUN: sed -e 's/5x2x8xf32/1x2x40xf32/g' -e 's/2x8xf32/2x40xf32/g' -e 's/%%m, 5, 2, 8\]/%%m, 1, 2, 40]/' %s > %t.far.mlir
// RUN: attune-run %t.far.mlir --device=host --chip=sm_80 -m 35 --schedule="block-m=32 block-n=160 block-k=32 num-warps=2" | FileCheck %s
// RUN: attune-run %t.far.mlir --device=host --chip=gfx942 -m 35 --schedule="block-m=32 block-n=160 block-k=32 num-warps=1" | FileCheck %s
// RUN: attune-run %t.far.mlir --device=host --chip=gfx1100 -m 35 --schedule="block-m=32 block-n=160 block-k=32 num-warps=2" | FileCheck %s
//
// CHECK: device    host executor
// CHECK-NEXT: right     result 0: error

#all = affine_map<(m, h, s, d) -> (m, h, s, d)>
#flipped = affine_map<(m, h, s, d) -> (m, h, 1 - s, d)>
#columns = affine_map<(m, h, s, d) -> (s, d)>
#parallel = ["parallel", "parallel", "parallel", "parallel"]

func.func @rotated(%a: tensor<?x72xbf16>, %b: tensor<72x80xbf16>, %factors: tensor<2x8xf32>) -> tensor<?x5x2x8xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x72xbf16>
  %empty = tensor.empty(%m) : tensor<?x80xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x80xf32>) -> tensor<?x80xf32>
  %sums = linalg.matmul ins(%a, %b : tensor<?x72xbf16>, tensor<72x80xbf16>) outs(%init : tensor<?x80xf32>) -> tensor<?x80xf32>
  %heads = tensor.expand_shape %sums [[0], [1, 2, 3]] output_shape [%m, 5, 2, 8] : tensor<?x80xf32> into tensor<?x5x2x8xf32>
  %out = tensor.empty(%m) : tensor<?x5x2x8xf32>
  %scaled = linalg.generic {indexing_maps = [#all, #columns, #all], iterator_types = #parallel}
    ins(%heads, %factors : tensor<?x5x2x8xf32>, tensor<2x8xf32>) outs(%out : tensor<?x5x2x8xf32>) {
  ^bb0(%x: f32, %factor: f32, %o: f32):
    %y = arith.mulf %x, %factor : f32
    linalg.yield %y : f32
  } -> tensor<?x5x2x8xf32>
  %result = linalg.generic {indexing_maps = [#all, #flipped, #all], iterator_types = #parallel}
    ins(%scaled, %scaled : tensor<?x5x2x8xf32>, tensor<?x5x2x8xf32>) outs(%out : tensor<?x5x2x8xf32>) {
  ^bb0(%x: f32, %partner: f32, %o: f32):
    %y = arith.subf %x, %partner : f32
    linalg.yield %y : f32
  } -> tensor<?x5x2x8xf32>
  return %result : tensor<?x5x2x8xf32>
}
