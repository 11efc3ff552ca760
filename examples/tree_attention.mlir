// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Speculative decoding: 64 drafted tokens form a tree. Each sees the whole cache
// and, of the drafted ones, its ancestors, which a captured table lists.

func.func @attention(%q: tensor<?x32x64x128xbf16>, %k: tensor<?x8x?x128xbf16>, %v: tensor<?x8x?x128xbf16>,
                     %ancestor: tensor<?x64x64xi1>, %cached: index) -> tensor<?x32x64x128xbf16> {
  %o = attn.attention %q, %k, %v mask (%b, %h, %m, %n) {
    %first = arith.constant 0 : index
    %last = arith.constant 63 : index
    %in_cache = arith.cmpi slt, %n, %cached : index
    // Where the key is in the cache, the table is read at a place that exists.
    %drafted = arith.subi %n, %cached : index
    %drafted_low = arith.maxsi %drafted, %first : index
    %place = arith.minsi %drafted_low, %last : index
    %is_ancestor = tensor.extract %ancestor[%b, %m, %place] : tensor<?x64x64xi1>
    %visible = arith.ori %in_cache, %is_ancestor : i1
    attn.yield %visible : i1
  } : tensor<?x32x64x128xbf16>, tensor<?x8x?x128xbf16>, tensor<?x8x?x128xbf16>
  return %o : tensor<?x32x64x128xbf16>
}
