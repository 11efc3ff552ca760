// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Roles that compute and of which no one program can be made.
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics --convert-tile-to-loops

!one = !tile.channel<2x2xf32, stages = 1, swizzle_atom = 2>
!slot = !tile.tile<2x2xf32, shared, #tile.swizzle<vector = 2, bits = 0, shift = 3, swizzle_atom = 2>>
!regs = !tile.tile<2x2xf32, registers>
gpu.module @kernels {
  gpu.func @never_released(%zero: f32) kernel attributes {known_block_size = array<i32: 384, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %init = tile.fill %zero : f32 -> !regs
    %handed = tile.channel : !one
    tile.specialize <"first", warps = 4> {
      tile.put_tile %handed[%c0], %init : !one, !regs
      tile.put_tile %handed[%c1], %init : !one, !regs
    }, <"other", warps = 4> {
      %h = tile.get %handed[%c0] : !one -> !slot
      // expected-error @below {{expects roles that all come to what it waits for}}
      %i = tile.get %handed[%c1] : !one -> !slot
      tile.release %handed[%c0] : !one
      tile.release %handed[%c1] : !one
    }, <"load", warps = 4, threads = one> {
    }
    gpu.return
  }
}

// -----

!one = !tile.channel<2x2xf32, stages = 1, swizzle_atom = 2>
!slot = !tile.tile<2x2xf32, shared, #tile.swizzle<vector = 2, bits = 0, shift = 3, swizzle_atom = 2>>
!regs = !tile.tile<2x2xf32, registers>
gpu.module @kernels {
  gpu.func @loop_and_branch(%zero: f32, %n: index, %more: i1) kernel attributes {known_block_size = array<i32: 384, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %init = tile.fill %zero : f32 -> !regs
    %handed = tile.channel : !one
    tile.specialize <"first", warps = 4> {
      // expected-error @below {{expects roles that meet in loops, or in branches, alike}}
      scf.for %e = %c0 to %n step %c1 {
        tile.put_tile %handed[%e], %init : !one, !regs
      }
    }, <"other", warps = 4> {
      scf.if %more {
        %h = tile.get %handed[%c0] : !one -> !slot
        tile.release %handed[%c0] : !one
      }
    }, <"load", warps = 4, threads = one> {
    }
    gpu.return
  }
}

// -----

!one = !tile.channel<2x2xf32, stages = 1, swizzle_atom = 2>
!slot = !tile.tile<2x2xf32, shared, #tile.swizzle<vector = 2, bits = 0, shift = 3, swizzle_atom = 2>>
!regs = !tile.tile<2x2xf32, registers>
gpu.module @kernels {
  gpu.func @other_branches(%zero: f32, %more: i1) kernel attributes {known_block_size = array<i32: 384, 1, 1>} {
    %c0 = arith.constant 0 : index
    %init = tile.fill %zero : f32 -> !regs
    %handed = tile.channel : !one
    tile.specialize <"first", warps = 4> {
      scf.if %more {
        tile.put_tile %handed[%c0], %init : !one, !regs
      }
    }, <"other", warps = 4> {
      // expected-error @below {{expects roles that meet in branches alike}}
      scf.if %more {
        %h = tile.get %handed[%c0] : !one -> !slot
        tile.release %handed[%c0] : !one
      } else {
      }
    }, <"load", warps = 4, threads = one> {
    }
    gpu.return
  }
}
