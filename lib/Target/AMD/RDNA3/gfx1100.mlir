// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: attune-opt %s

// v_wmma_f32_16x16x16_f16 and _bf16 with the operands exchanged (RDNA3 ISA,
// "Wave Matrix Multiply Accumulate"): both halves of a wave hold the operands. Row 2 r + h of the instruction's result, of
// half h, is column r + 8 h of the accumulator, so that a lane has neighbours: lanes of the right-hand side hold columns in that order.
#lhs = #tile.layout<registers = [[16, 1, 1]], lanes = [[16, 0, 1], [2, 0, 0]], warps = []>
#rhs = #tile.layout<registers = [[16, 0, 1]], lanes = [[2, 1, 8], [8, 1, 1], [2, 0, 0]], warps = []>
#acc = #tile.layout<registers = [[8, 1, 1]], lanes = [[16, 0, 1], [2, 1, 8]], warps = []>

// An SM is a workgroup processor here: two compute units that share 128 KiB.
module attributes {tile.target = #tile.target<
  chip = "gfx1100", family = "RDNA3", lanes = 32, sms = 48,
  shared = 65536, shared_per_sm = 131072,
  registers = 256, registers_per_sm = 196608,
  max_threads = 1024, max_threads_per_sm = 2048,
  copy_sync = none, copy_widths = [], cache = 6291456,
  rates = #tile.rates<clock = 2500, mma = 1024, group_mma = 0, exp = 32,
                       issue = 128, shared = 256, cache = 64, memory = 384>,
  mma = [
    #tile.mma_atom<name = "wmma_16x16x16", m = 16, n = 16, k = 16, lhsType = f16, rhsType = f16, accType = f32,
      lhs = #lhs, rhs = #rhs, acc = #acc>,
    #tile.mma_atom<name = "wmma_16x16x16", m = 16, n = 16, k = 16, lhsType = bf16, rhsType = bf16, accType = f32,
      lhs = #lhs, rhs = #rhs, acc = #acc>]>} {}
