// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of two kernels the one with a fault stays.
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_80" --gpu-to-llvm-pipeline -o %t.mlir
// RUN: env ATTUNE_RUN=attune-run attune-reduce %t.mlir \
// RUN:   --reduction-tree="traversal-mode=0 test=%attune_source/tools/attune-reduce/kernel-is-wrong.sh test-arg=--print" | FileCheck %s
//
// CHECK-NOT: @right
// CHECK:     llvm.func @wrong
// CHECK-NOT: @right
// CHECK:     gpu.launch_func @wrong_module::@wrong
// CHECK-NOT: @right

!shared = memref<32xf32, #gpu.address_space<workgroup>>

module attributes {gpu.container_module} {

gpu.module @right_module {
  gpu.func @right(%in: memref<32xf32>, %out: memref<32xf32>) workgroup(%s: !shared)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %lane = gpu.thread_id x
    %c31 = arith.constant 31 : index
    %other = arith.subi %c31, %lane : index
    %x = memref.load %in[%lane] : memref<32xf32>
    memref.store %x, %s[%lane] : !shared
    gpu.barrier
    %y = memref.load %s[%other] : !shared
    memref.store %y, %out[%lane] : memref<32xf32>
    gpu.return
  }
}

gpu.module @wrong_module {
  gpu.func @wrong(%in: memref<32xf32>, %out: memref<32xf32>) workgroup(%s: !shared)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %lane = gpu.thread_id x
    %c31 = arith.constant 31 : index
    %other = arith.subi %c31, %lane : index
    %x = memref.load %in[%lane] : memref<32xf32>
    memref.store %x, %s[%lane] : !shared
    %y = memref.load %s[%other] : !shared
    memref.store %y, %out[%lane] : memref<32xf32>
    gpu.return
  }
}

func.func @main() -> tensor<32xf32> {
  %c1 = arith.constant 1 : index
  %threads = arith.constant 32 : index
  %values = arith.constant dense<1.0> : tensor<32xf32>
  %in = bufferization.to_buffer %values : tensor<32xf32> to memref<32xf32>
  %out = memref.alloc() : memref<32xf32>
  gpu.launch_func @right_module::@right blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%in : memref<32xf32>, %out : memref<32xf32>)
  gpu.launch_func @wrong_module::@wrong blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%in : memref<32xf32>, %out : memref<32xf32>)
  %result = bufferization.to_tensor %out restrict : memref<32xf32> to tensor<32xf32>
  return %result : tensor<32xf32>
}

}
