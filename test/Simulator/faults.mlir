// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each check finds what it is for, where it happens, and is silent about the
// same kernel without the fault.
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_80" --gpu-to-llvm-pipeline --emit-bytecode -o %t.mlirbc
// RUN: attune-run %t.mlirbc --device=host --print --function=clean | FileCheck %s --check-prefix=CLEAN
// CLEAN: result 0: 32xf32
// CLEAN-NEXT: {{^}}1 2 3 4
//
// RUN: not attune-run %t.mlirbc --device=host --print --function=write_then_read 2>&1 | FileCheck %s --check-prefix=WAR
// RUN: attune-run %t.mlirbc --device=host --print --function=write_then_read --checks=bounds,uninitialized,alignment,waits,convergence | FileCheck %s --check-prefix=WAROFF
// WAROFF: result 0
// RUN: not attune-run %t.mlirbc --device=host --print --function=read_then_write 2>&1 | FileCheck %s --check-prefix=RAW
// RUN: not attune-run %t.mlirbc --device=host --print --function=outside 2>&1 | FileCheck %s --check-prefix=BOUNDS
// RUN: not attune-run %t.mlirbc --device=host --print --function=outside_shared 2>&1 | FileCheck %s --check-prefix=SHARED
// RUN: not attune-run %t.mlirbc --device=host --print --function=uninitialized 2>&1 | FileCheck %s --check-prefix=UNINITIALIZED
// RUN: attune-run %t.mlirbc --device=host --print --function=uninitialized --checks=races,bounds,alignment,waits,convergence | FileCheck %s --check-prefix=POISON
// POISON: result 0
// POISON-NEXT: {{^}}{{-?}}nan {{-?}}nan
// RUN: not attune-run %t.mlirbc --device=host --print --function=misaligned 2>&1 | FileCheck %s --check-prefix=MISALIGNED
// RUN: attune-run %t.mlirbc --device=host --print --function=misaligned --checks=none | FileCheck %s --check-prefix=MISALIGNEDOFF
// MISALIGNEDOFF: result 0: 32xf32
// MISALIGNEDOFF-NEXT: {{^}}2 3 3 4
// RUN: not attune-run %t.mlirbc --device=host --print --function=no_wait 2>&1 | FileCheck %s --check-prefix=NOWAIT
// RUN: attune-run %t.mlirbc --device=host --print --function=never_waited 2>&1 | FileCheck %s --check-prefix=NEVER
// RUN: attune-run %t.mlirbc --device=host --print --function=never_waited --checks=races 2>&1 | FileCheck %s --check-prefix=NEVEROFF --implicit-check-not=warning
// NEVEROFF: result 0
// RUN: not attune-run %t.mlirbc --device=host --print --function=bad_manifest 2>&1 | FileCheck %s --check-prefix=MANIFEST
// MANIFEST: error: kernel 'bad_manifest' expects a manifest of its 10 parameters, but got one of more
//
// A crash of the kernel is not one of the tool.
// RUN: not attune-run %t.mlirbc --device=host --print --function=wild 2>&1 | FileCheck %s --check-prefix=WILD
// RUN: not attune-run %t.mlirbc --device=host --print --function=wild --checks=none 2>&1 | FileCheck %s --check-prefix=CRASH
// CRASH: error: kernel 'wild' crashed (code {{-?[0-9]+}}) in thread (0, 0, 0) of block (0, 0, 0): a division by 0, or an access that was not checked

!shared = memref<32xf32, #gpu.address_space<workgroup>>

module attributes {gpu.container_module} {

gpu.module @clean_module {
  // Lane l reads what lane 31 - l wrote.
  gpu.func @clean(%in: memref<32xf32>, %out: memref<32xf32>) workgroup(%s: !shared)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %lane = gpu.thread_id x
    %c31 = arith.constant 31 : index
    %other = arith.subi %c31, %lane : index
    %x = memref.load %in[%lane] : memref<32xf32>
    memref.store %x, %s[%other] : !shared
    gpu.barrier
    %y = memref.load %s[%other] : !shared
    gpu.barrier
    memref.store %y, %s[%lane] : !shared
    memref.store %y, %out[%lane] : memref<32xf32>
    gpu.return
  }
}

