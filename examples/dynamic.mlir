// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One kernel for every batch size and length: the newest queries of a decoder
// against its cache, whose rows lie in a larger buffer. The last query sees the
// last key, so the mask ends in the bottom-right corner. Different head sizes
// for scores and values, as in multi-head latent attention.

!query = tensor<?x?x16x192xbf16>
!key = tensor<?x?x16x192xbf16, #attn.strided<[?, ?, ?, 1], divisor = 8>>
!value = tensor<?x?x16x128xbf16, #attn.strided<[?, ?, ?, 1], divisor = 8>>

func.func @attention(%q: !query, %k: !key, %v: !value) -> (tensor<?x?x16x128xbf16>, tensor<?x16x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v lse causal(bottom_right) order(bshd) : !query, !key, !value
  return %o, %lse : tensor<?x?x16x128xbf16>, tensor<?x16x?xf32>
}
