// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A sum that nobody looks at before the kernel's end orders nothing else; others do. One of 0 is a read, of what others did before they added.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(attune-attach-target{chip=sm_90a},gpu.module(convert-kernel-to-llvm))" | FileCheck %s
// RUN: attune-opt %s --pass-pipeline="builtin.module(attune-attach-target{chip=gfx942},gpu.module(convert-kernel-to-llvm))" | FileCheck %s --check-prefix=AMD

gpu.module @kernels {
  // CHECK: llvm.atomicrmw fadd %{{.+}}, %{{.+}} syncscope("device") monotonic : !llvm.ptr, f32
  // CHECK: llvm.atomicrmw fadd %{{.+}}, %{{.+}} acq_rel : !llvm.ptr, f32
  // AMD: llvm.atomicrmw fadd %{{.+}}, %{{.+}} syncscope("agent") monotonic
  gpu.func @adds(%m: memref<8x4xf32>, %x: f32, %i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %0 = memref.atomic_rmw addf %x, %m[%i, %i] : (f32, memref<8x4xf32>) -> f32
    %1 = memref.atomic_rmw addf %x, %m[%i, %i] : (f32, memref<8x4xf32>) -> f32
    memref.store %1, %m[%i, %i] : memref<8x4xf32>
    gpu.return
  }

  // CHECK-LABEL: llvm.func @reads
  // CHECK: %[[COUNT:.+]] = llvm.load %{{.+}} atomic syncscope("device") acquire {alignment = 4 : i64} : !llvm.ptr -> i32
  // CHECK: llvm.atomicrmw add %{{.+}}, %[[COUNT]] acq_rel : !llvm.ptr, i32
  // AMD-LABEL: llvm.func @reads
  // AMD: llvm.load %{{.+}} atomic syncscope("agent") acquire {alignment = 4 : i64}
  gpu.func @reads(%m: memref<8xi32>, %i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %zero = arith.constant 0 : i32
    %0 = memref.atomic_rmw addi %zero, %m[%i] : (i32, memref<8xi32>) -> i32
    %1 = memref.atomic_rmw addi %0, %m[%i] : (i32, memref<8xi32>) -> i32
    memref.store %1, %m[%i] : memref<8xi32>
    gpu.return
  }

  // Neighbours are added by one operation, whose place is a multiple of its bytes.
  // CHECK-LABEL: llvm.func @run
  // CHECK: llvm.atomicrmw fadd %{{.+}}, %{{.+}} syncscope("device") monotonic {alignment = 16 : i64} : !llvm.ptr, vector<4xf32>
  gpu.func @run(%m: memref<8xf32>, %x: vector<4xf32>, %i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    tile.add_run %x, %m[%i] : vector<4xf32>, memref<8xf32>
    gpu.return
  }
}
