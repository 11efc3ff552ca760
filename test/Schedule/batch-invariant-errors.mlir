// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_90a" --attune-check-schedule --verify-diagnostics

!q = tensor<2x128x1x576xbf16>
!k = tensor<2x1x512x576xbf16>
!o = tensor<2x128x1x512xbf16>
func.func @shares(%q: !q, %k: !k, %n: tensor<2xi32>) -> !o {
  // expected-error @below {{shares-of-batches: expects split-k to be at least 1 with batch_invariant, for where equal shares end depends on other batches, but got 0}}
  %o = attn.attention %q, %k, %k key_lengths(%n : tensor<2xi32>) latent(512) batch_invariant
    schedule(<blockM = 64, numWarps = 12, mmaWarps = 4, producerWarps = 4, qInRegisters = 0, pInRegisters = 0, splitMasked = 0, persistent = static, warpsN = 2, splitK = 0>) : !q, !k, !k
  return %o : !o
}
func.func @votes(%q: !q, %k: !k, %n: tensor<2xi32>) -> !o {
  // expected-error @below {{rescaled-by-others: expects rescale to be 0 with batch_invariant, for any row of a tile decides for all, also one of another batch behind the last, but got 8}}
  %o = attn.attention %q, %k, %k key_lengths(%n : tensor<2xi32>) latent(512) batch_invariant
    schedule(<blockM = 64, numWarps = 12, mmaWarps = 4, producerWarps = 4, qInRegisters = 0, pInRegisters = 0, rescale = 8, warpsN = 2>) : !q, !k, !k
  return %o : !o
}
func.func @parts(%q: !q, %k: !k, %n: tensor<2xi32>) -> !o {
  %o = attn.attention %q, %k, %k key_lengths(%n : tensor<2xi32>) latent(512) batch_invariant
    schedule(<blockM = 64, numWarps = 12, mmaWarps = 4, producerWarps = 4, qInRegisters = 0, pInRegisters = 0, warpsN = 2, splitK = 4>) : !q, !k, !k
  return %o : !o
}
