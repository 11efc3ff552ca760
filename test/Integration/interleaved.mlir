// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two right operands as one, whose rows or columns alternate in blocks, written by hand. All products and sums are whole
// numbers that f32 holds exactly. Blocks reach beyond the ends of the operands.
//
// DEFINE: %{chip} =
// DEFINE: %{kernel} = cat %s
// DEFINE: %{run} = %{kernel} | attune-opt - --attune-attach-target=chip=%{chip} --tile-to-gpu-pipeline --gpu-to-llvm-pipeline --emit-bytecode \
// DEFINE:   | attune-run - --device=host --print --max-steps=1000000000 | FileCheck %s
// REDEFINE: %{chip} = sm_80
// RUN: %{run}
// REDEFINE: %{chip} = sm_90a
// RUN: %{run}
// REDEFINE: %{chip} = gfx942
// RUN: %{run}
// REDEFINE: %{chip} = gfx1100
// RUN: %{run}
//
// The copy engine fetches boxes of each operand.
// REDEFINE: %{chip} = sm_90a
// REDEFINE: %{kernel} = sed "s/\(tile.mma.*\) :/\1 scope warpgroup :/" %s
// RUN: %{run}
// By a thread of its own.
// REDEFINE: %{kernel} = sed -e "s/\(tile.mma.*\) :/\1 scope warpgroup :/" -e "s/%%threads = arith.constant 128/%%threads = arith.constant 256/" -e "s/array<i32: 128, 1, 1>}/array<i32: 256, 1, 1>, tile.roles = [#tile.role<\"compute\", warps = 4>, #tile.role<\"load\", warps = 4, threads = one>]}/" %s
// RUN: %{run}
//
// The meaning of the tile ops alone.
// RUN: attune-opt %s --attune-attach-target=chip=sm_80 --convert-tile-to-loops --gpu-to-llvm-pipeline --emit-bytecode \
// RUN:   | attune-run - --device=host --print --max-steps=1000000000 | FileCheck %s
//
// How many elements are wrong, and the sum of what they should be, so that not all of them are 0.
// CHECK: result 0: 2xf32
// CHECK-NEXT: {{^}}0 {{[1-9][0-9.e+]*$}}

!a = memref<64x64xbf16>
!rows = memref<80x64xbf16>
!columns = memref<64x72xbf16>
!sums = memref<64x128xf32>
!out = memref<2xf32>

!lhs = !tile.tile<64x64xbf16, registers>
!acc = !tile.tile<64x128xf32, registers>
!part = !tile.tile<64x64xf32, registers>

module attributes {gpu.container_module} {

gpu.module @kernels {
  // One operand after the other in blocks of 32 rows: a tile has two of each.
  gpu.func @of_rows(%a: !a, %b0: !rows, %b1: !rows, %s0: !sums, %s1: !sums) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %zero = arith.constant 0.0 : f32
    %both = tile.interleaved %b0, %b1 blocks of 32 : !rows, !rows
    %lhs = tile.load %a[%c0, %c0] stages 1 : !a -> !lhs
    %none = tile.fill %zero : f32 -> !acc
    scf.for %n = %c0 to %c128 step %c64 {
      %row = arith.muli %n, %c2 : index
      %rhs = tile.load %both[%row, %c0] stages 2 : memref<?x64xbf16> -> !tile.tile<128x64xbf16, registers>
      %sum = tile.mma %lhs, %rhs, %none transpose_rhs : !lhs, !tile.tile<128x64xbf16, registers>, !acc
      %p0, %p1 = tile.deinterleave %sum blocks of 32 dim 1 : !acc -> !part, !part
      tile.store %p0, %s0[%c0, %n] : !part, !sums
      tile.store %p1, %s1[%c0, %n] : !part, !sums
    }
    gpu.return
  }

  // In blocks of 64 columns: a tile has one of each.
  gpu.func @of_columns(%a: !a, %b0: !columns, %b1: !columns, %s0: !sums, %s1: !sums) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %zero = arith.constant 0.0 : f32
    %both = tile.interleaved %b0, %b1 blocks of 64 dim 1 : !columns, !columns
    %lhs = tile.load %a[%c0, %c0] stages 1 : !a -> !lhs
    %none = tile.fill %zero : f32 -> !acc
    scf.for %n = %c0 to %c128 step %c64 {
      %column = arith.muli %n, %c2 : index
      %rhs = tile.load %both[%c0, %column] stages 2 : memref<64x?xbf16> -> !tile.tile<64x128xbf16, registers>
      %sum = tile.mma %lhs, %rhs, %none : !lhs, !tile.tile<64x128xbf16, registers>, !acc
      %p0, %p1 = tile.deinterleave %sum blocks of 64 dim 1 : !acc -> !part, !part
      tile.store %p0, %s0[%c0, %n] : !part, !sums
      tile.store %p1, %s1[%c0, %n] : !part, !sums
    }
    gpu.return
  }
}

