// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes that are known when a matmul runs are checked in front of the launch,
// where tensors have to agree about them.
//
// RUN: attune-opt %s --attune-attach-target=chip=sm_80 --convert-linalg-to-tile --canonicalize --cse | FileCheck %s

#plain = #schedule.matmul<blockM = 64, blockN = 32, blockK = 32, warpsN = 2>
#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>

// The rows of the result are those of lhs: only k is checked.
// CHECK-LABEL: func.func @depth
// CHECK-SAME:    (%[[A:.+]]: tensor<?x?xf16>, %[[B:.+]]: tensor<?x64xf16>)
// CHECK:         %[[KA:.+]] = tensor.dim %[[A]], %c1
// CHECK:         %[[KB:.+]] = tensor.dim %[[B]], %c0
// CHECK:         %[[SAME:.+]] = arith.cmpi eq, %[[KA]], %[[KB]]
// CHECK-NEXT:    cf.assert %[[SAME]], "expects lhs and rhs to have one size of k"
// CHECK-NOT:     cf.assert
// CHECK:         gpu.launch_func
func.func @depth(%a: tensor<?x?xf16>, %b: tensor<?x64xf16>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x?xf16>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %r = linalg.matmul {attune.schedule = #plain} ins(%a, %b : tensor<?x?xf16>, tensor<?x64xf16>) outs(%f : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}

// A static size comes last; what the epilogue reads and the result are checked too.
// CHECK-LABEL: func.func @epilogue
// CHECK-SAME:    (%[[A:.+]]: tensor<70x96xf16>, %[[B:.+]]: tensor<?x?xf16>, %[[BIAS:.+]]: tensor<?xf32>, %{{.+}}: tensor<?x?xf16>)
// CHECK:         %[[K:.+]] = arith.cmpi eq, %{{.+}}, %c96
// CHECK-NEXT:    cf.assert %[[K]], "expects rhs and lhs to have one size of k"
// CHECK:         cf.assert %{{.+}}, "expects rhs and operand to have one size of n"
// CHECK:         cf.assert %{{.+}}, "expects result and lhs to have one size of m"
// CHECK:         cf.assert %{{.+}}, "expects rhs and result to have one size of n"
// CHECK-NOT:     cf.assert
// CHECK:         gpu.launch_func
func.func @epilogue(%a: tensor<70x96xf16>, %b: tensor<?x?xf16>, %bias: tensor<?xf32>, %out: tensor<?x?xf16>) -> tensor<?x?xf16> {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %b, %c1 : tensor<?x?xf16>
  %e = tensor.empty(%n) : tensor<70x?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<70x?xf32>) -> tensor<70x?xf32>
  %r = linalg.matmul {attune.schedule = #plain} ins(%a, %b : tensor<70x96xf16>, tensor<?x?xf16>) outs(%f : tensor<70x?xf32>) -> tensor<70x?xf32>
  %s = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%r, %bias : tensor<70x?xf32>, tensor<?xf32>) outs(%out : tensor<?x?xf16>) {
  ^bb0(%x: f32, %y: f32, %acc: f16):
    %sum = arith.addf %x, %y : f32
    %half = arith.truncf %sum : f32 to f16
    linalg.yield %half : f16
  } -> tensor<?x?xf16>
  return %s : tensor<?x?xf16>
}

// Static sizes need no checks.
// CHECK-LABEL: func.func @static
// CHECK-NOT:     cf.assert
// CHECK:         gpu.launch_func
func.func @static(%a: tensor<70x96xf16>, %b: tensor<96x64xf16>, %c: tensor<70x64xf32>) -> tensor<70x64xf32> {
  %r = linalg.matmul {attune.schedule = #plain} ins(%a, %b : tensor<70x96xf16>, tensor<96x64xf16>) outs(%c : tensor<70x64xf32>) -> tensor<70x64xf32>
  return %r : tensor<70x64xf32>
}
