// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows without a visible key get zeros in many ways, PyTorch's scaled_dot_product_attention among them; and softmax is
// written through its logarithm. Query 2 of the constant mask sees no key.
//
// RUN: attune-opt %s --convert-linalg-to-attn | FileCheck %s
//
// In numbers.
// RUN: %python %S/Inputs/driver.py main %s > %t.main.mlir
// RUN: mlir-opt %t.main.mlir --transform-preload-library=transform-library-paths=%S/Inputs/decompose.mlir --transform-interpreter %cpu_pipeline \
// RUN:   | mlir-runner %cpu_runner > %t.before
// RUN: attune-opt %t.main.mlir --convert-linalg-to-attn --convert-attn-to-loops | mlir-opt %cpu_pipeline | mlir-runner %cpu_runner > %t.after
// RUN: %python %S/Inputs/driver.py compare %t.before %t.after 0.005 | FileCheck %s --check-prefix=NUMBERS
// NUMBERS: 11 results compared, 0 differ

// As torch-mlir has it: all scores are -inf.
// CHECK-LABEL: func.func @all_scores
// CHECK: attn.attention
// CHECK-NOT: linalg
func.func @all_scores(%q: tensor<5x8xf32>, %k: tensor<8x6xf32>, %v: tensor<6x8xf32>) -> tensor<5x8xf32> {
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
  %h = arith.cmpf oeq, %s, %lows : tensor<5x6xf32>
  %alle = tensor.empty() : tensor<5xi1>
  %allf = linalg.fill ins(%true : i1) outs(%alle : tensor<5xi1>) -> tensor<5xi1>
  %all = linalg.reduce { arith.andi } ins(%h : tensor<5x6xi1>) outs(%allf : tensor<5xi1>) dimensions = [1]
  %ge = tensor.empty() : tensor<5x6xi1>
  %g = linalg.broadcast ins(%all : tensor<5xi1>) outs(%ge : tensor<5x6xi1>) dimensions = [1]
  %w = arith.select %g, %zeros, %p : tensor<5x6xi1>, tensor<5x6xf32>
  %oe = tensor.empty() : tensor<5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<5x8xf32>) -> tensor<5x8xf32>
  %o = linalg.matmul ins(%w, %v : tensor<5x6xf32>, tensor<6x8xf32>) outs(%of : tensor<5x8xf32>) -> tensor<5x8xf32>
  return %o : tensor<5x8xf32>
}

