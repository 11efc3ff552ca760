// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Instructions that are smaller than any block.
//
// RUN: attune-opt %s --attune-select-schedule --verify-diagnostics

#acc = #tile.layout<registers = [], lanes = [[2, 0, 1], [2, 1, 1]], warps = []>
#toy = #tile.target<chip = "toy", family = "Toy", lanes = 4, sms = 1, shared = 8192, shared_per_sm = 10240,
  registers = 64, registers_per_sm = 512, max_threads = 8, max_threads_per_sm = 12, copy_sync = none,
  copy_widths = [], mma = [#tile.mma_atom<name = "toy", m = 2, n = 2, k = 2, lhsType = f16, rhsType = f16, accType = f32,
  lhs = #acc, rhs = #acc, acc = #acc>]>
!t = tensor<1x1x64x16xf16>
!lse = tensor<1x1x64xf32>
module attributes {tile.target = #toy} {
  func.func @small_instructions(%q: !t, %lse: !lse) {
    // expected-error @below {{threads-overflow: expects at most 8 threads in a workgroup on 'toy', but got 16}}
    %g = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(key) : !t, !t, !t, !t, !lse, !t
    return
  }
}
