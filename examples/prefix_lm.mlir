// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prefix language model: the tokens of a prompt see each other, the tokens after
// it see the prompt and what came before. Prompts differ in length.

func.func @attention(%q: tensor<8x16x2048x64xf16>, %k: tensor<8x16x2048x64xf16>, %v: tensor<8x16x2048x64xf16>,
                     %prefix: tensor<8xi32>) -> tensor<8x16x2048x64xf16> {
  %o = attn.attention %q, %k, %v mask (%b, %h, %m, %n) {
    %length = tensor.extract %prefix[%b] : tensor<8xi32>
    %key = arith.index_cast %n : index to i32
    %in_prefix = arith.cmpi slt, %key, %length : i32
    %earlier = arith.cmpi sle, %n, %m : index
    %visible = arith.ori %in_prefix, %earlier : i1
    attn.yield %visible : i1
  } : tensor<8x16x2048x64xf16>, tensor<8x16x2048x64xf16>, tensor<8x16x2048x64xf16>
  return %o : tensor<8x16x2048x64xf16>
}
