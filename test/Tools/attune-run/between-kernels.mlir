// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What stands around attention and became no kernel is computed on the CPU.
//
// RUN: split-file %s %t
//
// Numbers that anyone can check.
// RUN: attune-run %t/alone.mlir --print --device=host --chip=sm_80 | FileCheck %s --check-prefix=ALONE
// ALONE:      result 0: 3x2xbf16
// ALONE-NEXT: 1 4
// ALONE-NEXT: 2 5
// ALONE-NEXT: 3 6
// ALONE-NEXT: result 1: 4xf32
// ALONE-NEXT: 9 16 25 0
// ALONE-NEXT: result 2: 2xi32
// ALONE-NEXT: 7 9
// ALONE-NEXT: result 3: 3x2xf16
// ALONE-NEXT: 2 8
// ALONE-NEXT: 4 10
// ALONE-NEXT: 6 12
//
// RUN: attune-run %t/transposed.mlir --device=host --chip=sm_80 --equal-launches=2 | FileCheck %s --check-prefix=RIGHT
// RUN: attune-run %t/transposed.mlir --device=host --chip=gfx942 | FileCheck %s --check-prefix=RIGHT
// RUN: attune-run %t/dynamic.mlir --shape=0=2x40x2x32 --device=host --chip=sm_80 | FileCheck %s --check-prefix=RIGHT
// RUN: attune-run %t/computed.mlir --device=host --chip=sm_80 | FileCheck %s --check-prefix=RIGHT
// RIGHT: right     result 0
// The rule is that of attention's result, whatever its order.
// RUN: attune-run %t/lse.mlir --device=host --chip=sm_80 | FileCheck %s --check-prefix=LSE
// LSE:      right     result 0 (lse)
// LSE-NEXT: right     result 1:
//
// On a GPU it is no part of the time.
// RUN: env LD_LIBRARY_PATH=%fake_driver attune-run %t/transposed.mlir --bench 2>&1 | FileCheck %s --check-prefix=TIMED
// TIMED: transposed.mlir:5:{{[0-9]+}}: warning: is computed on the CPU, and not timed
// TIMED: transposed.mlir:8:{{[0-9]+}}: warning: is computed on the CPU, and not timed
// TIMED: speed
//
// The reference knows no rule for what is made of attention.
// RUN: not attune-run %t/behind.mlir --device=host --chip=sm_80 2>&1 | FileCheck %s --check-prefix=BEHIND
// BEHIND: behind.mlir:2:{{[0-9]+}}: error: 'attn.attention' op expects its result to be returned by the function or merged, reshaped or transposed at most, for output=f32
// BEHIND: behind.mlir:3:{{[0-9]+}}: note: used here by 'arith.negf'
//
// Upstream knows no loops for some ops.
// RUN: not attune-run %t/unknown.mlir --device=host --chip=sm_80 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: unknown.mlir:4:{{[0-9]+}}: error: expects an op that upstream's passes compile for the CPU, to be executed between kernels

