// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Round trip of types and attributes; layouts are printed in normal form.
//
// RUN: attune-opt %s | attune-opt | FileCheck %s

// CHECK-LABEL: func.func private @types
// CHECK-SAME:    !tile.tile<128x64xf32, registers>
// CHECK-SAME:    !tile.tile<64xi32, registers>
// CHECK-SAME:    !tile.tile<64x128xbf16, shared, #tile.swizzle<vector = 8, bits = 3, shift = 0>>
// CHECK-SAME:    !tile.channel<64x128xbf16, stages = 3>
// CHECK-SAME:    !tile.channel<64x128xbf16, stages = 3, swizzle_atom = 64>
// CHECK-SAME:    !tile.channel<64x128xbf16, stages = 3, swizzle_atom = 64, cluster = 2>
// CHECK-SAME:    !tile.tile<64x128xbf16, shared, #tile.swizzle<vector = 8, bits = 3, shift = 0, swizzle_atom = 64>>
// CHECK-SAME:    !tile.channel<64x128xbf16, stages = 2, chunk = 32>
// CHECK-SAME:    !tile.channel<64x128xbf16, stages = 1, padding = 4>
// CHECK-SAME:    !tile.channel<64x128xbf16, stages = 1, padding = 4, transposed = true>
// CHECK-SAME:    !tile.tile<64x128xbf16, shared, #tile.swizzle<vector = 4, bits = 0, shift = 0, padding = 4, transposed = true>>
// CHECK-SAME:    !tile.tile<64x128xf8E4M3FN, shared, #tile.swizzle<vector = 16, bits = 3, shift = 0, swizzle_atom = 128, paired = true>>
// CHECK-SAME:    !tile.channel<64x128xf8E4M3FN, stages = 2, swizzle_atom = 128, paired = true>
// CHECK-SAME:    !tile.pending<<128x64xf32, registers>>
func.func private @types(!tile.tile<128x64xf32, registers>, !tile.tile<64xi32, registers>,
  !tile.tile<64x128xbf16, shared, #tile.swizzle<vector = 8, bits = 3, shift = 0>>,
  !tile.channel<64x128xbf16, stages = 3>, !tile.channel<64x128xbf16, stages = 3, swizzle_atom = 64>,
  !tile.channel<64x128xbf16, stages = 3, swizzle_atom = 64, cluster = 2>,
  !tile.tile<64x128xbf16, shared, #tile.swizzle<vector = 8, bits = 3, shift = 0, swizzle_atom = 64>>,
  !tile.channel<64x128xbf16, stages = 2, chunk = 32>,
  !tile.channel<64x128xbf16, stages = 1, padding = 4>, !tile.channel<64x128xbf16, stages = 1, padding = 4, transposed = true>,
  !tile.tile<64x128xbf16, shared, #tile.swizzle<vector = 4, bits = 0, shift = 0, padding = 4, transposed = true>>,
  !tile.tile<64x128xf8E4M3FN, shared, #tile.swizzle<vector = 16, bits = 3, shift = 0, swizzle_atom = 128, paired = true>>,
  !tile.channel<64x128xf8E4M3FN, stages = 2, swizzle_atom = 128, paired = true>,
  !tile.pending<!tile.tile<128x64xf32, registers>>)

