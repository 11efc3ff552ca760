// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What looks like attention and is none, or is none that attn.attention can be: nothing changes.
//
// RUN: attune-opt %s --convert-linalg-to-attn --split-input-file --verify-diagnostics > %t.after
// RUN: attune-opt %s --split-input-file > %t.before
// RUN: diff %t.before %t.after

// Softmax over queries.
func.func @over_queries(%q: tensor<2x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x8xf32>) -> tensor<2x5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x5x6xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %s = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
    ins(%q, %k : tensor<2x5x8xf32>, tensor<2x6x8xf32>) outs(%sf : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  // expected-remark @below {{is no attention that can be raised: expects the softmax over keys, but got over dimension 1}}
  %p = linalg.softmax dimension(1) ins(%s : tensor<2x5x6xf32>) outs(%se : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %oe = tensor.empty() : tensor<2x5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<2x5x6xf32>, tensor<2x6x8xf32>) outs(%of : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  return %o : tensor<2x5x8xf32>
}

// -----

// The same in generic ops: the sum is over queries.
#rows = affine_map<(b, m, n) -> (b, m)>
#all = affine_map<(b, m, n) -> (b, m, n)>
func.func @sum_over_queries(%q: tensor<2x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x8xf32>) -> tensor<2x5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x5x6xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %s = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
    ins(%q, %k : tensor<2x5x8xf32>, tensor<2x6x8xf32>) outs(%sf : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %me = tensor.empty() : tensor<2x5xf32>
  %mf = linalg.fill ins(%low : f32) outs(%me : tensor<2x5xf32>) -> tensor<2x5xf32>
  %max = linalg.generic {indexing_maps = [#all, affine_map<(b, m, n) -> (b, m)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%s : tensor<2x5x6xf32>) outs(%mf : tensor<2x5xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %y = arith.maximumf %x, %acc : f32
    linalg.yield %y : f32
  } -> tensor<2x5xf32>
  %e = linalg.generic {indexing_maps = [#all, affine_map<(b, m, n) -> (b, m)>, #all], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%s, %max : tensor<2x5x6xf32>, tensor<2x5xf32>) outs(%se : tensor<2x5x6xf32>) {
  ^bb0(%x0: f32, %x1: f32, %acc: f32):
    %d = arith.subf %x0, %x1 : f32
    %y = math.exp %d : f32
    linalg.yield %y : f32
  } -> tensor<2x5x6xf32>
  %ze = tensor.empty() : tensor<2x6xf32>
  %zf = linalg.fill ins(%zero : f32) outs(%ze : tensor<2x6xf32>) -> tensor<2x6xf32>
  // expected-remark @below {{is no attention that can be raised: expects the softmax over keys, but got over dimension 1}}
  %sum = linalg.generic {indexing_maps = [#all, affine_map<(b, m, n) -> (b, n)>], iterator_types = ["parallel", "reduction", "parallel"]}
    ins(%e : tensor<2x5x6xf32>) outs(%zf : tensor<2x6xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %y = arith.addf %x, %acc : f32
    linalg.yield %y : f32
  } -> tensor<2x6xf32>
  %p = linalg.generic {indexing_maps = [#all, affine_map<(b, m, n) -> (b, n)>, #all], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%e, %sum : tensor<2x5x6xf32>, tensor<2x6xf32>) outs(%se : tensor<2x5x6xf32>) {
  ^bb0(%x0: f32, %x1: f32, %acc: f32):
    %y = arith.divf %x0, %x1 : f32
    linalg.yield %y : f32
  } -> tensor<2x5x6xf32>
  %oe = tensor.empty() : tensor<2x5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<2x5x6xf32>, tensor<2x6x8xf32>) outs(%of : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  return %o : tensor<2x5x8xf32>
}

// -----

// The largest score is that of a key: what is subtracted differs between keys and does not cancel out.
#rows = affine_map<(b, m, n) -> (b, m)>
#all = affine_map<(b, m, n) -> (b, m, n)>
func.func @maximum_over_queries(%q: tensor<2x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x8xf32>) -> tensor<2x5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x5x6xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %s = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
    ins(%q, %k : tensor<2x5x8xf32>, tensor<2x6x8xf32>) outs(%sf : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %me = tensor.empty() : tensor<2x6xf32>
  %mf = linalg.fill ins(%low : f32) outs(%me : tensor<2x6xf32>) -> tensor<2x6xf32>
  // expected-remark @below {{is no attention that can be raised: expects each score to be a function of its own dot product, but got one of several}}
  %max = linalg.generic {indexing_maps = [#all, affine_map<(b, m, n) -> (b, n)>], iterator_types = ["parallel", "reduction", "parallel"]}
    ins(%s : tensor<2x5x6xf32>) outs(%mf : tensor<2x6xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %y = arith.maximumf %x, %acc : f32
    linalg.yield %y : f32
  } -> tensor<2x6xf32>
  %e = linalg.generic {indexing_maps = [#all, affine_map<(b, m, n) -> (b, n)>, #all], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%s, %max : tensor<2x5x6xf32>, tensor<2x6xf32>) outs(%se : tensor<2x5x6xf32>) {
  ^bb0(%x0: f32, %x1: f32, %acc: f32):
    %d = arith.subf %x0, %x1 : f32
    %y = math.exp %d : f32
    linalg.yield %y : f32
  } -> tensor<2x5x6xf32>
  %ze = tensor.empty() : tensor<2x5xf32>
  %zf = linalg.fill ins(%zero : f32) outs(%ze : tensor<2x5xf32>) -> tensor<2x5xf32>
  %sum = linalg.generic {indexing_maps = [#all, affine_map<(b, m, n) -> (b, m)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%e : tensor<2x5x6xf32>) outs(%zf : tensor<2x5xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %y = arith.addf %x, %acc : f32
    linalg.yield %y : f32
  } -> tensor<2x5xf32>
  %p = linalg.generic {indexing_maps = [#all, affine_map<(b, m, n) -> (b, m)>, #all], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%e, %sum : tensor<2x5x6xf32>, tensor<2x5xf32>) outs(%se : tensor<2x5x6xf32>) {
  ^bb0(%x0: f32, %x1: f32, %acc: f32):
    %y = arith.divf %x0, %x1 : f32
    linalg.yield %y : f32
  } -> tensor<2x5x6xf32>
  %oe = tensor.empty() : tensor<2x5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<2x5x6xf32>, tensor<2x6x8xf32>) outs(%of : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  return %o : tensor<2x5x8xf32>
}

// -----

// A mask behind softmax.
#rows = affine_map<(b, m, n) -> (b, m)>
#all = affine_map<(b, m, n) -> (b, m, n)>
func.func @mask_after_softmax(%q: tensor<2x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x8xf32>, %mask: tensor<2x5x6xf32>) -> tensor<2x5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x5x6xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %s = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
    ins(%q, %k : tensor<2x5x8xf32>, tensor<2x6x8xf32>) outs(%sf : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x5x6xf32>) outs(%se : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %w = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%p, %mask : tensor<2x5x6xf32>, tensor<2x5x6xf32>) outs(%se : tensor<2x5x6xf32>) {
  ^bb0(%x0: f32, %x1: f32, %acc: f32):
    %y = arith.mulf %x0, %x1 : f32
    linalg.yield %y : f32
  } -> tensor<2x5x6xf32>
  %oe = tensor.empty() : tensor<2x5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  // expected-remark @below {{is no attention that can be raised: expects softmax to be an operand of the contraction with values, but got 'arith.mulf' between}}
  %o = linalg.batch_matmul ins(%w, %v : tensor<2x5x6xf32>, tensor<2x6x8xf32>) outs(%of : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  return %o : tensor<2x5x8xf32>
}

// -----

// Weights are selected behind softmax.
#rows = affine_map<(b, m, n) -> (b, m)>
#all = affine_map<(b, m, n) -> (b, m, n)>
func.func @select_after_softmax(%q: tensor<2x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x8xf32>) -> tensor<2x5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x5x6xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %s = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
    ins(%q, %k : tensor<2x5x8xf32>, tensor<2x6x8xf32>) outs(%sf : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x5x6xf32>) outs(%se : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %w = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%p : tensor<2x5x6xf32>) outs(%se : tensor<2x5x6xf32>) {
  ^bb0(%x0: f32, %acc: f32):
    %m = linalg.index 1 : index
    %n = linalg.index 2 : index
    %c = arith.cmpi sle, %n, %m : index
    %y = arith.select %c, %x0, %zero : f32
    linalg.yield %y : f32
  } -> tensor<2x5x6xf32>
  %oe = tensor.empty() : tensor<2x5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  // expected-remark @below {{is no attention that can be raised: expects softmax to be an operand of the contraction with values, but got 'arith.select' between}}
  %o = linalg.batch_matmul ins(%w, %v : tensor<2x5x6xf32>, tensor<2x6x8xf32>) outs(%of : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  return %o : tensor<2x5x8xf32>
}

// -----

// Weights are scaled behind softmax.
#rows = affine_map<(b, m, n) -> (b, m)>
#all = affine_map<(b, m, n) -> (b, m, n)>
func.func @scale_after_softmax(%q: tensor<2x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x8xf32>) -> tensor<2x5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x5x6xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %s = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
    ins(%q, %k : tensor<2x5x8xf32>, tensor<2x6x8xf32>) outs(%sf : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %me = tensor.empty() : tensor<2x5xf32>
  %mf = linalg.fill ins(%low : f32) outs(%me : tensor<2x5xf32>) -> tensor<2x5xf32>
  %max = linalg.generic {indexing_maps = [#all, affine_map<(b, m, n) -> (b, m)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%s : tensor<2x5x6xf32>) outs(%mf : tensor<2x5xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %y = arith.maximumf %x, %acc : f32
    linalg.yield %y : f32
  } -> tensor<2x5xf32>
  %e = linalg.generic {indexing_maps = [#all, affine_map<(b, m, n) -> (b, m)>, #all], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%s, %max : tensor<2x5x6xf32>, tensor<2x5xf32>) outs(%se : tensor<2x5x6xf32>) {
  ^bb0(%x0: f32, %x1: f32, %acc: f32):
    %d = arith.subf %x0, %x1 : f32
    %y = math.exp %d : f32
    linalg.yield %y : f32
  } -> tensor<2x5x6xf32>
  %ze = tensor.empty() : tensor<2x5xf32>
  %zf = linalg.fill ins(%zero : f32) outs(%ze : tensor<2x5xf32>) -> tensor<2x5xf32>
  %sum = linalg.generic {indexing_maps = [#all, affine_map<(b, m, n) -> (b, m)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%e : tensor<2x5x6xf32>) outs(%zf : tensor<2x5xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %y = arith.addf %x, %acc : f32
    linalg.yield %y : f32
  } -> tensor<2x5xf32>
  %p = linalg.generic {indexing_maps = [#all, affine_map<(b, m, n) -> (b, m)>, #all], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%e, %sum : tensor<2x5x6xf32>, tensor<2x5xf32>) outs(%se : tensor<2x5x6xf32>) {
  ^bb0(%x0: f32, %x1: f32, %acc: f32):
    %y = arith.divf %x0, %x1 : f32
    linalg.yield %y : f32
  } -> tensor<2x5x6xf32>
  %w = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%p : tensor<2x5x6xf32>) outs(%se : tensor<2x5x6xf32>) {
  ^bb0(%x0: f32, %acc: f32):
    %c = arith.constant 2.0 : f32
    %y = arith.mulf %x0, %c : f32
    linalg.yield %y : f32
  } -> tensor<2x5x6xf32>
  %oe = tensor.empty() : tensor<2x5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  // expected-remark @below {{is no attention that can be raised: expects softmax to be an operand of the contraction with values, but got 'arith.mulf' between}}
  %o = linalg.batch_matmul ins(%w, %v : tensor<2x5x6xf32>, tensor<2x6x8xf32>) outs(%of : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  return %o : tensor<2x5x8xf32>
}

// -----

// Weights are returned.
func.func @weights_returned(%q: tensor<2x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x8xf32>) -> (tensor<2x5x8xf32>, tensor<2x5x6xf32>) {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x5x6xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %s = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
    ins(%q, %k : tensor<2x5x8xf32>, tensor<2x6x8xf32>) outs(%sf : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x5x6xf32>) outs(%se : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %oe = tensor.empty() : tensor<2x5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<2x5x6xf32>, tensor<2x6x8xf32>) outs(%of : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  // expected-remark @below {{is no attention that can be raised: expects scores and weights to be used by the attention alone, but got a use by 'func.return'}}
  return %o, %p : tensor<2x5x8xf32>, tensor<2x5x6xf32>
}

// -----

// Scores are returned, by way of another op.
func.func @scores_returned(%q: tensor<2x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x8xf32>) -> (tensor<2x5x8xf32>, tensor<10x6xf32>) {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x5x6xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %s = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
    ins(%q, %k : tensor<2x5x8xf32>, tensor<2x6x8xf32>) outs(%sf : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x5x6xf32>) outs(%se : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %flat = tensor.collapse_shape %s [[0, 1], [2]] : tensor<2x5x6xf32> into tensor<10x6xf32>
  %oe = tensor.empty() : tensor<2x5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<2x5x6xf32>, tensor<2x6x8xf32>) outs(%of : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  // expected-remark @below {{is no attention that can be raised: expects scores and weights to be used by the attention alone, but got a use by 'func.return'}}
  return %o, %flat : tensor<2x5x8xf32>, tensor<10x6xf32>
}

// -----

// Weights meet two tensors of values.
func.func @two_values(%q: tensor<2x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x8xf32>) -> (tensor<2x5x8xf32>, tensor<2x5x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x5x6xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %s = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
    ins(%q, %k : tensor<2x5x8xf32>, tensor<2x6x8xf32>) outs(%sf : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x5x6xf32>) outs(%se : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %oe = tensor.empty() : tensor<2x5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<2x5x6xf32>, tensor<2x6x8xf32>) outs(%of : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %o2 = linalg.batch_matmul ins(%p, %k : tensor<2x5x6xf32>, tensor<2x6x8xf32>) outs(%of : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  // expected-remark @below {{is no attention that can be raised: expects scores and weights to be used by the attention alone, but got a use by 'func.return'}}
  return %o, %o2 : tensor<2x5x8xf32>, tensor<2x5x8xf32>
}

// -----

// Exponentials are divided by the sum of others.
#rows = affine_map<(b, m, n) -> (b, m)>
#all = affine_map<(b, m, n) -> (b, m, n)>
func.func @other_sum(%q: tensor<2x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x8xf32>) -> tensor<2x5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x5x6xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %s = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
    ins(%q, %k : tensor<2x5x8xf32>, tensor<2x6x8xf32>) outs(%sf : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %half = arith.constant 0.5 : f32
  %me = tensor.empty() : tensor<2x5xf32>
  %mf = linalg.fill ins(%low : f32) outs(%me : tensor<2x5xf32>) -> tensor<2x5xf32>
  %max = linalg.generic {indexing_maps = [#all, affine_map<(b, m, n) -> (b, m)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%s : tensor<2x5x6xf32>) outs(%mf : tensor<2x5xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %y = arith.maximumf %x, %acc : f32
    linalg.yield %y : f32
  } -> tensor<2x5xf32>
  %e = linalg.generic {indexing_maps = [#all, affine_map<(b, m, n) -> (b, m)>, #all], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%s, %max : tensor<2x5x6xf32>, tensor<2x5xf32>) outs(%se : tensor<2x5x6xf32>) {
  ^bb0(%x0: f32, %x1: f32, %acc: f32):
    %d = arith.subf %x0, %x1 : f32
    %y = math.exp %d : f32
    linalg.yield %y : f32
  } -> tensor<2x5x6xf32>
  %e2 = linalg.generic {indexing_maps = [#all, #rows, #all], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%s, %max : tensor<2x5x6xf32>, tensor<2x5xf32>) outs(%se : tensor<2x5x6xf32>) {
  ^bb0(%x0: f32, %x1: f32, %acc: f32):
    %d = arith.subf %x0, %x1 : f32
    %h = arith.mulf %d, %half : f32
    %y = math.exp %h : f32
    linalg.yield %y : f32
  } -> tensor<2x5x6xf32>
  %ze = tensor.empty() : tensor<2x5xf32>
  %zf = linalg.fill ins(%zero : f32) outs(%ze : tensor<2x5xf32>) -> tensor<2x5xf32>
  // expected-remark @below {{is no attention that can be raised: expects exponentials to be divided by their own sum, but got the sum of another function}}
  %sum = linalg.generic {indexing_maps = [#all, affine_map<(b, m, n) -> (b, m)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%e2 : tensor<2x5x6xf32>) outs(%zf : tensor<2x5xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %y = arith.addf %x, %acc : f32
    linalg.yield %y : f32
  } -> tensor<2x5xf32>
  %p = linalg.generic {indexing_maps = [#all, affine_map<(b, m, n) -> (b, m)>, #all], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%e, %sum : tensor<2x5x6xf32>, tensor<2x5xf32>) outs(%se : tensor<2x5x6xf32>) {
  ^bb0(%x0: f32, %x1: f32, %acc: f32):
    %y = arith.divf %x0, %x1 : f32
    linalg.yield %y : f32
  } -> tensor<2x5x6xf32>
  %oe = tensor.empty() : tensor<2x5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<2x5x6xf32>, tensor<2x6x8xf32>) outs(%of : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  return %o : tensor<2x5x8xf32>
}

// -----

// The sum begins with 1, from which no maximum is subtracted.
#rows = affine_map<(b, m, n) -> (b, m)>
#all = affine_map<(b, m, n) -> (b, m, n)>
func.func @sum_from_one(%q: tensor<2x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x8xf32>) -> tensor<2x5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x5x6xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %s = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
    ins(%q, %k : tensor<2x5x8xf32>, tensor<2x6x8xf32>) outs(%sf : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %one = arith.constant 1.0 : f32
  %me = tensor.empty() : tensor<2x5xf32>
  %mf = linalg.fill ins(%low : f32) outs(%me : tensor<2x5xf32>) -> tensor<2x5xf32>
  %max = linalg.generic {indexing_maps = [#all, affine_map<(b, m, n) -> (b, m)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%s : tensor<2x5x6xf32>) outs(%mf : tensor<2x5xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %y = arith.maximumf %x, %acc : f32
    linalg.yield %y : f32
  } -> tensor<2x5xf32>
  %e = linalg.generic {indexing_maps = [#all, affine_map<(b, m, n) -> (b, m)>, #all], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%s, %max : tensor<2x5x6xf32>, tensor<2x5xf32>) outs(%se : tensor<2x5x6xf32>) {
  ^bb0(%x0: f32, %x1: f32, %acc: f32):
    %d = arith.subf %x0, %x1 : f32
    %y = math.exp %d : f32
    linalg.yield %y : f32
  } -> tensor<2x5x6xf32>
  %ze = tensor.empty() : tensor<2x5xf32>
  %zf = linalg.fill ins(%one : f32) outs(%ze : tensor<2x5xf32>) -> tensor<2x5xf32>
  // expected-remark @below {{is no attention that can be raised: expects the same to be subtracted from scores and sink}}
  %sum = linalg.generic {indexing_maps = [#all, affine_map<(b, m, n) -> (b, m)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%e : tensor<2x5x6xf32>) outs(%zf : tensor<2x5xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %y = arith.addf %x, %acc : f32
    linalg.yield %y : f32
  } -> tensor<2x5xf32>
  %p = linalg.generic {indexing_maps = [#all, affine_map<(b, m, n) -> (b, m)>, #all], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%e, %sum : tensor<2x5x6xf32>, tensor<2x5xf32>) outs(%se : tensor<2x5x6xf32>) {
  ^bb0(%x0: f32, %x1: f32, %acc: f32):
    %y = arith.divf %x0, %x1 : f32
    linalg.yield %y : f32
  } -> tensor<2x5x6xf32>
  %oe = tensor.empty() : tensor<2x5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<2x5x6xf32>, tensor<2x6x8xf32>) outs(%of : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  return %o : tensor<2x5x8xf32>
}

// -----

// The result is added to a tensor.
func.func @accumulated(%q: tensor<2x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x8xf32>, %base: tensor<2x5x8xf32>) -> tensor<2x5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x5x6xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %s = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
    ins(%q, %k : tensor<2x5x8xf32>, tensor<2x6x8xf32>) outs(%sf : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x5x6xf32>) outs(%se : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  // expected-remark @below {{is no attention that can be raised: expects the sum over values to begin with 0}}
  %o = linalg.batch_matmul ins(%p, %v : tensor<2x5x6xf32>, tensor<2x6x8xf32>) outs(%base : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  return %o : tensor<2x5x8xf32>
}

// -----

// Scores are no dot products.
func.func @no_first_contraction(%s: tensor<2x5x6xf32>, %v: tensor<2x6x8xf32>) -> tensor<2x5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x5x6xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x5x6xf32>) outs(%se : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %oe = tensor.empty() : tensor<2x5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  // expected-remark @below {{is no attention that can be raised: expects the softmax of a function of dot products of queries and keys, but got no contraction}}
  %o = linalg.batch_matmul ins(%p, %v : tensor<2x5x6xf32>, tensor<2x6x8xf32>) outs(%of : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  return %o : tensor<2x5x8xf32>
}

// -----

// Each score is divided by the sum of its row before softmax.
#rows = affine_map<(b, m, n) -> (b, m)>
#all = affine_map<(b, m, n) -> (b, m, n)>
func.func @normalized_scores(%q: tensor<2x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x8xf32>) -> tensor<2x5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x5x6xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %s = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
    ins(%q, %k : tensor<2x5x8xf32>, tensor<2x6x8xf32>) outs(%sf : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %te = tensor.empty() : tensor<2x5xf32>
  %tf = linalg.fill ins(%zero : f32) outs(%te : tensor<2x5xf32>) -> tensor<2x5xf32>
  // expected-remark @below {{is no attention that can be raised: expects each score to be a function of its own dot product, but got one of several}}
  %total = linalg.generic {indexing_maps = [#all, #rows], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%s : tensor<2x5x6xf32>) outs(%tf : tensor<2x5xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %y = arith.addf %x, %acc : f32
    linalg.yield %y : f32
  } -> tensor<2x5xf32>
  %n = linalg.generic {indexing_maps = [#all, #rows, #all], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%s, %total : tensor<2x5x6xf32>, tensor<2x5xf32>) outs(%se : tensor<2x5x6xf32>) {
  ^bb0(%x0: f32, %x1: f32, %acc: f32):
    %y = arith.divf %x0, %x1 : f32
    linalg.yield %y : f32
  } -> tensor<2x5x6xf32>
  %p = linalg.softmax dimension(2) ins(%n : tensor<2x5x6xf32>) outs(%se : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %oe = tensor.empty() : tensor<2x5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<2x5x6xf32>, tensor<2x6x8xf32>) outs(%of : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  return %o : tensor<2x5x8xf32>
}
