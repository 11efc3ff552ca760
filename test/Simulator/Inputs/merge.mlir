// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Three parts, of which tests replace the sizes and types.

!part = tensor<2x3x21x40xf16>
!out = tensor<2x3x21x40xf16>
!lse = tensor<2x3x21xf32>

func.func @merge(%o0: !part, %l0: !lse, %o1: !part, %l1: !lse, %o2: !part, %l2: !lse) -> (!out, !lse) {
  %o, %lse = attn.merge %o0, %o1, %o2 lses(%l0, %l1, %l2 : !lse, !lse, !lse) order(bhsd) : !part, !part, !part -> !out, !lse
  return %o, %lse : !out, !lse
}