// Neighbours that continue each other are merged.
// CHECK-LABEL: func.func private @merged
// CHECK-SAME:    {layout = #tile.layout<registers = {{\[\[}}8, 1, 1]], lanes = {{\[\[}}16, 0, 1]], warps = []>}
func.func private @merged() attributes {layout =
  #tile.layout<registers = [[2, 1, 1], [4, 1, 2]], lanes = [[4, 0, 1], [2, 0, 4], [2, 0, 8]], warps = []>}

// Modes of extent 1 say nothing, also between neighbours.
// CHECK-LABEL: func.func private @extent_one
// CHECK-SAME:    {layout = #tile.layout<registers = {{\[\[}}4, 1, 1]], lanes = [], warps = []>}
func.func private @extent_one() attributes {layout =
  #tile.layout<registers = [[2, 1, 1], [1, 0, 7], [2, 1, 2]], lanes = [[1, 0, 1]], warps = []>}

// Replication has no dimension.
// CHECK-LABEL: func.func private @replicated
// CHECK-SAME:    {layout = #tile.layout<registers = [], lanes = {{\[\[}}4, 0, 0]], warps = []>}
func.func private @replicated() attributes {layout =
  #tile.layout<registers = [], lanes = [[2, 1, 0], [2, 0, 0]], warps = []>}

// These do not continue each other.
// CHECK-LABEL: func.func private @kept
// CHECK-SAME:    registers = {{\[\[}}2, 1, 1], [2, 0, 8], [2, 1, 8]], lanes = {{\[\[}}4, 1, 2], [8, 0, 1]], warps = {{\[\[}}4, 0, 16]]
func.func private @kept() attributes {layout =
  #tile.layout<registers = [[2, 1, 1], [2, 0, 8], [2, 1, 8]], lanes = [[4, 1, 2], [8, 0, 1]], warps = [[4, 0, 16]]>}

// CHECK-LABEL: func.func private @target
// CHECK-SAME:    #tile.target<chip = "toy", family = "Toy", lanes = 4, sms = 2, shared = 1024, shared_per_sm = 2048,
// CHECK-SAME:      registers = 16, registers_per_sm = 64, max_threads = 8, max_threads_per_sm = 16,
// CHECK-SAME:      copy_sync = commit_group, copy_widths = [4, 16],
// CHECK-SAME:      mma = [#tile.mma_atom<name = "toy", m = 2, n = 2, k = 2, lhsType = f16, rhsType = f16, accType = f32,
func.func private @target() attributes {tile.target = #tile.target<
  chip = "toy", family = "Toy", lanes = 4, sms = 2, shared = 1024, shared_per_sm = 2048,
  registers = 16, registers_per_sm = 64, max_threads = 8, max_threads_per_sm = 16,
  copy_sync = commit_group, copy_widths = [4, 16],
  mma = [#tile.mma_atom<name = "toy", m = 2, n = 2, k = 2, lhsType = f16, rhsType = f16, accType = f32,
    lhs = <registers = [], lanes = [[2, 0, 1], [2, 1, 1]], warps = []>,
    rhs = <registers = [], lanes = [[2, 1, 1], [2, 0, 1]], warps = []>,
    acc = <registers = [], lanes = [[2, 0, 1], [2, 1, 1]], warps = []>>]>}

// CHECK-LABEL: func.func private @bare_target
// CHECK-SAME:    copy_sync = none, copy_widths = [], mma = []>
func.func private @bare_target() attributes {tile.target = #tile.target<
  chip = "bare", family = "Toy", lanes = 1, sms = 1, shared = 1, shared_per_sm = 1,
  registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], mma = []>}

// An engine that copies boxes, and an atom of two warps.
// CHECK-LABEL: func.func private @group_target
// CHECK-SAME:    copy_sync = none, copy_widths = [], tma_box_bytes = 128, tma_box_alignment = 32, schedulers = 2, register_step = 4,
// CHECK-SAME:    warpgroups = <most_registers = 8, producer_registers = 1, persistent_producer_registers = 2, most_columns = 4, beside_multiply = 3, fewest_registers = 5>,
// CHECK-SAME:    rates = <clock = 1000, mma = 8, group_mma = 16, exp = 1, issue = 4, shared = 8, cache = 4, memory = 16>, mma = [#tile.mma_atom<
// CHECK-SAME:      acc = <registers = [], lanes = {{\[\[}}2, 0, 1], [2, 1, 1]], warps = {{\[\[}}2, 0, 2]]>>]>}
func.func private @group_target() attributes {tile.target = #tile.target<
  chip = "toy", family = "Toy", lanes = 4, sms = 2, shared = 1024, shared_per_sm = 2048,
  registers = 16, registers_per_sm = 64, max_threads = 8, max_threads_per_sm = 16,
  copy_sync = none, copy_widths = [], tma_box_bytes = 128, tma_box_alignment = 32, schedulers = 2, register_step = 4,
  warpgroups = <most_registers = 8, producer_registers = 1, persistent_producer_registers = 2, most_columns = 4, beside_multiply = 3, fewest_registers = 5>,
  rates = <clock = 1000, mma = 8, group_mma = 16, exp = 1, issue = 4, shared = 8, cache = 4, memory = 16>,
  mma = [#tile.mma_atom<name = "toy", m = 4, n = 2, k = 2, lhsType = f16, rhsType = f16, accType = f32,
    lhs = <registers = [], lanes = [[2, 0, 1], [2, 1, 1]], warps = [[2, 0, 2]]>,
    rhs = <registers = [], lanes = [[2, 1, 1], [2, 0, 1]], warps = [[2, 0, 0]]>,
    acc = <registers = [], lanes = [[2, 0, 1], [2, 1, 1]], warps = [[2, 0, 2]]>>]>}

// The registers and the threads of a role may be left out.
// CHECK-LABEL: func.func private @roles
// CHECK-SAME:    {roles = [#tile.role<"compute", warps = 8, registers = 240>, #tile.role<"load", warps = 4, registers = 24, threads = one>,
// CHECK-SAME:      #tile.role<"store", warps = 1>, #tile.role<"map", warps = 2, threads = one>]}
func.func private @roles() attributes {roles = [
  #tile.role<"compute", warps = 8, registers = 240, threads = all>, #tile.role<"load", warps = 4, registers = 24, threads = one>,
  #tile.role<"store", warps = 1, registers = 0>, #tile.role<"map", warps = 2, threads = one>]}

// What stands on kernels and on loops of other dialects.
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @attributes_of_others
  // CHECK-SAME:    tile.assembler = "plain"
  // CHECK-SAME:    tile.keep_counters
  // CHECK-SAME:    tile.roles = [#tile.role<"compute", warps = 4>]
  // CHECK-SAME:    tile.workgroups_per_sm = 2 : i64
  gpu.func @attributes_of_others(%lo: index, %hi: index, %step: index) kernel attributes {
      tile.roles = [#tile.role<"compute", warps = 4>], tile.workgroups_per_sm = 2 : i64, tile.keep_counters,
      tile.assembler = "plain"} {
    // CHECK: {tile.dynamic, tile.overlap = #tile<overlap early>, tile.ping_pong, tile.split, tile.unroll = 4 : i64}
    scf.for %i = %lo to %hi step %step {
    } {tile.overlap = #tile<overlap early>, tile.ping_pong, tile.split, tile.unroll = 4 : i64, tile.dynamic}
    // CHECK: {tile.overlap = #tile<overlap late>}
    scf.for %i = %lo to %hi step %step {
    } {tile.overlap = #tile<overlap late>}
    gpu.return
  }
}
