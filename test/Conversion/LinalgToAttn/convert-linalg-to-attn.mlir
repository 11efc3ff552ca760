// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What becomes what. Numbers are compared in spellings.test.
//
// RUN: attune-opt %s --convert-linalg-to-attn --split-input-file | FileCheck %s

// Named ops. A single batch is that of the op.
// CHECK-LABEL: func.func @named
// CHECK-SAME: (%[[Q:.+]]: tensor<3x5x8xf32>, %[[K:.+]]: tensor<3x6x8xf32>, %[[V:.+]]: tensor<3x6x4xf32>)
// CHECK-NEXT: %[[Q4:.+]] = tensor.expand_shape %[[Q]] {{.*}} into tensor<3x1x5x8xf32>
// CHECK-NEXT: %[[K4:.+]] = tensor.expand_shape %[[K]]
// CHECK-NEXT: %[[V4:.+]] = tensor.expand_shape %[[V]]
// CHECK-NEXT: %[[O4:.+]] = attn.attention %[[Q4]], %[[K4]], %[[V4]] scale(1.000000e+00) : tensor<3x1x5x8xf32>, tensor<3x1x6x8xf32>, tensor<3x1x6x4xf32>
// CHECK-NEXT: %[[O:.+]] = tensor.collapse_shape %[[O4]]
// CHECK-NEXT: return %[[O]] : tensor<3x5x4xf32>
func.func @named(%q: tensor<3x5x8xf32>, %k: tensor<3x6x8xf32>, %v: tensor<3x6x4xf32>) -> tensor<3x5x4xf32> {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<3x5x6xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<3x5x6xf32>) -> tensor<3x5x6xf32>
  %kte = tensor.empty() : tensor<3x8x6xf32>
  %kt = linalg.transpose ins(%k : tensor<3x6x8xf32>) outs(%kte : tensor<3x8x6xf32>) permutation = [0, 2, 1]
  %s = linalg.batch_matmul ins(%q, %kt : tensor<3x5x8xf32>, tensor<3x8x6xf32>) outs(%sf : tensor<3x5x6xf32>) -> tensor<3x5x6xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<3x5x6xf32>) outs(%se : tensor<3x5x6xf32>) -> tensor<3x5x6xf32>
  %oe = tensor.empty() : tensor<3x5x4xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<3x5x4xf32>) -> tensor<3x5x4xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<3x5x6xf32>, tensor<3x6x4xf32>) outs(%of : tensor<3x5x4xf32>) -> tensor<3x5x4xf32>
  return %o : tensor<3x5x4xf32>
}

// -----

// One head without a batch, of an unknown length.
// CHECK-LABEL: func.func @matmul
// CHECK: attn.attention {{.*}} scale(1.000000e+00) : tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32>, tensor<1x1x?x4xf32>
// CHECK-NOT: linalg
// CHECK: return
func.func @matmul(%q: tensor<?x8xf32>, %kt: tensor<8x?xf32>, %v: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %q, %c0 : tensor<?x8xf32>
  %n = tensor.dim %kt, %c1 : tensor<8x?xf32>
  %se = tensor.empty(%m, %n) : tensor<?x?xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<?x?xf32>) -> tensor<?x?xf32>
  %s = linalg.matmul ins(%q, %kt : tensor<?x8xf32>, tensor<8x?xf32>) outs(%sf : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = linalg.softmax dimension(1) ins(%s : tensor<?x?xf32>) outs(%se : tensor<?x?xf32>) -> tensor<?x?xf32>
  %oe = tensor.empty(%m) : tensor<?x4xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<?x4xf32>) -> tensor<?x4xf32>
  %o = linalg.matmul ins(%p, %v : tensor<?x?xf32>, tensor<?x4xf32>) outs(%of : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %o : tensor<?x4xf32>
}

// -----

