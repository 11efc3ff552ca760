// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers of 8 bits in wider floats: by which ops, and to which numbers.
//
// RUN: split-file %s %t
// RUN: attune-opt %t/ops.mlir --attune-expand-float8 | FileCheck %s
// RUN: attune-opt %t/numbers.mlir --attune-attach-target="chip=sm_90a" --gpu-to-llvm-pipeline -o %t/nvidia.mlir
// RUN: attune-opt %t/numbers.mlir --attune-attach-target="chip=gfx942" --gpu-to-llvm-pipeline -o %t/amd.mlir
// RUN: attune-run %t/nvidia.mlir --device=host --print --function=E4M3FN | FileCheck %s --check-prefix=E4M3FN
// RUN: attune-run %t/amd.mlir --device=host --print --function=E4M3FN | FileCheck %s --check-prefix=E4M3FN
// RUN: attune-run %t/nvidia.mlir --device=host --print --function=E5M2 | FileCheck %s --check-prefix=E5M2
// RUN: attune-run %t/amd.mlir --device=host --print --function=E5M2 | FileCheck %s --check-prefix=E5M2
// RUN: attune-run %t/nvidia.mlir --device=host --print --function=E4M3FNUZ | FileCheck %s --check-prefix=E4M3FNUZ
// RUN: attune-run %t/amd.mlir --device=host --print --function=E4M3FNUZ | FileCheck %s --check-prefix=E4M3FNUZ
// RUN: attune-run %t/nvidia.mlir --device=host --print --function=E5M2FNUZ | FileCheck %s --check-prefix=E5M2FNUZ
// RUN: attune-run %t/amd.mlir --device=host --print --function=E5M2FNUZ | FileCheck %s --check-prefix=E5M2FNUZ
// RUN: attune-run %t/nvidia.mlir --device=host --print --function=I8 | FileCheck %s --check-prefix=I8
// RUN: attune-run %t/amd.mlir --device=host --print --function=I8 | FileCheck %s --check-prefix=I8
// RUN: attune-run %t/nvidia.mlir --device=host --print --function=I4 | FileCheck %s --check-prefix=I4
// RUN: attune-run %t/amd.mlir --device=host --print --function=I4 | FileCheck %s --check-prefix=I4
//
// Chips from sm_89 on have an instruction for two of what is not FNUZ.
// DEFINE: %{chip} =
// DEFINE: %{kernel} = attune-opt %t/numbers.mlir --pass-pipeline="builtin.module(attune-attach-target{chip=%{chip}},gpu.module(convert-kernel-to-llvm))"
// REDEFINE: %{chip} = sm_89
// RUN: %{kernel} | FileCheck %s --check-prefix=PAIRS
// REDEFINE: %{chip} = sm_90a
// RUN: %{kernel} | FileCheck %s --check-prefix=PAIRS
// REDEFINE: %{chip} = sm_86
// RUN: %{kernel} | FileCheck %s --check-prefix=GENERIC
//
// PAIRS-LABEL: llvm.func @E4M3FN(
// PAIRS-COUNT-12: nvvm.convert.f8x2.to.f16x2 %{{.+}} : vector<2xi8>(f8E4M3FN) -> vector<2xf16>
// PAIRS-NOT: nvvm.convert
// PAIRS-LABEL: llvm.func @I8(
// PAIRS-COUNT-8: llvm.shufflevector %{{.+}} [{{0|2}}, 4, {{1|3}}, 4] : vector<4xi8>
// PAIRS-LABEL: llvm.func @E5M2(
// PAIRS-COUNT-12: nvvm.convert.f8x2.to.f16x2 %{{.+}} : vector<2xi8>(f8E5M2) -> vector<2xf16>
// PAIRS-LABEL: llvm.func @E4M3FNUZ(
// PAIRS-NOT: nvvm.convert
// Masked bytes, no shifts but for the upper ones of bf16.
// PAIRS-LABEL: llvm.func @I4(
// PAIRS-COUNT-16: llvm.shufflevector %{{.+}} [{{0|2}}, 4, {{1|3}}, 4] : vector<4xi8>
// GENERIC: llvm.func @E4M3FN(
// GENERIC-NOT: nvvm.convert

