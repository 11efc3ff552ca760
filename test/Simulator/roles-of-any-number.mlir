// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A copy by four roles that go from tile to tile: one loads and takes the numbers of tiles from a counter, one stores,
// and two of all threads look on, so that a slot is free when all three have released it.
//
// RUN: attune-opt %s \
// RUN:   --pass-pipeline="builtin.module(attune-attach-target{chip=sm_90a},gpu.module(gpu.func(tile-use-work-counter,tile-assign-layouts,tile-allocate-shared)),convert-tile-to-gpu,canonicalize,cse)" -o %t.gpu.mlir
// RUN: FileCheck %s --check-prefix=ARRIVALS < %t.gpu.mlir
// RUN: attune-opt %t.gpu.mlir --gpu-to-llvm-pipeline | attune-run - --device=host --print --function=copy | FileCheck %s

// Two slots of assigned numbers, which 4 + 2 warps and a thread take; two slots of the ring, which as many release.
// ARRIVALS-LABEL: gpu.func @copy
// ARRIVALS-DAG: %[[FULL:.+]] = arith.constant 1 : i32
// ARRIVALS-DAG: %[[EMPTY:.+]] = arith.constant 7 : i32
// ARRIVALS: nvvm.mbarrier.init %{{.+}}, %[[FULL]]
// ARRIVALS: nvvm.mbarrier.init %{{.+}}, %[[EMPTY]]
// ARRIVALS: nvvm.mbarrier.init %{{.+}}, %[[FULL]]
// ARRIVALS: nvvm.mbarrier.init %{{.+}}, %[[EMPTY]]
// ARRIVALS: nvvm.mbarrier.init %{{.+}}, %[[FULL]]
// ARRIVALS: nvvm.mbarrier.init %{{.+}}, %[[FULL]]
// ARRIVALS: nvvm.mbarrier.init %{{.+}}, %[[EMPTY]]
// ARRIVALS: nvvm.mbarrier.init %{{.+}}, %[[EMPTY]]
// ARRIVALS-NOT: nvvm.mbarrier.init

// CHECK: result 0: 32x16xf16
// CHECK-NEXT: {{^}}0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0{{$}}
// CHECK-NEXT: {{^}}1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1{{$}}
// CHECK: {{^}}8 8 8 8 8 8 8 8 8 8 8 8 8 8 8 8{{$}}
// CHECK: {{^}}17 17 17 17 17 17 17 17 17 17 17 17 17 17 17 17{{$}}
// CHECK: {{^}}31 31 31 31 31 31 31 31 31 31 31 31 31 31 31 31{{$}}

!m = memref<32x16xf16>
!channel = !tile.channel<8x16xf16, stages = 2, swizzle_atom = 16>
!shared = !tile.tile<8x16xf16, shared, #tile.swizzle<vector = 8, bits = 1, shift = 2, swizzle_atom = 16>>

module attributes {gpu.container_module} {
gpu.module @copy_module {
  gpu.func @copy(%in: !m, %out: !m, %counter: memref<1xi32> {tile.work_counter}) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %ring = tile.channel : !channel
    %own = gpu.block_id x
    %grid = gpu.grid_dim x
    tile.specialize <"look", warps = 4> {
      %r = scf.for %t = %own to %c4 step %grid iter_args(%n = %c0) -> index {
        %s = tile.get %ring[%n] : !channel -> !shared
        tile.release %ring[%n] : !channel
        %next = arith.addi %n, %c1 : index
        scf.yield %next : index
      } {tile.dynamic}
    }, <"watch", warps = 2> {
      %r = scf.for %t = %own to %c4 step %grid iter_args(%n = %c0) -> index {
        %s = tile.get %ring[%n] : !channel -> !shared
        tile.release %ring[%n] : !channel
        %next = arith.addi %n, %c1 : index
        scf.yield %next : index
      } {tile.dynamic}
    }, <"load", warps = 1, threads = one> {
      %r = scf.for %t = %own to %c4 step %grid iter_args(%n = %c0) -> index {
        %row = arith.muli %t, %c8 : index
        tile.put %ring[%n], %in[%row, %c0] : !channel, !m
        %next = arith.addi %n, %c1 : index
        scf.yield %next : index
      } {tile.dynamic}
    }, <"store", warps = 1, threads = one> {
      %r = scf.for %t = %own to %c4 step %grid iter_args(%n = %c0) -> index {
        %row = arith.muli %t, %c8 : index
        %s = tile.get %ring[%n] : !channel -> !shared
        %stored = tile.store_async %s, %out[%row, %c0] : !shared, !m
        tile.wait_reads %stored : !tile.token
        tile.release %ring[%n] : !channel
        %next = arith.addi %n, %c1 : index
        scf.yield %next : index
      } {tile.dynamic}
    }
    gpu.return
  }
}

gpu.module @fill_module {
  gpu.func @fill(%m: !m, %counter: memref<1xi32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %none = arith.constant 0 : i32
    %tid = gpu.thread_id x
    %first = arith.cmpi eq, %tid, %c0 : index
    scf.if %first {
      memref.store %none, %counter[%c0] : memref<1xi32>
    }
    %rows = tile.map() {
    ^bb0(%i: index, %j: index):
      %number = arith.index_cast %i : index to i32
      %x = arith.sitofp %number : i32 to f16
      tile.yield %x : f16
    } : () -> !tile.tile<32x16xf16, registers>
    tile.store %rows, %m[%c0, %c0] : !tile.tile<32x16xf16, registers>, !m
    gpu.return
  }
}

func.func @copy() -> tensor<32x16xf16> {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %in = memref.alloc() : !m
  %out = memref.alloc() : !m
  %counter = memref.alloc() : memref<1xi32>
  gpu.launch_func @fill_module::@fill blocks in (%c1, %c1, %c1) threads in (%c128, %c1, %c1)
    args(%in : !m, %counter : memref<1xi32>)
  gpu.launch_func @copy_module::@copy blocks in (%c2, %c1, %c1) threads in (%c256, %c1, %c1)
    args(%in : !m, %out : !m, %counter : memref<1xi32>)
  %result = bufferization.to_tensor %out restrict : !m to tensor<32x16xf16>
  return %result : tensor<32x16xf16>
}
}
