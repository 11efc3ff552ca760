// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Packed documents: several documents in one row, none of which sees another.
// The mask region reads which document a token belongs to.

func.func @attention(%q: tensor<2x16x4096x128xbf16>, %k: tensor<2x16x4096x128xbf16>, %v: tensor<2x16x4096x128xbf16>,
                     %document: tensor<2x4096xi32>) -> tensor<2x16x4096x128xbf16> {
  %o = attn.attention %q, %k, %v causal(top_left) mask (%b, %h, %m, %n) {
    %of_query = tensor.extract %document[%b, %m] : tensor<2x4096xi32>
    %of_key = tensor.extract %document[%b, %n] : tensor<2x4096xi32>
    %same = arith.cmpi eq, %of_query, %of_key : i32
    attn.yield %same : i1
  } : tensor<2x16x4096x128xbf16>, tensor<2x16x4096x128xbf16>, tensor<2x16x4096x128xbf16>
  return %o : tensor<2x16x4096x128xbf16>
}
