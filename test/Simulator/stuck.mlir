// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that cannot end are stopped, and say where their lanes are.
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_80" --gpu-to-llvm-pipeline --emit-bytecode -o %t.mlirbc
// RUN: attune-run %t.mlirbc --device=host --print --function=named | FileCheck %s --check-prefix=NAMED
// RUN: attune-run %t.mlirbc --device=host --print --function=named --host-seed=11 | FileCheck %s --check-prefix=NAMED
// NAMED: result 0: 64xf32
// NAMED-NEXT: {{^}}32 33 34 {{.*}} 62 63 0 1 2 {{.*}} 30 31{{$}}
// RUN: not attune-run %t.mlirbc --device=host --print --function=one_warp 2>&1 | FileCheck %s --check-prefix=DEADLOCK
// RUN: not attune-run %t.mlirbc --device=host --print --function=half_warp 2>&1 | FileCheck %s --check-prefix=DIVERGED
// RUN: not attune-run %t.mlirbc --device=host --print --function=two_barriers 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: not attune-run %t.mlirbc --device=host --print --function=two_counts 2>&1 | FileCheck %s --check-prefix=COUNTS
// RUN: not attune-run %t.mlirbc --device=host --print --function=one_and_a_half 2>&1 | FileCheck %s --check-prefix=HALF
// RUN: not attune-run %t.mlirbc --device=host --print --function=endless --max-steps=1000 2>&1 | FileCheck %s --check-prefix=ENDLESS
//
// Instructions of a whole warp, in a part of one.
// RUN: not attune-run %t.mlirbc --device=host --print --function=part 2>&1 | FileCheck %s --check-prefix=PART
// RUN: not attune-run %t.mlirbc --device=host --print --function=foreign 2>&1 | FileCheck %s --check-prefix=FOREIGN

!shared = memref<64xf32, #gpu.address_space<workgroup>>

module attributes {gpu.container_module} {

gpu.module @named_module {
  // Two warps exchange values at barrier 3.
  gpu.func @named(%out: memref<64xf32>) workgroup(%s: !shared)
      kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %lane = gpu.thread_id x
    %c32 = arith.constant 32 : index
    %other = arith.xori %lane, %c32 : index
    %word = arith.index_cast %lane : index to i32
    %x = arith.sitofp %word : i32 to f32
    memref.store %x, %s[%lane] : !shared
    %id = arith.constant 3 : i32
    %count = arith.constant 64 : i32
    nvvm.barrier id = %id number_of_threads = %count
    %y = memref.load %s[%other] : !shared
    memref.store %y, %out[%lane] : memref<64xf32>
    gpu.return
  }
}

gpu.module @one_warp_module {
  // The second warp has returned.
  gpu.func @one_warp(%out: memref<64xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %lane = gpu.thread_id x
    %c32 = arith.constant 32 : index
    %first = arith.cmpi ult, %lane, %c32 : index
    scf.if %first {
      // DEADLOCK: stuck.mlir:[[#@LINE+5]]:7: error: 'nvvm.barrier0' op waits for barrier 0, which never comes, block (0, 0, 0)
      // DEADLOCK: stuck.mlir:[[#@LINE+4]]:7: note: threads 0 to 31 wait here for barrier 0
      // DEADLOCK: note: barrier 0: 32 of 64 threads have come
      // DEADLOCK: note: threads 32 to 63 have returned
      // DEADLOCK: error: kernel 'one_warp' has faults: 1 were found
      gpu.barrier
    }
    gpu.return
  }
}

gpu.module @half_warp_module {
  // Half of a warp takes part in an exchange of all lanes, the other half waits
  // at a barrier.
  gpu.func @half_warp(%out: memref<64xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %lane = gpu.thread_id x
    %c16 = arith.constant 16 : index
    %low = arith.cmpi ult, %lane, %c16 : index
    %all = arith.constant -1 : i32
    %one = arith.constant 1 : i32
    %whole = arith.constant 31 : i32
    %word = arith.index_cast %lane : index to i32
    scf.if %low {
      // DIVERGED: stuck.mlir:[[#@LINE+2]]:12: error: 'nvvm.shfl.sync' op waits for all lanes of the warp to exchange values, which never comes, block (0, 0, 0)
      // DIVERGED: stuck.mlir:[[#@LINE+1]]:12: note: threads 0 to 15 wait here for all lanes of the warp to exchange values
      %x = nvvm.shfl.sync bfly %all, %word, %one, %whole : i32 -> i32
      %y = arith.sitofp %x : i32 to f32
      memref.store %y, %out[%lane] : memref<64xf32>
    }
    // DIVERGED: stuck.mlir:[[#@LINE+2]]:5: note: threads 16 to 63 wait here for barrier 0
    // DIVERGED: note: barrier 0: 48 of 64 threads have come
    gpu.barrier
    gpu.return
  }
}

