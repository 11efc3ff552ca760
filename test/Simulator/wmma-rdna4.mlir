// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The matrix instruction of RDNA4: A is 16x16 with rows 16 m + k and B[k][n] =
// k == n, so that D = A. Each half of the wave holds eight neighbours of k. And
// an exchange between the halves.
//
// RUN: attune-opt %s --attune-attach-target="chip=gfx1201" --gpu-to-llvm-pipeline -o %t.mlir
// RUN: attune-run %t.mlir --device=host --print --function=wmma | FileCheck %s
// RUN: attune-run %t.mlir --device=host --print --function=exchange | FileCheck %s --check-prefix=EXCHANGE

module attributes {gpu.container_module} {

gpu.module @kernels {
  gpu.func @wmma(%out: memref<16x16xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %none = arith.constant dense<0.0> : vector<8xf16>
    %zero = arith.constant dense<0.0> : vector<8xf32>
    %lane = gpu.thread_id x
    %half = arith.divui %lane, %c16 : index
    %line = arith.remui %lane, %c16 : index
    %first = arith.muli %half, %c8 : index
    %a, %b = scf.for %i = %c0 to %c8 step %c1 iter_args(%x = %none, %y = %none) -> (vector<8xf16>, vector<8xf16>) {
      %k = arith.addi %first, %i : index
      %row = arith.muli %line, %c16 : index
      %at = arith.addi %row, %k : index
      %word = arith.index_cast %at : index to i32
      %value = arith.sitofp %word : i32 to f16
      %same = arith.cmpi eq, %k, %line : index
      %one = arith.uitofp %same : i1 to f16
      %x1 = vector.insert %value, %x[%i] : f16 into vector<8xf16>
      %y1 = vector.insert %one, %y[%i] : f16 into vector<8xf16>
      scf.yield %x1, %y1 : vector<8xf16>, vector<8xf16>
    }
    %d = amdgpu.wmma 16x16x16 %a * %b + %zero : vector<8xf16>, vector<8xf16>, vector<8xf32>
    // Register r is row 8 (lane / 16) + r.
    scf.for %r = %c0 to %c8 step %c1 {
      %row = arith.addi %first, %r : index
      %value = vector.extract %d[%r] : f32 from vector<8xf32>
      memref.store %value, %out[%row, %line] : memref<16x16xf32>
    }
    gpu.return
  }

  // A lane reads the one of its place in the other row, and then, by other selectors, lane 3 and 12 of that.
  gpu.func @exchange(%out: memref<2x32xi32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %own = arith.constant 0x76543210 : i32
    %upper = arith.constant 0xfedcba98 : i32
    %three = arith.constant 0x33333333 : i32
    %twelve = arith.constant 0xcccccccc : i32
    %tid = gpu.thread_id x
    %lane = arith.index_cast %tid : index to i32
    %same = rocdl.permlanex16 %lane, %lane, %own, %upper, 1, 0 : i32, i32
    %one = rocdl.permlanex16 %lane, %lane, %three, %twelve, 1, 0 : i32, i32
    memref.store %same, %out[%c0, %tid] : memref<2x32xi32>
    memref.store %one, %out[%c1, %tid] : memref<2x32xi32>
    gpu.return
  }
}

// EXCHANGE: result 0: 2x32xi32
// EXCHANGE-NEXT: {{^}}16 17 18 {{.*}} 30 31 0 1 {{.*}} 14 15{{$}}
// EXCHANGE-NEXT: {{^}}19 19 19 19 19 19 19 19 28 28 28 28 28 28 28 28 3 3 3 3 3 3 3 3 12 12 12 12 12 12 12 12{{$}}
func.func @exchange() -> tensor<2x32xi32> {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %out = memref.alloc() : memref<2x32xi32>
  gpu.launch_func @kernels::@exchange blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%out : memref<2x32xi32>)
  %result = bufferization.to_tensor %out restrict : memref<2x32xi32> to tensor<2x32xi32>
  return %result : tensor<2x32xi32>
}

// CHECK: result 0: 16x16xf32
// CHECK-NEXT: {{^}}0 1 2 3 {{.*}} 14 15{{$}}
// CHECK-NEXT: {{^}}16 17 18 {{.*}} 30 31{{$}}
// CHECK: {{^}}240 241 242 {{.*}} 254 255{{$}}
func.func @wmma() -> tensor<16x16xf32> {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %out = memref.alloc() : memref<16x16xf32>
  gpu.launch_func @kernels::@wmma blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
    args(%out : memref<16x16xf32>)
  %result = bufferization.to_tensor %out restrict : memref<16x16xf32> to tensor<16x16xf32>
  return %result : tensor<16x16xf32>
}

}
