// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel that is wrong: its mask needs more than the 32 bits that index
// arithmetic in regions has.
!q = tensor<1x1x40x64xbf16>
!k = tensor<1x1x70x64xbf16>
func.func @wrong(%q: !q, %k: !k, %v: !k) -> !q {
  %million = arith.constant 1000000 : index
  %o = attn.attention %q, %k, %v
     mask (%b, %h, %m, %n) {
       %x = arith.muli %m, %million : index
       %y = arith.muli %n, %million : index
       %z = arith.muli %x, %y : index
       %zero = arith.constant 0 : index
       %visible = arith.cmpi sge, %z, %zero : index
       attn.yield %visible : i1
     } : !q, !k, !k
  return %o : !q
}