// Any is not; the weights are divided apart.
// CHECK-LABEL: func.func @any_score
// CHECK: attn.attention
// CHECK-NOT: linalg
func.func @any_score(%q: tensor<5x8xf32>, %k: tensor<8x6xf32>, %v: tensor<6x8xf32>) -> tensor<5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %false = arith.constant false
  %zeros = arith.constant dense<0.0> : tensor<5x6xf32>
  %lows = arith.constant dense<0xFF800000> : tensor<5x6xf32>
  %mask = arith.constant dense<[[true, false, true, true, false, true], [true, true, false, true, true, true], [false, false, false, false, false, false], [false, true, true, false, true, false], [true, true, true, true, true, true]]> : tensor<5x6xi1>
  %dotse = tensor.empty() : tensor<5x6xf32>
  %dotsf = linalg.fill ins(%zero : f32) outs(%dotse : tensor<5x6xf32>) -> tensor<5x6xf32>
  %dots = linalg.matmul ins(%q, %k : tensor<5x8xf32>, tensor<8x6xf32>) outs(%dotsf : tensor<5x6xf32>) -> tensor<5x6xf32>
  %s = arith.select %mask, %dots, %lows : tensor<5x6xi1>, tensor<5x6xf32>
  %maxe = tensor.empty() : tensor<5xf32>
  %maxf = linalg.fill ins(%least : f32) outs(%maxe : tensor<5xf32>) -> tensor<5xf32>
  %max = linalg.reduce { arith.maximumf } ins(%s : tensor<5x6xf32>) outs(%maxf : tensor<5xf32>) dimensions = [1]
  %maxwe = tensor.empty() : tensor<5x6xf32>
  %maxw = linalg.broadcast ins(%max : tensor<5xf32>) outs(%maxwe : tensor<5x6xf32>) dimensions = [1]
  %d = arith.subf %s, %maxw : tensor<5x6xf32>
  %x = math.exp %d : tensor<5x6xf32>
  %sume = tensor.empty() : tensor<5xf32>
  %sumf = linalg.fill ins(%zero : f32) outs(%sume : tensor<5xf32>) -> tensor<5xf32>
  %sum = linalg.reduce { arith.addf } ins(%x : tensor<5x6xf32>) outs(%sumf : tensor<5xf32>) dimensions = [1]
  %sumwe = tensor.empty() : tensor<5x6xf32>
  %sumw = linalg.broadcast ins(%sum : tensor<5xf32>) outs(%sumwe : tensor<5x6xf32>) dimensions = [1]
  %p = arith.divf %x, %sumw : tensor<5x6xf32>
  %h = arith.cmpf une, %s, %lows : tensor<5x6xf32>
  %anye = tensor.empty() : tensor<5xi1>
  %anyf = linalg.fill ins(%false : i1) outs(%anye : tensor<5xi1>) -> tensor<5xi1>
  %any = linalg.reduce { arith.ori } ins(%h : tensor<5x6xi1>) outs(%anyf : tensor<5xi1>) dimensions = [1]
  %ge = tensor.empty() : tensor<5x6xi1>
  %g = linalg.broadcast ins(%any : tensor<5xi1>) outs(%ge : tensor<5x6xi1>) dimensions = [1]
  %w = arith.select %g, %p, %zeros : tensor<5x6xi1>, tensor<5x6xf32>
  %oe = tensor.empty() : tensor<5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<5x8xf32>) -> tensor<5x8xf32>
  %o = linalg.matmul ins(%w, %v : tensor<5x6xf32>, tensor<6x8xf32>) outs(%of : tensor<5x8xf32>) -> tensor<5x8xf32>
  return %o : tensor<5x8xf32>
}

// The mask itself says so.
// CHECK-LABEL: func.func @all_masked
// CHECK: attn.attention
// CHECK-NOT: linalg
func.func @all_masked(%q: tensor<5x8xf32>, %k: tensor<8x6xf32>, %v: tensor<6x8xf32>) -> tensor<5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %true = arith.constant true
  %zeros = arith.constant dense<0.0> : tensor<5x6xf32>
  %lows = arith.constant dense<0xFF800000> : tensor<5x6xf32>
  %truem = arith.constant dense<true> : tensor<5x6xi1>
  %mask = arith.constant dense<[[true, false, true, true, false, true], [true, true, false, true, true, true], [false, false, false, false, false, false], [false, true, true, false, true, false], [true, true, true, true, true, true]]> : tensor<5x6xi1>
  %dotse = tensor.empty() : tensor<5x6xf32>
  %dotsf = linalg.fill ins(%zero : f32) outs(%dotse : tensor<5x6xf32>) -> tensor<5x6xf32>
  %dots = linalg.matmul ins(%q, %k : tensor<5x8xf32>, tensor<8x6xf32>) outs(%dotsf : tensor<5x6xf32>) -> tensor<5x6xf32>
  %s = arith.select %mask, %dots, %lows : tensor<5x6xi1>, tensor<5x6xf32>
  %pe = tensor.empty() : tensor<5x6xf32>
  %p = linalg.softmax dimension(1) ins(%s : tensor<5x6xf32>) outs(%pe : tensor<5x6xf32>) -> tensor<5x6xf32>
  %h = arith.xori %mask, %truem : tensor<5x6xi1>
  %alle = tensor.empty() : tensor<5xi1>
  %allf = linalg.fill ins(%true : i1) outs(%alle : tensor<5xi1>) -> tensor<5xi1>
  %all = linalg.reduce { arith.andi } ins(%h : tensor<5x6xi1>) outs(%allf : tensor<5xi1>) dimensions = [1]
  %ge = tensor.empty() : tensor<5x6xi1>
  %g = linalg.broadcast ins(%all : tensor<5xi1>) outs(%ge : tensor<5x6xi1>) dimensions = [1]
  %w = arith.select %g, %zeros, %p : tensor<5x6xi1>, tensor<5x6xf32>
  %oe = tensor.empty() : tensor<5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<5x8xf32>) -> tensor<5x8xf32>
  %o = linalg.matmul ins(%w, %v : tensor<5x6xf32>, tensor<6x8xf32>) outs(%of : tensor<5x8xf32>) -> tensor<5x8xf32>
  return %o : tensor<5x8xf32>
}