gpu.module @two_barriers_module {
  gpu.func @two_barriers(%out: memref<64xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %lane = gpu.thread_id x
    %c16 = arith.constant 16 : index
    %low = arith.cmpi ult, %lane, %c16 : index
    // TWO-DAG: error: 'nvvm.barrier0' op expects all lanes of a warp at the same barrier, but got lanes at two, thread (16, 0, 0)
    // TWO-DAG: note: thread (0, 0, 0) is here
    scf.if %low {
      gpu.barrier
    } else {
      gpu.barrier
      %zero = arith.constant 0.0 : f32
      memref.store %zero, %out[%lane] : memref<64xf32>
    }
    gpu.return
  }
}

gpu.module @two_counts_module {
  gpu.func @two_counts(%out: memref<64xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %lane = gpu.thread_id x
    %c32 = arith.constant 32 : index
    %first = arith.cmpi ult, %lane, %c32 : index
    %c64 = arith.constant 64 : i32
    %c96 = arith.constant 96 : i32
    %count = arith.select %first, %c64, %c96 : i32
    %id = arith.constant 1 : i32
    // COUNTS: stuck.mlir:[[#@LINE+1]]:5: error: 'nvvm.barrier' op expects the same number of threads as those that came to barrier 1, 64, but got 96
    nvvm.barrier id = %id number_of_threads = %count
    gpu.return
  }
}

gpu.module @one_and_a_half_module {
  gpu.func @one_and_a_half(%out: memref<64xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %id = arith.constant 1 : i32
    %count = arith.constant 48 : i32
    // HALF: stuck.mlir:[[#@LINE+1]]:5: error: 'nvvm.barrier' op expects a number of threads that is a multiple of the 32 of a warp, but got 48
    nvvm.barrier id = %id number_of_threads = %count
    gpu.return
  }
}

gpu.module @endless_module {
  gpu.func @endless(%out: memref<64xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %lane = gpu.thread_id x
    %zero = arith.constant 0.0 : f32
    %c0 = arith.constant 0 : index
    %c63 = arith.constant 63 : index
    %last_at = arith.constant 1 : index
    %last = arith.cmpi eq, %lane, %c63 : index
    scf.if %last {
      // ENDLESS: stuck.mlir:[[#@LINE+7]]:9: error: {{.*}} expects a loop that ends within 1000 steps of a thread, but thread (63, 0, 0) of block (0, 0, 0) did not; --max-steps sets the limit
      scf.while : () -> () {
        %x = memref.load %out[%c0] : memref<64xf32>
        %go = arith.cmpf uno, %x, %zero : f32
        scf.condition(%go)
      } do {
        memref.store %zero, %out[%last_at] : memref<64xf32>
        scf.yield
      }
    }
    // ENDLESS: error: 'nvvm.barrier0' op waits for barrier 0 meanwhile
    // ENDLESS: note: thread 63 does not wait
    gpu.barrier
    gpu.return
  }
}

func.func @named() -> tensor<64xf32> {
  %c1 = arith.constant 1 : index
  %threads = arith.constant 64 : index
  %out = memref.alloc() : memref<64xf32>
  gpu.launch_func @named_module::@named blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%out : memref<64xf32>)
  %result = bufferization.to_tensor %out restrict : memref<64xf32> to tensor<64xf32>
  return %result : tensor<64xf32>
}

func.func @one_warp() -> tensor<64xf32> {
  %c1 = arith.constant 1 : index
  %threads = arith.constant 64 : index
  %out = memref.alloc() : memref<64xf32>
  gpu.launch_func @one_warp_module::@one_warp blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%out : memref<64xf32>)
  %result = bufferization.to_tensor %out restrict : memref<64xf32> to tensor<64xf32>
  return %result : tensor<64xf32>
}

