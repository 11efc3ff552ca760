// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Batches behind a dimension that is 1, where strides are not known: neither these nor sizes tell which one a matrix lacks.
//
// RUN: attune-run %s --device=host --chip=sm_90a --function=row | FileCheck %s
// RUN: attune-run %s --device=host --chip=gfx942 --function=row | FileCheck %s
// RUN: attune-run %s --device=host --chip=sm_80 --function=column | FileCheck %s
// RUN: attune-run %s --device=host --chip=gfx1100 --function=column | FileCheck %s
// CHECK: right     result 0

func.func @row(%a: tensor<1x3x2xf16, #attn.strided<[?, ?, ?]>>, %b: tensor<2x3x5xf16, #attn.strided<[?, ?, ?]>>) -> tensor<5x1x2xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x1x2xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<5x1x2xf32>) -> tensor<5x1x2xf32>
  %r = linalg.contract indexing_maps = [affine_map<(b, m, n, k) -> (m, k, b)>, affine_map<(b, m, n, k) -> (b, k, n)>,
                                        affine_map<(b, m, n, k) -> (n, m, b)>]
    ins(%a, %b : tensor<1x3x2xf16, #attn.strided<[?, ?, ?]>>, tensor<2x3x5xf16, #attn.strided<[?, ?, ?]>>)
    outs(%z : tensor<5x1x2xf32>) -> tensor<5x1x2xf32>
  return %r : tensor<5x1x2xf32>
}

func.func @column(%a: tensor<8x8x2xf16, #attn.strided<[?, ?, ?]>>, %b: tensor<1x8x2xf16, #attn.strided<[?, ?, ?]>>) -> tensor<8x1x2xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x1x2xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8x1x2xf32>) -> tensor<8x1x2xf32>
  %r = linalg.contract indexing_maps = [affine_map<(b, m, n, k) -> (k, m, b)>, affine_map<(b, m, n, k) -> (n, k, b)>,
                                        affine_map<(b, m, n, k) -> (m, n, b)>]
    ins(%a, %b : tensor<8x8x2xf16, #attn.strided<[?, ?, ?]>>, tensor<1x8x2xf16, #attn.strided<[?, ?, ?]>>)
    outs(%z : tensor<8x1x2xf32>) -> tensor<8x1x2xf32>
  return %r : tensor<8x1x2xf32>
}
