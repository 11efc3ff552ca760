// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scores of all queries of some heads, and of keys of which a block reaches from one head into the next: tiles whose rows are
// two dimensions of a tensor, in its order or in the other one, written by hand. All products and sums are whole numbers that f32 holds exactly.
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
// The copy engine fetches a box of whole heads, or queries, and one of what is left: 60 and 4 rows, and 20 and 12.
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

!q = memref<7x12x64xbf16>
!k = memref<5x20x64xbf16>
!scores = memref<6x7x32xf32>
!out = memref<2xf32>

!query = !tile.tile<64x64xbf16, registers>
!key = !tile.tile<32x64xbf16, registers>
!acc = !tile.tile<64x32xf32, registers>

module attributes {gpu.container_module} {

gpu.module @kernels {
  // 6 heads from head 3 on, and rows 40 to 71 of the keys behind head 0. Rows from 42 on are no queries.
  gpu.func @scores(%q: !q, %k: !k, %scores: !scores) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c40 = arith.constant 40 : index
    %zero = arith.constant 0.0 : f32
    %heads = memref.subview %q[0, 3, 0] [7, 6, 64] [1, 1, 1] : !q to memref<7x6x64xbf16, strided<[768, 64, 1], offset: 192>>
    %queries = tile.flattened %heads : memref<7x6x64xbf16, strided<[768, 64, 1], offset: 192>>
    %others = memref.subview %k[1, 0, 0] [4, 20, 64] [1, 1, 1] : !k to memref<4x20x64xbf16, strided<[1280, 64, 1], offset: 1280>>
    %keys = tile.flattened %others : memref<4x20x64xbf16, strided<[1280, 64, 1], offset: 1280>>
    %turned = memref.transpose %scores (a, b, c) -> (b, a, c) : !scores to memref<7x6x32xf32, strided<[32, 224, 1]>>
    %places = tile.flattened %turned : memref<7x6x32xf32, strided<[32, 224, 1]>>
    %query = tile.load %queries[%c0, %c0] stages 1 : memref<42x64xbf16, strided<[64, 1], offset: 192>> -> !query
    %none = tile.fill %zero : f32 -> !acc
    %key = tile.load %keys[%c40, %c0] stages 1 : memref<80x64xbf16, strided<[64, 1], offset: 1280>> -> !key
    %score = tile.mma %query, %key, %none transpose_rhs : !query, !key, !acc
    tile.store %score, %places[%c0, %c0] : !acc, memref<42x32xf32, strided<[224, 1]>>
    gpu.return
  }
}

gpu.module @host_side {
  gpu.func @fill(%q: !q, %k: !k) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c5 = arith.constant 5 : index
    %c7 = arith.constant 7 : index
    %c12 = arith.constant 12 : index
    %c20 = arith.constant 20 : index
    %c64 = arith.constant 64 : index
    %c11 = arith.constant 11 : index
    scf.for %a = %c0 to %c7 step %c1 {
      scf.for %h = %c0 to %c20 step %c1 {
        scf.for %j = %c0 to %c64 step %c1 {
          %x = arith.muli %a, %c3 : index
          %y = arith.muli %h, %c11 : index
          %z = arith.muli %j, %c7 : index
          %xy = arith.addi %x, %y : index
          %sum = arith.addi %xy, %z : index
          %rest = arith.remui %sum, %c5 : index
          %int = arith.index_cast %rest : index to i32
          %float = arith.sitofp %int : i32 to f32
          %half = arith.truncf %float : f32 to bf16
          %isQuery = arith.cmpi ult, %h, %c12 : index
          scf.if %isQuery {
            memref.store %half, %q[%a, %h, %j] : !q
          }
          %isKey = arith.cmpi ult, %a, %c5 : index
          scf.if %isKey {
            %sum2 = arith.addi %sum, %h : index
            %rest2 = arith.remui %sum2, %c3 : index
            %int2 = arith.index_cast %rest2 : index to i32
            %float2 = arith.sitofp %int2 : i32 to f32
            %half2 = arith.truncf %float2 : f32 to bf16
            memref.store %half2, %k[%a, %h, %j] : !k
          }
        }
      }
    }
    gpu.return
  }
}

gpu.module @checks {
  gpu.func @check(%q: !q, %k: !k, %scores: !scores, %out: !out) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c6 = arith.constant 6 : index
    %c7 = arith.constant 7 : index
    %c20 = arith.constant 20 : index
    %c32 = arith.constant 32 : index
    %c60 = arith.constant 60 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %wrong, %sum = scf.for %h = %c0 to %c6 step %c1 iter_args(%wrong0 = %zero, %sum0 = %zero) -> (f32, f32) {
      %wrong1, %sum1 = scf.for %s = %c0 to %c7 step %c1 iter_args(%wrong2 = %wrong0, %sum2 = %sum0) -> (f32, f32) {
        %wrong3, %sum3 = scf.for %n = %c0 to %c32 step %c1 iter_args(%wrong4 = %wrong2, %sum4 = %sum2) -> (f32, f32) {
          // Row 40 behind the first 20.
          %row = arith.addi %n, %c60 : index
          %headK = arith.divui %row, %c20 : index
          %inHead = arith.remui %row, %c20 : index
          %headQ = arith.addi %h, %c3 : index
          %dot = scf.for %l = %c0 to %c64 step %c1 iter_args(%acc = %zero) -> (f32) {
            %x = memref.load %q[%s, %headQ, %l] : !q
            %y = memref.load %k[%headK, %inHead, %l] : !k
            %xf = arith.extf %x : bf16 to f32
            %yf = arith.extf %y : bf16 to f32
            %product = arith.mulf %xf, %yf : f32
            %next = arith.addf %acc, %product : f32
            scf.yield %next : f32
          }
          %got = memref.load %scores[%h, %s, %n] : !scores
          // Unordered: NaN is wrong too.
          %differs = arith.cmpf une, %got, %dot : f32
          %count = arith.select %differs, %one, %zero : f32
          %wrong5 = arith.addf %wrong4, %count : f32
          %sum5 = arith.addf %sum4, %dot : f32
          scf.yield %wrong5, %sum5 : f32, f32
        }
        scf.yield %wrong3, %sum3 : f32, f32
      }
      scf.yield %wrong1, %sum1 : f32, f32
    }
    memref.store %wrong, %out[%c0] : !out
    memref.store %sum, %out[%c1] : !out
    gpu.return
  }
}

func.func @flattened() -> tensor<2xf32> {
  %c1 = arith.constant 1 : index
  %threads = arith.constant 128 : index
  %q = memref.alloc() : !q
  %k = memref.alloc() : !k
  %scores = memref.alloc() : !scores
  %out = memref.alloc() : !out
  gpu.launch_func @host_side::@fill blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%q : !q, %k : !k)
  gpu.launch_func @kernels::@scores blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1) args(%q : !q, %k : !k, %scores : !scores)
  gpu.launch_func @checks::@check blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%q : !q, %k : !k, %scores : !scores, %out : !out)
  %result = bufferization.to_tensor %out restrict : !out to tensor<2xf32>
  return %result : tensor<2xf32>
}

}