func.func @half_warp() -> tensor<64xf32> {
  %c1 = arith.constant 1 : index
  %threads = arith.constant 64 : index
  %out = memref.alloc() : memref<64xf32>
  gpu.launch_func @half_warp_module::@half_warp blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%out : memref<64xf32>)
  %result = bufferization.to_tensor %out restrict : memref<64xf32> to tensor<64xf32>
  return %result : tensor<64xf32>
}

func.func @two_barriers() -> tensor<64xf32> {
  %c1 = arith.constant 1 : index
  %threads = arith.constant 64 : index
  %out = memref.alloc() : memref<64xf32>
  gpu.launch_func @two_barriers_module::@two_barriers blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%out : memref<64xf32>)
  %result = bufferization.to_tensor %out restrict : memref<64xf32> to tensor<64xf32>
  return %result : tensor<64xf32>
}

func.func @two_counts() -> tensor<64xf32> {
  %c1 = arith.constant 1 : index
  %threads = arith.constant 64 : index
  %out = memref.alloc() : memref<64xf32>
  gpu.launch_func @two_counts_module::@two_counts blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%out : memref<64xf32>)
  %result = bufferization.to_tensor %out restrict : memref<64xf32> to tensor<64xf32>
  return %result : tensor<64xf32>
}

func.func @one_and_a_half() -> tensor<64xf32> {
  %c1 = arith.constant 1 : index
  %threads = arith.constant 64 : index
  %out = memref.alloc() : memref<64xf32>
  gpu.launch_func @one_and_a_half_module::@one_and_a_half blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%out : memref<64xf32>)
  %result = bufferization.to_tensor %out restrict : memref<64xf32> to tensor<64xf32>
  return %result : tensor<64xf32>
}

func.func @endless() -> tensor<64xf32> {
  %c1 = arith.constant 1 : index
  %threads = arith.constant 64 : index
  %out = memref.alloc() : memref<64xf32>
  gpu.launch_func @endless_module::@endless blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%out : memref<64xf32>)
  %result = bufferization.to_tensor %out restrict : memref<64xf32> to tensor<64xf32>
  return %result : tensor<64xf32>
}

gpu.module @part_module {
  gpu.func @part(%out: memref<64xf32>) workgroup(%s: memref<8x8xf16, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    %c0 = arith.constant 0 : index
    // PART: error: 'nvvm.ldmatrix' op expects a warp of 32 lanes, but got one of 16, thread (0, 0, 0)
    %a = nvgpu.ldmatrix %s[%c0, %c0] {numTiles = 1 : i32, transpose = false}
      : memref<8x8xf16, #gpu.address_space<workgroup>> -> vector<1x2xf16>
    %x = vector.extract %a[0, 0] : f16 from vector<1x2xf16>
    %y = arith.extf %x : f16 to f32
    memref.store %y, %out[%c0] : memref<64xf32>
    gpu.return
  }
}

func.func @part() -> tensor<64xf32> {
  %c1 = arith.constant 1 : index
  %threads = arith.constant 16 : index
  %out = memref.alloc() : memref<64xf32>
  gpu.launch_func @part_module::@part blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%out : memref<64xf32>)
  %result = bufferization.to_tensor %out restrict : memref<64xf32> to tensor<64xf32>
  return %result : tensor<64xf32>
}

gpu.module @foreign_module {
  gpu.func @foreign(%out: memref<64xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %lane = gpu.thread_id x
    %mask = arith.constant 0xfe : i32
    %one = arith.constant 1 : i32
    %whole = arith.constant 31 : i32
    %word = arith.index_cast %lane : index to i32
    // FOREIGN: error: 'nvvm.shfl.sync' op expects a mask with the lane itself, thread (0, 0, 0), block (0, 0, 0)
    %x = nvvm.shfl.sync bfly %mask, %word, %one, %whole : i32 -> i32
    %y = arith.sitofp %x : i32 to f32
    memref.store %y, %out[%lane] : memref<64xf32>
    gpu.return
  }
}

func.func @foreign() -> tensor<64xf32> {
  %c1 = arith.constant 1 : index
  %threads = arith.constant 32 : index
  %out = memref.alloc() : memref<64xf32>
  gpu.launch_func @foreign_module::@foreign blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%out : memref<64xf32>)
  %result = bufferization.to_tensor %out restrict : memref<64xf32> to tensor<64xf32>
  return %result : tensor<64xf32>
}

}
