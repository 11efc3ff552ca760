// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parts that several workgroups leave, and that the last one of them adds, written by hand: in any order of workgroups, and
// with counters that are 0 again behind each of two launches.
//
// DEFINE: %{chip} =
// DEFINE: %{compile} = attune-opt - --attune-attach-target=chip=%{chip} --tile-to-gpu-pipeline --gpu-to-llvm-pipeline --emit-bytecode
// DEFINE: %{run} = cat %s | %{compile} | attune-run - --device=host --print --host-seed=3 --host-any-order | FileCheck %s
// REDEFINE: %{chip} = sm_80
// RUN: %{run}
// RUN: cat %s | %{compile} | attune-run - --device=host --print | FileCheck %s
// REDEFINE: %{chip} = sm_90a
// RUN: %{run}
// REDEFINE: %{chip} = gfx942
// RUN: %{run}
// REDEFINE: %{chip} = gfx1100
// RUN: %{run}
//
// The meaning of the tile ops alone.
// RUN: attune-opt %s --attune-attach-target=chip=sm_80 --convert-tile-to-loops --gpu-to-llvm-pipeline --emit-bytecode \
// RUN:   | attune-run - --device=host --print | FileCheck %s
//
// A row's number for each of 40 rows, times the sum of 1 to 5, twice; then the counters.
// CHECK: result 0: 43xf32
// CHECK-NEXT: {{^}}0 30 60 90 120 150 180 210 240 270 300 330 360 390 420 450 0 30 60 90 120 150 180 210 240 270 300 330 360 390 420 450 0 30 60 90 120 150 180 210 0 0 0{{$}}
//
// A workgroup that does not wait for what others have left.
// REDEFINE: %{chip} = sm_80
// RUN: sed "s/scf.if %%last/scf.if %%always/" %s | %{compile} | not attune-run - --device=host --print 2>&1 | FileCheck %s --check-prefix=EARLY
// EARLY: with nothing that orders them between

!parts = memref<5x40x64xf32>
!total = memref<40x64xf32>
!counters = memref<3xi32>
!out = memref<43xf32>
!tile = !tile.tile<16x64xf32, registers>

module attributes {gpu.container_module} {

gpu.module @kernels {
  // Workgroup (x, y) leaves y + 1 times the row, of block x of the rows; the last one of a block adds what all have left.
  gpu.func @add(%parts: !parts, %total: !total, %counters: !counters) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c5 = arith.constant 5 : index
    %c16 = arith.constant 16 : index
    %none = arith.constant 0.0 : f32
    %always = arith.constant true
    %x = gpu.block_id x
    %y = gpu.block_id y
    %row = arith.muli %x, %c16 : index
    %zeros = tile.fill %none : f32 -> !tile
    %terms = tile.map(%zeros) {
    ^bb0(%zero: f32, %i: index, %j: index):
      %factor = arith.addi %y, %c1 : index
      %product = arith.muli %factor, %i : index
      %int = arith.index_cast %product : index to i32
      %float = arith.sitofp %int : i32 to f32
      tile.yield %float : f32
    } : (!tile) -> !tile
    %own = memref.subview %parts[%y, 0, 0] [1, 40, 64] [1, 1, 1] : !parts to memref<40x64xf32, strided<[64, 1], offset: ?>>
    tile.store %terms, %own[%row, %c0] : !tile, memref<40x64xf32, strided<[64, 1], offset: ?>>
    %last = tile.join %counters[%x] of %c5 : !counters
    scf.if %last {
      %before = tile.load %total[%row, %c0] : !total -> !tile
      %all = scf.for %part = %c0 to %c5 step %c1 iter_args(%sum = %before) -> (!tile) {
        %other = memref.subview %parts[%part, 0, 0] [1, 40, 64] [1, 1, 1] : !parts to memref<40x64xf32, strided<[64, 1], offset: ?>>
        %term = tile.load %other[%row, %c0] : memref<40x64xf32, strided<[64, 1], offset: ?>> -> !tile
        %next = tile.map(%sum, %term) {
        ^bb0(%a: f32, %b: f32, %i: index, %j: index):
          %c = arith.addf %a, %b : f32
          tile.yield %c : f32
        } : (!tile, !tile) -> !tile
        scf.yield %next : !tile
      }
      tile.store %all, %total[%row, %c0] : !tile, !total
    }
    gpu.return
  }
}

gpu.module @host_side {
  gpu.func @clear(%total: !total, %counters: !counters) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c40 = arith.constant 40 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %none = arith.constant 0 : i32
    scf.for %i = %c0 to %c40 step %c1 {
      scf.for %j = %c0 to %c64 step %c1 {
        memref.store %zero, %total[%i, %j] : !total
      }
    }
    scf.for %i = %c0 to %c3 step %c1 {
      memref.store %none, %counters[%i] : !counters
    }
    gpu.return
  }
}

gpu.module @checks {
  gpu.func @check(%total: !total, %counters: !counters, %out: !out) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c40 = arith.constant 40 : index
    %c64 = arith.constant 64 : index
    %nan = arith.constant 0x7FC00000 : f32
    scf.for %i = %c0 to %c40 step %c1 {
      %first = memref.load %total[%i, %c0] : !total
      %row = scf.for %j = %c1 to %c64 step %c1 iter_args(%before = %first) -> (f32) {
        %element = memref.load %total[%i, %j] : !total
        %same = arith.cmpf oeq, %element, %first : f32
        %next = arith.select %same, %before, %nan : f32
        scf.yield %next : f32
      }
      memref.store %row, %out[%i] : !out
    }
    scf.for %i = %c0 to %c3 step %c1 {
      %counter = memref.load %counters[%i] : !counters
      %float = arith.sitofp %counter : i32 to f32
      %place = arith.addi %i, %c40 : index
      memref.store %float, %out[%place] : !out
    }
    gpu.return
  }
}

func.func @join() -> tensor<43xf32> {
  %c1 = arith.constant 1 : index
  %blocks = arith.constant 3 : index
  %splits = arith.constant 5 : index
  %threads = arith.constant 64 : index
  %parts = memref.alloc() : !parts
  %total = memref.alloc() : !total
  %counters = memref.alloc() : !counters
  %out = memref.alloc() : !out
  gpu.launch_func @host_side::@clear blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    args(%total : !total, %counters : !counters)
  gpu.launch_func @kernels::@add blocks in (%blocks, %splits, %c1) threads in (%threads, %c1, %c1)
    args(%parts : !parts, %total : !total, %counters : !counters)
  gpu.launch_func @kernels::@add blocks in (%blocks, %splits, %c1) threads in (%threads, %c1, %c1)
    args(%parts : !parts, %total : !total, %counters : !counters)
  gpu.launch_func @checks::@check blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    args(%total : !total, %counters : !counters, %out : !out)
  %result = bufferization.to_tensor %out restrict : !out to tensor<43xf32>
  return %result : tensor<43xf32>
}

}
