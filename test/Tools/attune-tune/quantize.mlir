// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every schedule of a quantization is right.
//
// REQUIRES: attune-tune
// RUN: attune-tune %s --device=host --chip=sm_90a --quiet --everything | FileCheck %s
// CHECK: quantize on sm_90a: 6 of 6 legal schedules tried
// CHECK: executed on the CPU: {{.*}} 6 of these are right and have no fault
func.func @quantize(%x: tensor<2x2x130x40xf16>) -> (tensor<2x2x130x40xf8E4M3FN>, tensor<2x2x3x1xf32>) {
  %y, %s = attn.quantize %x blocks [1, 1, 48, 1] : tensor<2x2x130x40xf16> -> tensor<2x2x130x40xf8E4M3FN>, tensor<2x2x3x1xf32>
  return %y, %s : tensor<2x2x130x40xf8E4M3FN>, tensor<2x2x3x1xf32>
}
