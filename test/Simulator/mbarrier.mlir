// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A ring of one slot: thread 0 fills it by bulk copies, a second warp empties
// it. Barriers in workgroup memory count arrivals, bytes and phases.
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_90" --gpu-to-llvm-pipeline --emit-bytecode -o %t.mlirbc
// RUN: attune-run %t.mlirbc --device=host --print --function=right | FileCheck %s --check-prefix=RIGHT
// RUN: attune-run %t.mlirbc --device=host --print --function=right --host-seed=1 | FileCheck %s --check-prefix=RIGHT
// RUN: attune-run %t.mlirbc --device=host --print --function=right --host-seed=2 | FileCheck %s --check-prefix=RIGHT
// RUN: not attune-run %t.mlirbc --device=host --print --function=no_full 2>&1 | FileCheck %s --check-prefix=NOFULL
// RUN: not attune-run %t.mlirbc --device=host --print --function=no_empty 2>&1 | FileCheck %s --check-prefix=NOEMPTY
// RUN: not attune-run %t.mlirbc --device=host --print --function=bytes 2>&1 | FileCheck %s --check-prefix=BYTES
// RUN: not attune-run %t.mlirbc --device=host --print --function=no_init 2>&1 | FileCheck %s --check-prefix=NOINIT

!slot = memref<32xf32, #gpu.address_space<workgroup>>
!barriers = memref<2xi64, #gpu.address_space<workgroup>>

module attributes {gpu.container_module} {

gpu.module @kernels {
  gpu.func @ring(%in: memref<3x32xf32>, %out: memref<3x32xf32>, %waits_full: index, %waits_empty: index, %bytes: index,
                 %inits: index) workgroup(%s: !slot, %barriers: !barriers)
      kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %c128 = arith.constant 128 : index
    %ticks = arith.constant 1000 : i32
    %one = arith.constant 1 : i32
    %thirty_two = arith.constant 32 : i32
    %size = arith.constant 128 : i32
    %expected = arith.index_cast %bytes : index to i32
    %tid = gpu.thread_id x
    %slot_address = memref.extract_aligned_pointer_as_index %s : !slot -> index
    %slot64 = arith.index_cast %slot_address : index to i64
    %slot = llvm.inttoptr %slot64 : i64 to !llvm.ptr<3>
    %full_address = memref.extract_aligned_pointer_as_index %barriers : !barriers -> index
    %full64 = arith.index_cast %full_address : index to i64
    %full = llvm.inttoptr %full64 : i64 to !llvm.ptr<3>
    %empty_address = arith.addi %full_address, %c8 : index
    %empty64 = arith.index_cast %empty_address : index to i64
    %empty = llvm.inttoptr %empty64 : i64 to !llvm.ptr<3>
    %source_address = memref.extract_aligned_pointer_as_index %in : memref<3x32xf32> -> index
    %first = arith.cmpi eq, %tid, %c0 : index
    %does_init = arith.cmpi eq, %inits, %c1 : index
    %starts = arith.andi %first, %does_init : i1
    scf.if %starts {
      nvvm.mbarrier.init %full, %one : !llvm.ptr<3>, i32
      nvvm.mbarrier.init %empty, %thirty_two : !llvm.ptr<3>, i32
      nvvm.fence.mbarrier.init
    }
    gpu.barrier
    %consumes = arith.cmpi uge, %tid, %c32 : index
    scf.for %i = %c0 to %c3 step %c1 {
      %odd = arith.remui %i, %c2 : index
      %parity = arith.index_cast %odd : index to i32
      %before = arith.xori %parity, %one : i32
      scf.if %first {
        %later = arith.cmpi uge, %i, %waits_empty : index
        scf.if %later {
          nvvm.mbarrier.try_wait.parity %empty, %before, %ticks : !llvm.ptr<3>, i32, i32
        }
        // NOEMPTY: mbarrier.mlir:[[#@LINE+1]]:9: error: 'nvvm.mbarrier.arrive.expect_tx' op expects at most 1 arrivals in a phase, but got more, thread (0, 0, 0)
        nvvm.mbarrier.arrive.expect_tx %full, %expected : !llvm.ptr<3>, i32
        %offset = arith.muli %i, %c128 : index
        %row = arith.addi %source_address, %offset : index
        %row64 = arith.index_cast %row : index to i64
        %source = llvm.inttoptr %row64 : i64 to !llvm.ptr<1>
        // NOFULL-DAG: mbarrier.mlir:[[#@LINE+1]]:9: note: the copy is here
        nvvm.cp.async.bulk.shared.cluster.global %slot, %source, %full, %size : !llvm.ptr<3>, !llvm.ptr<1>
      }
      scf.if %consumes {
        %waits = arith.cmpi eq, %waits_full, %c1 : index
        scf.if %waits {
          // NOINIT: mbarrier.mlir:[[#@LINE+7]]:11: error: 'nvvm.mbarrier.try_wait.parity' op expects a barrier that was initialised, thread (63, 0, 0), block (0, 0, 0)
          // BYTES: error: 'nvvm.mbarrier.try_wait.parity' op waits for the barrier at shared+0x[[EMPTY:[0-9A-F]+]], which never comes
          // BYTES: note: thread 0 waits here for the barrier at shared+0x[[EMPTY]]
          // BYTES: mbarrier.mlir:[[#@LINE+4]]:11: note: threads 32 to 63 wait here for the barrier at shared+0x[[FULL:[0-9A-F]+]]
          // BYTES: note: the barrier at shared+0x[[FULL]]: phase 0, 1 of 1 have arrived, 128 bytes have not come
          // BYTES: note: the barrier at shared+0x[[EMPTY]]: phase 0, 0 of 32 have arrived, 0 bytes have not come
          // BYTES: note: threads 1 to 31 have returned
          nvvm.mbarrier.try_wait.parity %full, %parity, %ticks : !llvm.ptr<3>, i32, i32
        }
        %at = arith.subi %tid, %c32 : index
        // NOFULL-DAG: mbarrier.mlir:[[#@LINE+1]]:14: error: 'llvm.load' op reads what an asynchronous copy of thread (0, 0, 0) that was not waited for writes
        %x = memref.load %s[%at] : !slot
        memref.store %x, %out[%i, %at] : memref<3x32xf32>
        %token = nvvm.mbarrier.arrive %empty : !llvm.ptr<3> -> i64
      }
    }
    gpu.return
  }
}

