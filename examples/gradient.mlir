// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a training step needs of causal attention. The output and log-sum-exps
// are those that the forward pass has saved; attn-differentiate makes both
// functions of one that computes attention.

!q = tensor<4x16x2048x64xbf16>
!k = tensor<4x4x2048x64xbf16>
!lse = tensor<4x16x2048xf32>

func.func @attention_grad(%query: !q, %key: !k, %value: !k, %output: !q, %lse: !lse, %output_grad: !q) -> (!q, !k, !k) {
  %dq, %dk, %dv = attn.attention_grad %query, %key, %value, %output, %lse, %output_grad causal(bottom_right)
    : !q, !k, !k, !q, !lse, !q
  return %dq, %dk, %dv : !q, !k, !k
}
