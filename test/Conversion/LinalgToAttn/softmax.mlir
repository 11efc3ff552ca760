// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ways to write softmax that go beyond weights which are divided by their sum.
//
// RUN: attune-opt %s --convert-linalg-to-attn | FileCheck %s
//
// In numbers.
// RUN: %python %S/Inputs/driver.py main %s > %t.main.mlir
// RUN: mlir-opt %t.main.mlir --transform-preload-library=transform-library-paths=%S/Inputs/decompose.mlir --transform-interpreter %cpu_pipeline \
// RUN:   | mlir-runner %cpu_runner > %t.before
// RUN: attune-opt %t.main.mlir --convert-linalg-to-attn --convert-attn-to-loops | mlir-opt %cpu_pipeline | mlir-runner %cpu_runner > %t.after
// RUN: %python %S/Inputs/driver.py compare %t.before %t.after 0.005 | FileCheck %s --check-prefix=NUMBERS
// NUMBERS: 8 results compared, 0 differ

#q = affine_map<(b, h, m, n, d) -> (b, h, m, d)>
#k = affine_map<(b, h, m, n, d) -> (b, h, n, d)>
#s = affine_map<(b, h, m, n, d) -> (b, h, m, n)>
#v = #k
#o = #q
#all4 = affine_map<(b, h, m, n) -> (b, h, m, n)>
#rows = affine_map<(b, h, m, n) -> (b, h, m)>
#r3 = affine_map<(b, h, m) -> (b, h, m)>

