// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A softmax of rows, written by hand, without an MMA in it. Its input goes through shared memory.
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
// 2^x over the sum of the row: equal shares; 1, 2, 4, 8 and 1 of 16, and elements that are too far below to count; one alone,
// whose power would overflow without its maximum.
// CHECK: result 0: 3x8xf32
// CHECK-NEXT: {{^}}0.125 0.125 0.125 0.125 0.125 0.125 0.125 0.125{{$}}
// CHECK-NEXT: {{^}}0.0625 0.125 0.25 0.5 0.0625 0 0 0{{$}}
// CHECK-NEXT: {{^}}1 0 0 0 0 0 0 0{{$}}

!in = memref<3x8xf32>
!tile = !tile.tile<16x8xf32, registers>
!column = !tile.tile<16xf32, registers>

module attributes {gpu.container_module} {

gpu.module @kernels {
  gpu.func @softmax(%in: !in, %out: !in) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %x = tile.load %in[%c0, %c0] stages 2 : !in -> !tile
    %max = tile.reduce max %x : !tile -> !column
    %maxima = tile.broadcast %max : !column -> !tile
    %p = tile.map(%x, %maxima) {
    ^bb0(%a: f32, %b: f32, %i: index, %j: index):
      %below = arith.subf %a, %b : f32
      %power = math.exp2 %below : f32
      tile.yield %power : f32
    } : (!tile, !tile) -> !tile
    %sum = tile.reduce add %p : !tile -> !column
    %sums = tile.broadcast %sum : !column -> !tile
    %result = tile.map(%p, %sums) {
    ^bb0(%a: f32, %b: f32, %i: index, %j: index):
      %share = arith.divf %a, %b : f32
      tile.yield %share : f32
    } : (!tile, !tile) -> !tile
    tile.store %result, %out[%c0, %c0] : !tile, !in
    gpu.return
  }
}

func.func @softmax() -> tensor<3x8xf32> {
  %c1 = arith.constant 1 : index
  %threads = arith.constant 64 : index
  %values = arith.constant dense<[[3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0],
                                  [0.0, 1.0, 2.0, 3.0, 0.0, -200.0, -200.0, -200.0],
                                  [1000.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]> : tensor<3x8xf32>
  %in = bufferization.to_buffer %values : tensor<3x8xf32> to !in
  %out = memref.alloc() : !in
  gpu.launch_func @kernels::@softmax blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%in : !in, %out : !in)
  %result = bufferization.to_tensor %out restrict : !in to tensor<3x8xf32>
  return %result : tensor<3x8xf32>
}

}
