// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Channels: places in workgroup memory, widths of copies, tails, predicates and
// barriers, on a chip with asynchronous copies (COPY) and one without (SYNC).
//
// RUN: attune-opt %s --split-input-file --pass-pipeline="builtin.module(attune-attach-target{chip=sm_80},gpu.module(gpu.func(tile-allocate-shared)),convert-tile-to-gpu,canonicalize,cse)" \
// RUN:   | FileCheck %s --check-prefixes=CHECK,COPY
// RUN: attune-opt %s --split-input-file --pass-pipeline="builtin.module(attune-attach-target{chip=gfx1100},gpu.module(gpu.func(tile-allocate-shared)),convert-tile-to-gpu,canonicalize,cse)" \
// RUN:   | FileCheck %s --check-prefixes=CHECK,SYNC

!channel = !tile.channel<32x64xf16, stages = 2>
!small = !tile.channel<16x24xf16, stages = 1>
!shared = !tile.tile<32x64xf16, shared, #tile.swizzle<vector = 8, bits = 3, shift = 0>>

// Buffers start at multiples of 1024 bytes; the launch and the manifest get the sum.
module attributes {gpu.container_module} {
  gpu.module @offsets {
    // CHECK-LABEL: gpu.func @offsets
    // CHECK-SAME:    launch.manifest = #launch.manifest<shared_bytes = 9984>
    gpu.func @offsets(%m: memref<64x64xf16>, %s: memref<64x24xf16>) kernel
        attributes {known_block_size = array<i32: 32, 1, 1>, launch.manifest = #launch.manifest<>} {
      // CHECK-DAG: %[[MEMORY:.+]] = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
      // CHECK-DAG: %[[C0:.+]] = arith.constant 0 : index
      // CHECK-DAG: %[[C1024:.+]] = arith.constant 1024 : index
      // CHECK-DAG: %[[C9216:.+]] = arith.constant 9216 : index
      // CHECK-DAG: memref.view %[[MEMORY]][%[[C0]]][] : {{.*}} to memref<1x16x24xf16, #gpu.address_space<workgroup>>
      // CHECK-DAG: memref.view %[[MEMORY]][%[[C1024]]][] : {{.*}} to memref<2x32x64xf16, #gpu.address_space<workgroup>>
      // CHECK-DAG: memref.view %[[MEMORY]][%[[C9216]]][] : {{.*}} to memref<1x16x24xf16, #gpu.address_space<workgroup>>
      %c0 = arith.constant 0 : index
      %a = tile.channel : !small
      %b = tile.channel : !channel
      %c = tile.channel : !small
      tile.put %a[%c0], %s[%c0, %c0] in_bounds : !small, memref<64x24xf16>
      tile.put %b[%c0], %m[%c0, %c0] in_bounds : !channel, memref<64x64xf16>
      tile.put %c[%c0], %s[%c0, %c0] in_bounds : !small, memref<64x24xf16>
      gpu.return
    }
  }
  // CHECK-LABEL: func.func @launch
  func.func @launch(%m: memref<64x64xf16>, %s: memref<64x24xf16>) {
    // CHECK: %[[BYTES:.+]] = arith.constant 9984 : i32
    // CHECK: gpu.launch_func @offsets::@offsets {{.*}} dynamic_shared_memory_size %[[BYTES]]
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    gpu.launch_func @offsets::@offsets blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
      args(%m : memref<64x64xf16>, %s : memref<64x24xf16>)
    return
  }
}

// -----

