// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics \
// RUN:   --pass-pipeline="builtin.module(gpu.module(gpu.func(tile-deal-tiles)))"

gpu.module @roles {
  // expected-error @below {{expects roles of warps, of tile-specialize-warps, where the schedule says persistent = dynamic}}
  gpu.func @f() kernel attributes {tile.schedule = #schedule.attention<persistent = dynamic>} {
    gpu.return
  }
}

// -----

gpu.module @loops {
  // expected-error @below {{expects a loop over tiles, in steps of the grid, in both roles where the schedule says persistent = dynamic}}
  gpu.func @f(%tiles: index) kernel attributes {tile.schedule = #schedule.attention<persistent = dynamic>} {
    %own = gpu.block_id x
    %grid = gpu.grid_dim x
    tile.specialize producer 1 {
      scf.for %t = %own to %tiles step %grid {
      }
    } consumer {
      scf.for %t = %own to %tiles step %own {
      }
    }
    gpu.return
  }
}

// -----

gpu.module @counter {
  // expected-error @below {{expects an argument with the attribute 'tile.counter' where the schedule says persistent = dynamic}}
  gpu.func @f(%tiles: index, %counter: memref<1xi32>) kernel attributes {tile.schedule = #schedule.attention<persistent = dynamic>} {
    %own = gpu.block_id x
    %grid = gpu.grid_dim x
    tile.specialize producer 1 {
      scf.for %t = %own to %tiles step %grid {
      }
    } consumer {
      scf.for %t = %own to %tiles step %grid {
      }
    }
    gpu.return
  }
}
