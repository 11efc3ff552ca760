// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Positions that were folded to constants, and parts that are put together element by element, as StableHLO's lowering
// leaves both.
//
// RUN: attune-opt %s --convert-linalg-to-attn | FileCheck %s
//
// In numbers.
// RUN: %python %S/Inputs/driver.py main %s > %t.main.mlir
// RUN: mlir-opt %t.main.mlir --transform-preload-library=transform-library-paths=%S/Inputs/decompose.mlir --transform-interpreter %cpu_pipeline | mlir-runner %cpu_runner > %t.before
// RUN: attune-opt %t.main.mlir --convert-linalg-to-attn --convert-attn-to-loops | mlir-opt %cpu_pipeline | mlir-runner %cpu_runner > %t.after
// RUN: %python %S/Inputs/driver.py compare %t.before %t.after 0.0001

#q = affine_map<(h, m, n, d) -> (h, m, d)>
#k = affine_map<(h, m, n, d) -> (h, n, d)>
#s = affine_map<(h, m, n, d) -> (h, m, n)>
#all = affine_map<(h, m, n) -> (h, m, n)>
#row = affine_map<(h, m, n) -> (m, 0)>
#column = affine_map<(h, m, n) -> (0, n)>
#q4 = affine_map<(b, h, m, n, d) -> (b, h, m, d)>
#k4 = affine_map<(b, h, m, n, d) -> (b, h, n, d)>
#s4 = affine_map<(b, h, m, n, d) -> (b, h, m, n)>
#all4 = affine_map<(b, h, m, n) -> (b, h, m, n)>
#head = affine_map<(b, h, m, n) -> (h)>

