// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Producers, consumers and asynchronous MMAs in one thread: what they
// compute, and what would never end, or be read too early, on a chip.
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_90a" --emit-bytecode -o %t.mlirbc
// RUN: attune-run %t.mlirbc --device=host --print --function=sum | FileCheck %s --check-prefix=SUM
// RUN: not attune-run %t.mlirbc --device=host --print --function=never_put 2>&1 | FileCheck %s --check-prefix=NEVER
// RUN: not attune-run %t.mlirbc --device=host --print --function=skipped 2>&1 | FileCheck %s --check-prefix=SKIPPED
// RUN: not attune-run %t.mlirbc --device=host --print --function=not_released 2>&1 | FileCheck %s --check-prefix=RELEASED
// RUN: not attune-run %t.mlirbc --device=host --print --function=crossed 2>&1 | FileCheck %s --check-prefix=CROSSED
// RUN: not attune-run %t.mlirbc --device=host --print --function=released_early 2>&1 | FileCheck %s --check-prefix=EARLY
//
// RUN: attune-opt %s --convert-tile-to-loops | FileCheck %s --implicit-check-not=!tile --implicit-check-not=tile.

!m = memref<8x2xf32>
!ring = !tile.channel<2x2xf32, stages = 2, swizzle_atom = 2>
!slot = !tile.tile<2x2xf32, shared, #tile.swizzle<vector = 2, bits = 0, shift = 3, swizzle_atom = 2>>
!regs = !tile.tile<2x2xf32, registers>

