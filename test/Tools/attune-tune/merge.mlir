// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every schedule of a merge is right.
//
// REQUIRES: attune-tune
// RUN: attune-tune %s --device=host --chip=sm_80 --quiet --everything | FileCheck %s
// CHECK: merge on sm_80: 6 of 6 legal schedules tried
// CHECK: executed on the CPU: {{.*}} 6 of these are right and have no fault
func.func @merge(%o0: tensor<2x2x130x40xf16>, %o1: tensor<2x2x130x40xf16>, %l0: tensor<2x2x130xf32>, %l1: tensor<2x2x130xf32>) -> (tensor<2x2x130x40xf16>, tensor<2x2x130xf32>) {
  %o, %lse = attn.merge %o0, %o1 lses(%l0, %l1 : tensor<2x2x130xf32>, tensor<2x2x130xf32>)
    : tensor<2x2x130x40xf16>, tensor<2x2x130x40xf16> -> tensor<2x2x130x40xf16>, tensor<2x2x130xf32>
  return %o, %lse : tensor<2x2x130x40xf16>, tensor<2x2x130xf32>
}
