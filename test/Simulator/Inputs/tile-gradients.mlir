// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gradients of tensors that scores read for each query and key, in rows that copy engines take: one that batches share, one of each head of
// each batch, which ends behind the sequences, and a mask that is read. Lengths are no multiples of blocks.

!q = tensor<2x2x70x64xbf16>
!k = tensor<2x1x136x64xbf16>
!l = tensor<2x2x70xf32>
func.func @several(%q: !q, %k: !k, %v: !k, %o: !q, %lse: !l, %do: !q, %bias: tensor<2x70x136xbf16>, %own: tensor<2x2x80x160xf32>, %seen: tensor<70x144xi8>)
    -> (!q, !k, !k, tensor<2x70x136xf32>, tensor<2x2x80x160xf32>) {
  %dq, %dk, %dv, %db, %dc = attn.attention_grad %q, %k, %v, %o, %lse, %do wrt(query, key, value, %bias, %own : tensor<2x70x136xbf16>, tensor<2x2x80x160xf32>)
    score (%s, %b, %h, %m, %n) {
      %x = tensor.extract %bias[%h, %m, %n] : tensor<2x70x136xbf16>
      %f = arith.extf %x : bf16 to f32
      %y = arith.addf %s, %f : f32
      %e = tensor.extract %own[%b, %h, %m, %n] : tensor<2x2x80x160xf32>
      %u = arith.mulf %y, %e : f32
      attn.yield %u : f32
    } mask (%b, %h, %m, %n) {
      %zero = arith.constant 0 : i8
      %x = tensor.extract %seen[%m, %n] : tensor<70x144xi8>
      %is = arith.cmpi ne, %x, %zero : i8
      attn.yield %is : i1
    } : !q, !k, !k, !q, !l, !q
  return %dq, %dk, %dv, %db, %dc : !q, !k, !k, tensor<2x70x136xf32>, tensor<2x2x80x160xf32>
}
