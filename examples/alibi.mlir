// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ALiBi: a bias that grows with the distance between query and key, with one
// slope per head, instead of positional embeddings.

func.func @attention(%q: tensor<4x16x2048x64xf16>, %k: tensor<4x16x2048x64xf16>, %v: tensor<4x16x2048x64xf16>,
                     %slopes: tensor<16xf32>) -> tensor<4x16x2048x64xf16> {
  %o = attn.attention %q, %k, %v causal(top_left) alibi(%slopes : tensor<16xf32>)
     : tensor<4x16x2048x64xf16>, tensor<4x16x2048x64xf16>, tensor<4x16x2048x64xf16>
  return %o : tensor<4x16x2048x64xf16>
}
