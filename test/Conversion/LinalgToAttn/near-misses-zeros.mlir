// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Zeros in place of weights that are no rows without keys.
//
// RUN: attune-opt %s --convert-linalg-to-attn --remarks-filter=.* --verify-diagnostics | FileCheck %s
// CHECK-NOT: attn.attention

// The largest score is 0 or less.
func.func @other_condition(%q: tensor<5x8xf32>, %k: tensor<8x6xf32>, %v: tensor<6x8xf32>) -> tensor<5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %zeros = arith.constant dense<0.0> : tensor<5x6xf32>
  %zero1 = arith.constant dense<0.0> : tensor<5xf32>
  %dotse = tensor.empty() : tensor<5x6xf32>
  %dotsf = linalg.fill ins(%zero : f32) outs(%dotse : tensor<5x6xf32>) -> tensor<5x6xf32>
  %dots = linalg.matmul ins(%q, %k : tensor<5x8xf32>, tensor<8x6xf32>) outs(%dotsf : tensor<5x6xf32>) -> tensor<5x6xf32>
  %maxe = tensor.empty() : tensor<5xf32>
  %maxf = linalg.fill ins(%least : f32) outs(%maxe : tensor<5xf32>) -> tensor<5xf32>
  %max = linalg.reduce { arith.maximumf } ins(%dots : tensor<5x6xf32>) outs(%maxf : tensor<5xf32>) dimensions = [1]
  %maxwe = tensor.empty() : tensor<5x6xf32>
  %maxw = linalg.broadcast ins(%max : tensor<5xf32>) outs(%maxwe : tensor<5x6xf32>) dimensions = [1]
  %d = arith.subf %dots, %maxw : tensor<5x6xf32>
  %x = math.exp %d : tensor<5x6xf32>
  %sume = tensor.empty() : tensor<5xf32>
  %sumf = linalg.fill ins(%zero : f32) outs(%sume : tensor<5xf32>) -> tensor<5xf32>
  %sum = linalg.reduce { arith.addf } ins(%x : tensor<5x6xf32>) outs(%sumf : tensor<5xf32>) dimensions = [1]
  %sumwe = tensor.empty() : tensor<5x6xf32>
  %sumw = linalg.broadcast ins(%sum : tensor<5xf32>) outs(%sumwe : tensor<5x6xf32>) dimensions = [1]
  %p = arith.divf %x, %sumw : tensor<5x6xf32>
  %h = arith.cmpf ole, %max, %zero1 : tensor<5xf32>
  %ge = tensor.empty() : tensor<5x6xi1>
  %g = linalg.broadcast ins(%h : tensor<5xi1>) outs(%ge : tensor<5x6xi1>) dimensions = [1]
  %w = arith.select %g, %zeros, %p : tensor<5x6xi1>, tensor<5x6xf32>
  %oe = tensor.empty() : tensor<5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<5x8xf32>) -> tensor<5x8xf32>
  // expected-remark @below {{is no attention that can be raised: expects weights to be replaced by 0 only where all keys are hidden}}
  %o = linalg.matmul ins(%w, %v : tensor<5x6xf32>, tensor<6x8xf32>) outs(%of : tensor<5x8xf32>) -> tensor<5x8xf32>
  return %o : tensor<5x8xf32>
}

// Some score is -inf.
func.func @any_hidden(%q: tensor<5x8xf32>, %k: tensor<8x6xf32>, %v: tensor<6x8xf32>) -> tensor<5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %false = arith.constant false
  %zeros = arith.constant dense<0.0> : tensor<5x6xf32>
  %lows = arith.constant dense<0xFF800000> : tensor<5x6xf32>
  %mask = arith.constant dense<[[true, false, true, true, false, true], [true, true, false, true, true, true], [false, false, false, false, false, false], [false, true, true, false, true, false], [true, true, true, true, true, true]]> : tensor<5x6xi1>
  %dotse = tensor.empty() : tensor<5x6xf32>
  %dotsf = linalg.fill ins(%zero : f32) outs(%dotse : tensor<5x6xf32>) -> tensor<5x6xf32>
  %dots = linalg.matmul ins(%q, %k : tensor<5x8xf32>, tensor<8x6xf32>) outs(%dotsf : tensor<5x6xf32>) -> tensor<5x6xf32>
  %s = arith.select %mask, %dots, %lows : tensor<5x6xi1>, tensor<5x6xf32>
  %pe = tensor.empty() : tensor<5x6xf32>
  %p = linalg.softmax dimension(1) ins(%s : tensor<5x6xf32>) outs(%pe : tensor<5x6xf32>) -> tensor<5x6xf32>
  %h = arith.cmpf oeq, %s, %lows : tensor<5x6xf32>
  %anye = tensor.empty() : tensor<5xi1>
  %anyf = linalg.fill ins(%false : i1) outs(%anye : tensor<5xi1>) -> tensor<5xi1>
  %any = linalg.reduce { arith.ori } ins(%h : tensor<5x6xi1>) outs(%anyf : tensor<5xi1>) dimensions = [1]
  %ge = tensor.empty() : tensor<5x6xi1>
  %g = linalg.broadcast ins(%any : tensor<5xi1>) outs(%ge : tensor<5x6xi1>) dimensions = [1]
  %w = arith.select %g, %zeros, %p : tensor<5x6xi1>, tensor<5x6xf32>
  %oe = tensor.empty() : tensor<5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<5x8xf32>) -> tensor<5x8xf32>
  // expected-remark @below {{is no attention that can be raised: expects weights to be replaced by 0 only where all keys are hidden}}
  %o = linalg.matmul ins(%w, %v : tensor<5x6xf32>, tensor<6x8xf32>) outs(%of : tensor<5x8xf32>) -> tensor<5x8xf32>
  return %o : tensor<5x8xf32>
}

