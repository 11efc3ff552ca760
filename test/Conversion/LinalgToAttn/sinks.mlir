// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scores that take part in the sum of exponentials alone.
//
// RUN: attune-opt %s --convert-linalg-to-attn | FileCheck %s
//
// In numbers.
// RUN: %python %S/Inputs/driver.py main %s > %t.main.mlir
// RUN: mlir-opt %t.main.mlir --transform-preload-library=transform-library-paths=%S/Inputs/decompose.mlir --transform-interpreter %cpu_pipeline \
// RUN:   | mlir-runner %cpu_runner > %t.before
// RUN: attune-opt %t.main.mlir --convert-linalg-to-attn --convert-attn-to-loops | mlir-opt %cpu_pipeline | mlir-runner %cpu_runner > %t.after
// RUN: %python %S/Inputs/driver.py compare %t.before %t.after 0.005 | FileCheck %s --check-prefix=NUMBERS
// NUMBERS: 6 results compared, 0 differ

#q = affine_map<(b, h, m, n, d) -> (b, h, m, d)>
#k = affine_map<(b, h, m, n, d) -> (b, h, n, d)>
#s = affine_map<(b, h, m, n, d) -> (b, h, m, n)>
#v = #k
#o = #q
#all4 = affine_map<(b, h, m, n) -> (b, h, m, n)>
#rows = affine_map<(b, h, m, n) -> (b, h, m)>
#r3 = affine_map<(b, h, m) -> (b, h, m)>
#head = affine_map<(b, h, m, n) -> (h)>
#head3 = affine_map<(b, h, m) -> (h)>

