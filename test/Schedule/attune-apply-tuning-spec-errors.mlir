// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: not attune-opt %s --attune-attach-target=chip=sm_90a --attune-apply-tuning-spec=specs=%t.none 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: {{.*}}could not open input file
// NONE: error: cannot read the tuning spec '{{.*}}none'
// RUN: not attune-opt %s --attune-attach-target=chip=sm_90a --attune-apply-tuning-spec=specs=%s 2>&1 | FileCheck %s --check-prefix=CHIP
// CHIP: attune-apply-tuning-spec-errors.mlir:{{[0-9]+}}:1: error: expects a tuning spec to name its chip in 'attune.tuned_for'
// RUN: not attune-opt %s --attune-apply-tuning-spec=specs=%S/Inputs/spec.mlir 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: error: expects a 'tile.target' attribute

module {
  func.func @f(%q: tensor<2x4x512x64xf16>) -> tensor<2x4x512x64xf16> {
    %o = attn.attention %q, %q, %q : tensor<2x4x512x64xf16>, tensor<2x4x512x64xf16>, tensor<2x4x512x64xf16>
    return %o : tensor<2x4x512x64xf16>
  }
}
