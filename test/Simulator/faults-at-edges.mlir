// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Faults that a coarser check would miss: in a part of a word, at the edge of an
// argument, by an op that moves nothing, by another thread.
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_90" --gpu-to-llvm-pipeline --emit-bytecode -o %t.mlirbc
// RUN: not attune-run %t.mlirbc --device=host --print --function=edge 2>&1 | FileCheck %s --check-prefix=EDGE
// RUN: not attune-run %t.mlirbc --device=host --print --function=half 2>&1 | FileCheck %s --check-prefix=HALF
// RUN: not attune-run %t.mlirbc --device=host --print --function=half_race 2>&1 | FileCheck %s --check-prefix=HALFRACE
// RUN: not attune-run %t.mlirbc --device=host --print --function=atomic 2>&1 | FileCheck %s --check-prefix=ATOMIC
// RUN: not attune-run %t.mlirbc --device=host --print --function=no_bytes 2>&1 | FileCheck %s --check-prefix=NOBYTES
// RUN: not attune-run %t.mlirbc --device=host --print --function=other_fence 2>&1 | FileCheck %s --check-prefix=OTHERFENCE
// RUN: not attune-run %t.mlirbc --device=host --print --function=size 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: attune-run %t.mlirbc --device=host --print --function=phase | FileCheck %s --check-prefix=PHASE

!shared = memref<64xf16, #gpu.address_space<workgroup>>
!words = memref<32xf32, #gpu.address_space<workgroup>>
!barriers = memref<1xi64, #gpu.address_space<workgroup>>

