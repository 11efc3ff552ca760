// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which ops are contractions, and how their operands are read.
//
// REQUIRES: plugin
// RUN: attune-opt %s --load-pass-plugin=%test_passes --pass-pipeline="builtin.module(test-print-contraction-groups)" -o /dev/null \
// RUN:   | FileCheck %s

#mk = affine_map<(m, n, k) -> (m, k)>
#km = affine_map<(m, n, k) -> (k, m)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#nm = affine_map<(m, n, k) -> (n, m)>

// CHECK-LABEL: @plain
// CHECK-NEXT:  group batch=1 m=32 n=16 k=64
// CHECK-NEXT:    lhs tensor<32x64xbf16> at (m, k)
// CHECK-NEXT:    rhs tensor<64x16xbf16> at (k, n)
// CHECK-NEXT:    result tensor<32x16xf32> at (m, n)
// CHECK-NEXT:    ops linalg.fill, linalg.matmul
// CHECK-NEXT:  func.func @epilogue(%{{.+}}: index, %{{.+}}: index, %{{.+}}: index, %[[SUM:.+]]: f32) -> f32
// CHECK-NEXT:    return %[[SUM]]
func.func @plain(%a: tensor<32x64xbf16>, %b: tensor<64x16xbf16>) -> tensor<32x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x16xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<32x16xf32>) -> tensor<32x16xf32>
  %r = linalg.matmul ins(%a, %b : tensor<32x64xbf16>, tensor<64x16xbf16>) outs(%z : tensor<32x16xf32>) -> tensor<32x16xf32>
  return %r : tensor<32x16xf32>
}

