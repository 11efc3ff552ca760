// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A product of matrices that upstream's passes compile for the CPU. How it is
// tiled is searched with matmul_space.mlir, see docs/Tuning.md.

func.func @matmul(%a: tensor<128x128xf32>, %b: tensor<128x128xf32>, %c: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<128x128xf32>, tensor<128x128xf32>)
                     outs(%c : tensor<128x128xf32>) -> tensor<128x128xf32>
  return %d : tensor<128x128xf32>
}
