// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads of operands and matrix instructions on each family.
//
// RUN: attune-opt %s \
// RUN:   --pass-pipeline="builtin.module(attune-attach-target{chip=sm_80},gpu.module(gpu.func(tile-assign-layouts,tile-remove-layout-conversions,tile-allocate-shared)),convert-tile-to-gpu,cse)" \
// RUN:   | FileCheck %s --check-prefixes=CHECK,AMPERE
// RUN: attune-opt %s \
// RUN:   --pass-pipeline="builtin.module(attune-attach-target{chip=gfx942},gpu.module(gpu.func(tile-assign-layouts,tile-remove-layout-conversions,tile-allocate-shared)),convert-tile-to-gpu,cse)" \
// RUN:   | FileCheck %s --check-prefixes=CHECK,CDNA
// RUN: attune-opt %s \
// RUN:   --pass-pipeline="builtin.module(attune-attach-target{chip=gfx1100},gpu.module(gpu.func(tile-assign-layouts,tile-remove-layout-conversions,tile-allocate-shared)),convert-tile-to-gpu,cse)" \
// RUN:   | FileCheck %s --check-prefixes=CHECK,RDNA

#swizzle = #tile.swizzle<vector = 8, bits = 2, shift = 1>
#wide = #tile.swizzle<vector = 16, bits = 1, shift = 2>
!channel = !tile.channel<32x32xf16, stages = 1>
!shared = !tile.tile<32x32xf16, shared, #swizzle>
!f16 = !tile.tile<32x32xf16, registers>
!f32 = !tile.tile<32x32xf32, registers>

