// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gradients of packed sequences, and of what scores read at the query and at the key, one element each.

!q = tensor<1x2x100x32xbf16>
!k = tensor<1x2x90x32xbf16>
!l = tensor<1x2x100xf32>
func.func @bias_grad(%q: !q, %k: !k, %v: !k, %o: !q, %lse: !l, %do: !q, %of_query: tensor<100xf32>, %of_key: tensor<90xf32>, %sq: tensor<5xi32>, %sk: tensor<5xi32>) -> (!q, !k, !k, tensor<100xf32>, tensor<90xf32>) {
  %dq, %dk, %dv, %da, %db = attn.attention_grad %q, %k, %v, %o, %lse, %do query_starts(%sq : tensor<5xi32>) key_starts(%sk : tensor<5xi32>) causal(bottom_right)
    wrt(query, key, value, %of_query, %of_key : tensor<100xf32>, tensor<90xf32>)
    score (%s, %b, %h, %m, %n) {
      %x = tensor.extract %of_query[%m] : tensor<100xf32>
      %y = tensor.extract %of_key[%n] : tensor<90xf32>
      %xy = arith.mulf %x, %y : f32
      %z = arith.addf %s, %xy : f32
      attn.yield %z : f32
    } : !q, !k, !k, !q, !l, !q
  return %dq, %dk, %dv, %da, %db : !q, !k, !k, tensor<100xf32>, tensor<90xf32>
}
