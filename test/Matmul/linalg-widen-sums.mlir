// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums that are rounded to 16 bits after each addition, as JAX's matmuls are in linalg, become sums in f32.
//
// RUN: attune-opt %s --linalg-widen-sums | FileCheck %s
//
// In numbers; these sums have 11 bits.
// DEFINE: %{inputs} = %S/../Conversion/LinalgToAttn/Inputs
// RUN: %python %{inputs}/driver.py main %s > %t.main.mlir
// RUN: mlir-opt %t.main.mlir %cpu_pipeline | mlir-runner %cpu_runner > %t.before
// RUN: attune-opt %t.main.mlir --linalg-widen-sums | mlir-opt %cpu_pipeline | mlir-runner %cpu_runner > %t.after
// RUN: %python %{inputs}/driver.py compare %t.before %t.after 0.0001
//
// Kernels are made of them.
// RUN: attune-opt %s --attune-compile="chip=sm_80 format=tile" 2> %t.warnings | FileCheck %s --check-prefix=KERNELS
// KERNELS-DAG: gpu.func @named_kernel
// KERNELS-DAG: gpu.func @generic_kernel
// RUN: FileCheck %s --check-prefix=WARNING < %t.warnings
// WARNING: linalg-widen-sums.mlir:[[#]]:8: warning: is left as it is: expects operands of a contraction to be both f16 or both bf16, but got 'f32' and 'f32'
// RUN: attune-run %s --function=named --device=host --chip=sm_80 --verify | FileCheck %s --check-prefix=RUNS
// RUNS: right

// CHECK-DAG: #[[LHS:.+]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[RHS:.+]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[OUT:.+]] = affine_map<(d0, d1, d2) -> (d0, d1)>

// CHECK-LABEL: func.func @named
// CHECK-SAME: (%[[A:.+]]: tensor<5x8xf16>, %[[B:.+]]: tensor<8x6xf16>)
// CHECK-NOT: linalg.fill {{.*}}f16
// CHECK: %[[ZEROS:.+]] = linalg.fill ins(%{{.+}} : f32) outs(%{{.+}} : tensor<5x6xf32>)
// CHECK: %[[SUM:.+]] = linalg.contract indexing_maps = [#[[LHS]], #[[RHS]], #[[OUT]]] ins(%[[A]], %[[B]] : tensor<5x8xf16>, tensor<8x6xf16>) outs(%[[ZEROS]] : tensor<5x6xf32>)
// CHECK: %[[R:.+]] = linalg.generic {{.*}} ins(%[[SUM]] : tensor<5x6xf32>)
// CHECK-NEXT: ^bb0(%[[X:.+]]: f32, %{{.+}}: f16):
// CHECK-NEXT: %[[Y:.+]] = arith.truncf %[[X]]
// CHECK-NEXT: linalg.yield %[[Y]]
// CHECK: return %[[R]]
func.func @named(%a: tensor<5x8xf16>, %b: tensor<8x6xf16>) -> tensor<5x6xf16> {
  %zero = arith.constant 0.0 : f16
  %empty = tensor.empty() : tensor<5x6xf16>
  %init = linalg.fill ins(%zero : f16) outs(%empty : tensor<5x6xf16>) -> tensor<5x6xf16>
  %r = linalg.matmul ins(%a, %b : tensor<5x8xf16>, tensor<8x6xf16>) outs(%init : tensor<5x6xf16>) -> tensor<5x6xf16>
  return %r : tensor<5x6xf16>
}

// A generic with batches of an unknown number, whose right operand is transposed; the sum begins with a tensor.
// CHECK-LABEL: func.func @generic
// CHECK-SAME: %[[C:[^:,]+]]: tensor<?x5x6xbf16>)
// CHECK: %[[SUM:.+]] = linalg.contract {{.*}} outs(%{{.+}} : tensor<?x5x6xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[SUM]], %[[C]] : tensor<?x5x6xf32>, tensor<?x5x6xbf16>)
// CHECK: %[[FIRST:.+]] = arith.extf %{{.+}} : bf16 to f32
// CHECK-NEXT: %[[ALL:.+]] = arith.addf %{{.+}}, %[[FIRST]] : f32
// CHECK-NEXT: arith.truncf %[[ALL]] : f32 to bf16
func.func @generic(%a: tensor<?x5x4xbf16>, %b: tensor<?x6x4xbf16>, %c: tensor<?x5x6xbf16>) -> tensor<?x5x6xbf16> {
  %r = linalg.generic {indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (b, n, k)>, affine_map<(b, m, n, k) -> (b, m, n)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%a, %b : tensor<?x5x4xbf16>, tensor<?x6x4xbf16>) outs(%c : tensor<?x5x6xbf16>) {
  ^bb0(%x: bf16, %y: bf16, %acc: bf16):
    %p = arith.mulf %x, %y : bf16
    %s = arith.addf %acc, %p : bf16
    linalg.yield %s : bf16
  } -> tensor<?x5x6xbf16>
  return %r : tensor<?x5x6xbf16>
}

// What adds in f32, in f32 alone, or is no matmul, stays.
// CHECK-LABEL: func.func @others
// CHECK-NOT: linalg.contract
// CHECK: linalg.matmul {{.*}} -> tensor<5x6xf32>
// CHECK: linalg.matmul {{.*}} -> tensor<5x6xf32>
// CHECK: linalg.matvec {{.*}} -> tensor<5xf16>
// CHECK-NOT: linalg.contract
// CHECK: return
func.func @others(%a: tensor<5x8xf16>, %b: tensor<8x6xf16>, %c: tensor<5x6xf32>, %d: tensor<5x8xf32>, %e: tensor<8x6xf32>, %f: tensor<8xf16>, %g: tensor<5xf16>) -> (tensor<5x6xf32>, tensor<5x6xf32>, tensor<5xf16>) {
  %r = linalg.matmul ins(%a, %b : tensor<5x8xf16>, tensor<8x6xf16>) outs(%c : tensor<5x6xf32>) -> tensor<5x6xf32>
  %s = linalg.matmul ins(%d, %e : tensor<5x8xf32>, tensor<8x6xf32>) outs(%c : tensor<5x6xf32>) -> tensor<5x6xf32>
  %t = linalg.matvec ins(%a, %f : tensor<5x8xf16>, tensor<8xf16>) outs(%g : tensor<5xf16>) -> tensor<5xf16>
  return %r, %s, %t : tensor<5x6xf32>, tensor<5x6xf32>, tensor<5xf16>
}
