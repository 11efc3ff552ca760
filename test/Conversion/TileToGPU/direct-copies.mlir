// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies of warps past registers: pieces in the order of their places, from
// where the permutation has them; what is not there is copied as zeros, and
// waits count copies.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(attune-attach-target{chip=gfx950},gpu.module(gpu.func(tile-allocate-shared)),convert-tile-to-gpu,canonicalize,cse)" | FileCheck %s

!channel = !tile.channel<32x128xbf16, stages = 2, chunk = 8>
!shared = !tile.tile<32x128xbf16, shared, #tile.swizzle<vector = 8, bits = 4, shift = 0>>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @copies
  // CHECK-SAME:    %[[M:[^ ]+]]: memref<?x128xbf16>
  // CHECK-DAG: %[[BUFFER:.+]] = memref.view {{.*}} to memref<2x32x128xbf16, #gpu.address_space<workgroup>>
  // CHECK: scf.for
  // CHECK: %[[WARP:.+]] = rocdl.readfirstlane
  // CHECK: %[[ROW:.+]] = arith.divui %{{.+}}, %c16
  // CHECK: %[[PIECE:.+]] = arith.remui %{{.+}}, %c16
  // CHECK: %[[PLACE:.+]] = arith.muli %[[PIECE]], %c8
  // CHECK: %[[PHASE:.+]] = arith.muli %{{.+}}, %c8
  // CHECK: %[[COLUMN:.+]] = arith.xori %[[PLACE]], %[[PHASE]]
  // CHECK: %[[LEFT:.+]] = arith.select %{{.+}}, %{{.+}}, %c0_i32
  // CHECK: %[[ROWS:.+]] = arith.index_cast %[[LEFT]] : i32 to index
  // CHECK: %[[VIEW:.+]] = memref.subview %[[M]][{{.*}}] [%[[ROWS]], 128]
  // CHECK: amdgpu.gather_to_lds %[[VIEW]][%[[ROW]], %[[COLUMN]]], %{{.+}}[%[[AT:.+]]] : vector<8xbf16>
  // CHECK: arith.addi %[[ROW]], %c16
  // CHECK: %[[NEXT:.+]] = arith.addi %[[AT]], %c2048
  // CHECK: amdgpu.gather_to_lds {{.*}}, %{{.+}}[%[[NEXT]]]
  // CHECK-NOT: gather_to_lds
  // CHECK: amdgpu.memory_counter_wait load(2) ds(0)
  // CHECK-NEXT: llvm.fence syncscope("wavefront") release
  // CHECK-NEXT: rocdl.s.barrier
  // CHECK-NEXT: llvm.fence syncscope("wavefront") acquire
  // CHECK: }
  // CHECK: amdgpu.memory_counter_wait load(0)
  gpu.func @copies(%m: memref<?x128xbf16>, %n: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c = tile.channel : !channel
    scf.for %i = %c0 to %n step %c1 {
      %next = arith.addi %i, %c1 : index
      %there = arith.cmpi slt, %next, %n : index
      tile.put %c[%next], %m[%i, %c0] if %there : !channel, memref<?x128xbf16>
      %s = tile.get %c[%i] pending 1 : !channel -> !shared
      tile.release %c[%i] : !channel
    }
    gpu.return
  }
}
