// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What convert-tile-to-gpu refuses of tiles that are written to shared memory and stored from there.
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(gpu.module(gpu.func(tile-allocate-shared)),convert-tile-to-gpu)"

module attributes {tile.target = #tile.target<chip = "toy", family = "Hopper", lanes = 32, sms = 1, shared = 65536,
  shared_per_sm = 65536, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], tma_box_bytes = 128, mma = []>} {
  gpu.module @kernels {
    gpu.func @buffer_in_rows() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
      // expected-error @below {{'tile.buffer' op expects a tile that is stored in swizzle atoms, but got '!tile.tile<64x16xf16, shared, #tile.swizzle<vector = 8, bits = 1, shift = 2>>'}}
      %b = tile.buffer : !tile.tile<64x16xf16, shared, #tile.swizzle<vector = 8, bits = 1, shift = 2>>
      gpu.return
    }
  }
}

// -----

#atoms = #tile.swizzle<vector = 8, bits = 1, shift = 2, swizzle_atom = 16>
#lane_rows = #tile.layout<registers = [[16, 1, 1]], lanes = [[32, 0, 1]], warps = [[2, 0, 32]]>
module attributes {tile.target = #tile.target<chip = "toy", family = "Hopper", lanes = 32, sms = 1, shared = 65536,
  shared_per_sm = 65536, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], tma_box_bytes = 128, mma = []>} {
  gpu.module @kernels {
    gpu.func @layout_of_a_write(%x: f16) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %b = tile.buffer : !tile.tile<64x16xf16, shared, #atoms>
      %t = tile.fill %x : f16 -> !tile.tile<64x16xf16, registers, #lane_rows>
      // expected-error @below {{'tile.write' op expects elements of 8, 16 or 32 bits in the layout of the accumulator of a warpgroup MMA, but got}}
      tile.write %t, %b : !tile.tile<64x16xf16, registers, #lane_rows>, !tile.tile<64x16xf16, shared, #atoms>
      gpu.return
    }
  }
}

// -----

// Warpgroups that share rows write matrices of 16 columns, several of one swizzle atom.
#atoms = #tile.swizzle<vector = 8, bits = 2, shift = 1, swizzle_atom = 32>
#shared_rows = #tile.layout<registers = [[2, 1, 1], [2, 0, 8]], lanes = [[4, 1, 2], [8, 0, 1]],
                            warps = [[4, 0, 16], [4, 1, 8]]>
module attributes {tile.target = #tile.target<chip = "toy", family = "Hopper", lanes = 32, sms = 1, shared = 65536,
  shared_per_sm = 65536, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], tma_box_bytes = 128, mma = []>} {
  gpu.module @kernels {
    gpu.func @columns_of_warpgroups(%x: f16) kernel attributes {known_block_size = array<i32: 512, 1, 1>} {
      // expected-error @below {{'tile.buffer' op expects 4 parts of whole swizzle atoms, a multiple of 128 columns, but got 32}}
      %b = tile.buffer : !tile.tile<64x32xf16, shared, #atoms>
      %t = tile.fill %x : f16 -> !tile.tile<64x32xf16, registers, #shared_rows>
      tile.write %t, %b : !tile.tile<64x32xf16, registers, #shared_rows>, !tile.tile<64x32xf16, shared, #atoms>
      gpu.return
    }
  }
}

// -----

// One warpgroup cannot have the columns of two.
#atoms = #tile.swizzle<vector = 8, bits = 1, shift = 2, swizzle_atom = 16>
#two_groups = #tile.layout<registers = [[2, 1, 1], [2, 0, 8], [2, 1, 8]], lanes = [[4, 1, 2], [8, 0, 1]],
                           warps = [[4, 0, 16], [2, 1, 16]]>
#acc = #tile.layout<registers = [[2, 1, 1], [2, 0, 8], [2, 1, 8]], lanes = [[4, 1, 2], [8, 0, 1]], warps = [[4, 0, 16]]>
module attributes {tile.target = #tile.target<chip = "toy", family = "Hopper", lanes = 32, sms = 1, shared = 65536,
  shared_per_sm = 65536, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], tma_box_bytes = 128, mma = [#tile.mma_atom<name = "toy", m = 64, n = 16, k = 16, lhsType = f16, rhsType = f16, accType = f32,
  lhs = #acc, rhs = #tile.layout<registers = [[16, 0, 1], [16, 1, 1]], lanes = [[32, 0, 0]], warps = [[4, 0, 0]]>, acc = #acc>]>} {
  gpu.module @kernels {
    gpu.func @more_parts_than_groups(%x: f16) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
      // expected-error @below {{'tile.buffer' op expects parts along columns that divide the 1 warpgroups that compute, but got 2}}
      %b = tile.buffer : !tile.tile<64x32xf16, shared, #atoms>
      %t = tile.fill %x : f16 -> !tile.tile<64x32xf16, registers, #two_groups>
      tile.write %t, %b : !tile.tile<64x32xf16, registers, #two_groups>, !tile.tile<64x32xf16, shared, #atoms>
      gpu.return
    }
  }
}

