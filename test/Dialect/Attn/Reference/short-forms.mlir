// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers of the reference: short forms and sinks.
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


// The first two queries see no key: 0 and -inf.
func.func @causal_bottom_right() {
  %qs = arith.constant dense<[1, 1, 4, 4]> : tensor<4xindex>
  %qseed = arith.constant 1 : index
  %qf = call @fill(%qs, %qseed) : (tensor<4xindex>, index) -> tensor<?x?x?x?xf32>
  %q = tensor.cast %qf : tensor<?x?x?x?xf32> to tensor<1x1x4x4xf32>
  %ks = arith.constant dense<[1, 1, 2, 4]> : tensor<4xindex>
  %kseed = arith.constant 2 : index
  %kf = call @fill(%ks, %kseed) : (tensor<4xindex>, index) -> tensor<?x?x?x?xf32>
  %k = tensor.cast %kf : tensor<?x?x?x?xf32> to tensor<1x1x2x4xf32>
  %vs = arith.constant dense<[1, 1, 2, 2]> : tensor<4xindex>
  %vseed = arith.constant 3 : index
  %vf = call @fill(%vs, %vseed) : (tensor<4xindex>, index) -> tensor<?x?x?x?xf32>
  %v = tensor.cast %vf : tensor<?x?x?x?xf32> to tensor<1x1x2x2xf32>
  %o, %lse = attn.attention %q, %k, %v lse causal(bottom_right)
    : tensor<1x1x4x4xf32>, tensor<1x1x2x4xf32>, tensor<1x1x2x2xf32>
  %op = tensor.cast %o : tensor<1x1x4x2xf32> to tensor<*xf32>
  call @printMemrefF32(%op) : (tensor<*xf32>) -> ()
  %lp = tensor.cast %lse : tensor<1x1x4xf32> to tensor<*xf32>
  call @printMemrefF32(%lp) : (tensor<*xf32>) -> ()
  return
}
// CHECK: sizes = [1, 1, 4, 2]
// CHECK: [{{-?}}0,{{ *}}{{-?}}0]
// CHECK: [{{-?}}0,{{ *}}{{-?}}0]
// CHECK: [-0.5,{{ *}}{{-?}}0]
// CHECK: [0.0734{{[0-9]*}},{{ *}}-0.3276{{[0-9]*}}]
// CHECK: sizes = [1, 1, 4]
// CHECK: [-inf,{{ *}}-inf,{{ *}}0.625,{{ *}}1.02{{[0-9]*}}]

func.func @causal_top_left_dynamic() {
  %qs = arith.constant dense<[1, 1, 2, 4]> : tensor<4xindex>
  %qseed = arith.constant 1 : index
  %qf = call @fill(%qs, %qseed) : (tensor<4xindex>, index) -> tensor<?x?x?x?xf32>
  %q = tensor.cast %qf : tensor<?x?x?x?xf32> to tensor<?x?x?x4xf32>
  %ks = arith.constant dense<[1, 1, 4, 4]> : tensor<4xindex>
  %kseed = arith.constant 2 : index
  %kf = call @fill(%ks, %kseed) : (tensor<4xindex>, index) -> tensor<?x?x?x?xf32>
  %k = tensor.cast %kf : tensor<?x?x?x?xf32> to tensor<?x?x?x4xf32>
  %vs = arith.constant dense<[1, 1, 4, 2]> : tensor<4xindex>
  %vseed = arith.constant 3 : index
  %vf = call @fill(%vs, %vseed) : (tensor<4xindex>, index) -> tensor<?x?x?x?xf32>
  %v = tensor.cast %vf : tensor<?x?x?x?xf32> to tensor<?x?x?x2xf32>
  %o, %lse = attn.attention %q, %k, %v lse causal(top_left)
    : tensor<?x?x?x4xf32>, tensor<?x?x?x4xf32>, tensor<?x?x?x2xf32>
  %op = tensor.cast %o : tensor<?x?x?x2xf32> to tensor<*xf32>
  call @printMemrefF32(%op) : (tensor<*xf32>) -> ()
  %lp = tensor.cast %lse : tensor<?x?x?xf32> to tensor<*xf32>
  call @printMemrefF32(%lp) : (tensor<*xf32>) -> ()
  return
}
// CHECK: sizes = [1, 1, 2, 2]
// CHECK: [-0.5,{{ *}}{{-?}}0]
// CHECK: [0.7004{{[0-9]*}},{{ *}}-0.6859{{[0-9]*}}]
// CHECK: sizes = [1, 1, 2]
// CHECK: [0.625,{{ *}}0.408{{[0-9]*}}]

