// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A transpose on tiles, written by hand: a tile is read through a view whose
// rows are the columns of the buffer.
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
// CHECK: result 0: 5x3xf32
// CHECK-NEXT: {{^}}0 5 10{{$}}
// CHECK-NEXT: {{^}}1 6 11{{$}}
// CHECK-NEXT: {{^}}2 7 12{{$}}
// CHECK-NEXT: {{^}}3 8 13{{$}}
// CHECK-NEXT: {{^}}4 9 14{{$}}

!in = memref<3x5xf32>
!view = memref<5x3xf32, strided<[1, 5]>>
!out = memref<5x3xf32>
!tile = !tile.tile<16x16xf32, registers>

module attributes {gpu.container_module} {

gpu.module @kernels {
  gpu.func @transpose(%in: !in, %out: !out) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %view = memref.transpose %in (i, j) -> (j, i) : !in to !view
    %tile = tile.load %view[%c0, %c0] : !view -> !tile
    tile.store %tile, %out[%c0, %c0] : !tile, !out
    gpu.return
  }
}

func.func @transpose() -> tensor<5x3xf32> {
  %c1 = arith.constant 1 : index
  %threads = arith.constant 64 : index
  %values = arith.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0, 9.0], [10.0, 11.0, 12.0, 13.0, 14.0]]> : tensor<3x5xf32>
  %in = bufferization.to_buffer %values : tensor<3x5xf32> to !in
  %out = memref.alloc() : !out
  gpu.launch_func @kernels::@transpose blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%in : !in, %out : !out)
  %result = bufferization.to_tensor %out restrict : !out to tensor<5x3xf32>
  return %result : tensor<5x3xf32>
}

}
