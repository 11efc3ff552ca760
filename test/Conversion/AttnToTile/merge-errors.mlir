// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_80" --convert-attn-to-tile --verify-diagnostics

func.func @no_schedule(%o: tensor<2x16x1x64xf16>, %lse: tensor<2x16x1xf32>) -> tensor<2x16x1x64xf16> {
  // expected-error @below {{expects a schedule; run attune-set-schedule or attune-select-schedule first}}
  %r = attn.merge %o lses(%lse : tensor<2x16x1xf32>) : tensor<2x16x1x64xf16> -> tensor<2x16x1x64xf16>
  return %r : tensor<2x16x1x64xf16>
}
