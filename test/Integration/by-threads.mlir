// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tile that is stored, added and read again by threads, and then stored by rows.
//
// DEFINE: %{chip} =
// DEFINE: %{run} = attune-opt %s --attune-attach-target=chip=%{chip} --tile-to-gpu-pipeline --gpu-to-llvm-pipeline --emit-bytecode \
// DEFINE:   | attune-run - --device=host --print | FileCheck %s
// REDEFINE: %{chip} = sm_80
// RUN: %{run}
// REDEFINE: %{chip} = sm_90a
// RUN: %{run}
// REDEFINE: %{chip} = gfx1100
// RUN: %{run}
//
// The meaning of the tile ops alone.
// RUN: attune-opt %s --attune-attach-target=chip=sm_80 --convert-tile-to-loops --gpu-to-llvm-pipeline --emit-bytecode \
// RUN:   | attune-run - --device=host --print | FileCheck %s
//
// Each lane has two rows of two columns in a run.
// CHECK: result 0: 32x16xf32
// CHECK-NEXT: {{^}}0 2 256 258 4 6 260 262 8 10 264 266 12 14 268 270{{$}}
// CHECK-NEXT: {{^}}32 34 288 290 36 38 292 294 40 42 296 298 44 46 300 302{{$}}
// CHECK-COUNT-6: {{^[0-9]}}
// CHECK: {{^}}16 18 272 274 20 22 276 278 24 26 280 282 28 30 284 286{{$}}
// CHECK: {{^}}0 2 4 6 8 10 12 14 16 18 20 22 24 26 28 30{{$}}
// CHECK-NEXT: {{^}}32 34 36 38 40 42 44 46 48 50 52 54 56 58 60 62{{$}}

!out = memref<32x16xf32>
!half = memref<16x16xf32, strided<[16, 1], offset: ?>>
!tile = !tile.tile<16x16xf32, registers, #tile.layout<registers = [[2, 1, 1], [2, 0, 8], [2, 1, 8]], lanes = [[4, 1, 2], [8, 0, 1]], warps = []>>

module attributes {gpu.container_module} {

gpu.module @kernels {
  gpu.func @by_threads(%out: !out) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %x = tile.map() {
    ^bb0(%i: index, %j: index):
      %row = arith.muli %i, %c16 : index
      %place = arith.addi %row, %j : index
      %n = arith.index_cast %place : index to i32
      %f = arith.sitofp %n : i32 to f32
      tile.yield %f : f32
    } : () -> !tile
    %first = memref.subview %out[%c0, 0] [16, 16] [1, 1] : !out to !half
    %second = memref.subview %out[%c16, 0] [16, 16] [1, 1] : !out to !half
    tile.store %x, %first[%c0, %c0] by_threads : !tile, !half
    tile.store %x, %first[%c0, %c0] accumulate by_threads : !tile, !half
    %y = tile.load %first[%c0, %c0] by_threads : !half -> !tile
    tile.store %y, %second[%c0, %c0] : !tile, !half
    gpu.return
  }
}

func.func @by_threads() -> tensor<32x16xf32> {
  %c1 = arith.constant 1 : index
  %threads = arith.constant 32 : index
  %out = memref.alloc() : !out
  gpu.launch_func @kernels::@by_threads blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1) args(%out : !out)
  %result = bufferization.to_tensor %out restrict : !out to tensor<32x16xf32>
  return %result : tensor<32x16xf32>
}

}