// RIGHT: result 0: 3x32xf32
// RIGHT-NEXT: {{^}}1 1 1 {{[1 ]*$}}
// RIGHT-NEXT: {{^}}2 2 2 {{[2 ]*$}}
// RIGHT-NEXT: {{^}}3 3 3 {{[3 ]*$}}
func.func @right() -> tensor<3x32xf32> {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %waits_full = arith.constant 1 : index
  %waits_empty = arith.constant 1 : index
  %bytes = arith.constant 128 : index
  %inits = arith.constant 1 : index
  %values = arith.constant dense<"0x0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F00000040000000400000004000000040000000400000004000000040000000400000004000000040000000400000004000000040000000400000004000000040000000400000004000000040000000400000004000000040000000400000004000000040000000400000004000000040000000400000004000000040000000400000404000004040000040400000404000004040000040400000404000004040000040400000404000004040000040400000404000004040000040400000404000004040000040400000404000004040000040400000404000004040000040400000404000004040000040400000404000004040000040400000404000004040"> : tensor<3x32xf32>
  %in = bufferization.to_buffer %values : tensor<3x32xf32> to memref<3x32xf32>
  %out = memref.alloc() : memref<3x32xf32>
  gpu.launch_func @kernels::@ring blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1)
    args(%in : memref<3x32xf32>, %out : memref<3x32xf32>, %waits_full : index, %waits_empty : index, %bytes : index,
         %inits : index)
  %result = bufferization.to_tensor %out restrict : memref<3x32xf32> to tensor<3x32xf32>
  return %result : tensor<3x32xf32>
}

func.func @no_full() -> tensor<3x32xf32> {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %waits_full = arith.constant 0 : index
  %waits_empty = arith.constant 1 : index
  %bytes = arith.constant 128 : index
  %inits = arith.constant 1 : index
  %values = arith.constant dense<"0x0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F00000040000000400000004000000040000000400000004000000040000000400000004000000040000000400000004000000040000000400000004000000040000000400000004000000040000000400000004000000040000000400000004000000040000000400000004000000040000000400000004000000040000000400000404000004040000040400000404000004040000040400000404000004040000040400000404000004040000040400000404000004040000040400000404000004040000040400000404000004040000040400000404000004040000040400000404000004040000040400000404000004040000040400000404000004040"> : tensor<3x32xf32>
  %in = bufferization.to_buffer %values : tensor<3x32xf32> to memref<3x32xf32>
  %out = memref.alloc() : memref<3x32xf32>
  gpu.launch_func @kernels::@ring blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1)
    args(%in : memref<3x32xf32>, %out : memref<3x32xf32>, %waits_full : index, %waits_empty : index, %bytes : index,
         %inits : index)
  %result = bufferization.to_tensor %out restrict : memref<3x32xf32> to tensor<3x32xf32>
  return %result : tensor<3x32xf32>
}