func.func @window() {
  %qs = arith.constant dense<[1, 1, 4, 4]> : tensor<4xindex>
  %qseed = arith.constant 1 : index
  %qf = call @fill(%qs, %qseed) : (tensor<4xindex>, index) -> tensor<?x?x?x?xf32>
  %q = tensor.cast %qf : tensor<?x?x?x?xf32> to tensor<?x?x?x4xf32>
  %ks = arith.constant dense<[1, 1, 6, 4]> : tensor<4xindex>
  %kseed = arith.constant 2 : index
  %kf = call @fill(%ks, %kseed) : (tensor<4xindex>, index) -> tensor<?x?x?x?xf32>
  %k = tensor.cast %kf : tensor<?x?x?x?xf32> to tensor<?x?x?x4xf32>
  %vs = arith.constant dense<[1, 1, 6, 2]> : tensor<4xindex>
  %vseed = arith.constant 3 : index
  %vf = call @fill(%vs, %vseed) : (tensor<4xindex>, index) -> tensor<?x?x?x?xf32>
  %v = tensor.cast %vf : tensor<?x?x?x?xf32> to tensor<?x?x?x2xf32>
  %o, %lse = attn.attention %q, %k, %v lse window(1, 0, bottom_right)
    : tensor<?x?x?x4xf32>, tensor<?x?x?x4xf32>, tensor<?x?x?x2xf32>
  %op = tensor.cast %o : tensor<?x?x?x2xf32> to tensor<*xf32>
  call @printMemrefF32(%op) : (tensor<*xf32>) -> ()
  %lp = tensor.cast %lse : tensor<?x?x?xf32> to tensor<*xf32>
  call @printMemrefF32(%lp) : (tensor<*xf32>) -> ()
  return
}
// CHECK: sizes = [1, 1, 4, 2]
// CHECK: [0.7967{{[0-9]*}},{{ *}}-0.2067{{[0-9]*}}]
// CHECK: [-0.031{{[0-9]*}},{{ *}}0.468{{[0-9]*}}]
// CHECK: [-0.2793{{[0-9]*}},{{ *}}-0.5189{{[0-9]*}}]
// CHECK: [0.2689{{[0-9]*}},{{ *}}0.0293{{[0-9]*}}]
// CHECK: sizes = [1, 1, 4]
// CHECK: [0.3537{{[0-9]*}},{{ *}}0.4554{{[0-9]*}},{{ *}}0.6882{{[0-9]*}},{{ *}}0.4382{{[0-9]*}}]

// ALiBi is added to what softcap leaves.
func.func @softcap_alibi() {
  %qs = arith.constant dense<[1, 2, 2, 4]> : tensor<4xindex>
  %qseed = arith.constant 1 : index
  %qf = call @fill(%qs, %qseed) : (tensor<4xindex>, index) -> tensor<?x?x?x?xf32>
  %q = tensor.cast %qf : tensor<?x?x?x?xf32> to tensor<1x2x2x4xf32>
  %ks = arith.constant dense<[1, 1, 3, 4]> : tensor<4xindex>
  %kseed = arith.constant 2 : index
  %kf = call @fill(%ks, %kseed) : (tensor<4xindex>, index) -> tensor<?x?x?x?xf32>
  %k = tensor.cast %kf : tensor<?x?x?x?xf32> to tensor<1x1x3x4xf32>
  %vs = arith.constant dense<[1, 1, 3, 2]> : tensor<4xindex>
  %vseed = arith.constant 3 : index
  %vf = call @fill(%vs, %vseed) : (tensor<4xindex>, index) -> tensor<?x?x?x?xf32>
  %v = tensor.cast %vf : tensor<?x?x?x?xf32> to tensor<1x1x3x2xf32>
  %slopes = arith.constant dense<[0.5, 0.25]> : tensor<2xf32>
  %o, %lse = attn.attention %q, %k, %v lse softcap(3.0) alibi(%slopes : tensor<2xf32>)
    : tensor<1x2x2x4xf32>, tensor<1x1x3x4xf32>, tensor<1x1x3x2xf32>
  %op = tensor.cast %o : tensor<1x2x2x2xf32> to tensor<*xf32>
  call @printMemrefF32(%op) : (tensor<*xf32>) -> ()
  %lp = tensor.cast %lse : tensor<1x2x2xf32> to tensor<*xf32>
  call @printMemrefF32(%lp) : (tensor<*xf32>) -> ()
  return
}
// CHECK: sizes = [1, 2, 2, 2]
// CHECK: [0.2225{{[0-9]*}},{{ *}}-0.2111{{[0-9]*}}]
// CHECK: [0.5049{{[0-9]*}},{{ *}}0.1157{{[0-9]*}}]
// CHECK: [0.0139{{[0-9]*}},{{ *}}-0.031{{[0-9]*}}]
// CHECK: [0.1958{{[0-9]*}},{{ *}}-0.0967{{[0-9]*}}]
// CHECK: sizes = [1, 2, 2]
// CHECK: [0.8308{{[0-9]*}},{{ *}}0.6602{{[0-9]*}}]
// CHECK: [0.9119{{[0-9]*}},{{ *}}0.9003{{[0-9]*}}]

