// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which elementwise ops become a part of the epilogue, and what stops it. The
// forms that attune-gen writes are in Tools/attune-gen/matmul.test.
//
// REQUIRES: plugin
// RUN: attune-opt %s --load-pass-plugin=%test_passes --pass-pipeline="builtin.module(test-print-contraction-groups)" -o /dev/null \
// RUN:   | FileCheck %s

#id = affine_map<(m, n) -> (m, n)>
#turn = affine_map<(m, n) -> (n, m)>
#row = affine_map<(m, n) -> (m)>
#col = affine_map<(m, n) -> (n)>
#one = affine_map<(m, n) -> ()>
!a = tensor<32x64xbf16>
!b = tensor<64x16xbf16>
!c = tensor<32x16xf32>

// Named ops, a map and an elementwise op, on the result of each other.
// CHECK-LABEL: @named
// CHECK:         operand tensor<32x16xf32> at (m, n)
// CHECK-NEXT:    operand tensor<16xf32> at (n)
// CHECK:         ops linalg.matmul, linalg.exp, linalg.broadcast, linalg.add, linalg.map, linalg.elementwise
// CHECK-NEXT:  func.func @epilogue({{.*}}, %[[SUM:[^ ]+]]: f32, %[[INIT:[^ ]+]]: f32, %[[BIAS:[^ ]+]]: f32)
// CHECK-NEXT:    %[[X0:.+]] = arith.addf %[[SUM]], %[[INIT]]
// CHECK-NEXT:    %[[X1:.+]] = math.exp %[[X0]]
// CHECK-NEXT:    %[[X2:.+]] = arith.addf %[[X1]], %[[BIAS]]
// CHECK-NEXT:    %[[X3:.+]] = math.erf %[[X2]]
// CHECK-NEXT:    %[[X4:.+]] = math.tanh %[[X3]]
// CHECK-NEXT:    return %[[X4]]
func.func @named(%a: !a, %b: !b, %c: !c, %bias: tensor<16xf32>) -> !c {
  %0 = linalg.matmul ins(%a, %b : !a, !b) outs(%c : !c) -> !c
  %e = tensor.empty() : !c
  %1 = linalg.exp ins(%0 : !c) outs(%e : !c) -> !c
  %w = linalg.broadcast ins(%bias : tensor<16xf32>) outs(%e : !c) dimensions = [0]
  %2 = linalg.add ins(%1, %w : !c, !c) outs(%e : !c) -> !c
  %3 = linalg.map {math.erf} ins(%2 : !c) outs(%e : !c)
  %4 = linalg.elementwise kind=#linalg.elementwise_kind<tanh> ins(%3 : !c) outs(%e : !c) -> !c
  return %4 : !c
}

