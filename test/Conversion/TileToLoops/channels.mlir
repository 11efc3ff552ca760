// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Channels that are used wrongly are found when the kernel runs, at the op.
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_80" --emit-bytecode -o %t.mlirbc
// RUN: not attune-run %t.mlirbc --device=host --print --function=put_held 2>&1 | FileCheck %s --check-prefix=PUT
// RUN: not attune-run %t.mlirbc --device=host --print --function=get_unknown 2>&1 | FileCheck %s --check-prefix=GET
// RUN: not attune-run %t.mlirbc --device=host --print --function=get_skipped 2>&1 | FileCheck %s --check-prefix=SKIPPED
// RUN: not attune-run %t.mlirbc --device=host --print --function=get_pending 2>&1 | FileCheck %s --check-prefix=PENDING
// RUN: not attune-run %t.mlirbc --device=host --print --function=release_twice 2>&1 | FileCheck %s --check-prefix=RELEASE
// RUN: not attune-run %t.mlirbc --device=host --print --function=read_released 2>&1 | FileCheck %s --check-prefix=READ
// RUN: not attune-run %t.mlirbc --device=host --print --function=multiply_overwritten 2>&1 | FileCheck %s --check-prefix=MULTIPLY

!m = memref<2x2xf32>
!ring = !tile.channel<2x2xf32, stages = 2>
!slot = !tile.tile<2x2xf32, shared, #tile.swizzle<vector = 2, bits = 0, shift = 3>>

module attributes {gpu.container_module} {

gpu.module @put_held_module {
  gpu.func @put_held(%m: !m) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %no = arith.constant false
    %ring = tile.channel : !ring
    tile.put %ring[%c0], %m[%c0, %c0] : !ring, !m
    // PUT: channels.mlir:[[#@LINE+1]]:5: error: 'llvm.intr.trap' op expects a slot whose earlier element was released, thread (0, 0, 0), block (0, 0, 0)
    tile.put %ring[%c2], %m[%c0, %c0] : !ring, !m
    gpu.return
  }
}
func.func @put_held() -> tensor<2x2xf32> {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %m = memref.alloc() : !m
  gpu.launch_func @put_held_module::@put_held blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%m : !m)
  %tensor = bufferization.to_tensor %m restrict : !m to tensor<2x2xf32>
  return %tensor : tensor<2x2xf32>
}

gpu.module @get_unknown_module {
  gpu.func @get_unknown(%m: !m) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %no = arith.constant false
    %ring = tile.channel : !ring
    tile.put %ring[%c0], %m[%c0, %c0] : !ring, !m
    // GET: channels.mlir:[[#@LINE+1]]:10: error: 'llvm.intr.trap' op expects an element that was put, thread (0, 0, 0), block (0, 0, 0)
    %t = tile.get %ring[%c2] : !ring -> !slot
    gpu.return
  }
}
func.func @get_unknown() -> tensor<2x2xf32> {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %m = memref.alloc() : !m
  gpu.launch_func @get_unknown_module::@get_unknown blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%m : !m)
  %tensor = bufferization.to_tensor %m restrict : !m to tensor<2x2xf32>
  return %tensor : tensor<2x2xf32>
}

gpu.module @get_skipped_module {
  gpu.func @get_skipped(%m: !m) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %no = arith.constant false
    %ring = tile.channel : !ring
    tile.put %ring[%c0], %m[%c0, %c0] if %no : !ring, !m
    // SKIPPED: channels.mlir:[[#@LINE+1]]:10: error: 'llvm.intr.trap' op expects an element that was put, thread (0, 0, 0), block (0, 0, 0)
    %t = tile.get %ring[%c0] : !ring -> !slot
    gpu.return
  }
}
func.func @get_skipped() -> tensor<2x2xf32> {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %m = memref.alloc() : !m
  gpu.launch_func @get_skipped_module::@get_skipped blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%m : !m)
  %tensor = bufferization.to_tensor %m restrict : !m to tensor<2x2xf32>
  return %tensor : tensor<2x2xf32>
}