// 0 / 0 is no number.
// CHECK-LABEL: func.func @not_a_number
// CHECK: attn.attention
// CHECK-NOT: linalg
func.func @not_a_number(%q: tensor<5x8xf32>, %k: tensor<8x6xf32>, %v: tensor<6x8xf32>) -> tensor<5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<5x6xf32>
  %lows = arith.constant dense<0xFF800000> : tensor<5x6xf32>
  %mask = arith.constant dense<[[true, false, true, true, false, true], [true, true, false, true, true, true], [false, false, false, false, false, false], [false, true, true, false, true, false], [true, true, true, true, true, true]]> : tensor<5x6xi1>
  %dotse = tensor.empty() : tensor<5x6xf32>
  %dotsf = linalg.fill ins(%zero : f32) outs(%dotse : tensor<5x6xf32>) -> tensor<5x6xf32>
  %dots = linalg.matmul ins(%q, %k : tensor<5x8xf32>, tensor<8x6xf32>) outs(%dotsf : tensor<5x6xf32>) -> tensor<5x6xf32>
  %s = arith.select %mask, %dots, %lows : tensor<5x6xi1>, tensor<5x6xf32>
  %pe = tensor.empty() : tensor<5x6xf32>
  %p = linalg.softmax dimension(1) ins(%s : tensor<5x6xf32>) outs(%pe : tensor<5x6xf32>) -> tensor<5x6xf32>
  %h = arith.cmpf uno, %p, %p : tensor<5x6xf32>
  %w = arith.select %h, %zeros, %p : tensor<5x6xi1>, tensor<5x6xf32>
  %oe = tensor.empty() : tensor<5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<5x8xf32>) -> tensor<5x8xf32>
  %o = linalg.matmul ins(%w, %v : tensor<5x6xf32>, tensor<6x8xf32>) outs(%of : tensor<5x8xf32>) -> tensor<5x8xf32>
  return %o : tensor<5x8xf32>
}

// The largest score is -inf.
// CHECK-LABEL: func.func @maximum
// CHECK: attn.attention
// CHECK-NOT: linalg
func.func @maximum(%q: tensor<5x8xf32>, %k: tensor<8x6xf32>, %v: tensor<6x8xf32>) -> tensor<5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %zeros = arith.constant dense<0.0> : tensor<5x6xf32>
  %lows = arith.constant dense<0xFF800000> : tensor<5x6xf32>
  %low1 = arith.constant dense<0xFF800000> : tensor<5xf32>
  %mask = arith.constant dense<[[true, false, true, true, false, true], [true, true, false, true, true, true], [false, false, false, false, false, false], [false, true, true, false, true, false], [true, true, true, true, true, true]]> : tensor<5x6xi1>
  %dotse = tensor.empty() : tensor<5x6xf32>
  %dotsf = linalg.fill ins(%zero : f32) outs(%dotse : tensor<5x6xf32>) -> tensor<5x6xf32>
  %dots = linalg.matmul ins(%q, %k : tensor<5x8xf32>, tensor<8x6xf32>) outs(%dotsf : tensor<5x6xf32>) -> tensor<5x6xf32>
  %s = arith.select %mask, %dots, %lows : tensor<5x6xi1>, tensor<5x6xf32>
  %maxe = tensor.empty() : tensor<5xf32>
  %maxf = linalg.fill ins(%least : f32) outs(%maxe : tensor<5xf32>) -> tensor<5xf32>
  %max = linalg.reduce { arith.maximumf } ins(%s : tensor<5x6xf32>) outs(%maxf : tensor<5xf32>) dimensions = [1]
  %maxwe = tensor.empty() : tensor<5x6xf32>
  %maxw = linalg.broadcast ins(%max : tensor<5xf32>) outs(%maxwe : tensor<5x6xf32>) dimensions = [1]
  %d = arith.subf %s, %maxw : tensor<5x6xf32>
  %x = math.exp %d : tensor<5x6xf32>
  %sume = tensor.empty() : tensor<5xf32>
  %sumf = linalg.fill ins(%zero : f32) outs(%sume : tensor<5xf32>) -> tensor<5xf32>
  %sum = linalg.reduce { arith.addf } ins(%x : tensor<5x6xf32>) outs(%sumf : tensor<5xf32>) dimensions = [1]
  %sumwe = tensor.empty() : tensor<5x6xf32>
  %sumw = linalg.broadcast ins(%sum : tensor<5xf32>) outs(%sumwe : tensor<5x6xf32>) dimensions = [1]
  %p = arith.divf %x, %sumw : tensor<5x6xf32>
  %h = arith.cmpf oeq, %max, %low1 : tensor<5xf32>
  %ge = tensor.empty() : tensor<5x6xi1>
  %g = linalg.broadcast ins(%h : tensor<5xi1>) outs(%ge : tensor<5x6xi1>) dimensions = [1]
  %w = arith.select %g, %zeros, %p : tensor<5x6xi1>, tensor<5x6xf32>
  %oe = tensor.empty() : tensor<5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<5x8xf32>) -> tensor<5x8xf32>
  %o = linalg.matmul ins(%w, %v : tensor<5x6xf32>, tensor<6x8xf32>) outs(%of : tensor<5x8xf32>) -> tensor<5x8xf32>
  return %o : tensor<5x8xf32>
}

