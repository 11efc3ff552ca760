// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reference of attn.quantize.
//
// RUN: attune-opt %s --convert-attn-to-loops | FileCheck %s
// RUN: attune-opt %s --convert-attn-to-loops="output=f32" | FileCheck %s --check-prefix=F32

// The rows of a block twice.
// CHECK-LABEL: func.func @blocks
// CHECK: scf.parallel
// CHECK:   scf.for
// CHECK:     math.absf
// CHECK:     vector.reduction <maxnumf>
// CHECK:   arith.divf
// CHECK:   memref.store {{.+}} : memref<2x4x2x1xf32>
// CHECK:   scf.for
// CHECK:     arith.truncf {{.+}} to vector<64xf8E4M3FN>
// CHECK:     vector.store {{.+}} : memref<2x4x100x64xf8E4M3FN>
// CHECK-NOT: attn.quantize
// F32-LABEL: func.func @blocks
// F32-SAME: -> (tensor<2x4x100x64xf32>, tensor<2x4x2x1xf32>)
// F32-NOT: arith.truncf
func.func @blocks(%x: tensor<2x4x100x64xf16>) -> (tensor<2x4x100x64xf8E4M3FN>, tensor<2x4x2x1xf32>) {
  %y, %s = attn.quantize %x blocks [1, 1, 64, 1] : tensor<2x4x100x64xf16> -> tensor<2x4x100x64xf8E4M3FN>, tensor<2x4x2x1xf32>
  return %y, %s : tensor<2x4x100x64xf8E4M3FN>, tensor<2x4x2x1xf32>
}

// CHECK-LABEL: func.func @rotated
// CHECK: scf.parallel
// CHECK:     arith.xori
// CHECK:     arith.select {{.+}} : vector<8xi1>, vector<8xf32>
func.func @rotated(%x: tensor<2x4x?x8xf32>) -> tensor<2x4x?x8xf8E5M2> {
  %y, %s = attn.quantize %x rotate : tensor<2x4x?x8xf32> -> tensor<2x4x?x8xf8E5M2>, tensor<2x4x1x1xf32>
  return %y : tensor<2x4x?x8xf8E5M2>
}

// CHECK-LABEL: func.func @smooth
// CHECK: scf.parallel
// CHECK:   %[[SUM:.+]] = scf.for
// CHECK:     arith.addf
// CHECK:   %[[MEAN:.+]] = arith.divf %[[SUM]]
// CHECK:   scf.for
// CHECK:     arith.subf %{{.+}}, %[[MEAN]] : vector<8xf32>
// CHECK:   scf.for
// CHECK:     arith.subf %{{.+}}, %[[MEAN]] : vector<8xf32>
func.func @smooth(%x: tensor<2x4x?x8xf32>) -> tensor<2x4x?x8xf8E5M2> {
  %y, %s = attn.quantize %x smooth : tensor<2x4x?x8xf32> -> tensor<2x4x?x8xf8E5M2>, tensor<2x4x1x1xf32>
  return %y : tensor<2x4x?x8xf8E5M2>
}

// In f32, the two numbers of a byte are two elements.
// CHECK-LABEL: func.func @packed
// CHECK: %[[INTEGERS:.+]] = arith.fptosi %{{.+}} : vector<32xf32> to vector<32xi8>
// CHECK: vector.shuffle %[[INTEGERS]], %[[INTEGERS]] [0, 1, {{.+}}, 15]
// CHECK: vector.shuffle %[[INTEGERS]], %[[INTEGERS]] [16, 17, {{.+}}, 31]
// CHECK: vector.store {{.+}} : memref<2x4x?x16xi8>, vector<16xi8>
// F32-LABEL: func.func @packed
// F32-SAME: -> tensor<2x4x?x32xf32>
// F32-NOT: math.roundeven
func.func @packed(%x: tensor<2x4x?x32xf32>) -> tensor<2x4x?x16xi8> {
  %y, %s = attn.quantize %x packed : tensor<2x4x?x32xf32> -> tensor<2x4x?x16xi8>, tensor<2x4x1x1xf32>
  return %y : tensor<2x4x?x16xi8>
}

// CHECK-LABEL: func.func @zeros
// CHECK: scf.for
// CHECK:   vector.reduction <minnumf>
// CHECK:   vector.reduction <maxnumf>
// CHECK: %[[ZERO:.+]] = arith.subf %cst{{.*}}, %{{.+}} : f32
// CHECK: memref.store %[[ZERO]], {{.+}} : memref<2x4x1x1xf32>
// CHECK: arith.fptosi
func.func @zeros(%x: tensor<2x4x?x8xf32>) -> (tensor<2x4x?x8xi8>, tensor<2x4x1x1xf32>) {
  %y, %s, %z = attn.quantize %x : tensor<2x4x?x8xf32> -> tensor<2x4x?x8xi8>, tensor<2x4x1x1xf32>, tensor<2x4x1x1xf32>
  return %y, %z : tensor<2x4x?x8xi8>, tensor<2x4x1x1xf32>
}
