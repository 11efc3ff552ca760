// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows that do not lie densely: queries of two heads beside each other, each
// padded to 72 elements, and keys whose distance is known at run time only.

!q = tensor<1x2x70x64xbf16, #attn.strided<[10080, 72, 144, 1]>>
!kv = tensor<1x1x130x64xbf16, #attn.strided<[?, 64, ?, 1], divisor = 128>>
func.func @attention(%q: !q, %k: !kv, %v: !kv) -> tensor<1x2x70x64xbf16> {
  %o = attn.attention %q, %k, %v : !q, !kv, !kv -> tensor<1x2x70x64xbf16>
  return %o : tensor<1x2x70x64xbf16>
}
