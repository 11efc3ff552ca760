// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles that warps divide in one way where they are computed and in another where they are used, written by hand. Warps share the
// columns of p = a * b and the rows of d = relu(p) * e + (sums of the columns of p) + (sums of its rows), which two steps add up: p, as an
// operand and to sum rows, and the sums of its columns pass through shared memory, twice. All sums are whole numbers that bf16 and f32 hold
// exactly.
//
// DEFINE: %{chip} =
// DEFINE: %{warps} = 4
// DEFINE: %{run} = sed "s/WARPS/%{warps}/" %s | attune-opt - --attune-attach-target=chip=%{chip} --tile-to-gpu-pipeline --gpu-to-llvm-pipeline \
// DEFINE:   --emit-bytecode | attune-run - --device=host --print --max-steps=1000000000 | FileCheck %s
// REDEFINE: %{chip} = sm_80
// RUN: %{run}
// REDEFINE: %{chip} = sm_90a
// RUN: %{run}
// REDEFINE: %{chip} = gfx1100
// RUN: %{run}
// REDEFINE: %{chip} = gfx942
// REDEFINE: %{warps} = 2
// RUN: %{run}
//
// How many elements are wrong, and the sum of what they should be, so that not all of them are 0.
// CHECK: result 0: 2xf32
// CHECK-NEXT: {{^}}0 {{[1-9][0-9.e+]*$}}

!a = memref<64x32xbf16>
!b = memref<32x64xbf16>
!e = memref<64x64xbf16>
!d = memref<64x64xf32>
!out = memref<2xf32>
!p = memref<64x64xf32, #gpu.address_space<workgroup>>

!lhs = !tile.tile<64x32xbf16, registers>
!rhs = !tile.tile<32x64xbf16, registers>
!square = !tile.tile<64x64xbf16, registers>
!acc = !tile.tile<64x64xf32, registers>
!row = !tile.tile<64xf32, registers>

module attributes {gpu.container_module} {

gpu.module @kernels {
  gpu.func @chain(%a: !a, %b: !b, %e: !e, %d: !d) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %zero = arith.constant 0.0 : f32
    %none = tile.fill %zero : f32 -> !acc
    %x = tile.load %a[%c0, %c0] : !a -> !lhs
    %sums = scf.for %i = %c0 to %c2 step %c1 iter_args(%sum = %none) -> !acc {
      %y = tile.load %b[%c0, %c0] : !b -> !rhs
      %p = tile.mma %x, %y, %none warps_n WARPS : !lhs, !rhs, !acc
      %ofColumns = tile.reduce add %p dim 0 : !acc -> !row
      %ofRows = tile.reduce add %p dim 1 : !acc -> !row
      %relu = tile.map(%p) {
      ^bb0(%s: f32, %m: index, %n: index):
        %positive = arith.maximumf %s, %zero : f32
        %half = arith.truncf %positive : f32 to bf16
        tile.yield %half : bf16
      } : (!acc) -> !square
      %z = tile.load %e[%c0, %c0] : !e -> !square
      %product = tile.mma %relu, %z, %sum : !square, !square, !acc
      %all = tile.broadcast %ofColumns dim 1 : !row -> !acc
      %allRows = tile.broadcast %ofRows dim 0 : !row -> !acc
      %next = tile.map(%product, %all, %allRows) {
      ^bb0(%s: f32, %more: f32, %most: f32, %m: index, %n: index):
        %both = arith.addf %s, %more : f32
        %three = arith.addf %both, %most : f32
        tile.yield %three : f32
      } : (!acc, !acc, !acc) -> !acc
      scf.yield %next : !acc
    }
    tile.store %sums, %d[%c0, %c0] : !acc, !d
    gpu.return
  }
}

