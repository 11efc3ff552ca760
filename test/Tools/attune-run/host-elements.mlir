// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The host side reads an element of a buffer, with all bits of an integer, and gives what it makes of it to a kernel.
//
// RUN: split-file %s %t
// RUN: attune-opt %t/element.mlir --attune-attach-target="chip=sm_80" --gpu-to-llvm-pipeline -o %t/element.llvm.mlir
// RUN: attune-run %t/element.llvm.mlir --device=host --print | FileCheck %s
// CHECK:      result 0: 2xf32
// CHECK-NEXT: 5 -2

// So does the reference of dropout, on a GPU. (The one that is there for tests computes nothing.)
// RUN: env LD_LIBRARY_PATH=%fake_driver FAKE_DRIVER_TRACE=1 not attune-run %t/dropout.mlir --device=cuda --verify 2>&1 \
// RUN:   | FileCheck %s --check-prefix=DROPOUT
// DROPOUT-COUNT-2: driver: cuLaunchKernel
// DROPOUT: WRONG {{ *}}result 0

//--- element.mlir
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @kernel(%out: memref<2xf32>, %lower: i32, %next: i32) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %first = arith.sitofp %lower : i32 to f32
      %second = arith.sitofp %next : i32 to f32
      memref.store %first, %out[%c0] : memref<2xf32>
      memref.store %second, %out[%c1] : memref<2xf32>
      gpu.return
    }
  }
  func.func @main() -> tensor<2xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    // 2^60 + 5, of which a float of 64 bits has no 5.
    %numbers = arith.constant dense<[1152921504606846981, -2]> : tensor<2xi64>
    %buffer = bufferization.to_buffer %numbers read_only : tensor<2xi64> to memref<2xi64>
    %number = memref.load %buffer[%c0] : memref<2xi64>
    %negative = memref.load %buffer[%c1] : memref<2xi64>
    %lower = arith.trunci %number : i64 to i32
    %next = arith.trunci %negative : i64 to i32
    %out = memref.alloc() : memref<2xf32>
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%out : memref<2xf32>, %lower : i32, %next : i32)
    %result = bufferization.to_tensor %out restrict writable : memref<2xf32> to tensor<2xf32>
    return %result : tensor<2xf32>
  }
}

//--- dropout.mlir
func.func @f(%q: tensor<1x1x64x64xf16>, %seed: tensor<2xi64>) -> tensor<1x1x64x64xf16> {
  %o = attn.attention %q, %q, %q dropout(%seed, 1.000000e-01 : tensor<2xi64>) : tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>
  return %o : tensor<1x1x64x64xf16>
}
