// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: attune-opt %s

// v_mfma_f32_32x32x8_f16 and _bf16_1k with the operands exchanged (CDNA ISA,
// "Matrix Arithmetic Instructions"): a lane holds one row of the left-hand side and one column of the right.
#lhs = #tile.layout<registers = [[4, 1, 1]], lanes = [[32, 0, 1], [2, 1, 4]], warps = []>
#rhs = #tile.layout<registers = [[4, 0, 1]], lanes = [[32, 1, 1], [2, 0, 4]], warps = []>
#acc = #tile.layout<registers = [[4, 1, 1], [4, 1, 8]], lanes = [[32, 0, 1], [2, 1, 4]], warps = []>

module attributes {tile.target = #tile.target<
  chip = "gfx90a", family = "CDNA", lanes = 64, sms = 104,
  shared = 65536, shared_per_sm = 65536,
  registers = 512, registers_per_sm = 131072,
  max_threads = 1024, max_threads_per_sm = 2048,
  copy_sync = none, copy_widths = [],
  rates = #tile.rates<clock = 1700, mma = 1024, group_mma = 0, exp = 16,
                       issue = 64, shared = 128, cache = 64, memory = 964>,
  mma = [
    #tile.mma_atom<name = "mfma_32x32x8", m = 32, n = 32, k = 8, lhsType = f16, rhsType = f16, accType = f32,
      lhs = #lhs, rhs = #rhs, acc = #acc>,
    #tile.mma_atom<name = "mfma_32x32x8", m = 32, n = 32, k = 8, lhsType = bf16, rhsType = bf16, accType = f32,
      lhs = #lhs, rhs = #rhs, acc = #acc>]>} {}
