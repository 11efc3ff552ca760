// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gradients have no model that would rank their schedules: these are tried by the search alone.
//
// REQUIRES: attune-tune, ptxas
// RUN: attune-tune %s --chip=sm_80 --device=none --budget=2 2> /dev/null | FileCheck %s
// CHECK: gradient on sm_80: 2 of {{[0-9]+}} legal schedules tried
// CHECK: default schedule: rank
!t = tensor<1x1x64x64xf16>
func.func @gradient(%q: !t, %lse: tensor<1x1x64xf32>) -> !t {
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(key) : !t, !t, !t, !t, tensor<1x1x64xf32>, !t
  return %g : !t
}