// A sum may begin with a tensor, which is then an operand of the epilogue.
// CHECK-LABEL: @transposed
// CHECK-NEXT:  group batch=1 m=? n=16 k=64
// CHECK-NEXT:    lhs tensor<64x?xf16> at (k, m)
// CHECK-NEXT:    rhs tensor<16x64xf16> at (n, k)
// CHECK-NEXT:    operand tensor<?x16xf32> at (m, n)
// CHECK-NEXT:    result tensor<?x16xf32> at (m, n)
// CHECK-NEXT:    ops linalg.matmul
// CHECK:         arith.addf %[[SUM:.+]], %[[INIT:.+]] : f32
func.func @transposed(%a: tensor<64x?xf16>, %b: tensor<16x64xf16>, %c: tensor<?x16xf32>) -> tensor<?x16xf32> {
  %r = linalg.matmul indexing_maps = [#km, #nk, #mn] ins(%a, %b : tensor<64x?xf16>, tensor<16x64xf16>)
    outs(%c : tensor<?x16xf32>) -> tensor<?x16xf32>
  return %r : tensor<?x16xf32>
}

// CHECK-LABEL: @result_transposed
// CHECK:         result tensor<16x32xf32> at (n, m)
func.func @result_transposed(%a: tensor<32x64xf16>, %b: tensor<64x16xf16>, %c: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %r = linalg.contract indexing_maps = [#mk, #kn, #nm] ins(%a, %b : tensor<32x64xf16>, tensor<64x16xf16>)
    outs(%c : tensor<16x32xf32>) -> tensor<16x32xf32>
  return %r : tensor<16x32xf32>
}

// CHECK-LABEL: @batched
// CHECK-NEXT:  group batch=? m=32 n=16 k=?
// CHECK-NEXT:    lhs tensor<?x32x?xbf16> at (batch, m, k)
// CHECK-NEXT:    rhs tensor<?x?x16xbf16> at (batch, k, n)
func.func @batched(%a: tensor<?x32x?xbf16>, %b: tensor<?x?x16xbf16>, %c: tensor<?x32x16xf32>) -> tensor<?x32x16xf32> {
  %r = linalg.batch_matmul ins(%a, %b : tensor<?x32x?xbf16>, tensor<?x?x16xbf16>)
    outs(%c : tensor<?x32x16xf32>) -> tensor<?x32x16xf32>
  return %r : tensor<?x32x16xf32>
}

// Written by hand: factors and addends the other way round, one result.
// CHECK-LABEL: @generic
// CHECK-NEXT:  group batch=1 m=32 n=16 k=64
func.func @generic(%a: tensor<32x64xbf16>, %b: tensor<64x16xbf16>, %c: tensor<32x16xf32>) -> tensor<32x16xf32> {
  %r = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %b : tensor<32x64xbf16>, tensor<64x16xbf16>) outs(%c : tensor<32x16xf32>) {
  ^bb0(%x: bf16, %y: bf16, %sum: f32):
    %y1 = arith.extf %y : bf16 to f32
    %x1 = arith.extf %x : bf16 to f32
    %p = arith.mulf %y1, %x1 : f32
    %s = arith.addf %p, %sum : f32
    linalg.yield %s : f32
  } -> tensor<32x16xf32>
  return %r : tensor<32x16xf32>
}

// Loops of one dimension that are neighbours everywhere are one.
// CHECK-LABEL: @collapsed
// CHECK-NEXT:  group batch=6 m=? n=32 k=35
// CHECK-NEXT:    lhs tensor<2x3x?x5x7xf16> at (batch of 2, m, k of 2)
// CHECK-NEXT:    rhs tensor<2x3x5x7x4x8xf16> at (batch of 2, k of 2, n of 2)
// CHECK-NEXT:    operand tensor<2x3x?x4x8xf32> at (batch of 2, m, n of 2)
#a6 = affine_map<(b0, b1, m, n0, n1, k0, k1) -> (b0, b1, m, k0, k1)>
#b6 = affine_map<(b0, b1, m, n0, n1, k0, k1) -> (b0, b1, k0, k1, n0, n1)>
#c6 = affine_map<(b0, b1, m, n0, n1, k0, k1) -> (b0, b1, m, n0, n1)>
func.func @collapsed(%a: tensor<2x3x?x5x7xf16>, %b: tensor<2x3x5x7x4x8xf16>, %c: tensor<2x3x?x4x8xf32>) -> tensor<2x3x?x4x8xf32> {
  %r = linalg.contract indexing_maps = [#a6, #b6, #c6] ins(%a, %b : tensor<2x3x?x5x7xf16>, tensor<2x3x5x7x4x8xf16>)
    outs(%c : tensor<2x3x?x4x8xf32>) -> tensor<2x3x?x4x8xf32>
  return %r : tensor<2x3x?x4x8xf32>
}

// Those of one step may be anywhere, unless there is no other one.
// CHECK-LABEL: @steps
// CHECK-NEXT:  group batch=1 m=16 n=16 k=?
// CHECK-NEXT:    lhs tensor<?x1x8x2x1xf16> at (k, m of 2, batch)
// CHECK-NEXT:    rhs tensor<1x16x?x1x1xf16> at (n, k, batch)
// CHECK-NEXT:    operand tensor<8x2x1x16x1xf32> at (m of 2, batch, n)
#a1 = affine_map<(b, m0, m1, n0, n1, k0, k1) -> (k0, k1, m0, m1, b)>
#c1 = affine_map<(b, m0, m1, n0, n1, k0, k1) -> (m0, m1, b, n0, n1)>
#b1 = affine_map<(b, m0, m1, n0, n1, k0, k1) -> (k1, n0, k0, b, n1)>
func.func @steps(%a: tensor<?x1x8x2x1xf16>, %b: tensor<1x16x?x1x1xf16>, %c: tensor<8x2x1x16x1xf32>) -> tensor<8x2x1x16x1xf32> {
  %r = linalg.contract indexing_maps = [#a1, #b1, #c1] ins(%a, %b : tensor<?x1x8x2x1xf16>, tensor<1x16x?x1x1xf16>)
    outs(%c : tensor<8x2x1x16x1xf32>) -> tensor<8x2x1x16x1xf32>
  return %r : tensor<8x2x1x16x1xf32>
}

// A right operand without a batch makes rows of the batch.
// CHECK-LABEL: @shared_rhs
// CHECK-NEXT:  group batch=1 m=? n=16 k=64
// CHECK-NEXT:    lhs tensor<4x?x64xf16> at (m of 2, k)
func.func @shared_rhs(%a: tensor<4x?x64xf16>, %b: tensor<64x16xf16>, %c: tensor<4x?x16xf32>) -> tensor<4x?x16xf32> {
  %r = linalg.contract indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (k, n)>,
      affine_map<(b, m, n, k) -> (b, m, n)>]
    ins(%a, %b : tensor<4x?x64xf16>, tensor<64x16xf16>) outs(%c : tensor<4x?x16xf32>) -> tensor<4x?x16xf32>
  return %r : tensor<4x?x16xf32>
}

// What only moves, repeats or widens is read where it comes from.
// CHECK-LABEL: @forwarded
// CHECK-NEXT:  group batch=4 m=32 n=16 k=64
// CHECK-NEXT:    lhs tensor<4x64x32xbf16> at (batch, k, m)
// CHECK-NEXT:    rhs tensor<64x16xbf16> at (k, n)
// CHECK:         ops linalg.transpose, linalg.generic, linalg.broadcast, linalg.fill, linalg.batch_matmul
func.func @forwarded(%a: tensor<4x64x32xbf16>, %b: tensor<64x16xf32>, %b16: tensor<64x16xbf16>) -> tensor<4x32x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<4x32x64xbf16>
  %t = linalg.transpose ins(%a : tensor<4x64x32xbf16>) outs(%e0 : tensor<4x32x64xbf16>) permutation = [0, 2, 1]
  %e1 = tensor.empty() : tensor<4x32x64xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(b, m, k) -> (b, m, k)>, affine_map<(b, m, k) -> (b, m, k)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%t : tensor<4x32x64xbf16>) outs(%e1 : tensor<4x32x64xf32>) {
  ^bb0(%x: bf16, %o: f32):
    %x1 = arith.extf %x : bf16 to f32
    linalg.yield %x1 : f32
  } -> tensor<4x32x64xf32>
  %e2 = tensor.empty() : tensor<4x64x16xbf16>
  %r = linalg.broadcast ins(%b16 : tensor<64x16xbf16>) outs(%e2 : tensor<4x64x16xbf16>) dimensions = [0]
  %e3 = tensor.empty() : tensor<4x32x16xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e3 : tensor<4x32x16xf32>) -> tensor<4x32x16xf32>
  %c = linalg.batch_matmul ins(%w, %r : tensor<4x32x64xf32>, tensor<4x64x16xbf16>)
    outs(%z : tensor<4x32x16xf32>) -> tensor<4x32x16xf32>
  return %c : tensor<4x32x16xf32>
}

