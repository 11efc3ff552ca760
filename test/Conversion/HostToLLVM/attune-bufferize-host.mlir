// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: attune-opt %s --attune-bufferize-host --canonicalize | FileCheck %s --implicit-check-not=attune.source

!rows = tensor<?x64xf32, #attn.strided<[?, 1]>>

module attributes {gpu.container_module} {
// Strides are those of the encoding; the result is the caller's last argument.
// CHECK-LABEL: func.func @copy
// CHECK-SAME:  (%[[IN:.+]]: memref<?x64xf32, strided<[?, 1]>>, %[[OUT:.+]]: memref<?x64xf32>)
// CHECK-NOT: memref.alloc
// CHECK: gpu.launch_func @copy_kernel::@copy_kernel {{.*}} args(%[[IN]] : memref<?x64xf32, strided<[?, 1]>>, %[[OUT]] : memref<?x64xf32>)
// CHECK-NEXT: return
func.func @copy(%in: !rows) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = tensor.dim %in, %c0 : !rows
  %source = bufferization.to_buffer %in read_only : !rows to memref<?x64xf32, strided<[?, 1]>>
  %result = memref.alloc(%rows) : memref<?x64xf32>
  gpu.launch_func @copy_kernel::@copy_kernel blocks in (%rows, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%source : memref<?x64xf32, strided<[?, 1]>>, %result : memref<?x64xf32>)
  %out = bufferization.to_tensor %result restrict writable : memref<?x64xf32> to tensor<?x64xf32>
  return %out : tensor<?x64xf32>
}

// What lies between kernels stays the function's.
// CHECK-LABEL: func.func @twice
// CHECK-SAME:  (%[[IN:.+]]: memref<8x64xf32>, %[[OUT:.+]]: memref<8x64xf32>)
// CHECK: %[[BETWEEN:.+]] = memref.alloc() : memref<8x64xf32>
// CHECK: gpu.launch_func {{.*}} args(%[[IN]] : memref<8x64xf32>, %[[BETWEEN]] : memref<8x64xf32>)
// CHECK: gpu.launch_func {{.*}} args(%[[BETWEEN]] : memref<8x64xf32>, %[[OUT]] : memref<8x64xf32>)
func.func @twice(%in: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %c1 = arith.constant 1 : index
  %source = bufferization.to_buffer %in read_only : tensor<8x64xf32> to memref<8x64xf32>
  %between = memref.alloc() : memref<8x64xf32>
  gpu.launch_func @copy_kernel::@copy_kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%source : memref<8x64xf32>, %between : memref<8x64xf32>)
  %tensor = bufferization.to_tensor %between restrict writable : memref<8x64xf32> to tensor<8x64xf32>
  %again = bufferization.to_buffer %tensor read_only : tensor<8x64xf32> to memref<8x64xf32>
  %result = memref.alloc() : memref<8x64xf32>
  gpu.launch_func @copy_kernel::@copy_kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%again : memref<8x64xf32>, %result : memref<8x64xf32>)
  %out = bufferization.to_tensor %result restrict writable : memref<8x64xf32> to tensor<8x64xf32>
  return %out : tensor<8x64xf32>
}

// Buffers are left alone.
// CHECK-LABEL: func.func @buffers
// CHECK-SAME:  (%{{.+}}: memref<4xf32>, %{{.+}}: index) -> index
func.func @buffers(%buffer: memref<4xf32>, %size: index) -> index {
  return %size : index
}

// So it is for who calls such a function.
// CHECK-LABEL: func.func @call
// CHECK-SAME:  (%[[IN:.+]]: memref<8x64xf32>, %[[POOL:.+]]: memref<?x64xf32, strided<[?, 1]>>) {
// CHECK: call @update(%[[IN]], %[[POOL]]) : (memref<8x64xf32>, memref<?x64xf32, strided<[?, 1]>>) -> ()
// CHECK-NEXT: return
func.func @call(%in: tensor<8x64xf32>, %pool: !rows) -> !rows {
  %out = call @update(%in, %pool) : (tensor<8x64xf32>, !rows) -> !rows
  return %out : !rows
}

