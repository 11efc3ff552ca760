// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
module attributes {attune.tuned_for = "sm_90a"} {
func.func @small(%a: tensor<512x512xf16>, %b: tensor<512x512xf16>, %c: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %x = linalg.matmul {attune.schedule = #schedule.matmul<blockM = 64, blockN = 32>} ins(%a, %b : tensor<512x512xf16>, tensor<512x512xf16>) outs(%c : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %x : tensor<512x512xf32>
}
func.func @large(%a: tensor<4096x4096xf16>, %b: tensor<4096x4096xf16>, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %x = linalg.matmul {attune.schedule = #schedule.matmul<blockM = 64, blockN = 96>} ins(%a, %b : tensor<4096x4096xf16>, tensor<4096x4096xf16>) outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %x : tensor<4096x4096xf32>
}
func.func @odd(%a: tensor<512x511xf16>, %b: tensor<511x512xf16>, %c: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %x = linalg.matmul {attune.schedule = #schedule.matmul<blockM = 32, numWarps = 2>} ins(%a, %b : tensor<512x511xf16>, tensor<511x512xf16>) outs(%c : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %x : tensor<512x512xf32>
}
func.func @attention(%q: tensor<2x4x512x64xf16>) -> tensor<2x4x512x64xf16> {
  %o = attn.attention %q, %q, %q schedule(<blockM = 64, blockN = 48>) : tensor<2x4x512x64xf16>, tensor<2x4x512x64xf16>, tensor<2x4x512x64xf16>
  return %o : tensor<2x4x512x64xf16>
}
}
