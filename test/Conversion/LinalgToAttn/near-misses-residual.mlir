// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums of exponentials, beside those of the weights, whose logarithm attention does not give.
//
// RUN: attune-opt %s --convert-linalg-to-attn --split-input-file --verify-diagnostics > %t.after
// RUN: attune-opt %s --split-input-file > %t.before
// RUN: diff %t.before %t.after

// Of scores that are not masked.
func.func @other_scores(%q: tensor<2x5x8xf32>, %k: tensor<2x5x8xf32>, %v: tensor<2x5x8xf32>) -> (tensor<2x5x8xf32>, tensor<2x5xf32>) {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x5x5xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
  %s = linalg.contract indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>] ins(%q, %k : tensor<2x5x8xf32>, tensor<2x5x8xf32>) outs(%sf : tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
  %masked = linalg.generic {indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%s : tensor<2x5x5xf32>) outs(%se : tensor<2x5x5xf32>) {
  ^bb0(%x: f32, %out: f32):
    %m = linalg.index 1 : index
    %n = linalg.index 2 : index
    %sees = arith.cmpi sge, %m, %n : index
    %y = arith.select %sees, %x, %low : f32
    linalg.yield %y : f32
  } -> tensor<2x5x5xf32>
  %p = linalg.softmax dimension(2) ins(%masked : tensor<2x5x5xf32>) outs(%se : tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
  %oe = tensor.empty() : tensor<2x5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<2x5x5xf32>, tensor<2x5x8xf32>) outs(%of : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %re = tensor.empty() : tensor<2x5xf32>
  %rf = linalg.fill ins(%low : f32) outs(%re : tensor<2x5xf32>) -> tensor<2x5xf32>
  %zf = linalg.fill ins(%zero : f32) outs(%re : tensor<2x5xf32>) -> tensor<2x5xf32>
  %max = linalg.reduce { arith.maximumf } ins(%masked : tensor<2x5x5xf32>) outs(%rf : tensor<2x5xf32>) dimensions = [2]
  %total = linalg.generic {indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, m)>, affine_map<(b, m, n) -> (b, m)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%s, %max : tensor<2x5x5xf32>, tensor<2x5xf32>) outs(%zf : tensor<2x5xf32>) {
  ^bb0(%x: f32, %c: f32, %acc: f32):
    %less = arith.subf %x, %c : f32
    %e = math.exp %less : f32
    %sum = arith.addf %acc, %e : f32
    linalg.yield %sum : f32
  } -> tensor<2x5xf32>
  %lse = linalg.generic {indexing_maps = [affine_map<(b, m) -> (b, m)>, affine_map<(b, m) -> (b, m)>, affine_map<(b, m) -> (b, m)>], iterator_types = ["parallel", "parallel"]}
    ins(%total, %max : tensor<2x5xf32>, tensor<2x5xf32>) outs(%re : tensor<2x5xf32>) {
  ^bb0(%x: f32, %c: f32, %out: f32):
    %l = math.log %x : f32
    %y = arith.addf %l, %c : f32
    linalg.yield %y : f32
  } -> tensor<2x5xf32>
  // expected-remark @below {{is no attention that can be raised: expects scores and weights to be used by the attention alone, but got a use by 'func.return'}}
  return %o, %lse : tensor<2x5x8xf32>, tensor<2x5xf32>
}

// -----

// A part of the exponentials that is not a power of e alone.
func.func @squared(%q: tensor<2x5x8xf32>, %k: tensor<2x5x8xf32>, %v: tensor<2x5x8xf32>) -> (tensor<2x5x8xf32>, tensor<2x5xf32>) {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x5x5xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
  %s = linalg.contract indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>] ins(%q, %k : tensor<2x5x8xf32>, tensor<2x5x8xf32>) outs(%sf : tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
  %masked = linalg.generic {indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%s : tensor<2x5x5xf32>) outs(%se : tensor<2x5x5xf32>) {
  ^bb0(%x: f32, %out: f32):
    %m = linalg.index 1 : index
    %n = linalg.index 2 : index
    %sees = arith.cmpi sge, %m, %n : index
    %y = arith.select %sees, %x, %low : f32
    linalg.yield %y : f32
  } -> tensor<2x5x5xf32>
  %p = linalg.softmax dimension(2) ins(%masked : tensor<2x5x5xf32>) outs(%se : tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
  %oe = tensor.empty() : tensor<2x5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<2x5x5xf32>, tensor<2x5x8xf32>) outs(%of : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %re = tensor.empty() : tensor<2x5xf32>
  %rf = linalg.fill ins(%low : f32) outs(%re : tensor<2x5xf32>) -> tensor<2x5xf32>
  %zf = linalg.fill ins(%zero : f32) outs(%re : tensor<2x5xf32>) -> tensor<2x5xf32>
  %max = linalg.reduce { arith.maximumf } ins(%masked : tensor<2x5x5xf32>) outs(%rf : tensor<2x5xf32>) dimensions = [2]
  %total = linalg.generic {indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, m)>, affine_map<(b, m, n) -> (b, m)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%masked, %max : tensor<2x5x5xf32>, tensor<2x5xf32>) outs(%zf : tensor<2x5xf32>) {
  ^bb0(%x: f32, %c: f32, %acc: f32):
    %less = arith.subf %x, %c : f32
    %e = math.exp %less : f32
    %ee = arith.mulf %e, %e : f32
    %sum = arith.addf %acc, %ee : f32
    linalg.yield %sum : f32
  } -> tensor<2x5xf32>
  %lse = linalg.generic {indexing_maps = [affine_map<(b, m) -> (b, m)>, affine_map<(b, m) -> (b, m)>, affine_map<(b, m) -> (b, m)>], iterator_types = ["parallel", "parallel"]}
    ins(%total, %max : tensor<2x5xf32>, tensor<2x5xf32>) outs(%re : tensor<2x5xf32>) {
  ^bb0(%x: f32, %c: f32, %out: f32):
    %l = math.log %x : f32
    %y = arith.addf %l, %c : f32
    linalg.yield %y : f32
  } -> tensor<2x5xf32>
  // expected-remark @below {{is no attention that can be raised: expects scores and weights to be used by the attention alone, but got a use by 'func.return'}}
  return %o, %lse : tensor<2x5x8xf32>, tensor<2x5xf32>
}