module attributes {gpu.container_module} {

gpu.module @edge_module {
  gpu.func @edge(%in: memref<32xf32>, %out: memref<32xf32>)
      kernel attributes {known_block_size = array<i32: 2, 1, 1>,
        launch.manifest = #launch.manifest<arguments = [
          #launch.buffer<name = "in", type = memref<32xf32>, access = read>,
          #launch.buffer<name = "out", type = memref<32xf32>, access = write>]>} {
    %tid = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %first = arith.cmpi eq, %tid, %c0 : index
    %second = arith.cmpi eq, %tid, %c1 : index
    // EDGE: faults-at-edges.mlir:[[#@LINE+2]]:10: error: 'llvm.load' op reads 8 bytes outside of the kernel's arguments, address 0x{{[0-9A-F]+}}, 124 bytes into 'in', thread (0, 0, 0)
    %last = arith.constant 31 : index
    %x = vector.load %in[%last] {alignment = 4} : memref<32xf32>, vector<2xf32>
    vector.store %x, %out[%c0] {alignment = 4} : memref<32xf32>, vector<2xf32>
    gpu.return
  }
}

gpu.module @half_module {
  gpu.func @half(%in: memref<32xf32>, %out: memref<32xf32>) workgroup(%s: !shared)
      kernel attributes {known_block_size = array<i32: 2, 1, 1>} {
    %tid = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %first = arith.cmpi eq, %tid, %c0 : index
    %second = arith.cmpi eq, %tid, %c1 : index
    %half = arith.constant 1.0 : f16
    memref.store %half, %s[%c0] : !shared
    // HALF: faults-at-edges.mlir:[[#@LINE+1]]:10: error: 'llvm.load' op reads workgroup memory that was never written, address shared+0x0, thread (0, 0, 0)
    %x = vector.load %s[%c0] {alignment = 4} : !shared, vector<2xf16>
    %y = vector.extract %x[0] : f16 from vector<2xf16>
    %z = arith.extf %y : f16 to f32
    memref.store %z, %out[%c0] : memref<32xf32>
    gpu.return
  }
}

gpu.module @half_race_module {
  gpu.func @half_race(%in: memref<32xf32>, %out: memref<32xf32>) workgroup(%s: !shared)
      kernel attributes {known_block_size = array<i32: 2, 1, 1>} {
    %tid = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %first = arith.cmpi eq, %tid, %c0 : index
    %second = arith.cmpi eq, %tid, %c1 : index
    %half = arith.constant 1.0 : f16
    scf.if %first {
      // HALFRACE-DAG: faults-at-edges.mlir:[[#@LINE+1]]:7: note: that access is here
      memref.store %half, %s[%c0] : !shared
      memref.store %half, %s[%c1] : !shared
    } else {
      // HALFRACE-DAG: faults-at-edges.mlir:[[#@LINE+1]]:12: error: 'llvm.load' op reads what was written by thread (0, 0, 0) with no barrier between, address shared+0x0, thread (1, 0, 0)
      %x = memref.load %s[%c0] : !shared
      %y = arith.extf %x : f16 to f32
      memref.store %y, %out[%c0] : memref<32xf32>
    }
    gpu.return
  }
}

gpu.module @atomic_module {
  gpu.func @atomic(%in: memref<32xf32>, %out: memref<32xf32>) workgroup(%s: !words)
      kernel attributes {known_block_size = array<i32: 2, 1, 1>} {
    %tid = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %first = arith.cmpi eq, %tid, %c0 : index
    %second = arith.cmpi eq, %tid, %c1 : index
    %one = arith.constant 1.0 : f32
    scf.if %first {
      // ATOMIC-DAG: faults-at-edges.mlir:[[#@LINE+1]]:7: note: that access is here
      memref.store %one, %s[%c0] : !words
    } else {
      // ATOMIC-DAG: faults-at-edges.mlir:[[#@LINE+1]]:12: error: 'llvm.atomicrmw' op overwrites what was written by thread (0, 0, 0) with no barrier between, address shared+0x0, thread (1, 0, 0)
      %x = memref.atomic_rmw addf %one, %s[%c0] : (f32, !words) -> f32
    }
    gpu.return
  }
}

gpu.module @no_bytes_module {
  gpu.func @no_bytes(%in: memref<32xf32>, %out: memref<32xf32>) workgroup(%s: !words)
      kernel attributes {known_block_size = array<i32: 2, 1, 1>} {
    %tid = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %first = arith.cmpi eq, %tid, %c0 : index
    %second = arith.cmpi eq, %tid, %c1 : index
    // NOBYTES: faults-at-edges.mlir:[[#@LINE+1]]:14: error: 'nvvm.cp.async.shared.global' op expects addresses that are multiples of 16 bytes, but got 0x{{[0-9A-F]+}}, thread (0, 0, 0)
    %token = nvgpu.device_async_copy %in[%c0], %s[%c1], 4, %c0 : memref<32xf32> to !words
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 0
    gpu.return
  }
}

gpu.module @other_fence_module {
  gpu.func @other_fence(%in: memref<32xf32>, %out: memref<32xf32>) workgroup(%s: !words, %barriers: !barriers)
      kernel attributes {known_block_size = array<i32: 2, 1, 1>} {
    %tid = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %first = arith.cmpi eq, %tid, %c0 : index
    %second = arith.cmpi eq, %tid, %c1 : index
    %slot_address = memref.extract_aligned_pointer_as_index %s : !words -> index
    %slot64 = arith.index_cast %slot_address : index to i64
    %slot = llvm.inttoptr %slot64 : i64 to !llvm.ptr<3>
    %barrier_address = memref.extract_aligned_pointer_as_index %barriers : !barriers -> index
    %barrier64 = arith.index_cast %barrier_address : index to i64
    %barrier = llvm.inttoptr %barrier64 : i64 to !llvm.ptr<3>
    %source_address = memref.extract_aligned_pointer_as_index %in : memref<32xf32> -> index
    %source64 = arith.index_cast %source_address : index to i64
    %source = llvm.inttoptr %source64 : i64 to !llvm.ptr<1>
    %one = arith.constant 1 : i32
    %zero = arith.constant 0 : i32
    %ticks = arith.constant 1000 : i32
    %size = arith.constant 128 : i32
    scf.if %first {
      nvvm.mbarrier.init %barrier, %one : !llvm.ptr<3>, i32
    }
    gpu.barrier
    scf.if %second {
      nvvm.fence.mbarrier.init
    }
    gpu.barrier
    scf.if %first {
      nvvm.mbarrier.arrive.expect_tx %barrier, %size : !llvm.ptr<3>, i32
      // OTHERFENCE: faults-at-edges.mlir:[[#@LINE+1]]:7: error: 'nvvm.cp.async.bulk.shared.cluster.global' op expects nvvm.fence.mbarrier.init behind the initialisation of its barrier, by the thread that does it, thread (0, 0, 0)
      nvvm.cp.async.bulk.shared.cluster.global %slot, %source, %barrier, %size : !llvm.ptr<3>, !llvm.ptr<1>
      nvvm.mbarrier.try_wait.parity %barrier, %zero, %ticks : !llvm.ptr<3>, i32, i32
    }
    gpu.return
  }
}

gpu.module @size_module {
  gpu.func @size(%in: memref<32xf32>, %out: memref<32xf32>) workgroup(%s: !words, %barriers: !barriers)
      kernel attributes {known_block_size = array<i32: 2, 1, 1>} {
    %tid = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %first = arith.cmpi eq, %tid, %c0 : index
    %second = arith.cmpi eq, %tid, %c1 : index
    %slot_address = memref.extract_aligned_pointer_as_index %s : !words -> index
    %slot64 = arith.index_cast %slot_address : index to i64
    %slot = llvm.inttoptr %slot64 : i64 to !llvm.ptr<3>
    %barrier_address = memref.extract_aligned_pointer_as_index %barriers : !barriers -> index
    %barrier64 = arith.index_cast %barrier_address : index to i64
    %barrier = llvm.inttoptr %barrier64 : i64 to !llvm.ptr<3>
    %source_address = memref.extract_aligned_pointer_as_index %in : memref<32xf32> -> index
    %source64 = arith.index_cast %source_address : index to i64
    %source = llvm.inttoptr %source64 : i64 to !llvm.ptr<1>
    %one = arith.constant 1 : i32
    %zero = arith.constant 0 : i32
    %ticks = arith.constant 1000 : i32
    %size = arith.constant 24 : i32
    scf.if %first {
      nvvm.mbarrier.init %barrier, %one : !llvm.ptr<3>, i32
      nvvm.fence.mbarrier.init
      nvvm.mbarrier.arrive.expect_tx %barrier, %size : !llvm.ptr<3>, i32
      // SIZE: faults-at-edges.mlir:[[#@LINE+1]]:7: error: 'nvvm.cp.async.bulk.shared.cluster.global' op expects addresses and a size that are multiples of 16 bytes, thread (0, 0, 0)
      nvvm.cp.async.bulk.shared.cluster.global %slot, %source, %barrier, %size : !llvm.ptr<3>, !llvm.ptr<1>
      nvvm.mbarrier.try_wait.parity %barrier, %zero, %ticks : !llvm.ptr<3>, i32, i32
    }
    gpu.return
  }
}

gpu.module @phase_module {
  gpu.func @phase(%in: memref<32xf32>, %out: memref<32xf32>) workgroup(%s: !words, %barriers: !barriers)
      kernel attributes {known_block_size = array<i32: 2, 1, 1>} {
    %tid = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %first = arith.cmpi eq, %tid, %c0 : index
    %second = arith.cmpi eq, %tid, %c1 : index
    %slot_address = memref.extract_aligned_pointer_as_index %s : !words -> index
    %slot64 = arith.index_cast %slot_address : index to i64
    %slot = llvm.inttoptr %slot64 : i64 to !llvm.ptr<3>
    %barrier_address = memref.extract_aligned_pointer_as_index %barriers : !barriers -> index
    %barrier64 = arith.index_cast %barrier_address : index to i64
    %barrier = llvm.inttoptr %barrier64 : i64 to !llvm.ptr<3>
    %source_address = memref.extract_aligned_pointer_as_index %in : memref<32xf32> -> index
    %source64 = arith.index_cast %source_address : index to i64
    %source = llvm.inttoptr %source64 : i64 to !llvm.ptr<1>
    %one = arith.constant 1 : i32
    %zero = arith.constant 0 : i32
    %ticks = arith.constant 1000 : i32
    // One of two arrivals does not complete the phase that its token is of; the other one does.
    // PHASE: result 0: 32xf32
    // PHASE-NEXT: {{^}}0 1
    %two = arith.constant 2 : i32
    scf.if %first {
      nvvm.mbarrier.init %barrier, %two : !llvm.ptr<3>, i32
      %token = nvvm.mbarrier.arrive %barrier : !llvm.ptr<3> -> i64
      %early = nvvm.mbarrier.test.wait %barrier, %token : !llvm.ptr<3>, i64 -> i1
      %other = nvvm.mbarrier.arrive %barrier : !llvm.ptr<3> -> i64
      %late = nvvm.mbarrier.test.wait %barrier, %token : !llvm.ptr<3>, i64 -> i1
      %early_number = arith.uitofp %early : i1 to f32
      %late_number = arith.uitofp %late : i1 to f32
      memref.store %early_number, %out[%c0] : memref<32xf32>
      memref.store %late_number, %out[%c1] : memref<32xf32>
    }
    gpu.return
  }
}

func.func @edge() -> tensor<32xf32> {
  %c1 = arith.constant 1 : index
  %threads = arith.constant 2 : index
  %values = arith.constant dense<1.0> : tensor<32xf32>
  %in = bufferization.to_buffer %values : tensor<32xf32> to memref<32xf32>
  %out = memref.alloc() : memref<32xf32>
  gpu.launch_func @edge_module::@edge blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%in : memref<32xf32>, %out : memref<32xf32>)
  %result = bufferization.to_tensor %out restrict : memref<32xf32> to tensor<32xf32>
  return %result : tensor<32xf32>
}

