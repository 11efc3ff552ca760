// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parts of tensors whose sizes are not known: keys and values of a cache are the part that is cut, not the cache.
//
// RUN: attune-opt %s --convert-linalg-to-attn | FileCheck %s
//
// In numbers: a cache of 6 keys, of which 3 are used.
// unknown sizes: 6
// RUN: %python %S/Inputs/driver.py main %s > %t.main.mlir
// RUN: mlir-opt %t.main.mlir --transform-preload-library=transform-library-paths=%S/Inputs/decompose.mlir --transform-interpreter %cpu_pipeline | mlir-runner %cpu_runner > %t.before
// RUN: attune-opt %t.main.mlir --convert-linalg-to-attn --convert-attn-to-loops \
// RUN:   | mlir-opt --transform-preload-library=transform-library-paths=%S/Inputs/decompose.mlir --transform-interpreter %cpu_pipeline | mlir-runner %cpu_runner > %t.after
// RUN: %python %S/Inputs/driver.py compare %t.before %t.after 0.0001

#q = affine_map<(h, m, n, d) -> (h, m, d)>
#k = affine_map<(h, m, n, d) -> (h, n, d)>
#s = affine_map<(h, m, n, d) -> (h, m, n)>
#all = affine_map<(h, m, n) -> (h, m, n)>

// CHECK-LABEL: func.func @cache
// CHECK: %[[K:.+]] = tensor.extract_slice
// CHECK: %[[V:.+]] = tensor.extract_slice
// CHECK: %[[K4:.+]] = tensor.expand_shape %[[K]]
// CHECK: %[[V4:.+]] = tensor.expand_shape %[[V]]
// CHECK: attn.attention %{{.+}}, %[[K4]], %[[V4]]
func.func @cache(%q: tensor<2x5x8xf32>, %ck: tensor<2x?x8xf32>, %cv: tensor<2x?x8xf32>) -> tensor<2x5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 3 : index
  %k = tensor.extract_slice %ck[0, 0, 0] [2, %n, 8] [1, 1, 1] : tensor<2x?x8xf32> to tensor<2x?x8xf32>
  %v = tensor.extract_slice %cv[0, 0, 0] [2, %n, 8] [1, 1, 1] : tensor<2x?x8xf32> to tensor<2x?x8xf32>
  %se = tensor.empty(%n) : tensor<2x5x?xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x5x?xf32>) -> tensor<2x5x?xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<2x5x8xf32>, tensor<2x?x8xf32>) outs(%sf : tensor<2x5x?xf32>) -> tensor<2x5x?xf32>
  %w = linalg.softmax dimension(2) ins(%s : tensor<2x5x?xf32>) outs(%se : tensor<2x5x?xf32>) -> tensor<2x5x?xf32>
  %oe = tensor.empty() : tensor<2x5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %o = linalg.batch_matmul ins(%w, %v : tensor<2x5x?xf32>, tensor<2x?x8xf32>) outs(%of : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  return %o : tensor<2x5x8xf32>
}

// Either side of the cut may be static.
// CHECK-LABEL: func.func @static_part
// CHECK: tensor.extract_slice
// CHECK: tensor.extract_slice
// CHECK: attn.attention {{.*}} : tensor<2x1x5x8xf32>, tensor<2x1x3x8xf32>, tensor<2x1x3x8xf32>
func.func @static_part(%q: tensor<2x5x8xf32>, %ck: tensor<2x?x8xf32>, %cv: tensor<2x?x8xf32>) -> tensor<2x5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %k = tensor.extract_slice %ck[0, 0, 0] [2, 3, 8] [1, 1, 1] : tensor<2x?x8xf32> to tensor<2x3x8xf32>
  %v = tensor.extract_slice %cv[0, 0, 0] [2, 3, 8] [1, 1, 1] : tensor<2x?x8xf32> to tensor<2x3x8xf32>
  %se = tensor.empty() : tensor<2x5x3xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x5x3xf32>) -> tensor<2x5x3xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<2x5x8xf32>, tensor<2x3x8xf32>) outs(%sf : tensor<2x5x3xf32>) -> tensor<2x5x3xf32>
  %w = linalg.softmax dimension(2) ins(%s : tensor<2x5x3xf32>) outs(%se : tensor<2x5x3xf32>) -> tensor<2x5x3xf32>
  %oe = tensor.empty() : tensor<2x5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %o = linalg.batch_matmul ins(%w, %v : tensor<2x5x3xf32>, tensor<2x3x8xf32>) outs(%of : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  return %o : tensor<2x5x8xf32>
}

// CHECK-LABEL: func.func @static_cache
// CHECK: tensor.extract_slice
// CHECK: tensor.extract_slice
// CHECK: attn.attention {{.*}} : tensor<2x1x5x8xf32>, tensor<2x1x?x8xf32>, tensor<2x1x?x8xf32>
func.func @static_cache(%q: tensor<2x5x8xf32>, %ck: tensor<2x6x8xf32>, %cv: tensor<2x6x8xf32>) -> tensor<2x5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 3 : index
  %k = tensor.extract_slice %ck[0, 0, 0] [2, %n, 8] [1, 1, 1] : tensor<2x6x8xf32> to tensor<2x?x8xf32>
  %v = tensor.extract_slice %cv[0, 0, 0] [2, %n, 8] [1, 1, 1] : tensor<2x6x8xf32> to tensor<2x?x8xf32>
  %se = tensor.empty(%n) : tensor<2x5x?xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x5x?xf32>) -> tensor<2x5x?xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<2x5x8xf32>, tensor<2x?x8xf32>) outs(%sf : tensor<2x5x?xf32>) -> tensor<2x5x?xf32>
  %w = linalg.softmax dimension(2) ins(%s : tensor<2x5x?xf32>) outs(%se : tensor<2x5x?xf32>) -> tensor<2x5x?xf32>
  %oe = tensor.empty() : tensor<2x5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %o = linalg.batch_matmul ins(%w, %v : tensor<2x5x?xf32>, tensor<2x?x8xf32>) outs(%of : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  return %o : tensor<2x5x8xf32>
}

