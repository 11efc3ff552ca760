// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums that several workgroups add to one after the other, written by hand. The terms are such that another order gives
// another sum; the counters are 0 again behind each launch, of which there are two.
//
// DEFINE: %{chip} =
// DEFINE: %{compile} = attune-opt - --attune-attach-target=chip=%{chip} --tile-to-gpu-pipeline --gpu-to-llvm-pipeline --emit-bytecode
// DEFINE: %{run} = cat %s | %{compile} | attune-run - --device=host --print | FileCheck %s
// REDEFINE: %{chip} = sm_80
// RUN: %{run}
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
// How many elements and counters are wrong, and the sum of what they should be, so that not all of them are 0.
// CHECK: result 0: 2xf32
// CHECK-NEXT: {{^}}0 {{[1-9][0-9.e+]*$}}
//
// The executor runs workgroups by their numbers. One whose turn comes after those of later ones waits, for ever.
// REDEFINE: %{chip} = sm_80
// RUN: sed "s/turn %%y of/turn %%reverse of/" %s | %{compile} | not attune-run - --device=host --print --max-steps=10000 2>&1 | FileCheck %s --check-prefix=REVERSE
// REVERSE: expects a loop that ends within 10000 steps of a thread, but thread {{.*}} of block

!total = memref<40x64xf32>
!counters = memref<3xi32>
!out = memref<2xf32>
!tile = !tile.tile<16x64xf32, registers>

module attributes {gpu.container_module} {

gpu.module @kernels {
  // Workgroup (x, y) adds 10^8, 1 or -10^8, and the row, to block x of the rows, as number y.
  gpu.func @add(%total: !total, %counters: !counters) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %large = arith.constant 1.0e+08 : f32
    %one = arith.constant 1.0 : f32
    %none = arith.constant 0.0 : f32
    %x = gpu.block_id x
    %y = gpu.block_id y
    %reverse = arith.subi %c4, %y : index
    %row = arith.muli %x, %c16 : index
    %zeros = tile.fill %none : f32 -> !tile
    %kind = arith.remui %y, %c3 : index
    %isFirst = arith.cmpi eq, %kind, %c0 : index
    %isLast = arith.cmpi eq, %kind, %c2 : index
    %terms = tile.map(%zeros) {
    ^bb0(%zero: f32, %i: index, %j: index):
      %int = arith.index_cast %i : index to i32
      %float = arith.sitofp %int : i32 to f32
      %minus = arith.negf %large : f32
      %rest = arith.select %isLast, %minus, %one : f32
      %term = arith.select %isFirst, %large, %rest : f32
      %sum = arith.addf %term, %float : f32
      tile.yield %sum : f32
    } : (!tile) -> !tile
    %c5 = arith.constant 5 : index
    tile.ordered %counters[%x] turn %y of %c5 {
      tile.store %terms, %total[%row, %c0] accumulate : !tile, !total
    } : !counters
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
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c5 = arith.constant 5 : index
    %c10 = arith.constant 10 : index
    %c16 = arith.constant 16 : index
    %c40 = arith.constant 40 : index
    %c64 = arith.constant 64 : index
    %none = arith.constant 0 : i32
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %large = arith.constant 1.0e+08 : f32
    %minus = arith.constant -1.0e+08 : f32
    %wrong, %sum = scf.for %i = %c0 to %c40 step %c1 iter_args(%wrong0 = %zero, %sum0 = %zero) -> (f32, f32) {
      %row = arith.remui %i, %c16 : index
      %int = arith.index_cast %row : index to i32
      %float = arith.sitofp %int : i32 to f32
      %expected = scf.for %t = %c0 to %c10 step %c1 iter_args(%acc = %zero) -> (f32) {
        %y = arith.remui %t, %c5 : index
        %kind = arith.remui %y, %c3 : index
        %isFirst = arith.cmpi eq, %kind, %c0 : index
        %isLast = arith.cmpi eq, %kind, %c2 : index
        %rest = arith.select %isLast, %minus, %one : f32
        %start = arith.select %isFirst, %large, %rest : f32
        %term = arith.addf %start, %float : f32
        %next = arith.addf %acc, %term : f32
        scf.yield %next : f32
      }
      %size = math.absf %expected : f32
      %sum1 = arith.addf %sum0, %size : f32
      %wrong1 = scf.for %j = %c0 to %c64 step %c1 iter_args(%wrong2 = %wrong0) -> (f32) {
        %got = memref.load %total[%i, %j] : !total
        %differs = arith.cmpf une, %got, %expected : f32
        %count = arith.select %differs, %one, %zero : f32
        %wrong3 = arith.addf %wrong2, %count : f32
        scf.yield %wrong3 : f32
      }
      scf.yield %wrong1, %sum1 : f32, f32
    }
    %all = scf.for %i = %c0 to %c3 step %c1 iter_args(%wrong0 = %wrong) -> (f32) {
      %counter = memref.load %counters[%i] : !counters
      %differs = arith.cmpi ne, %counter, %none : i32
      %count = arith.select %differs, %one, %zero : f32
      %next = arith.addf %wrong0, %count : f32
      scf.yield %next : f32
    }
    memref.store %all, %out[%c0] : !out
    memref.store %sum, %out[%c1] : !out
    gpu.return
  }
}

func.func @ordered() -> tensor<2xf32> {
  %c1 = arith.constant 1 : index
  %blocks = arith.constant 3 : index
  %splits = arith.constant 5 : index
  %threads = arith.constant 64 : index
  %total = memref.alloc() : !total
  %counters = memref.alloc() : !counters
  %out = memref.alloc() : !out
  gpu.launch_func @host_side::@clear blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    args(%total : !total, %counters : !counters)
  gpu.launch_func @kernels::@add blocks in (%blocks, %splits, %c1) threads in (%threads, %c1, %c1)
    args(%total : !total, %counters : !counters)
  gpu.launch_func @kernels::@add blocks in (%blocks, %splits, %c1) threads in (%threads, %c1, %c1)
    args(%total : !total, %counters : !counters)
  gpu.launch_func @checks::@check blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    args(%total : !total, %counters : !counters, %out : !out)
  %result = bufferization.to_tensor %out restrict : !out to tensor<2xf32>
  return %result : tensor<2xf32>
}

}
