// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What convert-tile-to-gpu refuses.
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics --convert-tile-to-gpu

!rows = !tile.tile<16x8xf32, registers, #tile.layout<registers = [[8, 1, 1]], lanes = [[16, 0, 1], [2, 0, 0]], warps = []>>
gpu.module @kernels {
  // expected-error @below {{expects a 'tile.target' attribute on the kernel or around it; run attune-attach-target first}}
  gpu.func @no_target(%x: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %a = tile.fill %x : f32 -> !rows
    gpu.return
  }
}

// -----

!rows = !tile.tile<16x8xf32, registers, #tile.layout<registers = [[8, 1, 1]], lanes = [[16, 0, 1], [2, 0, 0]], warps = []>>
module attributes {tile.target = #tile.target<chip = "toy", family = "Toy", lanes = 32, cores = 1, shared = 1024,
  shared_per_core = 1024, registers = 1, registers_per_core = 1, max_threads = 1, max_threads_per_core = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  gpu.module @kernels {
    // expected-error @below {{expects a family that this build knows, but got 'Toy'}}
    gpu.func @unknown_family(%x: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      %a = tile.fill %x : f32 -> !rows
      gpu.return
    }
  }
}

// -----

!rows = !tile.tile<16x8xf32, registers, #tile.layout<registers = [[8, 1, 1]], lanes = [[16, 0, 1], [2, 0, 0]], warps = []>>
module attributes {tile.target = #tile.target<chip = "toy", family = "RDNA3", lanes = 32, cores = 1, shared = 1024,
  shared_per_core = 1024, registers = 1, registers_per_core = 1, max_threads = 1, max_threads_per_core = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  gpu.module @kernels {
    // expected-error @below {{expects 'known_block_size' on the kernel}}
    gpu.func @no_block_size(%x: f32) kernel {
      %a = tile.fill %x : f32 -> !rows
      gpu.return
    }
  }
}

// -----

module attributes {tile.target = #tile.target<chip = "toy", family = "RDNA3", lanes = 32, cores = 1, shared = 1024,
  shared_per_core = 1024, registers = 1, registers_per_core = 1, max_threads = 1, max_threads_per_core = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  gpu.module @kernels {
    // expected-error @below {{expects at most 1024 bytes of shared memory on 'toy', but got 2048}}
    gpu.func @shared_overflow() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      %a = tile.channel : !tile.channel<16x32xf16, stages = 2>
      gpu.return
    }
  }
}

// -----

module attributes {tile.target = #tile.target<chip = "toy", family = "RDNA3", lanes = 32, cores = 1, shared = 1024,
  shared_per_core = 1024, registers = 1, registers_per_core = 1, max_threads = 1, max_threads_per_core = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  gpu.module @kernels {
    gpu.func @no_layout(%x: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      // expected-error @below {{expects a layout on every tile in registers, but got '!tile.tile<16x8xf32, registers>'; run tile-assign-layouts first}}
      %a = tile.fill %x : f32 -> !tile.tile<16x8xf32, registers>
      gpu.return
    }
  }
}

// -----

#rows = #tile.layout<registers = [[8, 1, 1]], lanes = [[16, 0, 1], [2, 0, 0]], warps = [[2, 0, 16]]>
#columns = #tile.layout<registers = [[8, 1, 1]], lanes = [[2, 0, 0], [16, 0, 2]], warps = [[2, 0, 1]]>
module attributes {tile.target = #tile.target<chip = "toy", family = "RDNA3", lanes = 32, cores = 1, shared = 1024,
  shared_per_core = 1024, registers = 1, registers_per_core = 1, max_threads = 1, max_threads_per_core = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  gpu.module @kernels {
    gpu.func @between_warps(%x: f32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %a = tile.fill %x : f32 -> !tile.tile<32x8xf32, registers, #rows>
      // expected-error @below {{failed to legalize operation 'tile.convert_layout'}}
      %b = tile.convert_layout %a : !tile.tile<32x8xf32, registers, #rows> -> !tile.tile<32x8xf32, registers, #columns>
      gpu.return
    }
  }
}

// -----

!rows = !tile.tile<16x8xf32, registers, #tile.layout<registers = [[8, 1, 1]], lanes = [[16, 0, 1], [2, 0, 0]], warps = []>>
module attributes {tile.target = #tile.target<chip = "toy", family = "RDNA3", lanes = 32, cores = 1, shared = 1024,
  shared_per_core = 1024, registers = 1, registers_per_core = 1, max_threads = 1, max_threads_per_core = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  gpu.module @kernels {
    gpu.func @not_elementwise(%m: memref<8xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      // expected-error @below {{failed to legalize operation 'tile.map'}}
      %a = tile.map() {
      ^bb0(%i: index, %j: index):
        %f = arith.constant 1.0 : f32
        // expected-error @below {{expects an elementwise operation or a load in a tile.map}}
        %x = memref.atomic_rmw addf %f, %m[%i] : (f32, memref<8xf32>) -> f32
        tile.yield %x : f32
      } : () -> !rows
      gpu.return
    }
  }
}
