// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers of the reference: heads, orders, sizes.
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


// Grouped heads, head sizes that differ, the default scale.
func.func @plain() {
  %qs = arith.constant dense<[2, 2, 2, 4]> : tensor<4xindex>
  %qseed = arith.constant 1 : index
  %qf = call @fill(%qs, %qseed) : (tensor<4xindex>, index) -> tensor<?x?x?x?xf32>
  %q = tensor.cast %qf : tensor<?x?x?x?xf32> to tensor<2x2x2x4xf32>
  %ks = arith.constant dense<[2, 1, 3, 4]> : tensor<4xindex>
  %kseed = arith.constant 2 : index
  %kf = call @fill(%ks, %kseed) : (tensor<4xindex>, index) -> tensor<?x?x?x?xf32>
  %k = tensor.cast %kf : tensor<?x?x?x?xf32> to tensor<2x1x3x4xf32>
  %vs = arith.constant dense<[2, 1, 3, 2]> : tensor<4xindex>
  %vseed = arith.constant 3 : index
  %vf = call @fill(%vs, %vseed) : (tensor<4xindex>, index) -> tensor<?x?x?x?xf32>
  %v = tensor.cast %vf : tensor<?x?x?x?xf32> to tensor<2x1x3x2xf32>
  %o, %lse = attn.attention %q, %k, %v lse
    : tensor<2x2x2x4xf32>, tensor<2x1x3x4xf32>, tensor<2x1x3x2xf32>
  %op = tensor.cast %o : tensor<2x2x2x2xf32> to tensor<*xf32>
  call @printMemrefF32(%op) : (tensor<*xf32>) -> ()
  %lp = tensor.cast %lse : tensor<2x2x2xf32> to tensor<*xf32>
  call @printMemrefF32(%lp) : (tensor<*xf32>) -> ()
  return
}
// CHECK: sizes = [2, 2, 2, 2]
// CHECK: [0.0609{{[0-9]*}},{{ *}}-0.0894{{[0-9]*}}]
// CHECK: [0.5068{{[0-9]*}},{{ *}}-0.0689{{[0-9]*}}]
// CHECK: [-0.0481{{[0-9]*}},{{ *}}0.0145{{[0-9]*}}]
// CHECK: [0.1058{{[0-9]*}},{{ *}}-0.1295{{[0-9]*}}]
// CHECK: [-0.0649{{[0-9]*}},{{ *}}0.435{{[0-9]*}}]
// CHECK: [-0.3144{{[0-9]*}},{{ *}}0.1855{{[0-9]*}}]
// CHECK: [-0.7518{{[0-9]*}},{{ *}}-0.2518{{[0-9]*}}]
// CHECK: [-0.0444{{[0-9]*}},{{ *}}0.4555{{[0-9]*}}]
// CHECK: sizes = [2, 2, 2]
// CHECK: [1.1917{{[0-9]*}},{{ *}}0.9697{{[0-9]*}}]
// CHECK: [1.1199{{[0-9]*}},{{ *}}1.2251{{[0-9]*}}]
// CHECK: [0.8748{{[0-9]*}},{{ *}}1.1008{{[0-9]*}}]
// CHECK: [1.7894{{[0-9]*}},{{ *}}0.8721{{[0-9]*}}]

