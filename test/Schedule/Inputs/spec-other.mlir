// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
module attributes {attune.tuned_for = "sm_80"} {
  func.func @a(%q: tensor<2x4x512x64xf16>) -> tensor<2x4x512x64xf16> {
    %o = attn.attention %q, %q, %q causal(top_left) schedule(<blockM = 32, blockN = 32>) : tensor<2x4x512x64xf16>, tensor<2x4x512x64xf16>, tensor<2x4x512x64xf16>
    return %o : tensor<2x4x512x64xf16>
  }
}