// -----

// The warps of a warpgroup store together.
#atoms = #tile.swizzle<vector = 8, bits = 1, shift = 2, swizzle_atom = 16>
#columns_first = #tile.layout<registers = [[2, 1, 1], [2, 0, 8], [2, 1, 8]], lanes = [[4, 1, 2], [8, 0, 1]],
                              warps = [[2, 1, 16], [4, 0, 16]]>
#acc = #tile.layout<registers = [[2, 1, 1], [2, 0, 8], [2, 1, 8]], lanes = [[4, 1, 2], [8, 0, 1]], warps = [[4, 0, 16]]>
module attributes {tile.target = #tile.target<chip = "toy", family = "Hopper", lanes = 32, sms = 1, shared = 65536,
  shared_per_sm = 65536, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], tma_box_bytes = 128, mma = [#tile.mma_atom<name = "toy", m = 64, n = 16, k = 16, lhsType = f16, rhsType = f16, accType = f32,
  lhs = #acc, rhs = #tile.layout<registers = [[16, 0, 1], [16, 1, 1]], lanes = [[32, 0, 0]], warps = [[4, 0, 0]]>, acc = #acc>]>} {
  gpu.module @kernels {
    gpu.func @columns_of_warps(%x: f16) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      %b = tile.buffer : !tile.tile<64x32xf16, shared, #atoms>
      %t = tile.fill %x : f16 -> !tile.tile<64x32xf16, registers, #columns_first>
      // expected-error @below {{'tile.write' op expects warps along rows first, whole groups of 4, and then along columns, but got}}
      tile.write %t, %b : !tile.tile<64x32xf16, registers, #columns_first>, !tile.tile<64x32xf16, shared, #atoms>
      gpu.return
    }
  }
}

// -----

#atoms = #tile.swizzle<vector = 8, bits = 1, shift = 2, swizzle_atom = 16>
#acc = #tile.layout<registers = [[2, 1, 1], [2, 0, 8], [2, 1, 8]], lanes = [[4, 1, 2], [8, 0, 1]], warps = [[4, 0, 16]]>
module attributes {tile.target = #tile.target<chip = "toy", family = "Hopper", lanes = 32, sms = 1, shared = 65536,
  shared_per_sm = 65536, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], tma_box_bytes = 128, mma = [#tile.mma_atom<name = "toy", m = 64, n = 16, k = 16, lhsType = f16, rhsType = f16, accType = f32,
  lhs = #acc, rhs = #tile.layout<registers = [[16, 0, 1], [16, 1, 1]], lanes = [[32, 0, 0]], warps = [[4, 0, 0]]>, acc = #acc>]>} {
  gpu.module @kernels {
    gpu.func @rows_of_groups() kernel attributes {known_block_size = array<i32: 192, 1, 1>} {
      // expected-error @below {{'tile.buffer' op expects groups of 4 warps with as many rows each, a multiple of 8, but got 6 warps that compute and 64 rows}}
      %b = tile.buffer : !tile.tile<64x16xf16, shared, #atoms>
      gpu.return
    }
  }
}

// -----

module attributes {tile.target = #tile.target<chip = "toy", family = "RDNA3", lanes = 32, sms = 1, shared = 1024,
  shared_per_sm = 1024, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  gpu.module @kernels {
    gpu.func @store_without_engine() kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %none = tile.done
      // expected-error @below {{'tile.wait_reads' op expects a target with an engine that copies TMA boxes of tensors, but got 'toy'}}
      tile.wait_reads %none : !tile.token
      gpu.return
    }
  }
}

// -----

