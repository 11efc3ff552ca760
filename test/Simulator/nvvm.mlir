// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Instructions of a warp of 32 lanes with known answers.
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_80" --gpu-to-llvm-pipeline -o %t.mlir
// RUN: attune-run %t.mlir --device=host --print --function=shuffle | FileCheck %s --check-prefix=SHUFFLE
// RUN: attune-run %t.mlir --device=host --print --function=matrix | FileCheck %s --check-prefix=MATRIX
// RUN: attune-run %t.mlir --device=host --print --function=copy | FileCheck %s --check-prefix=COPY
// RUN: attune-run %t.mlir --device=host --print --function=copy --host-seed=7 | FileCheck %s --check-prefix=COPY

module attributes {gpu.container_module} {

gpu.module @kernels {
  // Lane l holds l. Sources out of range give the lane's own value.
  gpu.func @shuffle(%out: memref<4x32xi32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %tid = gpu.thread_id x
    %lane = arith.index_cast %tid : index to i32
    %all = arith.constant -1 : i32
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %none = arith.constant 0 : i32
    %whole = arith.constant 31 : i32
    // Segments of 8 lanes.
    %eight = arith.constant 0x181f : i32
    %xor = nvvm.shfl.sync bfly %all, %lane, %one, %whole : i32 -> i32
    %up = nvvm.shfl.sync up %all, %lane, %two, %none : i32 -> i32
    %down = nvvm.shfl.sync down %all, %lane, %two, %whole : i32 -> i32
    %index = nvvm.shfl.sync idx %all, %lane, %two, %eight : i32 -> i32
    memref.store %xor, %out[%c0, %tid] : memref<4x32xi32>
    memref.store %up, %out[%c1, %tid] : memref<4x32xi32>
    memref.store %down, %out[%c2, %tid] : memref<4x32xi32>
    memref.store %index, %out[%c3, %tid] : memref<4x32xi32>
    gpu.return
  }

  // C = A B with B[k][n] = k == n, so that C is the left half of A = 16 m + k.
  // ldmatrix brings A from shared memory, where rows are stored one after another.
  gpu.func @matrix(%out: memref<16x8xf32>) workgroup(%shared: memref<16x16xf16, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %zero = arith.constant 0.0 : f32
    %lane = gpu.thread_id x
    scf.for %i = %c0 to %c8 step %c1 {
      %base = arith.muli %lane, %c8 : index
      %at = arith.addi %base, %i : index
      %row = arith.divui %at, %c16 : index
      %column = arith.remui %at, %c16 : index
      %word = arith.index_cast %at : index to i32
      %value = arith.sitofp %word : i32 to f16
      memref.store %value, %shared[%row, %column] : memref<16x16xf16, #gpu.address_space<workgroup>>
    }
    gpu.barrier
    %row = arith.remui %lane, %c16 : index
    %high = arith.divui %lane, %c16 : index
    %column = arith.muli %high, %c8 : index
    %a = nvgpu.ldmatrix %shared[%row, %column] {numTiles = 4 : i32, transpose = false}
      : memref<16x16xf16, #gpu.address_space<workgroup>> -> vector<4x2xf16>
    // Lane l holds rows 2 (l % 4) and the next one, and those 8 below, of column l / 4.
    %n = arith.divui %lane, %c4 : index
    %t = arith.remui %lane, %c4 : index
    %k0 = arith.muli %t, %c2 : index
    %k1 = arith.addi %k0, %c1 : index
    %is0 = arith.cmpi eq, %k0, %n : index
    %is1 = arith.cmpi eq, %k1, %n : index
    %b0 = arith.uitofp %is0 : i1 to f16
    %b1 = arith.uitofp %is1 : i1 to f16
    %none = arith.constant dense<0.0> : vector<2x2xf16>
    %b_0 = vector.insert %b0, %none[0, 0] : f16 into vector<2x2xf16>
    %b = vector.insert %b1, %b_0[0, 1] : f16 into vector<2x2xf16>
    %c = arith.constant dense<0.0> : vector<2x2xf32>
    %d = nvgpu.mma.sync (%a, %b, %c) {mmaShape = [16, 8, 16]}
      : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
    %n8 = arith.addi %n, %c8 : index
    %top = vector.extract %d[0] : vector<2xf32> from vector<2x2xf32>
    %bottom = vector.extract %d[1] : vector<2xf32> from vector<2x2xf32>
    vector.store %top, %out[%n, %k0] : memref<16x8xf32>, vector<2xf32>
    vector.store %bottom, %out[%n8, %k0] : memref<16x8xf32>, vector<2xf32>
    gpu.return
  }

  // Each lane copies 8 bytes, of which lane l < 2 reads 4: the rest is 0.
  gpu.func @copy(%in: memref<8xf32>, %out: memref<8xf32>)
      workgroup(%shared: memref<8xf32, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 4, 1, 1>} {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %lane = gpu.thread_id x
    %at = arith.muli %lane, %c2 : index
    %short = arith.cmpi ult, %lane, %c2 : index
    %elements = arith.select %short, %c1, %c2 : index
    %token = nvgpu.device_async_copy %in[%at], %shared[%at], 2, %elements
      : memref<8xf32> to memref<8xf32, #gpu.address_space<workgroup>>
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 0
    gpu.barrier
    %value = vector.load %shared[%at] : memref<8xf32, #gpu.address_space<workgroup>>, vector<2xf32>
    vector.store %value, %out[%at] : memref<8xf32>, vector<2xf32>
    gpu.return
  }
}

// SHUFFLE: result 0: 4x32xi32
// SHUFFLE-NEXT: {{^}}1 0 3 2 5 4 {{.*}} 29 28 31 30{{$}}
// SHUFFLE-NEXT: {{^}}0 1 0 1 2 3 {{.*}} 26 27 28 29{{$}}
// SHUFFLE-NEXT: {{^}}2 3 4 5 6 7 {{.*}} 30 31 30 31{{$}}
// SHUFFLE-NEXT: {{^}}2 2 2 2 2 2 2 2 10 10 {{.*}} 18 26 26 26 26 26 26 26 26{{$}}
func.func @shuffle() -> tensor<4x32xi32> {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %out = memref.alloc() : memref<4x32xi32>
  gpu.launch_func @kernels::@shuffle blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
    args(%out : memref<4x32xi32>)
  %result = bufferization.to_tensor %out restrict : memref<4x32xi32> to tensor<4x32xi32>
  return %result : tensor<4x32xi32>
}

// MATRIX: result 0: 16x8xf32
// MATRIX-NEXT: {{^}}0 1 2 3 4 5 6 7{{$}}
// MATRIX-NEXT: {{^}}16 17 18 19 20 21 22 23{{$}}
// MATRIX: {{^}}240 241 242 243 244 245 246 247{{$}}
func.func @matrix() -> tensor<16x8xf32> {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %out = memref.alloc() : memref<16x8xf32>
  gpu.launch_func @kernels::@matrix blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
    args(%out : memref<16x8xf32>)
  %result = bufferization.to_tensor %out restrict : memref<16x8xf32> to tensor<16x8xf32>
  return %result : tensor<16x8xf32>
}

// COPY: result 0: 8xf32
// COPY-NEXT: {{^}}1 0 3 0 5 6 7 8{{$}}
func.func @copy() -> tensor<8xf32> {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %values = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>
  %in = bufferization.to_buffer %values : tensor<8xf32> to memref<8xf32>
  %out = memref.alloc() : memref<8xf32>
  gpu.launch_func @kernels::@copy blocks in (%c1, %c1, %c1) threads in (%c4, %c1, %c1)
    args(%in : memref<8xf32>, %out : memref<8xf32>)
  %result = bufferization.to_tensor %out restrict : memref<8xf32> to tensor<8xf32>
  return %result : tensor<8xf32>
}

}
