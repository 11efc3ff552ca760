// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decoding with latent attention, as DeepSeek's models have it: all heads share
// one key of 576 columns, of which the first 512 are its value, in pages of 64
// keys. Queries have been multiplied by what would unfold keys, and results are
// multiplied by what unfolds values.

func.func @attention(%q: tensor<?x1x128x576xbf16>, %cache: tensor<?x64x1x576xbf16>,
                     %lengths: tensor<?xi32>, %pages: tensor<?x?xi32>) -> tensor<?x1x128x512xbf16> {
  %o = attn.attention %q, %cache, %cache order(bshd) latent(512) scale(7.216878e-02)
    key_lengths(%lengths : tensor<?xi32>) pages(%pages : tensor<?x?xi32>)
    : tensor<?x1x128x576xbf16>, tensor<?x64x1x576xbf16>, tensor<?x64x1x576xbf16>
  return %o : tensor<?x1x128x512xbf16>
}