func.func @half() -> tensor<32xf32> {
  %c1 = arith.constant 1 : index
  %threads = arith.constant 2 : index
  %values = arith.constant dense<1.0> : tensor<32xf32>
  %in = bufferization.to_buffer %values : tensor<32xf32> to memref<32xf32>
  %out = memref.alloc() : memref<32xf32>
  gpu.launch_func @half_module::@half blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%in : memref<32xf32>, %out : memref<32xf32>)
  %result = bufferization.to_tensor %out restrict : memref<32xf32> to tensor<32xf32>
  return %result : tensor<32xf32>
}

func.func @half_race() -> tensor<32xf32> {
  %c1 = arith.constant 1 : index
  %threads = arith.constant 2 : index
  %values = arith.constant dense<1.0> : tensor<32xf32>
  %in = bufferization.to_buffer %values : tensor<32xf32> to memref<32xf32>
  %out = memref.alloc() : memref<32xf32>
  gpu.launch_func @half_race_module::@half_race blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%in : memref<32xf32>, %out : memref<32xf32>)
  %result = bufferization.to_tensor %out restrict : memref<32xf32> to tensor<32xf32>
  return %result : tensor<32xf32>
}

func.func @atomic() -> tensor<32xf32> {
  %c1 = arith.constant 1 : index
  %threads = arith.constant 2 : index
  %values = arith.constant dense<1.0> : tensor<32xf32>
  %in = bufferization.to_buffer %values : tensor<32xf32> to memref<32xf32>
  %out = memref.alloc() : memref<32xf32>
  gpu.launch_func @atomic_module::@atomic blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%in : memref<32xf32>, %out : memref<32xf32>)
  %result = bufferization.to_tensor %out restrict : memref<32xf32> to tensor<32xf32>
  return %result : tensor<32xf32>
}

