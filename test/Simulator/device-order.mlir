// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One workgroup hands values on to another through global memory. Only atomics
// and fences order them, in whatever order the workgroups are executed. Each
// fault is a line that is missing, or changed.
//
// DEFINE: %{check} = attune-opt --attune-attach-target="chip=sm_80" --gpu-to-llvm-pipeline | attune-run --device=host --print
// DEFINE: %{fault} = attune-opt --attune-attach-target="chip=sm_80" --gpu-to-llvm-pipeline | not attune-run --device=host --print 2>&1
//
// RUN: cat %s | %{check} | FileCheck %s --check-prefix=RIGHT
// RUN: sed -e '/llvm.fence/d' -e 's/ monotonic/ acq_rel/' %s | %{check} | FileCheck %s --check-prefix=RIGHT
// RUN: sed -e '/(wait)/d' %s | %{check} --checks=bounds,uninitialized,alignment,waits,convergence | FileCheck %s --check-prefix=RIGHT
// RIGHT: result 0: 32xf32
// RIGHT-NEXT: {{^}}32 31 30 29
//
// RUN: sed -e '/(wait)/d' %s | %{fault} | FileCheck %s --check-prefix=READ
// RUN: sed -e '/(barrier before)/d' %s | %{fault} | FileCheck %s --check-prefix=READ
// RUN: sed -e '/(barrier behind)/d' %s | %{fault} | FileCheck %s --check-prefix=READ
// RUN: sed -e '/(fence before)/d' %s | %{fault} | FileCheck %s --check-prefix=READ
// RUN: sed -e '/(fence behind)/d' %s | %{fault} | FileCheck %s --check-prefix=READ
// RUN: sed -e 's/syncscope("device")/syncscope("workgroup")/' %s | %{fault} | FileCheck %s --check-prefix=READ
// READ: error: 'llvm.load' op reads what was written by thread ({{[0-9]+}}, 0, 0) of block (0, 0, 0) with nothing that orders them between, {{[0-9]+}} bytes into 'between', thread ({{[0-9]+}}, 0, 0), block (1, 0, 0)
// READ: note: that access is here
//
// RUN: sed -e 's/cmpi eq, %block/cmpi uge, %block/' %s | %{fault} | FileCheck %s --check-prefix=OVERWRITE
// OVERWRITE: error: 'llvm.store' op overwrites what was written by thread (0, 0, 0) of block (0, 0, 0) with nothing that orders them between, 0 bytes into 'between', thread (0, 0, 0), block (1, 0, 0)
//
// RUN: sed -e 's/between\[%%tid\]/between[%c0]/' %s | %{fault} | FileCheck %s --check-prefix=ONE
// ONE: error: 'llvm.store' op overwrites what was written by thread (0, 0, 0) of block (0, 0, 0) with nothing that orders them between, 0 bytes into 'between', thread (1, 0, 0), block (0, 0, 0)
//
// RUN: sed -e '/(reset)/d' %s | %{fault} | FileCheck %s --check-prefix=ZERO
// ZERO: error: kernel 'exchange' expects to leave workspace 'flag' zero, as its manifest says, but got 1 in byte 0

module attributes {gpu.container_module} {

gpu.module @kernels {
  gpu.func @exchange(%in: memref<32xf32>, %out: memref<32xf32>, %between: memref<32xf32>, %flag: memref<1xi32>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>,
        launch.manifest = #launch.manifest<arguments = [
          #launch.buffer<name = "in", type = memref<32xf32>, access = read>,
          #launch.buffer<name = "out", type = memref<32xf32>, access = write>,
          #launch.workspace<name = "between", type = f32, sizes = [#launch.product<32>], alignment = 4, contents = undefined>,
          #launch.workspace<name = "flag", type = i32, sizes = [#launch.product<1>], alignment = 4, contents = zero, restored = true>]>} {
    %c0 = arith.constant 0 : index
    %c31 = arith.constant 31 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %block = gpu.block_id x
    %tid = gpu.thread_id x
    %other = arith.subi %c31, %tid : index
    %writes = arith.cmpi eq, %block, %c0 : index
    %leads = arith.cmpi eq, %tid, %c0 : index
    %start = memref.extract_aligned_pointer_as_index %flag : memref<1xi32> -> index
    %start64 = arith.index_cast %start : index to i64
    %pointer = llvm.inttoptr %start64 : i64 to !llvm.ptr
    scf.if %writes {
      %x = memref.load %in[%tid] : memref<32xf32>
      memref.store %x, %between[%tid] : memref<32xf32>
      gpu.barrier // (barrier before)
      scf.if %leads {
        llvm.fence syncscope("device") acq_rel // (fence before)
        %before = llvm.atomicrmw add %pointer, %one monotonic : !llvm.ptr, i32
      }
    } else {
      scf.if %leads {
        scf.while : () -> () { // (wait)
          %count = llvm.atomicrmw add %pointer, %zero monotonic : !llvm.ptr, i32 // (wait)
          %early = arith.cmpi eq, %count, %zero : i32 // (wait)
          scf.condition(%early) // (wait)
        } do { // (wait)
          scf.yield // (wait)
        } // (wait)
        llvm.fence syncscope("device") acq_rel // (fence behind)
        %last = llvm.atomicrmw xchg %pointer, %zero monotonic : !llvm.ptr, i32 // (reset)
      }
      gpu.barrier // (barrier behind)
      %y = memref.load %between[%other] : memref<32xf32>
      memref.store %y, %out[%tid] : memref<32xf32>
    }
    gpu.return
  }
}

func.func @exchange() -> tensor<32xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %threads = arith.constant 32 : index
  %values = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0,
    17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0, 25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0]> : tensor<32xf32>
  %in = bufferization.to_buffer %values : tensor<32xf32> to memref<32xf32>
  %out = memref.alloc() : memref<32xf32>
  %between = memref.alloc() : memref<32xf32>
  %flag = memref.alloc() : memref<1xi32>
  gpu.memset %flag, %c0 : memref<1xi32>, i32 {launch.restored}
  gpu.launch_func @kernels::@exchange blocks in (%c2, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%in : memref<32xf32>, %out : memref<32xf32>, %between : memref<32xf32>, %flag : memref<1xi32>)
  %result = bufferization.to_tensor %out restrict : memref<32xf32> to tensor<32xf32>
  return %result : tensor<32xf32>
}

}