// Read element by element, it is a part as well.
// CHECK-LABEL: func.func @gathered
// CHECK: %[[K:.+]] = linalg.generic
// CHECK: %[[K4:.+]] = tensor.expand_shape %[[K]]
// CHECK: attn.attention %{{.+}}, %[[K4]],
func.func @gathered(%q: tensor<2x5x8xf32>, %ck: tensor<2x?x8xf32>, %v: tensor<2x3x8xf32>) -> tensor<2x5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %ke = tensor.empty() : tensor<2x3x8xf32>
  %k = linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel", "parallel"]} outs(%ke : tensor<2x3x8xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %l = linalg.index 2 : index
    %x = tensor.extract %ck[%i, %j, %l] : tensor<2x?x8xf32>
    linalg.yield %x : f32
  } -> tensor<2x3x8xf32>
  %se = tensor.empty() : tensor<2x5x3xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x5x3xf32>) -> tensor<2x5x3xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<2x5x8xf32>, tensor<2x3x8xf32>) outs(%sf : tensor<2x5x3xf32>) -> tensor<2x5x3xf32>
  %w = linalg.softmax dimension(2) ins(%s : tensor<2x5x3xf32>) outs(%se : tensor<2x5x3xf32>) -> tensor<2x5x3xf32>
  %oe = tensor.empty() : tensor<2x5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %o = linalg.batch_matmul ins(%w, %v : tensor<2x5x3xf32>, tensor<2x3x8xf32>) outs(%of : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  return %o : tensor<2x5x8xf32>
}

// Weights that are cut are not those of fewer keys.
// CHECK-LABEL: func.func @weights
// CHECK-NOT: attn.attention
// CHECK: return
func.func @weights(%q: tensor<2x5x8xf32>, %k: tensor<2x?x8xf32>, %cv: tensor<2x?x8xf32>) -> tensor<2x5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 3 : index
  %c1 = arith.constant 1 : index
  %keys = tensor.dim %k, %c1 : tensor<2x?x8xf32>
  %v = tensor.extract_slice %cv[0, 0, 0] [2, %n, 8] [1, 1, 1] : tensor<2x?x8xf32> to tensor<2x?x8xf32>
  %se = tensor.empty(%keys) : tensor<2x5x?xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x5x?xf32>) -> tensor<2x5x?xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<2x5x8xf32>, tensor<2x?x8xf32>) outs(%sf : tensor<2x5x?xf32>) -> tensor<2x5x?xf32>
  %all = linalg.softmax dimension(2) ins(%s : tensor<2x5x?xf32>) outs(%se : tensor<2x5x?xf32>) -> tensor<2x5x?xf32>
  %w = tensor.extract_slice %all[0, 0, 0] [2, 5, %n] [1, 1, 1] : tensor<2x5x?xf32> to tensor<2x5x?xf32>
  %oe = tensor.empty() : tensor<2x5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %o = linalg.batch_matmul ins(%w, %v : tensor<2x5x?xf32>, tensor<2x?x8xf32>) outs(%of : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  return %o : tensor<2x5x8xf32>
}

// Queries, keys and values side by side for an unknown number of tokens: what is whole along them is read where it is.
// CHECK-LABEL: func.func @packed
// CHECK-SAME: (%[[X:.+]]: tensor<2x?x24xf32>)
// CHECK: attn.attention
func.func @packed(%x: tensor<2x?x24xf32>) -> tensor<2x?x8xf32> {
  %zero = arith.constant 0.0 : f32
  %c1 = arith.constant 1 : index
  %t = tensor.dim %x, %c1 : tensor<2x?x24xf32>
  %q = tensor.extract_slice %x[0, 0, 0] [2, %t, 8] [1, 1, 1] : tensor<2x?x24xf32> to tensor<2x?x8xf32>
  %k = tensor.extract_slice %x[0, 0, 8] [2, %t, 8] [1, 1, 1] : tensor<2x?x24xf32> to tensor<2x?x8xf32>
  %v = tensor.extract_slice %x[0, 0, 16] [2, %t, 8] [1, 1, 1] : tensor<2x?x24xf32> to tensor<2x?x8xf32>
  %se = tensor.empty(%t, %t) : tensor<2x?x?xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x?x?xf32>) -> tensor<2x?x?xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<2x?x8xf32>, tensor<2x?x8xf32>) outs(%sf : tensor<2x?x?xf32>) -> tensor<2x?x?xf32>
  %w = linalg.softmax dimension(2) ins(%s : tensor<2x?x?xf32>) outs(%se : tensor<2x?x?xf32>) -> tensor<2x?x?xf32>
  %oe = tensor.empty(%t) : tensor<2x?x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
  %o = linalg.batch_matmul ins(%w, %v : tensor<2x?x?xf32>, tensor<2x?x8xf32>) outs(%of : tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
  return %o : tensor<2x?x8xf32>
}
