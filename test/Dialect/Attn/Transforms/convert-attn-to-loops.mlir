// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shape of the reference: what is read, what is allocated, what is returned.
// Its numbers are checked in ../Reference.
//
// RUN: attune-opt %s --convert-attn-to-loops | FileCheck %s
// RUN: attune-opt %s --convert-attn-to-loops="output=f32 precision=operand" | FileCheck %s --check-prefix=F32

// CHECK-LABEL: func.func @attention
// CHECK-SAME:    -> (tensor<2x?x8x64xbf16>, tensor<2x8x?xf32>)
// F32-LABEL: func.func @attention
// F32-SAME:    -> (tensor<2x?x8x64xf32>, tensor<2x8x?xf32>)
func.func @attention(%q: tensor<2x?x8x64xbf16, #attn.strided<[?, ?, 64, 1]>>, %k: tensor<2x?x2x64xbf16>,
                     %doc: tensor<2x?xi32>) -> (tensor<2x?x8x64xbf16>, tensor<2x8x?xf32>) {
  // CHECK: bufferization.to_buffer %{{.+}} read_only : {{.+}} to memref<2x?x8x64xbf16, strided<[?, ?, 64, 1]>>
  // CHECK: bufferization.to_buffer %{{.+}} read_only : {{.+}} to memref<2x?x2x64xbf16>
  // CHECK: %[[DOC:.+]] = bufferization.to_buffer %{{.+}} read_only : {{.+}} to memref<2x?xi32>
  // CHECK: %[[O:.+]] = memref.alloc(%{{.+}}) : memref<2x?x8x64xbf16>
  // CHECK: %[[LSE:.+]] = memref.alloc(%{{.+}}) : memref<2x8x?xf32>
  // CHECK: scf.parallel
  // CHECK-NOT: tensor.extract
  // CHECK: memref.load %[[DOC]]
  // CHECK: bufferization.to_tensor %[[O]] restrict writable
  // CHECK: bufferization.to_tensor %[[LSE]] restrict writable

  // Rounded to bf16, kept in f32.
  // F32: %[[O:.+]] = memref.alloc(%{{.+}}) : memref<2x?x8x64xf32>
  // F32-NOT: memref<2x?x8x64xbf16>
  // F32: scf.parallel
  // F32: arith.mulf
  // F32: arith.truncf %{{.+}} : f32 to bf16
  // F32: arith.extf %{{.+}} : bf16 to f32
  // F32: arith.maxnumf
  %o, %lse = attn.attention %q, %k, %k lse order(bshd) mask (%b, %h, %m, %n) {
    %dm = tensor.extract %doc[%b, %m] : tensor<2x?xi32>
    %dn = tensor.extract %doc[%b, %n] : tensor<2x?xi32>
    %same = arith.cmpi eq, %dm, %dn : i32
    attn.yield %same : i1
  } : tensor<2x?x8x64xbf16, #attn.strided<[?, ?, 64, 1]>>, tensor<2x?x2x64xbf16>, tensor<2x?x2x64xbf16>
  return %o, %lse : tensor<2x?x8x64xbf16>, tensor<2x8x?xf32>
}

// CHECK-LABEL: func.func @nothing_to_do
// CHECK-NEXT: return
func.func @nothing_to_do() {
  return
}

// Reshapes of the result follow its type.
// F32-LABEL: func.func @reshaped
// F32-SAME:    -> tensor<8x1024xf32>
// F32: %[[ROWS:.+]] = tensor.collapse_shape %{{.+}} {{.+}} : tensor<1x8x16x64xf32> into tensor<8x1024xf32>
// F32: return %[[ROWS]]
func.func @reshaped(%q: tensor<1x8x16x64xf16>) -> tensor<8x1024xf16> {
  %o = attn.attention %q, %q, %q : tensor<1x8x16x64xf16>, tensor<1x8x16x64xf16>, tensor<1x8x16x64xf16>
  %rows = tensor.collapse_shape %o [[0, 1], [2, 3]] : tensor<1x8x16x64xf16> into tensor<8x1024xf16>
  return %rows : tensor<8x1024xf16>
}

// What is written in 8 bits is divided by the scale of its head before.
// CHECK-LABEL: func.func @result_scales
// CHECK: %[[SCALE:.+]] = memref.load {{.+}} : memref<1x2x1x1xf32
// CHECK: %[[INVERSE:.+]] = arith.divf %{{.+}}, %[[SCALE]] : f32
// CHECK: vector.broadcast %[[INVERSE]]
// CHECK: math.copysign
// CHECK: arith.truncf {{.+}} to vector<8xf8E4M3FN>
func.func @result_scales(%q: tensor<1x2x4x8xf16>, %s: tensor<1x2x1x1xf32>) -> tensor<1x2x4x8xf8E4M3FN> {
  %o = attn.attention %q, %q, %q result_scales(%s : tensor<1x2x1x1xf32>)
    : tensor<1x2x4x8xf16>, tensor<1x2x4x8xf16>, tensor<1x2x4x8xf16> -> tensor<1x2x4x8xf8E4M3FN>
  return %o : tensor<1x2x4x8xf8E4M3FN>
}

// Weights are multiplied by the scales of their keys before they are rounded, and what is rounded is as large as without the scale's power of 2.
// CHECK-LABEL: func.func @scaled_weights
// F32-LABEL: func.func @scaled_weights
// F32: math.exp
// F32: %[[E:.+]] = math.exp
// F32: %[[SCALE:.+]] = memref.load %{{.+}} : memref<1x1x6x1xf32>
// F32: %[[BITS:.+]] = arith.bitcast %{{.+}} : f32 to i32
// F32: %[[UPPER:.+]] = arith.andi %[[BITS]]
// F32: %[[POWER:.+]] = arith.bitcast %[[UPPER]] : i32 to f32
// F32: %[[LOWER:.+]] = arith.andi %[[BITS]]
// F32: %[[LARGER:.+]] = arith.ori %[[LOWER]]
// F32: %[[MANTISSA:.+]] = arith.bitcast %[[LARGER]] : i32 to f32
// F32: %[[PRODUCT:.+]] = arith.mulf %[[E]], %[[MANTISSA]] : f32
// F32: %[[NARROW:.+]] = arith.truncf %[[PRODUCT]] : f32 to f16
// F32: %[[ROUNDED:.+]] = arith.extf %[[NARROW]] : f16 to f32
// F32: %[[SCALED:.+]] = arith.mulf %[[ROUNDED]], %[[POWER]] : f32
// F32: %[[WEIGHT:.+]] = arith.divf %[[SCALED]], %{{.+}} : f32
// F32: %[[VALUE:.+]] = arith.sitofp
// F32: %[[FACTORS:.+]] = vector.broadcast %[[WEIGHT]]
// F32: arith.mulf %[[FACTORS]], %[[VALUE]] : vector<8xf32>
func.func @scaled_weights(%q: tensor<1x1x4x8xf16>, %k: tensor<1x1x6x8xi8>, %s: tensor<1x1x6x1xf32>) -> tensor<1x1x4x8xf16> {
  %o = attn.attention %q, %k, %k value_scales(%s : tensor<1x1x6x1xf32>) : tensor<1x1x4x8xf16>, tensor<1x1x6x8xi8>, tensor<1x1x6x8xi8>
  return %o : tensor<1x1x4x8xf16>
}
