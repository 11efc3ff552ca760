// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Softmax between contractions whose operands, types or place are not those of attn.attention, and what has no
// softmax: nothing changes.
//
// RUN: attune-opt %s --convert-linalg-to-attn --split-input-file --verify-diagnostics > %t.after
// RUN: attune-opt %s --split-input-file > %t.before
// RUN: diff %t.before %t.after

// The keys that a query meets are another set for each query.
#rows = affine_map<(b, m, n) -> (b, m)>
#all = affine_map<(b, m, n) -> (b, m, n)>
func.func @keys_of_queries(%q: tensor<2x5x8xf32>, %k: tensor<2x5x6x8xf32>, %v: tensor<2x6x8xf32>) -> tensor<2x5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x5x6xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, m, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%q, %k : tensor<2x5x8xf32>, tensor<2x5x6x8xf32>) outs(%sf : tensor<2x5x6xf32>) {
  ^bb0(%x0: f32, %x1: f32, %acc: f32):
    %t = arith.mulf %x0, %x1 : f32
    %y = arith.addf %t, %acc : f32
    linalg.yield %y : f32
  } -> tensor<2x5x6xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x5x6xf32>) outs(%se : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %oe = tensor.empty() : tensor<2x5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  // expected-remark @below {{is no attention that can be raised: expects keys and values of the same batch and heads}}
  %o = linalg.batch_matmul ins(%p, %v : tensor<2x5x6xf32>, tensor<2x6x8xf32>) outs(%of : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  return %o : tensor<2x5x8xf32>
}

// -----

// Values are shared by the batch, keys are not.
func.func @values_without_batch(%q: tensor<2x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<6x8xf32>) -> tensor<2x5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x5x6xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %s = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
    ins(%q, %k : tensor<2x5x8xf32>, tensor<2x6x8xf32>) outs(%sf : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x5x6xf32>) outs(%se : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %oe = tensor.empty() : tensor<2x5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  // expected-remark @below {{is no attention that can be raised: expects keys and values of the same batch and heads}}
  %o = linalg.contract indexing_maps = [affine_map<(b, m, n, d) -> (b, m, n)>, affine_map<(b, m, n, d) -> (n, d)>, affine_map<(b, m, n, d) -> (b, m, d)>]
    ins(%p, %v : tensor<2x5x6xf32>, tensor<6x8xf32>) outs(%of : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  return %o : tensor<2x5x8xf32>
}

// -----

// Queries are shared by the batch, keys are not.
func.func @queries_without_batch(%q: tensor<5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x8xf32>) -> tensor<2x5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x5x6xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %s = linalg.contract indexing_maps = [affine_map<(b, m, n, d) -> (m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
    ins(%q, %k : tensor<5x8xf32>, tensor<2x6x8xf32>) outs(%sf : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x5x6xf32>) outs(%se : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %oe = tensor.empty() : tensor<2x5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  // expected-remark @below {{is no attention that can be raised: expects queries for every batch and head of keys}}
  %o = linalg.batch_matmul ins(%p, %v : tensor<2x5x6xf32>, tensor<2x6x8xf32>) outs(%of : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  return %o : tensor<2x5x8xf32>
}

// -----

// The same keys and weights for all, but values slide with the query.
func.func @sliding_values(%q: tensor<2x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x10x8xf32>) -> tensor<2x5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x5x6xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  // expected-remark @below {{is no attention that can be raised: expects operands whose dimensions are loops of the contractions}}
  %s = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
    ins(%q, %k : tensor<2x5x8xf32>, tensor<2x6x8xf32>) outs(%sf : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x5x6xf32>) outs(%se : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %oe = tensor.empty() : tensor<2x5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %o = linalg.generic {indexing_maps = [affine_map<(b, m, n, d) -> (b, m, n)>, affine_map<(b, m, n, d) -> (b, m + n, d)>, affine_map<(b, m, n, d) -> (b, m, d)>],
                       iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
    ins(%p, %v : tensor<2x5x6xf32>, tensor<2x10x8xf32>) outs(%of : tensor<2x5x8xf32>) {
  ^bb0(%x0: f32, %x1: f32, %acc: f32):
    %t = arith.mulf %x0, %x1 : f32
    %y = arith.addf %t, %acc : f32
    linalg.yield %y : f32
  } -> tensor<2x5x8xf32>
  return %o : tensor<2x5x8xf32>
}

// -----

// A head size that is not known.
func.func @dynamic_head_size(%q: tensor<2x5x?xf32>, %k: tensor<2x6x?xf32>, %v: tensor<2x6x?xf32>) -> tensor<2x5x?xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x5x6xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %s = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
    ins(%q, %k : tensor<2x5x?xf32>, tensor<2x6x?xf32>) outs(%sf : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x5x6xf32>) outs(%se : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %c2 = arith.constant 2 : index
  %size = tensor.dim %q, %c2 : tensor<2x5x?xf32>
  %oe = tensor.empty(%size) : tensor<2x5x?xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x5x?xf32>) -> tensor<2x5x?xf32>
  // expected-remark @below {{is no attention that can be raised: expects head sizes that are known, but got `?`}}
  %o = linalg.batch_matmul ins(%p, %v : tensor<2x5x6xf32>, tensor<2x6x?xf32>) outs(%of : tensor<2x5x?xf32>) -> tensor<2x5x?xf32>
  return %o : tensor<2x5x?xf32>
}

// -----

// A type that attn.attention does not have.
func.func @f64(%q: tensor<2x5x8xf64>, %k: tensor<2x6x8xf64>, %v: tensor<2x6x8xf64>) -> tensor<2x5x8xf64> {
  %zero = arith.constant 0.0 : f64
  %low = arith.constant 0xFFF0000000000000 : f64
  %se = tensor.empty() : tensor<2x5x6xf64>
  %sf = linalg.fill ins(%zero : f64) outs(%se : tensor<2x5x6xf64>) -> tensor<2x5x6xf64>
  %s = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
    ins(%q, %k : tensor<2x5x8xf64>, tensor<2x6x8xf64>) outs(%sf : tensor<2x5x6xf64>) -> tensor<2x5x6xf64>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x5x6xf64>) outs(%se : tensor<2x5x6xf64>) -> tensor<2x5x6xf64>
  %oe = tensor.empty() : tensor<2x5x8xf64>
  %of = linalg.fill ins(%zero : f64) outs(%oe : tensor<2x5x8xf64>) -> tensor<2x5x8xf64>
  // expected-remark @below {{is no attention that can be raised: expects operands of f16, bf16 or f32, but got 'f64'}}
  %o = linalg.batch_matmul ins(%p, %v : tensor<2x5x6xf64>, tensor<2x6x8xf64>) outs(%of : tensor<2x5x8xf64>) -> tensor<2x5x8xf64>
  return %o : tensor<2x5x8xf64>
}

// -----

// An infinite scale.
#rows = affine_map<(b, m, n) -> (b, m)>
#all = affine_map<(b, m, n) -> (b, m, n)>
func.func @infinite_scale(%q: tensor<2x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x8xf32>) -> tensor<2x5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x5x6xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %s = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
    ins(%q, %k : tensor<2x5x8xf32>, tensor<2x6x8xf32>) outs(%sf : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %t = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%s : tensor<2x5x6xf32>) outs(%se : tensor<2x5x6xf32>) {
  ^bb0(%x0: f32, %acc: f32):
    %c = arith.constant 0x7F800000 : f32
    %y = arith.mulf %x0, %c : f32
    linalg.yield %y : f32
  } -> tensor<2x5x6xf32>
  %p = linalg.softmax dimension(2) ins(%t : tensor<2x5x6xf32>) outs(%se : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %oe = tensor.empty() : tensor<2x5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  // expected-remark @below {{is no attention that can be raised: expects a finite scale}}
  %o = linalg.batch_matmul ins(%p, %v : tensor<2x5x6xf32>, tensor<2x6x8xf32>) outs(%of : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  return %o : tensor<2x5x8xf32>
}

// -----

// Keys of another type.
#rows = affine_map<(b, m, n) -> (b, m)>
#all = affine_map<(b, m, n) -> (b, m, n)>
func.func @mixed_types(%q16: tensor<2x5x8xf16>, %k16: tensor<2x6x8xbf16>, %v16: tensor<2x6x8xf16>) -> tensor<2x5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %qe = tensor.empty() : tensor<2x5x8xf32>
  %q = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%q16 : tensor<2x5x8xf16>) outs(%qe : tensor<2x5x8xf32>) {
  ^bb0(%x: f16, %acc: f32):
    %y = arith.extf %x : f16 to f32
    linalg.yield %y : f32
  } -> tensor<2x5x8xf32>
  %ke = tensor.empty() : tensor<2x6x8xf32>
  %k = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%k16 : tensor<2x6x8xbf16>) outs(%ke : tensor<2x6x8xf32>) {
  ^bb0(%x: bf16, %acc: f32):
    %y = arith.extf %x : bf16 to f32
    linalg.yield %y : f32
  } -> tensor<2x6x8xf32>
  %ve = tensor.empty() : tensor<2x6x8xf32>
  %v = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%v16 : tensor<2x6x8xf16>) outs(%ve : tensor<2x6x8xf32>) {
  ^bb0(%x: f16, %acc: f32):
    %y = arith.extf %x : f16 to f32
    linalg.yield %y : f32
  } -> tensor<2x6x8xf32>
  %se = tensor.empty() : tensor<2x5x6xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %s = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
    ins(%q, %k : tensor<2x5x8xf32>, tensor<2x6x8xf32>) outs(%sf : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x5x6xf32>) outs(%se : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %oe = tensor.empty() : tensor<2x5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  // expected-remark @below {{is no attention that can be raised: expects query and key to have one element type, but got 'f16' and 'bf16'}}
  %o = linalg.batch_matmul ins(%p, %v : tensor<2x5x6xf32>, tensor<2x6x8xf32>) outs(%of : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  return %o : tensor<2x5x8xf32>
}

// -----

// A result in f32 of operands in f16: attn.attention would round it.
#rows = affine_map<(b, m, n) -> (b, m)>
#all = affine_map<(b, m, n) -> (b, m, n)>
func.func @result_in_f32(%q16: tensor<2x5x8xf16>, %k16: tensor<2x6x8xf16>, %v16: tensor<2x6x8xf16>) -> tensor<2x5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %qe = tensor.empty() : tensor<2x5x8xf32>
  %q = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%q16 : tensor<2x5x8xf16>) outs(%qe : tensor<2x5x8xf32>) {
  ^bb0(%x: f16, %acc: f32):
    %y = arith.extf %x : f16 to f32
    linalg.yield %y : f32
  } -> tensor<2x5x8xf32>
  %ke = tensor.empty() : tensor<2x6x8xf32>
  %k = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%k16 : tensor<2x6x8xf16>) outs(%ke : tensor<2x6x8xf32>) {
  ^bb0(%x: f16, %acc: f32):
    %y = arith.extf %x : f16 to f32
    linalg.yield %y : f32
  } -> tensor<2x6x8xf32>
  %ve = tensor.empty() : tensor<2x6x8xf32>
  %v = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%v16 : tensor<2x6x8xf16>) outs(%ve : tensor<2x6x8xf32>) {
  ^bb0(%x: f16, %acc: f32):
    %y = arith.extf %x : f16 to f32
    linalg.yield %y : f32
  } -> tensor<2x6x8xf32>
  %se = tensor.empty() : tensor<2x5x6xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %s = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
    ins(%q, %k : tensor<2x5x8xf32>, tensor<2x6x8xf32>) outs(%sf : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x5x6xf32>) outs(%se : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %oe = tensor.empty() : tensor<2x5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  // expected-remark @below {{is no attention that can be raised: expects the result to be rounded to the type of the operands, 'f16', but got 'f32'}}
  %o = linalg.batch_matmul ins(%p, %v : tensor<2x5x6xf32>, tensor<2x6x8xf32>) outs(%of : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  return %o : tensor<2x5x8xf32>
}

// -----

// Softmax over heads and keys together.
#map = affine_map<(h, m, n) -> (h, m, n)>
func.func @over_heads_and_keys(%q: tensor<2x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x8xf32>) -> tensor<2x5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x5x6xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %s = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
    ins(%q, %k : tensor<2x5x8xf32>, tensor<2x6x8xf32>) outs(%sf : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %e = linalg.exp ins(%s : tensor<2x5x6xf32>) outs(%se : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %ze = tensor.empty() : tensor<5xf32>
  %zf = linalg.fill ins(%zero : f32) outs(%ze : tensor<5xf32>) -> tensor<5xf32>
  // expected-remark @below {{is no attention that can be raised: expects the softmax over keys, but got over dimension 0}}
  %sum = linalg.reduce { arith.addf } ins(%e : tensor<2x5x6xf32>) outs(%zf : tensor<5xf32>) dimensions = [0, 2]
  %wide = linalg.broadcast ins(%sum : tensor<5xf32>) outs(%se : tensor<2x5x6xf32>) dimensions = [0, 2]
  %p = linalg.div ins(%e, %wide : tensor<2x5x6xf32>, tensor<2x5x6xf32>) outs(%se : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %oe = tensor.empty() : tensor<2x5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<2x5x6xf32>, tensor<2x6x8xf32>) outs(%of : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  return %o : tensor<2x5x8xf32>
}

// -----

// The contraction with values is repeated by a loop, scores are not.
func.func @in_a_loop(%q: tensor<2x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x8xf32>, %count: index) -> tensor<2x5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %oe = tensor.empty() : tensor<2x5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %se = tensor.empty() : tensor<2x5x6xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %s = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
    ins(%q, %k : tensor<2x5x8xf32>, tensor<2x6x8xf32>) outs(%sf : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x5x6xf32>) outs(%se : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %sum = scf.for %i = %c0 to %count step %c1 iter_args(%old = %of) -> (tensor<2x5x8xf32>) {
    // expected-remark @below {{is no attention that can be raised: expects both contractions in one block}}
    %o = linalg.batch_matmul ins(%p, %v : tensor<2x5x6xf32>, tensor<2x6x8xf32>) outs(%of : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
    %new = linalg.add ins(%o, %old : tensor<2x5x8xf32>, tensor<2x5x8xf32>) outs(%oe : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
    scf.yield %new : tensor<2x5x8xf32>
  }
  return %sum : tensor<2x5x8xf32>
}

// -----

// Nothing divides the exponentials.
#rows = affine_map<(b, m, n) -> (b, m)>
#all = affine_map<(b, m, n) -> (b, m, n)>
func.func @no_softmax(%q: tensor<2x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x8xf32>) -> tensor<2x5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x5x6xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %s = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
    ins(%q, %k : tensor<2x5x8xf32>, tensor<2x6x8xf32>) outs(%sf : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %p = linalg.exp ins(%s : tensor<2x5x6xf32>) outs(%se : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %oe = tensor.empty() : tensor<2x5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  // expected-remark @below {{is no attention that can be raised: expects exponentials to be divided by their sum, before or behind the contraction with values}}
  %o = linalg.batch_matmul ins(%p, %v : tensor<2x5x6xf32>, tensor<2x6x8xf32>) outs(%of : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  return %o : tensor<2x5x8xf32>
}

// -----

// A sigmoid has no sum: no remark.
#rows = affine_map<(b, m, n) -> (b, m)>
#all = affine_map<(b, m, n) -> (b, m, n)>
func.func @sigmoid(%q: tensor<2x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x8xf32>) -> tensor<2x5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x5x6xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %s = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
    ins(%q, %k : tensor<2x5x8xf32>, tensor<2x6x8xf32>) outs(%sf : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %p = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%s : tensor<2x5x6xf32>) outs(%se : tensor<2x5x6xf32>) {
  ^bb0(%x0: f32, %acc: f32):
    %one = arith.constant 1.0 : f32
    %n = arith.negf %x0 : f32
    %e = math.exp %n : f32
    %d = arith.addf %e, %one : f32
    %y = arith.divf %one, %d : f32
    linalg.yield %y : f32
  } -> tensor<2x5x6xf32>
  %oe = tensor.empty() : tensor<2x5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<2x5x6xf32>, tensor<2x6x8xf32>) outs(%of : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  return %o : tensor<2x5x8xf32>
}

// -----

// Softmax at the end, behind both contractions: no remark.
func.func @softmax_last(%q: tensor<2x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x8xf32>) -> tensor<2x5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x5x6xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %s = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
    ins(%q, %k : tensor<2x5x8xf32>, tensor<2x6x8xf32>) outs(%sf : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %oe = tensor.empty() : tensor<2x5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %o = linalg.batch_matmul ins(%s, %v : tensor<2x5x6xf32>, tensor<2x6x8xf32>) outs(%of : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %r = linalg.softmax dimension(2) ins(%o : tensor<2x5x8xf32>) outs(%oe : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  return %r : tensor<2x5x8xf32>
}

// -----

// Weights cut behind softmax, to a number that is not known.
func.func @cut_weights(%q: tensor<2x5x8xf32>, %k: tensor<2x?x8xf32>, %v: tensor<2x?x8xf32>, %keys: index, %n: index) -> tensor<2x5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty(%keys) : tensor<2x5x?xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x5x?xf32>) -> tensor<2x5x?xf32>
  %s = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
    ins(%q, %k : tensor<2x5x8xf32>, tensor<2x?x8xf32>) outs(%sf : tensor<2x5x?xf32>) -> tensor<2x5x?xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x5x?xf32>) outs(%se : tensor<2x5x?xf32>) -> tensor<2x5x?xf32>
  // expected-remark @below {{is no attention that can be raised: expects the weights of all keys, but got a part of them whose size is not known}}
  %cut = tensor.extract_slice %p[0, 0, 0] [2, 5, %n] [1, 1, 1] : tensor<2x5x?xf32> to tensor<2x5x?xf32>
  %oe = tensor.empty() : tensor<2x5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %o = linalg.batch_matmul ins(%cut, %v : tensor<2x5x?xf32>, tensor<2x?x8xf32>) outs(%of : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  return %o : tensor<2x5x8xf32>
}
