// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scores of queries and of keys that lie in pages, and rows that are added where another table says: tiles whose rows a
// table finds, written by hand. All products and sums are whole numbers that f32 holds exactly.
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
// The copy engine fetches a box for each page.
// REDEFINE: %{chip} = sm_90a
// REDEFINE: %{kernel} = sed "s/transpose_rhs :/transpose_rhs scope warpgroup :/" %s
// RUN: %{run}
// By a thread of its own.
// REDEFINE: %{kernel} = sed -e "s/transpose_rhs :/transpose_rhs scope warpgroup :/" -e "s/%%threads = arith.constant 128/%%threads = arith.constant 256/" -e "s/array<i32: 128, 1, 1>}/array<i32: 256, 1, 1>, tile.roles = [#tile.role<\"compute\", warps = 4>, #tile.role<\"load\", warps = 4, threads = one>]}/" %s
// RUN: %{run}
//
// The meaning of the tile ops alone.
// RUN: attune-opt %s --attune-attach-target=chip=sm_80 --convert-tile-to-loops --gpu-to-llvm-pipeline --emit-bytecode \
// RUN:   | attune-run - --device=host --print --max-steps=1000000000 | FileCheck %s
//
// How many elements are wrong, and the sum of what they should be, so that not all of them are 0.
// CHECK: result 0: 2xf32
// CHECK-NEXT: {{^}}0 {{[1-9][0-9.e+]*$}}

!q = memref<64x64xbf16>
!pool = memref<128x64xbf16>
!pages = memref<6xi32>
!scores = memref<64x128xf32>
!rows = memref<10xi32>
!sums = memref<12x128xf32>
!out = memref<2xf32>

!query = !tile.tile<64x64xbf16, registers>
!key = !tile.tile<32x64xbf16, registers>
!acc = !tile.tile<64x32xf32, registers>

module attributes {gpu.container_module} {

gpu.module @kernels {
  // Keys 96 to 127 have no page, and page 3 is no page of the pool: their scores are 0.
  gpu.func @scores(%q: !q, %pool: !pool, %pages: !pages, %scores: !scores, %rows: !rows, %sums: !sums) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c128 = arith.constant 128 : index
    %zero = arith.constant 0.0 : f32
    %keys = tile.paged %pool by %pages pages of 16 : !pool, !pages
    %places = tile.paged %sums by %rows : !sums, !rows
    %query = tile.load %q[%c0, %c0] stages 1 : !q -> !query
    %none = tile.fill %zero : f32 -> !acc
    scf.for %n = %c0 to %c128 step %c32 {
      %key = tile.load %keys[%n, %c0] stages 2 : memref<?x64xbf16> -> !key
      %score = tile.mma %query, %key, %none transpose_rhs : !query, !key, !acc
      tile.store %score, %scores[%c0, %n] : !acc, !scores
      tile.store %score, %places[%c0, %n] accumulate : !acc, memref<?x128xf32>
    }
    gpu.return
  }
}

gpu.module @host_side {
  gpu.func @fill(%q: !q, %pool: !pool, %sums: !sums) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c5 = arith.constant 5 : index
    %c7 = arith.constant 7 : index
    %c12 = arith.constant 12 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %zero = arith.constant 0.0 : f32
    scf.for %i = %c0 to %c128 step %c1 {
      scf.for %j = %c0 to %c64 step %c1 {
        %three = arith.muli %i, %c3 : index
        %seven = arith.muli %j, %c7 : index
        %sum = arith.addi %three, %seven : index
        %rest = arith.remui %sum, %c5 : index
        %int = arith.index_cast %rest : index to i32
        %float = arith.sitofp %int : i32 to f32
        %half = arith.truncf %float : f32 to bf16
        memref.store %half, %pool[%i, %j] : !pool
        %isQuery = arith.cmpi ult, %i, %c64 : index
        scf.if %isQuery {
          %sum2 = arith.addi %i, %seven : index
          %rest2 = arith.remui %sum2, %c3 : index
          %int2 = arith.index_cast %rest2 : index to i32
          %float2 = arith.sitofp %int2 : i32 to f32
          %half2 = arith.truncf %float2 : f32 to bf16
          memref.store %half2, %q[%i, %j] : !q
        }
      }
    }
    scf.for %i = %c0 to %c12 step %c1 {
      scf.for %j = %c0 to %c128 step %c1 {
        memref.store %zero, %sums[%i, %j] : !sums
      }
    }
    gpu.return
  }
}

