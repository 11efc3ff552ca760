// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX compares no bf16 with '.ftz', into which LLVM folds a comparison of what was widened.
//
// REQUIRES: ptxas
// RUN: attune-opt %s --attune-compile="chip=sm_90 format=isa" --emit-assembly > %t.ptx
// RUN: FileCheck %s < %t.ptx
// RUN: ptxas -arch=sm_90 %t.ptx -o %t.cubin
// CHECK-NOT: setp{{.*}}bf16
!t = tensor<1x1x64x64xbf16>
func.func @compares(%q: !t, %bias: tensor<64x64xbf16>) -> !t {
  %o = attn.attention %q, %q, %q score (%s, %b, %h, %m, %n) {
    %zero = arith.constant 0.0 : f32
    %x = tensor.extract %bias[%m, %n] : tensor<64x64xbf16>
    %f = arith.extf %x : bf16 to f32
    %is = arith.cmpf ogt, %f, %zero : f32
    %r = arith.select %is, %s, %zero : f32
    attn.yield %r : f32
  } : !t, !t, !t -> !t
  return %o : !t
}