// Dimensions in the order batch, sequence, head, size, and two query heads for
// each head of keys: nothing is transposed or repeated. 0.125 is the default.
#q = affine_map<(b, h, m, n, d) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d) -> (b, n, h, d)>
#s = affine_map<(b, h, m, n, d) -> (b, h, m, n)>
#all = affine_map<(b, h, m, n) -> (b, h, m, n)>
// CHECK-LABEL: func.func @grouped
// CHECK-SAME: (%[[Q:.+]]: tensor<2x5x4x64xf16>, %[[K:.+]]: tensor<2x6x2x64xf16>, %[[V:.+]]: tensor<2x6x2x64xf16>)
// CHECK-NEXT: %[[O:.+]] = attn.attention %[[Q]], %[[K]], %[[V]] causal(top_left) order(bshd) :
// CHECK-NEXT: return %[[O]]
func.func @grouped(%q: tensor<2x5x4x64xf16>, %k: tensor<2x6x2x64xf16>, %v: tensor<2x6x2x64xf16>) -> tensor<2x5x4x64xf16> {
  %zero = arith.constant 0.0 : f32
  %kbe = tensor.empty() : tensor<2x6x2x2x64xf16>
  %kb = linalg.broadcast ins(%k : tensor<2x6x2x64xf16>) outs(%kbe : tensor<2x6x2x2x64xf16>) dimensions = [3]
  %vb = linalg.broadcast ins(%v : tensor<2x6x2x64xf16>) outs(%kbe : tensor<2x6x2x2x64xf16>) dimensions = [3]
  %kr = tensor.collapse_shape %kb [[0], [1], [2, 3], [4]] : tensor<2x6x2x2x64xf16> into tensor<2x6x4x64xf16>
  %vr = tensor.collapse_shape %vb [[0], [1], [2, 3], [4]] : tensor<2x6x2x2x64xf16> into tensor<2x6x4x64xf16>
  %se = tensor.empty() : tensor<2x4x5x6xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %kr : tensor<2x5x4x64xf16>, tensor<2x6x4x64xf16>) outs(%sf : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  %masked = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%s : tensor<2x4x5x6xf32>) outs(%se : tensor<2x4x5x6xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %m = linalg.index 2 : index
    %n = linalg.index 3 : index
    %mi = arith.index_cast %m : index to i32
    %ni = arith.index_cast %n : index to i32
    %later = arith.cmpi sgt, %ni, %mi : i32
    %eight = arith.constant 8.0 : f32
    %low = arith.constant 0xFF800000 : f32
    %scaled = arith.divf %x, %eight : f32
    %y = arith.select %later, %low, %scaled : f32
    linalg.yield %y : f32
  } -> tensor<2x4x5x6xf32>
  %p = linalg.softmax dimension(3) ins(%masked : tensor<2x4x5x6xf32>) outs(%se : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  %pe = tensor.empty() : tensor<2x4x5x6xf16>
  %p16 = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%p : tensor<2x4x5x6xf32>) outs(%pe : tensor<2x4x5x6xf16>) {
  ^bb0(%x: f32, %acc: f16):
    %y = arith.truncf %x : f32 to f16
    linalg.yield %y : f16
  } -> tensor<2x4x5x6xf16>
  %oe = tensor.empty() : tensor<2x5x4x64xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x5x4x64xf32>) -> tensor<2x5x4x64xf32>
  %o = linalg.contract indexing_maps = [affine_map<(b, h, m, n, d) -> (b, h, m, n)>, affine_map<(b, h, m, n, d) -> (b, n, h, d)>, affine_map<(b, h, m, n, d) -> (b, m, h, d)>]
    ins(%p16, %vr : tensor<2x4x5x6xf16>, tensor<2x6x4x64xf16>) outs(%of : tensor<2x5x4x64xf32>) -> tensor<2x5x4x64xf32>
  %re = tensor.empty() : tensor<2x5x4x64xf16>
  %r = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%o : tensor<2x5x4x64xf32>) outs(%re : tensor<2x5x4x64xf16>) {
  ^bb0(%x: f32, %acc: f16):
    %y = arith.truncf %x : f32 to f16
    linalg.yield %y : f16
  } -> tensor<2x5x4x64xf16>
  return %r : tensor<2x5x4x64xf16>
}

// -----

