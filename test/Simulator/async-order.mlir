// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who knows of one asynchronous end need not know of another: here a wait for
// the second of two copies, and a signal that four warps give before they have
// waited for their MMA. Both are found in every order of execution.
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_90" --emit-bytecode -o %t.mlirbc
// RUN: attune-run %t.mlirbc --device=host --print --function=both | FileCheck %s --check-prefix=BOTH
// RUN: attune-run %t.mlirbc --device=host --print --function=both --host-seed=1 | FileCheck %s --check-prefix=BOTH
// RUN: not attune-run %t.mlirbc --device=host --print --function=second 2>&1 | FileCheck %s --check-prefix=SECOND
// RUN: not attune-run %t.mlirbc --device=host --print --function=second --host-seed=1 2>&1 | FileCheck %s --check-prefix=SECOND
//
// Lanes that all ask in loops of their own do not keep a copy from landing.
// RUN: attune-run %t.mlirbc --device=host --print --function=spin --max-steps=1000 | FileCheck %s --check-prefix=SPIN
// RUN: attune-run %t.mlirbc --device=host --print --function=spin --max-steps=1000 --host-seed=1 | FileCheck %s --check-prefix=SPIN
//
// RUN: attune-run %t.mlirbc --device=host --print --function=late | FileCheck %s --check-prefix=LATE
// RUN: attune-run %t.mlirbc --device=host --print --function=late --host-seed=1 | FileCheck %s --check-prefix=LATE
// RUN: not attune-run %t.mlirbc --device=host --print --function=early 2>&1 | FileCheck %s --check-prefix=EARLY
// RUN: not attune-run %t.mlirbc --device=host --print --function=early --host-seed=1 2>&1 | FileCheck %s --check-prefix=EARLY

!registers = !llvm.struct<(f32, f32, f32, f32)>

