// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A parity does not tell a phase from the one before the last: who waits by it must know that this one has ended.
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_90" --gpu-to-llvm-pipeline --emit-bytecode -o %t.mlirbc
// RUN: attune-run %t.mlirbc --device=host --print --function=meets | FileCheck %s --check-prefix=RIGHT
// RUN: attune-run %t.mlirbc --device=host --print --function=meets --host-seed=1 | FileCheck %s --check-prefix=RIGHT
// RUN: not attune-run %t.mlirbc --device=host --print --function=skips 2>&1 | FileCheck %s --check-prefix=SKIPS

!barrier = memref<1xi64, #gpu.address_space<workgroup>>

module attributes {gpu.container_module} {

gpu.module @kernels {
  // One thread ends three phases, and another one waits for the third alone.
  gpu.func @third(%out: memref<1xf32>, %meets: index) workgroup(%barriers: !barrier)
      kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c32 = arith.constant 32 : index
    %ticks = arith.constant 1000 : i32
    %even = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %value = arith.constant 1.0 : f32
    %tid = gpu.thread_id x
    %address = memref.extract_aligned_pointer_as_index %barriers : !barrier -> index
    %address64 = arith.index_cast %address : index to i64
    %barrier = llvm.inttoptr %address64 : i64 to !llvm.ptr<3>
    %waits = arith.cmpi eq, %tid, %c0 : index
    %arrives = arith.cmpi eq, %tid, %c32 : index
    scf.if %waits {
      nvvm.mbarrier.init %barrier, %one : !llvm.ptr<3>, i32
    }
    gpu.barrier
    scf.for %i = %c0 to %c3 step %c1 {
      scf.if %arrives {
        %token = nvvm.mbarrier.arrive %barrier : !llvm.ptr<3> -> i64
      }
      scf.for %j = %c0 to %meets step %c1 {
        gpu.barrier
      }
    }
    scf.if %waits {
      // SKIPS: mbarrier-phases.mlir:[[#@LINE+1]]:7: error: 'nvvm.mbarrier.try_wait.parity' op waits by parity for phase 2 of the barrier at shared+0x0, but does not know that phase 1 has ended, thread (0, 0, 0), block (0, 0, 0)
      nvvm.mbarrier.try_wait.parity %barrier, %even, %ticks : !llvm.ptr<3>, i32, i32
      memref.store %value, %out[%c0] : memref<1xf32>
    }
    gpu.return
  }
}

// RIGHT: result 0: 1xf32
// RIGHT-NEXT: {{^}}1{{$}}
func.func @meets() -> tensor<1xf32> {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %out = memref.alloc() : memref<1xf32>
  gpu.launch_func @kernels::@third blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1)
    args(%out : memref<1xf32>, %c1 : index)
  %result = bufferization.to_tensor %out restrict : memref<1xf32> to tensor<1xf32>
  return %result : tensor<1xf32>
}

func.func @skips() -> tensor<1xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %out = memref.alloc() : memref<1xf32>
  gpu.launch_func @kernels::@third blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1)
    args(%out : memref<1xf32>, %c0 : index)
  %result = bufferization.to_tensor %out restrict : memref<1xf32> to tensor<1xf32>
  return %result : tensor<1xf32>
}

}
