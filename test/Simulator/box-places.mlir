// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Boxes that an H200 ends a kernel for as an illegal instruction: those read whose rows do not begin at a multiple of 16 bytes, and to which
// is added before the tensor. One that is read may begin there, or end behind it.
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_90" --emit-bytecode -o %t.mlirbc
// RUN: attune-run %t.mlirbc --device=host --print --function=right | FileCheck %s
// CHECK: result 0: 4x8xf32
// CHECK-NEXT: {{^}}1 1 1 1 1 1 1 1
// RUN: not attune-run %t.mlirbc --device=host --print --function=unaligned 2>&1 | FileCheck %s --check-prefix=UNALIGNED --implicit-check-not=reduce
// RUN: not attune-run %t.mlirbc --device=host --print --function=before 2>&1 | FileCheck %s --check-prefix=BEFORE --implicit-check-not=global

!map = !nvgpu.tensormap.descriptor<tensor = memref<4x8xf32, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>

module attributes {gpu.container_module} {
gpu.module @kernels {
  llvm.mlir.global internal @box() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<128 x i8>
  llvm.mlir.global internal @barrier() {addr_space = 3 : i32, alignment = 8 : i64} : !llvm.array<8 x i8>

  llvm.func @add(%map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant},
      %column: i32, %row: i32, %added: i32) attributes {gpu.kernel, nvvm.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c1 = llvm.mlir.constant(1 : i32) : i32
    %c128 = llvm.mlir.constant(128 : i32) : i32
    %ticks = llvm.mlir.constant(1000 : i32) : i32
    %barrier = llvm.mlir.addressof @barrier : !llvm.ptr<3>
    %box = llvm.mlir.addressof @box : !llvm.ptr<3>
    nvvm.mbarrier.init %barrier, %c1 : !llvm.ptr<3>, i32
    nvvm.fence.mbarrier.init
    nvvm.mbarrier.arrive.expect_tx %barrier, %c128 : !llvm.ptr<3>, i32
    // UNALIGNED: box-places.mlir:[[#@LINE+1]]:5: error: 'nvvm.cp.async.bulk.tensor.shared.cluster.global' op expects a box to read whose rows begin at multiples of 16 bytes, but got element 6 of 4 bytes, thread (0, 0, 0)
    nvvm.cp.async.bulk.tensor.shared.cluster.global %box, %map, %barrier, box[%column, %row] {isCTAOnly = true} : !llvm.ptr<3>, !llvm.ptr
    nvvm.mbarrier.try_wait.parity %barrier, %c0, %ticks : !llvm.ptr<3>, i32, i32
    // BEFORE: box-places.mlir:[[#@LINE+1]]:5: error: 'nvvm.cp.async.bulk.tensor.reduce' op expects a box to add to at coordinates of at least 0, but got -2, thread (0, 0, 0)
    nvvm.cp.async.bulk.tensor.reduce %map, %box, box[%c0, %added] {redKind = #nvvm.tma_redux_kind<add>} : !llvm.ptr, !llvm.ptr<3>
    nvvm.cp.async.bulk.commit.group
    nvvm.cp.async.bulk.wait_group 0
    llvm.return
  }
}

func.func @right() -> tensor<4x8xf32> {
  %c1 = arith.constant 1 : index
  %column = arith.constant -4 : i32
  %row = arith.constant -3 : i32
  %added = arith.constant 2 : i32
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %ones = arith.constant dense<1.0> : tensor<4x8xf32>
  %data = bufferization.to_buffer %ones : tensor<4x8xf32> to memref<4x8xf32>
  %any = memref.cast %data : memref<4x8xf32> to memref<*xf32>
  %map = nvgpu.tma.create.descriptor %any box[%c4, %c8] : memref<*xf32> -> !map
  gpu.launch_func @kernels::@add blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%map : !map, %column : i32, %row : i32, %added : i32)
  %result = bufferization.to_tensor %data restrict : memref<4x8xf32> to tensor<4x8xf32>
  return %result : tensor<4x8xf32>
}
func.func @unaligned() -> tensor<4x8xf32> {
  %c1 = arith.constant 1 : index
  %column = arith.constant 6 : i32
  %row = arith.constant 0 : i32
  %added = arith.constant 2 : i32
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %ones = arith.constant dense<1.0> : tensor<4x8xf32>
  %data = bufferization.to_buffer %ones : tensor<4x8xf32> to memref<4x8xf32>
  %any = memref.cast %data : memref<4x8xf32> to memref<*xf32>
  %map = nvgpu.tma.create.descriptor %any box[%c4, %c8] : memref<*xf32> -> !map
  gpu.launch_func @kernels::@add blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%map : !map, %column : i32, %row : i32, %added : i32)
  %result = bufferization.to_tensor %data restrict : memref<4x8xf32> to tensor<4x8xf32>
  return %result : tensor<4x8xf32>
}
func.func @before() -> tensor<4x8xf32> {
  %c1 = arith.constant 1 : index
  %column = arith.constant 0 : i32
  %row = arith.constant 0 : i32
  %added = arith.constant -2 : i32
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %ones = arith.constant dense<1.0> : tensor<4x8xf32>
  %data = bufferization.to_buffer %ones : tensor<4x8xf32> to memref<4x8xf32>
  %any = memref.cast %data : memref<4x8xf32> to memref<*xf32>
  %map = nvgpu.tma.create.descriptor %any box[%c4, %c8] : memref<*xf32> -> !map
  gpu.launch_func @kernels::@add blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%map : !map, %column : i32, %row : i32, %added : i32)
  %result = bufferization.to_tensor %data restrict : memref<4x8xf32> to tensor<4x8xf32>
  return %result : tensor<4x8xf32>
}
}