// The first query sees only the sink: 0 and the sink.
func.func @sinks() {
  %qs = arith.constant dense<[1, 2, 3, 4]> : tensor<4xindex>
  %qseed = arith.constant 1 : index
  %qf = call @fill(%qs, %qseed) : (tensor<4xindex>, index) -> tensor<?x?x?x?xf32>
  %q = tensor.cast %qf : tensor<?x?x?x?xf32> to tensor<1x2x3x4xf32>
  %ks = arith.constant dense<[1, 1, 2, 4]> : tensor<4xindex>
  %kseed = arith.constant 2 : index
  %kf = call @fill(%ks, %kseed) : (tensor<4xindex>, index) -> tensor<?x?x?x?xf32>
  %k = tensor.cast %kf : tensor<?x?x?x?xf32> to tensor<1x1x2x4xf32>
  %vs = arith.constant dense<[1, 1, 2, 2]> : tensor<4xindex>
  %vseed = arith.constant 3 : index
  %vf = call @fill(%vs, %vseed) : (tensor<4xindex>, index) -> tensor<?x?x?x?xf32>
  %v = tensor.cast %vf : tensor<?x?x?x?xf32> to tensor<1x1x2x2xf32>
  %sinks = arith.constant dense<[0.75, -1.5]> : tensor<2xf32>
  %o, %lse = attn.attention %q, %k, %v lse causal(bottom_right) sinks(%sinks : tensor<2xf32>)
    : tensor<1x2x3x4xf32>, tensor<1x1x2x4xf32>, tensor<1x1x2x2xf32>
  %op = tensor.cast %o : tensor<1x2x3x2xf32> to tensor<*xf32>
  call @printMemrefF32(%op) : (tensor<*xf32>) -> ()
  %lp = tensor.cast %lse : tensor<1x2x3xf32> to tensor<*xf32>
  call @printMemrefF32(%lp) : (tensor<*xf32>) -> ()
  return
}
// CHECK: sizes = [1, 2, 3, 2]
// CHECK: [{{-?}}0,{{ *}}{{-?}}0]
// CHECK: [-0.0912{{[0-9]*}},{{ *}}{{-?}}0]
// CHECK: [-0.0726{{[0-9]*}},{{ *}}-0.1089{{[0-9]*}}]
// CHECK: [{{-?}}0,{{ *}}{{-?}}0]
// CHECK: [-0.4466{{[0-9]*}},{{ *}}{{-?}}0]
// CHECK: [0.6686{{[0-9]*}},{{ *}}-0.6342{{[0-9]*}}]
// CHECK: sizes = [1, 2, 3]
// CHECK: [0.75,{{ *}}0.9514{{[0-9]*}},{{ *}}1.4979{{[0-9]*}}]
// CHECK: [-1.5,{{ *}}0.7378{{[0-9]*}},{{ *}}0.6427{{[0-9]*}}]

func.func @main() {
  call @causal_bottom_right() : () -> ()
  call @causal_top_left_dynamic() : () -> ()
  call @window() : () -> ()
  call @softcap_alibi() : () -> ()
  call @sinks() : () -> ()
  return
}
