// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MMAs whose left operand is in registers, and waits that return what they
// guard. All elements are 1, so that all sums are 16.
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_90" --gpu-to-llvm-pipeline --emit-bytecode -o %t.mlirbc
// RUN: attune-run %t.mlirbc --device=host --print --function=right | FileCheck %s --check-prefix=RIGHT
// RUN: attune-run %t.mlirbc --device=host --print --function=right --host-seed=1 | FileCheck %s --check-prefix=RIGHT
// RUN: attune-run %t.mlirbc --device=host --print --function=right --counts | FileCheck %s --check-prefix=COUNTS
// RUN: not attune-run %t.mlirbc --device=host --print --function=late 2>&1 | FileCheck %s --check-prefix=LATE
// RUN: not attune-run %t.mlirbc --device=host --print --function=early 2>&1 | FileCheck %s --check-prefix=EARLY
// RUN: not attune-run %t.mlirbc --device=host --print --function=disagree 2>&1 | FileCheck %s --check-prefix=DISAGREE

!shared = memref<2048xbf16, #gpu.address_space<workgroup>>
!registers = !llvm.struct<(f32, f32, f32, f32)>

module attributes {gpu.container_module} {

gpu.module @kernels {
  gpu.func @multiply(%out: memref<128xf32>, %fault: index) workgroup(%s: !shared) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c7 = arith.constant 7 : index
    %c16 = arith.constant 16 : index
    %c128 = arith.constant 128 : index
    %c2048 = arith.constant 2048 : index
    %one = arith.constant 1.0 : bf16
    %ones = arith.constant 0x3f803f80 : i32
    %none32 = arith.constant 0 : i32
    %tid = gpu.thread_id x
    %late = arith.cmpi eq, %fault, %c1 : index
    %early = arith.cmpi eq, %fault, %c2 : index
    %disagree = arith.cmpi eq, %fault, %c3 : index
    %window = arith.constant 0x3ffff : index
    scf.for %i = %tid to %c2048 step %c128 {
      memref.store %one, %s[%i] : !shared
    }
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    gpu.barrier
    %bits = arith.constant 0xC000001000000000 : i64
    %base = memref.extract_aligned_pointer_as_index %s : !shared -> index
    %low = arith.andi %base, %window : index
    %piece = arith.divui %low, %c16 : index
    %seventh = arith.cmpi eq, %tid, %c7 : index
    %moves = arith.andi %seventh, %disagree : i1
    %move = arith.select %moves, %c2, %c0 : index
    %moved = arith.addi %piece, %move : index
    %start = arith.index_cast %moved : index to i64
    %b = arith.ori %start, %bits : i64
    %word = arith.index_cast %fault : index to i32
    %sum = arith.muli %word, %none32 : i32
    %a = arith.addi %sum, %ones : i32
    %none = llvm.mlir.poison : !registers
    nvvm.wgmma.fence.aligned
    // DISAGREE: wgmma-registers.mlir:[[#@LINE+2]]:14: error: 'wgmma.mma_async' op expects the descriptors of thread (0, 0, 0), but got others, thread (7, 0, 0)
    // EARLY-DAG: wgmma-registers.mlir:[[#@LINE+1]]:14: note: the MMA is here
    %first = wgmma.mma_async [%a, %a, %a, %a], %b, %none, <m = 64, n = 8, k = 16>, <bf16>, D [<zero>], B [<col>] : !registers
    nvvm.wgmma.commit.group.sync.aligned
    scf.if %early {
      %x = llvm.extractvalue %first[3] : !registers
      // EARLY-DAG: wgmma-registers.mlir:[[#@LINE+1]]:7: error: 'llvm.store' op reads the result of an MMA that was not waited for
      memref.store %x, %out[%tid] : memref<128xf32>
    }
    %ready = wgmma.wait_group 0, %first : !registers
    %last = scf.if %late -> !registers {
      nvvm.wgmma.fence.aligned
      // The first register is computed behind the fence.
      %changed = arith.addi %a, %word : i32
      // LATE: wgmma-registers.mlir:[[#@LINE+1]]:12: error: 'wgmma.mma_async' op expects nvvm.wgmma.fence.aligned between other accesses to its registers and the MMA, thread (0, 0, 0)
      %d = wgmma.mma_async [%changed, %a, %a, %a], %b, %ready, <m = 64, n = 8, k = 16>, <bf16>, D [<one>], B [<col>] : !registers
      nvvm.wgmma.commit.group.sync.aligned
      scf.yield %d : !registers
    } else {
      scf.yield %ready : !registers
    }
    %result = wgmma.wait_group 0, %last : !registers
    %x = llvm.extractvalue %result[3] : !registers
    memref.store %x, %out[%tid] : memref<128xf32>
    gpu.return
  }
}

// The right operand is 8 x 16 elements of 2 bytes.
// COUNTS: counts    1 matrix ops, 1.638e+04 flop
// COUNTS: {{^}} 1 256 0 0 0 wgmma.mma_async

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
func.func @late() -> tensor<128xf32> {
  %c1 = arith.constant 1 : index
  %threads = arith.constant 128 : index
  %fault = arith.constant 1 : index
  %out = memref.alloc() : memref<128xf32>
  gpu.launch_func @kernels::@multiply blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%out : memref<128xf32>, %fault : index)
  %result = bufferization.to_tensor %out restrict : memref<128xf32> to tensor<128xf32>
  return %result : tensor<128xf32>
}
func.func @early() -> tensor<128xf32> {
  %c1 = arith.constant 1 : index
  %threads = arith.constant 128 : index
  %fault = arith.constant 2 : index
  %out = memref.alloc() : memref<128xf32>
  gpu.launch_func @kernels::@multiply blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%out : memref<128xf32>, %fault : index)
  %result = bufferization.to_tensor %out restrict : memref<128xf32> to tensor<128xf32>
  return %result : tensor<128xf32>
}
func.func @disagree() -> tensor<128xf32> {
  %c1 = arith.constant 1 : index
  %threads = arith.constant 128 : index
  %fault = arith.constant 3 : index
  %out = memref.alloc() : memref<128xf32>
  gpu.launch_func @kernels::@multiply blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%out : memref<128xf32>, %fault : index)
  %result = bufferization.to_tensor %out restrict : memref<128xf32> to tensor<128xf32>
  return %result : tensor<128xf32>
}

}
