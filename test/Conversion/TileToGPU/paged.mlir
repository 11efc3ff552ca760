// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows that a table finds: one read of the table for each row of a thread, for rows that one page is known to have, or for
// each TMA box of the copy engine.
// Integration/paged.mlir checks numbers.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(attune-attach-target{chip=sm_80},gpu.module(gpu.func(tile-allocate-shared)),convert-tile-to-gpu,cse)" \
// RUN:   | FileCheck %s

#layout = #tile.layout<registers = [[4, 1, 1]], lanes = [[32, 0, 1]], warps = []>
!tile = !tile.tile<32x4xf32, registers, #layout>
!channel = !tile.channel<16x64xf16, stages = 2>
!keys = memref<?x64xf16>
!pages = memref<?x8x64xf16>
!view = memref<?x4xf32>

module attributes {gpu.container_module} {
gpu.module @kernels {
  // A thread has one row, and so one place for its four elements. A row without an entry, and one that is no row of the
  // buffer, has a number behind the last one.
  // CHECK-LABEL: gpu.func @load
  // CHECK-SAME:    %[[POOL:[^ ]+]]: memref<?x4xf32>, %[[TABLE:[^ ]+]]: memref<?xi64>, %[[FIRST:[^ ]+]]: index
  // CHECK:         %[[ROW:.+]] = arith.addi %[[FIRST]], %{{.+}} : index
  // CHECK-DAG:     %[[ROWS:.+]] = memref.dim %[[POOL]], %{{.+}}
  // CHECK-DAG:     %[[NUMBER:.+]] = arith.divui %[[ROW]], %c8
  // CHECK-DAG:     %[[ENTRIES:.+]] = memref.dim %[[TABLE]], %{{.+}}
  // CHECK:         %[[IS_ENTRY:.+]] = arith.cmpi ult, %[[NUMBER]], %[[ENTRIES]]
  // CHECK:         %[[ENTRY:.+]] = scf.if %[[IS_ENTRY]]
  // CHECK:           memref.load %[[TABLE]][%[[NUMBER]]]
  // CHECK:           scf.yield %c-1
  // CHECK-DAG:     %[[START:.+]] = arith.muli %[[ENTRY]], %c8
  // CHECK-DAG:     %[[REST:.+]] = arith.remui %[[ROW]], %c8
  // CHECK:         %[[PLACE:.+]] = arith.addi %[[START]], %[[REST]]
  // CHECK:         %[[IS_ROW:.+]] = arith.cmpi ult, %[[PLACE]], %[[ROWS]]
  // CHECK:         %[[AT:.+]] = arith.select %[[IS_ROW]], %[[PLACE]], %[[ROWS]]
  // CHECK:         %[[INSIDE:.+]] = arith.cmpi slt, %[[AT]], %[[ROWS]]
  // CHECK:         scf.if %[[INSIDE]]
  // CHECK:           vector.load %[[POOL]][%[[AT]], %{{.+}}] {{.*}} : memref<?x4xf32>, vector<4xf32>
  // CHECK-NOT:     memref.load %[[TABLE]]
  // CHECK:         gpu.return
  gpu.func @load(%pool: !view, %table: memref<?xi64>, %first: index, %out: memref<32x4xf32>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %paged = tile.paged %pool by %table pages of 8 : !view, memref<?xi64>
    %tile = tile.load %paged[%first, %c0] : !view -> !tile
    tile.store %tile, %out[%c0, %c0] : !tile, memref<32x4xf32>
    gpu.return
  }

  // What is promised to be inside is not asked. Pages of one row need no division.
  // CHECK-LABEL: gpu.func @in_bounds
  // CHECK-SAME:    %[[POOL:[^ ]+]]: memref<?x4xf32>, %[[TABLE:[^ ]+]]: memref<?xi32>, %[[FIRST:[^ ]+]]: index
  // CHECK:         %[[ROW:.+]] = arith.addi %[[FIRST]], %{{.+}} : index
  // CHECK-NOT:     scf.if
  // CHECK:         %[[ENTRY:.+]] = memref.load %[[TABLE]][%[[ROW]]]
  // CHECK:         %[[PLACE:.+]] = arith.index_cast %[[ENTRY]]
  // CHECK:         vector.load %[[POOL]][%[[PLACE]], %{{.+}}]
  gpu.func @in_bounds(%pool: !view, %table: memref<?xi32>, %first: index, %out: memref<32x4xf32>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %paged = tile.paged %pool by %table : !view, memref<?xi32>
    %tile = tile.load %paged[%first, %c0] in_bounds : !view -> !tile
    tile.store %tile, %out[%c0, %c0] : !tile, memref<32x4xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @scatter
  // CHECK-SAME:    %[[TABLE:[^ ]+]]: memref<?xi32>
  // CHECK:         %[[ENTRY:.+]] = scf.if
  // CHECK:           memref.load %[[TABLE]]
  // CHECK:         %[[AT:.+]] = arith.select
  // CHECK:         scf.if
  // CHECK:           memref.atomic_rmw addf %{{.+}}, %{{.+}}[%[[AT]], %{{.+}}] : (f32, memref<?x4xf32>)
  gpu.func @scatter(%table: memref<?xi32>, %pool: !view, %in: memref<32x4xf32>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %paged = tile.paged %pool by %table pages of 8 : !view, memref<?xi32>
    %tile = tile.load %in[%c0, %c0] : memref<32x4xf32> -> !tile
    tile.store %tile, %paged[%c0, %c0] accumulate : !tile, !view
    gpu.return
  }

  // Four rows for each thread: a read of the table and a copy of a piece.
  // CHECK-LABEL: gpu.func @copies
  // CHECK-COUNT-4: memref.load {{.*}} : memref<?xi32>
  // CHECK-NOT:     memref.load
  gpu.func @copies(%pool: !keys, %table: memref<?xi32>, %row: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %paged = tile.paged %pool by %table pages of 4 : !keys, memref<?xi32>
    %channel = tile.channel : !channel
    tile.put %channel[%c0], %paged[%row, %c0] : !channel, !keys
    gpu.return
  }

  // CHECK-LABEL: gpu.func @copied_places
  // CHECK:         %[[ENTRY:.+]] = scf.if
  // CHECK:         %[[AT:.+]] = arith.select
  // CHECK:         %[[INSIDE:.+]] = arith.cmpi slt, %[[AT]]
  // CHECK:         %[[COUNT:.+]] = arith.select %[[INSIDE]], %c8, %c0
  // CHECK:         nvgpu.device_async_copy %{{.+}}[%[[AT]], %{{.+}}], %{{.+}}, 8, %[[COUNT]]
  gpu.func @copied_places(%pool: !keys, %table: memref<?xi32>, %row: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %paged = tile.paged %pool by %table pages of 4 : !keys, memref<?xi32>
    %channel = tile.channel : !channel
    tile.put %channel[%c0], %paged[%row, %c0] : !channel, !keys
    gpu.return
  }

  // Threads copy four rows at a time. Two pages have a tile that starts where one does: two reads of the table, each of
  // which tells how many of the next eight rows there are.
  // CHECK-LABEL: gpu.func @copied_pages
  // CHECK-SAME:    %[[POOL:[^ ]+]]: memref<?x8x64xf16>, %[[TABLE:[^ ]+]]: memref<?xi32>, %[[ROWS:[^ ]+]]: index
  // CHECK:         %[[FIRST:.+]] = arith.muli
  // CHECK:         %[[NUMBER:.+]] = arith.divui %[[FIRST]], %c8
  // CHECK:         %[[EXISTS:.+]] = arith.cmpi slt, %[[FIRST]], %[[ROWS]]
  // CHECK:         %[[LEFT:.+]] = arith.subi %[[ROWS]], %[[FIRST]]
  // CHECK:         %[[OF_EIGHT:.+]] = arith.minsi %c8, %[[LEFT]]
  // CHECK:         %[[PAGE:.+]] = scf.if %[[EXISTS]]
  // CHECK:           memref.load %[[TABLE]][%[[NUMBER]]]
  // CHECK:           scf.yield %c-1
  // CHECK:         %[[PAGES:.+]] = memref.dim %[[POOL]], %c0
  // CHECK:         %[[IS_PAGE:.+]] = arith.cmpi ult, %[[PAGE]], %[[PAGES]]
  // CHECK:         %[[THERE:.+]] = arith.select %[[IS_PAGE]], %[[OF_EIGHT]], %c0
  // CHECK:         %[[COUNT:.+]] = arith.index_cast %[[THERE]] : index to i32
  // CHECK:         %[[IS_THERE:.+]] = arith.cmpi slt, %{{.+}}, %[[COUNT]] : i32
  // CHECK:         %[[ELEMENTS:.+]] = arith.select %[[IS_THERE]], %c8, %c0
  // CHECK:         nvgpu.device_async_copy %[[POOL]][%[[PAGE]], %{{.+}}, %{{.+}}], %{{.+}}, 8, %[[ELEMENTS]]
  // CHECK-NOT:     memref.load
  // CHECK:         nvgpu.device_async_copy %[[POOL]][%[[PAGE]], %{{.+}}, %{{.+}}]
  // CHECK:         arith.addi %[[FIRST]], %c8
  // CHECK:         %[[SECOND:.+]] = scf.if
  // CHECK:           memref.load %[[TABLE]]
  // CHECK-NOT:     memref.load
  // CHECK-COUNT-2: nvgpu.device_async_copy %[[POOL]][%[[SECOND]], %{{.+}}, %{{.+}}]
  // CHECK-NOT:     nvgpu.device_async_copy
  // CHECK:         gpu.return
  gpu.func @copied_pages(%pool: !pages, %table: memref<?xi32>, %rows: index, %number: index) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %first = arith.muli %number, %c16 : index
    %paged = tile.paged %pool by %table rows %rows : !pages, memref<?xi32>
    %channel = tile.channel : !channel
    tile.put %channel[%c0], %paged[%first, %c0] : !channel, !keys
    gpu.return
  }

  // Without a number of rows the table has to have the page.
  // CHECK-LABEL: gpu.func @copied_entries
  // CHECK-SAME:    %[[POOL:[^ ]+]]: memref<?x8x64xf16>, %[[TABLE:[^ ]+]]: memref<?xi32>
  // CHECK:         %[[ENTRIES:.+]] = memref.dim %[[TABLE]], %c0
  // CHECK:         %[[IS_ENTRY:.+]] = arith.cmpi ult, %c0, %[[ENTRIES]]
  // CHECK:         %[[PAGE:.+]] = scf.if %[[IS_ENTRY]]
  // CHECK:         %[[IS_PAGE:.+]] = arith.cmpi ult, %[[PAGE]]
  // CHECK:         arith.select %[[IS_PAGE]], %c8, %c0
  gpu.func @copied_entries(%pool: !pages, %table: memref<?xi32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %paged = tile.paged %pool by %table : !pages, memref<?xi32>
    %channel = tile.channel : !channel
    tile.put %channel[%c0], %paged[%c0, %c0] : !channel, !keys
    gpu.return
  }

  // CHECK-LABEL: gpu.func @copied_in_bounds
  // CHECK-NOT:     arith.cmpi
  // CHECK:         memref.load
  // CHECK-NOT:     arith.cmpi
  // CHECK:         memref.load
  // CHECK-NOT:     {{memref.load|arith.cmpi}}
  // CHECK:         gpu.return
  gpu.func @copied_in_bounds(%pool: !pages, %table: memref<?xi32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %paged = tile.paged %pool by %table : !pages, memref<?xi32>
    %channel = tile.channel : !channel
    tile.put %channel[%c0], %paged[%c0, %c0] in_bounds : !channel, !keys
    gpu.return
  }

  // A tile that starts anywhere has rows of pages that nobody knows: each is found for itself.
  // CHECK-LABEL: gpu.func @copied_from_anywhere
  // CHECK-COUNT-4: memref.load {{.*}} : memref<?xi32>
  // CHECK-NOT:     memref.load
  // CHECK:         gpu.return
  gpu.func @copied_from_anywhere(%pool: !pages, %table: memref<?xi32>, %row: index) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %paged = tile.paged %pool by %table : !pages, memref<?xi32>
    %channel = tile.channel : !channel
    tile.put %channel[%c0], %paged[%row, %c0] : !channel, !keys
    gpu.return
  }
}
}
