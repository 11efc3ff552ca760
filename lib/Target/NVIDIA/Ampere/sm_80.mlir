// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: attune-opt %s

// mma.sync.m16n8k16, PTX ISA "Matrix Fragments for mma.m16n8k16 with floating point type".
#lhs = #tile.layout<registers = [[2, 1, 1], [2, 0, 8], [2, 1, 8]], lanes = [[4, 1, 2], [8, 0, 1]], warps = []>
#rhs = #tile.layout<registers = [[2, 0, 1], [2, 0, 8]], lanes = [[4, 0, 2], [8, 1, 1]], warps = []>
#acc = #tile.layout<registers = [[2, 1, 1], [2, 0, 8]], lanes = [[4, 1, 2], [8, 0, 1]], warps = []>
// Two of them side by side, of a right operand that is stored in 8 bits. Neighbours along the sum and along a row are in one
// lane, so that it reads 4 or 2 bytes at once: of the depth of an instruction, of which the order does not matter, lane t of
// four has 4 t to 4 t + 3, and the even columns are those of the first.
#wide_lhs = #tile.layout<registers = [[2, 1, 1], [2, 0, 8], [2, 1, 2]], lanes = [[4, 1, 4], [8, 0, 1]], warps = []>
#wide_rhs = #tile.layout<registers = [[4, 0, 1], [2, 1, 1]], lanes = [[4, 0, 4], [8, 1, 2]], warps = []>
#wide_acc = #tile.layout<registers = [[4, 1, 1], [2, 0, 8]], lanes = [[4, 1, 4], [8, 0, 1]], warps = []>

module attributes {tile.target = #tile.target<
  chip = "sm_80", family = "Ampere", lanes = 32, sms = 108,
  shared = 166912, shared_per_sm = 167936,
  registers = 255, registers_per_sm = 65536,
  max_threads = 1024, max_threads_per_sm = 2048,
  copy_sync = commit_group, copy_widths = [4, 8, 16],
  rates = #tile.rates<clock = 1410, mma = 2048, group_mma = 0, exp = 16,
                       issue = 128, shared = 128, cache = 48, memory = 1103>,
  mma = [
    #tile.mma_atom<name = "mma.sync.m16n8k16", m = 16, n = 8, k = 16, lhsType = f16, rhsType = f16, accType = f32,
      lhs = #lhs, rhs = #rhs, acc = #acc>,
    #tile.mma_atom<name = "mma.sync.m16n8k16", m = 16, n = 8, k = 16, lhsType = bf16, rhsType = bf16, accType = f32,
      lhs = #lhs, rhs = #rhs, acc = #acc>,
    #tile.mma_atom<name = "mma.sync.m16n8k16.x2", m = 16, n = 16, k = 16, lhsType = f16, rhsType = f8E4M3FN, accType = f32,
      lhs = #wide_lhs, rhs = #wide_rhs, acc = #wide_acc>,
    #tile.mma_atom<name = "mma.sync.m16n8k16.x2", m = 16, n = 16, k = 16, lhsType = f16, rhsType = f8E5M2, accType = f32,
      lhs = #wide_lhs, rhs = #wide_rhs, acc = #wide_acc>,
    #tile.mma_atom<name = "mma.sync.m16n8k16.x2", m = 16, n = 16, k = 16, lhsType = f16, rhsType = i8, accType = f32,
      lhs = #wide_lhs, rhs = #wide_rhs, acc = #wide_acc, unit_exponents = [-24, -20]>,
    #tile.mma_atom<name = "mma.sync.m16n8k16.x2", m = 16, n = 16, k = 16, lhsType = bf16, rhsType = f8E4M3FN, accType = f32,
      lhs = #wide_lhs, rhs = #wide_rhs, acc = #wide_acc>,
    #tile.mma_atom<name = "mma.sync.m16n8k16.x2", m = 16, n = 16, k = 16, lhsType = bf16, rhsType = f8E5M2, accType = f32,
      lhs = #wide_lhs, rhs = #wide_rhs, acc = #wide_acc>,
    #tile.mma_atom<name = "mma.sync.m16n8k16.x2", m = 16, n = 16, k = 16, lhsType = bf16, rhsType = i8, accType = f32,
      lhs = #wide_lhs, rhs = #wide_rhs, acc = #wide_acc>]>} {}
