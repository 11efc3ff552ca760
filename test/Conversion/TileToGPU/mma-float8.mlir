// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrix instructions of floats of 8 bits: those of OCP, of which both operands have any, and those of CDNA3.
//
// DEFINE: %{chip} =
// DEFINE: %{run} = attune-opt - --pass-pipeline="builtin.module(attune-attach-target{chip=%{chip}},gpu.module(gpu.func(tile-assign-layouts,tile-remove-layout-conversions,tile-allocate-shared)),convert-tile-to-gpu,cse)"
// REDEFINE: %{chip} = sm_89
// RUN: cat %s | %{run} | FileCheck %s --check-prefix=MMASYNC
// REDEFINE: %{chip} = gfx950
// RUN: cat %s | %{run} | FileCheck %s --check-prefix=OCP
// REDEFINE: %{chip} = gfx942
// RUN: sed "s/xf8E4M3FN/xf8E4M3FNUZ/g; s/xf8E5M2/xf8E5M2FNUZ/g" %s | %{run} | FileCheck %s --check-prefix=FNUZ
// REDEFINE: %{chip} = gfx1200
// RUN: cat %s | %{run} | FileCheck %s --check-prefix=WMMA

!lhs = !tile.tile<32x32xf8E4M3FN, registers>
!f32 = !tile.tile<32x32xf32, registers>
!shared = !tile.tile<32x32xf8E5M2, shared, #tile.swizzle<vector = 16, bits = 1, shift = 2>>

gpu.module @kernels {
  // MMASYNC-LABEL: gpu.func @scores
  // MMASYNC: vector.load {{.*}}#gpu.address_space<workgroup>>, vector<4xf8E5M2>
  // MMASYNC: vector.bitcast %{{.+}} : vector<16xf8E4M3FN> to vector<4xi32>
  // MMASYNC: vector.bitcast %{{.+}} : vector<8xf8E5M2> to vector<2xi32>
  // MMASYNC: llvm.call_intrinsic "llvm.nvvm.mma.m16n8k32.row.col.f32.e4m3.e5m2.f32"
  // MMASYNC-NOT: arith.extf
  // OCP-LABEL: gpu.func @scores
  // OCP: amdgpu.mfma 32x32x16 {{.*}} : vector<8xf8E5M2>, vector<8xf8E4M3FN>, vector<16xf32>
  // OCP-NOT: arith.extf
  // FNUZ-LABEL: gpu.func @scores
  // FNUZ-COUNT-2: amdgpu.mfma 32x32x16 {{.*}} : vector<8xf8E5M2FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
  // FNUZ-NOT: amdgpu.mfma
  // WMMA-LABEL: gpu.func @scores
  // WMMA: amdgpu.wmma 16x16x16 {{.*}} : vector<8xf8E5M2>, vector<8xf8E4M3FN>, vector<8xf32>
  gpu.func @scores(%qm: memref<32x32xf8E4M3FN>, %out: memref<32x32xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %c = tile.channel : !tile.channel<32x32xf8E5M2, stages = 1>
    %s = tile.get %c[%c0] : !tile.channel<32x32xf8E5M2, stages = 1> -> !shared
    %q = tile.load %qm[%c0, %c0] in_bounds : memref<32x32xf8E4M3FN> -> !lhs
    %acc = tile.fill %zero : f32 -> !f32
    %d = tile.mma %q, %s, %acc transpose_rhs : !lhs, !shared, !f32
    tile.store %d, %out[%c0, %c0] : !f32, memref<32x32xf32>
    gpu.return
  }
}
