// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Through a buffer resource, what lies behind the end reads as 0 and is not
// written; what is wrong about the resource itself is found.
//
// RUN: attune-opt %s --attune-attach-target="chip=gfx1100" --gpu-to-llvm-pipeline --emit-bytecode -o %t.mlirbc
// RUN: attune-run %t.mlirbc --device=host --print --function=right | FileCheck %s
// RUN: not attune-run %t.mlirbc --device=host --print --function=too_large 2>&1 | FileCheck %s --check-prefix=LARGE

module attributes {gpu.container_module} {

gpu.module @kernels {
  // Lane l moves element l + 2 of those that are there to place l.
  gpu.func @move(%in: memref<8xf32>, %out: memref<8xf32>, %size: index)
      kernel attributes {known_block_size = array<i32: 16, 1, 1>,
        launch.manifest = #launch.manifest<arguments = [#launch.buffer<name = "in", type = memref<8xf32>, access = read>,
                                                        #launch.buffer<name = "out", type = memref<8xf32>, access = write>,
                                                        #launch.scalar<name = "size", type = index>]>} {
    %c2 = arith.constant 2 : index
    %lane = gpu.thread_id x
    %next = arith.addi %lane, %c2 : index
    %from = arith.index_cast %next : index to i32
    %to = arith.index_cast %lane : index to i32
    %base = memref.extract_aligned_pointer_as_index %in : memref<8xf32> -> index
    %base64 = arith.index_cast %base : index to i64
    %pointer = llvm.inttoptr %base64 : i64 to !llvm.ptr
    %records = arith.index_cast %size : index to i64
    %stride = arith.constant 0 : i16
    %flags = arith.constant 822243328 : i32
    %none = arith.constant 0 : i32
    %four = arith.constant 4 : i32
    %offset = arith.muli %from, %four : i32
    %resource = rocdl.make.buffer.rsrc %pointer, %stride, %records, %flags : !llvm.ptr to <8>
    // LARGE: raw-buffer.mlir:[[#@LINE+1]]:10: error: 'rocdl.raw.ptr.buffer.load' op reads 4 bytes outside of the kernel's arguments, address 0x{{[0-9A-F]+}}, 0 bytes behind the end of 'in', thread (6, 0, 0)
    %x = rocdl.raw.ptr.buffer.load %resource, %offset, %none, %none : f32
    amdgpu.raw_buffer_store {boundsCheck = true} %x -> %out[%to] : f32 -> memref<8xf32>, i32
    gpu.return
  }
}

// CHECK: result 0: 8xf32
// CHECK-NEXT: {{^}}3 4 5 6 7 8 0 0{{$}}
func.func @right() -> tensor<8xf32> {
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %size = arith.constant 32 : index
  %values = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>
  %in = bufferization.to_buffer %values : tensor<8xf32> to memref<8xf32>
  %out = memref.alloc() : memref<8xf32>
  gpu.launch_func @kernels::@move blocks in (%c1, %c1, %c1) threads in (%c16, %c1, %c1)
    args(%in : memref<8xf32>, %out : memref<8xf32>, %size : index)
  %result = bufferization.to_tensor %out restrict : memref<8xf32> to tensor<8xf32>
  return %result : tensor<8xf32>
}

func.func @too_large() -> tensor<8xf32> {
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %size = arith.constant 40 : index
  %values = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>
  %in = bufferization.to_buffer %values : tensor<8xf32> to memref<8xf32>
  %out = memref.alloc() : memref<8xf32>
  gpu.launch_func @kernels::@move blocks in (%c1, %c1, %c1) threads in (%c16, %c1, %c1)
    args(%in : memref<8xf32>, %out : memref<8xf32>, %size : index)
  %result = bufferization.to_tensor %out restrict : memref<8xf32> to tensor<8xf32>
  return %result : tensor<8xf32>
}

}
