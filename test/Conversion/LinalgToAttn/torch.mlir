// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// As torch-mlir writes scaled_dot_product_attention on its way to linalg: batch and lengths are dynamic, heads are
// joined with the batch around linalg.batch_matmul, and the maximum comes with where it is.
//
// RUN: attune-opt %s --convert-linalg-to-attn | FileCheck %s
//
// In numbers; every unknown size is 3.
// unknown sizes: 3
// RUN: %python %S/Inputs/driver.py main %s > %t.main.mlir
// RUN: mlir-opt %t.main.mlir %cpu_pipeline | mlir-runner %cpu_runner > %t.before
// RUN: attune-opt %t.main.mlir --convert-linalg-to-attn --convert-attn-to-loops | mlir-opt %cpu_pipeline | mlir-runner %cpu_runner > %t.after
// RUN: %python %S/Inputs/driver.py compare %t.before %t.after 0.0001

#all = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#row = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#swap = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3, d2)>
#mask = affine_map<(d0, d1, d2, d3) -> (d0, 0, d2, d3)>

// CHECK-LABEL: func.func @sdpa
// CHECK-SAME: (%[[Q:.+]]: tensor<?x8x?x4xf32>, %[[K:.+]]: tensor<?x8x?x4xf32>, %[[V:.+]]: tensor<?x8x?x4xf32>, %[[MASK:.+]]: tensor<?x1x?x?xf32>)
// CHECK: %[[O:.+]] = attn.attention %[[Q]], %[[K]], %[[V]] score (%[[S:.+]], %[[B:.+]], %{{.+}}, %[[M:.+]], %[[N:.+]]) {
// CHECK-NEXT: %[[ZERO:.+]] = arith.constant 0 : index
// CHECK-NEXT: %[[BIAS:.+]] = tensor.extract %[[MASK]][%[[B]], %[[ZERO]], %[[M]], %[[N]]]
// CHECK-NEXT: %[[Y:.+]] = arith.addf %[[S]], %[[BIAS]]
// CHECK-NEXT: attn.yield %[[Y]]
// CHECK-NEXT: } : tensor<?x8x?x4xf32>, tensor<?x8x?x4xf32>, tensor<?x8x?x4xf32>
// CHECK-NOT: linalg
// CHECK: return %[[O]]
func.func @sdpa(%q: tensor<?x8x?x4xf32>, %k: tensor<?x8x?x4xf32>, %v: tensor<?x8x?x4xf32>, %mask: tensor<?x1x?x?xf32>) -> tensor<?x8x?x4xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %first = arith.constant 0 : i64
  %size = arith.constant 4.0 : f64
  %b = tensor.dim %q, %c0 : tensor<?x8x?x4xf32>
  %m = tensor.dim %q, %c2 : tensor<?x8x?x4xf32>
  %n = tensor.dim %k, %c2 : tensor<?x8x?x4xf32>
  %bh = arith.muli %b, %c8 : index
  %kte = tensor.empty(%b, %n) : tensor<?x8x4x?xf32>
  %kt = linalg.generic {indexing_maps = [#all, #swap], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%k : tensor<?x8x?x4xf32>) outs(%kte : tensor<?x8x4x?xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<?x8x4x?xf32>
  %q3 = tensor.collapse_shape %q [[0, 1], [2], [3]] : tensor<?x8x?x4xf32> into tensor<?x?x4xf32>
  %k3 = tensor.collapse_shape %kt [[0, 1], [2], [3]] : tensor<?x8x4x?xf32> into tensor<?x4x?xf32>
  %v3 = tensor.collapse_shape %v [[0, 1], [2], [3]] : tensor<?x8x?x4xf32> into tensor<?x?x4xf32>
  %s3e = tensor.empty(%bh, %m, %n) : tensor<?x?x?xf32>
  %s3f = linalg.fill ins(%zero : f32) outs(%s3e : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %s3 = linalg.batch_matmul ins(%q3, %k3 : tensor<?x?x4xf32>, tensor<?x4x?xf32>) outs(%s3f : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %s = tensor.expand_shape %s3 [[0, 1], [2], [3]] output_shape [%b, 8, %m, %n] : tensor<?x?x?xf32> into tensor<?x8x?x?xf32>
  %se = tensor.empty(%b, %m, %n) : tensor<?x8x?x?xf32>
  %scaled = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%s : tensor<?x8x?x?xf32>) outs(%se : tensor<?x8x?x?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %root = math.sqrt %size : f64
    %f = arith.truncf %root : f64 to f32
    %y = arith.divf %in, %f : f32
    linalg.yield %y : f32
  } -> tensor<?x8x?x?xf32>
  %added = linalg.generic {indexing_maps = [#all, #mask, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%scaled, %mask : tensor<?x8x?x?xf32>, tensor<?x1x?x?xf32>) outs(%se : tensor<?x8x?x?xf32>) {
  ^bb0(%in: f32, %x: f32, %out: f32):
    %y = arith.addf %in, %x : f32
    linalg.yield %y : f32
  } -> tensor<?x8x?x?xf32>
  %re = tensor.empty(%b, %m) : tensor<?x8x?x1xf32>
  %ie = tensor.empty(%b, %m) : tensor<?x8x?x1xi64>
  %rf = linalg.fill ins(%low : f32) outs(%re : tensor<?x8x?x1xf32>) -> tensor<?x8x?x1xf32>
  %if = linalg.fill ins(%first : i64) outs(%ie : tensor<?x8x?x1xi64>) -> tensor<?x8x?x1xi64>
  %max:2 = linalg.generic {indexing_maps = [#all, #row, #row], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%added : tensor<?x8x?x?xf32>) outs(%rf, %if : tensor<?x8x?x1xf32>, tensor<?x8x?x1xi64>) {
  ^bb0(%in: f32, %out: f32, %place: i64):
    %i = linalg.index 3 : index
    %j = arith.index_cast %i : index to i64
    %y = arith.maximumf %in, %out : f32
    %is = arith.cmpf ogt, %in, %out : f32
    %p = arith.select %is, %j, %place : i64
    linalg.yield %y, %p : f32, i64
  } -> (tensor<?x8x?x1xf32>, tensor<?x8x?x1xi64>)
  %shifted = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%added, %max#0 : tensor<?x8x?x?xf32>, tensor<?x8x?x1xf32>) outs(%se : tensor<?x8x?x?xf32>) {
  ^bb0(%in: f32, %x: f32, %out: f32):
    %y = arith.subf %in, %x : f32
    linalg.yield %y : f32
  } -> tensor<?x8x?x?xf32>
  %e = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%shifted : tensor<?x8x?x?xf32>) outs(%se : tensor<?x8x?x?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %y = math.exp %in : f32
    linalg.yield %y : f32
  } -> tensor<?x8x?x?xf32>
  %zf = linalg.fill ins(%zero : f32) outs(%re : tensor<?x8x?x1xf32>) -> tensor<?x8x?x1xf32>
  %sum = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%e : tensor<?x8x?x?xf32>) outs(%zf : tensor<?x8x?x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %y = arith.addf %in, %out : f32
    linalg.yield %y : f32
  } -> tensor<?x8x?x1xf32>
  %w = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%e, %sum : tensor<?x8x?x?xf32>, tensor<?x8x?x1xf32>) outs(%se : tensor<?x8x?x?xf32>) {
  ^bb0(%in: f32, %x: f32, %out: f32):
    %y = arith.divf %in, %x : f32
    linalg.yield %y : f32
  } -> tensor<?x8x?x?xf32>
  %w3 = tensor.collapse_shape %w [[0, 1], [2], [3]] : tensor<?x8x?x?xf32> into tensor<?x?x?xf32>
  %o3e = tensor.empty(%bh, %m) : tensor<?x?x4xf32>
  %o3f = linalg.fill ins(%zero : f32) outs(%o3e : tensor<?x?x4xf32>) -> tensor<?x?x4xf32>
  %o3 = linalg.batch_matmul ins(%w3, %v3 : tensor<?x?x?xf32>, tensor<?x?x4xf32>) outs(%o3f : tensor<?x?x4xf32>) -> tensor<?x?x4xf32>
  %o = tensor.expand_shape %o3 [[0, 1], [2], [3]] output_shape [%b, 8, %m, 4] : tensor<?x?x4xf32> into tensor<?x8x?x4xf32>
  return %o : tensor<?x8x?x4xf32>
}
