// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers of the reference where it rounds as an eager f16 framework does.
// Inputs are x[i0,i1,i2,i3] = ((5*i0 + 3*i1 + 7*i2 + 2*i3 + seed) mod 11 - 5) / 4
// with seeds 1, 2 and 3 for query, key and value. The numbers expected come
// from the formula in the op's description, evaluated in double precision by
// a program that shares nothing with this project.
//
// RUN: attune-opt %s --convert-attn-to-loops=precision=operand | mlir-opt %cpu_pipeline | mlir-runner %cpu_runner | FileCheck %s

func.func private @printMemrefF32(tensor<*xf32>)

func.func @fill(%sizes: tensor<4xindex>, %seed: index) -> tensor<?x?x?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %c7 = arith.constant 7 : index
  %c11 = arith.constant 11 : index
  %quarter = arith.constant 0.25 : f32
  %d0 = tensor.extract %sizes[%c0] : tensor<4xindex>
  %d1 = tensor.extract %sizes[%c1] : tensor<4xindex>
  %d2 = tensor.extract %sizes[%c2] : tensor<4xindex>
  %d3 = tensor.extract %sizes[%c3] : tensor<4xindex>
  %filled = tensor.generate %d0, %d1, %d2, %d3 {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    %a = arith.muli %i0, %c5 : index
    %b = arith.muli %i1, %c3 : index
    %c = arith.muli %i2, %c7 : index
    %d = arith.muli %i3, %c2 : index
    %ab = arith.addi %a, %b : index
    %cd = arith.addi %c, %d : index
    %abcd = arith.addi %ab, %cd : index
    %sum = arith.addi %abcd, %seed : index
    %mod = arith.remui %sum, %c11 : index
    %centred = arith.subi %mod, %c5 : index
    %int = arith.index_cast %centred : index to i32
    %float = arith.sitofp %int : i32 to f32
    %x = arith.mulf %float, %quarter : f32
    tensor.yield %x : f32
  } : tensor<?x?x?x?xf32>
  return %filled : tensor<?x?x?x?xf32>
}


func.func @eager_f16() {
  %qs = arith.constant dense<[1, 1, 2, 8]> : tensor<4xindex>
  %qseed = arith.constant 1 : index
  %qf = call @fill(%qs, %qseed) : (tensor<4xindex>, index) -> tensor<?x?x?x?xf32>
  %qh = arith.truncf %qf : tensor<?x?x?x?xf32> to tensor<?x?x?x?xf16>
  %q = tensor.cast %qh : tensor<?x?x?x?xf16> to tensor<1x1x2x8xf16>
  %ks = arith.constant dense<[1, 1, 3, 8]> : tensor<4xindex>
  %kseed = arith.constant 2 : index
  %kf = call @fill(%ks, %kseed) : (tensor<4xindex>, index) -> tensor<?x?x?x?xf32>
  %kh = arith.truncf %kf : tensor<?x?x?x?xf32> to tensor<?x?x?x?xf16>
  %k = tensor.cast %kh : tensor<?x?x?x?xf16> to tensor<1x1x3x8xf16>
  %vs = arith.constant dense<[1, 1, 3, 4]> : tensor<4xindex>
  %vseed = arith.constant 3 : index
  %vf = call @fill(%vs, %vseed) : (tensor<4xindex>, index) -> tensor<?x?x?x?xf32>
  %vh = arith.truncf %vf : tensor<?x?x?x?xf32> to tensor<?x?x?x?xf16>
  %v = tensor.cast %vh : tensor<?x?x?x?xf16> to tensor<1x1x3x4xf16>
  %o, %lse = attn.attention %q, %k, %v lse scale(0.3)
    : tensor<1x1x2x8xf16>, tensor<1x1x3x8xf16>, tensor<1x1x3x4xf16>
  %of = arith.extf %o : tensor<1x1x2x4xf16> to tensor<1x1x2x4xf32>
  %op = tensor.cast %of : tensor<1x1x2x4xf32> to tensor<*xf32>
  call @printMemrefF32(%op) : (tensor<*xf32>) -> ()
  %lp = tensor.cast %lse : tensor<1x1x2xf32> to tensor<*xf32>
  call @printMemrefF32(%lp) : (tensor<*xf32>) -> ()
  return
}
// CHECK: sizes = [1, 1, 2, 4]
// CHECK: [-0.186279,{{ *}}-0.0254{{[0-9]*}},{{ *}}0.474609,{{ *}}0.615723]
// CHECK: [0.802246,{{ *}}-0.477051,{{ *}}0.0228{{[0-9]*}},{{ *}}-0.0998535]
// CHECK: sizes = [1, 1, 2]
// CHECK: [1.5301{{[0-9]*}},{{ *}}1.3167{{[0-9]*}}]

func.func @main() {
  call @eager_f16() : () -> ()
  return
}
