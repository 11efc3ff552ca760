// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Asynchronous MMAs with one fault each, at run time so that all are the
// same kernel: `fault` says which.
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_90" --gpu-to-llvm-pipeline --emit-bytecode -o %t.mlirbc
// RUN: attune-run %t.mlirbc --device=host --print --function=right | FileCheck %s --check-prefix=RIGHT
// RUN: attune-run %t.mlirbc --device=host --print --function=right --host-seed=1 | FileCheck %s --check-prefix=RIGHT
// RUN: not attune-run %t.mlirbc --device=host --print --function=no_wait 2>&1 | FileCheck %s --check-prefix=NOWAIT
// RUN: not attune-run %t.mlirbc --device=host --print --function=no_proxy_fence 2>&1 | FileCheck %s --check-prefix=NOPROXYFENCE
// RUN: not attune-run %t.mlirbc --device=host --print --function=no_fence 2>&1 | FileCheck %s --check-prefix=NOFENCE
// RUN: not attune-run %t.mlirbc --device=host --print --function=overwritten 2>&1 | FileCheck %s --check-prefix=OVERWRITTEN
// RUN: not attune-run %t.mlirbc --device=host --print --function=outside 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// RUN: not attune-run %t.mlirbc --device=host --print --function=misaligned 2>&1 | FileCheck %s --check-prefix=MISALIGNED
// RUN: not attune-run %t.mlirbc --device=host --print --function=unknown 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not attune-run %t.mlirbc --device=host --print --function=disagree 2>&1 | FileCheck %s --check-prefix=DISAGREE
// RUN: attune-run %t.mlirbc --device=host --print --function=never_waited 2>&1 | FileCheck %s --check-prefix=NEVERWAITED
// RUN: attune-run %t.mlirbc --device=host --print --function=late_fence | FileCheck %s --check-prefix=RIGHT
// RUN: not attune-run %t.mlirbc --device=host --print --function=half_a_group 2>&1 | FileCheck %s --check-prefix=HALF
// RUN: attune-opt %s --attune-attach-target="chip=sm_90" --gpu-to-llvm-pipeline -o - \
// RUN:   | sed '/wgmma.mma_async/ { s/<bf16>/<tf32>/g; s/k = 16/k = 8/ }' | not attune-run - --device=host --print --function=right 2>&1 | FileCheck %s --check-prefix=TYPES

!shared = memref<2048xbf16, #gpu.address_space<workgroup>>
!registers = !llvm.struct<(f32, f32, f32, f32)>