gpu.module @checks {
  gpu.func @check(%q: !q, %pool: !pool, %pages: !pages, %scores: !scores, %rows: !rows, %sums: !sums, %out: !out) kernel
      attributes {known_block_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c10 = arith.constant 10 : index
    %c12 = arith.constant 12 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %c96 = arith.constant 96 : index
    %c128 = arith.constant 128 : index
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %c0_i32 = arith.constant 0 : i32
    %minus = arith.constant -1 : i32
    %wrong, %sum = scf.for %j = %c0 to %c128 step %c1 iter_args(%wrong0 = %zero, %sum0 = %zero) -> (f32, f32) {
      // The scores of key j.
      %hasEntry = arith.cmpi ult, %j, %c96 : index
      %entry = scf.if %hasEntry -> i32 {
        %page = arith.divui %j, %c16 : index
        %read = memref.load %pages[%page] : !pages
        scf.yield %read : i32
      } else {
        scf.yield %minus : i32
      }
      %hasKey = arith.cmpi sge, %entry, %c0_i32 : i32
      %first = arith.index_cast %entry : i32 to index
      %times = arith.muli %first, %c16 : index
      %rest = arith.remui %j, %c16 : index
      %key = arith.addi %times, %rest : index
      %wrong1, %sum1 = scf.for %i = %c0 to %c64 step %c1 iter_args(%wrong2 = %wrong0, %sum2 = %sum0) -> (f32, f32) {
        %expected = scf.if %hasKey -> f32 {
          %dot = scf.for %l = %c0 to %c64 step %c1 iter_args(%acc = %zero) -> (f32) {
            %x = memref.load %q[%i, %l] : !q
            %y = memref.load %pool[%key, %l] : !pool
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
        %got = memref.load %scores[%i, %j] : !scores
        // Unordered: NaN is wrong too.
        %differs = arith.cmpf une, %got, %expected : f32
        %count = arith.select %differs, %one, %zero : f32
        %wrong3 = arith.addf %wrong2, %count : f32
        %sum3 = arith.addf %sum2, %expected : f32
        scf.yield %wrong3, %sum3 : f32, f32
      }
      // What the first ten rows of scores add to each row of sums.
      %wrong4 = scf.for %r = %c0 to %c12 step %c1 iter_args(%wrong5 = %wrong1) -> (f32) {
        %row = arith.index_cast %r : index to i32
        %expected = scf.for %i = %c0 to %c10 step %c1 iter_args(%acc = %zero) -> (f32) {
          %to = memref.load %rows[%i] : !rows
          %isHere = arith.cmpi eq, %to, %row : i32
          %score = memref.load %scores[%i, %j] : !scores
          %term = arith.select %isHere, %score, %zero : f32
          %next = arith.addf %acc, %term : f32
          scf.yield %next : f32
        }
        %got = memref.load %sums[%r, %j] : !sums
        %differs = arith.cmpf une, %got, %expected : f32
        %count = arith.select %differs, %one, %zero : f32
        %wrong6 = arith.addf %wrong5, %count : f32
        scf.yield %wrong6 : f32
      }
      scf.yield %wrong4, %sum1 : f32, f32
    }
    memref.store %wrong, %out[%c0] : !out
    memref.store %sum, %out[%c1] : !out
    gpu.return
  }
}

func.func @paged() -> tensor<2xf32> {
  %c1 = arith.constant 1 : index
  %threads = arith.constant 128 : index
  %pageNumbers = arith.constant dense<[5, 0, 7, -1, 2, 1]> : tensor<6xi32>
  // Two of the rows twice, and one that is none.
  %rowNumbers = arith.constant dense<[3, 11, 3, 0, 12, 7, 5, 0, 1, 9]> : tensor<10xi32>
  %pages = bufferization.to_buffer %pageNumbers : tensor<6xi32> to !pages
  %rows = bufferization.to_buffer %rowNumbers : tensor<10xi32> to !rows
  %q = memref.alloc() : !q
  %pool = memref.alloc() : !pool
  %scores = memref.alloc() : !scores
  %sums = memref.alloc() : !sums
  %out = memref.alloc() : !out
  gpu.launch_func @host_side::@fill blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    args(%q : !q, %pool : !pool, %sums : !sums)
  gpu.launch_func @kernels::@scores blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%q : !q, %pool : !pool, %pages : !pages, %scores : !scores, %rows : !rows, %sums : !sums)
  gpu.launch_func @checks::@check blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    args(%q : !q, %pool : !pool, %pages : !pages, %scores : !scores, %rows : !rows, %sums : !sums, %out : !out)
  %result = bufferization.to_tensor %out restrict : !out to tensor<2xf32>
  return %result : tensor<2xf32>
}

}
