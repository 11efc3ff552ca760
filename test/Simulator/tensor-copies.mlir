// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A box of a tensor goes to workgroup memory, is negated, and goes back, with
// one fault each, at run time so that all are the same kernel: `fault` says
// which.
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_90" --emit-bytecode -o %t.mlirbc
// RUN: attune-run %t.mlirbc --device=host --print --function=right | FileCheck %s --check-prefix=RIGHT
// RUN: attune-run %t.mlirbc --device=host --print --function=right --host-seed=1 | FileCheck %s --check-prefix=RIGHT
// RUN: attune-run %t.mlirbc --device=host --print --function=right --host-seed=2 | FileCheck %s --check-prefix=RIGHT
// RUN: attune-run %t.mlirbc --device=host --print --function=right --counts | FileCheck %s --check-prefix=COUNTS
// RUN: not attune-run %t.mlirbc --device=host --print --function=no_wait 2>&1 | FileCheck %s --check-prefix=NOWAIT
// RUN: not attune-run %t.mlirbc --device=host --print --function=bytes 2>&1 | FileCheck %s --check-prefix=BYTES
// RUN: not attune-run %t.mlirbc --device=host --print --function=no_init_fence 2>&1 | FileCheck %s --check-prefix=NOINITFENCE
// RUN: not attune-run %t.mlirbc --device=host --print --function=no_init_barrier 2>&1 | FileCheck %s --check-prefix=NOINITBARRIER
// RUN: not attune-run %t.mlirbc --device=host --print --function=misaligned 2>&1 | FileCheck %s --check-prefix=MISALIGNED
// RUN: not attune-run %t.mlirbc --device=host --print --function=outside 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// RUN: not attune-run %t.mlirbc --device=host --print --function=no_map 2>&1 | FileCheck %s --check-prefix=NOMAP
// RUN: not attune-run %t.mlirbc --device=host --print --function=no_address 2>&1 | FileCheck %s --check-prefix=NOADDRESS
// RUN: not attune-run %t.mlirbc --device=host --print --function=no_proxy_fence 2>&1 | FileCheck %s --check-prefix=NOPROXYFENCE
// RUN: not attune-run %t.mlirbc --device=host --print --function=no_store_wait 2>&1 | FileCheck %s --check-prefix=NOSTOREWAIT
// RUN: attune-run %t.mlirbc --device=host --print --function=no_store_wait --checks=none 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN: not attune-run %t.mlirbc --device=host --print --function=overwritten 2>&1 | FileCheck %s --check-prefix=OVERWRITTEN
// RUN: not attune-run %t.mlirbc --device=host --print --function=early_reuse 2>&1 | FileCheck %s --check-prefix=EARLYREUSE
// RUN: not attune-run %t.mlirbc --device=host --print --function=too_many 2>&1 | FileCheck %s --check-prefix=TOOMANY
// RUN: not attune-run %t.mlirbc --device=host --print --function=twice 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not attune-run %t.mlirbc --device=host --print --function=dimensions 2>&1 | FileCheck %s --check-prefix=DIMENSIONS

!map = !nvgpu.tensormap.descriptor<tensor = memref<4x8xf32, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>

