// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The host side has the driver encode the tensor maps that a kernel takes. The driver that is there for tests computes
// nothing.
//
// RUN: attune-opt %s -o %t.mlir \
// RUN:   --pass-pipeline="builtin.module(attune-attach-target{chip=sm_90},gpu.module(convert-kernel-to-llvm),attune-emit-binary{format=isa})"
// RUN: env LD_LIBRARY_PATH=%fake_driver attune-run %t.mlir --device=cuda --print | FileCheck %s
// CHECK: result 0: 4xf32
//
// RUN: env LD_LIBRARY_PATH=%fake_driver FAKE_DRIVER_FAULT=cuTensorMapEncodeTiled not attune-run %t.mlir --device=cuda --print 2>&1 \
// RUN:   | FileCheck %s --check-prefix=FAULT
// FAULT: tensor-maps.mlir.tmp.mlir:[[#]]:[[#]]: error: failed to encode a tensor map of 4x64xbf16 with the strides 64x1, a box of 2x64 and a swizzle of 128 bytes: CUDA_ERROR_LAUNCH_FAILED

!map = !nvgpu.tensormap.descriptor<tensor = memref<2x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b,
  l2promo = l2promo_256b, oob = zero, interleave = none>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @kernel(%out: memref<4xf32>, %map: !map) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      gpu.return
    }
  }
  func.func @main() -> tensor<4xf32> {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    %keys = memref.alloc() : memref<4x64xbf16>
    %out = memref.alloc() : memref<4xf32>
    %unranked = memref.cast %keys : memref<4x64xbf16> to memref<*xbf16>
    %map = nvgpu.tma.create.descriptor %unranked box[%c2, %c64] : memref<*xbf16> -> !map
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%out : memref<4xf32>, %map : !map)
    %result = bufferization.to_tensor %out restrict writable : memref<4xf32> to tensor<4xf32>
    return %result : tensor<4xf32>
  }
}