gpu.module @write_then_read_module {
  gpu.func @write_then_read(%in: memref<32xf32>, %out: memref<32xf32>) workgroup(%s: !shared)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %lane = gpu.thread_id x
    %c2 = arith.constant 2 : index
    %other = arith.divui %lane, %c2 : index
    %x = memref.load %in[%lane] : memref<32xf32>
    // WAR-DAG: faults.mlir:[[#@LINE+1]]:5: note: that access is here
    memref.store %x, %s[%lane] : !shared
    // WAR-DAG: faults.mlir:[[#@LINE+1]]:10: error: 'llvm.load' op reads what was written by thread (0, 0, 0) with no barrier between, address shared+0x0, thread (1, 0, 0), block (0, 0, 0)
    %y = memref.load %s[%other] : !shared
    // WAR-DAG: error: kernel 'write_then_read' has faults
    memref.store %y, %out[%lane] : memref<32xf32>
    gpu.return
  }
}

gpu.module @read_then_write_module {
  gpu.func @read_then_write(%in: memref<32xf32>, %out: memref<32xf32>) workgroup(%s: !shared)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %lane = gpu.thread_id x
    %c31 = arith.constant 31 : index
    %other = arith.subi %c31, %lane : index
    %x = memref.load %in[%lane] : memref<32xf32>
    memref.store %x, %s[%lane] : !shared
    gpu.barrier
    %y = memref.load %s[%other] : !shared
    // RAW: faults.mlir:[[#@LINE+1]]:5: error: 'llvm.store' op overwrites what was read by thread (31, 0, 0) with no barrier between, address shared+0x0, thread (0, 0, 0)
    memref.store %y, %s[%lane] : !shared
    memref.store %y, %out[%lane] : memref<32xf32>
    gpu.return
  }
}

gpu.module @outside_module {
  gpu.func @outside(%in: memref<32xf32>, %out: memref<32xf32>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>,
        launch.manifest = #launch.manifest<arguments = [#launch.buffer<name = "in", type = memref<32xf32>, access = read>,
                                                        #launch.buffer<name = "out", type = memref<32xf32>, access = write>]>} {
    %lane = gpu.thread_id x
    %c1 = arith.constant 1 : index
    %next = arith.addi %lane, %c1 : index
    // BOUNDS-DAG: faults.mlir:[[#@LINE+1]]:10: error: 'llvm.load' op reads 4 bytes outside of the kernel's arguments, address 0x{{[0-9A-F]+}}, 0 bytes behind the end of 'in', thread (31, 0, 0)
    %x = memref.load %in[%next] : memref<32xf32>
    // BOUNDS-DAG: faults.mlir:[[#@LINE+1]]:5: error: 'llvm.store' op writes 4 bytes of an argument that is only read, address 0x{{[0-9A-F]+}}, 0 bytes into 'in', thread (0, 0, 0)
    memref.store %x, %in[%lane] : memref<32xf32>
    gpu.return
  }
}

gpu.module @outside_shared_module {
  gpu.func @outside_shared(%in: memref<32xf32>, %out: memref<32xf32>) workgroup(%s: !shared)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %lane = gpu.thread_id x
    %c1 = arith.constant 1 : index
    %next = arith.addi %lane, %c1 : index
    %x = memref.load %in[%lane] : memref<32xf32>
    // SHARED: faults.mlir:[[#@LINE+1]]:5: error: 'llvm.store' op writes 4 bytes outside of the 128 bytes of workgroup memory, address shared+0x80, thread (31, 0, 0)
    memref.store %x, %s[%next] : !shared
    gpu.return
  }
}

gpu.module @uninitialized_module {
  gpu.func @uninitialized(%in: memref<32xf32>, %out: memref<32xf32>) workgroup(%s: !shared)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %lane = gpu.thread_id x
    // UNINITIALIZED: faults.mlir:[[#@LINE+1]]:10: error: 'llvm.load' op reads workgroup memory that was never written, address shared+0x0, thread (0, 0, 0)
    %x = memref.load %s[%lane] : !shared
    memref.store %x, %out[%lane] : memref<32xf32>
    gpu.return
  }
}

gpu.module @misaligned_module {
  gpu.func @misaligned(%in: memref<32xf32>, %out: memref<32xf32>)
      kernel attributes {known_block_size = array<i32: 2, 1, 1>} {
    %lane = gpu.thread_id x
    %c1 = arith.constant 1 : index
    %next = arith.addi %lane, %c1 : index
    // MISALIGNED: faults.mlir:[[#@LINE+1]]:10: error: 'llvm.load' op expects an address that is a multiple of 8 bytes, but got 0x{{[0-9A-F]+}}, thread (0, 0, 0)
    %x = vector.load %in[%next] {alignment = 8} : memref<32xf32>, vector<2xf32>
    vector.store %x, %out[%lane] {alignment = 4} : memref<32xf32>, vector<2xf32>
    %c2 = arith.constant 2 : index
    %last = vector.extract %x[1] : f32 from vector<2xf32>
    %at = arith.addi %lane, %c2 : index
    gpu.barrier
    memref.store %last, %out[%at] : memref<32xf32>
    gpu.return
  }
}