module attributes {gpu.container_module} {

gpu.module @kernels {
  // All elements are 1, so that all sums are 16.
  gpu.func @multiply(%out: memref<128xf32>, %fault: index) workgroup(%s: !shared)
      kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %c6 = arith.constant 6 : index
    %c7 = arith.constant 7 : index
    %c8 = arith.constant 8 : index
    %c9 = arith.constant 9 : index
    %c10 = arith.constant 10 : index
    %c16 = arith.constant 16 : index
    %c128 = arith.constant 128 : index
    %c2048 = arith.constant 2048 : index
    %one = arith.constant 1.0 : bf16
    %tid = gpu.thread_id x
    %no_wait = arith.cmpi eq, %fault, %c1 : index
    %no_proxy_fence = arith.cmpi eq, %fault, %c2 : index
    %no_fence = arith.cmpi eq, %fault, %c3 : index
    %overwritten = arith.cmpi eq, %fault, %c4 : index
    %outside = arith.cmpi eq, %fault, %c5 : index
    %misaligned = arith.cmpi eq, %fault, %c6 : index
    %unknown = arith.cmpi eq, %fault, %c7 : index
    %disagree = arith.cmpi eq, %fault, %c8 : index
    %never = arith.cmpi eq, %fault, %c9 : index
    %late = arith.cmpi eq, %fault, %c10 : index
    %true = arith.constant true
    %window = arith.constant 0x3ffff : index
    scf.for %i = %tid to %c2048 step %c128 {
      // NOPROXYFENCE-DAG: wgmma-faults.mlir:[[#@LINE+1]]:7: note: that access is here
      memref.store %one, %s[%i] : !shared
    }
    %no_early = arith.ori %no_proxy_fence, %late : i1
    %early = arith.xori %no_early, %true : i1
    scf.if %early {
      nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    }
    gpu.barrier
    // Whoever knows of the writes can make the fence.
    scf.if %late {
      nvvm.fence.proxy {kind = #nvvm.proxy_kind<async>}
    }
    %fences = arith.xori %no_fence, %true : i1
    scf.if %fences {
      nvvm.wgmma.fence.aligned
    }
    // Rows of 32 bytes, 256 for each eight of them, swizzled.
    %bits = arith.constant 0xC000001000000000 : i64
    %more_bits = arith.constant 0xC020001000000000 : i64
    %base = memref.extract_aligned_pointer_as_index %s : !shared -> index
    %low = arith.andi %base, %window : index
    %piece = arith.divui %low, %c16 : index
    // Up to behind the memory, in another row of the pattern, one further.
    %far = arith.constant 144 : index
    %move_a = arith.select %outside, %far, %c0 : index
    %move_b = arith.select %misaligned, %c8, %move_a : index
    %thread_moves = arith.cmpi eq, %tid, %c7 : index
    %moves = arith.andi %thread_moves, %disagree : i1
    %move = arith.select %moves, %c2, %move_b : index
    %start = arith.addi %piece, %move : index
    %start64 = arith.index_cast %start : index to i64
    %high = arith.select %unknown, %more_bits, %bits : i64
    %a = arith.ori %start64, %high : i64

    %none = llvm.mlir.poison : !registers
    // NOWAIT-DAG: wgmma-faults.mlir:[[#@LINE+9]]:10: note: the MMA is here
    // OVERWRITTEN-DAG: wgmma-faults.mlir:[[#@LINE+8]]:10: note: that op is here
    // NOPROXYFENCE-DAG: wgmma-faults.mlir:[[#@LINE+7]]:10: error: 'nvvm.wgmma.mma_async' op reads through the asynchronous proxy what was written by thread (0, 0, 0) with no fence of the proxies between, address shared+0x0, thread (0, 0, 0)
    // NOFENCE: wgmma-faults.mlir:[[#@LINE+6]]:10: error: 'nvvm.wgmma.mma_async' op expects nvvm.wgmma.fence.aligned between other accesses to its registers and the MMA, thread (0, 0, 0)
    // OUTSIDE: wgmma-faults.mlir:[[#@LINE+5]]:10: error: 'nvvm.wgmma.mma_async' op reads a matrix outside of the 4096 bytes of workgroup memory, address shared+0x1000, thread (0, 0, 0)
    // MISALIGNED: wgmma-faults.mlir:[[#@LINE+4]]:10: error: 'nvvm.wgmma.mma_async' op expects a matrix that starts in the first 128 bytes of a swizzle's pattern of 256 bytes, but got address shared+0x80, thread (0, 0, 0)
    // UNKNOWN: wgmma-faults.mlir:[[#@LINE+3]]:10: error: 'nvvm.wgmma.mma_async' op expects a descriptor of an address, two offsets and a swizzle, but got other bits that are not 0, thread (0, 0, 0)
    // DISAGREE: wgmma-faults.mlir:[[#@LINE+2]]:10: error: 'nvvm.wgmma.mma_async' op expects the descriptors of thread (0, 0, 0), but got others, thread (7, 0, 0)
    // HALF: wgmma-faults.mlir:[[#@LINE+1]]:10: error: 'nvvm.wgmma.mma_async' op expects four warps, but got 2, thread ({{[0-9]+}}, 0, 0)
    %d = nvvm.wgmma.mma_async %a, %a, %none, <m = 64, n = 8, k = 16>, D [<f32>, <zero>],
        A [<bf16>, <one>, <row>], B [<bf16>, <one>, <col>] : !registers -> !registers
    // NEVERWAITED: wgmma-faults.mlir:[[#@LINE-2]]:10: warning: 'nvvm.wgmma.mma_async' op multiplies what is never waited for
    // TYPES: error: 'nvvm.wgmma.mma_async' op expects m64nNk16 of f16 or bf16, or m64nNk32 of e4m3 or e5m2, with f32 results to be executed on the host
    nvvm.wgmma.commit.group.sync.aligned
    scf.if %overwritten {
      // OVERWRITTEN-DAG: wgmma-faults.mlir:[[#@LINE+1]]:7: error: 'llvm.store' op overwrites what an asynchronous op that was not waited for reads, address shared+0x{{[0-9A-F]+}}, thread ({{[0-9]+}}, 0, 0)
      memref.store %one, %s[%tid] : !shared
    }
    %no_wait_at_all = arith.ori %no_wait, %never : i1
    %waits = arith.xori %no_wait_at_all, %true : i1
    scf.if %waits {
      nvvm.wgmma.wait.group.sync.aligned 0
    }
    // Taking a register out of the struct reads nothing yet.
    %x = llvm.extractvalue %d[3] : !registers
    %reads = arith.xori %never, %true : i1
    scf.if %reads {
      // NOWAIT-DAG: wgmma-faults.mlir:[[#@LINE+1]]:7: error: 'llvm.store' op reads the result of an MMA that was not waited for, thread ({{[0-9]+}}, 0, 0)
      memref.store %x, %out[%tid] : memref<128xf32>
    }
    gpu.return
  }
}

// RIGHT: result 0: 128xf32
// RIGHT-NEXT: {{^}}16 16 16 {{[16 ]*$}}
func.func @right() -> tensor<128xf32> {
  %c1 = arith.constant 1 : index
  %threads = arith.constant 128 : index
  %fault = arith.constant 0 : index
  %out = memref.alloc() : memref<128xf32>
  gpu.launch_func @kernels::@multiply blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%out : memref<128xf32>, %fault : index)
  %result = bufferization.to_tensor %out restrict : memref<128xf32> to tensor<128xf32>
  return %result : tensor<128xf32>
}
func.func @no_wait() -> tensor<128xf32> {
  %c1 = arith.constant 1 : index
  %threads = arith.constant 128 : index
  %fault = arith.constant 1 : index
  %out = memref.alloc() : memref<128xf32>
  gpu.launch_func @kernels::@multiply blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%out : memref<128xf32>, %fault : index)
  %result = bufferization.to_tensor %out restrict : memref<128xf32> to tensor<128xf32>
  return %result : tensor<128xf32>
}
func.func @no_proxy_fence() -> tensor<128xf32> {
  %c1 = arith.constant 1 : index
  %threads = arith.constant 128 : index
  %fault = arith.constant 2 : index
  %out = memref.alloc() : memref<128xf32>
  gpu.launch_func @kernels::@multiply blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%out : memref<128xf32>, %fault : index)
  %result = bufferization.to_tensor %out restrict : memref<128xf32> to tensor<128xf32>
  return %result : tensor<128xf32>
}
func.func @no_fence() -> tensor<128xf32> {
  %c1 = arith.constant 1 : index
  %threads = arith.constant 128 : index
  %fault = arith.constant 3 : index
  %out = memref.alloc() : memref<128xf32>
  gpu.launch_func @kernels::@multiply blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%out : memref<128xf32>, %fault : index)
  %result = bufferization.to_tensor %out restrict : memref<128xf32> to tensor<128xf32>
  return %result : tensor<128xf32>
}
func.func @overwritten() -> tensor<128xf32> {
  %c1 = arith.constant 1 : index
  %threads = arith.constant 128 : index
  %fault = arith.constant 4 : index
  %out = memref.alloc() : memref<128xf32>
  gpu.launch_func @kernels::@multiply blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%out : memref<128xf32>, %fault : index)
  %result = bufferization.to_tensor %out restrict : memref<128xf32> to tensor<128xf32>
  return %result : tensor<128xf32>
}
func.func @outside() -> tensor<128xf32> {
  %c1 = arith.constant 1 : index
  %threads = arith.constant 128 : index
  %fault = arith.constant 5 : index
  %out = memref.alloc() : memref<128xf32>
  gpu.launch_func @kernels::@multiply blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%out : memref<128xf32>, %fault : index)
  %result = bufferization.to_tensor %out restrict : memref<128xf32> to tensor<128xf32>
  return %result : tensor<128xf32>
}
func.func @misaligned() -> tensor<128xf32> {
  %c1 = arith.constant 1 : index
  %threads = arith.constant 128 : index
  %fault = arith.constant 6 : index
  %out = memref.alloc() : memref<128xf32>
  gpu.launch_func @kernels::@multiply blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%out : memref<128xf32>, %fault : index)
  %result = bufferization.to_tensor %out restrict : memref<128xf32> to tensor<128xf32>
  return %result : tensor<128xf32>
}
func.func @unknown() -> tensor<128xf32> {
  %c1 = arith.constant 1 : index
  %threads = arith.constant 128 : index
  %fault = arith.constant 7 : index
  %out = memref.alloc() : memref<128xf32>
  gpu.launch_func @kernels::@multiply blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%out : memref<128xf32>, %fault : index)
  %result = bufferization.to_tensor %out restrict : memref<128xf32> to tensor<128xf32>
  return %result : tensor<128xf32>
}
func.func @disagree() -> tensor<128xf32> {
  %c1 = arith.constant 1 : index
  %threads = arith.constant 128 : index
  %fault = arith.constant 8 : index
  %out = memref.alloc() : memref<128xf32>
  gpu.launch_func @kernels::@multiply blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%out : memref<128xf32>, %fault : index)
  %result = bufferization.to_tensor %out restrict : memref<128xf32> to tensor<128xf32>
  return %result : tensor<128xf32>
}
func.func @never_waited() -> tensor<128xf32> {
  %c1 = arith.constant 1 : index
  %threads = arith.constant 128 : index
  %fault = arith.constant 9 : index
  %out = memref.alloc() : memref<128xf32>
  gpu.launch_func @kernels::@multiply blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%out : memref<128xf32>, %fault : index)
  %result = bufferization.to_tensor %out restrict : memref<128xf32> to tensor<128xf32>
  return %result : tensor<128xf32>
}
func.func @late_fence() -> tensor<128xf32> {
  %c1 = arith.constant 1 : index
  %threads = arith.constant 128 : index
  %fault = arith.constant 10 : index
  %out = memref.alloc() : memref<128xf32>
  gpu.launch_func @kernels::@multiply blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%out : memref<128xf32>, %fault : index)
  %result = bufferization.to_tensor %out restrict : memref<128xf32> to tensor<128xf32>
  return %result : tensor<128xf32>
}
func.func @half_a_group() -> tensor<128xf32> {
  %c1 = arith.constant 1 : index
  %threads = arith.constant 64 : index
  %fault = arith.constant 0 : index
  %out = memref.alloc() : memref<128xf32>
  gpu.launch_func @kernels::@multiply blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%out : memref<128xf32>, %fault : index)
  %result = bufferization.to_tensor %out restrict : memref<128xf32> to tensor<128xf32>
  return %result : tensor<128xf32>
}

}