// The sum is 0.
// CHECK-LABEL: func.func @no_sum
// CHECK: attn.attention
// CHECK-NOT: linalg
func.func @no_sum(%q: tensor<5x8xf32>, %k: tensor<8x6xf32>, %v: tensor<6x8xf32>) -> tensor<5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %zeros = arith.constant dense<0.0> : tensor<5x6xf32>
  %lows = arith.constant dense<0xFF800000> : tensor<5x6xf32>
  %low1 = arith.constant dense<0xFF800000> : tensor<5xf32>
  %zero1 = arith.constant dense<0.0> : tensor<5xf32>
  %mask = arith.constant dense<[[true, false, true, true, false, true], [true, true, false, true, true, true], [false, false, false, false, false, false], [false, true, true, false, true, false], [true, true, true, true, true, true]]> : tensor<5x6xi1>
  %dotse = tensor.empty() : tensor<5x6xf32>
  %dotsf = linalg.fill ins(%zero : f32) outs(%dotse : tensor<5x6xf32>) -> tensor<5x6xf32>
  %dots = linalg.matmul ins(%q, %k : tensor<5x8xf32>, tensor<8x6xf32>) outs(%dotsf : tensor<5x6xf32>) -> tensor<5x6xf32>
  %s = arith.select %mask, %dots, %lows : tensor<5x6xi1>, tensor<5x6xf32>
  %maxe = tensor.empty() : tensor<5xf32>
  %maxf = linalg.fill ins(%least : f32) outs(%maxe : tensor<5xf32>) -> tensor<5xf32>
  %max = linalg.reduce { arith.maximumf } ins(%s : tensor<5x6xf32>) outs(%maxf : tensor<5xf32>) dimensions = [1]
  %none = arith.cmpf oeq, %max, %low1 : tensor<5xf32>
  %finite = arith.select %none, %zero1, %max : tensor<5xi1>, tensor<5xf32>
  %maxwe = tensor.empty() : tensor<5x6xf32>
  %maxw = linalg.broadcast ins(%finite : tensor<5xf32>) outs(%maxwe : tensor<5x6xf32>) dimensions = [1]
  %d = arith.subf %s, %maxw : tensor<5x6xf32>
  %x = math.exp %d : tensor<5x6xf32>
  %sume = tensor.empty() : tensor<5xf32>
  %sumf = linalg.fill ins(%zero : f32) outs(%sume : tensor<5xf32>) -> tensor<5xf32>
  %sum = linalg.reduce { arith.addf } ins(%x : tensor<5x6xf32>) outs(%sumf : tensor<5xf32>) dimensions = [1]
  %h = arith.cmpf oeq, %sum, %zero1 : tensor<5xf32>
  %ge = tensor.empty() : tensor<5x6xi1>
  %g = linalg.broadcast ins(%h : tensor<5xi1>) outs(%ge : tensor<5x6xi1>) dimensions = [1]
  %sumwe = tensor.empty() : tensor<5x6xf32>
  %sumw = linalg.broadcast ins(%sum : tensor<5xf32>) outs(%sumwe : tensor<5x6xf32>) dimensions = [1]
  %p = arith.divf %x, %sumw : tensor<5x6xf32>
  %w = arith.select %g, %zeros, %p : tensor<5x6xi1>, tensor<5x6xf32>
  %oe = tensor.empty() : tensor<5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<5x8xf32>) -> tensor<5x8xf32>
  %o = linalg.matmul ins(%w, %v : tensor<5x6xf32>, tensor<6x8xf32>) outs(%of : tensor<5x8xf32>) -> tensor<5x8xf32>
  return %o : tensor<5x8xf32>
}

