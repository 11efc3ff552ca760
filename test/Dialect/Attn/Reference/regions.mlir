// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers of the reference: score and mask regions.
// Inputs are x[i0,i1,i2,i3] = ((5*i0 + 3*i1 + 7*i2 + 2*i3 + seed) mod 11 - 5) / 4
// with seeds 1, 2 and 3 for query, key and value. The numbers expected come
// from the formula in the op's description, evaluated in double precision by
// a program that shares nothing with this project.
//
// RUN: attune-opt %s --convert-attn-to-loops | mlir-opt %cpu_pipeline | mlir-runner %cpu_runner | FileCheck %s

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


// A captured tensor in the mask, together with a short form.
func.func @documents() {
  %qs = arith.constant dense<[2, 1, 3, 4]> : tensor<4xindex>
  %qseed = arith.constant 1 : index
  %qf = call @fill(%qs, %qseed) : (tensor<4xindex>, index) -> tensor<?x?x?x?xf32>
  %q = tensor.cast %qf : tensor<?x?x?x?xf32> to tensor<2x1x3x4xf32>
  %ks = arith.constant dense<[2, 1, 3, 4]> : tensor<4xindex>
  %kseed = arith.constant 2 : index
  %kf = call @fill(%ks, %kseed) : (tensor<4xindex>, index) -> tensor<?x?x?x?xf32>
  %k = tensor.cast %kf : tensor<?x?x?x?xf32> to tensor<2x1x3x4xf32>
  %vs = arith.constant dense<[2, 1, 3, 2]> : tensor<4xindex>
  %vseed = arith.constant 3 : index
  %vf = call @fill(%vs, %vseed) : (tensor<4xindex>, index) -> tensor<?x?x?x?xf32>
  %v = tensor.cast %vf : tensor<?x?x?x?xf32> to tensor<2x1x3x2xf32>
  %doc = arith.constant dense<[[0, 0, 1], [0, 1, 1]]> : tensor<2x3xi32>
  %o, %lse = attn.attention %q, %k, %v lse causal(top_left) mask (%b, %h, %m, %n) {
    %dm = tensor.extract %doc[%b, %m] : tensor<2x3xi32>
    %dn = tensor.extract %doc[%b, %n] : tensor<2x3xi32>
    %same = arith.cmpi eq, %dm, %dn : i32
    attn.yield %same : i1
  }
    : tensor<2x1x3x4xf32>, tensor<2x1x3x4xf32>, tensor<2x1x3x2xf32>
  %op = tensor.cast %o : tensor<2x1x3x2xf32> to tensor<*xf32>
  call @printMemrefF32(%op) : (tensor<*xf32>) -> ()
  %lp = tensor.cast %lse : tensor<2x1x3xf32> to tensor<*xf32>
  call @printMemrefF32(%lp) : (tensor<*xf32>) -> ()
  return
}
// CHECK: sizes = [2, 1, 3, 2]
// CHECK: [-0.5,{{ *}}{{-?}}0]
// CHECK: [0.7004{{[0-9]*}},{{ *}}-0.6859{{[0-9]*}}]
// CHECK: [0.25,{{ *}}0.75]
// CHECK: [0.75,{{ *}}1.25]
// CHECK: [-0.25,{{ *}}0.25]
// CHECK: [-1.13{{[0-9]*}},{{ *}}-0.63{{[0-9]*}}]
// CHECK: sizes = [2, 1, 3]
// CHECK: [0.625,{{ *}}0.408{{[0-9]*}},{{ *}}-0.34375]
// CHECK: [0.03125,{{ *}}0.625,{{ *}}1.5644{{[0-9]*}}]