gpu.module @host_side {
  // `(i * times + 7 * j) mod 5`, or mod 3 of the left operand.
  gpu.func @fill(%a: !a, %b0: !rows, %b1: !rows, %d0: !columns, %d1: !columns, %out: !out) kernel
      attributes {known_block_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c5 = arith.constant 5 : index
    %c7 = arith.constant 7 : index
    %c64 = arith.constant 64 : index
    %c72 = arith.constant 72 : index
    %c80 = arith.constant 80 : index
    %zero = arith.constant 0.0 : f32
    memref.store %zero, %out[%c0] : !out
    memref.store %zero, %out[%c1] : !out
    scf.for %i = %c0 to %c80 step %c1 {
      scf.for %j = %c0 to %c64 step %c1 {
        %seven = arith.muli %j, %c7 : index
        %three = arith.muli %i, %c3 : index
        %two = arith.muli %i, %c2 : index
        %sum0 = arith.addi %three, %seven : index
        %rest0 = arith.remui %sum0, %c5 : index
        %int0 = arith.index_cast %rest0 : index to i32
        %half0 = arith.sitofp %int0 : i32 to bf16
        memref.store %half0, %b0[%i, %j] : !rows
        %sum1 = arith.addi %two, %seven : index
        %rest1 = arith.remui %sum1, %c5 : index
        %int1 = arith.index_cast %rest1 : index to i32
        %half1 = arith.sitofp %int1 : i32 to bf16
        memref.store %half1, %b1[%i, %j] : !rows
        // The same, transposed.
        %isColumn = arith.cmpi ult, %i, %c72 : index
        scf.if %isColumn {
          memref.store %half0, %d0[%j, %i] : !columns
          memref.store %half1, %d1[%j, %i] : !columns
        }
        %isLhs = arith.cmpi ult, %i, %c64 : index
        scf.if %isLhs {
          %sum = arith.addi %i, %seven : index
          %rest = arith.remui %sum, %c3 : index
          %int = arith.index_cast %rest : index to i32
          %half = arith.sitofp %int : i32 to bf16
          memref.store %half, %a[%i, %j] : !a
        }
      }
    }
    gpu.return
  }
}

gpu.module @checks {
  // Sums of columns from `end` on are 0.
  gpu.func @check(%a: !a, %b: !rows, %end: index, %s: !sums, %out: !out) kernel
      attributes {known_block_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %before = memref.load %out[%c0] : !out
    %sum = memref.load %out[%c1] : !out
    %wrong, %all = scf.for %j = %c0 to %c128 step %c1 iter_args(%wrong0 = %before, %sum0 = %sum) -> (f32, f32) {
      %isInside = arith.cmpi ult, %j, %end : index
      %wrong1, %sum1 = scf.for %i = %c0 to %c64 step %c1 iter_args(%wrong2 = %wrong0, %sum2 = %sum0) -> (f32, f32) {
        %expected = scf.if %isInside -> f32 {
          %dot = scf.for %l = %c0 to %c64 step %c1 iter_args(%acc = %zero) -> (f32) {
            %x = memref.load %a[%i, %l] : !a
            %y = memref.load %b[%j, %l] : !rows
            %xf = arith.extf %x : bf16 to f32
            %yf = arith.extf %y : bf16 to f32
            %product = arith.mulf %xf, %yf : f32
            %next = arith.addf %acc, %product : f32
            scf.yield %next : f32
          }
          scf.yield %dot : f32
        } else {
          scf.yield %zero : f32
        }
        %got = memref.load %s[%i, %j] : !sums
        // Unordered: NaN is wrong too.
        %differs = arith.cmpf une, %got, %expected : f32
        %count = arith.select %differs, %one, %zero : f32
        %wrong3 = arith.addf %wrong2, %count : f32
        %sum3 = arith.addf %sum2, %expected : f32
        scf.yield %wrong3, %sum3 : f32, f32
      }
      scf.yield %wrong1, %sum1 : f32, f32
    }
    memref.store %wrong, %out[%c0] : !out
    memref.store %all, %out[%c1] : !out
    gpu.return
  }
}

func.func @interleaved() -> tensor<2xf32> {
  %c1 = arith.constant 1 : index
  %c72 = arith.constant 72 : index
  %c80 = arith.constant 80 : index
  %threads = arith.constant 128 : index
  %a = memref.alloc() : !a
  %b0 = memref.alloc() : !rows
  %b1 = memref.alloc() : !rows
  %d0 = memref.alloc() : !columns
  %d1 = memref.alloc() : !columns
  %s0 = memref.alloc() : !sums
  %s1 = memref.alloc() : !sums
  %t0 = memref.alloc() : !sums
  %t1 = memref.alloc() : !sums
  %out = memref.alloc() : !out
  gpu.launch_func @host_side::@fill blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    args(%a : !a, %b0 : !rows, %b1 : !rows, %d0 : !columns, %d1 : !columns, %out : !out)
  gpu.launch_func @kernels::@of_rows blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%a : !a, %b0 : !rows, %b1 : !rows, %s0 : !sums, %s1 : !sums)
  gpu.launch_func @kernels::@of_columns blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%a : !a, %d0 : !columns, %d1 : !columns, %t0 : !sums, %t1 : !sums)
  gpu.launch_func @checks::@check blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    args(%a : !a, %b0 : !rows, %c80 : index, %s0 : !sums, %out : !out)
  gpu.launch_func @checks::@check blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    args(%a : !a, %b1 : !rows, %c80 : index, %s1 : !sums, %out : !out)
  gpu.launch_func @checks::@check blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    args(%a : !a, %b0 : !rows, %c72 : index, %t0 : !sums, %out : !out)
  gpu.launch_func @checks::@check blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    args(%a : !a, %b1 : !rows, %c72 : index, %t1 : !sums, %out : !out)
  %result = bufferization.to_tensor %out restrict : !out to tensor<2xf32>
  return %result : tensor<2xf32>
}

}
