// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions for which warps exchange elements, and those that their lanes make.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(gpu.module(gpu.func(tile-convert-in-shared)))" | FileCheck %s

#rows = #tile.layout<registers = [[8, 1, 1]], lanes = [[16, 0, 1]], warps = [[2, 0, 16]]>
#columns = #tile.layout<registers = [[4, 1, 1], [2, 0, 16]], lanes = [[16, 0, 1]], warps = [[2, 1, 4]]>
#one = #tile.layout<registers = [[2, 0, 1]], lanes = [[16, 0, 2]], warps = [[2, 0, 0]]>
#shared = #tile.layout<registers = [[1, 0, 1]], lanes = [[16, 0, 1]], warps = [[2, 0, 16]]>
!rows = !tile.tile<32x8xf16, registers, #rows>
!columns = !tile.tile<32x8xf16, registers, #columns>
!one = !tile.tile<32xf32, registers, #one>
!shared = !tile.tile<32xf32, registers, #shared>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @warps
  gpu.func @warps(%a: !rows, %v: !one) kernel {
    // CHECK-DAG: %[[TILES:.+]] = tile.channel : <32x8xf16, stages = 1>
    // CHECK-DAG: %[[ROWS:.+]] = tile.channel : <1x32xf32, stages = 1>
    // CHECK: tile.put_tile %[[TILES]][%[[E:.+]]], %{{.+}} :
    // CHECK: %[[S:.+]] = tile.get %[[TILES]][%[[E]]]
    // CHECK: %[[B:.+]] = tile.read %[[S]]
    // CHECK-SAME: warps = {{\[\[}}2, 1, 4]]
    // CHECK: tile.release %[[TILES]][%[[E]]]
    %b = tile.convert_layout %a : !rows -> !columns
    // CHECK: tile.put_tile %[[TILES]][%{{.+}}], %[[B]] :
    // CHECK: tile.get %[[TILES]]
    // CHECK: tile.read
    // CHECK: tile.release %[[TILES]]
    %c = tile.convert_layout %b : !columns -> !rows
    // CHECK: tile.put_tile %[[ROWS]][%{{.+}}], %{{.+}} :
    // CHECK: tile.get %[[ROWS]]
    // CHECK: tile.read
    // CHECK: tile.release %[[ROWS]]
    // CHECK-NOT: tile.convert_layout
    %w = tile.convert_layout %v : !one -> !shared
    gpu.return
  }

  // Warps that share columns have whole rows to sum them, and all of them have the sums.
  // CHECK-LABEL: gpu.func @reduce
  // CHECK-SAME: (%[[A:.+]]: !tile.tile
  gpu.func @reduce(%a: !columns) kernel {
    // CHECK: tile.put_tile %{{.+}}[%{{.+}}], %[[A]] :
    // CHECK: %[[R:.+]] = tile.read
    // CHECK-SAME: registers = {{\[\[}}4, 1, 1], [2, 0, 16], [2, 1, 4]], lanes = {{\[\[}}16, 0, 1]], warps = {{\[\[}}2, 0, 0]]
    // CHECK: tile.release
    // CHECK-NEXT: tile.reduce add %[[R]]
    %s = tile.reduce add %a dim 1 : !columns -> !tile.tile<32xf16, registers, #tile.layout<registers = [[2, 0, 16]], lanes = [[16, 0, 1]], warps = [[2, 0, 0]]>>
    // Inside of warps.
    // CHECK: tile.reduce add %[[A]]
    // CHECK-NOT: tile.put_tile
    %t = tile.reduce add %a dim 0 : !columns -> !tile.tile<8xf16, registers, #tile.layout<registers = [[4, 0, 1]], lanes = [[16, 0, 0]], warps = [[2, 0, 4]]>>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @lanes
  gpu.func @lanes(%a: !rows, %t: !tile.tile<4x4xf32, registers>) kernel {
    // CHECK-NOT: tile.channel
    // CHECK: tile.convert_layout
    // CHECK: tile.convert_layout
    %b = tile.convert_layout %a : !rows -> !tile.tile<32x8xf16, registers, #tile.layout<registers = [[2, 1, 4], [4, 1, 1]], lanes = [[16, 0, 1]], warps = [[2, 0, 16]]>>
    %u = tile.convert_layout %t : !tile.tile<4x4xf32, registers> -> !tile.tile<4x4xf32, registers, #tile.layout<registers = [[4, 1, 1]], lanes = [[4, 0, 1]], warps = []>>
    gpu.return
  }
}
