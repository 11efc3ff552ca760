// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What tile-assign-layouts refuses.
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics \
// RUN:   --pass-pipeline="builtin.module(gpu.module(gpu.func(tile-assign-layouts)))"

gpu.module @kernels {
  // expected-error @below {{expects a 'tile.target' attribute on the kernel or around it; run attune-attach-target first}}
  gpu.func @no_target(%x: f32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %a = tile.fill %x : f32 -> !tile.tile<8xf32, registers>
    gpu.return
  }
}

// -----

module attributes {tile.target = #tile.target<
  chip = "toy", family = "Toy", lanes = 4, sms = 1, shared = 1, shared_per_sm = 1, registers = 1,
  registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1, copy_sync = none, copy_widths = [], mma = []>} {
gpu.module @kernels {
  // expected-error @below {{expects a 'known_block_size' of whole warps along x}}
  gpu.func @no_size(%x: f32) kernel {
    %a = tile.fill %x : f32 -> !tile.tile<8xf32, registers>
    gpu.return
  }
}
}

// -----

module attributes {tile.target = #tile.target<
  chip = "toy", family = "Toy", lanes = 4, sms = 1, shared = 1, shared_per_sm = 1, registers = 1,
  registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1, copy_sync = none, copy_widths = [], mma = []>} {
gpu.module @kernels {
  // expected-error @below {{expects a 'known_block_size' of whole warps along x}}
  gpu.func @part_of_a_warp(%x: f32) kernel attributes {known_block_size = array<i32: 6, 1, 1>} {
    %a = tile.fill %x : f32 -> !tile.tile<8xf32, registers>
    gpu.return
  }
}
}

// -----

module attributes {tile.target = #tile.target<
  chip = "toy", family = "Toy", lanes = 4, sms = 1, shared = 1, shared_per_sm = 1, registers = 1,
  registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1, copy_sync = none, copy_widths = [], mma = []>} {
gpu.module @kernels {
  // expected-error @below {{expects a 'known_block_size' of whole warps along x}}
  gpu.func @along_y(%x: f32) kernel attributes {known_block_size = array<i32: 4, 2, 1>} {
    %a = tile.fill %x : f32 -> !tile.tile<8xf32, registers>
    gpu.return
  }
}
}

// -----

module attributes {tile.target = #tile.target<
  chip = "toy", family = "Toy", lanes = 4, sms = 1, shared = 1, shared_per_sm = 1, registers = 1,
  registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1, copy_sync = none, copy_widths = [], mma = []>} {
gpu.module @kernels {
  gpu.func @no_atom(%a: !tile.tile<4x4xf16, registers>, %c: !tile.tile<4x4xf32, registers>) kernel
      attributes {known_block_size = array<i32: 4, 1, 1>} {
    // expected-error @below {{expects element types that 'toy' has a matrix instruction of a warp for, but got 'f16', 'f16' and 'f32'}}
    %d = tile.mma %a, %a, %c : !tile.tile<4x4xf16, registers>, !tile.tile<4x4xf16, registers>, !tile.tile<4x4xf32, registers>
    gpu.return
  }
}
}

// -----

