// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Several roles that compute, in one thread: what one puts is there when
// another one gets it, and a slot is free when all have released it.
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_90a" --emit-bytecode -o %t.mlirbc
// RUN: attune-run %t.mlirbc --device=host --print --function=hands_over | FileCheck %s --check-prefix=HANDS
// RUN: not attune-run %t.mlirbc --device=host --print --function=apart 2>&1 | FileCheck %s --check-prefix=APART
//
// RUN: attune-opt %s --convert-tile-to-loops | FileCheck %s --implicit-check-not=!tile --implicit-check-not=tile.

!m = memref<12x2xf32>
!ring = !tile.channel<2x2xf32, stages = 2, swizzle_atom = 2>
!one = !tile.channel<2x2xf32, stages = 1, swizzle_atom = 2>
!slot = !tile.tile<2x2xf32, shared, #tile.swizzle<vector = 2, bits = 0, shift = 3, swizzle_atom = 2>>
!regs = !tile.tile<2x2xf32, registers>

module attributes {gpu.container_module} {

// The blocks are [[0, 1], [2, 3]] .. [[8, 9], [10, 11]]: twice their sum by "first", three times by "other", which gets
// them doubled, and once itself.
// HANDS: result 0: 12x2xf32
// HANDS-NEXT: {{^}}0 1{{$}}
// HANDS-NEXT: {{^}}2 3{{$}}
// HANDS-NEXT: {{^}}4 5{{$}}
// HANDS-NEXT: {{^}}6 7{{$}}
// HANDS-NEXT: {{^}}8 9{{$}}
// HANDS-NEXT: {{^}}10 11{{$}}
// HANDS-NEXT: {{^}}24 30{{$}}
// HANDS-NEXT: {{^}}36 42{{$}}
// HANDS-NEXT: {{^}}36 45{{$}}
// HANDS-NEXT: {{^}}54 63{{$}}
// The loops of both roles are one, in which a channel's slot is taken and left
// in turn.
// CHECK-LABEL: gpu.func @hands_over
gpu.module @hands_over_module {
  gpu.func @hands_over(%m: !m) kernel attributes {known_block_size = array<i32: 384, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c6 = arith.constant 6 : index
    %c8 = arith.constant 8 : index
    %zero = arith.constant 0.0 : f32
    %init = tile.fill %zero : f32 -> !regs
    %ring = tile.channel : !ring
    %handed = tile.channel : !one
    %numbers = tile.map() {
    ^bb0(%i: index, %j: index):
      %row = arith.muli %i, %c2 : index
      %sum = arith.addi %row, %j : index
      %n = arith.index_cast %sum : index to i32
      %x = arith.sitofp %n : i32 to f32
      tile.yield %x : f32
    } : () -> !tile.tile<6x2xf32, registers>
    tile.store %numbers, %m[%c0, %c0] : !tile.tile<6x2xf32, registers>, !m
    tile.specialize <"first", warps = 4> {
      %twice = scf.for %e = %c0 to %c3 step %c1 iter_args(%a = %init) -> !regs {
        %s = tile.get %ring[%e] : !ring -> !slot
        %r = tile.read %s : !slot -> !regs
        tile.release %ring[%e] : !ring
        %d = tile.map(%r) {
        ^bb0(%x: f32, %i: index, %j: index):
          %z = arith.addf %x, %x : f32
          tile.yield %z : f32
        } : (!regs) -> !regs
        tile.put_tile %handed[%e], %d : !one, !regs
        %b = tile.map(%a, %d) {
        ^bb0(%x: f32, %y: f32, %i: index, %j: index):
          %z = arith.addf %x, %y : f32
          tile.yield %z : f32
        } : (!regs, !regs) -> !regs
        scf.yield %b : !regs
      }
      tile.store %twice, %m[%c6, %c0] : !regs, !m
    }, <"other", warps = 4> {
      %begin = arith.subi %c1, %c1 : index
      %thrice = scf.for %e = %begin to %c3 step %c1 iter_args(%a = %init) -> !regs {
        %h = tile.get %handed[%e] : !one -> !slot
        %d = tile.read %h : !slot -> !regs
        %s = tile.get %ring[%e] : !ring -> !slot
        %r = tile.read %s : !slot -> !regs
        tile.release %handed[%e] : !one
        tile.release %ring[%e] : !ring
        %b = tile.map(%a, %d, %r) {
        ^bb0(%x: f32, %y: f32, %z: f32, %i: index, %j: index):
          %v = arith.addf %x, %y : f32
          %w = arith.addf %v, %z : f32
          tile.yield %w : f32
        } : (!regs, !regs, !regs) -> !regs
        scf.yield %b : !regs
      }
      tile.store %thrice, %m[%c8, %c0] : !regs, !m
    }, <"load", warps = 4, threads = one> {
      scf.for %e = %c0 to %c3 step %c1 {
        %row = arith.muli %e, %c2 : index
        tile.put %ring[%e], %m[%row, %c0] : !ring, !m
      }
    }
    gpu.return
  }
}
func.func @hands_over() -> tensor<12x2xf32> {
  %c1 = arith.constant 1 : index
  %c384 = arith.constant 384 : index
  %m = memref.alloc() : !m
  gpu.launch_func @hands_over_module::@hands_over blocks in (%c1, %c1, %c1) threads in (%c384, %c1, %c1) args(%m : !m)
  %tensor = bufferization.to_tensor %m restrict : !m to tensor<12x2xf32>
  return %tensor : tensor<12x2xf32>
}

gpu.module @apart_module {
  gpu.func @apart(%m: !m) kernel attributes {known_block_size = array<i32: 384, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %zero = arith.constant 0.0 : f32
    %init = tile.fill %zero : f32 -> !regs
    %handed = tile.channel : !one
    tile.specialize <"first", warps = 4> {
      // APART: computing-roles.mlir:[[#@LINE+1]]:7: error: 'llvm.intr.trap' op expects roles that meet in as many iterations
      scf.for %e = %c0 to %c3 step %c1 {
        tile.put_tile %handed[%e], %init : !one, !regs
      }
    }, <"other", warps = 4> {
      scf.for %e = %c0 to %c2 step %c1 {
        %h = tile.get %handed[%e] : !one -> !slot
        tile.release %handed[%e] : !one
      }
    }, <"load", warps = 4, threads = one> {
    }
    gpu.return
  }
}
func.func @apart() -> tensor<12x2xf32> {
  %c1 = arith.constant 1 : index
  %c384 = arith.constant 384 : index
  %m = memref.alloc() : !m
  gpu.launch_func @apart_module::@apart blocks in (%c1, %c1, %c1) threads in (%c384, %c1, %c1) args(%m : !m)
  %tensor = bufferization.to_tensor %m restrict : !m to tensor<12x2xf32>
  return %tensor : tensor<12x2xf32>
}
}