// Without warpgroups each warp stores its rows: of 32, four.
#atoms = #tile.swizzle<vector = 8, bits = 1, shift = 2, swizzle_atom = 16>
module attributes {tile.target = #tile.target<chip = "toy", family = "Hopper", lanes = 32, sms = 1, shared = 65536,
  shared_per_sm = 65536, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], tma_box_bytes = 128, mma = []>} {
  gpu.module @kernels {
    gpu.func @rows_of_warps() kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      // expected-error @below {{'tile.buffer' op expects groups of 1 warps with as many rows each, a multiple of 8, but got 8 warps that compute and 32 rows}}
      %b = tile.buffer : !tile.tile<32x16xf16, shared, #atoms>
      gpu.return
    }
  }
}

// -----

// What is transposed lies in swizzle atoms.
#rows = #tile.swizzle<vector = 8, bits = 3, shift = 0>
#acc = #tile.layout<registers = [[2, 1, 1], [2, 0, 8], [2, 1, 8]], lanes = [[4, 1, 2], [8, 0, 1]], warps = [[4, 0, 16]]>
module attributes {tile.target = #tile.target<chip = "toy", family = "Hopper", lanes = 32, sms = 1, shared = 65536,
  shared_per_sm = 65536, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], tma_box_bytes = 128, mma = []>} {
  gpu.module @kernels {
    gpu.func @transposed_rows(%b: !tile.tile<16x64xf16, shared, #rows>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
      // expected-error @below {{'tile.read' op expects swizzle atoms of a multiple of 16 columns, and warps along rows alone, where a tile is transposed, but got '!tile.tile<16x64xf16, shared, #tile.swizzle<vector = 8, bits = 3, shift = 0>>' and}}
      %a = tile.read %b transposed : !tile.tile<16x64xf16, shared, #rows> -> !tile.tile<64x16xf16, registers, #acc>
      gpu.return
    }
  }
}

// -----

// A thread's rows are columns of one place in an atom each.
#atoms = #tile.swizzle<vector = 16, bits = 3, shift = 0, swizzle_atom = 128>
#acc = #tile.layout<registers = [[2, 1, 1], [2, 0, 8], [2, 1, 8], [2, 0, 64]], lanes = [[4, 1, 2], [8, 0, 1]], warps = [[4, 0, 16]]>
module attributes {tile.target = #tile.target<chip = "toy", family = "Hopper", lanes = 32, sms = 1, shared = 65536,
  shared_per_sm = 65536, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], tma_box_bytes = 128, mma = []>} {
  gpu.module @kernels {
    gpu.func @rows_in_one_atom(%b: !tile.tile<16x128xi8, shared, #atoms>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
      // expected-error @below {{'tile.read' op expects swizzle atoms of a multiple of 16 columns, and warps along rows alone, where a tile is transposed, but got}}
      %a = tile.read %b transposed : !tile.tile<16x128xi8, shared, #atoms> -> !tile.tile<128x16xi8, registers, #acc>
      gpu.return
    }
  }
}

// -----

// Groups that share rows have no columns of their own.
#atoms = #tile.swizzle<vector = 4, bits = 3, shift = 0, swizzle_atom = 32>
#halves = #tile.layout<registers = [[2, 1, 1], [2, 0, 8], [2, 1, 8]], lanes = [[4, 1, 2], [8, 0, 1]], warps = [[4, 0, 16], [2, 1, 16]]>
#acc = #tile.layout<registers = [[2, 1, 1], [2, 0, 8], [2, 1, 8]], lanes = [[4, 1, 2], [8, 0, 1]], warps = [[4, 0, 16]]>
module attributes {tile.target = #tile.target<chip = "toy", family = "Hopper", lanes = 32, sms = 1, shared = 65536,
  shared_per_sm = 65536, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], tma_box_bytes = 128, mma = [#tile.mma_atom<name = "toy", m = 64, n = 16, k = 16, lhsType = f16, rhsType = f16, accType = f32,
  lhs = #acc, rhs = #tile.layout<registers = [[16, 0, 1], [16, 1, 1]], lanes = [[32, 0, 0]], warps = [[4, 0, 0]]>, acc = #acc>]>} {
  gpu.module @kernels {
    gpu.func @transposed_halves(%x: f32) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      %b = tile.buffer : !tile.tile<32x64xf32, shared, #atoms>
      %t = tile.fill %x : f32 -> !tile.tile<64x32xf32, registers, #halves>
      // expected-error @below {{'tile.write' op expects swizzle atoms of a multiple of 16 columns, and warps along rows alone, where a tile is transposed, but got}}
      tile.write %t, %b transposed : !tile.tile<64x32xf32, registers, #halves>, !tile.tile<32x64xf32, shared, #atoms>
      gpu.return
    }
  }
}
