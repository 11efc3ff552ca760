// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One tensor is keys and values, and its blocks are fetched once.

!q = tensor<1x2x70x64xbf16>
!kv = tensor<1x1x130x64xbf16>
func.func @attention(%q: !q, %kv: !kv) -> !q {
  %o = attn.attention %q, %kv, %kv : !q, !kv, !kv
  return %o : !q
}
