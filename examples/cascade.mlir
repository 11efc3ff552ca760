// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step of a server whose requests share a prefix: its keys are read once for the new tokens of all of them, which lie one behind the other.
// Each request attends to what it has alone as well, in a cache of pages of 16 keys, and the two results are merged.

!queries = tensor<1x?x32x128xbf16>
!prefix = tensor<1x?x8x128xbf16>
!cache = tensor<?x16x8x128xbf16>
!lse = tensor<1x32x?xf32>

func.func @cascade(%q: !queries, %prefix_k: !prefix, %prefix_v: !prefix, %k: !cache, %v: !cache,
                   %starts: tensor<?xi32>, %lengths: tensor<?xi32>, %pages: tensor<?x?xi32>) -> !queries {
  %shared, %shared_lse = attn.attention %q, %prefix_k, %prefix_v lse order(bshd) : !queries, !prefix, !prefix
  %own, %own_lse = attn.attention %q, %k, %v lse order(bshd) causal(bottom_right)
    query_starts(%starts : tensor<?xi32>) key_lengths(%lengths : tensor<?xi32>) pages(%pages : tensor<?x?xi32>)
    : !queries, !cache, !cache
  %o = attn.merge %shared, %own lses(%shared_lse, %own_lse : !lse, !lse) order(bshd) : !queries, !queries -> !queries
  return %o : !queries
}