// Factors that do not depend on k are those of the sum.
// CHECK-LABEL: @scaled
// CHECK:         lhs tensor<32x64xbf16> at (m, k)
// CHECK-NEXT:    rhs tensor<64x16xbf16> at (k, n)
// CHECK-NEXT:    operand tensor<32xf32> at (m)
// CHECK-NEXT:    operand tensor<16xbf16> at (n)
// CHECK:         ops linalg.generic, linalg.broadcast, linalg.mul, linalg.fill, linalg.matmul
// CHECK-NEXT:  func.func @epilogue({{.+}}, %[[SUM:.+]]: f32, %[[ROW:.+]]: f32, %[[COLUMN:.+]]: bf16)
// CHECK-NEXT:    %[[SCALED:.+]] = arith.mulf %[[SUM]], %[[ROW]]
// CHECK-NEXT:    %[[WIDE:.+]] = arith.extf %[[COLUMN]]
// CHECK-NEXT:    %[[BOTH:.+]] = arith.mulf %[[SCALED]], %[[WIDE]]
// CHECK-NEXT:    return %[[BOTH]]
func.func @scaled(%a: tensor<32x64xbf16>, %b: tensor<64x16xbf16>, %rows: tensor<32xf32>, %columns: tensor<16xbf16>) -> tensor<32x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<32x64xbf16>
  %a1 = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m)>, affine_map<(m, k) -> (m, k)>],
                        iterator_types = ["parallel", "parallel"]}
    ins(%a, %rows : tensor<32x64xbf16>, tensor<32xf32>) outs(%e0 : tensor<32x64xbf16>) {
  ^bb0(%x: bf16, %s: f32, %o: bf16):
    %1 = arith.extf %x : bf16 to f32
    %2 = arith.mulf %1, %s : f32
    %3 = arith.truncf %2 : f32 to bf16
    linalg.yield %3 : bf16
  } -> tensor<32x64xbf16>
  %e1 = tensor.empty() : tensor<64x16xbf16>
  %w = linalg.broadcast ins(%columns : tensor<16xbf16>) outs(%e1 : tensor<64x16xbf16>) dimensions = [0]
  %b1 = linalg.mul ins(%w, %b : tensor<64x16xbf16>, tensor<64x16xbf16>) outs(%e1 : tensor<64x16xbf16>) -> tensor<64x16xbf16>
  %e2 = tensor.empty() : tensor<32x16xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e2 : tensor<32x16xf32>) -> tensor<32x16xf32>
  %c = linalg.matmul ins(%a1, %b1 : tensor<32x64xbf16>, tensor<64x16xbf16>) outs(%z : tensor<32x16xf32>) -> tensor<32x16xf32>
  return %c : tensor<32x16xf32>
}

