// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The gradient of a tensor of which each head of each batch has a part, and that ends with the sequences.

!s = tensor<2x2x128x64xbf16>
!t = tensor<2x2x128xf32>
func.func @stored(%q: !s, %k: !s, %v: !s, %o: !s, %lse: !t, %do: !s, %bias: tensor<2x2x128x128xf32>) -> (!s, !s, !s, tensor<2x2x128x128xf32>) {
  %dq, %dk, %dv, %db = attn.attention_grad %q, %k, %v, %o, %lse, %do wrt(query, key, value, %bias : tensor<2x2x128x128xf32>)
    score (%s, %b, %h, %m, %n) {
      %x = tensor.extract %bias[%b, %h, %m, %n] : tensor<2x2x128x128xf32>
      %y = arith.addf %s, %x : f32
      attn.yield %y : f32
    } : !s, !s, !s, !s, !t, !s
  return %dq, %dk, %dv, %db : !s, !s, !s, tensor<2x2x128x128xf32>
}