gpu.module @no_wait_module {
  gpu.func @no_wait(%in: memref<32xf32>, %out: memref<32xf32>) workgroup(%s: !shared)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %lane = gpu.thread_id x
    // NOWAIT-DAG: faults.mlir:[[#@LINE+1]]:14: note: the copy is here
    %token = nvgpu.device_async_copy %in[%lane], %s[%lane], 1 : memref<32xf32> to !shared
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 1
    // NOWAIT-DAG: faults.mlir:[[#@LINE+1]]:10: error: 'llvm.load' op reads what an asynchronous copy of this thread that was not waited for writes, address shared+0x0, thread (0, 0, 0)
    %x = memref.load %s[%lane] : !shared
    memref.store %x, %out[%lane] : memref<32xf32>
    gpu.return
  }
}

gpu.module @never_waited_module {
  gpu.func @never_waited(%in: memref<32xf32>, %out: memref<32xf32>) workgroup(%s: !shared)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %lane = gpu.thread_id x
    // NEVER: faults.mlir:[[#@LINE+1]]:14: warning: 'nvvm.cp.async.shared.global' op copies what is never waited for, thread (0, 0, 0)
    %token = nvgpu.device_async_copy %in[%lane], %s[%lane], 1 : memref<32xf32> to !shared
    nvvm.cp.async.commit.group
    gpu.return
    // NEVER: result 0
  }
}

gpu.module @bad_manifest_module {
  llvm.func @bad_manifest(%in: !llvm.ptr, %in_aligned: !llvm.ptr, %in_offset: i64, %in_size: i64, %in_stride: i64, %out: !llvm.ptr,
      %out_aligned: !llvm.ptr, %out_offset: i64, %out_size: i64, %out_stride: i64) attributes {gpu.kernel,
        launch.manifest = #launch.manifest<arguments = [#launch.buffer<name = "in", type = memref<?x?x?x?x?xf32>, access = read>]>} {
    llvm.return
  }
}

gpu.module @wild_module {
  gpu.func @wild(%in: memref<32xf32>, %out: memref<32xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %far = arith.constant 0x100000000000 : index
    // WILD: faults.mlir:[[#@LINE+1]]:10: error: 'llvm.load' op reads 4 bytes outside of the kernel's arguments
    %x = memref.load %in[%far] : memref<32xf32>
    %c0 = arith.constant 0 : index
    memref.store %x, %out[%c0] : memref<32xf32>
    gpu.return
  }
}

func.func @clean() -> tensor<32xf32> {
  %c1 = arith.constant 1 : index
  %threads = arith.constant 32 : index
  %values = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0,
    17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0, 25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0]> : tensor<32xf32>
  %in = bufferization.to_buffer %values : tensor<32xf32> to memref<32xf32>
  %out = memref.alloc() : memref<32xf32>
  gpu.launch_func @clean_module::@clean blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%in : memref<32xf32>, %out : memref<32xf32>)
  %result = bufferization.to_tensor %out restrict : memref<32xf32> to tensor<32xf32>
  return %result : tensor<32xf32>
}

func.func @write_then_read() -> tensor<32xf32> {
  %c1 = arith.constant 1 : index
  %threads = arith.constant 32 : index
  %values = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0,
    17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0, 25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0]> : tensor<32xf32>
  %in = bufferization.to_buffer %values : tensor<32xf32> to memref<32xf32>
  %out = memref.alloc() : memref<32xf32>
  gpu.launch_func @write_then_read_module::@write_then_read blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%in : memref<32xf32>, %out : memref<32xf32>)
  %result = bufferization.to_tensor %out restrict : memref<32xf32> to tensor<32xf32>
  return %result : tensor<32xf32>
}

func.func @read_then_write() -> tensor<32xf32> {
  %c1 = arith.constant 1 : index
  %threads = arith.constant 32 : index
  %values = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0,
    17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0, 25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0]> : tensor<32xf32>
  %in = bufferization.to_buffer %values : tensor<32xf32> to memref<32xf32>
  %out = memref.alloc() : memref<32xf32>
  gpu.launch_func @read_then_write_module::@read_then_write blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%in : memref<32xf32>, %out : memref<32xf32>)
  %result = bufferization.to_tensor %out restrict : memref<32xf32> to tensor<32xf32>
  return %result : tensor<32xf32>
}

func.func @outside() -> tensor<32xf32> {
  %c1 = arith.constant 1 : index
  %threads = arith.constant 32 : index
  %values = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0,
    17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0, 25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0]> : tensor<32xf32>
  %in = bufferization.to_buffer %values : tensor<32xf32> to memref<32xf32>
  %out = memref.alloc() : memref<32xf32>
  gpu.launch_func @outside_module::@outside blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%in : memref<32xf32>, %out : memref<32xf32>)
  %result = bufferization.to_tensor %out restrict : memref<32xf32> to tensor<32xf32>
  return %result : tensor<32xf32>
}

