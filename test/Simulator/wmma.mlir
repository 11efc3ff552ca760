// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The matrix instruction of a wave of 32 lanes: A is 16x16 with rows 16 m + k
// and B[k][n] = k == n, so that D = A. Both halves of the wave hold A and B; a
// wave whose halves differ is reported.
//
// RUN: attune-opt %s --attune-attach-target="chip=gfx1100" --gpu-to-llvm-pipeline -o %t.mlir
// RUN: attune-run %t.mlir --device=host --print --function=wmma | FileCheck %s
// RUN: not attune-run %t.mlir --device=host --print --function=halves 2>&1 | FileCheck %s --check-prefix=HALVES

module attributes {gpu.container_module} {

gpu.module @kernels {
  gpu.func @wmma(%out: memref<16x16xf32>, %halves: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %none = arith.constant dense<0.0> : vector<16xf16>
    %zero = arith.constant dense<0.0> : vector<8xf32>
    %lane = gpu.thread_id x
    %half = arith.divui %lane, %c16 : index
    %line = arith.remui %lane, %c16 : index
    %shift = arith.muli %half, %halves : index
    %a, %b = scf.for %k = %c0 to %c16 step %c1 iter_args(%x = %none, %y = %none) -> (vector<16xf16>, vector<16xf16>) {
      %row = arith.muli %line, %c16 : index
      %at0 = arith.addi %row, %k : index
      %at = arith.addi %at0, %shift : index
      %word = arith.index_cast %at : index to i32
      %value = arith.sitofp %word : i32 to f16
      %same = arith.cmpi eq, %k, %line : index
      %one = arith.uitofp %same : i1 to f16
      %x1 = vector.insert %value, %x[%k] : f16 into vector<16xf16>
      %y1 = vector.insert %one, %y[%k] : f16 into vector<16xf16>
      scf.yield %x1, %y1 : vector<16xf16>, vector<16xf16>
    }
    %d = amdgpu.wmma 16x16x16 %a * %b + %zero : vector<16xf16>, vector<16xf16>, vector<8xf32>
    // Register r is row 2 r + lane / 16.
    scf.for %r = %c0 to %c8 step %c1 {
      %even = arith.muli %r, %c2 : index
      %row = arith.addi %even, %half : index
      %value = vector.extract %d[%r] : f32 from vector<8xf32>
      memref.store %value, %out[%row, %line] : memref<16x16xf32>
    }
    gpu.return
  }
}

// CHECK: result 0: 16x16xf32
// CHECK-NEXT: {{^}}0 1 2 3 {{.*}} 14 15{{$}}
// CHECK-NEXT: {{^}}16 17 18 {{.*}} 30 31{{$}}
// CHECK: {{^}}240 241 242 {{.*}} 254 255{{$}}
func.func @wmma() -> tensor<16x16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %out = memref.alloc() : memref<16x16xf32>
  gpu.launch_func @kernels::@wmma blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
    args(%out : memref<16x16xf32>, %c0 : index)
  %result = bufferization.to_tensor %out restrict : memref<16x16xf32> to tensor<16x16xf32>
  return %result : tensor<16x16xf32>
}

// HALVES: error: 'rocdl.wmma.f32.16x16x16.f16' op expects both halves of a wave to hold the same operands, but they differ, thread (0, 0, 0), block (0, 0, 0)
// HALVES: error: kernel 'wmma' has faults: 16 were found
func.func @halves() -> tensor<16x16xf32> {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %out = memref.alloc() : memref<16x16xf32>
  gpu.launch_func @kernels::@wmma blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
    args(%out : memref<16x16xf32>, %c1 : index)
  %result = bufferization.to_tensor %out restrict : memref<16x16xf32> to tensor<16x16xf32>
  return %result : tensor<16x16xf32>
}

}