// A factor that depends on k, a function and a cast that narrows stay outside.
// CHECK-LABEL: @recomputed
// CHECK:         lhs tensor<32x64xbf16> at (m, k)
// CHECK-NEXT:    rhs tensor<64x16xbf16> at (k, n)
// CHECK-NEXT:    operand
// CHECK-NEXT:    result
// CHECK-NEXT:    ops linalg.matmul
// CHECK-NEXT:  func
func.func @recomputed(%a: tensor<32x64xbf16>, %b: tensor<64x16xf32>, %terms: tensor<64xbf16>, %c: tensor<32x16xf32>) -> tensor<32x16xf32> {
  %e0 = tensor.empty() : tensor<32x64xbf16>
  %a1 = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m, k)>],
                        iterator_types = ["parallel", "parallel"]}
    ins(%a, %terms : tensor<32x64xbf16>, tensor<64xbf16>) outs(%e0 : tensor<32x64xbf16>) {
  ^bb0(%x: bf16, %s: bf16, %o: bf16):
    %1 = arith.mulf %x, %s : bf16
    linalg.yield %1 : bf16
  } -> tensor<32x64xbf16>
  %e1 = tensor.empty() : tensor<64x16xbf16>
  %b1 = linalg.generic {indexing_maps = [affine_map<(k, n) -> (k, n)>, affine_map<(k, n) -> (k, n)>],
                        iterator_types = ["parallel", "parallel"]}
    ins(%b : tensor<64x16xf32>) outs(%e1 : tensor<64x16xbf16>) {
  ^bb0(%x: f32, %o: bf16):
    %1 = arith.truncf %x : f32 to bf16
    linalg.yield %1 : bf16
  } -> tensor<64x16xbf16>
  %r = linalg.matmul ins(%a1, %b1 : tensor<32x64xbf16>, tensor<64x16xbf16>) outs(%c : tensor<32x16xf32>) -> tensor<32x16xf32>
  return %r : tensor<32x16xf32>
}

// Of several at 0 is a slice, with others in between: it is computed before, or behind.
// CHECK-LABEL: @slices
// CHECK-NEXT:  group batch=1 m=32 n=16 k=64
// CHECK-NEXT:    lhs tensor<32x64xbf16> at (m, k)
// CHECK-NEXT:    rhs tensor<64x16xbf16> at (k, n)
// CHECK-NEXT:    result tensor<32x16xf32> at (m, n)
// CHECK-NEXT:    ops linalg.fill, linalg.matmul
// CHECK-NEXT:    stop linalg.generic: expects other operands to be indexed by loops
func.func @slices(%a: tensor<32x64x4xbf16>, %b: tensor<64x16xbf16>, %bias: tensor<16x3xf32>) -> tensor<32x16xf32> {
  %e0 = tensor.empty() : tensor<32x64xbf16>
  %a0 = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k, 0)>, affine_map<(m, k) -> (m, k)>], iterator_types = ["parallel", "parallel"]}
    ins(%a : tensor<32x64x4xbf16>) outs(%e0 : tensor<32x64xbf16>) {
  ^bb0(%x: bf16, %o: bf16):
    linalg.yield %x : bf16
  } -> tensor<32x64xbf16>
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<32x16xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e1 : tensor<32x16xf32>) -> tensor<32x16xf32>
  %c = linalg.matmul ins(%a0, %b : tensor<32x64xbf16>, tensor<64x16xbf16>) outs(%z : tensor<32x16xf32>) -> tensor<32x16xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n, 0)>, affine_map<(m, n) -> (m, n)>],
                       iterator_types = ["parallel", "parallel"]}
    ins(%c, %bias : tensor<32x16xf32>, tensor<16x3xf32>) outs(%e1 : tensor<32x16xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %1 = arith.addf %x, %y : f32
    linalg.yield %1 : f32
  } -> tensor<32x16xf32>
  return %r : tensor<32x16xf32>
}

// The same tensor twice is two operands.
// CHECK-LABEL: @square
// CHECK:         lhs tensor<32x32xf16> at (m, k)
// CHECK-NEXT:    rhs tensor<32x32xf16> at (n, k)
func.func @square(%a: tensor<32x32xf16>, %c: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %r = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%a, %a : tensor<32x32xf16>, tensor<32x32xf16>)
    outs(%c : tensor<32x32xf32>) -> tensor<32x32xf32>
  return %r : tensor<32x32xf32>
}
