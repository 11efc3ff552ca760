// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
module attributes {attune.tuned_for = "sm_90a"} {
  func.func @a(%q: tensor<2x4x512x64xf16>) -> tensor<2x4x512x64xf16> {
    %o = attn.attention %q, %q, %q causal(top_left) schedule(<blockM = 64, blockN = 48>) : tensor<2x4x512x64xf16>, tensor<2x4x512x64xf16>, tensor<2x4x512x64xf16>
    return %o : tensor<2x4x512x64xf16>
  }
  func.func @b(%q: tensor<2x4x4096x64xf16>) -> tensor<2x4x4096x64xf16> {
    %o = attn.attention %q, %q, %q causal(top_left) schedule(<blockM = 64, blockN = 80>) : tensor<2x4x4096x64xf16>, tensor<2x4x4096x64xf16>, tensor<2x4x4096x64xf16>
    return %o : tensor<2x4x4096x64xf16>
  }
  func.func @c(%q: tensor<1x1x50x64xf16>, %bias: tensor<100xf32>) -> tensor<1x1x50x64xf16> {
    %o = attn.attention %q, %q, %q score(%s, %b, %h, %i, %j) {
      %x = tensor.extract %bias[%j] : tensor<100xf32>
      %t = arith.addf %s, %x : f32
      attn.yield %t : f32
    } schedule(<blockM = 64, blockN = 96>) : tensor<1x1x50x64xf16>, tensor<1x1x50x64xf16>, tensor<1x1x50x64xf16>
    return %o : tensor<1x1x50x64xf16>
  }
  func.func @untuned(%q: tensor<2x4x512x64xf16>) -> tensor<2x4x512x64xf16> {
    %o = attn.attention %q, %q, %q : tensor<2x4x512x64xf16>, tensor<2x4x512x64xf16>, tensor<2x4x512x64xf16>
    return %o : tensor<2x4x512x64xf16>
  }
}