gpu.module @get_pending_module {
  gpu.func @get_pending(%m: !m) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %no = arith.constant false
    %ring = tile.channel : !ring
    tile.put %ring[%c0], %m[%c0, %c0] : !ring, !m
    tile.put %ring[%c1], %m[%c0, %c0] : !ring, !m
    // PENDING: channels.mlir:[[#@LINE+1]]:10: error: 'llvm.intr.trap' op expects at least as many puts after that of the element as may be pending, thread (0, 0, 0), block (0, 0, 0)
    %t = tile.get %ring[%c0] pending 2 : !ring -> !slot
    gpu.return
  }
}
func.func @get_pending() -> tensor<2x2xf32> {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %m = memref.alloc() : !m
  gpu.launch_func @get_pending_module::@get_pending blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%m : !m)
  %tensor = bufferization.to_tensor %m restrict : !m to tensor<2x2xf32>
  return %tensor : tensor<2x2xf32>
}

gpu.module @release_twice_module {
  gpu.func @release_twice(%m: !m) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %no = arith.constant false
    %ring = tile.channel : !ring
    tile.put %ring[%c0], %m[%c0, %c0] : !ring, !m
    tile.release %ring[%c0] : !ring
    // RELEASE: channels.mlir:[[#@LINE+1]]:5: error: 'llvm.intr.trap' op expects an element that was put and not released, thread (0, 0, 0), block (0, 0, 0)
    tile.release %ring[%c0] : !ring
    gpu.return
  }
}
func.func @release_twice() -> tensor<2x2xf32> {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %m = memref.alloc() : !m
  gpu.launch_func @release_twice_module::@release_twice blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%m : !m)
  %tensor = bufferization.to_tensor %m restrict : !m to tensor<2x2xf32>
  return %tensor : tensor<2x2xf32>
}

gpu.module @read_released_module {
  gpu.func @read_released(%m: !m) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %no = arith.constant false
    %ring = tile.channel : !ring
    tile.put %ring[%c0], %m[%c0, %c0] : !ring, !m
    %t = tile.get %ring[%c0] : !ring -> !slot
    tile.release %ring[%c0] : !ring
    // READ: channels.mlir:[[#@LINE+1]]:10: error: 'llvm.intr.trap' op expects a tile that is read before its slot is released, thread (0, 0, 0), block (0, 0, 0)
    %r = tile.read %t : !slot -> !tile.tile<2x2xf32, registers>
    gpu.return
  }
}
func.func @read_released() -> tensor<2x2xf32> {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %m = memref.alloc() : !m
  gpu.launch_func @read_released_module::@read_released blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%m : !m)
  %tensor = bufferization.to_tensor %m restrict : !m to tensor<2x2xf32>
  return %tensor : tensor<2x2xf32>
}

gpu.module @multiply_overwritten_module {
  gpu.func @multiply_overwritten(%m: !m) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %no = arith.constant false
    %ring = tile.channel : !ring
    tile.put %ring[%c0], %m[%c0, %c0] : !ring, !m
    %t = tile.get %ring[%c0] : !ring -> !slot
    tile.release %ring[%c0] : !ring
    tile.put %ring[%c2], %m[%c0, %c0] : !ring, !m
    %zero = arith.constant 0.0 : f32
    %acc = tile.fill %zero : f32 -> !tile.tile<2x2xf32, registers>
    // MULTIPLY: channels.mlir:[[#@LINE+1]]:10: error: 'llvm.intr.trap' op expects a tile that is read before its slot is released, thread (0, 0, 0), block (0, 0, 0)
    %r = tile.mma %t, %t, %acc : !slot, !slot, !tile.tile<2x2xf32, registers>
    gpu.return
  }
}
func.func @multiply_overwritten() -> tensor<2x2xf32> {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %m = memref.alloc() : !m
  gpu.launch_func @multiply_overwritten_module::@multiply_overwritten blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%m : !m)
  %tensor = bufferization.to_tensor %m restrict : !m to tensor<2x2xf32>
  return %tensor : tensor<2x2xf32>
}
}