// A window of two keys behind the query, as jax.nn.dot_product_attention compares it: two tensors of positions.
// CHECK-LABEL: func.func @window
// CHECK: attn.attention %{{.+}}, %{{.+}}, %{{.+}} causal(top_left) window(2, ?, top_left) scale(1.000000e+00) :
// CHECK-NOT: linalg
func.func @window(%q: tensor<2x5x8xf32>, %k: tensor<2x5x8xf32>, %v: tensor<2x5x8xf32>) -> tensor<2x5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %rows = arith.constant dense<[[0], [1], [2], [3], [4]]> : tensor<5x1xi32>
  %columns = arith.constant dense<[[0, 1, 2, 3, 4]]> : tensor<1x5xi32>
  %se = tensor.empty() : tensor<2x5x5xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
  %dots = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<2x5x8xf32>, tensor<2x5x8xf32>) outs(%sf : tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
  %s = linalg.generic {indexing_maps = [#all, #row, #column, #all], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%dots, %rows, %columns : tensor<2x5x5xf32>, tensor<5x1xi32>, tensor<1x5xi32>) outs(%se : tensor<2x5x5xf32>) {
  ^bb0(%x: f32, %m: i32, %n: i32, %out: f32):
    %two = arith.constant 2 : i32
    %last = arith.addi %n, %two : i32
    %behind = arith.cmpi sge, %m, %n : i32
    %near = arith.cmpi sle, %m, %last : i32
    %sees = arith.andi %behind, %near : i1
    %y = arith.select %sees, %x, %low : f32
    linalg.yield %y : f32
  } -> tensor<2x5x5xf32>
  %w = linalg.softmax dimension(2) ins(%s : tensor<2x5x5xf32>) outs(%se : tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
  %oe = tensor.empty() : tensor<2x5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %o = linalg.batch_matmul ins(%w, %v : tensor<2x5x5xf32>, tensor<2x5x8xf32>) outs(%of : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  return %o : tensor<2x5x8xf32>
}

// Distances, a sum of both positions; numbers out of step are read as they are.
// CHECK-LABEL: func.func @differences
// CHECK: attn.attention %{{.+}}, %{{.+}}, %{{.+}} causal(top_left) scale(1.000000e+00) mask
// CHECK-NEXT: %[[ZERO:.+]] = arith.constant 0 : index
// CHECK-NEXT: %[[READ:.+]] = tensor.extract %{{.+}}[%[[ZERO]], %{{.+}}] : tensor<1x5xi32>
// CHECK-NOT: tensor.extract
// CHECK: attn.yield
func.func @differences(%q: tensor<2x5x8xf32>, %k: tensor<2x5x8xf32>, %v: tensor<2x5x8xf32>) -> tensor<2x5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %ahead = arith.constant dense<[[0, 1, 2, 3, 4], [-1, 0, 1, 2, 3], [-2, -1, 0, 1, 2], [-3, -2, -1, 0, 1], [-4, -3, -2, -1, 0]]> : tensor<5x5xi64>
  %odd = arith.constant dense<[[0, 1, 2, 3, 5]]> : tensor<1x5xi32>
  %se = tensor.empty() : tensor<2x5x5xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
  %dots = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<2x5x8xf32>, tensor<2x5x8xf32>) outs(%sf : tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
  %s = linalg.generic {indexing_maps = [#all, affine_map<(h, m, n) -> (m, n)>, #column, #all], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%dots, %ahead, %odd : tensor<2x5x5xf32>, tensor<5x5xi64>, tensor<1x5xi32>) outs(%se : tensor<2x5x5xf32>) {
  ^bb0(%x: f32, %a: i64, %n: i32, %out: f32):
    %none = arith.constant 0 : i64
    %three = arith.constant 3 : i32
    %behind = arith.cmpi sle, %a, %none : i64
    %other = arith.cmpi ne, %n, %three : i32
    %sees = arith.andi %behind, %other : i1
    %y = arith.select %sees, %x, %low : f32
    linalg.yield %y : f32
  } -> tensor<2x5x5xf32>
  %w = linalg.softmax dimension(2) ins(%s : tensor<2x5x5xf32>) outs(%se : tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
  %oe = tensor.empty() : tensor<2x5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %o = linalg.batch_matmul ins(%w, %v : tensor<2x5x5xf32>, tensor<2x5x8xf32>) outs(%of : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  return %o : tensor<2x5x8xf32>
}

// Sinks behind the scores: stablehlo.concatenate asks of which part each element is.
// CHECK-LABEL: func.func @sinks
// CHECK-SAME: %[[SINKS:[^:,]+]]: tensor<3xf32>)
// CHECK: attn.attention %{{.+}}, %{{.+}}, %{{.+}} sinks(%[[SINKS]] : tensor<3xf32>) scale(1.000000e+00) :
// CHECK-NOT: linalg
func.func @sinks(%q: tensor<2x3x5x8xf32>, %k: tensor<2x3x6x8xf32>, %v: tensor<2x3x6x8xf32>, %sinks: tensor<3xf32>) -> tensor<2x3x5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<2x3x5x6xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x3x5x6xf32>) -> tensor<2x3x5x6xf32>
  %s = linalg.contract indexing_maps = [#q4, #k4, #s4] ins(%q, %k : tensor<2x3x5x8xf32>, tensor<2x3x6x8xf32>) outs(%sf : tensor<2x3x5x6xf32>) -> tensor<2x3x5x6xf32>
  %ce = tensor.empty() : tensor<2x3x5x1xf32>
  %column = linalg.generic {indexing_maps = [#head, #all4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%sinks : tensor<3xf32>) outs(%ce : tensor<2x3x5x1xf32>) {
  ^bb0(%x: f32, %out: f32):
    linalg.yield %x : f32
  } -> tensor<2x3x5x1xf32>
  %we = tensor.empty() : tensor<2x3x5x7xf32>
  %wide = linalg.generic {indexing_maps = [#all4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%we : tensor<2x3x5x7xf32>) {
  ^bb0(%out: f32):
    %six = arith.constant 6 : index
    %b = linalg.index 0 : index
    %h = linalg.index 1 : index
    %m = linalg.index 2 : index
    %n = linalg.index 3 : index
    %is_score = arith.cmpi ult, %n, %six : index
    %y = scf.if %is_score -> (f32) {
      %score = tensor.extract %s[%b, %h, %m, %n] : tensor<2x3x5x6xf32>
      scf.yield %score : f32
    } else {
      %rest = arith.subi %n, %six : index
      %sink = tensor.extract %column[%b, %h, %m, %rest] : tensor<2x3x5x1xf32>
      scf.yield %sink : f32
    }
    linalg.yield %y : f32
  } -> tensor<2x3x5x7xf32>
  %ww = linalg.softmax dimension(3) ins(%wide : tensor<2x3x5x7xf32>) outs(%we : tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %w = tensor.extract_slice %ww[0, 0, 0, 0] [2, 3, 5, 6] [1, 1, 1, 1] : tensor<2x3x5x7xf32> to tensor<2x3x5x6xf32>
  %oe = tensor.empty() : tensor<2x3x5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x3x5x8xf32>) -> tensor<2x3x5x8xf32>
  %o = linalg.contract indexing_maps = [#s4, #k4, #q4] ins(%w, %v : tensor<2x3x5x6xf32>, tensor<2x3x6x8xf32>) outs(%of : tensor<2x3x5x8xf32>) -> tensor<2x3x5x8xf32>
  return %o : tensor<2x3x5x8xf32>
}

// A mask of zeros, and factors of one, leave no score region behind.
// CHECK-LABEL: func.func @zeros
// CHECK: attn.attention %{{.+}}, %{{.+}}, %{{.+}} scale(1.000000e+00) :
// CHECK-NOT: linalg
func.func @zeros(%q: tensor<2x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x8xf32>) -> tensor<2x5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %mask = arith.constant dense<0.0> : tensor<2x5x6xf32>
  %se = tensor.empty() : tensor<2x5x6xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %dots = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<2x5x8xf32>, tensor<2x6x8xf32>) outs(%sf : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %s = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%mask, %dots : tensor<2x5x6xf32>, tensor<2x5x6xf32>) outs(%se : tensor<2x5x6xf32>) {
  ^bb0(%a: f32, %x: f32, %out: f32):
    %one = arith.constant 1.0 : f32
    %sum = arith.addf %a, %x : f32
    %rest = arith.subf %sum, %a : f32
    %quotient = arith.divf %rest, %one : f32
    %y = arith.mulf %one, %quotient : f32
    linalg.yield %y : f32
  } -> tensor<2x5x6xf32>
  %w = linalg.softmax dimension(2) ins(%s : tensor<2x5x6xf32>) outs(%se : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %oe = tensor.empty() : tensor<2x5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %o = linalg.batch_matmul ins(%w, %v : tensor<2x5x6xf32>, tensor<2x6x8xf32>) outs(%of : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  return %o : tensor<2x5x8xf32>
}
