// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums and maxima of columns, written by hand: a loop over blocks of rows carries what is known of columns, and each is divided
// by its sum. One warp has all columns, or several share them.
//
// DEFINE: %{chip} =
// DEFINE: %{threads} = 64
// DEFINE: %{run} = sed "s/THREADS/%{threads}/" %s | attune-opt - --attune-attach-target=chip=%{chip} --tile-to-gpu-pipeline --gpu-to-llvm-pipeline \
// DEFINE:   --emit-bytecode | attune-run - --device=host --print | FileCheck %s
// REDEFINE: %{chip} = sm_80
// RUN: %{run}
// REDEFINE: %{chip} = sm_90a
// RUN: %{run}
// REDEFINE: %{chip} = gfx942
// RUN: %{run}
// REDEFINE: %{chip} = gfx1100
// RUN: %{run}
// REDEFINE: %{threads} = 256
// RUN: %{run}
// REDEFINE: %{chip} = gfx942
// RUN: %{run}
// REDEFINE: %{chip} = sm_80
// RUN: %{run}
// REDEFINE: %{threads} = 32
// RUN: %{run}
//
// CHECK: result 0: 16xf32
// CHECK-NEXT: {{^}}4 8 -4 4 8 1 2 16 4 4 4 4 4 4 4 20{{$}}
// CHECK: result 1: 16xf32
// CHECK-NEXT: {{^}}1 5 -1 9 2 1 2 4 1 1 1 1 1 1 1 8{{$}}
// CHECK: result 2: 4x16xf32
// CHECK-NEXT: {{^}}0.25 0.125 0.25 -2 0.25 1 0 0.25 0.25 0.25 0.25 0.25 0.25 0.25 0.25 0.4{{$}}
// CHECK-NEXT: {{^}}0.25 0.125 0.25 1 0.25 0 1 0.25

!in = memref<4x16xf32>
!vector = memref<16xf32>
!tile = !tile.tile<2x16xf32, registers>
!row = !tile.tile<16xf32, registers>

module attributes {gpu.container_module} {

gpu.module @kernels {
  gpu.func @columns(%in: !in, %sums: !vector, %maxima: !vector, %out: !in) kernel attributes {known_block_size = array<i32: THREADS, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %zero = arith.constant 0.0 : f32
    %low = arith.constant 0xFF800000 : f32
    %none = tile.fill %zero : f32 -> !row
    %lowest = tile.fill %low : f32 -> !row
    %r:2 = scf.for %i = %c0 to %c4 step %c2 iter_args(%sum = %none, %max = %lowest) -> (!row, !row) {
      %x = tile.load %in[%i, %c0] : !in -> !tile
      %ofBlock = tile.reduce add %x dim 0 : !tile -> !row
      %next = tile.map(%sum, %ofBlock) {
      ^bb0(%a: f32, %b: f32, %j: index):
        %y = arith.addf %a, %b : f32
        tile.yield %y : f32
      } : (!row, !row) -> !row
      %maxOfBlock = tile.reduce max %x dim 0 : !tile -> !row
      %nextMax = tile.map(%max, %maxOfBlock) {
      ^bb0(%a: f32, %b: f32, %j: index):
        %y = arith.maximumf %a, %b : f32
        tile.yield %y : f32
      } : (!row, !row) -> !row
      scf.yield %next, %nextMax : !row, !row
    }
    tile.store %r#0, %sums[%c0] : !row, !vector
    tile.store %r#1, %maxima[%c0] : !row, !vector
    scf.for %i = %c0 to %c4 step %c2 {
      %x = tile.load %in[%i, %c0] : !in -> !tile
      %all = tile.broadcast %r#0 dim 1 : !row -> !tile
      %share = tile.map(%x, %all) {
      ^bb0(%a: f32, %b: f32, %k: index, %j: index):
        %y = arith.divf %a, %b : f32
        tile.yield %y : f32
      } : (!tile, !tile) -> !tile
      tile.store %share, %out[%i, %c0] : !tile, !in
    }
    gpu.return
  }
}

func.func @columns() -> (tensor<16xf32>, tensor<16xf32>, tensor<4x16xf32>) {
  %c1 = arith.constant 1 : index
  %threads = arith.constant THREADS : index
  %values = arith.constant dense<[[1.0, 1.0, -1.0, -8.0, 2.0, 1.0, 0.0, 4.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 8.0],
                                  [1.0, 1.0, -1.0, 4.0, 2.0, 0.0, 2.0, 4.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 6.0],
                                  [1.0, 1.0, -1.0, -1.0, 2.0, 0.0, 0.0, 4.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 4.0],
                                  [1.0, 5.0, -1.0, 9.0, 2.0, 0.0, 0.0, 4.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0]]> : tensor<4x16xf32>
  %in = bufferization.to_buffer %values : tensor<4x16xf32> to !in
  %sums = memref.alloc() : !vector
  %maxima = memref.alloc() : !vector
  %out = memref.alloc() : !in
  gpu.launch_func @kernels::@columns blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%in : !in, %sums : !vector, %maxima : !vector, %out : !in)
  %r0 = bufferization.to_tensor %sums restrict : !vector to tensor<16xf32>
  %r1 = bufferization.to_tensor %maxima restrict : !vector to tensor<16xf32>
  %r2 = bufferization.to_tensor %out restrict : !in to tensor<4x16xf32>
  return %r0, %r1, %r2 : tensor<16xf32>, tensor<16xf32>, tensor<4x16xf32>
}

}
