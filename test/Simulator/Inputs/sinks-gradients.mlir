// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gradients of sinks: beside others and a gradient of lse, where rows see nothing; alone, of packed sequences; of batches with lengths, with
// dropout; and of what scores read as well.

!q = tensor<2x4x70x64xbf16>
!k = tensor<2x2x50x64xbf16>
!l = tensor<2x4x70xf32>
func.func @beside(%q: !q, %k: !k, %v: !k, %o: !q, %lse: !l, %do: !q, %dl: !l, %s: tensor<4xf32>) -> (!q, !k, !k, tensor<4xf32>) {
  %dq, %dk, %dv, %ds = attn.attention_grad %q, %k, %v, %o, %lse, %do causal(bottom_right) sinks(%s : tensor<4xf32>) lse_grad(%dl : !l)
    wrt(query, key, value, %s : tensor<4xf32>) : !q, !k, !k, !q, !l, !q
  return %dq, %dk, %dv, %ds : !q, !k, !k, tensor<4xf32>
}

!pq = tensor<1x130x3x80xf16>
!pk = tensor<1x200x3x80xf16>
!pl = tensor<1x3x130xf32>
func.func @packed(%q: !pq, %k: !pk, %o: !pq, %lse: !pl, %do: !pq, %s: tensor<3xf32>, %starts: tensor<4xi32>, %key_starts: tensor<4xi32>) -> tensor<3xf32> {
  %ds = attn.attention_grad %q, %k, %k, %o, %lse, %do order(bshd) causal(bottom_right) sinks(%s : tensor<3xf32>) query_starts(%starts : tensor<4xi32>)
    key_starts(%key_starts : tensor<4xi32>) wrt(%s : tensor<3xf32>) : !pq, !pk, !pk, !pq, !pl, !pq
  return %ds : tensor<3xf32>
}

!bq = tensor<3x2x40x32xf16>
!bl = tensor<3x2x40xf32>
func.func @lengths(%q: !bq, %k: !bq, %o: !bq, %lse: !bl, %do: !bq, %s: tensor<2xf32>, %lengths: tensor<3xi32>, %r: tensor<2xi64>) -> (!bq, tensor<2xf32>) {
  %dv, %ds = attn.attention_grad %q, %k, %k, %o, %lse, %do sinks(%s : tensor<2xf32>) query_lengths(%lengths : tensor<3xi32>)
    key_lengths(%lengths : tensor<3xi32>) dropout(%r, 0.25 : tensor<2xi64>) wrt(value, %s : tensor<2xf32>) : !bq, !bq, !bq, !bq, !bl, !bq
  return %dv, %ds : !bq, tensor<2xf32>
}

func.func @both(%q: !bq, %k: !bq, %o: !bq, %lse: !bl, %do: !bq, %s: tensor<2xf32>) -> (!bq, tensor<2xf32>) {
  %dk, %ds = attn.attention_grad %q, %k, %k, %o, %lse, %do sinks(%s : tensor<2xf32>) wrt(key, %s : tensor<2xf32>)
    score (%x, %b, %h, %m, %n) {
      %a = tensor.extract %s[%h] : tensor<2xf32>
      %y = arith.mulf %x, %a : f32
      attn.yield %y : f32
    } : !bq, !bq, !bq, !bq, !bl, !bq
  return %dk, %ds : !bq, tensor<2xf32>
}