//--- ops.mlir
// CHECK-LABEL: func.func @single
// CHECK-SAME: (%[[X:.+]]: vector<4xf8E4M3FN>)
func.func @single(%x: vector<4xf8E4M3FN>) -> vector<4xf32> {
  // CHECK: arith.bitcast %[[X]] : vector<4xf8E4M3FN> to vector<4xi8>
  // CHECK-NOT: arith.extf
  // CHECK: arith.subf {{.+}} : vector<4xf32>
  // CHECK-NOT: arith.extf
  // CHECK: return
  %y = arith.extf %x : vector<4xf8E4M3FN> to vector<4xf32>
  return %y : vector<4xf32>
}

// bf16 is the upper half of f32.
// CHECK-LABEL: func.func @brain
func.func @brain(%x: f8E4M3FNUZ) -> bf16 {
  // CHECK: arith.trunci {{.+}} : i32 to i16
  // CHECK-NEXT: arith.bitcast {{.+}} : i16 to bf16
  %y = arith.extf %x : f8E4M3FNUZ to bf16
  return %y : bf16
}

// f8E5M2 is the upper half of f16.
// CHECK-LABEL: func.func @half
// CHECK-SAME: (%[[X:.+]]: vector<2xf8E5M2>)
func.func @half(%x: vector<2xf8E5M2>) -> vector<2xf16> {
  // CHECK: %[[BITS:.+]] = arith.bitcast %[[X]]
  // CHECK-NEXT: %[[WIDE:.+]] = arith.extui %[[BITS]] : vector<2xi8> to vector<2xi16>
  // CHECK-NEXT: %[[MOVED:.+]] = arith.shli %[[WIDE]]
  // CHECK-NEXT: arith.bitcast %[[MOVED]] : vector<2xi16> to vector<2xf16>
  // CHECK-NEXT: return
  %y = arith.extf %x : vector<2xf8E5M2> to vector<2xf16>
  return %y : vector<2xf16>
}

// Other floats stay.
// CHECK-LABEL: func.func @others
func.func @others(%x: f16, %y: f8E8M0FNU) -> (f32, f32) {
  // CHECK: arith.extf %{{.+}} : f16 to f32
  // CHECK: arith.extf %{{.+}} : f8E8M0FNU to f32
  %a = arith.extf %x : f16 to f32
  %b = arith.extf %y : f8E8M0FNU to f32
  return %a, %b : f32, f32
}

// The lower byte of a float whose unit is 1.
// CHECK-LABEL: func.func @integers
func.func @integers(%x: vector<4xi8>, %y: i8) -> (vector<4xf16>, bf16, f64) {
  // CHECK: arith.xori
  // CHECK: arith.ori {{.+}} : vector<4xi16>
  // CHECK: arith.subf {{.+}} : vector<4xf16>
  // CHECK: arith.ori {{.+}} : i32
  // CHECK: arith.subf {{.+}} : f32
  // CHECK: arith.shrui
  // CHECK: arith.sitofp {{.+}} : i8 to f64
  %half = arith.sitofp %x : vector<4xi8> to vector<4xf16>
  %brain = arith.sitofp %y : i8 to bf16
  %double = arith.sitofp %y : i8 to f64
  return %half, %brain, %double : vector<4xf16>, bf16, f64
}

