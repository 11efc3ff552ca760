// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Grouped heads and a sliding window, as in Mistral: each query sees itself and
// the 1023 keys before it; four query heads share one key head. Dimensions are
// batch, sequence, head, size, as most frameworks keep them.

func.func @attention(%q: tensor<2x4096x32x128xbf16>, %k: tensor<2x4096x8x128xbf16>,
                     %v: tensor<2x4096x8x128xbf16>) -> tensor<2x4096x32x128xbf16> {
  %o = attn.attention %q, %k, %v window(1023, 0, bottom_right) order(bshd)
     : tensor<2x4096x32x128xbf16>, tensor<2x4096x8x128xbf16>, tensor<2x4096x8x128xbf16>
  return %o : tensor<2x4096x32x128xbf16>
}
