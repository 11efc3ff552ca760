// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keys, of 4 bits with zero points and rotated, and values, which one kernel appends, executed and compared to the reference. All checks
// are on. Twenty heads are more than a workgroup has.
//
// RUN: attune-run %s --device=host --chip=sm_90a | FileCheck %s
// RUN: attune-run %s --device=host --chip=sm_80 --schedule="num-warps=1" | FileCheck %s
// RUN: attune-run %s --device=host --chip=gfx942 --host-seed=2 | FileCheck %s
// RUN: attune-run %s --device=host --chip=gfx1100 --schedule="num-warps=2" | FileCheck %s
// RUN: attune-bisect %s --chip=sm_90a | FileCheck %s --check-prefix=BISECT
//
// CHECK: device    host executor
// CHECK-NEXT: right     result 0: error
// CHECK-NEXT: right     result 1 (scales): error
// CHECK-NEXT: right     result 2 (zeros): error
// CHECK-NEXT: right     result 3: error
// BISECT: no pass is wrong: {{[0-9]+}} modules are right, 0 cannot be run

func.func @append(%k: tensor<17x20x64xbf16>, %v: tensor<17x20x96xbf16>, %slots: tensor<17xi64>, %cos: tensor<512x16xf32>, %sin: tensor<512x16xf32>,
                  %positions: tensor<17xi32>, %keys: tensor<4x16x20x32xi8>, %ks: tensor<4x16x20x1xf32>, %kz: tensor<4x16x20x1xf32>,
                  %values: tensor<4x16x20x96xf16>)
    -> (tensor<4x16x20x32xi8>, tensor<4x16x20x1xf32>, tensor<4x16x20x1xf32>, tensor<4x16x20x96xf16>) {
  %p, %s, %z = attn.append %k to %keys at %slots rotary(%cos, %sin, %positions : tensor<512x16xf32>, tensor<512x16xf32>, tensor<17xi32>) packed
    row_scales(%ks : tensor<4x16x20x1xf32>) row_zeros(%kz : tensor<4x16x20x1xf32>) : tensor<17x20x64xbf16>, tensor<4x16x20x32xi8>, tensor<17xi64>
  %w = attn.append %v to %values at %slots : tensor<17x20x96xbf16>, tensor<4x16x20x96xf16>, tensor<17xi64>
  return %p, %s, %z, %w : tensor<4x16x20x32xi8>, tensor<4x16x20x1xf32>, tensor<4x16x20x1xf32>, tensor<4x16x20x96xf16>
}
