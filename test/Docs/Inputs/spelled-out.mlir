// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention as a frontend writes it.
func.func @model(%q: tensor<2x64x64xbf16>, %k: tensor<2x96x64xbf16>, %v: tensor<2x96x64xbf16>) -> tensor<2x64x64xbf16> {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<2x64x96xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x64x96xf32>) -> tensor<2x64x96xf32>
  %kte = tensor.empty() : tensor<2x64x96xbf16>
  %kt = linalg.transpose ins(%k : tensor<2x96x64xbf16>) outs(%kte : tensor<2x64x96xbf16>) permutation = [0, 2, 1]
  %s = linalg.batch_matmul ins(%q, %kt : tensor<2x64x64xbf16>, tensor<2x64x96xbf16>) outs(%sf : tensor<2x64x96xf32>) -> tensor<2x64x96xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x64x96xf32>) outs(%se : tensor<2x64x96xf32>) -> tensor<2x64x96xf32>
  %p16 = arith.truncf %p : tensor<2x64x96xf32> to tensor<2x64x96xbf16>
  %oe = tensor.empty() : tensor<2x64x64xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x64x64xf32>) -> tensor<2x64x64xf32>
  %o = linalg.batch_matmul ins(%p16, %v : tensor<2x64x96xbf16>, tensor<2x96x64xbf16>) outs(%of : tensor<2x64x64xf32>) -> tensor<2x64x64xf32>
  %o16 = arith.truncf %o : tensor<2x64x64xf32> to tensor<2x64x64xbf16>
  return %o16 : tensor<2x64x64xbf16>
}
