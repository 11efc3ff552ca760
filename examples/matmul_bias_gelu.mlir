// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The first half of an MLP as frameworks write it: a matmul with the weights as
// a layer has them, a bias for each column and GELU (by tanh), in one kernel.
// The number of rows is known when it runs.

#rows = affine_map<(m, n) -> (m, n)>
#columns = affine_map<(m, n) -> (n)>

func.func @mlp_up(%x: tensor<?x2048xbf16>, %weights: tensor<8192x2048xbf16>, %bias: tensor<8192xbf16>)
    -> tensor<?x8192xbf16> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x2048xbf16>
  %empty = tensor.empty(%m) : tensor<?x8192xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x8192xf32>) -> tensor<?x8192xf32>
  %sum = linalg.matmul
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %weights : tensor<?x2048xbf16>, tensor<8192x2048xbf16>) outs(%init : tensor<?x8192xf32>) -> tensor<?x8192xf32>
  %out = tensor.empty(%m) : tensor<?x8192xbf16>
  %result = linalg.generic {indexing_maps = [#rows, #columns, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%sum, %bias : tensor<?x8192xf32>, tensor<8192xbf16>) outs(%out : tensor<?x8192xbf16>) {
  ^bb0(%s: f32, %b: bf16, %o: bf16):
    %half = arith.constant 0.5 : f32
    %one = arith.constant 1.0 : f32
    // sqrt(2 / pi).
    %scale = arith.constant 0.7978845608 : f32
    %cubic = arith.constant 0.044715 : f32
    %wide = arith.extf %b : bf16 to f32
    %v = arith.addf %s, %wide : f32
    %square = arith.mulf %v, %v : f32
    %third = arith.mulf %square, %v : f32
    %part = arith.mulf %third, %cubic : f32
    %inner = arith.addf %v, %part : f32
    %scaled = arith.mulf %inner, %scale : f32
    %tanh = math.tanh %scaled : f32
    %plus = arith.addf %tanh, %one : f32
    %half_v = arith.mulf %v, %half : f32
    %gelu = arith.mulf %half_v, %plus : f32
    %narrow = arith.truncf %gelu : f32 to bf16
    linalg.yield %narrow : bf16
  } -> tensor<?x8192xbf16>
  return %result : tensor<?x8192xbf16>
}