!channel = !tile.channel<32x64xf16, stages = 2>
gpu.module @kernels {
  // 16 bytes at a time; the column is permuted by the row.
  // CHECK-LABEL: gpu.func @width_16
  gpu.func @width_16(%m: memref<64x64xf16>, %e: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // CHECK: %[[THREAD:.+]] = gpu.thread_id x
    // CHECK: %[[ROW:.+]] = arith.divui %[[THREAD]], %c8
    // CHECK: %[[PIECE:.+]] = arith.remui %[[THREAD]], %c8
    // CHECK: %[[COLUMN:.+]] = arith.muli %[[PIECE]], %c8
    // CHECK-DAG: %[[PHASE:.+]] = arith.andi %[[ROW]], %c7
    // CHECK-DAG: %[[BITS:.+]] = arith.muli %[[PHASE]], %c8
    // CHECK-DAG: %[[STORED:.+]] = arith.xori %[[COLUMN]], %[[BITS]]
    // CHECK-DAG: %[[START:.+]] = arith.muli %[[ROW]], %c64
    // CHECK-DAG: %[[IN_TILE:.+]] = arith.addi %[[START]], %[[STORED]]
    // CHECK-DAG: %[[TILE:.+]] = arith.muli %{{.+}}, %c2048
    // CHECK: %[[POSITION:.+]] = arith.addi %[[TILE]], %[[IN_TILE]]
    // COPY: nvgpu.device_async_copy %{{.+}}[%[[ROW]], %[[COLUMN]]], %{{.+}}[%[[POSITION]]], 8 {bypassL1}
    // COPY-NOT: scf.if
    // COPY: nvvm.cp.async.commit.group
    // SYNC: %[[DATA:.+]] = vector.load %{{.+}}[%[[ROW]], %[[COLUMN]]] {alignment = 16 : i64} : memref<64x64xf16>, vector<8xf16>
    // SYNC: vector.store %[[DATA]], %{{.+}}[%[[POSITION]]] {alignment = 16 : i64}
    // SYNC-NOT: commit
    // CHECK: gpu.return
    %c0 = arith.constant 0 : index
    %c = tile.channel : !channel
    tile.put %c[%e], %m[%c0, %c0] in_bounds : !channel, memref<64x64xf16>
    gpu.return
  }

  // Pieces of one thread lie in rows with the same permutation: their places in
  // the buffer differ by a constant, added last, that fits into the access.
  // CHECK-LABEL: gpu.func @constants_last
  gpu.func @constants_last(%m: memref<64x64xf16>, %e: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // COPY: nvgpu.device_async_copy %{{.+}}, %[[BUFFER:[a-z_]+]][%[[POSITION:[0-9]+]]], 8
    // SYNC: vector.store %{{.+}}, %[[BUFFER:[a-z_]+]][%[[POSITION:[0-9]+]]] {
    // CHECK: %[[NEXT:.+]] = arith.addi %[[POSITION]], %c1024
    // COPY-NEXT: nvgpu.device_async_copy %{{.+}}, %[[BUFFER]][%[[NEXT]]], 8
    // SYNC: vector.store %{{.+}}, %[[BUFFER]][%[[NEXT]]]
    %c0 = arith.constant 0 : index
    %c = tile.channel : !channel
    tile.put %c[%e], %m[%c0, %c0] in_bounds : !channel, memref<64x64xf16>
    gpu.return
  }

  // Strides of 4 elements allow 8 bytes, of 2 elements 4 bytes.
  // CHECK-LABEL: gpu.func @width_8
  gpu.func @width_8(%m: memref<64x64xf16, strided<[68, 1]>>, %e: index) kernel attributes {known_block_size = array<i32: 512, 1, 1>} {
    // COPY: nvgpu.device_async_copy {{.*}}, 4 :
    // SYNC: vector.load {{.*}}alignment = 8 : i64
    %c0 = arith.constant 0 : index
    %c = tile.channel : !channel
    tile.put %c[%e], %m[%c0, %c0] in_bounds : !channel, memref<64x64xf16, strided<[68, 1]>>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @width_promised
  gpu.func @width_promised(%m: memref<64x64xf16, strided<[?, 1]>> {tile.divisor = 4 : i64}, %e: index) kernel attributes {known_block_size = array<i32: 512, 1, 1>} {
    // COPY: nvgpu.device_async_copy {{.*}}, 4 :
    // SYNC: vector.load {{.*}}alignment = 8 : i64
    %c0 = arith.constant 0 : index
    %c = tile.channel : !channel
    tile.put %c[%e], %m[%c0, %c0] in_bounds : !channel, memref<64x64xf16, strided<[?, 1]>>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @width_4
  gpu.func @width_4(%m: memref<64x64xf16, strided<[66, 1]>>, %e: index) kernel attributes {known_block_size = array<i32: 1024, 1, 1>} {
    // COPY: nvgpu.device_async_copy {{.*}}, 2 :
    // SYNC: vector.load {{.*}}alignment = 4 : i64
    %c0 = arith.constant 0 : index
    %c = tile.channel : !channel
    tile.put %c[%e], %m[%c0, %c0] in_bounds : !channel, memref<64x64xf16, strided<[66, 1]>>
    gpu.return
  }

  // Two bytes are too few for an asynchronous copy; the group is counted all the same.
  // CHECK-LABEL: gpu.func @width_2
  gpu.func @width_2(%m: memref<64x64xf16, strided<[65, 1]>>, %e: index) kernel attributes {known_block_size = array<i32: 1024, 1, 1>} {
    // CHECK-NOT: nvgpu.device_async_copy
    // CHECK: vector.load {{.*}}alignment = 2 : i64
    // CHECK: vector.store {{.*}}alignment = 2 : i64
    // COPY: nvvm.cp.async.commit.group
    %c0 = arith.constant 0 : index
    %c = tile.channel : !channel
    tile.put %c[%e], %m[%c0, %c0] in_bounds : !channel, memref<64x64xf16, strided<[65, 1]>>
    gpu.return
  }

  // Rows beyond the end are written as zeros.
  // CHECK-LABEL: gpu.func @rows_end
  // CHECK-SAME:    %[[M:[^ ]+]]: memref<?x64xf16>, %{{[^ ]+}}: index, %[[FIRST:.+]]: index
  gpu.func @rows_end(%m: memref<?x64xf16>, %e: index, %first: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // CHECK-DAG: %[[ROWS:.+]] = memref.dim %[[M]], %c0
    // CHECK-DAG: %[[ROW:.+]] = arith.addi %[[FIRST]], %{{.+}}
    // CHECK: %[[INSIDE:.+]] = arith.cmpi slt, %[[ROW]], %[[ROWS]]
    // CHECK: %[[VALID:.+]] = arith.select %[[INSIDE]], %c8, %c0
    // COPY: nvgpu.device_async_copy {{.*}}, 8, %[[VALID]] {bypassL1}
    // SYNC: scf.if
    // SYNC:   vector.load
    // SYNC: } else {
    // SYNC: vector.store
    %c0 = arith.constant 0 : index
    %c = tile.channel : !channel
    tile.put %c[%e], %m[%first, %c0] : !channel, memref<?x64xf16>
    gpu.return
  }

  // So are the columns that pad a head to the instruction's depth.
  // CHECK-LABEL: gpu.func @columns_end
  gpu.func @columns_end(%m: memref<64x56xf16>, %e: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // CHECK: arith.cmpi slt, %{{.+}}, %c64
    // CHECK: arith.cmpi slt, %{{.+}}, %c56
    // CHECK: arith.andi
    // COPY: nvgpu.device_async_copy {{.*}}, 8, %
    %c0 = arith.constant 0 : index
    %c = tile.channel : !channel
    tile.put %c[%e], %m[%c0, %c0] : !channel, memref<64x56xf16>
    gpu.return
  }

  // A predicate guards the copy, not the count.
  // CHECK-LABEL: gpu.func @predicate
  // CHECK-SAME:    %[[MORE:[^ ]+]]: i1
  gpu.func @predicate(%m: memref<64x64xf16>, %e: index, %more: i1) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // CHECK: scf.if %[[MORE]] {
    // COPY:    nvgpu.device_async_copy
    // SYNC:    vector.store
    // CHECK: }
    // COPY: nvvm.cp.async.commit.group
    // CHECK: gpu.return
    %c0 = arith.constant 0 : index
    %c = tile.channel : !channel
    tile.put %c[%e], %m[%c0, %c0] if %more in_bounds : !channel, memref<64x64xf16>
    gpu.return
  }

  // 16 rows of 3 pieces for 32 threads: one whole step and one of half the threads.
  // CHECK-LABEL: gpu.func @last_step
  gpu.func @last_step(%m: memref<16x24xf16>, %e: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // COPY: nvgpu.device_async_copy
    // SYNC: vector.store
    // CHECK: %[[ACTIVE:.+]] = arith.cmpi ult, %{{.+}}, %c16
    // CHECK: scf.if %[[ACTIVE]]
    // COPY: nvgpu.device_async_copy
    // SYNC: vector.store
    %c0 = arith.constant 0 : index
    %c = tile.channel : !tile.channel<16x24xf16, stages = 1>
    tile.put %c[%e], %m[%c0, %c0] in_bounds : !tile.channel<16x24xf16, stages = 1>, memref<16x24xf16>
    gpu.return
  }

  // A get waits for the lane's own copies first, then for everyone's. Slots are numbered modulo the stages.
  // CHECK-LABEL: gpu.func @get
  // CHECK-SAME:    %{{[^ ]+}}: memref<64x64xf16>, %[[E:[^ ]+]]: index
  gpu.func @get(%m: memref<64x64xf16>, %e: index, %out: memref<f16>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // COPY: nvvm.cp.async.wait.group 3
    // SYNC-NOT: wait
    // COPY: gpu.barrier
    // SYNC: amdgpu.lds_barrier
    // CHECK: %[[SLOT:.+]] = arith.remui %[[E]], %c2
    // CHECK: memref.subview %{{.+}}[%[[SLOT]], 0, 0] [1, 32, 64] [1, 1, 1]
    %c = tile.channel : !channel
    %s = tile.get %c[%e] pending 3 : !channel -> !tile.tile<32x64xf16, shared, #tile.swizzle<vector = 8, bits = 3, shift = 0>>
    %r = tile.read %s : !tile.tile<32x64xf16, shared, #tile.swizzle<vector = 8, bits = 3, shift = 0>>
      -> !tile.tile<32x64xf16, registers, #tile.layout<registers = [[64, 1, 1]], lanes = [[32, 0, 1]], warps = []>>
    %x = tile.reduce max %r : !tile.tile<32x64xf16, registers, #tile.layout<registers = [[64, 1, 1]], lanes = [[32, 0, 1]], warps = []>>
      -> !tile.tile<32xf16, registers, #tile.layout<registers = [], lanes = [[32, 0, 1]], warps = []>>
    %row = memref.reinterpret_cast %out to offset: [0], sizes: [32], strides: [1] : memref<f16> to memref<32xf16>
    %c0 = arith.constant 0 : index
    tile.store %x, %row[%c0] : !tile.tile<32xf16, registers, #tile.layout<registers = [], lanes = [[32, 0, 1]], warps = []>>, memref<32xf16>
    gpu.return
  }
}