// A column of sinks beside the scores, which is cut off behind softmax.
// CHECK-LABEL: func.func @sinks
// CHECK-SAME: %[[SINKS:[^:,]+]]: tensor<3xf32>)
// CHECK: attn.attention %{{.+}}, %{{.+}}, %{{.+}} sinks(%[[SINKS]] : tensor<3xf32>) scale(5.000000e-01) :
// CHECK-NOT: linalg
func.func @sinks(%q: tensor<2x3x5x8xf32>, %k: tensor<2x3x6x8xf32>, %v: tensor<2x3x6x8xf32>, %sinks: tensor<3xf32>) -> tensor<2x3x5x8xf32> {
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
  %ce = tensor.empty() : tensor<2x3x5x1xf32>
  %column = linalg.generic {indexing_maps = [#head, #all4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%sinks : tensor<3xf32>) outs(%ce : tensor<2x3x5x1xf32>) {
  ^bb0(%x0: f32, %acc: f32):
    linalg.yield %x0 : f32
  } -> tensor<2x3x5x1xf32>
  %wide = tensor.concat dim(3) %s, %column : (tensor<2x3x5x6xf32>, tensor<2x3x5x1xf32>) -> tensor<2x3x5x7xf32>
  %we = tensor.empty() : tensor<2x3x5x7xf32>
  %ww = linalg.softmax dimension(3) ins(%wide : tensor<2x3x5x7xf32>) outs(%we : tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %slice = tensor.extract_slice %ww[0, 0, 0, 0] [2, 3, 5, 6] [1, 1, 1, 1] : tensor<2x3x5x7xf32> to tensor<2x3x5x6xf32>
  %oe = tensor.empty() : tensor<2x3x5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x3x5x8xf32>) -> tensor<2x3x5x8xf32>
  %o = linalg.contract indexing_maps = [#s, #v, #o] ins(%slice, %v : tensor<2x3x5x6xf32>, tensor<2x3x6x8xf32>) outs(%of : tensor<2x3x5x8xf32>) -> tensor<2x3x5x8xf32>
  return %o : tensor<2x3x5x8xf32>
}

// The column may be the first one.
// CHECK-LABEL: func.func @sinks_first
// CHECK-SAME: %[[SINKS:[^:,]+]]: tensor<3xf32>)
// CHECK: attn.attention %{{.+}}, %{{.+}}, %{{.+}} sinks(%[[SINKS]] : tensor<3xf32>) scale(5.000000e-01) :
// CHECK-NOT: linalg
func.func @sinks_first(%q: tensor<2x3x5x8xf32>, %k: tensor<2x3x6x8xf32>, %v: tensor<2x3x6x8xf32>, %sinks: tensor<3xf32>) -> tensor<2x3x5x8xf32> {
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
  %ce = tensor.empty() : tensor<2x3x5x1xf32>
  %column = linalg.generic {indexing_maps = [#head, #all4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%sinks : tensor<3xf32>) outs(%ce : tensor<2x3x5x1xf32>) {
  ^bb0(%x0: f32, %acc: f32):
    linalg.yield %x0 : f32
  } -> tensor<2x3x5x1xf32>
  %wide = tensor.concat dim(3) %column, %s : (tensor<2x3x5x1xf32>, tensor<2x3x5x6xf32>) -> tensor<2x3x5x7xf32>
  %we = tensor.empty() : tensor<2x3x5x7xf32>
  %ww = linalg.softmax dimension(3) ins(%wide : tensor<2x3x5x7xf32>) outs(%we : tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %slice = tensor.extract_slice %ww[0, 0, 0, 1] [2, 3, 5, 6] [1, 1, 1, 1] : tensor<2x3x5x7xf32> to tensor<2x3x5x6xf32>
  %oe = tensor.empty() : tensor<2x3x5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x3x5x8xf32>) -> tensor<2x3x5x8xf32>
  %o = linalg.contract indexing_maps = [#s, #v, #o] ins(%slice, %v : tensor<2x3x5x6xf32>, tensor<2x3x6x8xf32>) outs(%of : tensor<2x3x5x8xf32>) -> tensor<2x3x5x8xf32>
  return %o : tensor<2x3x5x8xf32>
}

// The same by insertion, and by softmax in single steps.
// CHECK-LABEL: func.func @sinks_inserted
// CHECK-SAME: %[[HALF:[^:,]+]]: tensor<3xf16>)
// CHECK: %[[SINKS:.+]] = arith.extf %[[HALF]]
// CHECK: attn.attention %{{.+}}, %{{.+}}, %{{.+}} sinks(%[[SINKS]] : tensor<3xf32>) scale(5.000000e-01) :
// CHECK-NOT: linalg
func.func @sinks_inserted(%q: tensor<2x3x5x8xf32>, %k: tensor<2x3x6x8xf32>, %v: tensor<2x3x6x8xf32>, %sinks: tensor<3xf16>) -> tensor<2x3x5x8xf32> {
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
  %wide_sinks = arith.extf %sinks : tensor<3xf16> to tensor<3xf32>
  %ce = tensor.empty() : tensor<2x3x5x1xf32>
  %column = linalg.generic {indexing_maps = [#head, #all4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%wide_sinks : tensor<3xf32>) outs(%ce : tensor<2x3x5x1xf32>) {
  ^bb0(%x0: f32, %acc: f32):
    linalg.yield %x0 : f32
  } -> tensor<2x3x5x1xf32>
  %we = tensor.empty() : tensor<2x3x5x7xf32>
  %w0 = tensor.insert_slice %s into %we[0, 0, 0, 0] [2, 3, 5, 6] [1, 1, 1, 1] : tensor<2x3x5x6xf32> into tensor<2x3x5x7xf32>
  %wide = tensor.insert_slice %column into %w0[0, 0, 0, 6] [2, 3, 5, 1] [1, 1, 1, 1] : tensor<2x3x5x1xf32> into tensor<2x3x5x7xf32>
  %re = tensor.empty() : tensor<2x3x5xf32>
  %mf = linalg.fill ins(%low : f32) outs(%re : tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %max = linalg.generic {indexing_maps = [#all4, #rows], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%wide : tensor<2x3x5x7xf32>) outs(%mf : tensor<2x3x5xf32>) {
  ^bb0(%x0: f32, %acc: f32):
    %y = arith.maximumf %x0, %acc : f32
    linalg.yield %y : f32
  } -> tensor<2x3x5xf32>
  %less = linalg.generic {indexing_maps = [#all4, #rows, #all4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%wide, %max : tensor<2x3x5x7xf32>, tensor<2x3x5xf32>) outs(%we : tensor<2x3x5x7xf32>) {
  ^bb0(%x0: f32, %x1: f32, %acc: f32):
    %y = arith.subf %x0, %x1 : f32
    linalg.yield %y : f32
  } -> tensor<2x3x5x7xf32>
  %p = linalg.generic {indexing_maps = [#all4, #all4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%less : tensor<2x3x5x7xf32>) outs(%we : tensor<2x3x5x7xf32>) {
  ^bb0(%x0: f32, %acc: f32):
    %y = math.exp %x0 : f32
    linalg.yield %y : f32
  } -> tensor<2x3x5x7xf32>
  %zf = linalg.fill ins(%zero : f32) outs(%re : tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %sum = linalg.generic {indexing_maps = [#all4, #rows], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%p : tensor<2x3x5x7xf32>) outs(%zf : tensor<2x3x5xf32>) {
  ^bb0(%x0: f32, %acc: f32):
    %y = arith.addf %x0, %acc : f32
    linalg.yield %y : f32
  } -> tensor<2x3x5xf32>
  %ww = linalg.generic {indexing_maps = [#all4, #rows, #all4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%p, %sum : tensor<2x3x5x7xf32>, tensor<2x3x5xf32>) outs(%we : tensor<2x3x5x7xf32>) {
  ^bb0(%x0: f32, %x1: f32, %acc: f32):
    %y = arith.divf %x0, %x1 : f32
    linalg.yield %y : f32
  } -> tensor<2x3x5x7xf32>
  %slice = tensor.extract_slice %ww[0, 0, 0, 0] [2, 3, 5, 6] [1, 1, 1, 1] : tensor<2x3x5x7xf32> to tensor<2x3x5x6xf32>
  %oe = tensor.empty() : tensor<2x3x5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x3x5x8xf32>) -> tensor<2x3x5x8xf32>
  %o = linalg.contract indexing_maps = [#s, #v, #o] ins(%slice, %v : tensor<2x3x5x6xf32>, tensor<2x3x6x8xf32>) outs(%of : tensor<2x3x5x8xf32>) -> tensor<2x3x5x8xf32>
  return %o : tensor<2x3x5x8xf32>
}

// A term of the sum, in base 2, with a late division and the logarithm of the sum.
// CHECK-LABEL: func.func @sink_term
// CHECK-SAME: %[[SINKS:[^:,]+]]: tensor<3xf32>)
// CHECK: %[[O:.+]], %[[LSE:.+]] = attn.attention %{{.+}}, %{{.+}}, %{{.+}} lse sinks(%[[SINKS]] : tensor<3xf32>) scale(5.000000e-01) :
// CHECK-NOT: linalg
// CHECK: return %[[O]], %[[LSE]]
func.func @sink_term(%q: tensor<2x3x5x8xf32>, %k: tensor<2x3x6x8xf32>, %v: tensor<2x3x6x8xf32>, %sinks: tensor<3xf32>) -> (tensor<2x3x5x8xf32>, tensor<2x3x5xf32>) {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x3x5x6xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x3x5x6xf32>) -> tensor<2x3x5x6xf32>
  %dots = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<2x3x5x8xf32>, tensor<2x3x6x8xf32>) outs(%sf : tensor<2x3x5x6xf32>) -> tensor<2x3x5x6xf32>
  %s = linalg.generic {indexing_maps = [#all4, #all4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%dots : tensor<2x3x5x6xf32>) outs(%se : tensor<2x3x5x6xf32>) {
  ^bb0(%x0: f32, %acc: f32):
    %c = arith.constant 0.7213475204444817 : f32
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
  %total = linalg.generic {indexing_maps = [#r3, #r3, #head3, #r3], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%sum, %max, %sinks : tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<3xf32>) outs(%re : tensor<2x3x5xf32>) {
  ^bb0(%x0: f32, %x1: f32, %x2: f32, %acc: f32):
    %log2e = arith.constant 1.4426950408889634 : f32
    %t = arith.mulf %x2, %log2e : f32
    %d = arith.subf %t, %x1 : f32
    %p1 = math.exp2 %d : f32
    %y = arith.addf %x0, %p1 : f32
    linalg.yield %y : f32
  } -> tensor<2x3x5xf32>
  %oe = tensor.empty() : tensor<2x3x5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x3x5x8xf32>) -> tensor<2x3x5x8xf32>
  %o = linalg.contract indexing_maps = [#s, #v, #o] ins(%p, %v : tensor<2x3x5x6xf32>, tensor<2x3x6x8xf32>) outs(%of : tensor<2x3x5x8xf32>) -> tensor<2x3x5x8xf32>
  %r = linalg.generic {indexing_maps = [#all4, #rows, #all4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%o, %total : tensor<2x3x5x8xf32>, tensor<2x3x5xf32>) outs(%oe : tensor<2x3x5x8xf32>) {
  ^bb0(%x0: f32, %x1: f32, %acc: f32):
    %y = arith.divf %x0, %x1 : f32
    linalg.yield %y : f32
  } -> tensor<2x3x5x8xf32>
  %lse = linalg.generic {indexing_maps = [#r3, #r3, #r3], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%total, %max : tensor<2x3x5xf32>, tensor<2x3x5xf32>) outs(%re : tensor<2x3x5xf32>) {
  ^bb0(%x0: f32, %x1: f32, %acc: f32):
    %ln2 = arith.constant 0.6931471805599453 : f32
    %m = arith.mulf %x1, %ln2 : f32
    %l = math.log %x0 : f32
    %y = arith.addf %m, %l : f32
    linalg.yield %y : f32
  } -> tensor<2x3x5xf32>
  return %r, %lse : tensor<2x3x5x8xf32>, tensor<2x3x5xf32>
}

// Without a maximum, a sum that begins with 1 has a sink of 0.
// CHECK-LABEL: func.func @softmax_one
// CHECK: %[[SINKS:.+]] = arith.constant dense<0.000000e+00> : tensor<3xf32>
// CHECK: attn.attention %{{.+}}, %{{.+}}, %{{.+}} sinks(%[[SINKS]] : tensor<3xf32>) scale(1.250000e-01) :
// CHECK-NOT: linalg
func.func @softmax_one(%q: tensor<2x3x5x8xf32>, %k: tensor<2x3x6x8xf32>, %v: tensor<2x3x6x8xf32>) -> tensor<2x3x5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %one = arith.constant 1.0 : f32
  %se = tensor.empty() : tensor<2x3x5x6xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x3x5x6xf32>) -> tensor<2x3x5x6xf32>
  %dots = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<2x3x5x8xf32>, tensor<2x3x6x8xf32>) outs(%sf : tensor<2x3x5x6xf32>) -> tensor<2x3x5x6xf32>
  %s = linalg.generic {indexing_maps = [#all4, #all4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%dots : tensor<2x3x5x6xf32>) outs(%se : tensor<2x3x5x6xf32>) {
  ^bb0(%x0: f32, %acc: f32):
    %c = arith.constant 0.125 : f32
    %y = arith.mulf %x0, %c : f32
    linalg.yield %y : f32
  } -> tensor<2x3x5x6xf32>
  %re = tensor.empty() : tensor<2x3x5xf32>
  %p = linalg.generic {indexing_maps = [#all4, #all4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%s : tensor<2x3x5x6xf32>) outs(%se : tensor<2x3x5x6xf32>) {
  ^bb0(%x0: f32, %acc: f32):
    %y = math.exp %x0 : f32
    linalg.yield %y : f32
  } -> tensor<2x3x5x6xf32>
  %zf = linalg.fill ins(%one : f32) outs(%re : tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
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
  return %o : tensor<2x3x5x8xf32>
}
