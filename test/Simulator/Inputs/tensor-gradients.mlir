// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gradients of what scores read: at query and key, at the head, and at the key.

!q = tensor<1x2x9x64xbf16>
!k = tensor<1x1x11x64xbf16>
!l = tensor<1x2x9xf32>
func.func @bias_grad(%q: !q, %k: !k, %v: !k, %o: !q, %lse: !l, %do: !q, %bias: tensor<2x9x11xbf16>, %slope: tensor<2xf32>, %of_key: tensor<11xf32>) -> (!q, !k, !k, tensor<2x9x11xf32>, tensor<2xf32>, tensor<11xf32>) {
  %dq, %dk, %dv, %db, %ds, %dc = attn.attention_grad %q, %k, %v, %o, %lse, %do causal(bottom_right) wrt(query, key, value, %bias, %slope, %of_key : tensor<2x9x11xbf16>, tensor<2xf32>, tensor<11xf32>)
    score (%s, %b, %h, %m, %n) {
      %x = tensor.extract %bias[%h, %m, %n] : tensor<2x9x11xbf16>
      %f = arith.extf %x : bf16 to f32
      %y = arith.addf %s, %f : f32
      %a = tensor.extract %slope[%h] : tensor<2xf32>
      %i = arith.index_cast %n : index to i32
      %p = arith.sitofp %i : i32 to f32
      %c = arith.constant 1.0e-2 : f32
      %pc = arith.mulf %p, %c : f32
      %z = arith.mulf %a, %pc : f32
      %w = arith.addf %y, %z : f32
      %e = tensor.extract %of_key[%n] : tensor<11xf32>
      %u = arith.addf %w, %e : f32
      attn.yield %u : f32
    } : !q, !k, !k, !q, !l, !q
  return %dq, %dk, %dv, %db, %ds, %dc : !q, !k, !k, tensor<2x9x11xf32>, tensor<2xf32>, tensor<11xf32>
}