// Powers of 2: log2(e) is a factor of the scale. 0.5 * log2(e).
// CHECK-LABEL: func.func @exp2
// CHECK: attn.attention %{{.+}}, %{{.+}}, %{{.+}} scale(5.000000e-01) :
// CHECK-NOT: linalg
func.func @exp2(%q: tensor<2x3x5x8xf32>, %k: tensor<2x3x6x8xf32>, %v: tensor<2x3x6x8xf32>) -> tensor<2x3x5x8xf32> {
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

// The default of the scale, but for rounding: log2(e) / sqrt(8).
// CHECK-LABEL: func.func @exp2_default
// CHECK: attn.attention %{{.+}}, %{{.+}}, %{{.+}} :
// CHECK-NOT: linalg
func.func @exp2_default(%q: tensor<2x3x5x8xf32>, %k: tensor<2x3x6x8xf32>, %v: tensor<2x3x6x8xf32>) -> tensor<2x3x5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x3x5x6xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x3x5x6xf32>) -> tensor<2x3x5x6xf32>
  %dots = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<2x3x5x8xf32>, tensor<2x3x6x8xf32>) outs(%sf : tensor<2x3x5x6xf32>) -> tensor<2x3x5x6xf32>
  %s = linalg.generic {indexing_maps = [#all4, #all4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%dots : tensor<2x3x5x6xf32>) outs(%se : tensor<2x3x5x6xf32>) {
  ^bb0(%x0: f32, %acc: f32):
    %c = arith.constant 0.5100697233 : f32
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
  return %o : tensor<2x3x5x8xf32>
}

// The result is divided, and not the weights.
// CHECK-LABEL: func.func @late
// CHECK: %[[O:.+]] = attn.attention %{{.+}}, %{{.+}}, %{{.+}} scale(5.000000e-01) :
// CHECK-NOT: linalg
// CHECK: return %[[O]]
func.func @late(%q: tensor<2x3x5x8xf32>, %k: tensor<2x3x6x8xf32>, %v: tensor<2x3x6x8xf32>) -> tensor<2x3x5x8xf32> {
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
  %o = linalg.contract indexing_maps = [#s, #v, #o] ins(%p, %v : tensor<2x3x5x6xf32>, tensor<2x3x6x8xf32>) outs(%of : tensor<2x3x5x8xf32>) -> tensor<2x3x5x8xf32>
  %r = linalg.generic {indexing_maps = [#all4, #rows, #all4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%o, %sum : tensor<2x3x5x8xf32>, tensor<2x3x5xf32>) outs(%oe : tensor<2x3x5x8xf32>) {
  ^bb0(%x0: f32, %x1: f32, %acc: f32):
    %y = arith.divf %x0, %x1 : f32
    linalg.yield %y : f32
  } -> tensor<2x3x5x8xf32>
  return %r : tensor<2x3x5x8xf32>
}

// The same by the reciprocal, with weights and result in 16 bits.
// CHECK-LABEL: func.func @late_half
// CHECK: %[[O:.+]] = attn.attention %{{.+}}, %{{.+}}, %{{.+}} scale(5.000000e-01) : {{.*}}xf16>
// CHECK-NOT: linalg
// CHECK: return %[[O]]
func.func @late_half(%q: tensor<2x3x5x8xf16>, %k: tensor<2x3x6x8xf16>, %v: tensor<2x3x6x8xf16>) -> tensor<2x3x5x8xf16> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x3x5x6xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x3x5x6xf32>) -> tensor<2x3x5x6xf32>
  %dots = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<2x3x5x8xf16>, tensor<2x3x6x8xf16>) outs(%sf : tensor<2x3x5x6xf32>) -> tensor<2x3x5x6xf32>
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
  %phe = tensor.empty() : tensor<2x3x5x6xf16>
  %ph = linalg.generic {indexing_maps = [#all4, #all4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%p : tensor<2x3x5x6xf32>) outs(%phe : tensor<2x3x5x6xf16>) {
  ^bb0(%x0: f32, %acc: f16):
    %y = arith.truncf %x0 : f32 to f16
    linalg.yield %y : f16
  } -> tensor<2x3x5x6xf16>
  %zf = linalg.fill ins(%zero : f32) outs(%re : tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %sum = linalg.generic {indexing_maps = [#all4, #rows], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%p : tensor<2x3x5x6xf32>) outs(%zf : tensor<2x3x5xf32>) {
  ^bb0(%x0: f32, %acc: f32):
    %y = arith.addf %x0, %acc : f32
    linalg.yield %y : f32
  } -> tensor<2x3x5xf32>
  %oe = tensor.empty() : tensor<2x3x5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x3x5x8xf32>) -> tensor<2x3x5x8xf32>
  %o = linalg.contract indexing_maps = [#s, #v, #o] ins(%ph, %v : tensor<2x3x5x6xf16>, tensor<2x3x6x8xf16>) outs(%of : tensor<2x3x5x8xf32>) -> tensor<2x3x5x8xf32>
  %inverse = linalg.generic {indexing_maps = [#r3, #r3], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%sum : tensor<2x3x5xf32>) outs(%re : tensor<2x3x5xf32>) {
  ^bb0(%x0: f32, %acc: f32):
    %one = arith.constant 1.0 : f32
    %y = arith.divf %one, %x0 : f32
    linalg.yield %y : f32
  } -> tensor<2x3x5xf32>
  %r = linalg.generic {indexing_maps = [#all4, #rows, #all4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%o, %inverse : tensor<2x3x5x8xf32>, tensor<2x3x5xf32>) outs(%oe : tensor<2x3x5x8xf32>) {
  ^bb0(%x0: f32, %x1: f32, %acc: f32):
    %y = arith.mulf %x0, %x1 : f32
    linalg.yield %y : f32
  } -> tensor<2x3x5x8xf32>
  %he = tensor.empty() : tensor<2x3x5x8xf16>
  %h = linalg.generic {indexing_maps = [#all4, #all4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%r : tensor<2x3x5x8xf32>) outs(%he : tensor<2x3x5x8xf16>) {
  ^bb0(%x0: f32, %acc: f16):
    %y = arith.truncf %x0 : f32 to f16
    linalg.yield %y : f16
  } -> tensor<2x3x5x8xf16>
  return %h : tensor<2x3x5x8xf16>
}

// The logarithm of the sum is a second result.
// CHECK-LABEL: func.func @lse
// CHECK: %[[O:.+]], %[[LSE:.+]] = attn.attention %{{.+}}, %{{.+}}, %{{.+}} lse scale(5.000000e-01) :
// CHECK-NOT: linalg
// CHECK: return %[[O]], %[[LSE]]
func.func @lse(%q: tensor<2x3x5x8xf32>, %k: tensor<2x3x6x8xf32>, %v: tensor<2x3x6x8xf32>) -> (tensor<2x3x5x8xf32>, tensor<2x3x5xf32>) {
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
    %l = math.log %x0 : f32
    %y = arith.addf %x1, %l : f32
    linalg.yield %y : f32
  } -> tensor<2x3x5xf32>
  return %o, %lse : tensor<2x3x5x8xf32>, tensor<2x3x5xf32>
}

// The same in base 2 within, in another shape, beside a late division.
// CHECK-LABEL: func.func @late_lse_exp2
// CHECK: %[[O:.+]], %[[LSE:.+]] = attn.attention %{{.+}}, %{{.+}}, %{{.+}} lse scale(5.000000e-01) :
// CHECK: linalg.transpose
// CHECK-NEXT: %[[T:.+]] = tensor.collapse_shape
// CHECK: return %[[O]], %[[T]]
func.func @late_lse_exp2(%q: tensor<2x3x5x8xf32>, %k: tensor<2x3x6x8xf32>, %v: tensor<2x3x6x8xf32>) -> (tensor<2x3x5x8xf32>, tensor<5x6xf32>) {
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
  %oe = tensor.empty() : tensor<2x3x5x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x3x5x8xf32>) -> tensor<2x3x5x8xf32>
  %o = linalg.contract indexing_maps = [#s, #v, #o] ins(%p, %v : tensor<2x3x5x6xf32>, tensor<2x3x6x8xf32>) outs(%of : tensor<2x3x5x8xf32>) -> tensor<2x3x5x8xf32>
  %r = linalg.generic {indexing_maps = [#all4, #rows, #all4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%o, %sum : tensor<2x3x5x8xf32>, tensor<2x3x5xf32>) outs(%oe : tensor<2x3x5x8xf32>) {
  ^bb0(%x0: f32, %x1: f32, %acc: f32):
    %y = arith.divf %x0, %x1 : f32
    linalg.yield %y : f32
  } -> tensor<2x3x5x8xf32>
  %lse = linalg.generic {indexing_maps = [#r3, #r3, #r3], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%sum, %max : tensor<2x3x5xf32>, tensor<2x3x5xf32>) outs(%re : tensor<2x3x5xf32>) {
  ^bb0(%x0: f32, %x1: f32, %acc: f32):
    %ln2 = arith.constant 0.6931471805599453 : f32
    %l = math.log2 %x0 : f32
    %a = arith.addf %l, %x1 : f32
    %y = arith.mulf %a, %ln2 : f32
    linalg.yield %y : f32
  } -> tensor<2x3x5xf32>
  %flat = tensor.collapse_shape %lse [[0, 1], [2]] : tensor<2x3x5xf32> into tensor<6x5xf32>
  %te = tensor.empty() : tensor<5x6xf32>
  %t = linalg.transpose ins(%flat : tensor<6x5xf32>) outs(%te : tensor<5x6xf32>) permutation = [1, 0]
  return %r, %t : tensor<2x3x5x8xf32>, tensor<5x6xf32>
}