func.func @no_empty() -> tensor<3x32xf32> {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %waits_full = arith.constant 1 : index
  %waits_empty = arith.constant 9 : index
  %bytes = arith.constant 128 : index
  %inits = arith.constant 1 : index
  %values = arith.constant dense<"0x0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F00000040000000400000004000000040000000400000004000000040000000400000004000000040000000400000004000000040000000400000004000000040000000400000004000000040000000400000004000000040000000400000004000000040000000400000004000000040000000400000004000000040000000400000404000004040000040400000404000004040000040400000404000004040000040400000404000004040000040400000404000004040000040400000404000004040000040400000404000004040000040400000404000004040000040400000404000004040000040400000404000004040000040400000404000004040"> : tensor<3x32xf32>
  %in = bufferization.to_buffer %values : tensor<3x32xf32> to memref<3x32xf32>
  %out = memref.alloc() : memref<3x32xf32>
  gpu.launch_func @kernels::@ring blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1)
    args(%in : memref<3x32xf32>, %out : memref<3x32xf32>, %waits_full : index, %waits_empty : index, %bytes : index,
         %inits : index)
  %result = bufferization.to_tensor %out restrict : memref<3x32xf32> to tensor<3x32xf32>
  return %result : tensor<3x32xf32>
}

func.func @bytes() -> tensor<3x32xf32> {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %waits_full = arith.constant 1 : index
  %waits_empty = arith.constant 1 : index
  %bytes = arith.constant 256 : index
  %inits = arith.constant 1 : index
  %values = arith.constant dense<"0x0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F00000040000000400000004000000040000000400000004000000040000000400000004000000040000000400000004000000040000000400000004000000040000000400000004000000040000000400000004000000040000000400000004000000040000000400000004000000040000000400000004000000040000000400000404000004040000040400000404000004040000040400000404000004040000040400000404000004040000040400000404000004040000040400000404000004040000040400000404000004040000040400000404000004040000040400000404000004040000040400000404000004040000040400000404000004040"> : tensor<3x32xf32>
  %in = bufferization.to_buffer %values : tensor<3x32xf32> to memref<3x32xf32>
  %out = memref.alloc() : memref<3x32xf32>
  gpu.launch_func @kernels::@ring blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1)
    args(%in : memref<3x32xf32>, %out : memref<3x32xf32>, %waits_full : index, %waits_empty : index, %bytes : index,
         %inits : index)
  %result = bufferization.to_tensor %out restrict : memref<3x32xf32> to tensor<3x32xf32>
  return %result : tensor<3x32xf32>
}

func.func @no_init() -> tensor<3x32xf32> {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %waits_full = arith.constant 1 : index
  %waits_empty = arith.constant 1 : index
  %bytes = arith.constant 128 : index
  %inits = arith.constant 0 : index
  %values = arith.constant dense<"0x0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F00000040000000400000004000000040000000400000004000000040000000400000004000000040000000400000004000000040000000400000004000000040000000400000004000000040000000400000004000000040000000400000004000000040000000400000004000000040000000400000004000000040000000400000404000004040000040400000404000004040000040400000404000004040000040400000404000004040000040400000404000004040000040400000404000004040000040400000404000004040000040400000404000004040000040400000404000004040000040400000404000004040000040400000404000004040"> : tensor<3x32xf32>
  %in = bufferization.to_buffer %values : tensor<3x32xf32> to memref<3x32xf32>
  %out = memref.alloc() : memref<3x32xf32>
  gpu.launch_func @kernels::@ring blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1)
    args(%in : memref<3x32xf32>, %out : memref<3x32xf32>, %waits_full : index, %waits_empty : index, %bytes : index,
         %inits : index)
  %result = bufferization.to_tensor %out restrict : memref<3x32xf32> to tensor<3x32xf32>
  return %result : tensor<3x32xf32>
}

}