// A sum of 0 divides as 1 does.
// CHECK-LABEL: func.func @other_divisor
// CHECK: attn.attention
// CHECK-NOT: linalg
func.func @other_divisor(%q: tensor<5x8xf32>, %k: tensor<8x6xf32>, %v: tensor<6x8xf32>) -> tensor<5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %lows = arith.constant dense<0xFF800000> : tensor<5x6xf32>
  %low1 = arith.constant dense<0xFF800000> : tensor<5xf32>
  %zero1 = arith.constant dense<0.0> : tensor<5xf32>
  %one1 = arith.constant dense<1.0> : tensor<5xf32>
  %mask = arith.constant dense<[[true, false, true, true, false, true], [true, true, false, true, true, true], [false, false, false, false, false, false], [false, true, true, false, true, false], [true, true, true, true, true, true]]> : tensor<5x6xi1>
  %dotse = tensor.empty() : tensor<5x6xf32>
  %dotsf = linalg.fill ins(%zero : f32) outs(%dotse : tensor<5x6xf32>) -> tensor<5x6xf32>
  %dots = linalg.matmul ins(%q, %k : tensor<5x8xf32>, tensor<8x6xf32>) outs(%dotsf : tensor<5x6xf32>) -> tensor<5x6xf32>
  %s = arith.select %mask, %dots, %lows : tensor<5x6xi1>, tensor<5x6xf32>
  %maxe = tensor.empty() : tensor<5xf32>
  %maxf = linalg.fill ins(%least : f32) outs(%maxe : tensor<5xf32>) -> tensor<5xf32>
  %max = linalg.reduce { arith.maximumf } ins(%s : tensor<5x6xf32>) outs(%maxf : tensor<5xf32>) dimensions = [1]
  %none = arith.cmpf oeq, %max, %low1 : tensor<5xf32>
  %finite = arith.select %none, %zero1, %max : tensor<5xi1>, tensor<5xf32>
  %maxwe = tensor.empty() : tensor<5x6xf32>
  %maxw = linalg.broadcast ins(%finite : tensor<5xf32>) outs(%maxwe : tensor<5x6xf32>) dimensions = [1]
  %d = arith.subf %s, %maxw : tensor<5x6xf32>
  %x = math.exp %d : tensor<5x6xf32>
  %sume = tensor.empty() : tensor<5xf32>
  %sumf = linalg.fill ins(%zero : f32) outs(%sume : tensor<5xf32>) -> tensor<5xf32>
  %sum = linalg.reduce { arith.addf } ins(%x : tensor<5x6xf32>) outs(%sumf : tensor<5xf32>) dimensions = [1]
  %h = arith.cmpf oeq, %sum, %zero1 : tensor<5xf32>
  %any = arith.select %h, %one1, %sum : tensor<5xi1>, tensor<5xf32>
  %sumwe = tensor.empty() : tensor<5x6xf32>
  %sumw = linalg.broadcast ins(%any : tensor<5xf32>) outs(%sumwe : tensor<5x6xf32>) dimensions = [1]
  %w = arith.divf %x, %sumw : tensor<5x6xf32>
  %oe = tensor.empty() : tensor<5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<5x8xf32>) -> tensor<5x8xf32>
  %o = linalg.matmul ins(%w, %v : tensor<5x6xf32>, tensor<6x8xf32>) outs(%of : tensor<5x8xf32>) -> tensor<5x8xf32>
  return %o : tensor<5x8xf32>
}