// All scores are other than 0.
func.func @all_positive(%q: tensor<5x8xf32>, %k: tensor<8x6xf32>, %v: tensor<6x8xf32>) -> tensor<5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %true = arith.constant true
  %zeros = arith.constant dense<0.0> : tensor<5x6xf32>
  %lows = arith.constant dense<0xFF800000> : tensor<5x6xf32>
  %mask = arith.constant dense<[[true, false, true, true, false, true], [true, true, false, true, true, true], [false, false, false, false, false, false], [false, true, true, false, true, false], [true, true, true, true, true, true]]> : tensor<5x6xi1>
  %dotse = tensor.empty() : tensor<5x6xf32>
  %dotsf = linalg.fill ins(%zero : f32) outs(%dotse : tensor<5x6xf32>) -> tensor<5x6xf32>
  %dots = linalg.matmul ins(%q, %k : tensor<5x8xf32>, tensor<8x6xf32>) outs(%dotsf : tensor<5x6xf32>) -> tensor<5x6xf32>
  %s = arith.select %mask, %dots, %lows : tensor<5x6xi1>, tensor<5x6xf32>
  %pe = tensor.empty() : tensor<5x6xf32>
  %p = linalg.softmax dimension(1) ins(%s : tensor<5x6xf32>) outs(%pe : tensor<5x6xf32>) -> tensor<5x6xf32>
  %h = arith.cmpf une, %s, %zeros : tensor<5x6xf32>
  %alle = tensor.empty() : tensor<5xi1>
  %allf = linalg.fill ins(%true : i1) outs(%alle : tensor<5xi1>) -> tensor<5xi1>
  %all = linalg.reduce { arith.andi } ins(%h : tensor<5x6xi1>) outs(%allf : tensor<5xi1>) dimensions = [1]
  %ge = tensor.empty() : tensor<5x6xi1>
  %g = linalg.broadcast ins(%all : tensor<5xi1>) outs(%ge : tensor<5x6xi1>) dimensions = [1]
  %w = arith.select %g, %zeros, %p : tensor<5x6xi1>, tensor<5x6xf32>
  %oe = tensor.empty() : tensor<5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<5x8xf32>) -> tensor<5x8xf32>
  // expected-remark @below {{is no attention that can be raised: expects weights to be replaced by 0 only where all keys are hidden}}
  %o = linalg.matmul ins(%w, %v : tensor<5x6xf32>, tensor<6x8xf32>) outs(%of : tensor<5x8xf32>) -> tensor<5x8xf32>
  return %o : tensor<5x8xf32>
}