// A score of -inf hides a key as a mask does.
func.func @score_hides() {
  %qs = arith.constant dense<[1, 1, 2, 4]> : tensor<4xindex>
  %qseed = arith.constant 1 : index
  %qf = call @fill(%qs, %qseed) : (tensor<4xindex>, index) -> tensor<?x?x?x?xf32>
  %q = tensor.cast %qf : tensor<?x?x?x?xf32> to tensor<1x1x2x4xf32>
  %ks = arith.constant dense<[1, 1, 2, 4]> : tensor<4xindex>
  %kseed = arith.constant 2 : index
  %kf = call @fill(%ks, %kseed) : (tensor<4xindex>, index) -> tensor<?x?x?x?xf32>
  %k = tensor.cast %kf : tensor<?x?x?x?xf32> to tensor<1x1x2x4xf32>
  %vs = arith.constant dense<[1, 1, 2, 2]> : tensor<4xindex>
  %vseed = arith.constant 3 : index
  %vf = call @fill(%vs, %vseed) : (tensor<4xindex>, index) -> tensor<?x?x?x?xf32>
  %v = tensor.cast %vf : tensor<?x?x?x?xf32> to tensor<1x1x2x2xf32>
  %o, %lse = attn.attention %q, %k, %v lse score (%s, %b, %h, %m, %n) {
    %one = arith.constant 1 : index
    %hidden = arith.constant 0xFF800000 : f32
    %half = arith.constant 0.5 : f32
    %is = arith.cmpi slt, %m, %one : index
    %ni = arith.index_cast %n : index to i32
    %nf = arith.sitofp %ni : i32 to f32
    %bias = arith.mulf %half, %nf : f32
    %biased = arith.addf %s, %bias : f32
    %y = arith.select %is, %hidden, %biased : f32
    attn.yield %y : f32
  }
    : tensor<1x1x2x4xf32>, tensor<1x1x2x4xf32>, tensor<1x1x2x2xf32>
  %op = tensor.cast %o : tensor<1x1x2x2xf32> to tensor<*xf32>
  call @printMemrefF32(%op) : (tensor<*xf32>) -> ()
  %lp = tensor.cast %lse : tensor<1x1x2xf32> to tensor<*xf32>
  call @printMemrefF32(%lp) : (tensor<*xf32>) -> ()
  return
}
// CHECK: sizes = [1, 1, 2, 2]
// CHECK: [{{-?}}0,{{ *}}{{-?}}0]
// CHECK: [0.8696{{[0-9]*}},{{ *}}-0.7826{{[0-9]*}}]
// CHECK: sizes = [1, 1, 2]
// CHECK: [-inf,{{ *}}0.776{{[0-9]*}}]

// tensor.dim of a capture, and a captured constant.
func.func @length() {
  %qs = arith.constant dense<[1, 1, 2, 4]> : tensor<4xindex>
  %qseed = arith.constant 1 : index
  %qf = call @fill(%qs, %qseed) : (tensor<4xindex>, index) -> tensor<?x?x?x?xf32>
  %q = tensor.cast %qf : tensor<?x?x?x?xf32> to tensor<?x?x?x4xf32>
  %ks = arith.constant dense<[1, 1, 3, 4]> : tensor<4xindex>
  %kseed = arith.constant 2 : index
  %kf = call @fill(%ks, %kseed) : (tensor<4xindex>, index) -> tensor<?x?x?x?xf32>
  %k = tensor.cast %kf : tensor<?x?x?x?xf32> to tensor<?x?x?x4xf32>
  %vs = arith.constant dense<[1, 1, 3, 2]> : tensor<4xindex>
  %vseed = arith.constant 3 : index
  %vf = call @fill(%vs, %vseed) : (tensor<4xindex>, index) -> tensor<?x?x?x?xf32>
  %v = tensor.cast %vf : tensor<?x?x?x?xf32> to tensor<?x?x?x2xf32>
  %lengths = arith.constant dense<[7, 9]> : tensor<2xi32>
  %last = arith.constant 2 : index
  %o, %lse = attn.attention %q, %k, %v lse mask (%b, %h, %m, %n) {
    %zero = arith.constant 0 : index
    %count = tensor.dim %lengths, %zero : tensor<2xi32>
    %inside = arith.cmpi slt, %n, %count : index
    %earlier = arith.cmpi ne, %n, %last : index
    %both = arith.andi %inside, %earlier : i1
    attn.yield %both : i1
  }
    : tensor<?x?x?x4xf32>, tensor<?x?x?x4xf32>, tensor<?x?x?x2xf32>
  %op = tensor.cast %o : tensor<?x?x?x2xf32> to tensor<*xf32>
  call @printMemrefF32(%op) : (tensor<*xf32>) -> ()
  %lp = tensor.cast %lse : tensor<?x?x?xf32> to tensor<*xf32>
  call @printMemrefF32(%lp) : (tensor<*xf32>) -> ()
  return
}
// CHECK: sizes = [1, 1, 2, 2]
// CHECK: [0.0148{{[0-9]*}},{{ *}}-0.2942{{[0-9]*}}]
// CHECK: [0.7004{{[0-9]*}},{{ *}}-0.6859{{[0-9]*}}]
// CHECK: sizes = [1, 1, 2]
// CHECK: [0.9734{{[0-9]*}},{{ *}}0.408{{[0-9]*}}]

func.func @main() {
  call @documents() : () -> ()
  call @score_hides() : () -> ()
  call @length() : () -> ()
  return
}