// What is computed in 16 bits is computed in f32 and rounded; operands may be
// read through casts, by a permutation, as scalars, and in place of an init.
// CHECK-LABEL: @operands
// CHECK:         operand tensor<16x32xf16> at (n, m)
// CHECK-NEXT:    operand f32 at ()
// CHECK-NEXT:    operand tensor<1x16xf32> at (n)
// CHECK-NEXT:    operand i32 at ()
// CHECK-NEXT:    result tensor<16x32xbf16> at (n, m)
// CHECK:       func.func @epilogue(%{{.+}}: index, %[[M:[^ ]+]]: index, %[[N:[^ ]+]]: index, %[[SUM:[^ ]+]]: f32,
// CHECK-SAME:      %[[T:[^ ]+]]: f16, %[[S:[^ ]+]]: f32, %[[V:[^ ]+]]: f32, %[[I:[^ ]+]]: i32) -> bf16
// CHECK-NEXT:    %[[T1:.+]] = arith.extf %[[T]] : f16 to f32
// CHECK:         arith.sitofp %[[I]] : i32 to f32
// CHECK:         arith.index_cast %[[M]]
// CHECK:         %[[NARROW:.+]] = arith.truncf %{{.+}} : f32 to bf16
// CHECK-NEXT:    %[[WIDE:.+]] = arith.extf %[[NARROW]] : bf16 to f32
// CHECK-NEXT:    %[[NEGATED:.+]] = arith.negf %[[WIDE]] : f32
// CHECK-NEXT:    %[[RESULT:.+]] = arith.truncf %[[NEGATED]] : f32 to bf16
// CHECK-NEXT:    return %[[RESULT]]
func.func @operands(%a: !a, %b: !b, %t: tensor<16x32xf16>, %s: f32, %i: i32, %v: tensor<1x16xf32>) -> tensor<16x32xbf16> {
  %zero = arith.constant dense<0.0> : !c
  %0 = linalg.matmul ins(%a, %b : !a, !b) outs(%zero : !c) -> !c
  %et = tensor.empty() : tensor<16x32xf32>
  %w = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
    ins(%t : tensor<16x32xf16>) outs(%et : tensor<16x32xf32>) {
  ^bb0(%x: f16, %o: f32):
    %1 = arith.extf %x : f16 to f32
    linalg.yield %1 : f32
  } -> tensor<16x32xf32>
  %1 = linalg.generic {indexing_maps = [#turn, #one, affine_map<(m, n) -> (0, n)>, #id], iterator_types = ["parallel", "parallel"]}
    ins(%w, %s, %v : tensor<16x32xf32>, f32, tensor<1x16xf32>) outs(%0 : !c) {
  ^bb0(%x: f32, %y: f32, %z: f32, %sum: f32):
    %m = linalg.index 0 : index
    %p = arith.addf %sum, %x : f32
    %q = arith.mulf %p, %y : f32
    %k = arith.sitofp %i : i32 to f32
    %r = arith.addf %q, %k : f32
    %h = arith.index_cast %m : index to i32
    %g = arith.sitofp %h : i32 to f32
    %u = arith.addf %r, %g : f32
    %l = arith.addf %u, %z : f32
    linalg.yield %l : f32
  } -> !c
  %eo = tensor.empty() : tensor<16x32xbf16>
  %2 = linalg.generic {indexing_maps = [#turn, #id], iterator_types = ["parallel", "parallel"]}
    ins(%1 : !c) outs(%eo : tensor<16x32xbf16>) {
  ^bb0(%x: f32, %o: bf16):
    %p = arith.truncf %x : f32 to bf16
    %q = arith.negf %p : bf16
    linalg.yield %q : bf16
  } -> tensor<16x32xbf16>
  return %2 : tensor<16x32xbf16>
}

// A gate in one op, with a scale on the left operand that both share.
// CHECK-LABEL: @gate
// CHECK-NEXT:  group
// CHECK-NEXT:    lhs
// CHECK-NEXT:    rhs tensor<64x16xbf16> at (k, n)
// CHECK-NEXT:    rhs tensor<16x64xbf16> at (n, k)
// CHECK-NEXT:    result tensor<32x16xf32> at (m, n)
// CHECK-NEXT:    ops linalg.fill, linalg.matmul, linalg.matmul, linalg.generic
// CHECK-NEXT:  func.func @epilogue({{.*}}, %[[X:[^ ]+]]: f32, %[[Y:[^ ]+]]: f32)
// CHECK-NEXT:    arith.mulf %[[X]], %[[Y]]
func.func @gate(%a: !a, %b: !b, %b2: tensor<16x64xbf16>) -> !c {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : !c
  %z = linalg.fill ins(%zero : f32) outs(%e : !c) -> !c
  %x = linalg.matmul ins(%a, %b : !a, !b) outs(%z : !c) -> !c
  %y = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %b2 : !a, tensor<16x64xbf16>) outs(%z : !c) -> !c
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
    ins(%x, %y : !c, !c) outs(%e : !c) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %1 = arith.mulf %p, %q : f32
    linalg.yield %1 : f32
  } -> !c
  return %r : !c
}

// Sums of two left operands: the first is an operand of the second.
// CHECK-LABEL: @two
// CHECK-NEXT:  group
// CHECK:         ops linalg.matmul
// CHECK-NEXT:    stop linalg.add: it is in the group of another contraction
// CHECK:       group
// CHECK:         operand tensor<32x16xf32> at (m, n)
// CHECK-NEXT:    operand tensor<32x16xf32> at (m, n)
// CHECK:         ops linalg.matmul, linalg.add
func.func @two(%a: !a, %a2: !a, %b: !b, %c: !c) -> !c {
  %x = linalg.matmul ins(%a, %b : !a, !b) outs(%c : !c) -> !c
  %y = linalg.matmul ins(%a2, %b : !a, !b) outs(%c : !c) -> !c
  %e = tensor.empty() : !c
  %r = linalg.add ins(%x, %y : !c, !c) outs(%e : !c) -> !c
  return %r : !c
}

// Two results of the last op are two of the group.
// CHECK-LABEL: @results
// CHECK:         result tensor<32x16xf32> at (m, n)
// CHECK-NEXT:    result tensor<16x32xbf16> at (n, m)
// CHECK:       -> (f32, bf16)
func.func @results(%a: !a, %b: !b, %c: !c) -> (!c, tensor<16x32xbf16>) {
  %0 = linalg.matmul ins(%a, %b : !a, !b) outs(%c : !c) -> !c
  %e = tensor.empty() : !c
  %et = tensor.empty() : tensor<16x32xbf16>
  %1:2 = linalg.generic {indexing_maps = [#id, #id, #turn], iterator_types = ["parallel", "parallel"]}
    ins(%0 : !c) outs(%e, %et : !c, tensor<16x32xbf16>) {
  ^bb0(%x: f32, %o: f32, %p: bf16):
    %q = math.exp %x : f32
    %r = arith.truncf %x : f32 to bf16
    linalg.yield %q, %r : f32, bf16
  } -> (!c, tensor<16x32xbf16>)
  return %1#0, %1#1 : !c, tensor<16x32xbf16>
}

// CHECK-LABEL: @other_users
// CHECK:         ops linalg.matmul
// CHECK-NEXT:    stop linalg.exp: the value has other users
func.func @other_users(%a: !a, %b: !b, %c: !c) -> (!c, !c) {
  %0 = linalg.matmul ins(%a, %b : !a, !b) outs(%c : !c) -> !c
  %1 = linalg.exp ins(%0 : !c) outs(%c : !c) -> !c
  return %0, %1 : !c, !c
}

// CHECK-LABEL: @reduction
// CHECK:         stop linalg.reduce: expects an op on tensors with parallel loops alone
func.func @reduction(%a: !a, %b: !b, %c: !c, %d: tensor<32xf32>) -> tensor<32xf32> {
  %0 = linalg.matmul ins(%a, %b : !a, !b) outs(%c : !c) -> !c
  %1 = linalg.reduce {arith.addf} ins(%0 : !c) outs(%d : tensor<32xf32>) dimensions = [1]
  return %1 : tensor<32xf32>
}

// CHECK-LABEL: @repeated
// CHECK:         stop linalg.broadcast: expects it to read the group's value by a permutation of its loops
func.func @repeated(%a: !a, %b: !b, %c: !c, %d: tensor<32x16x2xf32>) -> tensor<32x16x2xf32> {
  %0 = linalg.matmul ins(%a, %b : !a, !b) outs(%c : !c) -> !c
  %1 = linalg.broadcast ins(%0 : !c) outs(%d : tensor<32x16x2xf32>) dimensions = [2]
  return %1 : tensor<32x16x2xf32>
}

// A value and its transposition are read in two places.
// CHECK-LABEL: @symmetric
// CHECK:         stop linalg.generic: expects it to read the group's value where it is
func.func @symmetric(%a: tensor<32x64xf16>, %b: tensor<64x32xf16>, %c: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<32x64xf16>, tensor<64x32xf16>) outs(%c : tensor<32x32xf32>) -> tensor<32x32xf32>
  %1 = linalg.generic {indexing_maps = [#id, #turn, #id], iterator_types = ["parallel", "parallel"]}
    ins(%0, %0 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%c : tensor<32x32xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %2 = arith.addf %x, %y : f32
    linalg.yield %2 : f32
  } -> tensor<32x32xf32>
  return %1 : tensor<32x32xf32>
}

// CHECK-LABEL: @gathered
// CHECK:         stop linalg.generic: expects scalar ops without regions or side effects in its body, but got tensor.extract
func.func @gathered(%a: !a, %b: !b, %c: !c, %table: tensor<?xf32>) -> !c {
  %0 = linalg.matmul ins(%a, %b : !a, !b) outs(%c : !c) -> !c
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%0 : !c) outs(%c : !c) {
  ^bb0(%x: f32, %o: f32):
    %m = linalg.index 0 : index
    %v = tensor.extract %table[%m] : tensor<?xf32>
    %2 = arith.addf %x, %v : f32
    linalg.yield %2 : f32
  } -> !c
  return %1 : !c
}

// CHECK-LABEL: @integers
// CHECK:         stop linalg.generic: expects results of floats
func.func @integers(%a: !a, %b: !b, %c: !c, %d: tensor<32x16xi8>) -> tensor<32x16xi8> {
  %0 = linalg.matmul ins(%a, %b : !a, !b) outs(%c : !c) -> !c
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%0 : !c) outs(%d : tensor<32x16xi8>) {
  ^bb0(%x: f32, %o: i8):
    %2 = arith.fptosi %x : f32 to i8
    linalg.yield %2 : i8
  } -> tensor<32x16xi8>
  return %1 : tensor<32x16xi8>
}

// Columns become rows of another order: no tile of it is one of the result.
// CHECK-LABEL: @heads_apart
// CHECK:         ops linalg.matmul
// CHECK-NEXT:    stop linalg.transpose: expects rows and columns of the result to stay together
func.func @heads_apart(%a: !a, %b: !b, %c: !c, %d: tensor<4x32x4xf32>) -> tensor<4x32x4xf32> {
  %0 = linalg.matmul ins(%a, %b : !a, !b) outs(%c : !c) -> !c
  %1 = tensor.expand_shape %0 [[0], [1, 2]] output_shape [32, 4, 4] : !c into tensor<32x4x4xf32>
  %2 = linalg.transpose ins(%1 : tensor<32x4x4xf32>) outs(%d : tensor<4x32x4xf32>) permutation = [1, 0, 2]
  return %2 : tensor<4x32x4xf32>
}

// A chain: what makes an operand of the second is none of the first's.
// CHECK-LABEL: @chain
// CHECK:         ops linalg.matmul, linalg.generic
// CHECK-NEXT:    stop linalg.transpose: it makes an operand of another contraction
// CHECK:       group batch=1 m=32 n=32 k=16
// CHECK-NEXT:    lhs tensor<32x16xbf16> at (m, k)
// CHECK-NEXT:    rhs tensor<32x16xbf16> at (n, k)
func.func @chain(%a: !a, %b: !b, %c: !c, %q: tensor<32x16xbf16>, %f: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %0 = linalg.matmul ins(%a, %b : !a, !b) outs(%c : !c) -> !c
  %e = tensor.empty() : tensor<32x16xbf16>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%0 : !c) outs(%e : tensor<32x16xbf16>) {
  ^bb0(%x: f32, %o: bf16):
    %2 = arith.truncf %x : f32 to bf16
    linalg.yield %2 : bf16
  } -> tensor<32x16xbf16>
  %et = tensor.empty() : tensor<16x32xbf16>
  %t = linalg.transpose ins(%1 : tensor<32x16xbf16>) outs(%et : tensor<16x32xbf16>) permutation = [1, 0]
  %r = linalg.matmul ins(%q, %t : tensor<32x16xbf16>, tensor<16x32xbf16>) outs(%f : tensor<32x32xf32>) -> tensor<32x32xf32>
  return %r : tensor<32x32xf32>
}

// Tensors of other blocks are as they are; that a sum begins with 0 is known.
// CHECK-LABEL: @blocks
// CHECK:       group
// CHECK-NEXT:    lhs tensor<32x64xbf16> at (m, k)
// CHECK-NEXT:    rhs tensor<64x16xbf16> at (k, n)
// CHECK-NEXT:    operand tensor<32x16xf32> at (m, n)
// CHECK-NEXT:    result tensor<32x16xf32> at (m, n)
// CHECK-NEXT:    ops linalg.matmul, linalg.add
func.func @blocks(%a: tensor<64x32xbf16>, %b: !b, %bias: tensor<16xf32>, %count: index) -> !c {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %ea = tensor.empty() : !a
  %t = linalg.transpose ins(%a : tensor<64x32xbf16>) outs(%ea : !a) permutation = [1, 0]
  %e = tensor.empty() : !c
  %z = linalg.fill ins(%zero : f32) outs(%e : !c) -> !c
  %w = linalg.broadcast ins(%bias : tensor<16xf32>) outs(%e : !c) dimensions = [0]
  %r = scf.for %i = %c0 to %count step %c1 iter_args(%last = %z) -> !c {
    %0 = linalg.matmul ins(%t, %b : !a, !b) outs(%z : !c) -> !c
    %1 = linalg.add ins(%0, %w : !c, !c) outs(%last : !c) -> !c
    scf.yield %1 : !c
  }
  return %r : !c
}

// One broadcast of what two matmuls add is read by both.
// CHECK-LABEL: @shared_bias
// CHECK:         operand tensor<16xf32> at (n)
// CHECK:         ops linalg.fill, linalg.matmul, linalg.broadcast, linalg.add
// CHECK:         operand tensor<16xf32> at (n)
// CHECK:         ops linalg.fill, linalg.matmul, linalg.broadcast, linalg.add
func.func @shared_bias(%a: !a, %a2: !a, %b: !b, %bias: tensor<16xf32>) -> (!c, !c) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : !c
  %z = linalg.fill ins(%zero : f32) outs(%e : !c) -> !c
  %0 = linalg.matmul ins(%a, %b : !a, !b) outs(%z : !c) -> !c
  %1 = linalg.matmul ins(%a2, %b : !a, !b) outs(%z : !c) -> !c
  %w = linalg.broadcast ins(%bias : tensor<16xf32>) outs(%e : !c) dimensions = [0]
  %2 = linalg.add ins(%0, %w : !c, !c) outs(%e : !c) -> !c
  %3 = linalg.add ins(%1, %w : !c, !c) outs(%e : !c) -> !c
  return %2, %3 : !c, !c
}

// Loops that are one dimension stay one: their sizes matter where an index is
// asked for alone.
// CHECK-LABEL: @dynamic_loops
// CHECK-NEXT:  group batch=? m=? n=16 k=64
// CHECK:         operand tensor<?x?x?x16xf32> at (batch of 2, m, n)
// CHECK:         result tensor<?x?x?x16xf32> at (batch of 2, m, n)
// CHECK-NEXT:    ops linalg.contract, linalg.exp
// CHECK-NEXT:    stop linalg.generic: expects the sizes of loops inside of one with a linalg.index to be known
#a4 = affine_map<(b, h, m, n, k) -> (b, h, m, k)>
#b4 = affine_map<(b, h, m, n, k) -> (b, h, k, n)>
#c4 = affine_map<(b, h, m, n, k) -> (b, h, m, n)>
#id4 = affine_map<(b, h, m, n) -> (b, h, m, n)>
func.func @dynamic_loops(%a: tensor<?x?x?x64xf16>, %b: tensor<?x?x64x16xf16>, %c: tensor<?x?x?x16xf32>) -> tensor<?x?x?x16xf32> {
  %0 = linalg.contract indexing_maps = [#a4, #b4, #c4] ins(%a, %b : tensor<?x?x?x64xf16>, tensor<?x?x64x16xf16>)
    outs(%c : tensor<?x?x?x16xf32>) -> tensor<?x?x?x16xf32>
  %1 = linalg.exp ins(%0 : tensor<?x?x?x16xf32>) outs(%c : tensor<?x?x?x16xf32>) -> tensor<?x?x?x16xf32>
  %2 = linalg.generic {indexing_maps = [#id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    outs(%1 : tensor<?x?x?x16xf32>) {
  ^bb0(%x: f32):
    %h = linalg.index 0 : index
    %i = arith.index_cast %h : index to i32
    %f = arith.sitofp %i : i32 to f32
    %3 = arith.mulf %x, %f : f32
    linalg.yield %3 : f32
  } -> tensor<?x?x?x16xf32>
  return %2 : tensor<?x?x?x16xf32>
}