//--- numbers.mlir
// Zeros, the least and the largest subnormal number, the least normal one, 1, a largest one, and what is none or infinite.
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @E4M3FN(%bits: memref<8xi8>, %out: memref<24xf32>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      %c16 = arith.constant 16 : index
      %numbers = arith.constant dense<[0, -128, 1, 7, 8, 56, -2, 127]> : vector<8xi8>
      // Not folded.
      vector.store %numbers, %bits[%c0] : memref<8xi8>, vector<8xi8>
      %loaded = vector.load %bits[%c0] : memref<8xi8>, vector<8xi8>
      %x = arith.bitcast %loaded : vector<8xi8> to vector<8xf8E4M3FN>
      %single = arith.extf %x : vector<8xf8E4M3FN> to vector<8xf32>
      %half = arith.extf %x : vector<8xf8E4M3FN> to vector<8xf16>
      %brain = arith.extf %x : vector<8xf8E4M3FN> to vector<8xbf16>
      %ofHalf = arith.extf %half : vector<8xf16> to vector<8xf32>
      %ofBrain = arith.extf %brain : vector<8xbf16> to vector<8xf32>
      vector.store %single, %out[%c0] : memref<24xf32>, vector<8xf32>
      vector.store %ofHalf, %out[%c8] : memref<24xf32>, vector<8xf32>
      vector.store %ofBrain, %out[%c16] : memref<24xf32>, vector<8xf32>
      gpu.return
    }
    gpu.func @I8(%bits: memref<8xi8>, %out: memref<24xf32>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      %c16 = arith.constant 16 : index
      %numbers = arith.constant dense<[0, -128, 1, -1, 127, -127, 64, -65]> : vector<8xi8>
      // Not folded.
      vector.store %numbers, %bits[%c0] : memref<8xi8>, vector<8xi8>
      %loaded = vector.load %bits[%c0] : memref<8xi8>, vector<8xi8>
      %single = arith.sitofp %loaded : vector<8xi8> to vector<8xf32>
      %half = arith.sitofp %loaded : vector<8xi8> to vector<8xf16>
      %brain = arith.sitofp %loaded : vector<8xi8> to vector<8xbf16>
      %ofHalf = arith.extf %half : vector<8xf16> to vector<8xf32>
      %ofBrain = arith.extf %brain : vector<8xbf16> to vector<8xf32>
      vector.store %single, %out[%c0] : memref<24xf32>, vector<8xf32>
      vector.store %ofHalf, %out[%c8] : memref<24xf32>, vector<8xf32>
      vector.store %ofBrain, %out[%c16] : memref<24xf32>, vector<8xf32>
      gpu.return
    }
    gpu.func @E5M2(%bits: memref<8xi8>, %out: memref<24xf32>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      %c16 = arith.constant 16 : index
      %numbers = arith.constant dense<[0, -128, 1, 3, 4, 60, -5, 124]> : vector<8xi8>
      // Not folded.
      vector.store %numbers, %bits[%c0] : memref<8xi8>, vector<8xi8>
      %loaded = vector.load %bits[%c0] : memref<8xi8>, vector<8xi8>
      %x = arith.bitcast %loaded : vector<8xi8> to vector<8xf8E5M2>
      %single = arith.extf %x : vector<8xf8E5M2> to vector<8xf32>
      %half = arith.extf %x : vector<8xf8E5M2> to vector<8xf16>
      %brain = arith.extf %x : vector<8xf8E5M2> to vector<8xbf16>
      %ofHalf = arith.extf %half : vector<8xf16> to vector<8xf32>
      %ofBrain = arith.extf %brain : vector<8xbf16> to vector<8xf32>
      vector.store %single, %out[%c0] : memref<24xf32>, vector<8xf32>
      vector.store %ofHalf, %out[%c8] : memref<24xf32>, vector<8xf32>
      vector.store %ofBrain, %out[%c16] : memref<24xf32>, vector<8xf32>
      gpu.return
    }
    gpu.func @E4M3FNUZ(%bits: memref<8xi8>, %out: memref<24xf32>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      %c16 = arith.constant 16 : index
      %numbers = arith.constant dense<[0, -128, 1, 7, 8, 64, -1, 127]> : vector<8xi8>
      // Not folded.
      vector.store %numbers, %bits[%c0] : memref<8xi8>, vector<8xi8>
      %loaded = vector.load %bits[%c0] : memref<8xi8>, vector<8xi8>
      %x = arith.bitcast %loaded : vector<8xi8> to vector<8xf8E4M3FNUZ>
      %single = arith.extf %x : vector<8xf8E4M3FNUZ> to vector<8xf32>
      %half = arith.extf %x : vector<8xf8E4M3FNUZ> to vector<8xf16>
      %brain = arith.extf %x : vector<8xf8E4M3FNUZ> to vector<8xbf16>
      %ofHalf = arith.extf %half : vector<8xf16> to vector<8xf32>
      %ofBrain = arith.extf %brain : vector<8xbf16> to vector<8xf32>
      vector.store %single, %out[%c0] : memref<24xf32>, vector<8xf32>
      vector.store %ofHalf, %out[%c8] : memref<24xf32>, vector<8xf32>
      vector.store %ofBrain, %out[%c16] : memref<24xf32>, vector<8xf32>
      gpu.return
    }
    gpu.func @E5M2FNUZ(%bits: memref<8xi8>, %out: memref<24xf32>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      %c16 = arith.constant 16 : index
      %numbers = arith.constant dense<[0, -128, 1, 3, 4, 64, -1, 127]> : vector<8xi8>
      // Not folded.
      vector.store %numbers, %bits[%c0] : memref<8xi8>, vector<8xi8>
      %loaded = vector.load %bits[%c0] : memref<8xi8>, vector<8xi8>
      %x = arith.bitcast %loaded : vector<8xi8> to vector<8xf8E5M2FNUZ>
      %single = arith.extf %x : vector<8xf8E5M2FNUZ> to vector<8xf32>
      %half = arith.extf %x : vector<8xf8E5M2FNUZ> to vector<8xf16>
      %brain = arith.extf %x : vector<8xf8E5M2FNUZ> to vector<8xbf16>
      %ofHalf = arith.extf %half : vector<8xf16> to vector<8xf32>
      %ofBrain = arith.extf %brain : vector<8xbf16> to vector<8xf32>
      vector.store %single, %out[%c0] : memref<24xf32>, vector<8xf32>
      vector.store %ofHalf, %out[%c8] : memref<24xf32>, vector<8xf32>
      vector.store %ofBrain, %out[%c16] : memref<24xf32>, vector<8xf32>
      gpu.return
    }
    // Two integers of 4 bits in a byte.
    gpu.func @I4(%bits: memref<8xi8>, %out: memref<32xf32>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      %c16 = arith.constant 16 : index
      %c24 = arith.constant 24 : index
      %four = arith.constant dense<4> : vector<8xi8>
      %numbers = arith.constant dense<[0x70, 0x8f, 0x17, 0xf8, 0x00, 0x5a, 0xa5, 0x3c]> : vector<8xi8>
      // Not folded.
      vector.store %numbers, %bits[%c0] : memref<8xi8>, vector<8xi8>
      %loaded = vector.load %bits[%c0] : memref<8xi8>, vector<8xi8>
      %moved = arith.shli %loaded, %four : vector<8xi8>
      %lower = arith.shrsi %moved, %four : vector<8xi8>
      %upper = arith.shrsi %loaded, %four : vector<8xi8>
      %lowerHalf = arith.sitofp %lower : vector<8xi8> to vector<8xf16>
      %upperHalf = arith.sitofp %upper : vector<8xi8> to vector<8xf16>
      %lowerBrain = arith.sitofp %lower : vector<8xi8> to vector<8xbf16>
      %upperBrain = arith.sitofp %upper : vector<8xi8> to vector<8xbf16>
      %0 = arith.extf %lowerHalf : vector<8xf16> to vector<8xf32>
      %1 = arith.extf %upperHalf : vector<8xf16> to vector<8xf32>
      %2 = arith.extf %lowerBrain : vector<8xbf16> to vector<8xf32>
      %3 = arith.extf %upperBrain : vector<8xbf16> to vector<8xf32>
      vector.store %0, %out[%c0] : memref<32xf32>, vector<8xf32>
      vector.store %1, %out[%c8] : memref<32xf32>, vector<8xf32>
      vector.store %2, %out[%c16] : memref<32xf32>, vector<8xf32>
      vector.store %3, %out[%c24] : memref<32xf32>, vector<8xf32>
      gpu.return
    }
  }
  // I4: result 0: 32xf32
  // I4-NEXT: {{^}}0 -1 7 -8 0 -6 5 -4 7 -8 1 -1 0 5 -6 3 0 -1 7 -8 0 -6 5 -4 7 -8 1 -1 0 5 -6 3
  func.func @I4() -> tensor<32xf32> {
    %c1 = arith.constant 1 : index
    %bits = memref.alloc() : memref<8xi8>
    %out = memref.alloc() : memref<32xf32>
    gpu.launch_func @kernels::@I4 blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%bits : memref<8xi8>, %out : memref<32xf32>)
    %result = bufferization.to_tensor %out restrict writable : memref<32xf32> to tensor<32xf32>
    return %result : tensor<32xf32>
  }
  // E4M3FN: result 0: 24xf32
  // E4M3FN-NEXT: {{^}}0 -0 0.00195312 0.0136719 0.015625 1 -448 {{-?}}nan 0 -0 0.00195312 0.0136719 0.015625 1 -448 {{-?}}nan 0 -0 0.00195312 0.0136719 0.015625 1 -448 {{-?}}nan
  func.func @E4M3FN() -> tensor<24xf32> {
    %c1 = arith.constant 1 : index
    %bits = memref.alloc() : memref<8xi8>
    %out = memref.alloc() : memref<24xf32>
    gpu.launch_func @kernels::@E4M3FN blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%bits : memref<8xi8>, %out : memref<24xf32>)
    %result = bufferization.to_tensor %out restrict writable : memref<24xf32> to tensor<24xf32>
    return %result : tensor<24xf32>
  }
  // I8: result 0: 24xf32
  // I8-NEXT: {{^}}0 -128 1 -1 127 -127 64 -65 0 -128 1 -1 127 -127 64 -65 0 -128 1 -1 127 -127 64 -65
  func.func @I8() -> tensor<24xf32> {
    %c1 = arith.constant 1 : index
    %bits = memref.alloc() : memref<8xi8>
    %out = memref.alloc() : memref<24xf32>
    gpu.launch_func @kernels::@I8 blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%bits : memref<8xi8>, %out : memref<24xf32>)
    %result = bufferization.to_tensor %out restrict writable : memref<24xf32> to tensor<24xf32>
    return %result : tensor<24xf32>
  }
  // E5M2: result 0: 24xf32
  // E5M2-NEXT: {{^}}0 -0 1.52588e-05 4.57764e-05 6.10352e-05 1 -57344 inf 0 -0 1.52588e-05 4.57764e-05 6.10352e-05 1 -57344 inf 0 -0 1.52588e-05 4.57764e-05 6.10352e-05 1 -57344 inf
  func.func @E5M2() -> tensor<24xf32> {
    %c1 = arith.constant 1 : index
    %bits = memref.alloc() : memref<8xi8>
    %out = memref.alloc() : memref<24xf32>
    gpu.launch_func @kernels::@E5M2 blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%bits : memref<8xi8>, %out : memref<24xf32>)
    %result = bufferization.to_tensor %out restrict writable : memref<24xf32> to tensor<24xf32>
    return %result : tensor<24xf32>
  }
  // E4M3FNUZ: result 0: 24xf32
  // E4M3FNUZ-NEXT: {{^}}0 {{-?}}nan 0.000976562 0.00683594 0.0078125 1 -240 240 0 {{-?}}nan 0.000976562 0.00683594 0.0078125 1 -240 240 0 {{-?}}nan 0.000976562 0.00683594 0.0078125 1 -240 240
  func.func @E4M3FNUZ() -> tensor<24xf32> {
    %c1 = arith.constant 1 : index
    %bits = memref.alloc() : memref<8xi8>
    %out = memref.alloc() : memref<24xf32>
    gpu.launch_func @kernels::@E4M3FNUZ blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%bits : memref<8xi8>, %out : memref<24xf32>)
    %result = bufferization.to_tensor %out restrict writable : memref<24xf32> to tensor<24xf32>
    return %result : tensor<24xf32>
  }
  // E5M2FNUZ: result 0: 24xf32
  // E5M2FNUZ-NEXT: {{^}}0 {{-?}}nan 7.62939e-06 2.28882e-05 3.05176e-05 1 -57344 57344 0 {{-?}}nan 7.62939e-06 2.28882e-05 3.05176e-05 1 -57344 57344 0 {{-?}}nan 7.62939e-06 2.28882e-05 3.05176e-05 1 -57344 57344
  func.func @E5M2FNUZ() -> tensor<24xf32> {
    %c1 = arith.constant 1 : index
    %bits = memref.alloc() : memref<8xi8>
    %out = memref.alloc() : memref<24xf32>
    gpu.launch_func @kernels::@E5M2FNUZ blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%bits : memref<8xi8>, %out : memref<24xf32>)
    %result = bufferization.to_tensor %out restrict writable : memref<24xf32> to tensor<24xf32>
    return %result : tensor<24xf32>
  }
}
