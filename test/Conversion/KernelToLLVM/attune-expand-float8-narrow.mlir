// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// f32 in floats of 8 bits: by which ops, and to which numbers, with instructions of NVIDIA's chips and without. Those of
// AMD make NaN of what is too large, and each chip has those of the types that it multiplies.
//
// RUN: split-file %s %t
// RUN: attune-opt %t/ops.mlir --attune-expand-float8 | FileCheck %s
// DEFINE: %{chip} =
// DEFINE: %{type} =
// DEFINE: %{numbers} = attune-opt %t/numbers.mlir --attune-attach-target="chip=%{chip}" --gpu-to-llvm-pipeline | attune-run --device=host --print --function=%{type} | FileCheck %s --check-prefix=%{type}
// REDEFINE: %{type} = E4M3FN
// REDEFINE: %{chip} = sm_80
// RUN: %{numbers}
// REDEFINE: %{chip} = gfx1100
// RUN: %{numbers}
// REDEFINE: %{chip} = sm_90a
// RUN: %{numbers}
// REDEFINE: %{type} = E5M2
// REDEFINE: %{chip} = sm_80
// RUN: %{numbers}
// REDEFINE: %{chip} = gfx1100
// RUN: %{numbers}
// REDEFINE: %{chip} = sm_90a
// RUN: %{numbers}
// REDEFINE: %{type} = E4M3FNUZ
// REDEFINE: %{chip} = sm_80
// RUN: %{numbers}
// REDEFINE: %{chip} = sm_90a
// RUN: %{numbers}
// REDEFINE: %{chip} = gfx950
// RUN: %{numbers}
// REDEFINE: %{type} = E5M2FNUZ
// REDEFINE: %{chip} = sm_80
// RUN: %{numbers}
// REDEFINE: %{chip} = gfx950
// RUN: %{numbers}

//--- ops.mlir
// CHECK-LABEL: func.func @vector
// CHECK-SAME: (%[[X:.+]]: vector<4xf32>)
func.func @vector(%x: vector<4xf32>) -> vector<4xf8E5M2> {
  // CHECK: arith.bitcast %[[X]] : vector<4xf32> to vector<4xi32>
  // CHECK-NOT: arith.truncf
  // CHECK: %[[BITS:.+]] = arith.trunci {{.+}} : vector<4xi32> to vector<4xi8>
  // CHECK-NEXT: %[[Y:.+]] = arith.bitcast %[[BITS]] : vector<4xi8> to vector<4xf8E5M2>
  // CHECK-NEXT: return %[[Y]]
  %y = arith.truncf %x : vector<4xf32> to vector<4xf8E5M2>
  return %y : vector<4xf8E5M2>
}

// Other floats stay.
// CHECK-LABEL: func.func @others
func.func @others(%x: f32, %y: f16) -> (f16, f8E5M2) {
  // CHECK: arith.truncf %{{.+}} : f32 to f16
  // CHECK: arith.truncf %{{.+}} : f16 to f8E5M2
  %a = arith.truncf %x : f32 to f16
  %b = arith.truncf %y : f16 to f8E5M2
  return %a, %b : f16, f8E5M2
}

