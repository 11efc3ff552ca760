// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ops of a group alone: what they use are arguments, constants and sizes go
// along, names and notes do not.
//
// REQUIRES: plugin
// RUN: attune-opt %s --load-pass-plugin=%test_passes --pass-pipeline="builtin.module(test-print-contraction-groups{isolate=1})" -o /dev/null \
// RUN:   | FileCheck %s

#id = affine_map<(m, n) -> (m, n)>
#col = affine_map<(m, n) -> (n)>

// CHECK-LABEL: @inside
// CHECK:       module {
// CHECK-NEXT:    func.func @matmul(%[[A:.+]]: tensor<?x64xbf16>, %[[B:.+]]: tensor<64x16xbf16>, %[[BIAS:.+]]: tensor<16xf32>, %[[FACTOR:.+]]: f32) -> tensor<?x16xf32> {
// CHECK:           %[[SIZE:.+]] = tensor.dim %[[A]], %{{.+}} : tensor<?x64xbf16>
// CHECK-NEXT:      %[[E:.+]] = tensor.empty(%[[SIZE]]) : tensor<?x16xf32>
// CHECK-NEXT:      %[[Z:.+]] = linalg.fill
// CHECK-NEXT:      %[[C:.+]] = linalg.matmul ins(%[[A]], %[[B]] : {{.+}}) outs(%[[Z]] : {{.+}}) -> tensor<?x16xf32>
// CHECK:           %[[R:.+]] = linalg.generic {{.+}} ins(%[[C]], %[[BIAS]] : tensor<?x16xf32>, tensor<16xf32>) outs(%[[E]] : tensor<?x16xf32>) {
// CHECK:             arith.mulf %{{.+}}, %[[FACTOR]] : f32
// CHECK:           return %[[R]] : tensor<?x16xf32>
// CHECK-NOT:     linalg.exp
func.func @inside(%factor: f32, %c: tensor<?x64xf32>, %b: tensor<64x16xbf16>, %bias: tensor<16xf32>) -> tensor<16xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %size = tensor.dim %c, %c0 : tensor<?x64xf32>
  %ea = tensor.empty(%size) : tensor<?x64xbf16>
  %x = linalg.exp ins(%c : tensor<?x64xf32>) outs(%c : tensor<?x64xf32>) -> tensor<?x64xf32>
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x64xf32>) outs(%ea : tensor<?x64xbf16>) {
  ^bb0(%p: f32, %o: bf16):
    %1 = arith.truncf %p : f32 to bf16
    linalg.yield %1 : bf16
  } -> tensor<?x64xbf16>
  %rows = tensor.dim %a, %c0 : tensor<?x64xbf16>
  %e = tensor.empty(%rows) : tensor<?x16xf32>
  %z = linalg.fill {note = "fill"} ins(%zero : f32) outs(%e : tensor<?x16xf32>) -> tensor<?x16xf32>
  %r = linalg.matmul {note = 1} ins(%a, %b : tensor<?x64xbf16>, tensor<64x16xbf16>) outs(%z : tensor<?x16xf32>) -> tensor<?x16xf32>
  %s = linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel"]}
    ins(%r, %bias : tensor<?x16xf32>, tensor<16xf32>) outs(%e : tensor<?x16xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %1 = arith.addf %p, %q : f32
    %2 = arith.mulf %1, %factor : f32
    linalg.yield %2 : f32
  } -> tensor<?x16xf32>
  %t = linalg.reduce {arith.addf} ins(%s : tensor<?x16xf32>) outs(%bias : tensor<16xf32>) dimensions = [0]
  return %t : tensor<16xf32>
}
