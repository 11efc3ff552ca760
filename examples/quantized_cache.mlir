// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decoding from a cache of 8 bits: keys and values in pages of 64 keys, with a
// scale for each head of each page. They are widened to bf16 where they are
// multiplied; scores are multiplied by the scales of keys, and weights by those
// of values.

func.func @attention(%q: tensor<?x1x32x128xbf16>, %keys: tensor<?x64x8x128xf8E4M3FN>, %values: tensor<?x64x8x128xf8E4M3FN>,
                     %key_scales: tensor<?x1x8x1xf32>, %value_scales: tensor<?x1x8x1xf32>,
                     %lengths: tensor<?xi32>, %pages: tensor<?x?xi32>) -> tensor<?x1x32x128xbf16> {
  %o = attn.attention %q, %keys, %values order(bshd)
    key_lengths(%lengths : tensor<?xi32>) pages(%pages : tensor<?x?xi32>)
    key_scales(%key_scales : tensor<?x1x8x1xf32>) value_scales(%value_scales : tensor<?x1x8x1xf32>)
    : tensor<?x1x32x128xbf16>, tensor<?x64x8x128xf8E4M3FN>, tensor<?x64x8x128xf8E4M3FN>
  return %o : tensor<?x1x32x128xbf16>
}
