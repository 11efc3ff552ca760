// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// As jax.nn.dot_product_attention looks after StableHLO's lowering to linalg: grouped heads by a reshape of the
// query, values as the left operand of the second contraction, a mask by iota with a large finite number, and
// reductions with reducers.
//
// RUN: attune-opt %s --convert-linalg-to-attn | FileCheck %s
//
// In numbers.
// RUN: %python %S/Inputs/driver.py main %s > %t.main.mlir
// RUN: mlir-opt %t.main.mlir %cpu_pipeline | mlir-runner %cpu_runner > %t.before
// RUN: attune-opt %t.main.mlir --convert-linalg-to-attn --convert-attn-to-loops | mlir-opt %cpu_pipeline | mlir-runner %cpu_runner > %t.after
// RUN: %python %S/Inputs/driver.py compare %t.before %t.after 0.01

#all = affine_map<(b, k, g, t, s) -> (b, k, g, t, s)>
#flat = affine_map<(a, b) -> (a, b)>
#id4 = affine_map<(a, b, c, d) -> (a, b, c, d)>

// CHECK-LABEL: func.func @grouped
// CHECK-SAME: (%[[Q:.+]]: tensor<2x5x4x8xbf16>, %[[K:.+]]: tensor<2x5x2x8xbf16>, %[[V:.+]]: tensor<2x5x2x8xbf16>)
// CHECK: %[[O:.+]] = attn.attention %[[Q]], %[[K]], %[[V]] causal(top_left) scale(0.353515625) order(bshd) :
// CHECK-NOT: linalg
// CHECK: return %[[O]]
func.func @grouped(%q: tensor<2x5x4x8xbf16>, %k: tensor<2x5x2x8xbf16>, %v: tensor<2x5x2x8xbf16>) -> tensor<2x5x4x8xbf16> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %scale = arith.constant dense<0.353515625> : tensor<2x2x2x5x5xf32>
  %masked_value = arith.constant dense<-2.38197633E+38> : tensor<2x2x2x5x5xf32>
  %qg = tensor.expand_shape %q [[0], [1], [2, 3], [4]] output_shape [2, 5, 2, 2, 8] : tensor<2x5x4x8xbf16> into tensor<2x5x2x2x8xbf16>
  %se = tensor.empty() : tensor<2x2x2x5x5xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x2x2x5x5xf32>) -> tensor<2x2x2x5x5xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, k, g, t, s, h) -> (b, t, k, g, h)>, affine_map<(b, k, g, t, s, h) -> (b, s, k, h)>, affine_map<(b, k, g, t, s, h) -> (b, k, g, t, s)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]}
    ins(%qg, %k : tensor<2x5x2x2x8xbf16>, tensor<2x5x2x8xbf16>) outs(%sf : tensor<2x2x2x5x5xf32>) {
  ^bb0(%x: bf16, %y: bf16, %acc: f32):
    %xf = arith.extf %x : bf16 to f32
    %yf = arith.extf %y : bf16 to f32
    %p = arith.mulf %xf, %yf : f32
    %sum = arith.addf %acc, %p : f32
    linalg.yield %sum : f32
  } -> tensor<2x2x2x5x5xf32>
  %scaled = linalg.map { arith.mulf } ins(%s, %scale : tensor<2x2x2x5x5xf32>, tensor<2x2x2x5x5xf32>) outs(%se : tensor<2x2x2x5x5xf32>)
  %ie = tensor.empty() : tensor<5x5xi32>
  %rows = linalg.generic {indexing_maps = [#flat], iterator_types = ["parallel", "parallel"]} outs(%ie : tensor<5x5xi32>) {
  ^bb0(%out: i32):
    %i = linalg.index 0 : index
    %c = arith.index_cast %i : index to i32
    linalg.yield %c : i32
  } -> tensor<5x5xi32>
  %columns = linalg.generic {indexing_maps = [#flat], iterator_types = ["parallel", "parallel"]} outs(%ie : tensor<5x5xi32>) {
  ^bb0(%out: i32):
    %i = linalg.index 1 : index
    %c = arith.index_cast %i : index to i32
    linalg.yield %c : i32
  } -> tensor<5x5xi32>
  %me = tensor.empty() : tensor<5x5xi1>
  %tril = linalg.map ins(%rows, %columns : tensor<5x5xi32>, tensor<5x5xi32>) outs(%me : tensor<5x5xi1>)
    (%r: i32, %c: i32, %init: i1) {
      %is = arith.cmpi sge, %r, %c : i32
      linalg.yield %is : i1
    }
  %mbe = tensor.empty() : tensor<2x2x2x5x5xi1>
  %mask = linalg.broadcast ins(%tril : tensor<5x5xi1>) outs(%mbe : tensor<2x2x2x5x5xi1>) dimensions = [0, 1, 2]
  %masked = linalg.map { arith.select } ins(%mask, %scaled, %masked_value : tensor<2x2x2x5x5xi1>, tensor<2x2x2x5x5xf32>, tensor<2x2x2x5x5xf32>) outs(%se : tensor<2x2x2x5x5xf32>)
  %re = tensor.empty() : tensor<2x2x2x5xf32>
  %rf = linalg.fill ins(%low : f32) outs(%re : tensor<2x2x2x5xf32>) -> tensor<2x2x2x5xf32>
  %max = linalg.reduce { arith.maximumf } ins(%masked : tensor<2x2x2x5x5xf32>) outs(%rf : tensor<2x2x2x5xf32>) dimensions = [4]
  // As JAX has it: the maximum of -inf and the maximum.
  %lowest = arith.constant dense<0xFF800000> : tensor<2x2x2x5xf32>
  %max2 = linalg.map { arith.maximumf } ins(%lowest, %max : tensor<2x2x2x5xf32>, tensor<2x2x2x5xf32>) outs(%re : tensor<2x2x2x5xf32>)
  %maxb = linalg.broadcast ins(%max2 : tensor<2x2x2x5xf32>) outs(%se : tensor<2x2x2x5x5xf32>) dimensions = [4]
  %shifted = linalg.map { arith.subf } ins(%masked, %maxb : tensor<2x2x2x5x5xf32>, tensor<2x2x2x5x5xf32>) outs(%se : tensor<2x2x2x5x5xf32>)
  %e = linalg.map { math.exp } ins(%shifted : tensor<2x2x2x5x5xf32>) outs(%se : tensor<2x2x2x5x5xf32>)
  %zf = linalg.fill ins(%zero : f32) outs(%re : tensor<2x2x2x5xf32>) -> tensor<2x2x2x5xf32>
  %total = linalg.reduce { arith.addf } ins(%e : tensor<2x2x2x5x5xf32>) outs(%zf : tensor<2x2x2x5xf32>) dimensions = [4]
  %totalb = linalg.broadcast ins(%total : tensor<2x2x2x5xf32>) outs(%se : tensor<2x2x2x5x5xf32>) dimensions = [4]
  %p = linalg.map { arith.divf } ins(%e, %totalb : tensor<2x2x2x5x5xf32>, tensor<2x2x2x5x5xf32>) outs(%se : tensor<2x2x2x5x5xf32>)
  %pe = tensor.empty() : tensor<2x2x2x5x5xbf16>
  %pb = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
    ins(%p : tensor<2x2x2x5x5xf32>) outs(%pe : tensor<2x2x2x5x5xbf16>) {
  ^bb0(%x: f32, %out: bf16):
    %y = arith.truncf %x : f32 to bf16
    linalg.yield %y : bf16
  } -> tensor<2x2x2x5x5xbf16>
  %oe = tensor.empty() : tensor<2x2x8x2x5xbf16>
  %bzero = arith.constant 0.0 : bf16
  %of = linalg.fill ins(%bzero : bf16) outs(%oe : tensor<2x2x8x2x5xbf16>) -> tensor<2x2x8x2x5xbf16>
  %o = linalg.generic {indexing_maps = [affine_map<(b, k, h, g, t, s) -> (b, s, k, h)>, affine_map<(b, k, h, g, t, s) -> (b, k, g, t, s)>, affine_map<(b, k, h, g, t, s) -> (b, k, h, g, t)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]}
    ins(%v, %pb : tensor<2x5x2x8xbf16>, tensor<2x2x2x5x5xbf16>) outs(%of : tensor<2x2x8x2x5xbf16>) {
  ^bb0(%x: bf16, %y: bf16, %acc: bf16):
    %t = arith.mulf %x, %y : bf16
    %sum = arith.addf %acc, %t : bf16
    linalg.yield %sum : bf16
  } -> tensor<2x2x8x2x5xbf16>
  %te = tensor.empty() : tensor<2x5x2x2x8xbf16>
  %ot = linalg.transpose ins(%o : tensor<2x2x8x2x5xbf16>) outs(%te : tensor<2x5x2x2x8xbf16>) permutation = [0, 4, 1, 3, 2]
  %r = tensor.collapse_shape %ot [[0], [1], [2, 3], [4]] : tensor<2x5x2x2x8xbf16> into tensor<2x5x4x8xbf16>
  return %r : tensor<2x5x4x8xbf16>
}