// -----

// Another shift than the one that is added.
func.func @other_shift(%q: tensor<2x5x8xf32>, %k: tensor<2x5x8xf32>, %v: tensor<2x5x8xf32>) -> (tensor<2x5x8xf32>, tensor<2x5xf32>) {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x5x5xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
  %s = linalg.contract indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>] ins(%q, %k : tensor<2x5x8xf32>, tensor<2x5x8xf32>) outs(%sf : tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
  %masked = linalg.generic {indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%s : tensor<2x5x5xf32>) outs(%se : tensor<2x5x5xf32>) {
  ^bb0(%x: f32, %out: f32):
    %m = linalg.index 1 : index
    %n = linalg.index 2 : index
    %sees = arith.cmpi sge, %m, %n : index
    %y = arith.select %sees, %x, %low : f32
    linalg.yield %y : f32
  } -> tensor<2x5x5xf32>
  %p = linalg.softmax dimension(2) ins(%masked : tensor<2x5x5xf32>) outs(%se : tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
  %oe = tensor.empty() : tensor<2x5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<2x5x5xf32>, tensor<2x5x8xf32>) outs(%of : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %re = tensor.empty() : tensor<2x5xf32>
  %rf = linalg.fill ins(%low : f32) outs(%re : tensor<2x5xf32>) -> tensor<2x5xf32>
  %zf = linalg.fill ins(%zero : f32) outs(%re : tensor<2x5xf32>) -> tensor<2x5xf32>
  %max = linalg.reduce { arith.maximumf } ins(%masked : tensor<2x5x5xf32>) outs(%rf : tensor<2x5xf32>) dimensions = [2]
  %total = linalg.generic {indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, m)>, affine_map<(b, m, n) -> (b, m)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%masked, %max : tensor<2x5x5xf32>, tensor<2x5xf32>) outs(%zf : tensor<2x5xf32>) {
  ^bb0(%x: f32, %c: f32, %acc: f32):
    %less = arith.subf %x, %c : f32
    %e = math.exp %less : f32
    %sum = arith.addf %acc, %e : f32
    linalg.yield %sum : f32
  } -> tensor<2x5xf32>
  %lse = linalg.generic {indexing_maps = [affine_map<(b, m) -> (b, m)>, affine_map<(b, m) -> (b, m)>, affine_map<(b, m) -> (b, m)>], iterator_types = ["parallel", "parallel"]}
    ins(%total, %max : tensor<2x5xf32>, tensor<2x5xf32>) outs(%re : tensor<2x5xf32>) {
  ^bb0(%x: f32, %c: f32, %out: f32):
    %l = math.log %x : f32
    %y = arith.subf %l, %c : f32
    linalg.yield %y : f32
  } -> tensor<2x5xf32>
  // expected-remark @below {{is no attention that can be raised: expects scores and weights to be used by the attention alone, but got a use by 'func.return'}}
  return %o, %lse : tensor<2x5x8xf32>, tensor<2x5xf32>
}

// -----

