// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text with images in it, as in Transfusion: text is causal, and the tokens of
// one image see each other. The table holds 0 for text, else the image's number.

func.func @attention(%q: tensor<2x16x4096x128xbf16>, %k: tensor<2x16x4096x128xbf16>, %v: tensor<2x16x4096x128xbf16>,
                     %image: tensor<2x4096xi32>) -> tensor<2x16x4096x128xbf16> {
  %o = attn.attention %q, %k, %v mask (%b, %h, %m, %n) {
    %text = arith.constant 0 : i32
    %of_query = tensor.extract %image[%b, %m] : tensor<2x4096xi32>
    %of_key = tensor.extract %image[%b, %n] : tensor<2x4096xi32>
    %is_image = arith.cmpi ne, %of_query, %text : i32
    %same = arith.cmpi eq, %of_query, %of_key : i32
    %together = arith.andi %is_image, %same : i1
    %earlier = arith.cmpi sle, %n, %m : index
    %visible = arith.ori %together, %earlier : i1
    attn.yield %visible : i1
  } : tensor<2x16x4096x128xbf16>, tensor<2x16x4096x128xbf16>, tensor<2x16x4096x128xbf16>
  return %o : tensor<2x16x4096x128xbf16>
}