// The mask comes after the sum alone.
func.func @masked_late(%q: tensor<5x8xf32>, %k: tensor<8x6xf32>, %v: tensor<6x8xf32>) -> tensor<5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %zeros = arith.constant dense<0.0> : tensor<5x6xf32>
  %mask = arith.constant dense<[[true, false, true, true, false, true], [true, true, false, true, true, true], [false, false, false, false, false, false], [false, true, true, false, true, false], [true, true, true, true, true, true]]> : tensor<5x6xi1>
  %dotse = tensor.empty() : tensor<5x6xf32>
  %dotsf = linalg.fill ins(%zero : f32) outs(%dotse : tensor<5x6xf32>) -> tensor<5x6xf32>
  %dots = linalg.matmul ins(%q, %k : tensor<5x8xf32>, tensor<8x6xf32>) outs(%dotsf : tensor<5x6xf32>) -> tensor<5x6xf32>
  %maxe = tensor.empty() : tensor<5xf32>
  %maxf = linalg.fill ins(%least : f32) outs(%maxe : tensor<5xf32>) -> tensor<5xf32>
  %max = linalg.reduce { arith.maximumf } ins(%dots : tensor<5x6xf32>) outs(%maxf : tensor<5xf32>) dimensions = [1]
  %maxwe = tensor.empty() : tensor<5x6xf32>
  %maxw = linalg.broadcast ins(%max : tensor<5xf32>) outs(%maxwe : tensor<5x6xf32>) dimensions = [1]
  %d = arith.subf %dots, %maxw : tensor<5x6xf32>
  %x = math.exp %d : tensor<5x6xf32>
  %sume = tensor.empty() : tensor<5xf32>
  %sumf = linalg.fill ins(%zero : f32) outs(%sume : tensor<5xf32>) -> tensor<5xf32>
  // expected-remark @below {{is no attention that can be raised: expects exponentials to be divided by their own sum, but got the sum of another function}}
  %sum = linalg.reduce { arith.addf } ins(%x : tensor<5x6xf32>) outs(%sumf : tensor<5xf32>) dimensions = [1]
  %sumwe = tensor.empty() : tensor<5x6xf32>
  %sumw = linalg.broadcast ins(%sum : tensor<5xf32>) outs(%sumwe : tensor<5x6xf32>) dimensions = [1]
  %p = arith.divf %x, %sumw : tensor<5x6xf32>
  %w = arith.select %mask, %p, %zeros : tensor<5x6xi1>, tensor<5x6xf32>
  %oe = tensor.empty() : tensor<5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<5x8xf32>) -> tensor<5x8xf32>
  %o = linalg.matmul ins(%w, %v : tensor<5x6xf32>, tensor<6x8xf32>) outs(%of : tensor<5x8xf32>) -> tensor<5x8xf32>
  return %o : tensor<5x8xf32>
}

// Rows of ones.
func.func @ones(%q: tensor<5x8xf32>, %k: tensor<8x6xf32>, %v: tensor<6x8xf32>) -> tensor<5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %true = arith.constant true
  %ones = arith.constant dense<1.0> : tensor<5x6xf32>
  %lows = arith.constant dense<0xFF800000> : tensor<5x6xf32>
  %mask = arith.constant dense<[[true, false, true, true, false, true], [true, true, false, true, true, true], [false, false, false, false, false, false], [false, true, true, false, true, false], [true, true, true, true, true, true]]> : tensor<5x6xi1>
  %dotse = tensor.empty() : tensor<5x6xf32>
  %dotsf = linalg.fill ins(%zero : f32) outs(%dotse : tensor<5x6xf32>) -> tensor<5x6xf32>
  %dots = linalg.matmul ins(%q, %k : tensor<5x8xf32>, tensor<8x6xf32>) outs(%dotsf : tensor<5x6xf32>) -> tensor<5x6xf32>
  %s = arith.select %mask, %dots, %lows : tensor<5x6xi1>, tensor<5x6xf32>
  %pe = tensor.empty() : tensor<5x6xf32>
  %p = linalg.softmax dimension(1) ins(%s : tensor<5x6xf32>) outs(%pe : tensor<5x6xf32>) -> tensor<5x6xf32>
  %h = arith.cmpf oeq, %s, %lows : tensor<5x6xf32>
  %alle = tensor.empty() : tensor<5xi1>
  %allf = linalg.fill ins(%true : i1) outs(%alle : tensor<5xi1>) -> tensor<5xi1>
  %all = linalg.reduce { arith.andi } ins(%h : tensor<5x6xi1>) outs(%allf : tensor<5xi1>) dimensions = [1]
  %ge = tensor.empty() : tensor<5x6xi1>
  %g = linalg.broadcast ins(%all : tensor<5xi1>) outs(%ge : tensor<5x6xi1>) dimensions = [1]
  %w = arith.select %g, %ones, %p : tensor<5x6xi1>, tensor<5x6xf32>
  %oe = tensor.empty() : tensor<5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<5x8xf32>) -> tensor<5x8xf32>
  // expected-remark @below {{is no attention that can be raised: expects softmax to be an operand of the contraction with values, but got 'arith.select' between}}
  %o = linalg.matmul ins(%w, %v : tensor<5x6xf32>, tensor<6x8xf32>) outs(%of : tensor<5x8xf32>) -> tensor<5x8xf32>
  return %o : tensor<5x8xf32>
}
