// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What looks like a contraction and is none is left to others, with a reason.
//
// REQUIRES: plugin
// RUN: attune-opt %s --load-pass-plugin=%test_passes --pass-pipeline="builtin.module(test-print-contraction-groups)" \
// RUN:   -verify-diagnostics -o /dev/null | FileCheck %s
// CHECK-NOT: group

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
!a = tensor<32x64xbf16>
!b = tensor<64x16xbf16>
!c = tensor<32x16xf32>

// isaContractionOpInterface says yes to this one.
func.func @unary(%a: tensor<32x64xf32>, %b: tensor<64x16xf32>, %c: !c) -> !c {
  // expected-remark @below {{is left alone: expects factors to be inputs or their arith.extf, but got math.exp}}
  %r = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %b : tensor<32x64xf32>, tensor<64x16xf32>) outs(%c : !c) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %1 = math.exp %x : f32
    %2 = arith.mulf %1, %y : f32
    %3 = arith.addf %s, %2 : f32
    linalg.yield %3 : f32
  } -> !c
  return %r : !c
}

func.func @max_plus(%a: tensor<32x64xf32>, %b: tensor<64x16xf32>, %c: !c) -> !c {
  // expected-remark @below {{is left alone: expects the body to yield an arith.addf, but got arith.maximumf}}
  %r = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %b : tensor<32x64xf32>, tensor<64x16xf32>) outs(%c : !c) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %1 = arith.addf %x, %y : f32
    %2 = arith.maximumf %s, %1 : f32
    linalg.yield %2 : f32
  } -> !c
  return %r : !c
}

func.func @narrow_product(%a: !a, %b: !b, %c: !c) -> !c {
  // expected-remark @below {{is left alone: expects the body to add an arith.mulf, but got arith.extf}}
  %r = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %b : !a, !b) outs(%c : !c) {
  ^bb0(%x: bf16, %y: bf16, %s: f32):
    %1 = arith.mulf %x, %y : bf16
    %2 = arith.extf %1 : bf16 to f32
    %3 = arith.addf %s, %2 : f32
    linalg.yield %3 : f32
  } -> !c
  return %r : !c
}

func.func @square_of_one(%a: tensor<32x64xf32>, %b: tensor<64x16xf32>, %c: !c) -> !c {
  // expected-remark @below {{is left alone: expects the body to multiply the two inputs}}
  %r = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %b : tensor<32x64xf32>, tensor<64x16xf32>) outs(%c : !c) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %1 = arith.mulf %x, %x : f32
    %2 = arith.addf %s, %1 : f32
    linalg.yield %2 : f32
  } -> !c
  return %r : !c
}

func.func @convolution(%a: tensor<8x66xbf16>, %b: tensor<3x8xbf16>, %c: tensor<64xf32>) -> tensor<64xf32> {
  // expected-remark @below {{is left alone: expects operands and result to be indexed by loops, each once, but got an index that is none}}
  %r = linalg.generic {indexing_maps = [affine_map<(w, c, k) -> (c, w + k)>, affine_map<(w, c, k) -> (k, c)>, affine_map<(w, c, k) -> (w)>],
                       iterator_types = ["parallel", "reduction", "reduction"]}
    ins(%a, %b : tensor<8x66xbf16>, tensor<3x8xbf16>) outs(%c : tensor<64xf32>) {
  ^bb0(%x: bf16, %y: bf16, %s: f32):
    %x1 = arith.extf %x : bf16 to f32
    %y1 = arith.extf %y : bf16 to f32
    %1 = arith.mulf %x1, %y1 : f32
    %2 = arith.addf %s, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<64xf32>
  return %r : tensor<64xf32>
}

func.func @vector(%a: !a, %b: tensor<64xbf16>, %c: tensor<32xf32>) -> tensor<32xf32> {
  // expected-remark @below {{is left alone: expects loops over m, n and k of a contraction, but at least one of them is missing}}
  %r = linalg.matvec ins(%a, %b : !a, tensor<64xbf16>) outs(%c : tensor<32xf32>) -> tensor<32xf32>
  return %r : tensor<32xf32>
}

func.func @integers(%a: tensor<32x64xi8>, %b: tensor<64x16xi8>, %c: tensor<32x16xi32>) -> tensor<32x16xi32> {
  // expected-remark @below {{is left alone: expects the body to yield an arith.addf, but got arith.addi}}
  %r = linalg.matmul ins(%a, %b : tensor<32x64xi8>, tensor<64x16xi8>) outs(%c : tensor<32x16xi32>) -> tensor<32x16xi32>
  return %r : tensor<32x16xi32>
}

func.func @doubles(%a: tensor<32x64xf64>, %b: tensor<64x16xf64>, %c: tensor<32x16xf64>) -> tensor<32x16xf64> {
  // expected-remark @below {{is left alone: expects floats of at most 32 bits, but got 'f64'}}
  %r = linalg.matmul ins(%a, %b : tensor<32x64xf64>, tensor<64x16xf64>) outs(%c : tensor<32x16xf64>) -> tensor<32x16xf64>
  return %r : tensor<32x16xf64>
}

// The loops of n are not neighbours in the result.
func.func @apart(%a: tensor<8x64xf16>, %b: tensor<64x4x16xf16>, %c: tensor<4x8x16xf32>) -> tensor<4x8x16xf32> {
  // expected-remark @below {{is left alone: expects the loops of n to be neighbours in the result}}
  %r = linalg.contract indexing_maps = [affine_map<(m, h, d, k) -> (m, k)>, affine_map<(m, h, d, k) -> (k, h, d)>,
      affine_map<(m, h, d, k) -> (h, m, d)>]
    ins(%a, %b : tensor<8x64xf16>, tensor<64x4x16xf16>) outs(%c : tensor<4x8x16xf32>) -> tensor<4x8x16xf32>
  return %r : tensor<4x8x16xf32>
}

// Those of k have another order on the right.
func.func @other_order(%a: tensor<8x4x16xf16>, %b: tensor<16x4x32xf16>, %c: tensor<8x32xf32>) -> tensor<8x32xf32> {
  // expected-remark @below {{is left alone: expects the loops of k to be neighbours in the right operand, in one order everywhere}}
  %r = linalg.contract indexing_maps = [affine_map<(m, n, i, j) -> (m, i, j)>, affine_map<(m, n, i, j) -> (j, i, n)>,
      affine_map<(m, n, i, j) -> (m, n)>]
    ins(%a, %b : tensor<8x4x16xf16>, tensor<16x4x32xf16>) outs(%c : tensor<8x32xf32>) -> tensor<8x32xf32>
  return %r : tensor<8x32xf32>
}

func.func @undefined(%a: !a, %b: !b) -> !c {
  %e = tensor.empty() : !c
  // expected-remark @below {{is left alone: expects an initial accumulator, but got a tensor.empty}}
  %r = linalg.matmul ins(%a, %b : !a, !b) outs(%e : !c) -> !c
  return %r : !c
}

func.func @buffers(%a: memref<32x64xbf16>, %b: memref<64x16xbf16>, %c: memref<32x16xf32>) {
  // expected-remark @below {{is left alone: expects an op of linalg on two tensors with one result}}
  linalg.matmul ins(%a, %b : memref<32x64xbf16>, memref<64x16xbf16>) outs(%c : memref<32x16xf32>)
  return
}
