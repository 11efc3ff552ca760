// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics --convert-host-to-llvm

// expected-error @below {{expects kernels in a gpu.binary; run attune-emit-binary first}}
gpu.module @kernels {
}

// -----

// expected-error @below {{expects results that are scalars, but got 'tensor<4xf32>'; run attune-bufferize-host first}}
func.func @tensors(%t: tensor<4xf32>) -> tensor<4xf32> {
  return %t : tensor<4xf32>
}

// -----

func.func @tensor(%buffer: memref<4xf32>) {
  // expected-error @below {{expects buffers, but got 'tensor<4xf32>'; run attune-bufferize-host first}}
  %t = bufferization.to_tensor %buffer restrict : memref<4xf32> to tensor<4xf32>
  return
}

// -----

// expected-error @below {{expects results that are scalars, but got 'memref<4xf32>'; run attune-bufferize-host first}}
func.func @returned() -> memref<4xf32> {
  %buffer = memref.alloc() : memref<4xf32>
  return %buffer : memref<4xf32>
}

// -----

func.func @load(%buffer: memref<4xf32>, %i: index) -> f32 {
  // expected-error @below {{expects kernels alone to read and write memory of the device}}
  %x = memref.load %buffer[%i] : memref<4xf32>
  return %x : f32
}

// -----

func.func @copy(%from: memref<4xf32>, %to: memref<4xf32>) {
  // expected-error @below {{expects kernels alone to read and write memory of the device}}
  memref.copy %from, %to : memref<4xf32> to memref<4xf32>
  return
}

// -----

func.func @stack() {
  // expected-error @below {{expects buffers on the device, as memref.alloc makes them}}
  %buffer = memref.alloca() : memref<4xf32>
  return
}

// -----

func.func @strided() {
  // expected-error @below {{expects a buffer in row-major order without gaps, but got 'memref<4x4xf32, strided<[8, 1]>>'}}
  %buffer = memref.alloc() : memref<4x4xf32, strided<[8, 1]>>
  return
}

// -----

func.func @fill(%buffer: memref<4xi32>) {
  %one = arith.constant 1 : i32
  // expected-error @below {{expects zero as the value}}
  gpu.memset %buffer, %one : memref<4xi32>, i32
  return
}

// -----

func.func @fill_strided(%buffer: memref<4xi32, strided<[2]>>) {
  %zero = arith.constant 0 : i32
  // expected-error @below {{expects a buffer in row-major order without gaps, but got 'memref<4xi32, strided<[2]>>'}}
  gpu.memset %buffer, %zero : memref<4xi32, strided<[2]>>, i32
  return
}

// -----

module attributes {gpu.container_module} {
gpu.binary @kernels [#gpu.object<#nvvm.target, "PTX">]

func.func @shared(%n: index, %shared: i32) {
  // expected-error @below {{expects a constant size of dynamic shared memory where the gpu.binary has no manifest}}
  gpu.launch_func @kernels::@scale blocks in (%n, %n, %n) threads in (%n, %n, %n) dynamic_shared_memory_size %shared
  return
}
}

// -----

module attributes {gpu.container_module} {
gpu.binary @kernels [#gpu.object<#nvvm.target, "PTX">]

func.func @cluster(%n: index) {
  // expected-error @below {{expects a launch without clusters and async tokens}}
  gpu.launch_func @kernels::@scale clusters in (%n, %n, %n) blocks in (%n, %n, %n) threads in (%n, %n, %n)
  return
}
}

// -----

module attributes {gpu.container_module} {
// expected-error @below {{expects one object, but got 2}}
gpu.binary @kernels [#gpu.object<#nvvm.target, "PTX">, #gpu.object<#rocdl.target, "ELF">]

func.func @objects(%n: index) {
  gpu.launch_func @kernels::@scale blocks in (%n, %n, %n) threads in (%n, %n, %n)
  return
}
}

// -----

func.func @value() {
  // expected-error @below {{expects functions to be called by name: they take a context as well}}
  %f = func.constant @value : () -> ()
  return
}

// -----

func.func @fill_beyond(%buffer: memref<*xf32>, %n: index) {
  // expected-error @below {{expects 'oob = zero'}}
  %map = nvgpu.tma.create.descriptor %buffer box[%n] : memref<*xf32>
      -> !nvgpu.tensormap.descriptor<tensor = memref<64xf32, 3>, swizzle = none, l2promo = none, oob = nan, interleave = none>
  return
}

// -----

func.func @unknown(%x: f32) -> f32 {
  // expected-error @below {{failed to legalize operation 'math.exp'}}
  %y = math.exp %x : f32
  return %y : f32
}

// -----

func.func private @outside()
module attributes {gpu.container_module} {
  gpu.binary @kernels [#gpu.object<#nvvm.target, "PTX">]
  func.func @inside(%n: index) {
    // expected-error @below {{expects its binary in the module that is converted, but got one in a module inside}}
    gpu.launch_func @kernels::@scale blocks in (%n, %n, %n) threads in (%n, %n, %n)
    return
  }
}
