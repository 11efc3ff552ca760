// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A matmul on tiles, written by hand: c = a * b + bias, with ends in m, n and k,
// right on chips of every family and independent of what makes tiles elsewhere.
// All products and sums of the inputs are whole numbers that f32 holds exactly,
// so that the order in which they are added makes no difference.
//
// DEFINE: %{chip} =
// DEFINE: %{run} = attune-opt %s --attune-attach-target=chip=%{chip} --tile-to-gpu-pipeline --gpu-to-llvm-pipeline --emit-bytecode \
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
// How many elements are wrong, and the sum of what they should be, so that not all of them are 0.
// CHECK: result 0: 2xf32
// CHECK-NEXT: {{^}}0 {{[1-9][0-9.e+]*$}}

!a = memref<70x50xbf16>
!b = memref<50x72xbf16>
!c = memref<70x72xbf16>
!bias = memref<72xf32>
!out = memref<2xf32>

!lhs = !tile.tile<64x32xbf16, registers>
!rhs = !tile.tile<32x32xbf16, registers>
!acc = !tile.tile<64x32xf32, registers>
!row = !tile.tile<32xf32, registers>
!half = !tile.tile<64x32xbf16, registers>

module attributes {gpu.container_module} {

gpu.module @kernels {
  gpu.func @gemm(%a: !a, %b: !b, %c: !c, %bias: !bias) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %size = arith.constant 50 : index
    %zero = arith.constant 0.0 : f32
    %x = gpu.block_id x
    %y = gpu.block_id y
    %row = arith.muli %x, %c64 : index
    %column = arith.muli %y, %c32 : index
    %none = tile.fill %zero : f32 -> !acc
    %sums = scf.for %k = %c0 to %size step %c32 iter_args(%acc = %none) -> !acc {
      %lhs = tile.load %a[%row, %k] stages 2 : !a -> !lhs
      %rhs = tile.load %b[%k, %column] stages 3 : !b -> !rhs
      %sum = tile.mma %lhs, %rhs, %acc : !lhs, !rhs, !acc
      scf.yield %sum : !acc
    }
    %biases = tile.load %bias[%column] : !bias -> !row
    %all = tile.broadcast %biases dim 1 : !row -> !acc
    %result = tile.map(%sums, %all) {
    ^bb0(%sum: f32, %more: f32, %i: index, %j: index):
      %both = arith.addf %sum, %more : f32
      %half = arith.truncf %both : f32 to bf16
      tile.yield %half : bf16
    } : (!acc, !acc) -> !half
    tile.store %result, %c[%row, %column] : !half, !c
    gpu.return
  }
}

// One thread fills the inputs, and one thread computes again.
gpu.module @host_side {
  gpu.func @fill(%a: !a, %b: !b, %bias: !bias) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c5 = arith.constant 5 : index
    %c7 = arith.constant 7 : index
    %m = arith.constant 70 : index
    %n = arith.constant 72 : index
    %k = arith.constant 50 : index
    %two = arith.constant 2.0 : f32
    %one = arith.constant 1.0 : f32
    scf.for %i = %c0 to %m step %c1 {
      scf.for %j = %c0 to %k step %c1 {
        %three = arith.muli %i, %c3 : index
        %seven = arith.muli %j, %c7 : index
        %sum = arith.addi %three, %seven : index
        %rest = arith.remui %sum, %c5 : index
        %int = arith.index_cast %rest : index to i32
        %float = arith.sitofp %int : i32 to f32
        %value = arith.subf %float, %two : f32
        %half = arith.truncf %value : f32 to bf16
        memref.store %half, %a[%i, %j] : !a
      }
    }
    scf.for %i = %c0 to %k step %c1 {
      scf.for %j = %c0 to %n step %c1 {
        %five = arith.muli %i, %c5 : index
        %sum = arith.addi %five, %j : index
        %rest = arith.remui %sum, %c3 : index
        %int = arith.index_cast %rest : index to i32
        %float = arith.sitofp %int : i32 to f32
        %value = arith.subf %float, %one : f32
        %half = arith.truncf %value : f32 to bf16
        memref.store %half, %b[%i, %j] : !b
      }
    }
    scf.for %j = %c0 to %n step %c1 {
      %int = arith.index_cast %j : index to i32
      %float = arith.sitofp %int : i32 to f32
      memref.store %float, %bias[%j] : !bias
    }
    gpu.return
  }
}

gpu.module @checks {
  gpu.func @check(%a: !a, %b: !b, %c: !c, %bias: !bias, %out: !out) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %m = arith.constant 70 : index
    %n = arith.constant 72 : index
    %k = arith.constant 50 : index
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %wrong, %sum = scf.for %i = %c0 to %m step %c1 iter_args(%wrong0 = %zero, %sum0 = %zero) -> (f32, f32) {
      %wrong1, %sum1 = scf.for %j = %c0 to %n step %c1 iter_args(%wrong2 = %wrong0, %sum2 = %sum0) -> (f32, f32) {
        %first = memref.load %bias[%j] : !bias
        %element = scf.for %l = %c0 to %k step %c1 iter_args(%acc = %first) -> (f32) {
          %x = memref.load %a[%i, %l] : !a
          %y = memref.load %b[%l, %j] : !b
          %xf = arith.extf %x : bf16 to f32
          %yf = arith.extf %y : bf16 to f32
          %product = arith.mulf %xf, %yf : f32
          %next = arith.addf %acc, %product : f32
          scf.yield %next : f32
        }
        %rounded = arith.truncf %element : f32 to bf16
        %expected = arith.extf %rounded : bf16 to f32
        %half = memref.load %c[%i, %j] : !c
        %got = arith.extf %half : bf16 to f32
        // Unordered: NaN is wrong too.
        %differs = arith.cmpf une, %got, %expected : f32
        %count = arith.select %differs, %one, %zero : f32
        %wrong3 = arith.addf %wrong2, %count : f32
        %size = math.absf %expected : f32
        %sum3 = arith.addf %sum2, %size : f32
        scf.yield %wrong3, %sum3 : f32, f32
      }
      scf.yield %wrong1, %sum1 : f32, f32
    }
    memref.store %wrong, %out[%c0] : !out
    memref.store %sum, %out[%c1] : !out
    gpu.return
  }
}

func.func @gemm() -> tensor<2xf32> {
  %c1 = arith.constant 1 : index
  %blocks_m = arith.constant 2 : index
  %blocks_n = arith.constant 3 : index
  %threads = arith.constant 128 : index
  %a = memref.alloc() : !a
  %b = memref.alloc() : !b
  %c = memref.alloc() : !c
  %bias = memref.alloc() : !bias
  %out = memref.alloc() : !out
  gpu.launch_func @host_side::@fill blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    args(%a : !a, %b : !b, %bias : !bias)
  gpu.launch_func @kernels::@gemm blocks in (%blocks_m, %blocks_n, %c1) threads in (%threads, %c1, %c1)
    args(%a : !a, %b : !b, %c : !c, %bias : !bias)
  gpu.launch_func @checks::@check blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    args(%a : !a, %b : !b, %c : !c, %bias : !bias, %out : !out)
  %result = bufferization.to_tensor %out restrict : !out to tensor<2xf32>
  return %result : tensor<2xf32>
}

}
