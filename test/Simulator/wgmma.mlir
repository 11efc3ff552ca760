// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop that uses the MMA of one iteration while that of the next is on its
// way: both are of the same op. Elements of A and B are 1, so that an MMA
// adds 16 to what it accumulates.
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_90" --gpu-to-llvm-pipeline --emit-bytecode -o %t.mlirbc
// RUN: attune-run %t.mlirbc --device=host --print --function=right | FileCheck %s
// RUN: attune-run %t.mlirbc --device=host --print --function=right --host-seed=1 | FileCheck %s
// RUN: not attune-run %t.mlirbc --device=host --print --function=early 2>&1 | FileCheck %s --check-prefix=EARLY
// RUN: attune-run %t.mlirbc --device=host --print --function=early --checks=none | FileCheck %s --check-prefix=NOTYET

!shared = memref<2048xbf16, #gpu.address_space<workgroup>>
!registers = !llvm.struct<(f32, f32, f32, f32)>

module attributes {gpu.container_module} {

gpu.module @kernels {
  gpu.func @pipeline(%out: memref<3x128xf32>, %early: index) workgroup(%s: !shared)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c16 = arith.constant 16 : index
    %c128 = arith.constant 128 : index
    %c2048 = arith.constant 2048 : index
    %window = arith.constant 0x3ffff : index
    %one = arith.constant 1.0 : bf16
    %tid = gpu.thread_id x
    %is_early = arith.cmpi eq, %early, %c1 : index
    scf.for %i = %tid to %c2048 step %c128 {
      memref.store %one, %s[%i] : !shared
    }
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    gpu.barrier
    // Rows of 32 bytes, 256 for each eight of them, swizzled.
    %bits = arith.constant 0xC000001000000000 : i64
    %base = memref.extract_aligned_pointer_as_index %s : !shared -> index
    %low = arith.andi %base, %window : index
    %piece = arith.divui %low, %c16 : index
    %start = arith.index_cast %piece : index to i64
    %a = arith.ori %start, %bits : i64
    %none = llvm.mlir.poison : !registers
    nvvm.wgmma.fence.aligned
    %first = nvvm.wgmma.mma_async %a, %a, %none, <m = 64, n = 8, k = 16>, D [<f32>, <zero>],
        A [<bf16>, <one>, <row>], B [<bf16>, <one>, <col>] : !registers -> !registers
    nvvm.wgmma.commit.group.sync.aligned
    %last = scf.for %i = %c0 to %c3 step %c1 iter_args(%current = %first) -> !registers {
      nvvm.wgmma.fence.aligned
      // EARLY-DAG: wgmma.mlir:[[#@LINE+1]]:15: note: the MMA is here
      %next = nvvm.wgmma.mma_async %a, %a, %current, <m = 64, n = 8, k = 16>, D [<f32>, <one>],
          A [<bf16>, <one>, <row>], B [<bf16>, <one>, <col>] : !registers -> !registers
      nvvm.wgmma.commit.group.sync.aligned
      nvvm.wgmma.wait.group.sync.aligned 1
      %chosen = scf.if %is_early -> !registers {
        scf.yield %next : !registers
      } else {
        scf.yield %current : !registers
      }
      %x = llvm.extractvalue %chosen[2] : !registers
      // EARLY-DAG: wgmma.mlir:[[#@LINE+1]]:7: error: 'llvm.store' op reads the result of an MMA that was not waited for, thread ({{[0-9]+}}, 0, 0)
      memref.store %x, %out[%i, %tid] : memref<3x128xf32>
      scf.yield %next : !registers
    }
    nvvm.wgmma.wait.group.sync.aligned 0
    gpu.return
  }
}

// CHECK: result 0: 3x128xf32
// CHECK-NEXT: {{^}}16 16 {{[16 ]*$}}
// CHECK-NEXT: {{^}}32 32 {{[32 ]*$}}
// CHECK-NEXT: {{^}}48 48 {{[48 ]*$}}
func.func @right() -> tensor<3x128xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %threads = arith.constant 128 : index
  %out = memref.alloc() : memref<3x128xf32>
  gpu.launch_func @kernels::@pipeline blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%out : memref<3x128xf32>, %c0 : index)
  %result = bufferization.to_tensor %out restrict : memref<3x128xf32> to tensor<3x128xf32>
  return %result : tensor<3x128xf32>
}

// Without the check, what has not come is no number.
// NOTYET: result 0: 3x128xf32
// NOTYET-NEXT: {{^}}{{-?}}nan {{-?}}nan
func.func @early() -> tensor<3x128xf32> {
  %c1 = arith.constant 1 : index
  %threads = arith.constant 128 : index
  %out = memref.alloc() : memref<3x128xf32>
  gpu.launch_func @kernels::@pipeline blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%out : memref<3x128xf32>, %c1 : index)
  %result = bufferization.to_tensor %out restrict : memref<3x128xf32> to tensor<3x128xf32>
  return %result : tensor<3x128xf32>
}

}