// One thread fills the inputs, and one thread computes again.
gpu.module @host_side {
  gpu.func @fill(%a: !a, %b: !b, %e: !e) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c5 = arith.constant 5 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %one = arith.constant 1.0 : f32
    scf.for %i = %c0 to %c64 step %c1 {
      scf.for %j = %c0 to %c64 step %c1 {
        %five = arith.muli %i, %c5 : index
        %sum = arith.addi %five, %j : index
        %square = arith.muli %sum, %sum : index
        %far = arith.addi %square, %i : index
        %rest = arith.remui %far, %c3 : index
        %int = arith.index_cast %rest : index to i32
        %float = arith.sitofp %int : i32 to f32
        %value = arith.subf %float, %one : f32
        %half = arith.truncf %value : f32 to bf16
        memref.store %half, %e[%i, %j] : !e
        %isOfA = arith.cmpi ult, %j, %c32 : index
        scf.if %isOfA {
          memref.store %half, %a[%i, %j] : !a
        }
        %isOfB = arith.cmpi ult, %i, %c32 : index
        scf.if %isOfB {
          memref.store %half, %b[%i, %j] : !b
        }
      }
    }
    gpu.return
  }
}

gpu.module @checks {
  gpu.func @check(%a: !a, %b: !b, %e: !e, %d: !d, %out: !out)
      workgroup(%p: !p) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    scf.for %i = %c0 to %c64 step %c1 {
      scf.for %j = %c0 to %c64 step %c1 {
        %element = scf.for %l = %c0 to %c32 step %c1 iter_args(%acc = %zero) -> (f32) {
          %x = memref.load %a[%i, %l] : !a
          %y = memref.load %b[%l, %j] : !b
          %xf = arith.extf %x : bf16 to f32
          %yf = arith.extf %y : bf16 to f32
          %next = math.fma %xf, %yf, %acc : f32
          scf.yield %next : f32
        }
        memref.store %element, %p[%i, %j] : !p
      }
    }
    %wrong, %size = scf.for %i = %c0 to %c64 step %c1 iter_args(%wrong0 = %zero, %size0 = %zero) -> (f32, f32) {
      %wrong1, %size1 = scf.for %j = %c0 to %c64 step %c1 iter_args(%wrong2 = %wrong0, %size2 = %size0) -> (f32, f32) {
        %element = scf.for %l = %c0 to %c64 step %c1 iter_args(%acc = %zero) -> (f32) {
          %x = memref.load %p[%i, %l] : !p
          %positive = arith.maximumf %x, %zero : f32
          %y = memref.load %e[%l, %j] : !e
          %yf = arith.extf %y : bf16 to f32
          %product = math.fma %positive, %yf, %acc : f32
          %ofColumn = memref.load %p[%l, %j] : !p
          %both = arith.addf %product, %ofColumn : f32
          %next = arith.addf %both, %x : f32
          scf.yield %next : f32
        }
        %expected = arith.addf %element, %element : f32
        %got = memref.load %d[%i, %j] : !d
        // Unordered: NaN is wrong too.
        %differs = arith.cmpf une, %got, %expected : f32
        %count = arith.select %differs, %one, %zero : f32
        %wrong3 = arith.addf %wrong2, %count : f32
        %absolute = math.absf %expected : f32
        %size3 = arith.addf %size2, %absolute : f32
        scf.yield %wrong3, %size3 : f32, f32
      }
      scf.yield %wrong1, %size1 : f32, f32
    }
    memref.store %wrong, %out[%c0] : !out
    memref.store %size, %out[%c1] : !out
    gpu.return
  }
}

func.func @chain() -> tensor<2xf32> {
  %c1 = arith.constant 1 : index
  %threads = arith.constant 128 : index
  %a = memref.alloc() : !a
  %b = memref.alloc() : !b
  %e = memref.alloc() : !e
  %d = memref.alloc() : !d
  %out = memref.alloc() : !out
  gpu.launch_func @host_side::@fill blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : !a, %b : !b, %e : !e)
  gpu.launch_func @kernels::@chain blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%a : !a, %b : !b, %e : !e, %d : !d)
  gpu.launch_func @checks::@check blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    args(%a : !a, %b : !b, %e : !e, %d : !d, %out : !out)
  %result = bufferization.to_tensor %out restrict : !out to tensor<2xf32>
  return %result : tensor<2xf32>
}

}
