// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What convert-attn-to-tile refuses.
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics --convert-attn-to-tile

!t = tensor<1x1x64x16xf16>
// expected-error @below {{expects a 'tile.target' attribute on the module; run attune-attach-target first}}
module {
  func.func @no_target(%q: !t) -> !t {
    %o = attn.attention %q, %q, %q schedule(<>) : !t, !t, !t
    return %o : !t
  }
}

// -----

#acc = #tile.layout<registers = [], lanes = [[2, 0, 1], [2, 1, 1]], warps = []>
#toy = #tile.target<chip = "toy", family = "Toy", lanes = 4, sms = 1, shared = 8192, shared_per_sm = 10240,
  registers = 64, registers_per_sm = 512, max_threads = 8, max_threads_per_sm = 12, copy_sync = none,
  copy_widths = [], mma = [#tile.mma_atom<name = "toy", m = 2, n = 2, k = 2, lhsType = f16, rhsType = f16, accType = f32,
  lhs = #acc, rhs = #acc, acc = #acc>]>
!t = tensor<1x1x64x16xf16>
module attributes {tile.target = #toy} {
  func.func @short_form(%q: !t) -> !t {
    // expected-error @below {{expects short forms to be expanded; run attn-expand-short-forms first}}
    %o = attn.attention %q, %q, %q causal(top_left) schedule(<>) : !t, !t, !t
    return %o : !t
  }
}

// -----

#acc = #tile.layout<registers = [], lanes = [[2, 0, 1], [2, 1, 1]], warps = []>
#toy = #tile.target<chip = "toy", family = "Toy", lanes = 4, sms = 1, shared = 8192, shared_per_sm = 10240,
  registers = 64, registers_per_sm = 512, max_threads = 8, max_threads_per_sm = 12, copy_sync = none,
  copy_widths = [], mma = [#tile.mma_atom<name = "toy", m = 2, n = 2, k = 2, lhsType = f16, rhsType = f16, accType = f32,
  lhs = #acc, rhs = #acc, acc = #acc>]>
!t = tensor<1x1x64x16xf16>
module attributes {tile.target = #toy} {
  func.func @no_schedule(%q: !t) -> !t {
    // expected-error @below {{expects a schedule; run attune-set-schedule or attune-select-schedule first}}
    %o = attn.attention %q, %q, %q : !t, !t, !t
    return %o : !t
  }
}

// -----

#acc = #tile.layout<registers = [], lanes = [[2, 0, 1], [2, 1, 1]], warps = []>
#toy = #tile.target<chip = "toy", family = "Toy", lanes = 4, sms = 1, shared = 8192, shared_per_sm = 10240,
  registers = 64, registers_per_sm = 512, max_threads = 8, max_threads_per_sm = 12, copy_sync = none,
  copy_widths = [], mma = [#tile.mma_atom<name = "toy", m = 2, n = 2, k = 2, lhsType = f16, rhsType = f16, accType = f32,
  lhs = #acc, rhs = #acc, acc = #acc>]>
!t = tensor<1x1x64x16xbf16>
module attributes {tile.target = #toy} {
  func.func @no_instruction(%q: !t) -> !t {
    // expected-error @below {{expects an element type that 'toy' has a matrix instruction for, but got 'bf16'}}
    %o = attn.attention %q, %q, %q schedule(<>) : !t, !t, !t
    return %o : !t
  }
}
