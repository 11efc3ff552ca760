// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights of other types than queries.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(attune-attach-target{chip=sm_89},convert-attn-to-tile)" | FileCheck %s

// Weights of 8 bits are 64 times as large, with which the maximum may lag behind by 4, and so is their sum, of which the LSE is taken.
// CHECK-LABEL: gpu.func @narrow_weights_kernel
// CHECK: scf.for
// CHECK: tile.mma %{{.+}} transpose_rhs : <64x64xf8E5M2, registers>, <32x64xf8E5M2, registers>, <64x32xf32, registers>
// CHECK: arith.cmpf ogt, %{{.+}}, %cst{{.*}} : f32
// CHECK: arith.addf %{{.+}}, %[[BIAS:.+]] : f32
// CHECK: math.exp2
// CHECK: %[[NARROW:.+]] = arith.truncf %{{.+}} : f32 to f8E4M3FN
// CHECK: tile.mma %{{.+}} : <64x32xf8E4M3FN, registers>, <32x64xf8E5M2, registers>, <64x64xf32, registers>
// CHECK: math.log2
// CHECK-NEXT: arith.constant 6.000000e+00 : f32
// CHECK-NEXT: arith.subf
func.func @narrow_weights(%q: tensor<1x2x64x64xf8E5M2>) -> (tensor<1x2x64x64xbf16>, tensor<1x2x64xf32>) {
  %o, %lse = attn.attention %q, %q, %q lse weights(f8E4M3FN) schedule(<blockM = 64, blockN = 32, numWarps = 4, rescale = 8>)
    : tensor<1x2x64x64xf8E5M2>, tensor<1x2x64x64xf8E5M2>, tensor<1x2x64x64xf8E5M2>
  return %o, %lse : tensor<1x2x64x64xbf16>, tensor<1x2x64xf32>
}