// In base 2.
func.func @base_2(%q: tensor<2x5x8xf32>, %k: tensor<2x5x8xf32>, %v: tensor<2x5x8xf32>) -> (tensor<2x5x8xf32>, tensor<2x5xf32>) {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x5x5xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
  %s = linalg.contract indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>] ins(%q, %k : tensor<2x5x8xf32>, tensor<2x5x8xf32>) outs(%sf : tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
  %masked = linalg.generic {indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%s : tensor<2x5x5xf32>) outs(%se : tensor<2x5x5xf32>) {
  ^bb0(%x: f32, %out: f32):
    %m = linalg.index 1 : index
    %n = linalg.index 2 : index
    %sees = arith.cmpi sge, %m, %n : index
    %y = arith.select %sees, %x, %low : f32
    linalg.yield %y : f32
  } -> tensor<2x5x5xf32>
  %p = linalg.softmax dimension(2) ins(%masked : tensor<2x5x5xf32>) outs(%se : tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
  %oe = tensor.empty() : tensor<2x5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<2x5x5xf32>, tensor<2x5x8xf32>) outs(%of : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %re = tensor.empty() : tensor<2x5xf32>
  %rf = linalg.fill ins(%low : f32) outs(%re : tensor<2x5xf32>) -> tensor<2x5xf32>
  %zf = linalg.fill ins(%zero : f32) outs(%re : tensor<2x5xf32>) -> tensor<2x5xf32>
  %max = linalg.reduce { arith.maximumf } ins(%masked : tensor<2x5x5xf32>) outs(%rf : tensor<2x5xf32>) dimensions = [2]
  %total = linalg.generic {indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, m)>, affine_map<(b, m, n) -> (b, m)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%masked, %max : tensor<2x5x5xf32>, tensor<2x5xf32>) outs(%zf : tensor<2x5xf32>) {
  ^bb0(%x: f32, %c: f32, %acc: f32):
    %less = arith.subf %x, %c : f32
    %e = math.exp %less : f32
    %sum = arith.addf %acc, %e : f32
    linalg.yield %sum : f32
  } -> tensor<2x5xf32>
  // expected-remark @below {{is no attention that can be raised: expects the natural logarithm of the sum of exponentials, but got 1.442695 times that}}
  %lse = linalg.generic {indexing_maps = [affine_map<(b, m) -> (b, m)>, affine_map<(b, m) -> (b, m)>, affine_map<(b, m) -> (b, m)>], iterator_types = ["parallel", "parallel"]}
    ins(%total, %max : tensor<2x5xf32>, tensor<2x5xf32>) outs(%re : tensor<2x5xf32>) {
  ^bb0(%x: f32, %c: f32, %out: f32):
    %l = math.log %x : f32
    %z = arith.addf %l, %c : f32
    %ln2 = arith.constant 0.693147182 : f32
    %y = arith.divf %z, %ln2 : f32
    linalg.yield %y : f32
  } -> tensor<2x5xf32>
  return %o, %lse : tensor<2x5x8xf32>, tensor<2x5xf32>
}

// -----

// The sum begins with 1.
func.func @begins_with_1(%q: tensor<2x5x8xf32>, %k: tensor<2x5x8xf32>, %v: tensor<2x5x8xf32>) -> (tensor<2x5x8xf32>, tensor<2x5xf32>) {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x5x5xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
  %s = linalg.contract indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>] ins(%q, %k : tensor<2x5x8xf32>, tensor<2x5x8xf32>) outs(%sf : tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
  %masked = linalg.generic {indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%s : tensor<2x5x5xf32>) outs(%se : tensor<2x5x5xf32>) {
  ^bb0(%x: f32, %out: f32):
    %m = linalg.index 1 : index
    %n = linalg.index 2 : index
    %sees = arith.cmpi sge, %m, %n : index
    %y = arith.select %sees, %x, %low : f32
    linalg.yield %y : f32
  } -> tensor<2x5x5xf32>
  %p = linalg.softmax dimension(2) ins(%masked : tensor<2x5x5xf32>) outs(%se : tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
  %oe = tensor.empty() : tensor<2x5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<2x5x5xf32>, tensor<2x5x8xf32>) outs(%of : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %re = tensor.empty() : tensor<2x5xf32>
  %rf = linalg.fill ins(%low : f32) outs(%re : tensor<2x5xf32>) -> tensor<2x5xf32>
  %one = arith.constant 1.0 : f32
  %zf = linalg.fill ins(%one : f32) outs(%re : tensor<2x5xf32>) -> tensor<2x5xf32>
  %max = linalg.reduce { arith.maximumf } ins(%masked : tensor<2x5x5xf32>) outs(%rf : tensor<2x5xf32>) dimensions = [2]
  %total = linalg.generic {indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, m)>, affine_map<(b, m, n) -> (b, m)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%masked, %max : tensor<2x5x5xf32>, tensor<2x5xf32>) outs(%zf : tensor<2x5xf32>) {
  ^bb0(%x: f32, %c: f32, %acc: f32):
    %less = arith.subf %x, %c : f32
    %e = math.exp %less : f32
    %sum = arith.addf %acc, %e : f32
    linalg.yield %sum : f32
  } -> tensor<2x5xf32>
  %lse = linalg.generic {indexing_maps = [affine_map<(b, m) -> (b, m)>, affine_map<(b, m) -> (b, m)>, affine_map<(b, m) -> (b, m)>], iterator_types = ["parallel", "parallel"]}
    ins(%total, %max : tensor<2x5xf32>, tensor<2x5xf32>) outs(%re : tensor<2x5xf32>) {
  ^bb0(%x: f32, %c: f32, %out: f32):
    %l = math.log %x : f32
    %y = arith.addf %l, %c : f32
    linalg.yield %y : f32
  } -> tensor<2x5xf32>
  // expected-remark @below {{is no attention that can be raised: expects scores and weights to be used by the attention alone, but got a use by 'func.return'}}
  return %o, %lse : tensor<2x5x8xf32>, tensor<2x5xf32>
}
