// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reference of attn.append.
//
// RUN: attune-opt %s --convert-attn-to-loops | FileCheck %s
// RUN: attune-opt %s --convert-attn-to-loops="output=f32" | FileCheck %s --check-prefix=F32

// All of the pool, and then what is new.
// CHECK-LABEL: func.func @rows
// CHECK-SAME: -> tensor<?x16x8x64xbf16>
// CHECK: %[[NEW:.+]] = memref.alloc({{.+}}) : memref<?x16x8x64xbf16>
// CHECK: scf.parallel
// CHECK:   vector.store {{.+}}, %[[NEW]]
// CHECK: scf.parallel
// CHECK:   arith.cmpi ult
// CHECK:   scf.if
// CHECK:     vector.store {{.+}}, %[[NEW]]
// CHECK: bufferization.to_tensor %[[NEW]]
// CHECK-NOT: attn.append
// F32-LABEL: func.func @rows
// F32-SAME: -> tensor<?x16x8x64xf32>
// F32-NOT: arith.truncf
func.func @rows(%x: tensor<?x8x64xbf16>, %slots: tensor<?xi64>, %pool: tensor<?x16x8x64xbf16>) -> tensor<?x16x8x64xbf16> {
  %p = attn.append %x to %pool at %slots : tensor<?x8x64xbf16>, tensor<?x16x8x64xbf16>, tensor<?xi64>
  return %p : tensor<?x16x8x64xbf16>
}

// CHECK-LABEL: func.func @pairs
// CHECK: vector.shuffle %[[X:.+]], %[[X]] [1, 0, 3, 2, 4, 5] : vector<6xf32>, vector<6xf32>
// CHECK: vector.shuffle %[[COS:.+]], %[[COS]] [0, 0, 1, 1, 0, 0] : vector<2xf32>, vector<2xf32>
// CHECK: vector.reduction <maxnumf>
// CHECK: memref.store {{.+}} : memref<4x16x8x1xf32>
// CHECK: arith.truncf {{.+}} to vector<6xf8E5M2>
func.func @pairs(%x: tensor<9x8x6xf16>, %slots: tensor<9xi64>, %pool: tensor<4x16x8x6xf8E5M2>, %cos: tensor<512x2xf16>, %sin: tensor<512x2xf16>,
                 %positions: tensor<9xi32>, %scales: tensor<4x16x8x1xf32>) -> (tensor<4x16x8x6xf8E5M2>, tensor<4x16x8x1xf32>) {
  %p, %s = attn.append %x to %pool at %slots rotary(%cos, %sin, %positions : tensor<512x2xf16>, tensor<512x2xf16>, tensor<9xi32>) interleaved
    row_scales(%scales : tensor<4x16x8x1xf32>) : tensor<9x8x6xf16>, tensor<4x16x8x6xf8E5M2>, tensor<9xi64>
  return %p, %s : tensor<4x16x8x6xf8E5M2>, tensor<4x16x8x1xf32>
}

// CHECK-LABEL: func.func @halves
// CHECK: vector.shuffle %[[X:.+]], %[[X]] [2, 3, 0, 1, 4, 5] : vector<6xf32>, vector<6xf32>
// CHECK-NOT: vector.reduction
func.func @halves(%x: tensor<9x8x6xf16>, %slots: tensor<9xi64>, %pool: tensor<4x16x8x6xf8E5M2>, %cos: tensor<512x2xf32>,
                  %positions: tensor<9xi32>, %scales: tensor<1x1x8x1xf32>) -> tensor<4x16x8x6xf8E5M2> {
  %p = attn.append %x to %pool at %slots rotary(%cos, %cos, %positions : tensor<512x2xf32>, tensor<512x2xf32>, tensor<9xi32>)
    scales(%scales : tensor<1x1x8x1xf32>) : tensor<9x8x6xf16>, tensor<4x16x8x6xf8E5M2>, tensor<9xi64>
  return %p : tensor<4x16x8x6xf8E5M2>
}

// What is there already is unpacked, too.
// CHECK-LABEL: func.func @packed
// CHECK: scf.parallel
// CHECK:   arith.shrsi
// CHECK:   vector.store {{.+}} : memref<4x16x8x16xi8>, vector<16xi8>
// CHECK: scf.parallel
// CHECK:   math.roundeven
// CHECK:   vector.store {{.+}} : memref<4x16x8x16xi8>, vector<16xi8>
// F32-LABEL: func.func @packed
// F32-SAME: -> tensor<4x16x8x32xf32>
func.func @packed(%x: tensor<9x8x32xf16>, %slots: tensor<9xi64>, %pool: tensor<4x16x8x16xi8>, %scales: tensor<1x1x8x1xf32>) -> tensor<4x16x8x16xi8> {
  %p = attn.append %x to %pool at %slots packed scales(%scales : tensor<1x1x8x1xf32>) : tensor<9x8x32xf16>, tensor<4x16x8x16xi8>, tensor<9xi64>
  return %p : tensor<4x16x8x16xi8>
}

// CHECK-LABEL: func.func @zeros
// CHECK: vector.reduction <minnumf>
// CHECK: vector.reduction <maxnumf>
// CHECK-COUNT-2: memref.store {{.+}} : memref<4x16x8x1xf32>
// CHECK: math.roundeven
func.func @zeros(%x: tensor<9x8x6xf16>, %slots: tensor<9xi64>, %pool: tensor<4x16x8x6xi8>, %s: tensor<4x16x8x1xf32>, %z: tensor<4x16x8x1xf32>)
    -> (tensor<4x16x8x6xi8>, tensor<4x16x8x1xf32>, tensor<4x16x8x1xf32>) {
  %p, %ns, %nz = attn.append %x to %pool at %slots row_scales(%s : tensor<4x16x8x1xf32>) row_zeros(%z : tensor<4x16x8x1xf32>)
    : tensor<9x8x6xf16>, tensor<4x16x8x6xi8>, tensor<9xi64>
  return %p, %ns, %nz : tensor<4x16x8x6xi8>, tensor<4x16x8x1xf32>, tensor<4x16x8x1xf32>
}