// As jax.nn.softmax has it with `where`: exponentials and weights are masked as well.
// CHECK-LABEL: func.func @masked_again
// CHECK: attn.attention
// CHECK-NOT: linalg
func.func @masked_again(%q: tensor<5x8xf32>, %k: tensor<8x6xf32>, %v: tensor<6x8xf32>) -> tensor<5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %zeros = arith.constant dense<0.0> : tensor<5x6xf32>
  %lows = arith.constant dense<0xFF800000> : tensor<5x6xf32>
  %mask = arith.constant dense<[[true, false, true, true, false, true], [true, true, false, true, true, true], [false, false, false, false, false, false], [false, true, true, false, true, false], [true, true, true, true, true, true]]> : tensor<5x6xi1>
  %dotse = tensor.empty() : tensor<5x6xf32>
  %dotsf = linalg.fill ins(%zero : f32) outs(%dotse : tensor<5x6xf32>) -> tensor<5x6xf32>
  %dots = linalg.matmul ins(%q, %k : tensor<5x8xf32>, tensor<8x6xf32>) outs(%dotsf : tensor<5x6xf32>) -> tensor<5x6xf32>
  %s = arith.select %mask, %dots, %lows : tensor<5x6xi1>, tensor<5x6xf32>
  %maxe = tensor.empty() : tensor<5xf32>
  %maxf = linalg.fill ins(%least : f32) outs(%maxe : tensor<5xf32>) -> tensor<5xf32>
  %max = linalg.reduce { arith.maximumf } ins(%s : tensor<5x6xf32>) outs(%maxf : tensor<5xf32>) dimensions = [1]
  %maxwe = tensor.empty() : tensor<5x6xf32>
  %maxw = linalg.broadcast ins(%max : tensor<5xf32>) outs(%maxwe : tensor<5x6xf32>) dimensions = [1]
  %d = arith.subf %s, %maxw : tensor<5x6xf32>
  %x = math.exp %d : tensor<5x6xf32>
  %xm = arith.select %mask, %x, %zeros : tensor<5x6xi1>, tensor<5x6xf32>
  %sume = tensor.empty() : tensor<5xf32>
  %sumf = linalg.fill ins(%zero : f32) outs(%sume : tensor<5xf32>) -> tensor<5xf32>
  %sum = linalg.reduce { arith.addf } ins(%xm : tensor<5x6xf32>) outs(%sumf : tensor<5xf32>) dimensions = [1]
  %sumwe = tensor.empty() : tensor<5x6xf32>
  %sumw = linalg.broadcast ins(%sum : tensor<5xf32>) outs(%sumwe : tensor<5x6xf32>) dimensions = [1]
  %p = arith.divf %x, %sumw : tensor<5x6xf32>
  %w = arith.select %mask, %p, %zeros : tensor<5x6xi1>, tensor<5x6xf32>
  %oe = tensor.empty() : tensor<5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<5x8xf32>) -> tensor<5x8xf32>
  %o = linalg.matmul ins(%w, %v : tensor<5x6xf32>, tensor<6x8xf32>) outs(%of : tensor<5x8xf32>) -> tensor<5x8xf32>
  return %o : tensor<5x8xf32>
}

// exp((s - max) - log(sum)).
// CHECK-LABEL: func.func @log_softmax
// CHECK: attn.attention
// CHECK-NOT: linalg
func.func @log_softmax(%q: tensor<5x8xf32>, %k: tensor<8x6xf32>, %v: tensor<6x8xf32>) -> tensor<5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
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
  %l = math.log %sum : tensor<5xf32>
  %lwe = tensor.empty() : tensor<5x6xf32>
  %lw = linalg.broadcast ins(%l : tensor<5xf32>) outs(%lwe : tensor<5x6xf32>) dimensions = [1]
  %y = arith.subf %d, %lw : tensor<5x6xf32>
  %w = math.exp %y : tensor<5x6xf32>
  %oe = tensor.empty() : tensor<5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<5x8xf32>) -> tensor<5x8xf32>
  %o = linalg.matmul ins(%w, %v : tensor<5x6xf32>, tensor<6x8xf32>) outs(%of : tensor<5x8xf32>) -> tensor<5x8xf32>
  return %o : tensor<5x8xf32>
}

