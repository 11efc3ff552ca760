// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What schedules cannot have where two columns are in a byte.
//
// RUN: attune-opt %s --verify-diagnostics --pass-pipeline="builtin.module(attune-attach-target{chip=sm_90a},attune-check-schedule)"

!q = tensor<1x1x64x64xf16>
!k = tensor<1x1x64x32xi8>

func.func @one_warp(%q: !q, %k: !k) -> !q {
  %o = attn.attention %q, %k, %k packed(key, value) schedule(<blockM = 64>) : !q, !k, !k
  return %o : !q
}
func.func @warpgroups(%q: !q, %k: !k) -> !q {
  // expected-error @below {{widening-for-warpgroups: expects mma-warps to be 1, or producer-warps to be at least 4, half of which widen, where keys of i8 are widened to f16, but got 4 and 0}}
  %o = attn.attention %q, %k, %k packed(key, value) schedule(<blockM = 64, mmaWarps = 4, qInRegisters = 0>) : !q, !k, !k
  return %o : !q
}
func.func @widened_for_warpgroups(%q: !q, %k: !k) -> !q {
  %o = attn.attention %q, %k, %k packed(key, value) schedule(<blockM = 64, mmaWarps = 4, producerWarps = 4, qInRegisters = 0>) : !q, !k, !k
  return %o : !q
}
func.func @shared_columns(%q: !q, %k: !k) -> !q {
  // expected-error @below {{packed-values-of-warps: expects warps-n to be 1 where values are packed, for a warp multiplies both parts of a byte, but got 2}}
  %o = attn.attention %q, %k, %k packed(key, value) schedule(<blockM = 64, warpsN = 2>) : !q, !k, !k
  return %o : !q
}
