// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What tile-assign-layouts refuses.
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics \
// RUN:   --pass-pipeline="builtin.module(gpu.module(gpu.func(tile-assign-layouts)))"

gpu.module @kernels {
  // expected-error @below {{expects a 'tile.target' attribute on the kernel or around it; run attune-attach-target first}}
  gpu.func @no_target() kernel attributes {tile.schedule = #schedule.attention<>} {
    gpu.return
  }
}

// -----

module attributes {tile.target = #tile.target<
  chip = "toy", family = "Toy", lanes = 4, cores = 1, shared = 1, shared_per_core = 1, registers = 1,
  registers_per_core = 1, max_threads = 1, max_threads_per_core = 1, copy_sync = none, copy_widths = [], mma = []>} {
gpu.module @kernels {
  // expected-error @below {{expects a 'tile.schedule' attribute on the kernel}}
  gpu.func @no_schedule() kernel {
    gpu.return
  }
}
}

// -----

module attributes {tile.target = #tile.target<
  chip = "toy", family = "Toy", lanes = 4, cores = 1, shared = 1, shared_per_core = 1, registers = 1,
  registers_per_core = 1, max_threads = 1, max_threads_per_core = 1, copy_sync = none, copy_widths = [], mma = []>} {
gpu.module @kernels {
  gpu.func @no_atom(%a: !tile.tile<4x4xf16, registers>, %c: !tile.tile<4x4xf32, registers>) kernel
      attributes {tile.schedule = #schedule.attention<numWarps = 1>} {
    // expected-error @below {{expects an element type that 'toy' has a matrix instruction for, but got 'f16'}}
    %d = tile.mma %a, %a, %c : !tile.tile<4x4xf16, registers>, !tile.tile<4x4xf16, registers>, !tile.tile<4x4xf32, registers>
    gpu.return
  }
}
}

// -----

