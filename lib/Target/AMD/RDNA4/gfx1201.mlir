// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: attune-opt %s

// v_wmma_f32_16x16x16_f16, _bf16, _fp8_fp8 and so on with the operands exchanged (RDNA4 ISA,
// "Wave Matrix Multiply Accumulate"): each half of a wave holds eight neighbours of what is summed over, and of the columns of the result.
#lhs = #tile.layout<registers = [[8, 1, 1]], lanes = [[16, 0, 1], [2, 1, 8]], warps = []>
#rhs = #tile.layout<registers = [[8, 0, 1]], lanes = [[16, 1, 1], [2, 0, 8]], warps = []>
#acc = #tile.layout<registers = [[8, 1, 1]], lanes = [[16, 0, 1], [2, 1, 8]], warps = []>

// An SM is a workgroup processor here: two compute units that share 128 KiB.
module attributes {tile.target = #tile.target<
  chip = "gfx1201", family = "RDNA4", lanes = 32, sms = 32,
  shared = 65536, shared_per_sm = 131072,
  registers = 256, registers_per_sm = 196608,
  max_threads = 1024, max_threads_per_sm = 2048,
  copy_sync = none, copy_widths = [], cache = 8388608,
  rates = #tile.rates<clock = 2970, mma = 2048, group_mma = 0, exp = 32,
                       issue = 128, shared = 256, cache = 64, memory = 215>,
  mma = [
    #tile.mma_atom<name = "wmma_16x16x16", m = 16, n = 16, k = 16, lhsType = f16, rhsType = f16, accType = f32,
      lhs = #lhs, rhs = #rhs, acc = #acc>,
    #tile.mma_atom<name = "wmma_16x16x16", m = 16, n = 16, k = 16, lhsType = bf16, rhsType = bf16, accType = f32,
      lhs = #lhs, rhs = #rhs, acc = #acc>,
    #tile.mma_atom<name = "wmma_16x16x16", m = 16, n = 16, k = 16, lhsType = f8E4M3FN, rhsType = f8E4M3FN, accType = f32,
      lhs = #lhs, rhs = #rhs, acc = #acc>,
    #tile.mma_atom<name = "wmma_16x16x16", m = 16, n = 16, k = 16, lhsType = f8E4M3FN, rhsType = f8E5M2, accType = f32,
      lhs = #lhs, rhs = #rhs, acc = #acc>,
    #tile.mma_atom<name = "wmma_16x16x16", m = 16, n = 16, k = 16, lhsType = f8E5M2, rhsType = f8E4M3FN, accType = f32,
      lhs = #lhs, rhs = #rhs, acc = #acc>,
    #tile.mma_atom<name = "wmma_16x16x16", m = 16, n = 16, k = 16, lhsType = f8E5M2, rhsType = f8E5M2, accType = f32,
      lhs = #lhs, rhs = #rhs, acc = #acc>]>} {}
