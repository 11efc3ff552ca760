// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MMAs by warpgroups.
//
// RUN: attune-opt %s \
// RUN:   --pass-pipeline="builtin.module(attune-attach-target{chip=sm_90a},gpu.module(gpu.func(tile-assign-layouts,tile-allocate-shared)),convert-tile-to-gpu,cse)" \
// RUN:   | FileCheck %s

!channel = !tile.channel<128x64xf16, stages = 1, swizzle_atom = 64>
!shared = !tile.tile<128x64xf16, shared, #tile.swizzle<vector = 8, bits = 3, shift = 0, swizzle_atom = 64>>
!wide_channel = !tile.channel<16x96xf16, stages = 1, swizzle_atom = 32>
!wide = !tile.tile<16x96xf16, shared, #tile.swizzle<vector = 8, bits = 2, shift = 1, swizzle_atom = 32>>
!s = !tile.tile<128x128xf32, registers>
!p = !tile.tile<128x16xf16, registers>
!o = !tile.tile<128x96xf32, registers>

gpu.module @kernels {
  // Both operands in shared memory: rows of a swizzle atom of 128 bytes (mode 1, groups of eight rows 1024 bytes apart), and a
  // step of 16 columns, 32 bytes, for each product. A group starts at its own 64 rows of the left operand.
  // CHECK-LABEL: gpu.func @shared_by_shared
  // CHECK:     %[[WARP:.+]] = arith.divui %thread_id_x, %c32
  // CHECK:     nvvm.shfl.sync idx
  // CHECK:     %[[FIRST:.+]] = arith.index_cast
  // CHECK:     %[[GROUP:.+]] = arith.divui %[[FIRST]], %c4
  // CHECK:     %[[ROWS:.+]] = arith.muli %{{.+}}, %c64
  // CHECK:     arith.muli %[[ROWS]], %c64
  // CHECK:     %[[LHS:.+]] = arith.shrui
  // CHECK:     %[[RHS:.+]] = arith.shrui
  // CHECK:     nvvm.wgmma.fence.aligned
  // CHECK:     %[[NONE:.+]] = llvm.mlir.poison : !llvm.struct
  // CHECK:     %[[RLOW:.+]] = arith.addi %[[RHS]], %c65536_i32
  // CHECK:     %[[R64:.+]] = arith.extui %[[RLOW]] : i32 to i64
  // CHECK:     %[[R:.+]] = arith.ori %[[R64]], %c4611686293305294848_i64
  // CHECK:     %[[LLOW:.+]] = arith.addi %[[LHS]], %c65536_i32
  // CHECK:     %[[L64:.+]] = arith.extui %[[LLOW]] : i32 to i64
  // CHECK:     %[[L:.+]] = arith.ori %[[L64]], %c4611686293305294848_i64
  // CHECK:     %[[FIRST:.+]] = nvvm.wgmma.mma_async %[[L]], %[[R]], %[[NONE]], <m = 64, n = 128, k = 16>, D[<f32>, <zero>], A[<f16>, <one>, <row>], B[<f16>, <one>, <col>]
  // CHECK:     arith.addi %[[RHS]], %c65538_i32
  // CHECK:     arith.addi %[[LHS]], %c65538_i32
  // CHECK:     %[[SECOND:.+]] = nvvm.wgmma.mma_async %{{.+}}, %{{.+}}, %[[FIRST]], {{.*}}D[<f32>, <one>
  // CHECK:     arith.addi %[[LHS]], %c65540_i32
  // CHECK:     nvvm.wgmma.mma_async %{{.+}}, %{{.+}}, %[[SECOND]]
  // CHECK:     arith.addi %[[LHS]], %c65542_i32
  // CHECK:     nvvm.wgmma.mma_async
  // CHECK-NOT: nvvm.wgmma.mma_async
  // CHECK:     nvvm.wgmma.commit.group.sync.aligned
  // An MMA that is not asynchronous is waited for at once.
  // CHECK:     wgmma.wait_group 0,
  // Warps that have multiplied have passed all gets before: the first lane releases at once.
  // CHECK-NOT: nvvm.bar.warp.sync
  // CHECK:     %[[LANE:.+]] = arith.remui %thread_id_x, %c32
  // CHECK:     %[[IS0:.+]] = arith.cmpi eq, %[[LANE]], %c0
  // CHECK:     scf.if %[[IS0]] {
  // CHECK:       nvvm.mbarrier.arrive %
  // CHECK:     gpu.return
  gpu.func @shared_by_shared(%out: memref<128x128xf32>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %c = tile.channel : !channel
    %a = tile.get %c[%c0] : !channel -> !shared
    %acc = tile.fill %zero : f32 -> !s
    %d = tile.mma %a, %a, %acc transpose_rhs scope warpgroup : !shared, !shared, !s
    tile.release %c[%c0] : !channel
    tile.store %d, %out[%c0, %c0] : !s, memref<128x128xf32>
    gpu.return
  }

  // The left operand in registers, and the right one as it lies: swizzle atoms of 64 bytes (mode 2) are 1024 bytes apart, groups of
  // eight rows 512. A sum that is there already is read.
  // CHECK-LABEL: gpu.func @registers_by_shared
  // CHECK:     nvvm.wgmma.fence.aligned
  // CHECK:     llvm.insertvalue
  // CHECK:     arith.addi %{{.+}}, %c4194304_i32
  // CHECK:     arith.ori %{{.+}}, %c-9223371899415822336_i64
  // CHECK:     wgmma.mma_async[%{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}], %{{.+}}, %{{.+}}, <m = 64, n = 96, k = 16>, <f16>, D[<one>], B[<row>]
  // CHECK-NOT: wgmma.mma_async
  // CHECK:     nvvm.wgmma.commit.group.sync.aligned
  // CHECK-NOT: wgmma.wait_group
  // CHECK:     arith.addf
  // CHECK:     wgmma.wait_group 0,
  // CHECK:     gpu.return
  gpu.func @registers_by_shared(%x: f16, %y: f32, %out: memref<128x96xf32>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c = tile.channel : !wide_channel
    %v = tile.get %c[%c0] : !wide_channel -> !wide
    %p = tile.fill %x : f16 -> !p
    %acc = tile.fill %y : f32 -> !o
    %pending = tile.mma_async %p, %v, %acc scope warpgroup : !p, !wide, !o
    %z = arith.addf %y, %y : f32
    memref.store %z, %out[%c0, %c0] : memref<128x96xf32>
    %d = tile.wait %pending : !tile.pending<!o>
    tile.store %d, %out[%c0, %c0] : !o, memref<128x96xf32>
    gpu.return
  }

  // Of four products the last two: columns from 32 on, of which the first starts the sum.
  // CHECK-LABEL: gpu.func @last_terms
  // CHECK:     nvvm.wgmma.fence.aligned
  // CHECK-NOT: %c65536_i32
  // CHECK-NOT: %c65538_i32
  // CHECK:     arith.addi %{{.+}}, %c65540_i32
  // CHECK:     nvvm.wgmma.mma_async {{.*}}D[<f32>, <zero>
  // CHECK:     arith.addi %{{.+}}, %c65542_i32
  // CHECK:     nvvm.wgmma.mma_async {{.*}}D[<f32>, <one>
  // CHECK-NOT: nvvm.wgmma.mma_async
  // CHECK:     nvvm.wgmma.commit.group.sync.aligned
  gpu.func @last_terms(%out: memref<128x128xf32>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %c = tile.channel : !channel
    %a = tile.get %c[%c0] : !channel -> !shared
    %acc = tile.fill %zero : f32 -> !s
    %pending = tile.mma_async %a, %a, %acc transpose_rhs scope warpgroup terms [32, 64] : !shared, !shared, !s
    %d = tile.wait %pending : !tile.pending<!s>
    tile.store %d, %out[%c0, %c0] : !s, memref<128x128xf32>
    gpu.return
  }

  // A slot that is freed after a tile has been worked out: the first lane looks at each of its elements for a NaN that
  // no arithmetic gives.
  // CHECK-LABEL: gpu.func @released_after
  // CHECK:     %[[WORDS:.+]] = vector.bitcast %{{.+}} : vector<2xf32> to vector<2xi32>
  // CHECK:     %[[W0:.+]] = vector.extract %[[WORDS]][0]
  // CHECK:     %[[IS0:.+]] = arith.cmpi ne, %[[W0]], %c2143346349_i32
  // CHECK:     %[[W1:.+]] = vector.extract %[[WORDS]][1]
  // CHECK:     %[[IS1:.+]] = arith.cmpi ne, %[[W1]], %c2143346349_i32
  // CHECK:     %[[BOTH:.+]] = arith.andi %[[IS0]], %[[IS1]]
  // CHECK:     %[[ARRIVES:.+]] = arith.andi %{{.+}}, %[[BOTH]]
  // CHECK:     scf.if %[[ARRIVES]]
  // CHECK:       nvvm.mbarrier.arrive
  gpu.func @released_after(%x: f32, %out: memref<128xf32>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %c = tile.channel : !channel
    %a = tile.get %c[%c0] : !channel -> !shared
    %acc = tile.fill %zero : f32 -> !s
    %d = tile.mma %a, %a, %acc transpose_rhs scope warpgroup : !shared, !shared, !s
    %sum = tile.reduce add %d : !s -> !tile.tile<128xf32, registers>
    tile.release %c[%c0] after(%sum : !tile.tile<128xf32, registers>) : !channel
    tile.store %sum, %out[%c0] : !tile.tile<128xf32, registers>, memref<128xf32>
    gpu.return
  }
}
