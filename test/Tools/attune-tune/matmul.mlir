// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each legal schedule of a small matmul, within few values of each knob, gives
// a kernel that is right and has no fault.
//
// REQUIRES: attune-tune
// DEFINE: %{blocks} = --only=block-k=32,stages=2,stages=3,raster-group=1,workgroups-per-sm=1,split-k=1,split-k=4
// DEFINE: %{tune} = attune-tune %s --device=host --quiet --everything %{blocks}
// RUN: %{tune} --chip=sm_80 --only=block-m=32,block-n=32,num-warps=1,num-warps=2 | FileCheck %s
// RUN: %{tune} --chip=sm_90a --only=block-m=64,block-n=32,mma-warps=4,producer-warps=4 | FileCheck %s
// RUN: %{tune} --chip=gfx942 --only=block-m=64,block-n=32,num-warps=1,num-warps=2 | FileCheck %s
// RUN: %{tune} --chip=gfx1100 --only=block-m=32,block-n=32,num-warps=1,num-warps=2 | FileCheck %s
//
// CHECK: matmul on {{.*}}: [[ALL:[0-9]+]] of [[ALL]] legal schedules tried
// CHECK: executed on the CPU: {{.*}} those of [[ALL]] schedules; [[ALL]] of these are right and have no fault
func.func @matmul(%a: tensor<72x104xbf16>, %b: tensor<104x40xbf16>, %bias: tensor<40xf32>) -> tensor<72x40xbf16> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<72x40xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<72x40xf32>) -> tensor<72x40xf32>
  %sums = linalg.matmul ins(%a, %b : tensor<72x104xbf16>, tensor<104x40xbf16>) outs(%init : tensor<72x40xf32>) -> tensor<72x40xf32>
  %out = tensor.empty() : tensor<72x40xbf16>
  %c = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%sums, %bias : tensor<72x40xf32>, tensor<40xf32>) outs(%out : tensor<72x40xbf16>) {
  ^bb0(%s: f32, %v: f32, %o: bf16):
    %x = arith.addf %s, %v : f32
    %t = arith.truncf %x : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<72x40xbf16>
  return %c : tensor<72x40xbf16>
}
