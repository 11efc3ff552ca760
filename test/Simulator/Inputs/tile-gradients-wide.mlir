// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The gradient of a tensor that batches and heads share, of a head size of as many columns as a tile has keys, beside dropout.

!wide = tensor<2x1x136x128xf16>
!r = tensor<2x1x136xf32>
func.func @wide(%q: !wide, %k: !wide, %v: !wide, %o: !wide, %lse: !r, %do: !wide, %seed: tensor<2xi64>, %bias: tensor<136x136xf16>) -> (!wide, !wide, !wide, tensor<136x136xf32>) {
  %dq, %dk, %dv, %db = attn.attention_grad %q, %k, %v, %o, %lse, %do causal(top_left) dropout(%seed, 2.5e-01 : tensor<2xi64>) wrt(query, key, value, %bias : tensor<136x136xf16>)
    score (%s, %b, %h, %m, %n) {
      %x = tensor.extract %bias[%m, %n] : tensor<136x136xf16>
      %f = arith.extf %x : f16 to f32
      %y = arith.addf %s, %f : f32
      attn.yield %y : f32
    } : !wide, !wide, !wide, !wide, !r, !wide
  return %dq, %dk, %dv, %db : !wide, !wide, !wide, tensor<136x136xf32>
}