// What is no mask is the score region; a number that is lower than all scores
// hides a key as -inf does. One function, two attentions.
#all = affine_map<(b, m, n) -> (b, m, n)>
#keys = affine_map<(b, m, n) -> (b, n)>
#s = affine_map<(b, m, n, d) -> (b, m, n)>
// CHECK-LABEL: func.func @twice
// CHECK-SAME: %[[MASK:[a-z0-9]+]]: tensor<3x6xi1>, %[[SLOPE:.+]]: f32)
// CHECK: attn.attention {{.*}} scale(1.000000e+00) score (%[[S:.+]], %{{.+}}, %{{.+}}, %[[M:.+]], %[[N:.+]]) {
// CHECK-NEXT:   arith.subi %[[N]], %[[M]] : index
// CHECK:        %[[BIAS:.+]] = arith.mulf %{{.+}}, %[[SLOPE]] : f32
// CHECK-NEXT:   arith.addf %[[S]], %[[BIAS]] : f32
// CHECK:        attn.yield
// CHECK-NEXT: } mask (%[[B:.+]], %{{.+}}, %{{.+}}, %[[N2:.+]]) {
// CHECK-NEXT:   %[[VISIBLE:.+]] = tensor.extract %[[MASK]][%[[B]], %[[N2]]] : tensor<3x6xi1>
// CHECK-NEXT:   attn.yield %[[VISIBLE]] : i1
// CHECK: attn.attention
// CHECK-NOT: linalg
func.func @twice(%q: tensor<3x6x8xf32>, %k: tensor<3x6x8xf32>, %v: tensor<3x6x8xf32>, %mask: tensor<3x6xi1>, %slope: f32) -> tensor<3x6x8xf32> {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<3x6x6xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<3x6x6xf32>) -> tensor<3x6x6xf32>
  %oe = tensor.empty() : tensor<3x6x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<3x6x8xf32>) -> tensor<3x6x8xf32>
  %s = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, #s]
    ins(%q, %k : tensor<3x6x8xf32>, tensor<3x6x8xf32>) outs(%sf : tensor<3x6x6xf32>) -> tensor<3x6x6xf32>
  %masked = linalg.generic {indexing_maps = [#all, #keys, #all], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%s, %mask : tensor<3x6x6xf32>, tensor<3x6xi1>) outs(%se : tensor<3x6x6xf32>) {
  ^bb0(%x: f32, %is: i1, %acc: f32):
    %m = linalg.index 1 : index
    %n = linalg.index 2 : index
    %i = arith.subi %n, %m : index
    %j = arith.index_cast %i : index to i64
    %f = arith.sitofp %j : i64 to f32
    %b = arith.mulf %f, %slope : f32
    %sum = arith.addf %x, %b : f32
    %half = arith.constant 0.5 : f32
    %t = math.absf %sum : f32
    %u = arith.mulf %t, %half : f32
    %low = arith.constant -3.0e38 : f32
    %y = arith.select %is, %u, %low : f32
    linalg.yield %y : f32
  } -> tensor<3x6x6xf32>
  %p = linalg.softmax dimension(2) ins(%masked : tensor<3x6x6xf32>) outs(%se : tensor<3x6x6xf32>) -> tensor<3x6x6xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<3x6x6xf32>, tensor<3x6x8xf32>) outs(%of : tensor<3x6x8xf32>) -> tensor<3x6x8xf32>
  // The result of one is the query of the next.
  %s2 = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, #s]
    ins(%o, %k : tensor<3x6x8xf32>, tensor<3x6x8xf32>) outs(%sf : tensor<3x6x6xf32>) -> tensor<3x6x6xf32>
  %p2 = linalg.softmax dimension(2) ins(%s2 : tensor<3x6x6xf32>) outs(%se : tensor<3x6x6xf32>) -> tensor<3x6x6xf32>
  %o2 = linalg.batch_matmul ins(%p2, %v : tensor<3x6x6xf32>, tensor<3x6x8xf32>) outs(%of : tensor<3x6x8xf32>) -> tensor<3x6x8xf32>
  return %o2 : tensor<3x6x8xf32>
}

// -----

// The mask is cut out of a constant that is larger, as a model keeps it for its
// longest sequence.
// CHECK-LABEL: func.func @cut_mask
// CHECK: attn.attention {{.*}} causal(top_left) scale(1.000000e+00) :
func.func @cut_mask(%q: tensor<2x3x8xf32>, %k: tensor<2x3x8xf32>) -> tensor<2x3x8xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %whole = arith.constant dense<[[[true, false, false, false], [true, true, false, false], [true, true, true, false], [true, true, true, true]]]> : tensor<1x4x4xi1>
  %mask = tensor.extract_slice %whole[0, 0, 0] [1, 3, 3] [1, 1, 1] : tensor<1x4x4xi1> to tensor<3x3xi1>
  %se = tensor.empty() : tensor<2x3x3xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
  %s = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
    ins(%q, %k : tensor<2x3x8xf32>, tensor<2x3x8xf32>) outs(%sf : tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
  %masked = linalg.generic {indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (m, n)>, affine_map<(b, m, n) -> (b, m, n)>],
                            iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%s, %mask : tensor<2x3x3xf32>, tensor<3x3xi1>) outs(%se : tensor<2x3x3xf32>) {
  ^bb0(%x: f32, %is: i1, %acc: f32):
    %y = arith.select %is, %x, %low : f32
    linalg.yield %y : f32
  } -> tensor<2x3x3xf32>
  %p = linalg.softmax dimension(2) ins(%masked : tensor<2x3x3xf32>) outs(%se : tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
  %oe = tensor.empty() : tensor<2x3x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %o = linalg.batch_matmul ins(%p, %k : tensor<2x3x3xf32>, tensor<2x3x8xf32>) outs(%of : tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  return %o : tensor<2x3x8xf32>
}