//--- alone.mlir
func.func @f() -> (tensor<3x2xbf16>, tensor<4xf32>, tensor<2xi32>, tensor<3x2xf16>) {
  %a = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xbf16>
  %ae = tensor.empty() : tensor<3x2xbf16>
  %at = linalg.transpose ins(%a : tensor<2x3xbf16>) outs(%ae : tensor<3x2xbf16>) permutation = [1, 0]
  %b = arith.constant dense<[3.0, 4.0, 5.0]> : tensor<3xf32>
  %bb = arith.mulf %b, %b : tensor<3xf32>
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %bb low[0] high[1] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<3xf32> to tensor<4xf32>
  %c = arith.constant dense<[[7, 8], [9, 10]]> : tensor<2x2xi32>
  %slice = tensor.extract_slice %c[0, 0] [2, 1] [1, 1] : tensor<2x2xi32> to tensor<2xi32>
  %half = arith.constant dense<[[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]> : tensor<3x2xf16>
  %two = arith.addf %half, %half : tensor<3x2xf16>
  return %at, %padded, %slice, %two : tensor<3x2xbf16>, tensor<4xf32>, tensor<2xi32>, tensor<3x2xf16>
}

//--- transposed.mlir
// Queries come and results go with heads behind them.
func.func @f(%q: tensor<1x40x2x32xf16>, %k: tensor<1x2x48x32xf16>, %v: tensor<1x2x48x32xf16>) -> tensor<1x40x64xf16> {
  %qe = tensor.empty() : tensor<1x2x40x32xf16>
  // The line of the message.
  %qt = linalg.transpose ins(%q : tensor<1x40x2x32xf16>) outs(%qe : tensor<1x2x40x32xf16>) permutation = [0, 2, 1, 3]
  %o = attn.attention %qt, %k, %v : tensor<1x2x40x32xf16>, tensor<1x2x48x32xf16>, tensor<1x2x48x32xf16>
  %e = tensor.empty() : tensor<1x40x2x32xf16>
  %t = linalg.transpose ins(%o : tensor<1x2x40x32xf16>) outs(%e : tensor<1x40x2x32xf16>) permutation = [0, 2, 1, 3]
  %c = tensor.collapse_shape %t [[0], [1], [2, 3]] : tensor<1x40x2x32xf16> into tensor<1x40x64xf16>
  return %c : tensor<1x40x64xf16>
}

//--- dynamic.mlir
func.func @f(%q: tensor<2x?x2x32xf16>, %k: tensor<2x2x48x32xf16>) -> tensor<2x?x2x32xf16> {
  %one = arith.constant 1 : index
  %m = tensor.dim %q, %one : tensor<2x?x2x32xf16>
  %qe = tensor.empty(%m) : tensor<2x2x?x32xf16>
  %qt = linalg.transpose ins(%q : tensor<2x?x2x32xf16>) outs(%qe : tensor<2x2x?x32xf16>) permutation = [0, 2, 1, 3]
  %o = attn.attention %qt, %k, %k : tensor<2x2x?x32xf16>, tensor<2x2x48x32xf16>, tensor<2x2x48x32xf16>
  %e = tensor.empty(%m) : tensor<2x?x2x32xf16>
  %t = linalg.transpose ins(%o : tensor<2x2x?x32xf16>) outs(%e : tensor<2x?x2x32xf16>) permutation = [0, 2, 1, 3]
  return %t : tensor<2x?x2x32xf16>
}

//--- computed.mlir
// A bias that is computed, of a function that no kernel takes, and keys from a matmul of f32.
func.func @f(%q: tensor<1x2x40x32xbf16>, %x: tensor<48x16xf32>, %w: tensor<16x32xf32>, %b: tensor<40x48xf32>) -> tensor<1x2x40x32xbf16> {
  %zero = arith.constant 0.0 : f32
  %pe = tensor.empty() : tensor<48x32xf32>
  %pf = linalg.fill ins(%zero : f32) outs(%pe : tensor<48x32xf32>) -> tensor<48x32xf32>
  %p = linalg.matmul ins(%x, %w : tensor<48x16xf32>, tensor<16x32xf32>) outs(%pf : tensor<48x32xf32>) -> tensor<48x32xf32>
  %half = arith.truncf %p : tensor<48x32xf32> to tensor<48x32xbf16>
  %ke = tensor.empty() : tensor<1x2x48x32xbf16>
  %k = linalg.broadcast ins(%half : tensor<48x32xbf16>) outs(%ke : tensor<1x2x48x32xbf16>) dimensions = [0, 1]
  %be = tensor.empty() : tensor<40x48xf32>
  %bias = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%b : tensor<40x48xf32>) outs(%be : tensor<40x48xf32>) {
  ^bb0(%in: f32, %out: f32):
    %y = math.atan %in : f32
    linalg.yield %y : f32
  } -> tensor<40x48xf32>
  %o = attn.attention %q, %k, %k score (%s, %bb, %h, %m, %n) {
    %a = tensor.extract %bias[%m, %n] : tensor<40x48xf32>
    %y = arith.addf %s, %a : f32
    attn.yield %y : f32
  } : tensor<1x2x40x32xbf16>, tensor<1x2x48x32xbf16>, tensor<1x2x48x32xbf16>
  return %o : tensor<1x2x40x32xbf16>
}

//--- lse.mlir
func.func @f(%q: tensor<1x2x40x32xf16>) -> (tensor<40x2xf32>, tensor<40x2x32xf16>) {
  %o, %lse = attn.attention %q, %q, %q lse : tensor<1x2x40x32xf16>, tensor<1x2x40x32xf16>, tensor<1x2x40x32xf16>
  %l = tensor.collapse_shape %lse [[0, 1], [2]] : tensor<1x2x40xf32> into tensor<2x40xf32>
  %le = tensor.empty() : tensor<40x2xf32>
  %lt = linalg.transpose ins(%l : tensor<2x40xf32>) outs(%le : tensor<40x2xf32>) permutation = [1, 0]
  %c = tensor.collapse_shape %o [[0, 1], [2], [3]] : tensor<1x2x40x32xf16> into tensor<2x40x32xf16>
  %e = tensor.empty() : tensor<40x2x32xf16>
  %t = linalg.transpose ins(%c : tensor<2x40x32xf16>) outs(%e : tensor<40x2x32xf16>) permutation = [1, 0, 2]
  return %lt, %t : tensor<40x2xf32>, tensor<40x2x32xf16>
}

//--- behind.mlir
func.func @f(%q: tensor<1x2x40x32xf16>) -> tensor<1x2x40x32xf16> {
  %o = attn.attention %q, %q, %q : tensor<1x2x40x32xf16>, tensor<1x2x40x32xf16>, tensor<1x2x40x32xf16>
  %t = arith.negf %o : tensor<1x2x40x32xf16>
  return %t : tensor<1x2x40x32xf16>
}

//--- unknown.mlir
func.func @f(%q: tensor<1x2x40x32xf16>) -> tensor<1x2x40x32xf16> {
  // A softmax that nobody decomposed.
  %e = tensor.empty() : tensor<1x2x40x32xf16>
  %t = linalg.softmax dimension(1) ins(%q : tensor<1x2x40x32xf16>) outs(%e : tensor<1x2x40x32xf16>) -> tensor<1x2x40x32xf16>
  %o = attn.attention %t, %q, %q : tensor<1x2x40x32xf16>, tensor<1x2x40x32xf16>, tensor<1x2x40x32xf16>
  return %o : tensor<1x2x40x32xf16>
}