//--- numbers.mlir
// Zeros, numbers halfway between two, those beyond the largest, infinities, NaN, halfway between subnormal numbers, and one
// that is the least normal one when it is rounded.
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @E4M3FN(%in: memref<12xf32>, %out: memref<12xf32>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
      %c0 = arith.constant 0 : index
      %numbers = arith.constant dense<[0.0, -0.0, 1.0625, 1.1875, -17.0, 1.0e9, 0x7F800000, 0xFF800000, 0x7FC00000, 9.765625e-04, 2.9296875e-03, -0.0151]> : vector<12xf32>
      // Not folded.
      vector.store %numbers, %in[%c0] : memref<12xf32>, vector<12xf32>
      %x = vector.load %in[%c0] : memref<12xf32>, vector<12xf32>
      %narrow = arith.truncf %x : vector<12xf32> to vector<12xf8E4M3FN>
      %wide = arith.extf %narrow : vector<12xf8E4M3FN> to vector<12xf32>
      vector.store %wide, %out[%c0] : memref<12xf32>, vector<12xf32>
      gpu.return
    }
    gpu.func @E5M2(%in: memref<12xf32>, %out: memref<12xf32>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
      %c0 = arith.constant 0 : index
      %numbers = arith.constant dense<[0.0, -0.0, 1.0625, 1.1875, -17.0, 1.0e9, 0x7F800000, 0xFF800000, 0x7FC00000, 9.765625e-04, 2.9296875e-03, -0.0151]> : vector<12xf32>
      // Not folded.
      vector.store %numbers, %in[%c0] : memref<12xf32>, vector<12xf32>
      %x = vector.load %in[%c0] : memref<12xf32>, vector<12xf32>
      %narrow = arith.truncf %x : vector<12xf32> to vector<12xf8E5M2>
      %wide = arith.extf %narrow : vector<12xf8E5M2> to vector<12xf32>
      vector.store %wide, %out[%c0] : memref<12xf32>, vector<12xf32>
      gpu.return
    }
    gpu.func @E4M3FNUZ(%in: memref<12xf32>, %out: memref<12xf32>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
      %c0 = arith.constant 0 : index
      %numbers = arith.constant dense<[0.0, -0.0, 1.0625, 1.1875, -17.0, 1.0e9, 0x7F800000, 0xFF800000, 0x7FC00000, 9.765625e-04, 2.9296875e-03, -0.0151]> : vector<12xf32>
      // Not folded.
      vector.store %numbers, %in[%c0] : memref<12xf32>, vector<12xf32>
      %x = vector.load %in[%c0] : memref<12xf32>, vector<12xf32>
      %narrow = arith.truncf %x : vector<12xf32> to vector<12xf8E4M3FNUZ>
      %wide = arith.extf %narrow : vector<12xf8E4M3FNUZ> to vector<12xf32>
      vector.store %wide, %out[%c0] : memref<12xf32>, vector<12xf32>
      gpu.return
    }
    gpu.func @E5M2FNUZ(%in: memref<12xf32>, %out: memref<12xf32>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
      %c0 = arith.constant 0 : index
      %numbers = arith.constant dense<[0.0, -0.0, 1.0625, 1.1875, -17.0, 1.0e9, 0x7F800000, 0xFF800000, 0x7FC00000, 9.765625e-04, 2.9296875e-03, -0.0151]> : vector<12xf32>
      // Not folded.
      vector.store %numbers, %in[%c0] : memref<12xf32>, vector<12xf32>
      %x = vector.load %in[%c0] : memref<12xf32>, vector<12xf32>
      %narrow = arith.truncf %x : vector<12xf32> to vector<12xf8E5M2FNUZ>
      %wide = arith.extf %narrow : vector<12xf8E5M2FNUZ> to vector<12xf32>
      vector.store %wide, %out[%c0] : memref<12xf32>, vector<12xf32>
      gpu.return
    }
  }
  // E4M3FN: result 0: 12xf32
  // E4M3FN-NEXT: {{^}}0 -0 1 1.25 -16 448 448 -448 {{-?}}nan 0 0.00390625 -0.015625
  func.func @E4M3FN() -> tensor<12xf32> {
    %c1 = arith.constant 1 : index
    %in = memref.alloc() : memref<12xf32>
    %out = memref.alloc() : memref<12xf32>
    gpu.launch_func @kernels::@E4M3FN blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%in : memref<12xf32>, %out : memref<12xf32>)
    %result = bufferization.to_tensor %out restrict writable : memref<12xf32> to tensor<12xf32>
    return %result : tensor<12xf32>
  }
  // E5M2: result 0: 12xf32
  // E5M2-NEXT: {{^}}0 -0 1 1.25 -16 57344 57344 -57344 {{-?}}nan 0.000976562 0.00292969 -0.015625
  func.func @E5M2() -> tensor<12xf32> {
    %c1 = arith.constant 1 : index
    %in = memref.alloc() : memref<12xf32>
    %out = memref.alloc() : memref<12xf32>
    gpu.launch_func @kernels::@E5M2 blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%in : memref<12xf32>, %out : memref<12xf32>)
    %result = bufferization.to_tensor %out restrict writable : memref<12xf32> to tensor<12xf32>
    return %result : tensor<12xf32>
  }
  // E4M3FNUZ: result 0: 12xf32
  // E4M3FNUZ-NEXT: {{^}}0 0 1 1.25 -16 240 240 -240 {{-?}}nan 0.000976562 0.00292969 -0.0146484
  func.func @E4M3FNUZ() -> tensor<12xf32> {
    %c1 = arith.constant 1 : index
    %in = memref.alloc() : memref<12xf32>
    %out = memref.alloc() : memref<12xf32>
    gpu.launch_func @kernels::@E4M3FNUZ blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%in : memref<12xf32>, %out : memref<12xf32>)
    %result = bufferization.to_tensor %out restrict writable : memref<12xf32> to tensor<12xf32>
    return %result : tensor<12xf32>
  }
  // E5M2FNUZ: result 0: 12xf32
  // E5M2FNUZ-NEXT: {{^}}0 0 1 1.25 -16 57344 57344 -57344 {{-?}}nan 0.000976562 0.00292969 -0.015625
  func.func @E5M2FNUZ() -> tensor<12xf32> {
    %c1 = arith.constant 1 : index
    %in = memref.alloc() : memref<12xf32>
    %out = memref.alloc() : memref<12xf32>
    gpu.launch_func @kernels::@E5M2FNUZ blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%in : memref<12xf32>, %out : memref<12xf32>)
    %result = bufferization.to_tensor %out restrict writable : memref<12xf32> to tensor<12xf32>
    return %result : tensor<12xf32>
  }
}