#layout = #tile.layout<registers = [], lanes = [[2, 0, 1], [2, 1, 1]], warps = []>
module attributes {tile.target = #tile.target<
  chip = "toy", family = "Toy", lanes = 4, sms = 1, shared = 1, shared_per_sm = 1, registers = 1,
  registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1, copy_sync = none, copy_widths = [],
  mma = [#tile.mma_atom<name = "toy16", m = 2, n = 2, k = 2, lhsType = f16, rhsType = f16, accType = f32, lhs = #layout, rhs = #layout, acc = #layout>,
         #tile.mma_atom<name = "toyb16", m = 2, n = 2, k = 2, lhsType = bf16, rhsType = bf16, accType = f32, lhs = #layout, rhs = #layout, acc = #layout>]>} {
gpu.module @kernels {
  gpu.func @two_types(%a: !tile.tile<4x4xf16, registers>, %b: !tile.tile<4x4xbf16, registers>, %c: !tile.tile<4x4xf32, registers>) kernel
      attributes {known_block_size = array<i32: 4, 1, 1>} {
    // expected-error @below {{expects element types that 'toy' has a matrix instruction of a warp for, but got 'f16', 'bf16' and 'f32'}}
    %e = tile.mma %a, %b, %c : !tile.tile<4x4xf16, registers>, !tile.tile<4x4xbf16, registers>, !tile.tile<4x4xf32, registers>
    gpu.return
  }
}
}

// -----

#layout = #tile.layout<registers = [], lanes = [[2, 0, 1], [2, 1, 1]], warps = []>
module attributes {tile.target = #tile.target<
  chip = "toy", family = "Toy", lanes = 4, sms = 1, shared = 1, shared_per_sm = 1, registers = 1,
  registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1, copy_sync = none, copy_widths = [],
  mma = [#tile.mma_atom<name = "toy", m = 2, n = 2, k = 2, lhsType = f16, rhsType = f16, accType = f32, lhs = #layout, rhs = #layout, acc = #layout>]>} {
gpu.module @kernels {
  gpu.func @rows(%zero: f32, %a: !tile.tile<4x4xf16, registers, #tile.layout<registers = [[2, 0, 2], [2, 1, 2]], lanes = [[2, 0, 1], [2, 1, 1]], warps = []>>) kernel
      attributes {known_block_size = array<i32: 16, 1, 1>} {
    %acc = tile.fill %zero : f32 -> !tile.tile<4x4xf32, registers>
    // expected-error @below {{expects a result of a multiple of 8x2 and a depth of a multiple of 2 (4 warps of 'toy'), but got 4x4 and 4}}
    %d = tile.mma %a, %a, %acc : !tile.tile<4x4xf16, registers, #tile.layout<registers = [[2, 0, 2], [2, 1, 2]], lanes = [[2, 0, 1], [2, 1, 1]], warps = []>>, !tile.tile<4x4xf16, registers, #tile.layout<registers = [[2, 0, 2], [2, 1, 2]], lanes = [[2, 0, 1], [2, 1, 1]], warps = []>>, !tile.tile<4x4xf32, registers>
    gpu.return
  }
}
}

// -----

#layout = #tile.layout<registers = [], lanes = [[2, 0, 1], [2, 1, 1]], warps = []>
module attributes {tile.target = #tile.target<
  chip = "toy", family = "Toy", lanes = 4, sms = 1, shared = 1, shared_per_sm = 1, registers = 1,
  registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1, copy_sync = none, copy_widths = [],
  mma = [#tile.mma_atom<name = "toy", m = 2, n = 2, k = 2, lhsType = f16, rhsType = f16, accType = f32, lhs = #layout, rhs = #layout, acc = #layout>]>} {
gpu.module @kernels {
  gpu.func @transposed(%x: f16, %zero: f32) kernel attributes {known_block_size = array<i32: 4, 1, 1>} {
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
  chip = "toy", family = "Toy", lanes = 4, sms = 1, shared = 1, shared_per_sm = 1, registers = 1,
  registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1, copy_sync = none, copy_widths = [],
  mma = [#tile.mma_atom<name = "toy", m = 2, n = 2, k = 2, lhsType = f16, rhsType = f16, accType = f32, lhs = #layout, rhs = #layout, acc = #layout>]>} {
gpu.module @kernels {
  gpu.func @no_atom_of_four(%a: !tile.tile<8x4xf16, registers>, %b: !tile.tile<4x4xf16, registers>, %c: !tile.tile<8x4xf32, registers>) kernel
      attributes {known_block_size = array<i32: 16, 1, 1>} {
    // expected-error @below {{expects element types that 'toy' has a matrix instruction of a warpgroup for, but got 'f16', 'f16' and 'f32'}}
    %d = tile.mma_async %a, %b, %c scope warpgroup : !tile.tile<8x4xf16, registers>, !tile.tile<4x4xf16, registers>, !tile.tile<8x4xf32, registers>
    gpu.return
  }
}
}

// -----

#layout = #tile.layout<registers = [], lanes = [[2, 0, 1], [2, 1, 1]], warps = []>
module attributes {tile.target = #tile.target<
  chip = "toy", family = "Toy", lanes = 4, sms = 1, shared = 1, shared_per_sm = 1, registers = 1,
  registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1, copy_sync = none, copy_widths = [],
  mma = [#tile.mma_atom<name = "toy", m = 2, n = 2, k = 2, lhsType = f16, rhsType = f16, accType = f32, lhs = #layout, rhs = #layout, acc = #layout>]>} {
gpu.module @kernels {
  gpu.func @no_widening_of_four(%a: !tile.tile<8x4xf16, registers>, %b: !tile.tile<4x4xf8E5M2, registers>, %c: !tile.tile<8x4xf32, registers>) kernel
      attributes {known_block_size = array<i32: 16, 1, 1>} {
    // expected-error @below {{expects element types that 'toy' has a matrix instruction of a warpgroup for, but got 'f16', 'f8E5M2' and 'f32'}}
    %d = tile.mma_async %a, %b, %c scope warpgroup : !tile.tile<8x4xf16, registers>, !tile.tile<4x4xf8E5M2, registers>, !tile.tile<8x4xf32, registers>
    gpu.return
  }
}
}

// -----

#four = #tile.layout<registers = [], lanes = [[2, 0, 1], [2, 1, 1]], warps = [[4, 0, 2]]>
#both = #tile.layout<registers = [], lanes = [[2, 1, 1], [2, 0, 1]], warps = [[4, 0, 0]]>
module attributes {tile.target = #tile.target<
  chip = "toy", family = "Toy", lanes = 4, sms = 1, shared = 1, shared_per_sm = 1, registers = 1,
  registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1, copy_sync = none, copy_widths = [],
  mma = [#tile.mma_atom<name = "group", m = 8, n = 2, k = 2, lhsType = f16, rhsType = f16, accType = f32, lhs = #four, rhs = #both, acc = #four>]>} {
gpu.module @kernels {
  gpu.func @rows_of_groups(%zero: f32, %x: f16, %b: !tile.tile<4x3xf16, shared, #tile.swizzle<vector = 1, bits = 0, shift = 0>>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %a = tile.fill %x : f16 -> !tile.tile<16x4xf16, registers>
    %acc = tile.fill %zero : f32 -> !tile.tile<16x3xf32, registers>
    // expected-error @below {{expects a result of a multiple of 16x2 and a depth of a multiple of 2 (8 warps of 'group'), but got 16x3 and 4}}
    %d = tile.mma %a, %b, %acc scope warpgroup : !tile.tile<16x4xf16, registers>, !tile.tile<4x3xf16, shared, #tile.swizzle<vector = 1, bits = 0, shift = 0>>, !tile.tile<16x3xf32, registers>
    gpu.return
  }
}
}

// -----

#four = #tile.layout<registers = [], lanes = [[2, 0, 1], [2, 1, 1]], warps = [[4, 0, 2]]>
#both = #tile.layout<registers = [], lanes = [[2, 1, 1], [2, 0, 1]], warps = [[4, 0, 0]]>
module attributes {tile.target = #tile.target<
  chip = "toy", family = "Toy", lanes = 4, sms = 1, shared = 1, shared_per_sm = 1, registers = 1,
  registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1, copy_sync = none, copy_widths = [],
  mma = [#tile.mma_atom<name = "group", m = 8, n = 2, k = 2, lhsType = f16, rhsType = f16, accType = f32, lhs = #four, rhs = #both, acc = #four>]>} {
gpu.module @kernels {
  gpu.func @group_rhs(%zero: f32, %x: f16) kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    %a = tile.fill %x : f16 -> !tile.tile<8x8xf16, registers>
    %acc = tile.fill %zero : f32 -> !tile.tile<8x8xf32, registers>
    // expected-error @below {{expects the rhs of an MMA of a warpgroup in shared memory; run tile-promote-to-shared first}}
    %d = tile.mma_async %a, %a, %acc scope warpgroup : !tile.tile<8x8xf16, registers>, !tile.tile<8x8xf16, registers>, !tile.tile<8x8xf32, registers>
    gpu.return
  }
}
}

// -----

#four = #tile.layout<registers = [], lanes = [[2, 0, 1], [2, 1, 1]], warps = [[4, 0, 2]]>
#both = #tile.layout<registers = [], lanes = [[2, 1, 1], [2, 0, 1]], warps = [[4, 0, 0]]>
module attributes {tile.target = #tile.target<
  chip = "toy", family = "Toy", lanes = 4, sms = 1, shared = 1, shared_per_sm = 1, registers = 1,
  registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1, copy_sync = none, copy_widths = [],
  mma = [#tile.mma_atom<name = "group", m = 8, n = 2, k = 2, lhsType = f16, rhsType = f16, accType = f32, lhs = #four, rhs = #both, acc = #four>]>} {
gpu.module @kernels {
  gpu.func @half_a_group(%a: !tile.tile<8x8xf16, registers>, %acc: !tile.tile<8x8xf32, registers>) kernel
      attributes {known_block_size = array<i32: 8, 1, 1>} {
    // expected-error @below {{expects a multiple of 4 warps for 'group', but got 2}}
    %d = tile.mma_async %a, %a, %acc scope warpgroup : !tile.tile<8x8xf16, registers>, !tile.tile<8x8xf16, registers>, !tile.tile<8x8xf32, registers>
    gpu.return
  }
}
}

// -----

#layout = #tile.layout<registers = [], lanes = [[2, 0, 1], [2, 1, 1]], warps = []>
module attributes {tile.target = #tile.target<
  chip = "toy", family = "Toy", lanes = 4, sms = 1, shared = 1, shared_per_sm = 1, registers = 1,
  registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1, copy_sync = none, copy_widths = [],
  mma = [#tile.mma_atom<name = "toy", m = 2, n = 2, k = 2, lhsType = f16, rhsType = f16, accType = f32, lhs = #layout, rhs = #layout, acc = #layout>]>} {
gpu.module @kernels {
  // Three warps along the columns leave one of four over.
  gpu.func @warps_of_columns(%zero: f32, %x: f16) kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    %a = tile.fill %x : f16 -> !tile.tile<4x4xf16, registers>
    %acc = tile.fill %zero : f32 -> !tile.tile<4x4xf32, registers>
    // expected-error @below {{expects a multiple of 3 warps for 'toy', but got 4}}
    %d = tile.mma %a, %a, %acc warps_n 3 : !tile.tile<4x4xf16, registers>, !tile.tile<4x4xf16, registers>, !tile.tile<4x4xf32, registers>
    gpu.return
  }
}
}

// -----

#layout = #tile.layout<registers = [], lanes = [[2, 0, 1], [2, 1, 1]], warps = []>
module attributes {tile.target = #tile.target<
  chip = "toy", family = "Toy", lanes = 4, sms = 1, shared = 1, shared_per_sm = 1, registers = 1,
  registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1, copy_sync = none, copy_widths = [],
  mma = [#tile.mma_atom<name = "toy", m = 2, n = 2, k = 2, lhsType = f16, rhsType = f16, accType = f32, lhs = #layout, rhs = #layout, acc = #layout>]>} {
gpu.module @kernels {
  gpu.func @columns(%zero: f32, %x: f16) kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    %a = tile.fill %x : f16 -> !tile.tile<4x4xf16, registers>
    %acc = tile.fill %zero : f32 -> !tile.tile<4x4xf32, registers>
    // expected-error @below {{expects a result of a multiple of 2x8 and a depth of a multiple of 2 (4 warps of 'toy'), but got 4x4 and 4}}
    %d = tile.mma %a, %a, %acc warps_n 4 : !tile.tile<4x4xf16, registers>, !tile.tile<4x4xf16, registers>, !tile.tile<4x4xf32, registers>
    gpu.return
  }
}
}

// -----

#layout = #tile.layout<registers = [], lanes = [[2, 0, 1], [2, 1, 1]], warps = []>
module attributes {tile.target = #tile.target<
  chip = "toy", family = "Toy", lanes = 4, sms = 1, shared = 1, shared_per_sm = 1, registers = 1,
  registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1, copy_sync = none, copy_widths = [],
  mma = [#tile.mma_atom<name = "toy", m = 2, n = 2, k = 2, lhsType = f16, rhsType = f16, accType = f32, lhs = #layout, rhs = #layout, acc = #layout>]>} {
gpu.module @kernels {
  gpu.func @depth(%zero: f32, %x: f16) kernel attributes {known_block_size = array<i32: 4, 1, 1>} {
    %a = tile.fill %x : f16 -> !tile.tile<2x3xf16, registers>
    %b = tile.fill %x : f16 -> !tile.tile<3x2xf16, registers>
    %acc = tile.fill %zero : f32 -> !tile.tile<2x2xf32, registers>
    // expected-error @below {{expects a result of a multiple of 2x2 and a depth of a multiple of 2 (1 warps of 'toy'), but got 2x2 and 3}}
    %d = tile.mma %a, %b, %acc : !tile.tile<2x3xf16, registers>, !tile.tile<3x2xf16, registers>, !tile.tile<2x2xf32, registers>
    gpu.return
  }
}
}

// -----

#layout = #tile.layout<registers = [], lanes = [[2, 0, 1], [2, 1, 1]], warps = []>
#other = #tile.layout<registers = [], lanes = [[2, 1, 1], [2, 0, 1]], warps = []>
module attributes {tile.target = #tile.target<
  chip = "toy", family = "Toy", lanes = 4, sms = 1, shared = 1, shared_per_sm = 1, registers = 1,
  registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1, copy_sync = none, copy_widths = [],
  mma = [#tile.mma_atom<name = "toy", m = 2, n = 2, k = 2, lhsType = f16, rhsType = f16, accType = f32, lhs = #layout, rhs = #layout, acc = #layout>]>} {
gpu.module @kernels {
  gpu.func @by_hand(%a: !tile.tile<2x2xf16, registers, #layout>, %acc: !tile.tile<2x2xf32, registers, #other>) kernel
      attributes {known_block_size = array<i32: 4, 1, 1>} {
    // expected-error @below {{expects a result in the layout #tile.layout<registers = [], lanes = [[2, 0, 1], [2, 1, 1]], warps = []> of 'toy', but got #tile.layout<registers = [], lanes = [[2, 1, 1], [2, 0, 1]], warps = []>}}
    %d = tile.mma %a, %a, %acc : !tile.tile<2x2xf16, registers, #layout>, !tile.tile<2x2xf16, registers, #layout>, !tile.tile<2x2xf32, registers, #other>
    gpu.return
  }
}
}

// -----

// A kernel that was made for a chip with more lanes along the columns of an MMA.
#lhs = #tile.layout<registers = [[2, 0, 2]], lanes = [[2, 0, 1], [2, 1, 1]], warps = []>
#rhs = #tile.layout<registers = [], lanes = [[2, 1, 1], [2, 0, 1]], warps = []>
#acc = #tile.layout<registers = [[2, 0, 2]], lanes = [[2, 0, 1], [2, 1, 1]], warps = []>
module attributes {tile.target = #tile.target<
  chip = "toy", family = "Toy", lanes = 4, sms = 1, shared = 1, shared_per_sm = 1, registers = 1,
  registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1, copy_sync = none, copy_widths = [],
  mma = [#tile.mma_atom<name = "toy", m = 4, n = 2, k = 2, lhsType = f16, rhsType = f16, accType = f32,
         lhs = #lhs, rhs = #rhs, acc = #acc>]>} {
gpu.module @kernels {
  gpu.func @partial_columns(%x: f16, %y: f32) kernel attributes {known_block_size = array<i32: 4, 1, 1>} {
    %a = tile.fill %x : f16 -> !tile.tile<4x8xf16, registers>
    %b = tile.fill %x : f16 -> !tile.tile<8x8xf16, registers>
    %c = tile.fill %y : f32 -> !tile.tile<4x8xf32, registers>
    %d = tile.mma %a, %b, %c : !tile.tile<4x8xf16, registers>, !tile.tile<8x8xf16, registers>, !tile.tile<4x8xf32, registers>
    // expected-error @below {{expects a result of 4, 2, as the layout of its input leaves on this chip, but got 4, 4}}
    %sum = tile.reduce add %d : !tile.tile<4x8xf32, registers> -> !tile.tile<4x4xf32, registers>
    gpu.return
  }
}
}

// -----

// More registers of a thread than a layout numbers.
module attributes {tile.target = #tile.target<
  chip = "toy", family = "Toy", lanes = 4, sms = 1, shared = 1, shared_per_sm = 1, registers = 1,
  registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1, copy_sync = none, copy_widths = [], mma = []>} {
gpu.module @kernels {
  gpu.func @too_large(%x: f32) kernel attributes {known_block_size = array<i32: 4, 1, 1>} {
    // expected-error @below {{expects at most 65536 registers, lanes and warps each in a layout, but got extents up to 524288}}
    %a = tile.fill %x : f32 -> !tile.tile<16x8388608xf32, registers>
    gpu.return
  }
  gpu.func @indices_too_large(%x: index) kernel attributes {known_block_size = array<i32: 4, 1, 1>} {
    // expected-error @below {{expects at most 65536 registers, lanes and warps each in a layout, but got extents up to 1048576}}
    %a = tile.fill %x : index -> !tile.tile<16x8388608xindex, registers>
    gpu.return
  }
  gpu.func @columns_too_large(%m: memref<?x32xf16>) kernel attributes {known_block_size = array<i32: 4, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c = tile.channel : <1048592x32xf16, stages = 1, transposed = true>
    // expected-error @below {{expects at most 65536 registers, lanes and warps each in a layout, but got extents up to 1048592}}
    %a = tile.load %m[%c0, %c0] : memref<?x32xf16> -> !tile.tile<1048592x32xf16, registers>
    tile.put_tile %c[%c0], %a : <1048592x32xf16, stages = 1, transposed = true>, !tile.tile<1048592x32xf16, registers>
    gpu.return
  }
}
}
