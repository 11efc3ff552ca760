// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums of exponentials that are none of attention: nothing changes.
//
// RUN: attune-opt %s --convert-linalg-to-attn --split-input-file --verify-diagnostics > %t.after
// RUN: attune-opt %s --split-input-file > %t.before
// RUN: diff %t.before %t.after

// The logarithm of the sum is one of base 2.
#q = affine_map<(b, h, m, n, d) -> (b, h, m, d)>
#k = affine_map<(b, h, m, n, d) -> (b, h, n, d)>
#s = affine_map<(b, h, m, n, d) -> (b, h, m, n)>
#v = #k
#o = #q
#all4 = affine_map<(b, h, m, n) -> (b, h, m, n)>
#rows = affine_map<(b, h, m, n) -> (b, h, m)>
#r3 = affine_map<(b, h, m) -> (b, h, m)>
func.func @lse_in_base_2(%q: tensor<2x3x5x8xf32>, %k: tensor<2x3x6x8xf32>, %v: tensor<2x3x6x8xf32>) -> (tensor<2x3x5x8xf32>, tensor<2x3x5xf32>) {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x3x5x6xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x3x5x6xf32>) -> tensor<2x3x5x6xf32>
  %dots = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<2x3x5x8xf32>, tensor<2x3x6x8xf32>) outs(%sf : tensor<2x3x5x6xf32>) -> tensor<2x3x5x6xf32>
  %s = linalg.generic {indexing_maps = [#all4, #all4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%dots : tensor<2x3x5x6xf32>) outs(%se : tensor<2x3x5x6xf32>) {
  ^bb0(%x0: f32, %acc: f32):
    %c = arith.constant 0.5 : f32
    %y = arith.mulf %x0, %c : f32
    linalg.yield %y : f32
  } -> tensor<2x3x5x6xf32>
  %re = tensor.empty() : tensor<2x3x5xf32>
  %mf = linalg.fill ins(%low : f32) outs(%re : tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %max = linalg.generic {indexing_maps = [#all4, #rows], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%s : tensor<2x3x5x6xf32>) outs(%mf : tensor<2x3x5xf32>) {
  ^bb0(%x0: f32, %acc: f32):
    %y = arith.maximumf %x0, %acc : f32
    linalg.yield %y : f32
  } -> tensor<2x3x5xf32>
  %p = linalg.generic {indexing_maps = [#all4, #rows, #all4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%s, %max : tensor<2x3x5x6xf32>, tensor<2x3x5xf32>) outs(%se : tensor<2x3x5x6xf32>) {
  ^bb0(%x0: f32, %x1: f32, %acc: f32):
    %d = arith.subf %x0, %x1 : f32
    %y = math.exp2 %d : f32
    linalg.yield %y : f32
  } -> tensor<2x3x5x6xf32>
  %zf = linalg.fill ins(%zero : f32) outs(%re : tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %sum = linalg.generic {indexing_maps = [#all4, #rows], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%p : tensor<2x3x5x6xf32>) outs(%zf : tensor<2x3x5xf32>) {
  ^bb0(%x0: f32, %acc: f32):
    %y = arith.addf %x0, %acc : f32
    linalg.yield %y : f32
  } -> tensor<2x3x5xf32>
  %w = linalg.generic {indexing_maps = [#all4, #rows, #all4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%p, %sum : tensor<2x3x5x6xf32>, tensor<2x3x5xf32>) outs(%se : tensor<2x3x5x6xf32>) {
  ^bb0(%x0: f32, %x1: f32, %acc: f32):
    %y = arith.divf %x0, %x1 : f32
    linalg.yield %y : f32
  } -> tensor<2x3x5x6xf32>
  %oe = tensor.empty() : tensor<2x3x5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x3x5x8xf32>) -> tensor<2x3x5x8xf32>
  %o = linalg.contract indexing_maps = [#s, #v, #o] ins(%w, %v : tensor<2x3x5x6xf32>, tensor<2x3x6x8xf32>) outs(%of : tensor<2x3x5x8xf32>) -> tensor<2x3x5x8xf32>
  // expected-remark @below {{is no attention that can be raised: expects the natural logarithm of the sum of exponentials, but got 1.442695 times that}}
  %lse = linalg.generic {indexing_maps = [#r3, #r3, #r3], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%sum, %max : tensor<2x3x5xf32>, tensor<2x3x5xf32>) outs(%re : tensor<2x3x5xf32>) {
  ^bb0(%x0: f32, %x1: f32, %acc: f32):
    %l = math.log2 %x0 : f32
    %y = arith.addf %x1, %l : f32
    linalg.yield %y : f32
  } -> tensor<2x3x5xf32>
  return %o, %lse : tensor<2x3x5x8xf32>, tensor<2x3x5xf32>
}

// -----

// The logarithm of the sum, without the maximum that was subtracted.
#q = affine_map<(b, h, m, n, d) -> (b, h, m, d)>
#k = affine_map<(b, h, m, n, d) -> (b, h, n, d)>
#s = affine_map<(b, h, m, n, d) -> (b, h, m, n)>
#v = #k
#o = #q
#all4 = affine_map<(b, h, m, n) -> (b, h, m, n)>
#rows = affine_map<(b, h, m, n) -> (b, h, m)>
#r3 = affine_map<(b, h, m) -> (b, h, m)>
func.func @half_a_logarithm(%q: tensor<2x3x5x8xf32>, %k: tensor<2x3x6x8xf32>, %v: tensor<2x3x6x8xf32>) -> (tensor<2x3x5x8xf32>, tensor<2x3x5xf32>) {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x3x5x6xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x3x5x6xf32>) -> tensor<2x3x5x6xf32>
  %dots = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<2x3x5x8xf32>, tensor<2x3x6x8xf32>) outs(%sf : tensor<2x3x5x6xf32>) -> tensor<2x3x5x6xf32>
  %s = linalg.generic {indexing_maps = [#all4, #all4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%dots : tensor<2x3x5x6xf32>) outs(%se : tensor<2x3x5x6xf32>) {
  ^bb0(%x0: f32, %acc: f32):
    %c = arith.constant 0.5 : f32
    %y = arith.mulf %x0, %c : f32
    linalg.yield %y : f32
  } -> tensor<2x3x5x6xf32>
  %re = tensor.empty() : tensor<2x3x5xf32>
  %mf = linalg.fill ins(%low : f32) outs(%re : tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %max = linalg.generic {indexing_maps = [#all4, #rows], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%s : tensor<2x3x5x6xf32>) outs(%mf : tensor<2x3x5xf32>) {
  ^bb0(%x0: f32, %acc: f32):
    %y = arith.maximumf %x0, %acc : f32
    linalg.yield %y : f32
  } -> tensor<2x3x5xf32>
  %p = linalg.generic {indexing_maps = [#all4, #rows, #all4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%s, %max : tensor<2x3x5x6xf32>, tensor<2x3x5xf32>) outs(%se : tensor<2x3x5x6xf32>) {
  ^bb0(%x0: f32, %x1: f32, %acc: f32):
    %d = arith.subf %x0, %x1 : f32
    %y = math.exp %d : f32
    linalg.yield %y : f32
  } -> tensor<2x3x5x6xf32>
  %zf = linalg.fill ins(%zero : f32) outs(%re : tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %sum = linalg.generic {indexing_maps = [#all4, #rows], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%p : tensor<2x3x5x6xf32>) outs(%zf : tensor<2x3x5xf32>) {
  ^bb0(%x0: f32, %acc: f32):
    %y = arith.addf %x0, %acc : f32
    linalg.yield %y : f32
  } -> tensor<2x3x5xf32>
  %w = linalg.generic {indexing_maps = [#all4, #rows, #all4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%p, %sum : tensor<2x3x5x6xf32>, tensor<2x3x5xf32>) outs(%se : tensor<2x3x5x6xf32>) {
  ^bb0(%x0: f32, %x1: f32, %acc: f32):
    %y = arith.divf %x0, %x1 : f32
    linalg.yield %y : f32
  } -> tensor<2x3x5x6xf32>
  %oe = tensor.empty() : tensor<2x3x5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x3x5x8xf32>) -> tensor<2x3x5x8xf32>
  %o = linalg.contract indexing_maps = [#s, #v, #o] ins(%w, %v : tensor<2x3x5x6xf32>, tensor<2x3x6x8xf32>) outs(%of : tensor<2x3x5x8xf32>) -> tensor<2x3x5x8xf32>
  %lse = linalg.generic {indexing_maps = [#r3, #r3, #r3], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%sum, %max : tensor<2x3x5xf32>, tensor<2x3x5xf32>) outs(%re : tensor<2x3x5xf32>) {
  ^bb0(%x0: f32, %x1: f32, %acc: f32):
    %y = math.log %x0 : f32
    linalg.yield %y : f32
  } -> tensor<2x3x5xf32>
  // expected-remark @below {{is no attention that can be raised: expects scores and weights to be used by the attention alone, but got a use by 'func.return'}}
  return %o, %lse : tensor<2x3x5x8xf32>, tensor<2x3x5xf32>
}

// -----

// The logarithm of the sum is used before the values are read.
#q = affine_map<(b, h, m, n, d) -> (b, h, m, d)>
#k = affine_map<(b, h, m, n, d) -> (b, h, n, d)>
#s = affine_map<(b, h, m, n, d) -> (b, h, m, n)>
#v = #k
#o = #q
#all4 = affine_map<(b, h, m, n) -> (b, h, m, n)>
#rows = affine_map<(b, h, m, n) -> (b, h, m)>
#r3 = affine_map<(b, h, m) -> (b, h, m)>
func.func @early_lse(%q: tensor<2x3x5x8xf32>, %k: tensor<2x3x6x8xf32>, %v: tensor<2x3x6x8xf32>) -> (tensor<2x3x5x8xf32>, tensor<2x3x5xf32>) {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x3x5x6xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x3x5x6xf32>) -> tensor<2x3x5x6xf32>
  %dots = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<2x3x5x8xf32>, tensor<2x3x6x8xf32>) outs(%sf : tensor<2x3x5x6xf32>) -> tensor<2x3x5x6xf32>
  %s = linalg.generic {indexing_maps = [#all4, #all4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%dots : tensor<2x3x5x6xf32>) outs(%se : tensor<2x3x5x6xf32>) {
  ^bb0(%x0: f32, %acc: f32):
    %c = arith.constant 0.5 : f32
    %y = arith.mulf %x0, %c : f32
    linalg.yield %y : f32
  } -> tensor<2x3x5x6xf32>
  %re = tensor.empty() : tensor<2x3x5xf32>
  %mf = linalg.fill ins(%low : f32) outs(%re : tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %max = linalg.generic {indexing_maps = [#all4, #rows], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%s : tensor<2x3x5x6xf32>) outs(%mf : tensor<2x3x5xf32>) {
  ^bb0(%x0: f32, %acc: f32):
    %y = arith.maximumf %x0, %acc : f32
    linalg.yield %y : f32
  } -> tensor<2x3x5xf32>
  %p = linalg.generic {indexing_maps = [#all4, #rows, #all4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%s, %max : tensor<2x3x5x6xf32>, tensor<2x3x5xf32>) outs(%se : tensor<2x3x5x6xf32>) {
  ^bb0(%x0: f32, %x1: f32, %acc: f32):
    %d = arith.subf %x0, %x1 : f32
    %y = math.exp %d : f32
    linalg.yield %y : f32
  } -> tensor<2x3x5x6xf32>
  %zf = linalg.fill ins(%zero : f32) outs(%re : tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %sum = linalg.generic {indexing_maps = [#all4, #rows], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%p : tensor<2x3x5x6xf32>) outs(%zf : tensor<2x3x5xf32>) {
  ^bb0(%x0: f32, %acc: f32):
    %y = arith.addf %x0, %acc : f32
    linalg.yield %y : f32
  } -> tensor<2x3x5xf32>
  %w = linalg.generic {indexing_maps = [#all4, #rows, #all4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%p, %sum : tensor<2x3x5x6xf32>, tensor<2x3x5xf32>) outs(%se : tensor<2x3x5x6xf32>) {
  ^bb0(%x0: f32, %x1: f32, %acc: f32):
    %y = arith.divf %x0, %x1 : f32
    linalg.yield %y : f32
  } -> tensor<2x3x5x6xf32>
  // expected-remark @below {{is no attention that can be raised: expects the logarithm of the sum to be used behind the contraction with values}}
  %lse = linalg.generic {indexing_maps = [#r3, #r3, #r3], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%sum, %max : tensor<2x3x5xf32>, tensor<2x3x5xf32>) outs(%re : tensor<2x3x5xf32>) {
  ^bb0(%x0: f32, %x1: f32, %acc: f32):
    %l = math.log %x0 : f32
    %y = arith.addf %x1, %l : f32
    linalg.yield %y : f32
  } -> tensor<2x3x5xf32>
  %twice = arith.addf %lse, %lse : tensor<2x3x5xf32>
  %oe = tensor.empty() : tensor<2x3x5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x3x5x8xf32>) -> tensor<2x3x5x8xf32>
  %o = linalg.contract indexing_maps = [#s, #v, #o] ins(%w, %v : tensor<2x3x5x6xf32>, tensor<2x3x6x8xf32>) outs(%of : tensor<2x3x5x8xf32>) -> tensor<2x3x5x8xf32>
  return %o, %twice : tensor<2x3x5x8xf32>, tensor<2x3x5xf32>
}

// -----

// The result is divided by the sum of squares.
#q = affine_map<(b, h, m, n, d) -> (b, h, m, d)>
#k = affine_map<(b, h, m, n, d) -> (b, h, n, d)>
#s = affine_map<(b, h, m, n, d) -> (b, h, m, n)>
#v = #k
#o = #q
#all4 = affine_map<(b, h, m, n) -> (b, h, m, n)>
#rows = affine_map<(b, h, m, n) -> (b, h, m)>
#r3 = affine_map<(b, h, m) -> (b, h, m)>
func.func @divided_by_another_sum(%q: tensor<2x3x5x8xf32>, %k: tensor<2x3x6x8xf32>, %v: tensor<2x3x6x8xf32>) -> tensor<2x3x5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x3x5x6xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x3x5x6xf32>) -> tensor<2x3x5x6xf32>
  %dots = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<2x3x5x8xf32>, tensor<2x3x6x8xf32>) outs(%sf : tensor<2x3x5x6xf32>) -> tensor<2x3x5x6xf32>
  %s = linalg.generic {indexing_maps = [#all4, #all4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%dots : tensor<2x3x5x6xf32>) outs(%se : tensor<2x3x5x6xf32>) {
  ^bb0(%x0: f32, %acc: f32):
    %c = arith.constant 0.5 : f32
    %y = arith.mulf %x0, %c : f32
    linalg.yield %y : f32
  } -> tensor<2x3x5x6xf32>
  %re = tensor.empty() : tensor<2x3x5xf32>
  %mf = linalg.fill ins(%low : f32) outs(%re : tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %max = linalg.generic {indexing_maps = [#all4, #rows], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%s : tensor<2x3x5x6xf32>) outs(%mf : tensor<2x3x5xf32>) {
  ^bb0(%x0: f32, %acc: f32):
    %y = arith.maximumf %x0, %acc : f32
    linalg.yield %y : f32
  } -> tensor<2x3x5xf32>
  %p = linalg.generic {indexing_maps = [#all4, #rows, #all4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%s, %max : tensor<2x3x5x6xf32>, tensor<2x3x5xf32>) outs(%se : tensor<2x3x5x6xf32>) {
  ^bb0(%x0: f32, %x1: f32, %acc: f32):
    %d = arith.subf %x0, %x1 : f32
    %y = math.exp %d : f32
    linalg.yield %y : f32
  } -> tensor<2x3x5x6xf32>
  %square = linalg.generic {indexing_maps = [#all4, #all4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%p : tensor<2x3x5x6xf32>) outs(%se : tensor<2x3x5x6xf32>) {
  ^bb0(%x0: f32, %acc: f32):
    %y = arith.mulf %x0, %x0 : f32
    linalg.yield %y : f32
  } -> tensor<2x3x5x6xf32>
  %zf = linalg.fill ins(%zero : f32) outs(%re : tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  // expected-remark @below {{is no attention that can be raised: expects exponentials to be divided by their own sum, but got the sum of another function}}
  %sum = linalg.generic {indexing_maps = [#all4, #rows], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%square : tensor<2x3x5x6xf32>) outs(%zf : tensor<2x3x5xf32>) {
  ^bb0(%x0: f32, %acc: f32):
    %y = arith.addf %x0, %acc : f32
    linalg.yield %y : f32
  } -> tensor<2x3x5xf32>
  %oe = tensor.empty() : tensor<2x3x5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x3x5x8xf32>) -> tensor<2x3x5x8xf32>
  %o = linalg.contract indexing_maps = [#s, #v, #o] ins(%p, %v : tensor<2x3x5x6xf32>, tensor<2x3x6x8xf32>) outs(%of : tensor<2x3x5x8xf32>) -> tensor<2x3x5x8xf32>
  %r = linalg.generic {indexing_maps = [#all4, #rows, #all4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%o, %sum : tensor<2x3x5x8xf32>, tensor<2x3x5xf32>) outs(%oe : tensor<2x3x5x8xf32>) {
  ^bb0(%x0: f32, %x1: f32, %acc: f32):
    %y = arith.divf %x0, %x1 : f32
    linalg.yield %y : f32
  } -> tensor<2x3x5x8xf32>
  return %r : tensor<2x3x5x8xf32>
}

// -----

// Something is added before the division.
#q = affine_map<(b, h, m, n, d) -> (b, h, m, d)>
#k = affine_map<(b, h, m, n, d) -> (b, h, n, d)>
#s = affine_map<(b, h, m, n, d) -> (b, h, m, n)>
#v = #k
#o = #q
#all4 = affine_map<(b, h, m, n) -> (b, h, m, n)>
#rows = affine_map<(b, h, m, n) -> (b, h, m)>
#r3 = affine_map<(b, h, m) -> (b, h, m)>
func.func @added_to(%q: tensor<2x3x5x8xf32>, %k: tensor<2x3x6x8xf32>, %v: tensor<2x3x6x8xf32>, %base: tensor<2x3x5x8xf32>) -> tensor<2x3x5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x3x5x6xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x3x5x6xf32>) -> tensor<2x3x5x6xf32>
  %dots = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<2x3x5x8xf32>, tensor<2x3x6x8xf32>) outs(%sf : tensor<2x3x5x6xf32>) -> tensor<2x3x5x6xf32>
  %s = linalg.generic {indexing_maps = [#all4, #all4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%dots : tensor<2x3x5x6xf32>) outs(%se : tensor<2x3x5x6xf32>) {
  ^bb0(%x0: f32, %acc: f32):
    %c = arith.constant 0.5 : f32
    %y = arith.mulf %x0, %c : f32
    linalg.yield %y : f32
  } -> tensor<2x3x5x6xf32>
  %re = tensor.empty() : tensor<2x3x5xf32>
  %mf = linalg.fill ins(%low : f32) outs(%re : tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %max = linalg.generic {indexing_maps = [#all4, #rows], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%s : tensor<2x3x5x6xf32>) outs(%mf : tensor<2x3x5xf32>) {
  ^bb0(%x0: f32, %acc: f32):
    %y = arith.maximumf %x0, %acc : f32
    linalg.yield %y : f32
  } -> tensor<2x3x5xf32>
  %p = linalg.generic {indexing_maps = [#all4, #rows, #all4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%s, %max : tensor<2x3x5x6xf32>, tensor<2x3x5xf32>) outs(%se : tensor<2x3x5x6xf32>) {
  ^bb0(%x0: f32, %x1: f32, %acc: f32):
    %d = arith.subf %x0, %x1 : f32
    %y = math.exp %d : f32
    linalg.yield %y : f32
  } -> tensor<2x3x5x6xf32>
  %zf = linalg.fill ins(%zero : f32) outs(%re : tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %sum = linalg.generic {indexing_maps = [#all4, #rows], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%p : tensor<2x3x5x6xf32>) outs(%zf : tensor<2x3x5xf32>) {
  ^bb0(%x0: f32, %acc: f32):
    %y = arith.addf %x0, %acc : f32
    linalg.yield %y : f32
  } -> tensor<2x3x5xf32>
  %oe = tensor.empty() : tensor<2x3x5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x3x5x8xf32>) -> tensor<2x3x5x8xf32>
  // expected-remark @below {{is no attention that can be raised: expects exponentials to be divided by their sum, before or behind the contraction with values}}
  %o = linalg.contract indexing_maps = [#s, #v, #o] ins(%p, %v : tensor<2x3x5x6xf32>, tensor<2x3x6x8xf32>) outs(%of : tensor<2x3x5x8xf32>) -> tensor<2x3x5x8xf32>
  %more = arith.addf %o, %base : tensor<2x3x5x8xf32>
  %r = linalg.generic {indexing_maps = [#all4, #rows, #all4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%more, %sum : tensor<2x3x5x8xf32>, tensor<2x3x5xf32>) outs(%oe : tensor<2x3x5x8xf32>) {
  ^bb0(%x0: f32, %x1: f32, %acc: f32):
    %y = arith.divf %x0, %x1 : f32
    linalg.yield %y : f32
  } -> tensor<2x3x5x8xf32>
  return %r : tensor<2x3x5x8xf32>
}

// -----

// Two columns beside the scores.
#q = affine_map<(b, h, m, n, d) -> (b, h, m, d)>
#k = affine_map<(b, h, m, n, d) -> (b, h, n, d)>
#s = affine_map<(b, h, m, n, d) -> (b, h, m, n)>
#v = #k
#o = #q
#all4 = affine_map<(b, h, m, n) -> (b, h, m, n)>
#rows = affine_map<(b, h, m, n) -> (b, h, m)>
#r3 = affine_map<(b, h, m) -> (b, h, m)>
func.func @two_columns(%q: tensor<2x3x5x8xf32>, %k: tensor<2x3x6x8xf32>, %v: tensor<2x3x6x8xf32>, %columns: tensor<2x3x5x2xf32>) -> tensor<2x3x5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x3x5x6xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x3x5x6xf32>) -> tensor<2x3x5x6xf32>
  %dots = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<2x3x5x8xf32>, tensor<2x3x6x8xf32>) outs(%sf : tensor<2x3x5x6xf32>) -> tensor<2x3x5x6xf32>
  %s = linalg.generic {indexing_maps = [#all4, #all4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%dots : tensor<2x3x5x6xf32>) outs(%se : tensor<2x3x5x6xf32>) {
  ^bb0(%x0: f32, %acc: f32):
    %c = arith.constant 0.5 : f32
    %y = arith.mulf %x0, %c : f32
    linalg.yield %y : f32
  } -> tensor<2x3x5x6xf32>
  %wide = tensor.concat dim(3) %s, %columns : (tensor<2x3x5x6xf32>, tensor<2x3x5x2xf32>) -> tensor<2x3x5x8xf32>
  %we = tensor.empty() : tensor<2x3x5x8xf32>
  // expected-remark @below {{is no attention that can be raised: expects the softmax over 6 keys, but got over 8}}
  %ww = linalg.softmax dimension(3) ins(%wide : tensor<2x3x5x8xf32>) outs(%we : tensor<2x3x5x8xf32>) -> tensor<2x3x5x8xf32>
  %slice = tensor.extract_slice %ww[0, 0, 0, 0] [2, 3, 5, 6] [1, 1, 1, 1] : tensor<2x3x5x8xf32> to tensor<2x3x5x6xf32>
  %oe = tensor.empty() : tensor<2x3x5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x3x5x8xf32>) -> tensor<2x3x5x8xf32>
  %o = linalg.contract indexing_maps = [#s, #v, #o] ins(%slice, %v : tensor<2x3x5x6xf32>, tensor<2x3x6x8xf32>) outs(%of : tensor<2x3x5x8xf32>) -> tensor<2x3x5x8xf32>
  return %o : tensor<2x3x5x8xf32>
}

// -----

// A sink that differs between queries.
#q = affine_map<(b, h, m, n, d) -> (b, h, m, d)>
#k = affine_map<(b, h, m, n, d) -> (b, h, n, d)>
#s = affine_map<(b, h, m, n, d) -> (b, h, m, n)>
#v = #k
#o = #q
#all4 = affine_map<(b, h, m, n) -> (b, h, m, n)>
#rows = affine_map<(b, h, m, n) -> (b, h, m)>
#r3 = affine_map<(b, h, m) -> (b, h, m)>
func.func @sink_of_query(%q: tensor<2x3x5x8xf32>, %k: tensor<2x3x6x8xf32>, %v: tensor<2x3x6x8xf32>, %column: tensor<2x3x5x1xf32>) -> tensor<2x3x5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x3x5x6xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x3x5x6xf32>) -> tensor<2x3x5x6xf32>
  %dots = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<2x3x5x8xf32>, tensor<2x3x6x8xf32>) outs(%sf : tensor<2x3x5x6xf32>) -> tensor<2x3x5x6xf32>
  %s = linalg.generic {indexing_maps = [#all4, #all4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%dots : tensor<2x3x5x6xf32>) outs(%se : tensor<2x3x5x6xf32>) {
  ^bb0(%x0: f32, %acc: f32):
    %c = arith.constant 0.5 : f32
    %y = arith.mulf %x0, %c : f32
    linalg.yield %y : f32
  } -> tensor<2x3x5x6xf32>
  %wide = tensor.concat dim(3) %s, %column : (tensor<2x3x5x6xf32>, tensor<2x3x5x1xf32>) -> tensor<2x3x5x7xf32>
  %we = tensor.empty() : tensor<2x3x5x7xf32>
  %ww = linalg.softmax dimension(3) ins(%wide : tensor<2x3x5x7xf32>) outs(%we : tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %slice = tensor.extract_slice %ww[0, 0, 0, 0] [2, 3, 5, 6] [1, 1, 1, 1] : tensor<2x3x5x7xf32> to tensor<2x3x5x6xf32>
  %oe = tensor.empty() : tensor<2x3x5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x3x5x8xf32>) -> tensor<2x3x5x8xf32>
  // expected-remark @below {{is no attention that can be raised: expects a tensor with one sink for each head}}
  %o = linalg.contract indexing_maps = [#s, #v, #o] ins(%slice, %v : tensor<2x3x5x6xf32>, tensor<2x3x6x8xf32>) outs(%of : tensor<2x3x5x8xf32>) -> tensor<2x3x5x8xf32>
  return %o : tensor<2x3x5x8xf32>
}

// -----

// The last key takes part in softmax, but its value is left out.
#q = affine_map<(b, h, m, n, d) -> (b, h, m, d)>
#k = affine_map<(b, h, m, n, d) -> (b, h, n, d)>
#s = affine_map<(b, h, m, n, d) -> (b, h, m, n)>
#v = #k
#o = #q
#all4 = affine_map<(b, h, m, n) -> (b, h, m, n)>
#rows = affine_map<(b, h, m, n) -> (b, h, m)>
#r3 = affine_map<(b, h, m) -> (b, h, m)>
func.func @dropped_key(%q: tensor<2x3x5x8xf32>, %k: tensor<2x3x6x8xf32>, %v: tensor<2x3x6x8xf32>) -> tensor<2x3x5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x3x5x6xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x3x5x6xf32>) -> tensor<2x3x5x6xf32>
  // expected-remark @below {{is no attention that can be raised: expects operands whose dimensions are loops of the contractions}}
  %dots = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<2x3x5x8xf32>, tensor<2x3x6x8xf32>) outs(%sf : tensor<2x3x5x6xf32>) -> tensor<2x3x5x6xf32>
  %s = linalg.generic {indexing_maps = [#all4, #all4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%dots : tensor<2x3x5x6xf32>) outs(%se : tensor<2x3x5x6xf32>) {
  ^bb0(%x0: f32, %acc: f32):
    %c = arith.constant 0.5 : f32
    %y = arith.mulf %x0, %c : f32
    linalg.yield %y : f32
  } -> tensor<2x3x5x6xf32>
  %ww = linalg.softmax dimension(3) ins(%s : tensor<2x3x5x6xf32>) outs(%se : tensor<2x3x5x6xf32>) -> tensor<2x3x5x6xf32>
  %slice = tensor.extract_slice %ww[0, 0, 0, 0] [2, 3, 5, 5] [1, 1, 1, 1] : tensor<2x3x5x6xf32> to tensor<2x3x5x5xf32>
  %fewer = tensor.extract_slice %v[0, 0, 0, 0] [2, 3, 5, 8] [1, 1, 1, 1] : tensor<2x3x6x8xf32> to tensor<2x3x5x8xf32>
  %oe = tensor.empty() : tensor<2x3x5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x3x5x8xf32>) -> tensor<2x3x5x8xf32>
  %o = linalg.contract indexing_maps = [#s, #v, #o] ins(%slice, %fewer : tensor<2x3x5x5xf32>, tensor<2x3x5x8xf32>) outs(%of : tensor<2x3x5x8xf32>) -> tensor<2x3x5x8xf32>
  return %o : tensor<2x3x5x8xf32>
}
