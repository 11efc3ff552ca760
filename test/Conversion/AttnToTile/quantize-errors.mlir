// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_80" --convert-attn-to-tile --verify-diagnostics

func.func @no_schedule(%x: tensor<2x16x9x64xf16>) -> tensor<2x16x9x64xf8E4M3FN> {
  // expected-error @below {{expects a schedule; run attune-set-schedule or attune-select-schedule first}}
  %y, %s = attn.quantize %x : tensor<2x16x9x64xf16> -> tensor<2x16x9x64xf8E4M3FN>, tensor<2x16x9x1xf32>
  return %y : tensor<2x16x9x64xf8E4M3FN>
}