module attributes {gpu.container_module} {

// SUM: result 0: 8x2xf32
// SUM-NEXT: {{^}}12 15{{$}}
// SUM-NEXT: {{^}}18 21{{$}}
// SUM-NEXT: {{^}}6 7{{$}}
// SUM-NEXT: {{^}}26 31{{$}}
// SUM-NEXT: {{^}}18 22{{$}}
// SUM-NEXT: {{^}}44 52{{$}}
// CHECK-LABEL: gpu.func @sum
gpu.module @sum_module {
  gpu.func @sum(%m: !m) kernel attributes {known_block_size = array<i32: 384, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %zero = arith.constant 0.0 : f32
    %acc = tile.fill %zero : f32 -> !regs
    %ring = tile.channel : !ring
    %other = tile.channel : !ring
    %numbers = tile.map() {
    ^bb0(%i: index, %j: index):
      %row = arith.muli %i, %c2 : index
      %sum = arith.addi %row, %j : index
      %n = arith.index_cast %sum : index to i32
      %x = arith.sitofp %n : i32 to f32
      tile.yield %x : f32
    } : () -> !tile.tile<6x2xf32, registers>
    tile.store %numbers, %m[%c0, %c0] : !tile.tile<6x2xf32, registers>, !m
    // CHECK-NOT: tile.specialize
    // CHECK: scf.for
    tile.ping_pong_init of 2
    tile.specialize <"compute", warps = 8, registers = 240> {
      // The sum of the three blocks of [[0, 1], [2, 3]] .. [[8, 9], [10, 11]], and the product of the first two.
      %sum = scf.for %e = %c0 to %c3 step %c1 iter_args(%a = %acc) -> !regs {
        tile.ping_pong_wait of 2
        %s = tile.get %ring[%e] : !ring -> !slot
        %r = tile.read %s : !slot -> !regs
        tile.ping_pong_arrive of 2
        tile.release %ring[%e] : !ring
        %b = tile.map(%a, %r) {
        ^bb0(%x: f32, %y: f32, %i: index, %j: index):
          %z = arith.addf %x, %y : f32
          tile.yield %z : f32
        } : (!regs, !regs) -> !regs
        scf.yield %b : !regs
      }
      %s = tile.get %other[%c0] : !ring -> !slot
      %t = tile.get %other[%c1] : !ring -> !slot
      %p = tile.mma_async %s, %t, %acc : !slot, !slot, !regs
      // Two parts of a sum are all of it.
      %first = tile.mma_async %s, %t, %sum terms [0, 1] : !slot, !slot, !regs
      %q = tile.mma_async %s, %t, %first terms [1, 2] : !slot, !slot, !tile.pending<!regs>
      %product = tile.wait %p : !tile.pending<!regs>
      %both = tile.wait %q : !tile.pending<!regs>
      tile.release %other[%c0] : !ring
      tile.release %other[%c1] : !ring
      tile.store %sum, %m[%c0, %c0] : !regs, !m
      tile.store %product, %m[%c2, %c0] : !regs, !m
      %c4 = arith.constant 4 : index
      tile.store %both, %m[%c4, %c0] : !regs, !m
      %c6 = arith.constant 6 : index
      tile.store %acc, %m[%c6, %c0] : !regs, !m
    }, <"load", warps = 4, registers = 24, threads = one> {
      scf.for %e = %c0 to %c3 step %c1 {
        %row = arith.muli %e, %c2 : index
        tile.put %ring[%e], %m[%row, %c0] : !ring, !m
        %more = arith.cmpi ult, %e, %c2 : index
        scf.if %more {
          tile.put %other[%e], %m[%row, %c0] if %more : !ring, !m
        }
      }
    }
    gpu.return
  }
}
func.func @sum() -> tensor<8x2xf32> {
  %c1 = arith.constant 1 : index
  %c384 = arith.constant 384 : index
  %m = memref.alloc() : !m
  gpu.launch_func @sum_module::@sum blocks in (%c1, %c1, %c1) threads in (%c384, %c1, %c1) args(%m : !m)
  %tensor = bufferization.to_tensor %m restrict : !m to tensor<8x2xf32>
  return %tensor : tensor<8x2xf32>
}

gpu.module @never_put_module {
  gpu.func @never_put(%m: !m) kernel attributes {known_block_size = array<i32: 384, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %zero = arith.constant 0.0 : f32
    %acc = tile.fill %zero : f32 -> !regs
    %ring = tile.channel : !ring
    %other = tile.channel : !ring
    tile.specialize <"compute", warps = 8, registers = 240> {
      // NEVER: roles.mlir:[[#@LINE+1]]:12: error: 'llvm.intr.trap' op expects an element that the producers put, thread (0, 0, 0), block (0, 0, 0)
      %s = tile.get %ring[%c1] : !ring -> !slot
    }, <"load", warps = 4, registers = 24, threads = one> {
      tile.put %ring[%c0], %m[%c0, %c0] : !ring, !m
    }
    gpu.return
  }
}
func.func @never_put() -> tensor<8x2xf32> {
  %c1 = arith.constant 1 : index
  %c384 = arith.constant 384 : index
  %m = memref.alloc() : !m
  gpu.launch_func @never_put_module::@never_put blocks in (%c1, %c1, %c1) threads in (%c384, %c1, %c1) args(%m : !m)
  %tensor = bufferization.to_tensor %m restrict : !m to tensor<8x2xf32>
  return %tensor : tensor<8x2xf32>
}

gpu.module @skipped_module {
  gpu.func @skipped(%m: !m) kernel attributes {known_block_size = array<i32: 384, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %zero = arith.constant 0.0 : f32
    %acc = tile.fill %zero : f32 -> !regs
    %ring = tile.channel : !ring
    %other = tile.channel : !ring
    %no = arith.constant false
    tile.specialize <"compute", warps = 8, registers = 240> {
      // SKIPPED: roles.mlir:[[#@LINE+1]]:12: error: 'llvm.intr.trap' op expects an element that the producers put
      %s = tile.get %ring[%c0] : !ring -> !slot
    }, <"load", warps = 4, registers = 24, threads = one> {
      tile.put %ring[%c0], %m[%c0, %c0] if %no : !ring, !m
    }
    gpu.return
  }
}
func.func @skipped() -> tensor<8x2xf32> {
  %c1 = arith.constant 1 : index
  %c384 = arith.constant 384 : index
  %m = memref.alloc() : !m
  gpu.launch_func @skipped_module::@skipped blocks in (%c1, %c1, %c1) threads in (%c384, %c1, %c1) args(%m : !m)
  %tensor = bufferization.to_tensor %m restrict : !m to tensor<8x2xf32>
  return %tensor : tensor<8x2xf32>
}

gpu.module @not_released_module {
  gpu.func @not_released(%m: !m) kernel attributes {known_block_size = array<i32: 384, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %zero = arith.constant 0.0 : f32
    %acc = tile.fill %zero : f32 -> !regs
    %ring = tile.channel : !ring
    %other = tile.channel : !ring
    tile.specialize <"compute", warps = 8, registers = 240> {
      scf.for %e = %c0 to %c3 step %c1 {
        %s = tile.get %ring[%e] : !ring -> !slot
      }
    }, <"load", warps = 4, registers = 24, threads = one> {
      scf.for %e = %c0 to %c3 step %c1 {
        // RELEASED: roles.mlir:[[#@LINE+1]]:9: error: 'llvm.intr.trap' op expects a slot that is released before a later put is waited for
        tile.put %ring[%e], %m[%c0, %c0] : !ring, !m
      }
    }
    gpu.return
  }
}
func.func @not_released() -> tensor<8x2xf32> {
  %c1 = arith.constant 1 : index
  %c384 = arith.constant 384 : index
  %m = memref.alloc() : !m
  gpu.launch_func @not_released_module::@not_released blocks in (%c1, %c1, %c1) threads in (%c384, %c1, %c1) args(%m : !m)
  %tensor = bufferization.to_tensor %m restrict : !m to tensor<8x2xf32>
  return %tensor : tensor<8x2xf32>
}

gpu.module @crossed_module {
  gpu.func @crossed(%m: !m) kernel attributes {known_block_size = array<i32: 384, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %zero = arith.constant 0.0 : f32
    %acc = tile.fill %zero : f32 -> !regs
    %ring = tile.channel : !ring
    %other = tile.channel : !ring
    tile.specialize <"compute", warps = 8, registers = 240> {
      // The third element of the first ring has no slot before the other ring is waited for.
      %t = tile.get %other[%c0] : !ring -> !slot
      scf.for %e = %c0 to %c3 step %c1 {
        %s = tile.get %ring[%e] : !ring -> !slot
        tile.release %ring[%e] : !ring
      }
    }, <"load", warps = 4, registers = 24, threads = one> {
      scf.for %e = %c0 to %c3 step %c1 {
        // CROSSED: roles.mlir:[[#@LINE+1]]:9: error: 'llvm.intr.trap' op expects a slot that is released before a later put is waited for
        tile.put %ring[%e], %m[%c0, %c0] : !ring, !m
      }
      tile.put %other[%c0], %m[%c0, %c0] : !ring, !m
    }
    gpu.return
  }
}
func.func @crossed() -> tensor<8x2xf32> {
  %c1 = arith.constant 1 : index
  %c384 = arith.constant 384 : index
  %m = memref.alloc() : !m
  gpu.launch_func @crossed_module::@crossed blocks in (%c1, %c1, %c1) threads in (%c384, %c1, %c1) args(%m : !m)
  %tensor = bufferization.to_tensor %m restrict : !m to tensor<8x2xf32>
  return %tensor : tensor<8x2xf32>
}

gpu.module @released_early_module {
  gpu.func @released_early(%m: !m) kernel attributes {known_block_size = array<i32: 384, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %zero = arith.constant 0.0 : f32
    %acc = tile.fill %zero : f32 -> !regs
    %ring = tile.channel : !ring
    %other = tile.channel : !ring
    tile.put %ring[%c0], %m[%c0, %c0] : !ring, !m
    %s = tile.get %ring[%c0] : !ring -> !slot
    %p = tile.mma_async %acc, %s, %acc : !regs, !slot, !regs
    tile.release %ring[%c0] : !ring
    // EARLY: roles.mlir:[[#@LINE+1]]:10: error: 'llvm.intr.trap' op expects a tile that is read before its slot is released
    %q = tile.wait %p : !tile.pending<!regs>
    gpu.return
  }
}
func.func @released_early() -> tensor<8x2xf32> {
  %c1 = arith.constant 1 : index
  %c384 = arith.constant 384 : index
  %m = memref.alloc() : !m
  gpu.launch_func @released_early_module::@released_early blocks in (%c1, %c1, %c1) threads in (%c384, %c1, %c1) args(%m : !m)
  %tensor = bufferization.to_tensor %m restrict : !m to tensor<8x2xf32>
  return %tensor : tensor<8x2xf32>
}
}