gpu.module @kernels {
  // Keys are stored with the depth along a row: the right-hand side of a
  // transposed MMA is read as it lies.
  // CHECK-LABEL: gpu.func @transposed
  gpu.func @transposed(%qm: memref<32x32xf16>, %out: memref<32x32xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    // AMPERE: nvgpu.ldmatrix {{.*}}numTiles = 4 : i32, transpose = false{{.*}} -> vector<4x2xf16>
    // AMPERE-NOT: transpose = true
    // AMPERE: nvvm.mma.sync
    // CDNA: vector.load {{.*}} vector<8xf16>
    // CDNA-COUNT-2: amdgpu.mfma 32x32x8
    // RDNA: vector.load {{.*}} vector<8xf16>
    // RDNA: amdgpu.wmma 16x16x16
    // CHECK: gpu.return
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %c = tile.channel : !channel
    %s = tile.get %c[%c0] : !channel -> !shared
    %q = tile.load %qm[%c0, %c0] in_bounds : memref<32x32xf16> -> !f16
    %acc = tile.fill %zero : f32 -> !f32
    %d = tile.mma %q, %s, %acc transpose_rhs : !f16, !shared, !f32
    tile.store %d, %out[%c0, %c0] : !f32, memref<32x32xf32>
    gpu.return
  }

  // Values are stored with the columns along a row.
  // CHECK-LABEL: gpu.func @plain
  gpu.func @plain(%qm: memref<32x32xf16>, %out: memref<32x32xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    // AMPERE: nvgpu.ldmatrix {{.*}}numTiles = 4 : i32, transpose = true
    // AMPERE-NOT: transpose = false
    // CDNA: memref.load {{.*}} memref<1024xf16, {{.*}}workgroup>
    // CDNA: amdgpu.mfma
    // RDNA: memref.load {{.*}} memref<1024xf16, {{.*}}workgroup>
    // RDNA: amdgpu.wmma
    // CHECK: gpu.return
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %c = tile.channel : !channel
    %s = tile.get %c[%c0] : !channel -> !shared
    %q = tile.load %qm[%c0, %c0] in_bounds : memref<32x32xf16> -> !f16
    %acc = tile.fill %zero : f32 -> !f32
    %d = tile.mma %q, %s, %acc : !f16, !shared, !f32
    tile.store %d, %out[%c0, %c0] : !f32, memref<32x32xf32>
    gpu.return
  }

  // Floats of fewer bits are widened once they are read, a step at a time.
  // CHECK-LABEL: gpu.func @widened
  gpu.func @widened(%qm: memref<32x32xf16>, %out: memref<32x32xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    // AMPERE: nvvm.ldmatrix {{.*}}layout = #nvvm.mma_layout<row>, num = 4
    // CDNA: vector.load {{.*}}#gpu.address_space<workgroup>>, vector<{{[0-9]+}}xf8E4M3FN>
    // RDNA: vector.load {{.*}}#gpu.address_space<workgroup>>, vector<{{[0-9]+}}xf8E4M3FN>
    // CHECK: arith.extf %{{.+}} : vector<[[COUNT:[0-9]+]]xf8E4M3FN> to vector<[[COUNT]]xf16>
    // AMPERE: nvvm.mma.sync
    // CDNA: amdgpu.mfma 32x32x8
    // RDNA: amdgpu.wmma 16x16x16
    // CHECK: arith.extf %{{.+}} : vector<[[COUNT]]xf8E4M3FN> to vector<[[COUNT]]xf16>
    // CHECK: gpu.return
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %c = tile.channel : !tile.channel<32x32xf8E4M3FN, stages = 1>
    %s = tile.get %c[%c0] : !tile.channel<32x32xf8E4M3FN, stages = 1> -> !tile.tile<32x32xf8E4M3FN, shared, #wide>
    %q = tile.load %qm[%c0, %c0] in_bounds : memref<32x32xf16> -> !f16
    %acc = tile.fill %zero : f32 -> !f32
    %d = tile.mma %q, %s, %acc transpose_rhs : !f16, !tile.tile<32x32xf8E4M3FN, shared, #wide>, !f32
    tile.store %d, %out[%c0, %c0] : !f32, memref<32x32xf32>
    gpu.return
  }

  // So are those that are in registers.
  // CHECK-LABEL: gpu.func @widened_registers
  gpu.func @widened_registers(%qm: memref<32x32xf8E5M2>, %km: memref<32x32xf16>, %out: memref<32x32xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    // CHECK: arith.extf %{{.+}} : vector<{{[0-9]+}}xf8E5M2> to vector<{{[0-9]+}}xf16>
    // CHECK: gpu.return
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %q = tile.load %qm[%c0, %c0] in_bounds : memref<32x32xf8E5M2> -> !tile.tile<32x32xf8E5M2, registers>
    %k = tile.load %km[%c0, %c0] in_bounds : memref<32x32xf16> -> !f16
    %acc = tile.fill %zero : f32 -> !f32
    %d = tile.mma %q, %k, %acc : !tile.tile<32x32xf8E5M2, registers>, !f16, !f32
    tile.store %d, %out[%c0, %c0] : !f32, memref<32x32xf32>
    gpu.return
  }

  // A left-hand side from shared memory, and nothing else: a warp reads its rows.
  // CHECK-LABEL: gpu.func @lhs_in_shared
  gpu.func @lhs_in_shared(%km: memref<32x32xf16>, %out: memref<32x32xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    // AMPERE-COUNT-2: nvgpu.ldmatrix {{.*}}numTiles = 4 : i32, transpose = false{{.*}} -> vector<4x2xf16>
    // AMPERE-NOT: nvgpu.ldmatrix
    // CDNA-COUNT-2: vector.load {{.*}}#gpu.address_space<workgroup>>, vector<8xf16>
    // RDNA-COUNT-4: vector.load {{.*}}#gpu.address_space<workgroup>>, vector<8xf16>
    // CHECK: gpu.return
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %c = tile.channel : !channel
    %s = tile.get %c[%c0] : !channel -> !shared
    %k = tile.load %km[%c0, %c0] in_bounds : memref<32x32xf16> -> !f16
    %acc = tile.fill %zero : f32 -> !f32
    %d = tile.mma %s, %k, %acc : !shared, !f16, !f32
    tile.store %d, %out[%c0, %c0] : !f32, memref<32x32xf32>
    gpu.return
  }

  // Softmax weights become the left-hand side of the next MMA: in the same
  // lanes on Ampere and CDNA, by what two lanes send each other on RDNA.
  // CHECK-LABEL: gpu.func @chained
  gpu.func @chained(%qm: memref<32x32xf16>, %out: memref<32x32xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    // CHECK: arith.truncf
    // AMPERE-NOT: gpu.shuffle {{ *}}idx
    // CDNA-NOT: gpu.shuffle
    // RDNA-COUNT-8: rocdl.permlane16.swap
    // RDNA-NOT: gpu.shuffle
    // CHECK: gpu.return
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %c = tile.channel : !channel
    %s = tile.get %c[%c0] : !channel -> !shared
    %q = tile.load %qm[%c0, %c0] in_bounds : memref<32x32xf16> -> !f16
    %acc = tile.fill %zero : f32 -> !f32
    %d = tile.mma %q, %s, %acc transpose_rhs : !f16, !shared, !f32
    %p = tile.map(%d) {
    ^bb0(%x: f32, %i: index, %j: index):
      %y = arith.truncf %x : f32 to f16
      tile.yield %y : f16
    } : (!f32) -> !f16
    %e = tile.mma %p, %s, %acc : !f16, !shared, !f32
    tile.store %e, %out[%c0, %c0] : !f32, memref<32x32xf32>
    gpu.return
  }
}