// Another order of dimensions, an explicit scale.
func.func @transposed() {
  %qs = arith.constant dense<[2, 2, 4, 1]> : tensor<4xindex>
  %qseed = arith.constant 1 : index
  %qf = call @fill(%qs, %qseed) : (tensor<4xindex>, index) -> tensor<?x?x?x?xf32>
  %q = tensor.cast %qf : tensor<?x?x?x?xf32> to tensor<2x2x4x1xf32>
  %ks = arith.constant dense<[3, 2, 4, 1]> : tensor<4xindex>
  %kseed = arith.constant 2 : index
  %kf = call @fill(%ks, %kseed) : (tensor<4xindex>, index) -> tensor<?x?x?x?xf32>
  %k = tensor.cast %kf : tensor<?x?x?x?xf32> to tensor<3x2x4x1xf32>
  %vs = arith.constant dense<[3, 2, 3, 1]> : tensor<4xindex>
  %vseed = arith.constant 3 : index
  %vf = call @fill(%vs, %vseed) : (tensor<4xindex>, index) -> tensor<?x?x?x?xf32>
  %v = tensor.cast %vf : tensor<?x?x?x?xf32> to tensor<3x2x3x1xf32>
  %o, %lse = attn.attention %q, %k, %v lse scale(1.0) order(shdb)
    : tensor<2x2x4x1xf32>, tensor<3x2x4x1xf32>, tensor<3x2x3x1xf32>
  %op = tensor.cast %o : tensor<2x2x3x1xf32> to tensor<*xf32>
  call @printMemrefF32(%op) : (tensor<*xf32>) -> ()
  %lp = tensor.cast %lse : tensor<1x2x2xf32> to tensor<*xf32>
  call @printMemrefF32(%lp) : (tensor<*xf32>) -> ()
  return
}
// CHECK: sizes = [2, 2, 3, 1]
// CHECK: [-0.6441{{[0-9]*}}]
// CHECK: [1.0905{{[0-9]*}}]
// CHECK: [0.0905{{[0-9]*}}]
// CHECK: [0.0808{{[0-9]*}}]
// CHECK: [-0.8764{{[0-9]*}}]
// CHECK: [0.8308{{[0-9]*}}]
// CHECK: [0.5947{{[0-9]*}}]
// CHECK: [-0.0929{{[0-9]*}}]
// CHECK: [-1.0929{{[0-9]*}}]
// CHECK: [-1.1892{{[0-9]*}}]
// CHECK: [0.4403{{[0-9]*}}]
// CHECK: [-0.4392{{[0-9]*}}]
// CHECK: sizes = [1, 2, 2]
// CHECK: [3.6912{{[0-9]*}},{{ *}}1.8705{{[0-9]*}}]
// CHECK: [2.6637{{[0-9]*}},{{ *}}2.7947{{[0-9]*}}]

// Every size but the head sizes is known at run time only.
func.func @dynamic() {
  %qs = arith.constant dense<[1, 2, 3, 4]> : tensor<4xindex>
  %qseed = arith.constant 1 : index
  %qf = call @fill(%qs, %qseed) : (tensor<4xindex>, index) -> tensor<?x?x?x?xf32>
  %q = tensor.cast %qf : tensor<?x?x?x?xf32> to tensor<?x?x?x4xf32>
  %ks = arith.constant dense<[1, 1, 2, 4]> : tensor<4xindex>
  %kseed = arith.constant 2 : index
  %kf = call @fill(%ks, %kseed) : (tensor<4xindex>, index) -> tensor<?x?x?x?xf32>
  %k = tensor.cast %kf : tensor<?x?x?x?xf32> to tensor<?x?x?x4xf32>
  %vs = arith.constant dense<[1, 1, 2, 2]> : tensor<4xindex>
  %vseed = arith.constant 3 : index
  %vf = call @fill(%vs, %vseed) : (tensor<4xindex>, index) -> tensor<?x?x?x?xf32>
  %v = tensor.cast %vf : tensor<?x?x?x?xf32> to tensor<?x?x?x2xf32>
  %o, %lse = attn.attention %q, %k, %v lse
    : tensor<?x?x?x4xf32>, tensor<?x?x?x4xf32>, tensor<?x?x?x2xf32>
  %op = tensor.cast %o : tensor<?x?x?x2xf32> to tensor<*xf32>
  call @printMemrefF32(%op) : (tensor<*xf32>) -> ()
  %lp = tensor.cast %lse : tensor<?x?x?xf32> to tensor<*xf32>
  call @printMemrefF32(%lp) : (tensor<*xf32>) -> ()
  return
}
// CHECK: sizes = [1, 2, 3, 2]
// CHECK: [0.0148{{[0-9]*}},{{ *}}-0.2942{{[0-9]*}}]
// CHECK: [0.7004{{[0-9]*}},{{ *}}-0.6859{{[0-9]*}}]
// CHECK: [-0.1379{{[0-9]*}},{{ *}}-0.206{{[0-9]*}}]
// CHECK: [-0.1379{{[0-9]*}},{{ *}}-0.206{{[0-9]*}}]
// CHECK: [0.0734{{[0-9]*}},{{ *}}-0.3276{{[0-9]*}}]
// CHECK: [0.7575{{[0-9]*}},{{ *}}-0.718{{[0-9]*}}]
// CHECK: sizes = [1, 2, 3]
// CHECK: [0.9734{{[0-9]*}},{{ *}}0.408{{[0-9]*}},{{ *}}0.856{{[0-9]*}}]
// CHECK: [0.856{{[0-9]*}},{{ *}}1.02{{[0-9]*}},{{ *}}0.5179{{[0-9]*}}]

func.func @main() {
  call @plain() : () -> ()
  call @transposed() : () -> ()
  call @dynamic() : () -> ()
  return
}
