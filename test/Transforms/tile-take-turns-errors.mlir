// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(gpu.module(gpu.func(tile-take-turns)))"

gpu.module @kernels {
  gpu.func @count_of_memory(%ends: memref<?xindex>, %tiles: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    tile.specialize <"compute", warps = 8, teams = 2> {
      %r = scf.for %t = %c0 to %tiles step %c1 iter_args(%e = %c0) -> index {
        // expected-error @below {{expects a count that a loop with 'tile.take_turns' carries to follow by arithmetic, but got it of this}}
        %count = memref.load %ends[%t] : memref<?xindex>
        %next = arith.addi %e, %count : index
        scf.yield %next : index
      } {tile.take_turns}
    }, <"load", warps = 4, threads = one> {
    }
    gpu.return
  }
}

// -----

!tile = !tile.tile<16x16xf32, registers>
gpu.module @kernels {
  gpu.func @carried_tile(%zero: f32, %tiles: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    tile.specialize <"compute", warps = 8, teams = 2> {
      %sum = tile.fill %zero : f32 -> !tile
      // expected-error @below {{expects to carry counts and tokens alone where it is 'tile.take_turns', but got '!tile.tile<16x16xf32, registers>'}}
      %r = scf.for %t = %c0 to %tiles step %c1 iter_args(%s = %sum) -> !tile {
        scf.yield %s : !tile
      } {tile.take_turns}
    }, <"load", warps = 4, threads = one> {
    }
    gpu.return
  }
}