// What kernels change, and the function returns, is the caller's argument alone.
// CHECK-LABEL: func.func @update
// CHECK-SAME:  (%[[IN:.+]]: memref<8x64xf32>, %[[POOL:.+]]: memref<?x64xf32, strided<[?, 1]>>) {
// CHECK-NOT: memref.alloc
// CHECK: gpu.launch_func {{.*}} args(%[[IN]] : memref<8x64xf32>, %[[POOL]] : memref<?x64xf32, strided<[?, 1]>>)
// CHECK-NEXT: return
func.func @update(%in: tensor<8x64xf32>, %pool: !rows) -> !rows {
  %c1 = arith.constant 1 : index
  %source = bufferization.to_buffer %in read_only : tensor<8x64xf32> to memref<8x64xf32>
  %target = bufferization.to_buffer %pool : !rows to memref<?x64xf32, strided<[?, 1]>>
  gpu.launch_func @copy_kernel::@copy_kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%source : memref<8x64xf32>, %target : memref<?x64xf32, strided<[?, 1]>>)
  %out = bufferization.to_tensor %target restrict writable : memref<?x64xf32, strided<[?, 1]>> to !rows
  return %out : !rows
}

// Two of them, one behind the other.
// CHECK-LABEL: func.func @update_twice
// CHECK-SAME:  (%[[IN:.+]]: memref<8x64xf32>, %[[POOL:.+]]: memref<8x64xf32>) {
// CHECK-NOT: memref.alloc
// CHECK-COUNT-2: gpu.launch_func {{.*}} args(%[[IN]] : memref<8x64xf32>, %[[POOL]] : memref<8x64xf32>)
// CHECK-NEXT: return
func.func @update_twice(%in: tensor<8x64xf32>, %pool: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %c1 = arith.constant 1 : index
  %source = bufferization.to_buffer %in read_only : tensor<8x64xf32> to memref<8x64xf32>
  %target = bufferization.to_buffer %pool : tensor<8x64xf32> to memref<8x64xf32>
  gpu.launch_func @copy_kernel::@copy_kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%source : memref<8x64xf32>, %target : memref<8x64xf32>)
  %between = bufferization.to_tensor %target restrict writable : memref<8x64xf32> to tensor<8x64xf32>
  %again = bufferization.to_buffer %between : tensor<8x64xf32> to memref<8x64xf32>
  gpu.launch_func @copy_kernel::@copy_kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%source : memref<8x64xf32>, %again : memref<8x64xf32>)
  %out = bufferization.to_tensor %again restrict writable : memref<8x64xf32> to tensor<8x64xf32>
  return %out : tensor<8x64xf32>
}

// Who reads the old value later gets it: a copy is changed.
// CHECK-LABEL: func.func @keep
// CHECK-SAME:  (%[[IN:.+]]: memref<8x64xf32>, %[[POOL:.+]]: memref<8x64xf32>, %[[OUT:.+]]: memref<8x64xf32>) {
// CHECK: memref.copy %[[POOL]], %[[OUT]]
// CHECK: gpu.launch_func {{.*}} args(%[[IN]] : memref<8x64xf32>, %[[OUT]] : memref<8x64xf32>)
// CHECK: gpu.launch_func {{.*}} args(%[[POOL]] : memref<8x64xf32>, %[[OUT]] : memref<8x64xf32>)
func.func @keep(%in: tensor<8x64xf32>, %pool: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %c1 = arith.constant 1 : index
  %source = bufferization.to_buffer %in read_only : tensor<8x64xf32> to memref<8x64xf32>
  %target = bufferization.to_buffer %pool : tensor<8x64xf32> to memref<8x64xf32>
  gpu.launch_func @copy_kernel::@copy_kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%source : memref<8x64xf32>, %target : memref<8x64xf32>)
  %old = bufferization.to_buffer %pool read_only : tensor<8x64xf32> to memref<8x64xf32>
  gpu.launch_func @copy_kernel::@copy_kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%old : memref<8x64xf32>, %target : memref<8x64xf32>)
  %out = bufferization.to_tensor %target restrict writable : memref<8x64xf32> to tensor<8x64xf32>
  return %out : tensor<8x64xf32>
}

gpu.binary @copy_kernel [#gpu.object<#nvvm.target, "PTX">]

module attributes {attune.source} {
}

} // module
