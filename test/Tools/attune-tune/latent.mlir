// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values that are a part of the keys: the function of a problem has one tensor
// for both.
//
// REQUIRES: attune-tune, attune-run
// RUN: attune-tune %s --chip=sm_90a --device=host --strategy=random --seed=3 --budget=6 --quiet | FileCheck %s
// RUN: attune-tune %s --chip=gfx942 --device=host --strategy=random --seed=3 --budget=4 --quiet | FileCheck %s

// CHECK: attention on {{sm_90a|gfx942}}: {{4|6}} of {{.*}} legal schedules tried
// CHECK: executed on the CPU: {{.*}}; {{4|6}} of these are right and have no fault
// CHECK-NOT: error
func.func @attention(%q: tensor<1x4x3x48xbf16>, %kv: tensor<1x1x70x48xbf16>) -> tensor<1x4x3x32xbf16> {
  %o = attn.attention %q, %kv, %kv latent(32) causal(bottom_right)
    : tensor<1x4x3x48xbf16>, tensor<1x1x70x48xbf16>, tensor<1x1x70x48xbf16>
  return %o : tensor<1x4x3x32xbf16>
}
