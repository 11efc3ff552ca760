// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Columns that change places with partners in the same thread and in other lanes, of elements of 16 and 32 bits.
//
// DEFINE: %{chip} =
// DEFINE: %{run} = attune-opt %s --attune-attach-target=chip=%{chip} --tile-to-gpu-pipeline --gpu-to-llvm-pipeline --emit-bytecode \
// DEFINE:   | attune-run - --device=host --print | FileCheck %s
// REDEFINE: %{chip} = sm_80
// RUN: %{run}
// REDEFINE: %{chip} = sm_90a
// RUN: %{run}
// REDEFINE: %{chip} = gfx942
// RUN: %{run}
// REDEFINE: %{chip} = gfx1100
// RUN: %{run}
//
// CHECK: result 0: 5x16xf32
// CHECK-NEXT: {{^}}1 0 3 2 5 4 7 6 9 8 11 10 13 12 15 14{{$}}
// CHECK-NEXT: {{^}}2 3 0 1 6 7 4 5 10 11 8 9 14 15 12 13{{$}}
// CHECK-NEXT: {{^}}4 5 6 7 0 1 2 3 12 13 14 15 8 9 10 11{{$}}
// CHECK-NEXT: {{^}}8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7{{$}}
// CHECK-NEXT: {{^}}8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7{{$}}

!out = memref<5x16xf32>
!row = memref<1x16xf32, strided<[16, 1], offset: ?>>
!tile = !tile.tile<16x16xf32, registers>
!half = !tile.tile<16x16xf16, registers>

module attributes {gpu.container_module} {

gpu.module @kernels {
  gpu.func @swap(%out: !out) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %x = tile.map() {
    ^bb0(%i: index, %j: index):
      %n = arith.index_cast %j : index to i32
      %f = arith.sitofp %n : i32 to f32
      tile.yield %f : f32
    } : () -> !tile
    %h = tile.map(%x) {
    ^bb0(%f: f32, %i: index, %j: index):
      %t = arith.truncf %f : f32 to f16
      tile.yield %t : f16
    } : (!tile) -> !half
    %one = tile.swap_columns %x stride 1 : !tile
    %two = tile.swap_columns %x stride 2 : !tile
    %four = tile.swap_columns %x stride 4 : !tile
    %eight = tile.swap_columns %x stride 8 : !tile
    %narrow = tile.swap_columns %h stride 8 : !half
    %wide = tile.map(%narrow) {
    ^bb0(%f: f16, %i: index, %j: index):
      %e = arith.extf %f : f16 to f32
      tile.yield %e : f32
    } : (!half) -> !tile
    %r0 = memref.subview %out[%c0, 0] [1, 16] [1, 1] : !out to !row
    %r1 = memref.subview %out[%c1, 0] [1, 16] [1, 1] : !out to !row
    %r2 = memref.subview %out[%c2, 0] [1, 16] [1, 1] : !out to !row
    %r3 = memref.subview %out[%c3, 0] [1, 16] [1, 1] : !out to !row
    %r4 = memref.subview %out[%c4, 0] [1, 16] [1, 1] : !out to !row
    tile.store %one, %r0[%c0, %c0] : !tile, !row
    tile.store %two, %r1[%c0, %c0] : !tile, !row
    tile.store %four, %r2[%c0, %c0] : !tile, !row
    tile.store %eight, %r3[%c0, %c0] : !tile, !row
    tile.store %wide, %r4[%c0, %c0] : !tile, !row
    gpu.return
  }
}

func.func @swap() -> tensor<5x16xf32> {
  %c1 = arith.constant 1 : index
  %threads = arith.constant 64 : index
  %out = memref.alloc() : !out
  gpu.launch_func @kernels::@swap blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1) args(%out : !out)
  %result = bufferization.to_tensor %out restrict : !out to tensor<5x16xf32>
  return %result : tensor<5x16xf32>
}

}