func.func @outside_shared() -> tensor<32xf32> {
  %c1 = arith.constant 1 : index
  %threads = arith.constant 32 : index
  %values = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0,
    17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0, 25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0]> : tensor<32xf32>
  %in = bufferization.to_buffer %values : tensor<32xf32> to memref<32xf32>
  %out = memref.alloc() : memref<32xf32>
  gpu.launch_func @outside_shared_module::@outside_shared blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%in : memref<32xf32>, %out : memref<32xf32>)
  %result = bufferization.to_tensor %out restrict : memref<32xf32> to tensor<32xf32>
  return %result : tensor<32xf32>
}

func.func @uninitialized() -> tensor<32xf32> {
  %c1 = arith.constant 1 : index
  %threads = arith.constant 32 : index
  %values = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0,
    17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0, 25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0]> : tensor<32xf32>
  %in = bufferization.to_buffer %values : tensor<32xf32> to memref<32xf32>
  %out = memref.alloc() : memref<32xf32>
  gpu.launch_func @uninitialized_module::@uninitialized blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%in : memref<32xf32>, %out : memref<32xf32>)
  %result = bufferization.to_tensor %out restrict : memref<32xf32> to tensor<32xf32>
  return %result : tensor<32xf32>
}

func.func @misaligned() -> tensor<32xf32> {
  %c1 = arith.constant 1 : index
  %threads = arith.constant 2 : index
  %values = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0,
    17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0, 25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0]> : tensor<32xf32>
  %in = bufferization.to_buffer %values : tensor<32xf32> to memref<32xf32>
  %out = memref.alloc() : memref<32xf32>
  gpu.launch_func @misaligned_module::@misaligned blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%in : memref<32xf32>, %out : memref<32xf32>)
  %result = bufferization.to_tensor %out restrict : memref<32xf32> to tensor<32xf32>
  return %result : tensor<32xf32>
}

func.func @no_wait() -> tensor<32xf32> {
  %c1 = arith.constant 1 : index
  %threads = arith.constant 32 : index
  %values = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0,
    17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0, 25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0]> : tensor<32xf32>
  %in = bufferization.to_buffer %values : tensor<32xf32> to memref<32xf32>
  %out = memref.alloc() : memref<32xf32>
  gpu.launch_func @no_wait_module::@no_wait blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%in : memref<32xf32>, %out : memref<32xf32>)
  %result = bufferization.to_tensor %out restrict : memref<32xf32> to tensor<32xf32>
  return %result : tensor<32xf32>
}

func.func @never_waited() -> tensor<32xf32> {
  %c1 = arith.constant 1 : index
  %threads = arith.constant 32 : index
  %values = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0,
    17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0, 25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0]> : tensor<32xf32>
  %in = bufferization.to_buffer %values : tensor<32xf32> to memref<32xf32>
  %out = memref.alloc() : memref<32xf32>
  gpu.launch_func @never_waited_module::@never_waited blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%in : memref<32xf32>, %out : memref<32xf32>)
  %result = bufferization.to_tensor %out restrict : memref<32xf32> to tensor<32xf32>
  return %result : tensor<32xf32>
}

func.func @wild() -> tensor<32xf32> {
  %c1 = arith.constant 1 : index
  %threads = arith.constant 32 : index
  %values = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0,
    17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0, 25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0]> : tensor<32xf32>
  %in = bufferization.to_buffer %values : tensor<32xf32> to memref<32xf32>
  %out = memref.alloc() : memref<32xf32>
  gpu.launch_func @wild_module::@wild blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%in : memref<32xf32>, %out : memref<32xf32>)
  %result = bufferization.to_tensor %out restrict : memref<32xf32> to tensor<32xf32>
  return %result : tensor<32xf32>
}

func.func @bad_manifest() -> tensor<32xf32> {
  %c1 = arith.constant 1 : index
  %threads = arith.constant 32 : index
  %values = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0,
    17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0, 25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0]> : tensor<32xf32>
  %in = bufferization.to_buffer %values : tensor<32xf32> to memref<32xf32>
  %out = memref.alloc() : memref<32xf32>
  gpu.launch_func @bad_manifest_module::@bad_manifest blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%in : memref<32xf32>, %out : memref<32xf32>)
  %result = bufferization.to_tensor %out restrict : memref<32xf32> to tensor<32xf32>
  return %result : tensor<32xf32>
}

}
