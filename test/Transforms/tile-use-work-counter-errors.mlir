// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What tile-use-work-counter refuses where a loop asks for its tiles one by one.
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics \
// RUN:   --pass-pipeline="builtin.module(gpu.module(gpu.func(tile-use-work-counter)))"

gpu.module @roles {
  // expected-error @below {{expects roles of warps, of tile-specialize-warps, where a loop is 'tile.dynamic'}}
  gpu.func @f(%tiles: index) kernel {
    %own = gpu.block_id x
    %grid = gpu.grid_dim x
    scf.for %t = %own to %tiles step %grid {
    } {tile.dynamic}
    gpu.return
  }
}

// -----

gpu.module @no_producer {
  // expected-error @below {{expects a role of one thread, and another one, with loops over tiles where a loop is 'tile.dynamic'}}
  gpu.func @f(%tiles: index, %counter: memref<1xi32> {tile.work_counter}) kernel {
    %own = gpu.block_id x
    %grid = gpu.grid_dim x
    tile.specialize <"compute", warps = 4> {
      scf.for %t = %own to %tiles step %grid {
      } {tile.dynamic}
    }, <"store", warps = 1> {
    }
    gpu.return
  }
}

// -----

gpu.module @step {
  // expected-error @below {{expects a loop over tiles, in steps of the grid, in each role where a loop is 'tile.dynamic'}}
  gpu.func @f(%tiles: index, %counter: memref<1xi32> {tile.work_counter}) kernel {
    %own = gpu.block_id x
    %grid = gpu.grid_dim x
    tile.specialize <"compute", warps = 4> {
      scf.for %t = %own to %tiles step %own {
      } {tile.dynamic}
    }, <"load", warps = 1, threads = one> {
      scf.for %t = %own to %tiles step %grid {
      } {tile.dynamic}
    }
    gpu.return
  }
}

// -----

gpu.module @one_of_them {
  // expected-error @below {{expects a role of one thread, and another one, with loops over tiles where a loop is 'tile.dynamic'}}
  gpu.func @f(%tiles: index, %counter: memref<1xi32> {tile.work_counter}) kernel {
    %own = gpu.block_id x
    %grid = gpu.grid_dim x
    tile.specialize <"compute", warps = 4> {
    }, <"load", warps = 1, threads = one> {
      scf.for %t = %own to %tiles step %grid {
      } {tile.dynamic}
    }
    gpu.return
  }
}

// -----

gpu.module @counter {
  // expected-error @below {{expects an argument with the attribute 'tile.work_counter' where a loop is 'tile.dynamic'}}
  gpu.func @f(%tiles: index, %counter: memref<1xi32>) kernel {
    %own = gpu.block_id x
    %grid = gpu.grid_dim x
    tile.specialize <"compute", warps = 4> {
      scf.for %t = %own to %tiles step %grid {
      } {tile.dynamic}
    }, <"load", warps = 1, threads = one> {
      scf.for %t = %own to %tiles step %grid {
      } {tile.dynamic}
    }
    gpu.return
  }
}