#layout = #tile.layout<registers = [], lanes = [[2, 0, 1], [2, 1, 1]], warps = []>
module attributes {tile.target = #tile.target<
  chip = "toy", family = "Toy", lanes = 4, cores = 1, shared = 1, shared_per_core = 1, registers = 1,
  registers_per_core = 1, max_threads = 1, max_threads_per_core = 1, copy_sync = none, copy_widths = [],
  mma = [#tile.mma_atom<name = "toy16", m = 2, n = 2, k = 2, inputType = f16, accType = f32, lhs = #layout, rhs = #layout, acc = #layout>,
         #tile.mma_atom<name = "toyb16", m = 2, n = 2, k = 2, inputType = bf16, accType = f32, lhs = #layout, rhs = #layout, acc = #layout>]>} {
gpu.module @kernels {
  gpu.func @two_atoms(%a: !tile.tile<4x4xf16, registers>, %b: !tile.tile<4x4xbf16, registers>, %c: !tile.tile<4x4xf32, registers>) kernel
      attributes {tile.schedule = #schedule.attention<numWarps = 1>} {
    %d = tile.mma %a, %a, %c : !tile.tile<4x4xf16, registers>, !tile.tile<4x4xf16, registers>, !tile.tile<4x4xf32, registers>
    // expected-error @below {{expects the same matrix instruction as the other multiplies of the kernel}}
    %e = tile.mma %b, %b, %c : !tile.tile<4x4xbf16, registers>, !tile.tile<4x4xbf16, registers>, !tile.tile<4x4xf32, registers>
    gpu.return
  }
}
}

// -----

#layout = #tile.layout<registers = [], lanes = [[2, 0, 1], [2, 1, 1]], warps = []>
module attributes {tile.target = #tile.target<
  chip = "toy", family = "Toy", lanes = 4, cores = 1, shared = 1, shared_per_core = 1, registers = 1,
  registers_per_core = 1, max_threads = 1, max_threads_per_core = 1, copy_sync = none, copy_widths = [],
  mma = [#tile.mma_atom<name = "toy", m = 2, n = 2, k = 2, inputType = f16, accType = f32, lhs = #layout, rhs = #layout, acc = #layout>]>} {
gpu.module @kernels {
  gpu.func @rows(%zero: f32, %a: !tile.tile<4x4xf16, registers, #tile.layout<registers = [[2, 0, 2], [2, 1, 2]], lanes = [[2, 0, 1], [2, 1, 1]], warps = []>>) kernel
      attributes {tile.schedule = #schedule.attention<numWarps = 4>} {
    // expected-error @below {{expects tiles of a multiple of 8x2 (4 warps of 'toy'), but got '!tile.tile<4x4xf32, registers>'}}
    %acc = tile.fill %zero : f32 -> !tile.tile<4x4xf32, registers>
    %d = tile.mma %a, %a, %acc : !tile.tile<4x4xf16, registers, #tile.layout<registers = [[2, 0, 2], [2, 1, 2]], lanes = [[2, 0, 1], [2, 1, 1]], warps = []>>, !tile.tile<4x4xf16, registers, #tile.layout<registers = [[2, 0, 2], [2, 1, 2]], lanes = [[2, 0, 1], [2, 1, 1]], warps = []>>, !tile.tile<4x4xf32, registers>
    gpu.return
  }
}
}

// -----

#layout = #tile.layout<registers = [], lanes = [[2, 0, 1], [2, 1, 1]], warps = []>
module attributes {tile.target = #tile.target<
  chip = "toy", family = "Toy", lanes = 4, cores = 1, shared = 1, shared_per_core = 1, registers = 1,
  registers_per_core = 1, max_threads = 1, max_threads_per_core = 1, copy_sync = none, copy_widths = [],
  mma = [#tile.mma_atom<name = "toy", m = 2, n = 2, k = 2, inputType = f16, accType = f32, lhs = #layout, rhs = #layout, acc = #layout>]>} {
gpu.module @kernels {
  gpu.func @transposed(%x: f16, %zero: f32) kernel attributes {tile.schedule = #schedule.attention<numWarps = 1>} {
    %a = tile.fill %x : f16 -> !tile.tile<4x4xf16, registers>
    %acc = tile.fill %zero : f32 -> !tile.tile<4x4xf32, registers>
    // expected-error @below {{expects a transposed rhs in shared memory; run tile-promote-to-shared first}}
    %d = tile.mma %a, %a, %acc transpose_rhs : !tile.tile<4x4xf16, registers>, !tile.tile<4x4xf16, registers>, !tile.tile<4x4xf32, registers>
    gpu.return
  }
}
}

// -----

#layout = #tile.layout<registers = [], lanes = [[2, 0, 1], [2, 1, 1]], warps = []>
module attributes {tile.target = #tile.target<
  chip = "toy", family = "Toy", lanes = 4, cores = 1, shared = 1, shared_per_core = 1, registers = 1,
  registers_per_core = 1, max_threads = 1, max_threads_per_core = 1, copy_sync = none, copy_widths = [],
  mma = [#tile.mma_atom<name = "toy", m = 2, n = 2, k = 2, inputType = f16, accType = f32, lhs = #layout, rhs = #layout, acc = #layout>]>} {
gpu.module @kernels {
  gpu.func @no_atom_of_four(%a: !tile.tile<8x4xf16, registers>, %b: !tile.tile<4x4xf16, registers>, %c: !tile.tile<8x4xf32, registers>) kernel
      attributes {tile.schedule = #schedule.attention<numWarps = 4, mmaWarps = 4>} {
    // expected-error @below {{expects an element type that 'toy' has a matrix instruction of 4 warps for, but got 'f16'}}
    %d = tile.mma_async %a, %b, %c : !tile.tile<8x4xf16, registers>, !tile.tile<4x4xf16, registers>, !tile.tile<8x4xf32, registers>
    gpu.return
  }
}
}

// -----

#four = #tile.layout<registers = [], lanes = [[2, 0, 1], [2, 1, 1]], warps = [[4, 0, 2]]>
#both = #tile.layout<registers = [], lanes = [[2, 1, 1], [2, 0, 1]], warps = [[4, 0, 0]]>
module attributes {tile.target = #tile.target<
  chip = "toy", family = "Toy", lanes = 4, cores = 1, shared = 1, shared_per_core = 1, registers = 1,
  registers_per_core = 1, max_threads = 1, max_threads_per_core = 1, copy_sync = none, copy_widths = [],
  mma = [#tile.mma_atom<name = "group", m = 8, n = 2, k = 2, inputType = f16, accType = f32, lhs = #four, rhs = #both, acc = #four>]>} {
gpu.module @kernels {
  gpu.func @rows_of_groups(%zero: f32, %x: f16, %b: !tile.tile<4x3xf16, shared, #tile.swizzle<vector = 1, bits = 0, shift = 0>>) kernel
      attributes {tile.schedule = #schedule.attention<numWarps = 8, mmaWarps = 4>} {
    %a = tile.fill %x : f16 -> !tile.tile<16x4xf16, registers>
    // expected-error @below {{expects tiles of a multiple of 16x2 (8 warps of 'group'), but got '!tile.tile<16x3xf32, registers>'}}
    %acc = tile.fill %zero : f32 -> !tile.tile<16x3xf32, registers>
    %d = tile.mma %a, %b, %acc : !tile.tile<16x4xf16, registers>, !tile.tile<4x3xf16, shared, #tile.swizzle<vector = 1, bits = 0, shift = 0>>, !tile.tile<16x3xf32, registers>
    gpu.return
  }
}
}

// -----

#four = #tile.layout<registers = [], lanes = [[2, 0, 1], [2, 1, 1]], warps = [[4, 0, 2]]>
#both = #tile.layout<registers = [], lanes = [[2, 1, 1], [2, 0, 1]], warps = [[4, 0, 0]]>
module attributes {tile.target = #tile.target<
  chip = "toy", family = "Toy", lanes = 4, cores = 1, shared = 1, shared_per_core = 1, registers = 1,
  registers_per_core = 1, max_threads = 1, max_threads_per_core = 1, copy_sync = none, copy_widths = [],
  mma = [#tile.mma_atom<name = "group", m = 8, n = 2, k = 2, inputType = f16, accType = f32, lhs = #four, rhs = #both, acc = #four>]>} {
gpu.module @kernels {
  gpu.func @group_rhs(%zero: f32, %x: f16) kernel attributes {tile.schedule = #schedule.attention<numWarps = 4, mmaWarps = 4>} {
    %a = tile.fill %x : f16 -> !tile.tile<8x8xf16, registers>
    %acc = tile.fill %zero : f32 -> !tile.tile<8x8xf32, registers>
    // expected-error @below {{expects the rhs of a multiply by several warps in shared memory; run tile-promote-to-shared first}}
    %d = tile.mma_async %a, %a, %acc : !tile.tile<8x8xf16, registers>, !tile.tile<8x8xf16, registers>, !tile.tile<8x8xf32, registers>
    gpu.return
  }
}
}

// -----

#four = #tile.layout<registers = [], lanes = [[2, 0, 1], [2, 1, 1]], warps = [[4, 0, 2]]>
#both = #tile.layout<registers = [], lanes = [[2, 1, 1], [2, 0, 1]], warps = [[4, 0, 0]]>
module attributes {tile.target = #tile.target<
  chip = "toy", family = "Toy", lanes = 4, cores = 1, shared = 1, shared_per_core = 1, registers = 1,
  registers_per_core = 1, max_threads = 1, max_threads_per_core = 1, copy_sync = none, copy_widths = [],
  mma = [#tile.mma_atom<name = "group", m = 8, n = 2, k = 2, inputType = f16, accType = f32, lhs = #four, rhs = #both, acc = #four>]>} {
gpu.module @kernels {
  // expected-error @below {{expects num-warps to be a multiple of the 4 warps of 'group', but got 2}}
  gpu.func @half_a_group(%a: !tile.tile<8x8xf16, registers>, %acc: !tile.tile<8x8xf32, registers>) kernel
      attributes {tile.schedule = #schedule.attention<numWarps = 2, mmaWarps = 4>} {
    %d = tile.mma_async %a, %a, %acc : !tile.tile<8x8xf16, registers>, !tile.tile<8x8xf16, registers>, !tile.tile<8x8xf32, registers>
    gpu.return
  }
}
}
