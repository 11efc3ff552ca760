// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reference of attn.merge.
//
// RUN: attune-opt %s --convert-attn-to-loops | FileCheck %s
// RUN: attune-opt %s --convert-attn-to-loops="output=f32 precision=operand" | FileCheck %s --check-prefix=BOUND

!o = tensor<2x8x4x64xbf16>
!lse = tensor<2x4x8xf32>

// CHECK-LABEL: func.func @two
// CHECK-SAME: (%[[O0:.+]]: tensor<2x8x4x64xbf16>, %[[O1:.+]]: tensor<2x8x4x64xbf16>, %[[L0:.+]]: tensor<2x4x8xf32>, %[[L1:.+]]: tensor<2x4x8xf32>) -> (tensor<2x8x4x64xbf16>, tensor<2x4x8xf32>)
// CHECK-DAG: %[[PART0:.+]] = bufferization.to_buffer %[[O0]] read_only
// CHECK-DAG: %[[PART1:.+]] = bufferization.to_buffer %[[O1]] read_only
// CHECK-DAG: %[[LOGS0:.+]] = bufferization.to_buffer %[[L0]] read_only
// CHECK-DAG: %[[LOGS1:.+]] = bufferization.to_buffer %[[L1]] read_only
// CHECK: scf.parallel (%[[B:.+]], %[[H:.+]], %[[M:.+]]) =
// CHECK: %[[MINUS_INFINITY:.+]] = arith.constant 0xFF800000 : f32
// CHECK: %[[LOG0:.+]] = memref.load %[[LOGS0]][%[[B]], %[[H]], %[[M]]]
// CHECK: arith.maxnumf
// CHECK: %[[LOG1:.+]] = memref.load %[[LOGS1]][%[[B]], %[[H]], %[[M]]]
// CHECK: %[[MOST:.+]] = arith.maxnumf
// CHECK: %[[EMPTY:.+]] = arith.cmpf oeq, %[[MOST]], %[[MINUS_INFINITY]]
// CHECK: %[[SHIFT:.+]] = arith.select %[[EMPTY]], %{{.+}}, %[[MOST]]
// CHECK: arith.subf %[[LOG0]], %[[SHIFT]]
// CHECK: %[[W0:.+]] = math.exp
// CHECK: arith.subf %[[LOG1]], %[[SHIFT]]
// CHECK: %[[W1:.+]] = math.exp
// What a part without weight holds is not multiplied.
// CHECK: vector.load %[[PART0]][%[[B]], %[[M]], %[[H]],
// CHECK: %[[NONE:.+]] = arith.cmpf oeq, %[[W0]]
// CHECK: arith.select %[[NONE]], %{{.+}}, %{{.+}} : vector<64xf32>
// CHECK: arith.divf %[[W0]]
// CHECK: vector.load %[[PART1]][%[[B]], %[[M]], %[[H]],
// CHECK: vector.store {{.+}} : memref<2x8x4x64xbf16>, vector<64xbf16>
// CHECK: math.log
// CHECK: memref.store {{.+}} : memref<2x4x8xf32>
// BOUND-LABEL: func.func @two
// BOUND-SAME: -> (tensor<2x8x4x64xf32>, tensor<2x4x8xf32>)
// BOUND: arith.truncf %{{.+}} : vector<64xf32> to vector<64xbf16>
// BOUND: vector.store {{.+}} : memref<2x8x4x64xf32>, vector<64xf32>
func.func @two(%o0: !o, %o1: !o, %l0: !lse, %l1: !lse) -> (!o, !lse) {
  %o, %lse = attn.merge %o0, %o1 lses(%l0, %l1 : !lse, !lse) order(bshd) : !o, !o -> !o, !lse
  return %o, %lse : !o, !lse
}

// A part that attention has made need not be rounded to be merged.
// CHECK-LABEL: func.func @chain
// BOUND-LABEL: func.func @chain
// BOUND-SAME: -> tensor<2x8x4x64xf32>
// BOUND: %[[O:.+]] = memref.alloc() : memref<2x8x4x64xf32>
// BOUND: scf.parallel
// BOUND: scf.parallel
// BOUND: vector.load {{.+}} : memref<2x8x4x64xf32
// BOUND: vector.load {{.+}} : memref<2x8x4x64xbf16
func.func @chain(%q: !o, %k: !o, %o1: !o, %l1: !lse) -> !o {
  %o0, %l0 = attn.attention %q, %k, %k lse order(bshd) : !o, !o, !o
  %o = attn.merge %o0, %o1 lses(%l0, %l1 : !lse, !lse) order(bshd) : !o, !o -> !o
  return %o : !o
}

// Parts may be wider than the result.
// CHECK-LABEL: func.func @narrow
// CHECK: arith.truncf %{{.+}} : vector<64xf32> to vector<64xf16>
// BOUND-LABEL: func.func @narrow
// BOUND-SAME: -> tensor<2x4x?x64xf32>
func.func @narrow(%o: tensor<2x4x?x64xf32>, %lse: tensor<2x4x?xf32>) -> tensor<2x4x?x64xf16> {
  %r = attn.merge %o lses(%lse : tensor<2x4x?xf32>) : tensor<2x4x?x64xf32> -> tensor<2x4x?x64xf16>
  return %r : tensor<2x4x?x64xf16>
}
