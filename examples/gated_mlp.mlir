// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The gated half of an MLP (SwiGLU): silu(x gate) * (x up), of two matmuls with
// one left operand, in one kernel that reads it once.

#all = affine_map<(m, n) -> (m, n)>

func.func @mlp_gate(%x: tensor<16384x2048xbf16>, %gate: tensor<8192x2048xbf16>, %up: tensor<8192x2048xbf16>)
    -> tensor<16384x8192xbf16> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<16384x8192xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<16384x8192xf32>) -> tensor<16384x8192xf32>
  %gates = linalg.matmul
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %gate : tensor<16384x2048xbf16>, tensor<8192x2048xbf16>) outs(%init : tensor<16384x8192xf32>) -> tensor<16384x8192xf32>
  %ups = linalg.matmul
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %up : tensor<16384x2048xbf16>, tensor<8192x2048xbf16>) outs(%init : tensor<16384x8192xf32>) -> tensor<16384x8192xf32>
  %out = tensor.empty() : tensor<16384x8192xbf16>
  %result = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%gates, %ups : tensor<16384x8192xf32>, tensor<16384x8192xf32>) outs(%out : tensor<16384x8192xbf16>) {
  ^bb0(%g: f32, %u: f32, %o: bf16):
    %one = arith.constant 1.0 : f32
    %minus = arith.negf %g : f32
    %exp = math.exp %minus : f32
    %below = arith.addf %exp, %one : f32
    %silu = arith.divf %g, %below : f32
    %product = arith.mulf %silu, %u : f32
    %narrow = arith.truncf %product : f32 to bf16
    linalg.yield %narrow : bf16
  } -> tensor<16384x8192xbf16>
  return %result : tensor<16384x8192xbf16>
}
