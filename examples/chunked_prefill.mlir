// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step of a server: the new tokens of all requests lie one behind the other,
// chunks of prompts and single tokens alike, and attend to what their request
// has in a cache of pages of 16 keys, themselves included.

func.func @attention(%q: tensor<1x?x32x128xbf16>, %keys: tensor<?x16x8x128xbf16>, %values: tensor<?x16x8x128xbf16>,
                     %starts: tensor<?xi32>, %lengths: tensor<?xi32>, %pages: tensor<?x?xi32>) -> tensor<1x?x32x128xbf16> {
  %o = attn.attention %q, %keys, %values order(bshd) causal(bottom_right)
    query_starts(%starts : tensor<?xi32>) key_lengths(%lengths : tensor<?xi32>) pages(%pages : tensor<?x?xi32>)
    : tensor<1x?x32x128xbf16>, tensor<?x16x8x128xbf16>, tensor<?x16x8x128xbf16>
  return %o : tensor<1x?x32x128xbf16>
}
