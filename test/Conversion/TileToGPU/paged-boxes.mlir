// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The copy engine fetches a TMA box for each page, or a TMA box of a page. Integration/paged.mlir checks numbers.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(attune-attach-target{chip=sm_90a},gpu.module(gpu.func(tile-allocate-shared)),convert-tile-to-gpu,cse)" | FileCheck %s

!channel = !tile.channel<32x64xf16, stages = 2, swizzle_atom = 64>
!view = memref<?x64xf16>

module attributes {gpu.container_module} {
gpu.module @kernels {
  // Two TMA boxes of 16 rows, the second one 16 rows of the swizzle atom behind the first one.
  // Where the table has all rows, its entries are read in front of the wait for the slot, and none is looked at.
  // CHECK-LABEL: gpu.func @pages
  // CHECK-SAME:    %[[TABLE:[^ ]+]]: memref<?xi32>
  // CHECK-SAME:    tensor = memref<16x64xf16
  // CHECK:         %[[ROW:.+]] = arith.muli %{{.+}}, %c32
  // CHECK:         %[[AFTER:.+]] = arith.addi %[[ROW]], %c32
  // CHECK:         %[[ENTRIES:.+]] = memref.dim %[[TABLE]], %c0
  // CHECK:         %[[ROWS:.+]] = arith.muli %[[ENTRIES]], %c16
  // CHECK:         %[[ARE_THERE:.+]] = arith.cmpi sle, %[[AFTER]], %[[ROWS]]
  // CHECK:         scf.if %[[ARE_THERE]] {
  // CHECK:         %[[NUMBER:.+]] = arith.divui %[[ROW]], %c16
  // CHECK:         memref.load %[[TABLE]][%[[NUMBER]]]
  // CHECK:         %[[NEXT:.+]] = arith.addi %[[NUMBER]], %c1
  // CHECK:         memref.load %[[TABLE]][%[[NEXT]]]
  // CHECK-NOT:     memref.load
  // CHECK:         nvvm.mbarrier.try_wait
  // CHECK-NOT:     arith.select
  // CHECK-COUNT-2: nvvm.cp.async.bulk.tensor
  // CHECK-NOT:     nvvm.cp.async.bulk
  // CHECK:         } else {
  // CHECK:         nvvm.mbarrier.arrive.expect_tx %[[FULL:[^ ]+]], %c4096_i32
  // CHECK:         %[[FIRST:.+]] = arith.select %{{.+}}, %{{.+}}, %c1073741823
  // CHECK:         %[[FIRST32:.+]] = arith.index_cast %[[FIRST]]
  // CHECK:         nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.+}}, %{{.+}}, %[[FULL]], box[%c0_i32, %[[FIRST32]]]
  // CHECK:         arith.addi %{{.+}}, %c16
  // CHECK:         %[[SECOND:.+]] = arith.select %{{.+}}, %{{.+}}, %c1073741823
  // CHECK:         %[[SECOND32:.+]] = arith.index_cast %[[SECOND]]
  // CHECK:         arith.addi %{{.+}}, %c2048
  // CHECK:         nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.+}}, %{{.+}}, %[[FULL]], box[%c0_i32, %[[SECOND32]]]
  // CHECK-NOT:     nvvm.cp.async.bulk
  gpu.func @pages(%pool: !view, %table: memref<?xi32>, %block: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %row = arith.muli %block, %c32 : index
    %paged = tile.paged %pool by %table pages of 16 : !view, memref<?xi32>
    %channel = tile.channel : !channel
    tile.put %channel[%c0], %paged[%row, %c0] : !channel, !view
    gpu.return
  }

  // CHECK-LABEL: gpu.func @part_of_a_page
  // CHECK-SAME:    tensor = memref<32x64xf16
  // CHECK:         %[[IN_PAGE:.+]] = arith.remui %{{.+}}, %c64
  // CHECK:         arith.addi %{{.+}}, %[[IN_PAGE]]
  // CHECK:         nvvm.cp.async.bulk.tensor
  // CHECK:         } else {
  // CHECK:         memref.load %{{.+}} : memref<?xi32>
  // CHECK:         nvvm.cp.async.bulk.tensor
  // CHECK-NOT:     nvvm.cp.async.bulk.tensor
  gpu.func @part_of_a_page(%pool: !view, %table: memref<?xi32>, %block: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %row = arith.muli %block, %c32 : index
    %paged = tile.paged %pool by %table pages of 64 : !view, memref<?xi32>
    %channel = tile.channel : !channel
    tile.put %channel[%c0], %paged[%row, %c0] : !channel, !view
    gpu.return
  }

  // The number of a page is a coordinate. The box of the last row ends with it: it starts earlier, perhaps before the page.
  // CHECK-LABEL: gpu.func @pages_of_their_own
  // CHECK-SAME:    %[[POOL:[^ ]+]]: memref<9x16x64xf16>, %[[TABLE:[^ ]+]]: memref<?xi32>, %{{[^ ]+}}: index, %[[ROWS:[^ ]+]]: index
  // CHECK-SAME:    tensor = memref<1x16x64xf16
  // CHECK:         %[[ROW:.+]] = arith.muli %{{.+}}, %c32
  // CHECK:         %[[BEHIND:.+]] = arith.addi %[[ROW]], %c32
  // CHECK:         %[[ARE_THERE:.+]] = arith.cmpi sle, %[[BEHIND]], %[[ROWS]]
  // CHECK:         scf.if %[[ARE_THERE]] {
  // CHECK:         %[[ENTRY:.+]] = memref.load %[[TABLE]]
  // CHECK:         %[[FIRST:.+]] = arith.index_cast %[[ENTRY]]
  // CHECK:         %[[FIRST32:.+]] = arith.index_cast %[[FIRST]]
  // CHECK:         nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.+}}, box[%c0_i32, %c0_i32, %[[FIRST32]]]
  // CHECK:         } else {
  // CHECK-DAG:     %[[UNITS:.+]] = arith.ceildivui %[[ROWS]], %c16
  // CHECK-DAG:     %[[AFTER:.+]] = arith.muli %[[UNITS]], %c16
  // CHECK-DAG:     %[[IN_PAGE:.+]] = arith.remui %[[ROW]], %c16
  // CHECK-DAG:     %[[EXISTS:.+]] = arith.cmpi slt, %[[ROW]], %[[AFTER]]
  // CHECK-DAG:     %[[LAST:.+]] = arith.subi %[[AFTER]], %c16
  // CHECK-DAG:     %[[MISSING:.+]] = arith.subi %[[AFTER]], %[[ROWS]]
  // CHECK-DAG:     %[[IS_LAST:.+]] = arith.cmpi sge, %[[ROW]], %[[LAST]]
  // CHECK:         %[[BACK:.+]] = arith.select %[[IS_LAST]], %[[MISSING]], %c0
  // CHECK:         %[[START:.+]] = arith.subi %[[IN_PAGE]], %[[BACK]]
  // CHECK:         scf.if %[[EXISTS]]
  // CHECK:           memref.load %[[TABLE]]
  // CHECK:         %[[PAGE:.+]] = arith.select %{{.+}}, %{{.+}}, %c1073741823
  // CHECK-DAG:     %[[START32:.+]] = arith.index_cast %[[START]]
  // CHECK-DAG:     %[[PAGE32:.+]] = arith.index_cast %[[PAGE]]
  // CHECK:         nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.+}}, box[%c0_i32, %[[START32]], %[[PAGE32]]]
  gpu.func @pages_of_their_own(%pool: memref<9x16x64xf16>, %table: memref<?xi32>, %block: index, %rows: index) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %row = arith.muli %block, %c32 : index
    %paged = tile.paged %pool by %table rows %rows units of 16 : memref<9x16x64xf16>, memref<?xi32>
    %channel = tile.channel : !channel
    tile.put %channel[%c0], %paged[%row, %c0] : !channel, memref<?x64xf16>
    gpu.return
  }
}
}
