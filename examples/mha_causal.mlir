// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Causal self-attention of a decoder in training: 16 heads of size 128, as many
// for keys as for queries.

func.func @attention(%q: tensor<4x16x4096x128xbf16>, %k: tensor<4x16x4096x128xbf16>,
                     %v: tensor<4x16x4096x128xbf16>) -> tensor<4x16x4096x128xbf16> {
  %o = attn.attention %q, %k, %v causal(top_left)
     : tensor<4x16x4096x128xbf16>, tensor<4x16x4096x128xbf16>, tensor<4x16x4096x128xbf16>
  return %o : tensor<4x16x4096x128xbf16>
}
