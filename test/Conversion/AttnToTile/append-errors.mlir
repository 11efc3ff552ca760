// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_80" --convert-attn-to-tile --verify-diagnostics

func.func @no_schedule(%x: tensor<9x8x64xf16>, %slots: tensor<9xi64>, %pool: tensor<4x16x8x64xf16>) -> tensor<4x16x8x64xf16> {
  // expected-error @below {{expects a schedule; run attune-set-schedule or attune-select-schedule first}}
  %p = attn.append %x to %pool at %slots : tensor<9x8x64xf16>, tensor<4x16x8x64xf16>, tensor<9xi64>
  return %p : tensor<4x16x8x64xf16>
}