func.func @no_bytes() -> tensor<32xf32> {
  %c1 = arith.constant 1 : index
  %threads = arith.constant 2 : index
  %values = arith.constant dense<1.0> : tensor<32xf32>
  %in = bufferization.to_buffer %values : tensor<32xf32> to memref<32xf32>
  %out = memref.alloc() : memref<32xf32>
  gpu.launch_func @no_bytes_module::@no_bytes blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%in : memref<32xf32>, %out : memref<32xf32>)
  %result = bufferization.to_tensor %out restrict : memref<32xf32> to tensor<32xf32>
  return %result : tensor<32xf32>
}

func.func @other_fence() -> tensor<32xf32> {
  %c1 = arith.constant 1 : index
  %threads = arith.constant 2 : index
  %values = arith.constant dense<1.0> : tensor<32xf32>
  %in = bufferization.to_buffer %values : tensor<32xf32> to memref<32xf32>
  %out = memref.alloc() : memref<32xf32>
  gpu.launch_func @other_fence_module::@other_fence blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%in : memref<32xf32>, %out : memref<32xf32>)
  %result = bufferization.to_tensor %out restrict : memref<32xf32> to tensor<32xf32>
  return %result : tensor<32xf32>
}

func.func @size() -> tensor<32xf32> {
  %c1 = arith.constant 1 : index
  %threads = arith.constant 2 : index
  %values = arith.constant dense<1.0> : tensor<32xf32>
  %in = bufferization.to_buffer %values : tensor<32xf32> to memref<32xf32>
  %out = memref.alloc() : memref<32xf32>
  gpu.launch_func @size_module::@size blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%in : memref<32xf32>, %out : memref<32xf32>)
  %result = bufferization.to_tensor %out restrict : memref<32xf32> to tensor<32xf32>
  return %result : tensor<32xf32>
}

func.func @phase() -> tensor<32xf32> {
  %c1 = arith.constant 1 : index
  %threads = arith.constant 2 : index
  %values = arith.constant dense<1.0> : tensor<32xf32>
  %in = bufferization.to_buffer %values : tensor<32xf32> to memref<32xf32>
  %out = memref.alloc() : memref<32xf32>
  gpu.launch_func @phase_module::@phase blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%in : memref<32xf32>, %out : memref<32xf32>)
  %result = bufferization.to_tensor %out restrict : memref<32xf32> to tensor<32xf32>
  return %result : tensor<32xf32>
}

}