module attributes {gpu.container_module} {

gpu.module @kernels {
  llvm.mlir.global internal @box() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<256 x i8>
  llvm.mlir.global internal @barrier() {addr_space = 3 : i32, alignment = 8 : i64} : !llvm.array<8 x i8>

  llvm.func @negate(%map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant},
      %allocated: !llvm.ptr, %aligned: !llvm.ptr, %start: i64, %size0: i64, %size1: i64, %stride0: i64, %stride1: i64,
      %fault: i64) attributes {gpu.kernel, nvvm.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c1 = llvm.mlir.constant(1 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %c16 = llvm.mlir.constant(16 : i32) : i32
    %c64 = llvm.mlir.constant(64 : i32) : i32
    %c128 = llvm.mlir.constant(128 : i32) : i32
    %c256 = llvm.mlir.constant(256 : i32) : i32
    %f1 = llvm.mlir.constant(1 : i64) : i64
    %f2 = llvm.mlir.constant(2 : i64) : i64
    %f3 = llvm.mlir.constant(3 : i64) : i64
    %f4 = llvm.mlir.constant(4 : i64) : i64
    %f5 = llvm.mlir.constant(5 : i64) : i64
    %f6 = llvm.mlir.constant(6 : i64) : i64
    %f7 = llvm.mlir.constant(7 : i64) : i64
    %f8 = llvm.mlir.constant(8 : i64) : i64
    %f9 = llvm.mlir.constant(9 : i64) : i64
    %f10 = llvm.mlir.constant(10 : i64) : i64
    %f11 = llvm.mlir.constant(11 : i64) : i64
    %f12 = llvm.mlir.constant(12 : i64) : i64
    %f15 = llvm.mlir.constant(15 : i64) : i64
    %f14 = llvm.mlir.constant(14 : i64) : i64
    %f13 = llvm.mlir.constant(13 : i64) : i64
    %waits = llvm.icmp "ne" %fault, %f1 : i64
    %wrong_bytes = llvm.icmp "eq" %fault, %f2 : i64
    %fences_init = llvm.icmp "ne" %fault, %f3 : i64
    %meets = llvm.icmp "ne" %fault, %f4 : i64
    %misaligned = llvm.icmp "eq" %fault, %f5 : i64
    %outside = llvm.icmp "eq" %fault, %f6 : i64
    %no_map = llvm.icmp "eq" %fault, %f7 : i64
    %no_address = llvm.icmp "eq" %fault, %f8 : i64
    %fences = llvm.icmp "ne" %fault, %f9 : i64
    %waits_store = llvm.icmp "ne" %fault, %f10 : i64
    %overwrites = llvm.icmp "eq" %fault, %f11 : i64
    %reuses = llvm.icmp "eq" %fault, %f12 : i64
    %has_dimensions = llvm.icmp "ne" %fault, %f13 : i64
    %ticks = llvm.mlir.constant(1000 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %first = llvm.icmp "eq" %tid, %c0 : i32
    %barrier = llvm.mlir.addressof @barrier : !llvm.ptr<3>
    %right_box = llvm.mlir.addressof @box : !llvm.ptr<3>
    %some = llvm.select %misaligned, %c16, %c0 : i1, i32
    %offset = llvm.select %outside, %c256, %some : i1, i32
    %box = llvm.getelementptr %right_box[%offset] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %bad_map = llvm.inttoptr %f8 : i64 to !llvm.ptr
    %some_map = llvm.select %no_map, %aligned, %map : i1, !llvm.ptr
    %used_map = llvm.select %no_address, %bad_map, %some_map : i1, !llvm.ptr
    %some_bytes = llvm.select %wrong_bytes, %c64, %c128 : i1, i32
    %expects_too_many = llvm.icmp "eq" %fault, %f14 : i64
    %too_many = llvm.mlir.constant(0x100000 : i32) : i32
    %expected = llvm.select %expects_too_many, %too_many, %some_bytes : i1, i32
    %both = llvm.icmp "ule" %tid, %c1 : i32
    %twice = llvm.icmp "eq" %fault, %f15 : i64
    %inits = llvm.select %twice, %both, %first : i1, i1
    llvm.cond_br %inits, ^init, ^after_init

  ^init:
    // TWICE: tensor-copies.mlir:[[#@LINE+4]]:5: error: 'nvvm.mbarrier.init' op initialises the barrier at shared+0x100, which thread (0, 0, 0) has initialised, with no nvvm.mbarrier.inval between, thread (1, 0, 0)
    // TWICE: tensor-copies.mlir:[[#@LINE+3]]:5: note: that is here
    // NOINITFENCE-DAG: tensor-copies.mlir:[[#@LINE+2]]:5: note: that is here
    // NOINITBARRIER-DAG: tensor-copies.mlir:[[#@LINE+1]]:5: note: that is here
    nvvm.mbarrier.init %barrier, %c1 : !llvm.ptr<3>, i32
    llvm.cond_br %fences_init, ^fence_init, ^after_init
  ^fence_init:
    nvvm.fence.mbarrier.init
    llvm.br ^after_init
  ^after_init:
    llvm.cond_br %meets, ^meet, ^load
  ^meet:
    nvvm.barrier0
    llvm.br ^load

  ^load:
    llvm.cond_br %first, ^start, ^wait
  ^start:
    // TOOMANY: tensor-copies.mlir:[[#@LINE+1]]:5: error: 'nvvm.mbarrier.arrive.expect_tx' op expects at most 1048575 bytes to come in a phase, but got 1048576, thread (0, 0, 0)
    nvvm.mbarrier.arrive.expect_tx %barrier, %expected : !llvm.ptr<3>, i32
    llvm.cond_br %has_dimensions, ^load2d, ^load1d
  ^load1d:
    // DIMENSIONS: tensor-copies.mlir:[[#@LINE+1]]:5: error: 'nvvm.cp.async.bulk.tensor.shared.cluster.global' op expects a coordinate for each of the 2 dimensions of the tensor map, but got 1, thread (0, 0, 0)
    nvvm.cp.async.bulk.tensor.shared.cluster.global %box, %used_map, %barrier, box[%c0] {isCTAOnly = true} : !llvm.ptr<3>, !llvm.ptr
    llvm.br ^wait
  ^load2d:
    // Columns 4 to 11 of rows 1 to 4 of a tensor of 4 x 8: half of them, and the last row, are outside.
    // NOWAIT-DAG: tensor-copies.mlir:[[#@LINE+6]]:5: note: the copy is here
    // NOINITFENCE-DAG: tensor-copies.mlir:[[#@LINE+5]]:5: error: 'nvvm.cp.async.bulk.tensor.shared.cluster.global' op expects nvvm.fence.mbarrier.init behind the initialisation of its barrier, by the thread that does it, thread (0, 0, 0)
    // MISALIGNED: tensor-copies.mlir:[[#@LINE+4]]:5: error: 'nvvm.cp.async.bulk.tensor.shared.cluster.global' op expects a box at a multiple of 128 bytes in workgroup memory, but got shared+0x10, thread (0, 0, 0)
    // OUTSIDE: tensor-copies.mlir:[[#@LINE+3]]:5: error: 'nvvm.cp.async.bulk.tensor.shared.cluster.global' op writes 128 bytes outside of the 264 bytes of workgroup memory, thread (0, 0, 0)
    // NOMAP: tensor-copies.mlir:[[#@LINE+2]]:5: error: 'nvvm.cp.async.bulk.tensor.shared.cluster.global' op expects a tensor map that the device has encoded, but got other bytes, thread (0, 0, 0)
    // NOADDRESS: tensor-copies.mlir:[[#@LINE+1]]:5: error: 'nvvm.cp.async.bulk.tensor.shared.cluster.global' op expects a tensor map that the device has encoded, in a parameter of the kernel or in a buffer, but got another address, thread (0, 0, 0)
    nvvm.cp.async.bulk.tensor.shared.cluster.global %box, %used_map, %barrier, box[%c4, %c1] {isCTAOnly = true} : !llvm.ptr<3>, !llvm.ptr
    llvm.br ^wait
  ^wait:
    llvm.cond_br %waits, ^try, ^read
  ^try:
    // NOINITBARRIER-DAG: tensor-copies.mlir:[[#@LINE+3]]:5: error: 'nvvm.mbarrier.try_wait.parity' op uses the barrier at shared+0x100, which thread (0, 0, 0) initialises with no barrier between, thread ({{[0-9]+}}, 0, 0)
    // BYTES: tensor-copies.mlir:[[#@LINE+2]]:5: error: 'nvvm.mbarrier.try_wait.parity' op waits for the barrier at shared+0x100, which never comes
    // BYTES: note: the barrier at shared+0x100: phase 0, 1 of 1 have arrived, 64 bytes more than expected have come
    nvvm.mbarrier.try_wait.parity %barrier, %c0, %ticks : !llvm.ptr<3>, i32, i32
    llvm.br ^read

  ^read:
    %mine = llvm.getelementptr %right_box[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    // NOWAIT-DAG: tensor-copies.mlir:[[#@LINE+1]]:10: error: 'llvm.load' op reads what an asynchronous copy of {{.*}} that was not waited for writes
    %x = llvm.load %mine : !llvm.ptr<3> -> f32
    %y = llvm.fneg %x : f32
    // NOPROXYFENCE-DAG: tensor-copies.mlir:[[#@LINE+1]]:5: note: that access is here
    llvm.store %y, %mine : f32, !llvm.ptr<3>
    llvm.cond_br %fences, ^fence, ^meet_again
  ^fence:
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    llvm.br ^meet_again
  ^meet_again:
    nvvm.barrier0
    llvm.cond_br %first, ^store, ^done

  ^store:
    // NOPROXYFENCE-DAG: tensor-copies.mlir:[[#@LINE+3]]:5: error: 'nvvm.cp.async.bulk.tensor.global.shared.cta' op reads through the asynchronous proxy what was written by thread ({{[0-9]+}}, 0, 0) with no fence of the proxies between, address shared+0x
    // NOSTOREWAIT: tensor-copies.mlir:[[#@LINE+2]]:5: error: 'nvvm.cp.async.bulk.tensor.global.shared.cta' op reads workgroup memory when the thread ends, and was never waited for, thread (0, 0, 0)
    // OVERWRITTEN-DAG: tensor-copies.mlir:[[#@LINE+1]]:5: note: that op is here
    nvvm.cp.async.bulk.tensor.global.shared.cta %map, %right_box, box[%c4, %c1] : !llvm.ptr, !llvm.ptr<3>
    nvvm.cp.async.bulk.commit.group
    llvm.cond_br %overwrites, ^overwrite, ^load_again
  ^overwrite:
    // Waits for all but the last group, which is the only one.
    nvvm.cp.async.bulk.wait_group 1 {read}
    // OVERWRITTEN-DAG: tensor-copies.mlir:[[#@LINE+1]]:5: error: 'llvm.store' op overwrites what an asynchronous op that was not waited for reads, address shared+0x0, thread (0, 0, 0)
    llvm.store %x, %mine : f32, !llvm.ptr<3>
    llvm.br ^load_again
  ^load_again:
    llvm.cond_br %reuses, ^reuse, ^wait_store
  ^reuse:
    nvvm.mbarrier.arrive.expect_tx %barrier, %c128 : !llvm.ptr<3>, i32
    // EARLYREUSE: tensor-copies.mlir:[[#@LINE+1]]:5: error: 'nvvm.cp.async.bulk.tensor.shared.cluster.global' op overwrites what an asynchronous op that was not waited for reads, address shared+0x0, thread (0, 0, 0)
    nvvm.cp.async.bulk.tensor.shared.cluster.global %right_box, %map, %barrier, box[%c0, %c0] {isCTAOnly = true} : !llvm.ptr<3>, !llvm.ptr
    nvvm.mbarrier.try_wait.parity %barrier, %c1, %ticks : !llvm.ptr<3>, i32, i32
    llvm.br ^wait_store
  ^wait_store:
    llvm.cond_br %waits_store, ^wait_for_store, ^done
  ^wait_for_store:
    nvvm.cp.async.bulk.wait_group 0 {read}
    llvm.br ^done
  ^done:
    llvm.return
  }
}

// Bytes of the box; three rows of four elements of it lie in the tensor.
// COUNTS: {{^}} 1 128 0 0 3 nvvm.cp.async.bulk.tensor.shared.cluster.global
// COUNTS: {{^}} 1 128 0 0 3 nvvm.cp.async.bulk.tensor.global.shared.cta
// COUNTS: {{^}} 1 48 0 0 0 nvvm.cp.async.bulk.wait_group

// RIGHT: result 0: 4x8xf32
// RIGHT-NEXT: {{^}}1 1 1 1 1 1 1 1
// RIGHT-NEXT: {{^}}1 1 1 1 -1 -1 -1 -1
// RIGHT-NEXT: {{^}}1 1 1 1 -1 -1 -1 -1
// RIGHT-NEXT: {{^}}1 1 1 1 -1 -1 -1 -1
func.func @right() -> tensor<4x8xf32> {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %fault = arith.constant 0 : index
  %ones = arith.constant dense<1.0> : tensor<4x8xf32>
  %data = bufferization.to_buffer %ones : tensor<4x8xf32> to memref<4x8xf32>
  %any = memref.cast %data : memref<4x8xf32> to memref<*xf32>
  %map = nvgpu.tma.create.descriptor %any box[%c4, %c8] : memref<*xf32> -> !map
  gpu.launch_func @kernels::@negate blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
    args(%map : !map, %data : memref<4x8xf32>, %fault : index)
  %result = bufferization.to_tensor %data restrict : memref<4x8xf32> to tensor<4x8xf32>
  return %result : tensor<4x8xf32>
}
func.func @no_wait() -> tensor<4x8xf32> {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %fault = arith.constant 1 : index
  %ones = arith.constant dense<1.0> : tensor<4x8xf32>
  %data = bufferization.to_buffer %ones : tensor<4x8xf32> to memref<4x8xf32>
  %any = memref.cast %data : memref<4x8xf32> to memref<*xf32>
  %map = nvgpu.tma.create.descriptor %any box[%c4, %c8] : memref<*xf32> -> !map
  gpu.launch_func @kernels::@negate blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
    args(%map : !map, %data : memref<4x8xf32>, %fault : index)
  %result = bufferization.to_tensor %data restrict : memref<4x8xf32> to tensor<4x8xf32>
  return %result : tensor<4x8xf32>
}
func.func @bytes() -> tensor<4x8xf32> {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %fault = arith.constant 2 : index
  %ones = arith.constant dense<1.0> : tensor<4x8xf32>
  %data = bufferization.to_buffer %ones : tensor<4x8xf32> to memref<4x8xf32>
  %any = memref.cast %data : memref<4x8xf32> to memref<*xf32>
  %map = nvgpu.tma.create.descriptor %any box[%c4, %c8] : memref<*xf32> -> !map
  gpu.launch_func @kernels::@negate blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
    args(%map : !map, %data : memref<4x8xf32>, %fault : index)
  %result = bufferization.to_tensor %data restrict : memref<4x8xf32> to tensor<4x8xf32>
  return %result : tensor<4x8xf32>
}
func.func @no_init_fence() -> tensor<4x8xf32> {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %fault = arith.constant 3 : index
  %ones = arith.constant dense<1.0> : tensor<4x8xf32>
  %data = bufferization.to_buffer %ones : tensor<4x8xf32> to memref<4x8xf32>
  %any = memref.cast %data : memref<4x8xf32> to memref<*xf32>
  %map = nvgpu.tma.create.descriptor %any box[%c4, %c8] : memref<*xf32> -> !map
  gpu.launch_func @kernels::@negate blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
    args(%map : !map, %data : memref<4x8xf32>, %fault : index)
  %result = bufferization.to_tensor %data restrict : memref<4x8xf32> to tensor<4x8xf32>
  return %result : tensor<4x8xf32>
}
func.func @no_init_barrier() -> tensor<4x8xf32> {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %fault = arith.constant 4 : index
  %ones = arith.constant dense<1.0> : tensor<4x8xf32>
  %data = bufferization.to_buffer %ones : tensor<4x8xf32> to memref<4x8xf32>
  %any = memref.cast %data : memref<4x8xf32> to memref<*xf32>
  %map = nvgpu.tma.create.descriptor %any box[%c4, %c8] : memref<*xf32> -> !map
  gpu.launch_func @kernels::@negate blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
    args(%map : !map, %data : memref<4x8xf32>, %fault : index)
  %result = bufferization.to_tensor %data restrict : memref<4x8xf32> to tensor<4x8xf32>
  return %result : tensor<4x8xf32>
}
func.func @misaligned() -> tensor<4x8xf32> {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %fault = arith.constant 5 : index
  %ones = arith.constant dense<1.0> : tensor<4x8xf32>
  %data = bufferization.to_buffer %ones : tensor<4x8xf32> to memref<4x8xf32>
  %any = memref.cast %data : memref<4x8xf32> to memref<*xf32>
  %map = nvgpu.tma.create.descriptor %any box[%c4, %c8] : memref<*xf32> -> !map
  gpu.launch_func @kernels::@negate blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
    args(%map : !map, %data : memref<4x8xf32>, %fault : index)
  %result = bufferization.to_tensor %data restrict : memref<4x8xf32> to tensor<4x8xf32>
  return %result : tensor<4x8xf32>
}
func.func @outside() -> tensor<4x8xf32> {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %fault = arith.constant 6 : index
  %ones = arith.constant dense<1.0> : tensor<4x8xf32>
  %data = bufferization.to_buffer %ones : tensor<4x8xf32> to memref<4x8xf32>
  %any = memref.cast %data : memref<4x8xf32> to memref<*xf32>
  %map = nvgpu.tma.create.descriptor %any box[%c4, %c8] : memref<*xf32> -> !map
  gpu.launch_func @kernels::@negate blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
    args(%map : !map, %data : memref<4x8xf32>, %fault : index)
  %result = bufferization.to_tensor %data restrict : memref<4x8xf32> to tensor<4x8xf32>
  return %result : tensor<4x8xf32>
}
func.func @no_map() -> tensor<4x8xf32> {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %fault = arith.constant 7 : index
  %ones = arith.constant dense<1.0> : tensor<4x8xf32>
  %data = bufferization.to_buffer %ones : tensor<4x8xf32> to memref<4x8xf32>
  %any = memref.cast %data : memref<4x8xf32> to memref<*xf32>
  %map = nvgpu.tma.create.descriptor %any box[%c4, %c8] : memref<*xf32> -> !map
  gpu.launch_func @kernels::@negate blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
    args(%map : !map, %data : memref<4x8xf32>, %fault : index)
  %result = bufferization.to_tensor %data restrict : memref<4x8xf32> to tensor<4x8xf32>
  return %result : tensor<4x8xf32>
}
func.func @no_address() -> tensor<4x8xf32> {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %fault = arith.constant 8 : index
  %ones = arith.constant dense<1.0> : tensor<4x8xf32>
  %data = bufferization.to_buffer %ones : tensor<4x8xf32> to memref<4x8xf32>
  %any = memref.cast %data : memref<4x8xf32> to memref<*xf32>
  %map = nvgpu.tma.create.descriptor %any box[%c4, %c8] : memref<*xf32> -> !map
  gpu.launch_func @kernels::@negate blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
    args(%map : !map, %data : memref<4x8xf32>, %fault : index)
  %result = bufferization.to_tensor %data restrict : memref<4x8xf32> to tensor<4x8xf32>
  return %result : tensor<4x8xf32>
}
func.func @no_proxy_fence() -> tensor<4x8xf32> {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %fault = arith.constant 9 : index
  %ones = arith.constant dense<1.0> : tensor<4x8xf32>
  %data = bufferization.to_buffer %ones : tensor<4x8xf32> to memref<4x8xf32>
  %any = memref.cast %data : memref<4x8xf32> to memref<*xf32>
  %map = nvgpu.tma.create.descriptor %any box[%c4, %c8] : memref<*xf32> -> !map
  gpu.launch_func @kernels::@negate blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
    args(%map : !map, %data : memref<4x8xf32>, %fault : index)
  %result = bufferization.to_tensor %data restrict : memref<4x8xf32> to tensor<4x8xf32>
  return %result : tensor<4x8xf32>
}
func.func @no_store_wait() -> tensor<4x8xf32> {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %fault = arith.constant 10 : index
  %ones = arith.constant dense<1.0> : tensor<4x8xf32>
  %data = bufferization.to_buffer %ones : tensor<4x8xf32> to memref<4x8xf32>
  %any = memref.cast %data : memref<4x8xf32> to memref<*xf32>
  %map = nvgpu.tma.create.descriptor %any box[%c4, %c8] : memref<*xf32> -> !map
  gpu.launch_func @kernels::@negate blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
    args(%map : !map, %data : memref<4x8xf32>, %fault : index)
  %result = bufferization.to_tensor %data restrict : memref<4x8xf32> to tensor<4x8xf32>
  return %result : tensor<4x8xf32>
}
func.func @overwritten() -> tensor<4x8xf32> {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %fault = arith.constant 11 : index
  %ones = arith.constant dense<1.0> : tensor<4x8xf32>
  %data = bufferization.to_buffer %ones : tensor<4x8xf32> to memref<4x8xf32>
  %any = memref.cast %data : memref<4x8xf32> to memref<*xf32>
  %map = nvgpu.tma.create.descriptor %any box[%c4, %c8] : memref<*xf32> -> !map
  gpu.launch_func @kernels::@negate blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
    args(%map : !map, %data : memref<4x8xf32>, %fault : index)
  %result = bufferization.to_tensor %data restrict : memref<4x8xf32> to tensor<4x8xf32>
  return %result : tensor<4x8xf32>
}
func.func @early_reuse() -> tensor<4x8xf32> {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %fault = arith.constant 12 : index
  %ones = arith.constant dense<1.0> : tensor<4x8xf32>
  %data = bufferization.to_buffer %ones : tensor<4x8xf32> to memref<4x8xf32>
  %any = memref.cast %data : memref<4x8xf32> to memref<*xf32>
  %map = nvgpu.tma.create.descriptor %any box[%c4, %c8] : memref<*xf32> -> !map
  gpu.launch_func @kernels::@negate blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
    args(%map : !map, %data : memref<4x8xf32>, %fault : index)
  %result = bufferization.to_tensor %data restrict : memref<4x8xf32> to tensor<4x8xf32>
  return %result : tensor<4x8xf32>
}
func.func @dimensions() -> tensor<4x8xf32> {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %fault = arith.constant 13 : index
  %ones = arith.constant dense<1.0> : tensor<4x8xf32>
  %data = bufferization.to_buffer %ones : tensor<4x8xf32> to memref<4x8xf32>
  %any = memref.cast %data : memref<4x8xf32> to memref<*xf32>
  %map = nvgpu.tma.create.descriptor %any box[%c4, %c8] : memref<*xf32> -> !map
  gpu.launch_func @kernels::@negate blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
    args(%map : !map, %data : memref<4x8xf32>, %fault : index)
  %result = bufferization.to_tensor %data restrict : memref<4x8xf32> to tensor<4x8xf32>
  return %result : tensor<4x8xf32>
}
func.func @twice() -> tensor<4x8xf32> {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %fault = arith.constant 15 : index
  %ones = arith.constant dense<1.0> : tensor<4x8xf32>
  %data = bufferization.to_buffer %ones : tensor<4x8xf32> to memref<4x8xf32>
  %any = memref.cast %data : memref<4x8xf32> to memref<*xf32>
  %map = nvgpu.tma.create.descriptor %any box[%c4, %c8] : memref<*xf32> -> !map
  gpu.launch_func @kernels::@negate blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
    args(%map : !map, %data : memref<4x8xf32>, %fault : index)
  %result = bufferization.to_tensor %data restrict : memref<4x8xf32> to tensor<4x8xf32>
  return %result : tensor<4x8xf32>
}
func.func @too_many() -> tensor<4x8xf32> {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %fault = arith.constant 14 : index
  %ones = arith.constant dense<1.0> : tensor<4x8xf32>
  %data = bufferization.to_buffer %ones : tensor<4x8xf32> to memref<4x8xf32>
  %any = memref.cast %data : memref<4x8xf32> to memref<*xf32>
  %map = nvgpu.tma.create.descriptor %any box[%c4, %c8] : memref<*xf32> -> !map
  gpu.launch_func @kernels::@negate blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
    args(%map : !map, %data : memref<4x8xf32>, %fault : index)
  %result = bufferization.to_tensor %data restrict : memref<4x8xf32> to tensor<4x8xf32>
  return %result : tensor<4x8xf32>
}

}
