// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scores bounded to (-50, 50) by tanh, as in Gemma 2, and the logarithm of the
// sum of exponentials beside the result.

func.func @attention(%q: tensor<2x16x4096x256xbf16>, %k: tensor<2x8x4096x256xbf16>, %v: tensor<2x8x4096x256xbf16>)
    -> (tensor<2x16x4096x256xbf16>, tensor<2x16x4096xf32>) {
  %o, %lse = attn.attention %q, %k, %v lse causal(top_left) softcap(50.0)
     : tensor<2x16x4096x256xbf16>, tensor<2x8x4096x256xbf16>, tensor<2x8x4096x256xbf16>
  return %o, %lse : tensor<2x16x4096x256xbf16>, tensor<2x16x4096xf32>
}
