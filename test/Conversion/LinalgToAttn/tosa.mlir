// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From TOSA, after upstream's lowering to linalg.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(func.func(tosa-to-linalg-named,tosa-to-linalg,tosa-to-arith,tosa-to-tensor,convert-linalg-to-attn))" | FileCheck %s
//
// In numbers.
// RUN: attune-opt %s --pass-pipeline="builtin.module(func.func(tosa-to-linalg-named,tosa-to-linalg,tosa-to-arith,tosa-to-tensor,canonicalize))" > %t.mlir
// RUN: %python %S/Inputs/driver.py main %t.mlir > %t.main.mlir
// RUN: mlir-opt %t.main.mlir %cpu_pipeline | mlir-runner %cpu_runner > %t.before
// RUN: attune-opt %t.main.mlir --convert-linalg-to-attn --convert-attn-to-loops | mlir-opt %cpu_pipeline | mlir-runner %cpu_runner > %t.after
// RUN: %python %S/Inputs/driver.py compare %t.before %t.after 0.0001

// CHECK-LABEL: func.func @reciprocal
// CHECK: attn.attention {{.*}} scale(2.500000e-01) score
// CHECK-NOT: linalg
// CHECK: return
func.func @reciprocal(%q: tensor<2x4x5x8xf32>, %k: tensor<2x4x6x8xf32>, %v: tensor<2x4x6x8xf32>, %mask: tensor<2x1x1x6xf32>) -> tensor<2x4x5x8xf32> {
  %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %scale = "tosa.const"() <{values = dense<0.25> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %qs = tosa.const_shape {values = dense<[8, 5, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %ks = tosa.const_shape {values = dense<[8, 6, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %ss = tosa.const_shape {values = dense<[2, 4, 5, 6]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %ps = tosa.const_shape {values = dense<[8, 5, 6]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %os = tosa.const_shape {values = dense<[2, 4, 5, 8]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %kt = tosa.transpose %k {perms = array<i32: 0, 1, 3, 2>} : (tensor<2x4x6x8xf32>) -> tensor<2x4x8x6xf32>
  %kts = tosa.const_shape {values = dense<[8, 8, 6]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %q3 = tosa.reshape %q, %qs : (tensor<2x4x5x8xf32>, !tosa.shape<3>) -> tensor<8x5x8xf32>
  %k3 = tosa.reshape %kt, %kts : (tensor<2x4x8x6xf32>, !tosa.shape<3>) -> tensor<8x8x6xf32>
  %v3 = tosa.reshape %v, %ks : (tensor<2x4x6x8xf32>, !tosa.shape<3>) -> tensor<8x6x8xf32>
  %s3 = tosa.matmul %q3, %k3, %zp, %zp : (tensor<8x5x8xf32>, tensor<8x8x6xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<8x5x6xf32>
  %s = tosa.reshape %s3, %ss : (tensor<8x5x6xf32>, !tosa.shape<4>) -> tensor<2x4x5x6xf32>
  %scaled = tosa.mul %s, %scale, %shift : (tensor<2x4x5x6xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<2x4x5x6xf32>
  %masked = tosa.add %scaled, %mask : (tensor<2x4x5x6xf32>, tensor<2x1x1x6xf32>) -> tensor<2x4x5x6xf32>
  %max = tosa.reduce_max %masked {axis = 3 : i32} : (tensor<2x4x5x6xf32>) -> tensor<2x4x5x1xf32>
  %sub = tosa.sub %masked, %max : (tensor<2x4x5x6xf32>, tensor<2x4x5x1xf32>) -> tensor<2x4x5x6xf32>
  %exp = tosa.exp %sub : (tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  %sum = tosa.reduce_sum %exp {axis = 3 : i32} : (tensor<2x4x5x6xf32>) -> tensor<2x4x5x1xf32>
  %inverse = tosa.reciprocal %sum : (tensor<2x4x5x1xf32>) -> tensor<2x4x5x1xf32>
  %p = tosa.mul %exp, %inverse, %shift : (tensor<2x4x5x6xf32>, tensor<2x4x5x1xf32>, tensor<1xi8>) -> tensor<2x4x5x6xf32>
  %p3 = tosa.reshape %p, %ps : (tensor<2x4x5x6xf32>, !tosa.shape<3>) -> tensor<8x5x6xf32>
  %o3 = tosa.matmul %p3, %v3, %zp, %zp : (tensor<8x5x6xf32>, tensor<8x6x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<8x5x8xf32>
  %o = tosa.reshape %o3, %os : (tensor<8x5x8xf32>, !tosa.shape<4>) -> tensor<2x4x5x8xf32>
  return %o : tensor<2x4x5x8xf32>
}

// A mask of truth values selects, from sequence-major operands; the mask is the same for the batch.
// CHECK-LABEL: func.func @chosen
// CHECK: attn.attention %{{.+}}, %{{.+}}, %{{.+}} scale(5.000000e-01) order(bshd) mask
// CHECK-NOT: linalg
// CHECK: return
func.func @chosen(%q: tensor<2x5x4x8xf32>, %k: tensor<2x6x4x8xf32>, %v: tensor<2x6x4x8xf32>, %mask: tensor<1x1x5x6xi1>) -> tensor<2x5x4x8xf32> {
  %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %scale = "tosa.const"() <{values = dense<0.5> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %low = "tosa.const"() <{values = dense<0xFF800000> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %qs = tosa.const_shape {values = dense<[8, 5, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %ks = tosa.const_shape {values = dense<[8, 6, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %kts = tosa.const_shape {values = dense<[8, 8, 6]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %ss = tosa.const_shape {values = dense<[2, 4, 5, 6]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %ps = tosa.const_shape {values = dense<[8, 5, 6]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %os = tosa.const_shape {values = dense<[2, 4, 5, 8]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %qt = tosa.transpose %q {perms = array<i32: 0, 2, 1, 3>} : (tensor<2x5x4x8xf32>) -> tensor<2x4x5x8xf32>
  %kt = tosa.transpose %k {perms = array<i32: 0, 2, 3, 1>} : (tensor<2x6x4x8xf32>) -> tensor<2x4x8x6xf32>
  %vt = tosa.transpose %v {perms = array<i32: 0, 2, 1, 3>} : (tensor<2x6x4x8xf32>) -> tensor<2x4x6x8xf32>
  %q3 = tosa.reshape %qt, %qs : (tensor<2x4x5x8xf32>, !tosa.shape<3>) -> tensor<8x5x8xf32>
  %k3 = tosa.reshape %kt, %kts : (tensor<2x4x8x6xf32>, !tosa.shape<3>) -> tensor<8x8x6xf32>
  %v3 = tosa.reshape %vt, %ks : (tensor<2x4x6x8xf32>, !tosa.shape<3>) -> tensor<8x6x8xf32>
  %scaled = tosa.mul %q3, %scale, %shift : (tensor<8x5x8xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<8x5x8xf32>
  %s3 = tosa.matmul %scaled, %k3, %zp, %zp : (tensor<8x5x8xf32>, tensor<8x8x6xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<8x5x6xf32>
  %s = tosa.reshape %s3, %ss : (tensor<8x5x6xf32>, !tosa.shape<4>) -> tensor<2x4x5x6xf32>
  %masked = tosa.select %mask, %s, %low : (tensor<1x1x5x6xi1>, tensor<2x4x5x6xf32>, tensor<1x1x1x1xf32>) -> tensor<2x4x5x6xf32>
  %max = tosa.reduce_max %masked {axis = 3 : i32} : (tensor<2x4x5x6xf32>) -> tensor<2x4x5x1xf32>
  %sub = tosa.sub %masked, %max : (tensor<2x4x5x6xf32>, tensor<2x4x5x1xf32>) -> tensor<2x4x5x6xf32>
  %exp = tosa.exp %sub : (tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  %sum = tosa.reduce_sum %exp {axis = 3 : i32} : (tensor<2x4x5x6xf32>) -> tensor<2x4x5x1xf32>
  %inverse = tosa.reciprocal %sum : (tensor<2x4x5x1xf32>) -> tensor<2x4x5x1xf32>
  %p = tosa.mul %exp, %inverse, %shift : (tensor<2x4x5x6xf32>, tensor<2x4x5x1xf32>, tensor<1xi8>) -> tensor<2x4x5x6xf32>
  %p3 = tosa.reshape %p, %ps : (tensor<2x4x5x6xf32>, !tosa.shape<3>) -> tensor<8x5x6xf32>
  %o3 = tosa.matmul %p3, %v3, %zp, %zp : (tensor<8x5x6xf32>, tensor<8x6x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<8x5x8xf32>
  %o4 = tosa.reshape %o3, %os : (tensor<8x5x8xf32>, !tosa.shape<4>) -> tensor<2x4x5x8xf32>
  %o = tosa.transpose %o4 {perms = array<i32: 0, 2, 1, 3>} : (tensor<2x4x5x8xf32>) -> tensor<2x5x4x8xf32>
  return %o : tensor<2x5x4x8xf32>
}
