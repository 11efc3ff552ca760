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
// The same of m16n8k32, "Matrix Fragments for mma.m16n8k32", whose left operand is two such accumulators.
#float8_lhs = #tile.layout<registers = [[4, 1, 1], [2, 0, 8], [2, 1, 16]], lanes = [[4, 1, 4], [8, 0, 1]], warps = []>
#float8_rhs = #tile.layout<registers = [[4, 0, 1], [2, 0, 16], [2, 1, 1]], lanes = [[4, 0, 4], [8, 1, 2]], warps = []>

// wgmma.mma_async.m64nNk16, PTX ISA "Register Fragments for wgmma.mma_async.m64nNk16", in units of 16 columns, as many
// as the swizzle atoms of shared memory have at least. The right operand is in shared memory.
#group_lhs = #tile.layout<registers = [[2, 1, 1], [2, 0, 8], [2, 1, 8]], lanes = [[4, 1, 2], [8, 0, 1]],
                          warps = [[4, 0, 16]]>
#group_rhs = #tile.layout<registers = [[16, 0, 1], [16, 1, 1]], lanes = [[32, 0, 0]], warps = [[4, 0, 0]]>
#group_acc = #tile.layout<registers = [[2, 1, 1], [2, 0, 8], [2, 1, 8]], lanes = [[4, 1, 2], [8, 0, 1]],
                          warps = [[4, 0, 16]]>
// wgmma.mma_async.m64nNk32, in units of 32. A lane has four neighbours along the sum, of which the order does not matter, as
// long as those of the right operand come in the same: two pairs of an accumulator.
#group_float8_lhs = #tile.layout<registers = [[2, 1, 1], [2, 1, 8], [2, 0, 8], [2, 1, 16]], lanes = [[4, 1, 2], [8, 0, 1]],
                                 warps = [[4, 0, 16]]>
#group_float8_rhs = #tile.layout<registers = [[32, 0, 1], [32, 1, 1]], lanes = [[32, 0, 0]], warps = [[4, 0, 0]]>
#group_float8_acc = #tile.layout<registers = [[2, 1, 1], [2, 0, 8], [4, 1, 8]], lanes = [[4, 1, 2], [8, 0, 1]],
                                 warps = [[4, 0, 16]]>

module attributes {tile.target = #tile.target<
  chip = "sm_90a", family = "Hopper", lanes = 32, sms = 132,
  shared = 232448, shared_per_sm = 233472,
  registers = 255, registers_per_sm = 65536,
  max_threads = 1024, max_threads_per_sm = 2048,
  copy_sync = commit_group, copy_widths = [4, 8, 16], tma_box_bytes = 128,
  // PTX ISA, setmaxnreg; producers with less were seen to spill. Limits of an MMA as in what ptxas refuses (C7602)
  // and where it gives up (C7600).
  warpgroups = #tile.warpgroups<most_registers = 256, producer_registers = 24, persistent_producer_registers = 32,
                                most_columns = 256, beside_multiply = 32, fewest_registers = 80>,
  rates = #tile.rates<clock = 1980, mma = 2560, group_mma = 4096, exp = 16,
                       issue = 128, shared = 128, cache = 48, memory = 2424>,
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
      lhs = #wide_lhs, rhs = #wide_rhs, acc = #wide_acc>,
    #tile.mma_atom<name = "mma.sync.m16n8k32.x2", m = 16, n = 16, k = 32, lhsType = f8E4M3FN, rhsType = f8E4M3FN, accType = f32,
      lhs = #float8_lhs, rhs = #float8_rhs, acc = #wide_acc>,
    #tile.mma_atom<name = "mma.sync.m16n8k32.x2", m = 16, n = 16, k = 32, lhsType = f8E4M3FN, rhsType = f8E5M2, accType = f32,
      lhs = #float8_lhs, rhs = #float8_rhs, acc = #wide_acc>,
    #tile.mma_atom<name = "mma.sync.m16n8k32.x2", m = 16, n = 16, k = 32, lhsType = f8E5M2, rhsType = f8E4M3FN, accType = f32,
      lhs = #float8_lhs, rhs = #float8_rhs, acc = #wide_acc>,
    #tile.mma_atom<name = "mma.sync.m16n8k32.x2", m = 16, n = 16, k = 32, lhsType = f8E5M2, rhsType = f8E5M2, accType = f32,
      lhs = #float8_lhs, rhs = #float8_rhs, acc = #wide_acc>,
    #tile.mma_atom<name = "wgmma.m64k16", m = 64, n = 16, k = 16, lhsType = f16, rhsType = f16, accType = f32,
      lhs = #group_lhs, rhs = #group_rhs, acc = #group_acc>,
    #tile.mma_atom<name = "wgmma.m64k16", m = 64, n = 16, k = 16, lhsType = bf16, rhsType = bf16, accType = f32,
      lhs = #group_lhs, rhs = #group_rhs, acc = #group_acc>,
    #tile.mma_atom<name = "wgmma.m64k32", m = 64, n = 32, k = 32, lhsType = f8E4M3FN, rhsType = f8E4M3FN, accType = f32,
      lhs = #group_float8_lhs, rhs = #group_float8_rhs, acc = #group_float8_acc>,
    #tile.mma_atom<name = "wgmma.m64k32", m = 64, n = 32, k = 32, lhsType = f8E5M2, rhsType = f8E5M2, accType = f32,
      lhs = #group_float8_lhs, rhs = #group_float8_rhs, acc = #group_float8_acc>]>} {}