module attributes {gpu.container_module} {

gpu.module @copies {
  llvm.mlir.global internal @slots() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<256 x i8>
  llvm.mlir.global internal @barriers() {addr_space = 3 : i32, alignment = 8 : i64} : !llvm.array<16 x i8>

  // Adds what two copies bring.
  llvm.func @add(%allocated: !llvm.ptr, %aligned: !llvm.ptr, %start: i64, %size: i64, %stride: i64, %waits_first: i64)
      attributes {gpu.kernel, nvvm.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c1 = llvm.mlir.constant(1 : i32) : i32
    %bytes = llvm.mlir.constant(128 : i32) : i32
    %ticks = llvm.mlir.constant(1000 : i32) : i32
    %f1 = llvm.mlir.constant(1 : i64) : i64
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %first = llvm.icmp "eq" %tid, %c0 : i32
    %waits = llvm.icmp "eq" %waits_first, %f1 : i64
    %slot0 = llvm.mlir.addressof @slots : !llvm.ptr<3>
    %slot1 = llvm.getelementptr %slot0[128] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %barrier0 = llvm.mlir.addressof @barriers : !llvm.ptr<3>
    %barrier1 = llvm.getelementptr %barrier0[8] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %to0 = llvm.addrspacecast %slot0 : !llvm.ptr<3> to !llvm.ptr<7>
    %to1 = llvm.addrspacecast %slot1 : !llvm.ptr<3> to !llvm.ptr<7>
    %from = llvm.addrspacecast %aligned : !llvm.ptr to !llvm.ptr<1>
    llvm.cond_br %first, ^start, ^meet
  ^start:
    nvvm.mbarrier.init %barrier0, %c1 : !llvm.ptr<3>, i32
    nvvm.mbarrier.init %barrier1, %c1 : !llvm.ptr<3>, i32
    nvvm.fence.mbarrier.init
    nvvm.mbarrier.arrive.expect_tx %barrier0, %bytes : !llvm.ptr<3>, i32
    nvvm.mbarrier.arrive.expect_tx %barrier1, %bytes : !llvm.ptr<3>, i32
    // SECOND-DAG: async-order.mlir:[[#@LINE+1]]:5: note: {{that access|the copy}} is here
    nvvm.cp.async.bulk.shared.cluster.global %to0, %from, %barrier0, %bytes : !llvm.ptr<7>, !llvm.ptr<1>
    nvvm.cp.async.bulk.shared.cluster.global %to1, %from, %barrier1, %bytes : !llvm.ptr<7>, !llvm.ptr<1>
    llvm.br ^meet
  ^meet:
    nvvm.barrier0
    llvm.cond_br %waits, ^wait0, ^wait1
  ^wait0:
    nvvm.mbarrier.try_wait.parity %barrier0, %c0, %ticks : !llvm.ptr<3>, i32, i32
    llvm.br ^wait1
  ^wait1:
    nvvm.mbarrier.try_wait.parity %barrier1, %c0, %ticks : !llvm.ptr<3>, i32, i32
    %mine0 = llvm.getelementptr %slot0[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    %mine1 = llvm.getelementptr %slot1[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    // SECOND-DAG: async-order.mlir:[[#@LINE+1]]:11: error: 'llvm.load' op reads what {{was written by|an asynchronous copy of}} th
    %x0 = llvm.load %mine0 : !llvm.ptr<3> -> f32
    %x1 = llvm.load %mine1 : !llvm.ptr<3> -> f32
    %sum = llvm.fadd %x0, %x1 : f32
    %to = llvm.getelementptr %aligned[%tid] : (!llvm.ptr, i32) -> !llvm.ptr, f32
    llvm.store %sum, %to : f32, !llvm.ptr
    llvm.return
  }
}

gpu.module @spinning {
  llvm.mlir.global internal @slot() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<128 x i8>
  llvm.mlir.global internal @barrier() {addr_space = 3 : i32, alignment = 8 : i64} : !llvm.array<8 x i8>

  // Adds 1 to what a copy brings.
  llvm.func @increment(%allocated: !llvm.ptr, %aligned: !llvm.ptr, %start: i64, %size: i64, %stride: i64, %unused: i64)
      attributes {gpu.kernel, nvvm.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c1 = llvm.mlir.constant(1 : i32) : i32
    %bytes = llvm.mlir.constant(128 : i32) : i32
    %one = llvm.mlir.constant(1.0 : f32) : f32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %first = llvm.icmp "eq" %tid, %c0 : i32
    %slot = llvm.mlir.addressof @slot : !llvm.ptr<3>
    %barrier = llvm.mlir.addressof @barrier : !llvm.ptr<3>
    %to = llvm.addrspacecast %slot : !llvm.ptr<3> to !llvm.ptr<7>
    %from = llvm.addrspacecast %aligned : !llvm.ptr to !llvm.ptr<1>
    llvm.cond_br %first, ^start, ^meet
  ^start:
    nvvm.mbarrier.init %barrier, %c1 : !llvm.ptr<3>, i32
    nvvm.fence.mbarrier.init
    nvvm.mbarrier.arrive.expect_tx %barrier, %bytes : !llvm.ptr<3>, i32
    nvvm.cp.async.bulk.shared.cluster.global %to, %from, %barrier, %bytes : !llvm.ptr<7>, !llvm.ptr<1>
    llvm.br ^meet
  ^meet:
    nvvm.barrier0
    llvm.br ^ask
  ^ask:
    %is_there = nvvm.mbarrier.try_wait %barrier, %c0 : !llvm.ptr<3>, i32 -> i1
    llvm.cond_br %is_there, ^read, ^ask
  ^read:
    %mine = llvm.getelementptr %slot[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    %x = llvm.load %mine : !llvm.ptr<3> -> f32
    %y = llvm.fadd %x, %one : f32
    %back = llvm.getelementptr %aligned[%tid] : (!llvm.ptr, i32) -> !llvm.ptr, f32
    llvm.store %y, %back : f32, !llvm.ptr
    llvm.return
  }
}

gpu.module @products {
  llvm.mlir.global internal @memory() {addr_space = 3 : i32, alignment = 256 : i64} : !llvm.array<256 x i8>
  llvm.mlir.global internal @barrier() {addr_space = 3 : i32, alignment = 8 : i64} : !llvm.array<8 x i8>

  // A fifth warp overwrites the right operand when it is told to.
  llvm.func @multiply(%allocated: !llvm.ptr, %aligned: !llvm.ptr, %start: i64, %size: i64, %stride: i64, %is_early: i64)
      attributes {gpu.kernel, nvvm.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %warps = llvm.mlir.constant(4 : i32) : i32
    %lanes = llvm.mlir.constant(31 : i32) : i32
    %c64 = llvm.mlir.constant(64 : i32) : i32
    %c128 = llvm.mlir.constant(128 : i32) : i32
    %ticks = llvm.mlir.constant(1000 : i32) : i32
    %ones = llvm.mlir.constant(0x3f803f80 : i32) : i32
    %f1 = llvm.mlir.constant(1 : i64) : i64
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %first = llvm.icmp "eq" %tid, %c0 : i32
    %lane = llvm.and %tid, %lanes : i32
    %leads = llvm.icmp "eq" %lane, %c0 : i32
    %early = llvm.icmp "eq" %is_early, %f1 : i64
    %multiplies = llvm.icmp "ult" %tid, %c128 : i32
    %memory = llvm.mlir.addressof @memory : !llvm.ptr<3>
    %barrier = llvm.mlir.addressof @barrier : !llvm.ptr<3>
    %mine = llvm.getelementptr %memory[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    llvm.cond_br %first, ^init, ^fill
  ^init:
    nvvm.mbarrier.init %barrier, %warps : !llvm.ptr<3>, i32
    llvm.br ^fill
  ^fill:
    %fills = llvm.icmp "ult" %tid, %c64 : i32
    llvm.cond_br %fills, ^store, ^meet
  ^store:
    llvm.store %ones, %mine : i32, !llvm.ptr<3>
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    llvm.br ^meet
  ^meet:
    nvvm.barrier0
    llvm.cond_br %multiplies, ^multiply, ^overwrite
  ^multiply:
    // Rows of 32 bytes, swizzled.
    %address = llvm.ptrtoint %memory : !llvm.ptr<3> to i64
    %window = llvm.mlir.constant(0x3ffff : i64) : i64
    %four = llvm.mlir.constant(4 : i64) : i64
    %bits = llvm.mlir.constant(0xC000001000000000 : i64) : i64
    %low = llvm.and %address, %window : i64
    %piece = llvm.lshr %low, %four : i64
    %b = llvm.or %piece, %bits : i64
    %none = llvm.mlir.poison : !registers
    nvvm.wgmma.fence.aligned
    // EARLY-DAG: async-order.mlir:[[#@LINE+1]]:10: note: that {{access|op}} is here
    %d = wgmma.mma_async [%ones, %ones, %ones, %ones], %b, %none, <m = 64, n = 8, k = 16>, <bf16>, D [<zero>], B [<col>] : !registers
    nvvm.wgmma.commit.group.sync.aligned
    %signals_early = llvm.and %leads, %early : i1
    llvm.cond_br %signals_early, ^signal_early, ^wait
  ^signal_early:
    %0 = nvvm.mbarrier.arrive %barrier : !llvm.ptr<3> -> i64
    llvm.br ^wait
  ^wait:
    %ready = wgmma.wait_group 0, %d : !registers
    %true = llvm.mlir.constant(true) : i1
    %is_late = llvm.xor %early, %true : i1
    %signals = llvm.and %leads, %is_late : i1
    llvm.cond_br %signals, ^signal, ^write
  ^signal:
    %1 = nvvm.mbarrier.arrive %barrier : !llvm.ptr<3> -> i64
    llvm.br ^write
  ^write:
    %x = llvm.extractvalue %ready[0] : !registers
    %to = llvm.getelementptr %aligned[%tid] : (!llvm.ptr, i32) -> !llvm.ptr, f32
    llvm.store %x, %to : f32, !llvm.ptr
    llvm.return
  ^overwrite:
    nvvm.mbarrier.try_wait.parity %barrier, %c0, %ticks : !llvm.ptr<3>, i32, i32
    %there = llvm.getelementptr %memory[%lane] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    // EARLY-DAG: async-order.mlir:[[#@LINE+1]]:5: error: 'llvm.store' op overwrites what {{was read by|an asynchronous op}} th
    llvm.store %c0, %there : i32, !llvm.ptr<3>
    llvm.return
  }
}

// BOTH: {{^}}2 2 2 {{[2 ]*$}}
// SPIN: {{^}}2 2 2 {{[2 ]*$}}
// LATE: {{^}}16 16 16 {{[16 ]*$}}
func.func @both() -> tensor<32xf32> {
  %c1 = arith.constant 1 : index
  %threads = arith.constant 32 : index
  %choice = arith.constant 1 : index
  %ones = arith.constant dense<1.0> : tensor<32xf32>
  %data = bufferization.to_buffer %ones : tensor<32xf32> to memref<32xf32>
  gpu.launch_func @copies::@add blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%data : memref<32xf32>, %choice : index)
  %result = bufferization.to_tensor %data restrict : memref<32xf32> to tensor<32xf32>
  return %result : tensor<32xf32>
}
func.func @spin() -> tensor<32xf32> {
  %c1 = arith.constant 1 : index
  %threads = arith.constant 32 : index
  %choice = arith.constant 1 : index
  %ones = arith.constant dense<1.0> : tensor<32xf32>
  %data = bufferization.to_buffer %ones : tensor<32xf32> to memref<32xf32>
  gpu.launch_func @spinning::@increment blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%data : memref<32xf32>, %choice : index)
  %result = bufferization.to_tensor %data restrict : memref<32xf32> to tensor<32xf32>
  return %result : tensor<32xf32>
}
func.func @second() -> tensor<32xf32> {
  %c1 = arith.constant 1 : index
  %threads = arith.constant 32 : index
  %choice = arith.constant 0 : index
  %ones = arith.constant dense<1.0> : tensor<32xf32>
  %data = bufferization.to_buffer %ones : tensor<32xf32> to memref<32xf32>
  gpu.launch_func @copies::@add blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%data : memref<32xf32>, %choice : index)
  %result = bufferization.to_tensor %data restrict : memref<32xf32> to tensor<32xf32>
  return %result : tensor<32xf32>
}
func.func @late() -> tensor<128xf32> {
  %c1 = arith.constant 1 : index
  %threads = arith.constant 160 : index
  %choice = arith.constant 0 : index
  %ones = arith.constant dense<1.0> : tensor<128xf32>
  %data = bufferization.to_buffer %ones : tensor<128xf32> to memref<128xf32>
  gpu.launch_func @products::@multiply blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%data : memref<128xf32>, %choice : index)
  %result = bufferization.to_tensor %data restrict : memref<128xf32> to tensor<128xf32>
  return %result : tensor<128xf32>
}
func.func @early() -> tensor<128xf32> {
  %c1 = arith.constant 1 : index
  %threads = arith.constant 160 : index
  %choice = arith.constant 1 : index
  %ones = arith.constant dense<1.0> : tensor<128xf32>
  %data = bufferization.to_buffer %ones : tensor<128xf32> to memref<128xf32>
  gpu.launch_func @products::@multiply blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%data : memref<128xf32>, %choice : index)
  %result = bufferization.to_tensor %data restrict : memref<128xf32> to tensor<128xf32>
  return %result : tensor<128xf32>
}

}
