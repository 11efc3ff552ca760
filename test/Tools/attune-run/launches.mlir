// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches after the first: a kernel that remembers something does not give the
// same bits.
//
// RUN: split-file %s %t
// RUN: attune-run %t/same.mlir --device=host --chip=sm_80 --equal-launches=3 | FileCheck %s --check-prefix=SAME
// SAME: right
// SAME: equal     3 of 3 launches gave the same bits
// RUN: attune-opt %t/counts.mlir --attune-attach-target="chip=sm_80" --gpu-to-llvm-pipeline -o %t/counts.llvm.mlir
// RUN: not attune-run %t/counts.llvm.mlir --device=host --equal-launches=3 | FileCheck %s --check-prefix=COUNTS
// COUNTS: UNEQUAL   0 of 3 launches gave the same bits
// RUN: not attune-run %t/counts.llvm.mlir --device=host --equal-launches=3 --json | FileCheck %s --check-prefix=JSON
// JSON:      "launches": {
// JSON-NEXT:   "all": 3,
// JSON-NEXT:   "unequal": 3
// JSON:      "passed": false

//--- same.mlir
func.func @f(%q: tensor<1x1x16x32xf16>) -> tensor<1x1x16x32xf16> {
  %o = attn.attention %q, %q, %q : tensor<1x1x16x32xf16>, tensor<1x1x16x32xf16>, tensor<1x1x16x32xf16>
  return %o : tensor<1x1x16x32xf16>
}

//--- counts.mlir
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @count(%counter: memref<1xi32>, %out: memref<1x1x1x8xf16>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : i32
      %old = memref.load %counter[%c0] : memref<1xi32>
      %new = arith.addi %old, %c1 : i32
      memref.store %new, %counter[%c0] : memref<1xi32>
      %value = arith.sitofp %new : i32 to f16
      memref.store %value, %out[%c0, %c0, %c0, %c0] : memref<1x1x1x8xf16>
      gpu.return
    }
  }
  func.func @f(%q: tensor<1x1x1x8xf16>) -> tensor<1x1x1x8xf16> {
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0> : tensor<1xi32>
    %counter = bufferization.to_buffer %zero read_only : tensor<1xi32> to memref<1xi32>
    %out = memref.alloc() : memref<1x1x1x8xf16>
    gpu.launch_func @kernels::@count blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%counter : memref<1xi32>, %out : memref<1x1x1x8xf16>)
    %o = bufferization.to_tensor %out restrict writable : memref<1x1x1x8xf16> to tensor<1x1x1x8xf16>
    return %o : tensor<1x1x1x8xf16>
  }
  module attributes {attune.source} {
    func.func @f(%q: tensor<1x1x1x8xf16>) -> tensor<1x1x1x8xf16> {
      %o = attn.attention %q, %q, %q : tensor<1x1x1x8xf16>, tensor<1x1x1x8xf16>, tensor<1x1x1x8xf16>
      return %o : tensor<1x1x1x8xf16>
    }
  }
}
