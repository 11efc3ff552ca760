// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles that lie by threads: runs of 16 bytes of a thread, those of a warp side by side. Integration of both ends is in Simulator/gradients.test.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(attune-attach-target{chip=sm_90a},convert-tile-to-gpu,cse)" | FileCheck %s --check-prefixes=CHECK,FOUR
// RUN: attune-opt %s --pass-pipeline="builtin.module(attune-attach-target{chip=sm_80},convert-tile-to-gpu,cse)" | FileCheck %s --check-prefixes=CHECK,ONE

// A result of two groups, each of which has half of the columns: 32 registers a thread.
#layout = #tile.layout<registers = [[2, 1, 1], [2, 0, 8], [8, 1, 8]], lanes = [[4, 1, 2], [8, 0, 1]], warps = [[4, 0, 16], [2, 1, 64]]>
!tile = !tile.tile<64x128xf32, registers, #layout>
!sums = memref<?x128xf32, strided<[128, 1], offset: ?>>

module attributes {gpu.container_module} {
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @adds
  // CHECK-SAME:    %[[SUMS:[^ ]+]]: memref<?x128xf32, strided<[128, 1], offset: ?>>, %[[ROW:[^ ]+]]: index
  // CHECK:         %[[FLAT:.+]] = memref.collapse_shape %[[SUMS]] {{.}}[0, 1]] : {{.+}} into memref<?xf32, strided<[1], offset: ?>>
  // CHECK-DAG:     %[[OFWARP:.+]] = arith.muli %{{.+}}, %c1024 :
  // CHECK-DAG:     %[[OFLANE:.+]] = arith.muli %{{.+}}, %c4 :
  // CHECK-DAG:     %[[FIRST:.+]] = arith.muli %[[ROW]], %c128 :
  // CHECK:         %[[OFTHREAD:.+]] = arith.addi %[[OFWARP]], %[[OFLANE]]
  // CHECK:         %[[PLACE:.+]] = arith.addi %[[FIRST]], %[[OFTHREAD]]
  // FOUR-COUNT-8:   tile.add_run %{{.+}}, %[[FLAT]][%{{.+}}] : vector<4xf32>
  // FOUR-NOT:       tile.add_run
  // ONE-COUNT-32:  memref.atomic_rmw addf %{{.+}}, %[[FLAT]][%{{.+}}]
  // ONE-NOT:       memref.atomic_rmw
  gpu.func @adds(%sums: !sums, %row: index, %x: f32) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %tile = tile.fill %x : f32 -> !tile
    tile.store %tile, %sums[%row, %c0] accumulate by_threads : !tile, !sums
    gpu.return
  }

  // The second run of a thread is behind the first ones of all lanes.
  // CHECK-LABEL: gpu.func @copies
  // CHECK:         %[[FROM:.+]] = memref.collapse_shape %arg0
  // CHECK:         vector.load %[[FROM]][%[[PLACE:.+]]] {alignment = 16 : i64} : {{.+}}, vector<4xf32>
  // CHECK:         %[[SECOND:.+]] = arith.addi %[[PLACE]], %c128
  // CHECK:         vector.load %[[FROM]][%[[SECOND]]] {alignment = 16 : i64}
  // CHECK-COUNT-6: vector.load %[[FROM]]
  // CHECK:         %[[TO:.+]] = memref.collapse_shape %arg1
  // CHECK-COUNT-8: vector.store %{{.+}}, %[[TO]][%{{.+}}] {alignment = 16 : i64} : {{.+}}, vector<4xf32>
  gpu.func @copies(%from: !sums, %to: !sums, %row: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %tile = tile.load %from[%row, %c0] by_threads : !sums -> !tile
    tile.store %tile, %to[%row, %c0] by_threads : !tile, !sums
    gpu.return
  }
}
}
