// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The logarithm of a sum that is not the one of the weights, as jax.nn.dot_product_attention(return_residual=True)
// has it after StableHLO's lowering to linalg: exponentials are added up once more, less a maximum that is 0 where
// it is not finite.
//
// RUN: attune-opt %s --convert-linalg-to-attn | FileCheck %s
//
// In numbers.
// RUN: %python %S/Inputs/driver.py main %s > %t.main.mlir
// RUN: mlir-opt %t.main.mlir --transform-preload-library=transform-library-paths=%S/Inputs/decompose.mlir --transform-interpreter %cpu_pipeline | mlir-runner %cpu_runner > %t.before
// RUN: attune-opt %t.main.mlir --convert-linalg-to-attn --convert-attn-to-loops | mlir-opt %cpu_pipeline | mlir-runner %cpu_runner > %t.after
// RUN: %python %S/Inputs/driver.py compare %t.before %t.after 0.01

// CHECK-LABEL: func.func @residual
// CHECK-SAME: (%[[Q:.+]]: tensor<2x5x3x8xbf16>, %[[K:.+]]: tensor<2x6x3x8xbf16>, %[[V:.+]]: tensor<2x6x3x8xbf16>)
// CHECK: %[[O:.+]], %[[L:.+]] = attn.attention %[[Q]], %[[K]], %[[V]] lse {{.*}}order(bshd) :
// CHECK-NOT: math
// CHECK: arith.truncf
// CHECK: %[[T:.+]] = linalg.transpose
// CHECK: return %[[O]], %[[T]]
func.func @residual(%q: tensor<2x5x3x8xbf16>, %k: tensor<2x6x3x8xbf16>, %v: tensor<2x6x3x8xbf16>) -> (tensor<2x5x3x8xbf16>, tensor<2x5x3xbf16>) {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %scale = arith.constant dense<0.25> : tensor<2x3x5x6xf32>
  %se = tensor.empty() : tensor<2x3x5x6xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x3x5x6xf32>) -> tensor<2x3x5x6xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, n, t, s, h) -> (b, t, n, h)>, affine_map<(b, n, t, s, h) -> (b, s, n, h)>, affine_map<(b, n, t, s, h) -> (b, n, t, s)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
    ins(%q, %k : tensor<2x5x3x8xbf16>, tensor<2x6x3x8xbf16>) outs(%sf : tensor<2x3x5x6xf32>) {
  ^bb0(%x: bf16, %y: bf16, %acc: f32):
    %xf = arith.extf %x : bf16 to f32
    %yf = arith.extf %y : bf16 to f32
    %p = arith.mulf %xf, %yf : f32
    %sum = arith.addf %acc, %p : f32
    linalg.yield %sum : f32
  } -> tensor<2x3x5x6xf32>
  %scaled = linalg.map { arith.mulf } ins(%s, %scale : tensor<2x3x5x6xf32>, tensor<2x3x5x6xf32>) outs(%se : tensor<2x3x5x6xf32>)
  %re = tensor.empty() : tensor<2x3x5xf32>
  %rf = linalg.fill ins(%low : f32) outs(%re : tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %zf = linalg.fill ins(%zero : f32) outs(%re : tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %max = linalg.reduce { arith.maximumf } ins(%scaled : tensor<2x3x5x6xf32>) outs(%rf : tensor<2x3x5xf32>) dimensions = [3]
  %maxb = linalg.broadcast ins(%max : tensor<2x3x5xf32>) outs(%se : tensor<2x3x5x6xf32>) dimensions = [3]
  %shifted = linalg.map { arith.subf } ins(%scaled, %maxb : tensor<2x3x5x6xf32>, tensor<2x3x5x6xf32>) outs(%se : tensor<2x3x5x6xf32>)
  %e = linalg.map { math.exp } ins(%shifted : tensor<2x3x5x6xf32>) outs(%se : tensor<2x3x5x6xf32>)
  %total = linalg.reduce { arith.addf } ins(%e : tensor<2x3x5x6xf32>) outs(%zf : tensor<2x3x5xf32>) dimensions = [3]
  %totalb = linalg.broadcast ins(%total : tensor<2x3x5xf32>) outs(%se : tensor<2x3x5x6xf32>) dimensions = [3]
  %p = linalg.map { arith.divf } ins(%e, %totalb : tensor<2x3x5x6xf32>, tensor<2x3x5x6xf32>) outs(%se : tensor<2x3x5x6xf32>)
  %pb = arith.truncf %p : tensor<2x3x5x6xf32> to tensor<2x3x5x6xbf16>
  %oe = tensor.empty() : tensor<2x3x8x5xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x3x8x5xf32>) -> tensor<2x3x8x5xf32>
  %o = linalg.generic {indexing_maps = [affine_map<(b, n, h, t, s) -> (b, s, n, h)>, affine_map<(b, n, h, t, s) -> (b, n, t, s)>, affine_map<(b, n, h, t, s) -> (b, n, h, t)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
    ins(%v, %pb : tensor<2x6x3x8xbf16>, tensor<2x3x5x6xbf16>) outs(%of : tensor<2x3x8x5xf32>) {
  ^bb0(%x: bf16, %y: bf16, %acc: f32):
    %xf = arith.extf %x : bf16 to f32
    %yf = arith.extf %y : bf16 to f32
    %m = arith.mulf %xf, %yf : f32
    %sum = arith.addf %acc, %m : f32
    linalg.yield %sum : f32
  } -> tensor<2x3x8x5xf32>
  %ob = arith.truncf %o : tensor<2x3x8x5xf32> to tensor<2x3x8x5xbf16>
  // logsumexp.
  %max2 = linalg.reduce { arith.maximumf } ins(%scaled : tensor<2x3x5x6xf32>) outs(%rf : tensor<2x3x5xf32>) dimensions = [3]
  %infinity = arith.constant dense<0x7F800000> : tensor<2x3x5xf32>
  %zeros = arith.constant dense<0.0> : tensor<2x3x5xf32>
  %magnitude = math.absf %max2 : tensor<2x3x5xf32>
  %finite = arith.cmpf one, %magnitude, %infinity : tensor<2x3x5xf32>
  %shift = arith.select %finite, %max2, %zeros : tensor<2x3x5xi1>, tensor<2x3x5xf32>
  %shiftb = linalg.broadcast ins(%shift : tensor<2x3x5xf32>) outs(%se : tensor<2x3x5x6xf32>) dimensions = [3]
  %less = linalg.map { arith.subf } ins(%scaled, %shiftb : tensor<2x3x5x6xf32>, tensor<2x3x5x6xf32>) outs(%se : tensor<2x3x5x6xf32>)
  %e2 = linalg.map { math.exp } ins(%less : tensor<2x3x5x6xf32>) outs(%se : tensor<2x3x5x6xf32>)
  %total2 = linalg.reduce { arith.addf } ins(%e2 : tensor<2x3x5x6xf32>) outs(%zf : tensor<2x3x5xf32>) dimensions = [3]
  %abs = math.absf %total2 : tensor<2x3x5xf32>
  %log = math.log %abs : tensor<2x3x5xf32>
  %lse = arith.addf %log, %shift : tensor<2x3x5xf32>
  %lb = arith.truncf %lse : tensor<2x3x5xf32> to tensor<2x3x5xbf16>
  %le = tensor.empty() : tensor<2x5x3xbf16>
  %lt = linalg.transpose ins(%lb : tensor<2x3x5xbf16>) outs(%le : tensor<2x5x3xbf16>) permutation = [0, 2, 1]
  // The result is complete behind the logarithm.
  %te = tensor.empty() : tensor<2x5x3x8xbf16>
  %ot = linalg.transpose ins(%ob : tensor<2x3x8x5xbf16>) outs(%te : tensor<2x5x3x8xbf16>) permutation = [0, 3, 1, 2]
  return %ot, %lt : tensor<2x5x3x8xbf16>, tensor<2x5x3xbf16>
}

// One generic that subtracts, takes the power and adds up, of a causal mask that hides nothing of the first key; a
// softmax that is named.
// CHECK-LABEL: func.func @fused
// CHECK: %{{.+}}, %[[L:.+]] = attn.attention {{.*}} lse causal(top_left) scale(1.{{.*}})
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @fused(%q: tensor<2x5x8xf32>, %k: tensor<2x5x8xf32>, %v: tensor<2x5x8xf32>) -> (tensor<2x5x8xf32>, tensor<2x5xf32>) {
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
    %y = arith.addf %l, %c : f32
    linalg.yield %y : f32
  } -> tensor<2x5xf32>
  return %o, %lse : tensor<2x5x8xf32>, tensor<2x5xf32>
}
