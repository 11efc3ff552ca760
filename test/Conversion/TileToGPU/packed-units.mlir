// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products with bytes that hold two columns, in units: matrices are read as pairs of bytes, and each pair of f16 is a word whose bits are masked and
// turned. Simulator/attention-units.test checks numbers.
//
// DEFINE: %{chip} =
// DEFINE: %{run} = attune-opt %s --pass-pipeline="builtin.module(attune-attach-target{chip=%{chip}},gpu.module(gpu.func(tile-assign-layouts,tile-remove-layout-conversions,tile-allocate-shared)),convert-tile-to-gpu,cse)"
// REDEFINE: %{chip} = sm_80
// RUN: %{run} | FileCheck %s
// REDEFINE: %{chip} = gfx1100
// RUN: %{run} | FileCheck %s --check-prefix=PLAIN

!lhs = !tile.tile<16x64xf16, registers>
!wide = !tile.tile<16x64xbf16, registers>
!f32 = !tile.tile<16x32xf32, registers>
!channel = !tile.channel<32x32xi8, stages = 1>
!shared = !tile.tile<32x32xi8, shared, #tile.swizzle<vector = 16, bits = 1, shift = 2>>

gpu.module @kernels {
  // Two units, of 16 keys each, by an instruction.
  // CHECK-LABEL: gpu.func @scores
  // CHECK-DAG: %[[LOWER:.+]] = arith.constant 983055 : i32
  // CHECK-DAG: %[[LOWER_SIGN:.+]] = arith.constant 524296 : i32
  // CHECK-DAG: %[[UPPER:.+]] = arith.constant 15728880 : i32
  // CHECK-DAG: %[[UPPER_SIGN:.+]] = arith.constant 8388736 : i32
  // CHECK-DAG: %[[BYTE:.+]] = arith.constant 8 : i32
  // CHECK-NOT: nvvm.prmt
  // CHECK: %[[READ:.+]] = nvvm.ldmatrix %{{.+}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<row>, num = 4 : i32
  // CHECK: %[[WORD:.+]] = llvm.extractvalue %[[READ]][0]
  // CHECK-NOT: nvvm.prmt
  // CHECK: %[[EVEN:.+]] = arith.andi %[[WORD]], %[[LOWER]]
  // CHECK: arith.xori %[[EVEN]], %[[LOWER_SIGN]]
  // CHECK: %[[NEXT:.+]] = arith.shrui %[[WORD]], %[[BYTE]]
  // CHECK: %[[ODD:.+]] = arith.andi %[[NEXT]], %[[LOWER]]
  // CHECK: arith.xori %[[ODD]], %[[LOWER_SIGN]]
  // CHECK: %[[EVEN_UPPER:.+]] = arith.andi %[[WORD]], %[[UPPER]]
  // CHECK: arith.xori %[[EVEN_UPPER]], %[[UPPER_SIGN]]
  // CHECK: nvvm.mma.sync
  // CHECK-NOT: arith.sitofp
  // PLAIN-LABEL: gpu.func @scores
  // PLAIN: arith.addi %{{.+}}, %{{.+}} : vector<{{[0-9]+}}xi8>
  // PLAIN: arith.uitofp %{{.+}} : vector<{{[0-9]+}}xi8> to vector<{{[0-9]+}}xf16>
  // PLAIN: arith.mulf
  gpu.func @scores(%qm: memref<16x64xf16>, %out: memref<16x32xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %c = tile.channel : !channel
    %k = tile.get %c[%c0] : !channel -> !shared
    %q = tile.load %qm[%c0, %c0] in_bounds : memref<16x64xf16> -> !lhs
    %acc = tile.fill %zero : f32 -> !f32
    %s = tile.mma %q, %k, %acc transpose_rhs packed_rhs unit_exponents [-24, -20] : !lhs, !shared, !f32
    tile.store %s, %out[%c0, %c0] : !f32, memref<16x32xf32>
    gpu.return
  }

  // Of rows, the transpose has two columns of two rows in a word; bytes that others move for it are not moved.
  // CHECK-LABEL: gpu.func @columns
  // CHECK: %[[READ:.+]] = nvvm.ldmatrix %{{.+}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<col>, num = 4 : i32
  // CHECK-DAG: %[[FIRST:.+]] = llvm.extractvalue %[[READ]][0]
  // CHECK-DAG: %[[SECOND:.+]] = llvm.extractvalue %[[READ]][1]
  // CHECK: arith.andi %[[FIRST]], %{{.+}}
  // CHECK: arith.andi %[[SECOND]], %{{.+}}
  // CHECK: nvvm.mma.sync
  gpu.func @columns(%pm: memref<16x32xf16>, %out: memref<16x64xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %c = tile.channel : !channel
    %v = tile.get %c[%c0] : !channel -> !shared
    %p = tile.load %pm[%c0, %c0] in_bounds : memref<16x32xf16> -> !tile.tile<16x32xf16, registers>
    %acc = tile.fill %zero : f32 -> !tile.tile<16x64xf32, registers>
    %o = tile.mma %p, %v, %acc packed_rhs unit_exponents [-24, -20]
      : !tile.tile<16x32xf16, registers>, !shared, !tile.tile<16x64xf32, registers>
    tile.store %o, %out[%c0, %c0] : !tile.tile<16x64xf32, registers>, memref<16x64xf32>
    gpu.return
  }

  // Other units, and other types, are none that bits stand for.
  // CHECK-LABEL: gpu.func @other
  // CHECK: arith.uitofp %{{.+}} : vector<8xi8> to vector<8xf16>
  // CHECK: arith.uitofp %{{.+}} : vector<8xi8> to vector<8xbf16>
  gpu.func @other(%qm: memref<16x64xf16>, %bm: memref<16x64xbf16>, %out: memref<16x32xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %c = tile.channel : !channel
    %k = tile.get %c[%c0] : !channel -> !shared
    %q = tile.load %qm[%c0, %c0] in_bounds : memref<16x64xf16> -> !lhs
    %b = tile.load %bm[%c0, %c0] in_bounds : memref<16x64xbf16> -> !wide
    %acc = tile.fill %zero : f32 -> !f32
    %s = tile.mma %q, %k, %acc transpose_rhs packed_rhs unit_exponents [0, 0] : !lhs, !shared, !f32
    %t = tile.mma %b, %k, %s transpose_rhs packed_rhs unit_exponents [-24, -20] : !wide, !shared, !f32
    tile.store %t, %out[%c0, %c0] : !f32, memref<16x32xf32>
    gpu.return
  }
}
