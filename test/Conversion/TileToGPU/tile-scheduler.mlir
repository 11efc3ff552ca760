// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The numbers of the next tiles: two slots with barriers in workgroup memory,
// filled by the thread that produces and read by one thread of each other warp.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(attune-attach-target{chip=sm_90a},gpu.module(gpu.func(tile-allocate-shared)),convert-tile-to-gpu,cse)" | FileCheck %s

!channel = !tile.channel<16x64xf16, stages = 2, swizzle_atom = 32>

gpu.module @kernels {
  // The words stand behind the channel's 4096 bytes and four barriers. One
  // thread fills a slot, and 8 warps free it.
  // CHECK-LABEL: gpu.func @fetch_work
  // CHECK-SAME:    %[[COUNTER:[^ ]+]]: memref<1xi32>, %[[TOTAL:[^ ]+]]: index
  // CHECK:     memref.view %{{.+}}[%c4128{{[^ ]*}}][] : {{.*}} to memref<6xi64, #gpu.address_space<workgroup>>
  // CHECK:     scf.if
  // CHECK-COUNT-1: nvvm.mbarrier.init %{{.+}}, %c1_i32
  // CHECK:     nvvm.mbarrier.init %{{.+}}, %c8_i32
  // CHECK:     nvvm.fence.mbarrier.init
  // CHECK:     gpu.barrier
  // CHECK:     scf.if {{.*}} {
  // CHECK:       %[[BEFORE:.+]] = memref.atomic_rmw addi %c1_i32, %[[COUNTER]][%c0]
  // The last workgroup that asks sets the counter back.
  // CHECK:       %[[TOTAL32:.+]] = arith.index_cast %[[TOTAL]]
  // CHECK:       %[[LAST:.+]] = arith.subi %[[TOTAL32]], %c1_i32
  // CHECK:       %[[IS_LAST:.+]] = arith.cmpi eq, %[[BEFORE]], %[[LAST]]
  // CHECK:       scf.if %[[IS_LAST]] {
  // CHECK-NEXT:    memref.store %c0_i32, %[[COUNTER]][%c0]
  // CHECK:       %[[TAKEN:.+]] = arith.index_cast %[[BEFORE]]
  // CHECK:       %[[GRID:.+]] = gpu.grid_dim
  // CHECK:       %[[NEXT:.+]] = arith.addi %[[TAKEN]], %[[GRID]]
  // CHECK:       nvvm.mbarrier.try_wait.parity
  // CHECK:       %[[WORD:.+]] = arith.index_cast %[[NEXT]] : index to i64
  // CHECK:       memref.store %[[WORD]]
  // CHECK:       nvvm.mbarrier.arrive
  // CHECK:     } else {
  // CHECK:       nvvm.mbarrier.try_wait.parity
  // CHECK:       %[[READ:.+]] = scf.if {{.*}} -> (index) {
  // CHECK:         memref.load
  // CHECK-NOT:     nvvm.mbarrier.arrive
  // CHECK:       %[[NUMBER:.+]] = arith.index_cast %[[READ]]
  // CHECK:       nvvm.shfl.sync idx %{{.+}}, %[[NUMBER]], %c0_i32
  // The slot is free when all lanes have come so far.
  // CHECK:       scf.if {{.*}} {
  // CHECK:         nvvm.mbarrier.arrive
  gpu.func @fetch_work(%counter: memref<1xi32>, %total: index, %m: memref<64x64xf16>, %out: memref<?xindex>) kernel
      attributes {known_block_size = array<i32: 288, 1, 1>} {
    %c0 = arith.constant 0 : index
    %d = tile.scheduler : !tile.scheduler
    %c = tile.channel : !channel
    tile.specialize <"compute", warps = 8> {
      %next = tile.get_work %d[%c0] after %c0 : !tile.scheduler
      memref.store %next, %out[%c0] : memref<?xindex>
      tile.release %c[%c0] : !channel
    }, <"load", warps = 1, threads = one> {
      %next = tile.fetch_work %d[%c0], %counter after %c0 of %total : !tile.scheduler, memref<1xi32>
      tile.put %c[%c0], %m[%next, %c0] : !channel, memref<64x64xf16>
    }
    gpu.return
  }
}
