// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention sinks, as in gpt-oss: one learned score per head that takes part in
// the softmax and adds nothing to the result.

func.func @attention(%q: tensor<1x4096x64x64xbf16>, %k: tensor<1x4096x8x64xbf16>, %v: tensor<1x4096x8x64xbf16>,
                     %sinks: tensor<64xf32>) -> tensor<1x4096x64x64xbf16> {
  %o = attn.attention %q, %k, %v window(127, 0, bottom_right) sinks(%sinks : tensor<64xf32>) order(bshd)
     : tensor<1x4096x64x64xbf16>, tensor<1x4096x8x64xbf16>, tensor<1x4096x8x64xbf16>
  return %o : tensor<1x4096x64x64xbf16>
}