// exp(s - (max + log(sum))), of an absolute value as JAX has it.
// CHECK-LABEL: func.func @log_sum_exp
// CHECK: attn.attention
// CHECK-NOT: linalg
func.func @log_sum_exp(%q: tensor<5x8xf32>, %k: tensor<8x6xf32>, %v: tensor<6x8xf32>) -> tensor<5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
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
  %a = math.absf %sum : tensor<5xf32>
  %l = math.log %a : tensor<5xf32>
  %lse = arith.addf %max, %l : tensor<5xf32>
  %lwe = tensor.empty() : tensor<5x6xf32>
  %lw = linalg.broadcast ins(%lse : tensor<5xf32>) outs(%lwe : tensor<5x6xf32>) dimensions = [1]
  %y = arith.subf %dots, %lw : tensor<5x6xf32>
  %w = math.exp %y : tensor<5x6xf32>
  %oe = tensor.empty() : tensor<5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<5x8xf32>) -> tensor<5x8xf32>
  %o = linalg.matmul ins(%w, %v : tensor<5x6xf32>, tensor<6x8xf32>) outs(%of : tensor<5x8xf32>) -> tensor<5x8xf32>
  return %o : tensor<5x8xf32>
}

// Powers of a constant.
// CHECK-LABEL: func.func @powers
// CHECK: attn.attention {{.*}} scale(0.693147
// CHECK-NOT: linalg
func.func @powers(%q: tensor<5x8xf32>, %k: tensor<8x6xf32>, %v: tensor<6x8xf32>) -> tensor<5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %twos = arith.constant dense<2.0> : tensor<5x6xf32>
  %dotse = tensor.empty() : tensor<5x6xf32>
  %dotsf = linalg.fill ins(%zero : f32) outs(%dotse : tensor<5x6xf32>) -> tensor<5x6xf32>
  %dots = linalg.matmul ins(%q, %k : tensor<5x8xf32>, tensor<8x6xf32>) outs(%dotsf : tensor<5x6xf32>) -> tensor<5x6xf32>
  %maxe = tensor.empty() : tensor<5xf32>
  %maxf = linalg.fill ins(%least : f32) outs(%maxe : tensor<5xf32>) -> tensor<5xf32>
  %max = linalg.reduce { arith.maximumf } ins(%dots : tensor<5x6xf32>) outs(%maxf : tensor<5xf32>) dimensions = [1]
  %maxwe = tensor.empty() : tensor<5x6xf32>
  %maxw = linalg.broadcast ins(%max : tensor<5xf32>) outs(%maxwe : tensor<5x6xf32>) dimensions = [1]
  %d = arith.subf %dots, %maxw : tensor<5x6xf32>
  %x = math.powf %twos, %d : tensor<5x6xf32>
  %sume = tensor.empty() : tensor<5xf32>
  %sumf = linalg.fill ins(%zero : f32) outs(%sume : tensor<5xf32>) -> tensor<5xf32>
  %sum = linalg.reduce { arith.addf } ins(%x : tensor<5x6xf32>) outs(%sumf : tensor<5xf32>) dimensions = [1]
  %sumwe = tensor.empty() : tensor<5x6xf32>
  %sumw = linalg.broadcast ins(%sum : tensor<5xf32>) outs(%sumwe : tensor<5x6xf32>) dimensions = [1]
  %w = arith.divf %x, %sumw : tensor<5x6xf32>
  %oe = tensor.empty() : tensor<5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<5x8xf32>) -> tensor<5x8xf32>
  %o = linalg.matmul ins(%w, %v : tensor<5x6xf32>, tensor<6x8xf32>) outs(%of : tensor<5x8xf32>) -> tensor<5x8xf32>
  return %o : tensor<5x8xf32>
}
