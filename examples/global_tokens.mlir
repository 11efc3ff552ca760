// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A sliding window with global tokens, as in Longformer and StreamingLLM: every
// query sees the first four keys, the window, and nothing that comes later.

func.func @attention(%q: tensor<1x32x8192x128xbf16>, %k: tensor<1x8x8192x128xbf16>, %v: tensor<1x8x8192x128xbf16>)
    -> tensor<1x32x8192x128xbf16> {
  %o = attn.attention %q, %k, %v causal(top_left) mask (%b, %h, %m, %n) {
    %globals = arith.constant 4 : index
    %reach = arith.constant 1023 : index
    %is_global = arith.cmpi slt, %n, %globals : index
    %distance = arith.subi %m, %n : index
    %is_near = arith.cmpi sle, %distance, %reach : index
    %visible = arith.ori %is_global, %is_near : i1
    attn.yield %visible : i1
  } : tensor<1x32x8192x128xbf16>, tensor<1x8x8192x128xbf16>, tensor<1x8x8192x128xbf16>
  return %o : tensor<1x32x8192x128xbf16>
}
