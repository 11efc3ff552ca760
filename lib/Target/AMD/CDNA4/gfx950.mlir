// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: attune-opt %s

// v_mfma_f32_32x32x16_f16 and _bf16 with the operands exchanged (CDNA4 ISA,
// "Matrix Arithmetic Instructions"): a lane holds one row of the left-hand side and one column of the right, and of either eight neighbours of
// what is summed over. Row 8 j + 4 h + i of the instruction's result, of half h, is a column of the accumulator such that this is
// the next multiply's left-hand side: lanes of the right-hand side hold columns in that order.
// Of floats of 8 bits, v_mfma_f32_32x32x16_fp8_fp8, _fp8_bf8 and so on, whose lanes hold as much.
#lhs = #tile.layout<registers = [[8, 1, 1]], lanes = [[32, 0, 1], [2, 1, 8]], warps = []>
#rhs = #tile.layout<registers = [[8, 0, 1]], lanes = [[4, 1, 1], [2, 1, 8], [2, 1, 4], [2, 1, 16], [2, 0, 8]], warps = []>
#acc = #tile.layout<registers = [[8, 1, 1], [2, 1, 16]], lanes = [[32, 0, 1], [2, 1, 8]], warps = []>

module attributes {tile.target = #tile.target<
  chip = "gfx950", family = "CDNA4", lanes = 64, sms = 256,
  shared = 163840, shared_per_sm = 163840,
  registers = 512, registers_per_sm = 131072,
  max_threads = 1024, max_threads_per_sm = 2048,
  copy_sync = count, copy_widths = [16], cache = 33554432, caches = 8,
  rates = #tile.rates<clock = 2400, mma = 4096, group_mma = 0, exp = 32,
                       issue = 64, shared = 256, cache = 64, memory = 3333>,
  mma = [
    #tile.mma_atom<name = "mfma_32x32x16", m = 32, n = 32, k = 16, lhsType = f16, rhsType = f16, accType = f32,
      lhs = #lhs, rhs = #rhs, acc = #acc, transposes = true>,
    #tile.mma_atom<name = "mfma_32x32x16", m = 32, n = 32, k = 16, lhsType = bf16, rhsType = bf16, accType = f32,
      lhs = #lhs, rhs = #rhs, acc = #acc, transposes = true>,
    #tile.mma_atom<name = "mfma_32x32x16", m = 32, n = 32, k = 16, lhsType = f8E4M3FN, rhsType = f8E4M3FN, accType = f32,
      lhs = #lhs, rhs = #rhs, acc = #acc>,
    #tile.mma_atom<name = "mfma_32x32x16", m = 32, n = 32, k = 16, lhsType = f8E4M3FN, rhsType = f8E5M2, accType = f32,
      lhs = #lhs, rhs = #rhs, acc = #acc>,
    #tile.mma_atom<name = "mfma_32x32x16", m = 32, n = 32, k = 16, lhsType = f8E5M2, rhsType = f8E4M3FN, accType = f32,
      lhs = #lhs, rhs = #rhs, acc = #acc>,
    #tile.mma_atom<name = "mfma_32x32x16", m = 32, n = 32, k = 16, lhsType = f8E5M2, rhsType = f8E5M2, accType = f32,
      lhs = #lhs, rhs = #rhs, acc = #acc>]>} {}
