// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Threads and workgroups know where they are, in all three dimensions: each thread writes its numbers as the digits
// x + 10 y + 100 z, and its workgroup's as thousands.
//
// RUN: split-file %s %t
// RUN: attune-opt %t/ids.mlir --attune-attach-target="chip=sm_80" --gpu-to-llvm-pipeline | attune-run --device=host --print | FileCheck %s
// RUN: attune-opt %t/ids.mlir --attune-attach-target="chip=gfx942" --gpu-to-llvm-pipeline | attune-run --device=host --print | FileCheck %s
// RUN: attune-opt %t/extents.mlir --attune-attach-target="chip=sm_80" --gpu-to-llvm-pipeline | attune-run --device=host --print \
// RUN:   | FileCheck %s --check-prefix=EXTENTS
//
// CHECK:      result 0: 4x12xi32
// CHECK-NEXT: 0 1 10 11 20 21 100 101 110 111 120 121
// CHECK-NEXT: 10000 10001 10010 10011 10020 10021 10100 10101 10110 10111 10120 10121
// CHECK-NEXT: 100000 100001 100010 100011 100020 100021 100100 100101 100110 100111 100120 100121
// CHECK-NEXT: 110000 110001 110010 110011 110020 110021 110100 110101 110110 110111 110120 110121
//
// EXTENTS:      result 0: 6xi32
// EXTENTS-NEXT: 2 3 4 5 6 7

//--- ids.mlir
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @ids(%out: memref<4x12xi32>) kernel attributes {known_block_size = array<i32: 2, 3, 2>} {
      %c2 = arith.constant 2 : index
      %c3 = arith.constant 3 : index
      %c10 = arith.constant 10 : index
      %c1000 = arith.constant 1000 : index
      %tx = gpu.thread_id x
      %ty = gpu.thread_id y
      %tz = gpu.thread_id z
      %bx = gpu.block_id x
      %by = gpu.block_id y
      %bz = gpu.block_id z
      %tzs = arith.muli %tz, %c10 : index
      %tzy = arith.addi %tzs, %ty : index
      %tzys = arith.muli %tzy, %c10 : index
      %thread = arith.addi %tzys, %tx : index
      %bzs = arith.muli %bz, %c10 : index
      %bzy = arith.addi %bzs, %by : index
      %bzys = arith.muli %bzy, %c10 : index
      %block = arith.addi %bzys, %bx : index
      %blocks = arith.muli %block, %c1000 : index
      %digits = arith.addi %blocks, %thread : index
      %value = arith.index_cast %digits : index to i32
      %row0 = arith.muli %bz, %c2 : index
      %row = arith.addi %row0, %by : index
      %column0 = arith.muli %tz, %c3 : index
      %column1 = arith.addi %column0, %ty : index
      %column2 = arith.muli %column1, %c2 : index
      %column = arith.addi %column2, %tx : index
      memref.store %value, %out[%row, %column] : memref<4x12xi32>
      gpu.return
    }
  }
  func.func @main() -> tensor<4x12xi32> {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %out = memref.alloc() : memref<4x12xi32>
    gpu.launch_func @kernels::@ids blocks in (%c1, %c2, %c2) threads in (%c2, %c3, %c2) args(%out : memref<4x12xi32>)
    %result = bufferization.to_tensor %out restrict writable : memref<4x12xi32> to tensor<4x12xi32>
    return %result : tensor<4x12xi32>
  }
}

//--- extents.mlir
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @extents(%out: memref<6xi32>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c3 = arith.constant 3 : index
      %c4 = arith.constant 4 : index
      %c5 = arith.constant 5 : index
      %bx = nvvm.read.ptx.sreg.ntid.x : i32
      %by = nvvm.read.ptx.sreg.ntid.y : i32
      %bz = nvvm.read.ptx.sreg.ntid.z : i32
      %gx = nvvm.read.ptx.sreg.nctaid.x : i32
      %gy = nvvm.read.ptx.sreg.nctaid.y : i32
      %gz = nvvm.read.ptx.sreg.nctaid.z : i32
      %tx = gpu.thread_id x
      %ty = gpu.thread_id y
      %tz = gpu.thread_id z
      %ix = gpu.block_id x
      %iy = gpu.block_id y
      %iz = gpu.block_id z
      %any0 = arith.ori %tx, %ty : index
      %any1 = arith.ori %any0, %tz : index
      %any2 = arith.ori %any1, %ix : index
      %any3 = arith.ori %any2, %iy : index
      %any4 = arith.ori %any3, %iz : index
      %first = arith.cmpi eq, %any4, %c0 : index
      scf.if %first {
        memref.store %bx, %out[%c0] : memref<6xi32>
        memref.store %by, %out[%c1] : memref<6xi32>
        memref.store %bz, %out[%c2] : memref<6xi32>
        memref.store %gx, %out[%c3] : memref<6xi32>
        memref.store %gy, %out[%c4] : memref<6xi32>
        memref.store %gz, %out[%c5] : memref<6xi32>
      }
      gpu.return
    }
  }
  func.func @main() -> tensor<6xi32> {
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %c6 = arith.constant 6 : index
    %c7 = arith.constant 7 : index
    %out = memref.alloc() : memref<6xi32>
    gpu.launch_func @kernels::@extents blocks in (%c5, %c6, %c7) threads in (%c2, %c3, %c4) args(%out : memref<6xi32>)
    %result = bufferization.to_tensor %out restrict writable : memref<6xi32> to tensor<6xi32>
    return %result : tensor<6xi32>
  }
}
