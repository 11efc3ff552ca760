// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where no schedule can be picked, the first reason is given.
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics --attune-select-schedule

!t = tensor<1x1x256x64xf16>

// expected-error @below {{expects a 'tile.target' attribute on the module; run attune-attach-target first}}
module {
func.func @no_target(%q: !t) -> !t {
  %o = attn.attention %q, %q, %q : !t, !t, !t
  return %o : !t
}
}

// -----

!t = tensor<1x1x256x64xf16>
module attributes {tile.target = #tile.target<chip = "toy", family = "Toy", lanes = 4, sms = 1, shared = 1,
  shared_per_sm = 1, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
func.func @no_instruction(%q: !t) -> !t {
  // expected-error @below {{no-matrix-instruction: expects an element type that 'toy' has a matrix instruction for, but got f16}}
  %o = attn.attention %q, %q, %q : !t, !t, !t
  return %o : !t
}
}
