// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What tile-ping-pong refuses.
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics \
// RUN:   --pass-pipeline="builtin.module(gpu.module(gpu.func(tile-ping-pong)))"

gpu.module @kernels {
  // expected-error @below {{expects 'known_block_size' and 'tile.target' on a kernel with 'tile.ping_pong'}}
  gpu.func @no_target(%lo: index, %hi: index, %step: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    scf.for %i = %lo to %hi step %step {
    } {tile.ping_pong}
    gpu.return
  }
}

// -----

module attributes {tile.target = #tile.target<
  chip = "toy", family = "Toy", lanes = 32, sms = 1, shared = 1, shared_per_sm = 1, registers = 1,
  registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1, copy_sync = none, copy_widths = [], mma = []>} {
gpu.module @kernels {
  // expected-error @below {{expects 'known_block_size' and 'tile.target' on a kernel with 'tile.ping_pong'}}
  gpu.func @no_size(%lo: index, %hi: index, %step: index) kernel {
    scf.for %i = %lo to %hi step %step {
    } {tile.ping_pong}
    gpu.return
  }
}
}

// -----

#four = #tile.layout<registers = [], lanes = [[4, 1, 1], [8, 0, 1]], warps = [[4, 0, 8]]>
#rhs = #tile.layout<registers = [], lanes = [[4, 1, 1], [4, 0, 1], [2, 0, 0]], warps = [[4, 0, 0]]>
module attributes {tile.target = #tile.target<
  chip = "toy", family = "Toy", lanes = 32, sms = 1, shared = 1, shared_per_sm = 1, registers = 1,
  registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1, copy_sync = none, copy_widths = [],
  mma = [#tile.mma_atom<name = "group", m = 32, n = 4, k = 4, lhsType = f16, rhsType = f16, accType = f32, lhs = #four, rhs = #rhs, acc = #four>]>} {
gpu.module @kernels {
  // The warps that load have no ping-pong.
  // expected-error @below {{expects warps for at least two warpgroups of 4 where 'tile.ping_pong' is, but got 4}}
  gpu.func @one_warpgroup(%lo: index, %hi: index, %step: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>,
      tile.roles = [#tile.role<"compute", warps = 4>, #tile.role<"load", warps = 4, threads = one>]} {
    scf.for %i = %lo to %hi step %step {
    } {tile.ping_pong}
    gpu.return
  }
}
}

// -----

#four = #tile.layout<registers = [], lanes = [[4, 1, 1], [8, 0, 1]], warps = [[4, 0, 8]]>
#rhs = #tile.layout<registers = [], lanes = [[4, 1, 1], [4, 0, 1], [2, 0, 0]], warps = [[4, 0, 0]]>
module attributes {tile.target = #tile.target<
  chip = "toy", family = "Toy", lanes = 32, sms = 1, shared = 1, shared_per_sm = 1, registers = 1,
  registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1, copy_sync = none, copy_widths = [],
  mma = [#tile.mma_atom<name = "group", m = 32, n = 4, k = 4, lhsType = f16, rhsType = f16, accType = f32, lhs = #four, rhs = #rhs, acc = #four>]>} {
gpu.module @kernels {
  // expected-error @below {{expects warps for at least two warpgroups of 4 where 'tile.ping_pong' is, but got 10}}
  gpu.func @parts(%lo: index, %hi: index, %step: index) kernel attributes {known_block_size = array<i32: 320, 1, 1>} {
    scf.for %i = %lo to %hi step %step {
    } {tile.ping_pong}
    gpu.return
  }
}
}

// -----

module attributes {tile.target = #tile.target<
  chip = "toy", family = "Toy", lanes = 32, sms = 1, shared = 1, shared_per_sm = 1, registers = 1,
  registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1, copy_sync = none, copy_widths = [], mma = []>} {
gpu.module @kernels {
  // expected-error @below {{expects warps for two halves where 'tile.ping_pong' is, but got 3}}
  gpu.func @odd(%lo: index, %hi: index, %step: index) kernel attributes {known_block_size = array<i32: 96, 1, 1>} {
    scf.for %i = %lo to %hi step %step {
    } {tile.ping_pong}
    gpu.return
  }
}
}
