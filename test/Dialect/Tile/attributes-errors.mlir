// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every rule of the verifiers of the tile types and attributes.
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{expects positive tile sizes, but got 0}}
func.func private @tile_size(!tile.tile<0x8xf32, registers>)

// -----

// expected-error @below {{expects at most 2147483647 elements, but got more in 1 of 65536, 65536}}
func.func private @tile_elements(!tile.tile<65536x65536xf32, registers>)

// -----

// expected-error @below {{expects at most 2147483647 elements, but got more in 1 of 4294967296, 4294967296}}
func.func private @tile_elements_overflow(!tile.tile<4294967296x4294967296xf32, registers>)

// -----

// expected-error @below {{expects a tile of one or two dimensions, but got 3}}
func.func private @tile_rank(!tile.tile<2x2x8xf32, registers>)

// -----

// expected-error @below {{expects an integer, index or float element type, but got 'vector<2xf32>'}}
func.func private @tile_element(!tile.tile<8xvector<2xf32>, registers>)

// -----

// expected-error @below {{expects a tile of two dimensions in shared memory, but got 1}}
func.func private @tile_shared_rank(!tile.tile<8xf32, shared, #tile.swizzle<vector = 4, bits = 0, shift = 0>>)

// -----

// expected-error @below {{expects a #tile.swizzle on a tile in shared memory, but got}}
func.func private @tile_no_swizzle(!tile.tile<8x8xf32, shared>)

// -----

// expected-error @below {{expects a #tile.swizzle on a tile in shared memory, but got #tile.layout}}
func.func private @tile_layout_in_shared(!tile.tile<8x8xf32, shared, #tile.layout<registers = [], lanes = [], warps = []>>)

// -----

// expected-error @below {{expects rows that are a multiple of the 64 elements that the swizzle permutes, but got 32}}
func.func private @tile_short_rows(!tile.tile<8x32xf16, shared, #tile.swizzle<vector = 8, bits = 3, shift = 0>>)

// -----

// expected-error @below {{expects rows that are a multiple of the swizzle atom's 64 columns, but got 96}}
func.func private @tile_swizzle_atom(!tile.tile<8x96xf16, shared, #tile.swizzle<vector = 8, bits = 2, shift = 1, swizzle_atom = 64>>)

// -----

// expected-error @below {{expects elements of whole bytes, but got 'index'}}
func.func private @tile_shared_element(!tile.tile<8x8xindex, shared, #tile.swizzle<vector = 4, bits = 0, shift = 0>>)

// -----

// expected-error @below {{expects a #tile.layout on a tile in registers, but got #tile.swizzle}}
func.func private @tile_swizzle_in_registers(!tile.tile<8x8xf32, registers, #tile.swizzle<vector = 4, bits = 0, shift = 0>>)

// -----

// expected-error @below {{expects a layout of a tile of 8, 8, but got one of 4, 8}}
func.func private @tile_layout_shape(!tile.tile<8x8xf32, registers, #tile.layout<registers = [[8, 1, 1]], lanes = [[4, 0, 1]], warps = []>>)

// -----

// expected-error @below {{expects a channel of tiles of two dimensions, but got 1}}
func.func private @channel_rank(!tile.channel<8xf32, stages = 1>)

// -----

// expected-error @below {{expects positive tile sizes, but got 0}}
func.func private @channel_size(!tile.channel<8x0xf32, stages = 1>)

// -----

// expected-error @below {{expects at most 2147483647 elements, but got more in 1073741824 of 8, 8}}
func.func private @channel_elements(!tile.channel<8x8xf32, stages = 1073741824>)

// -----

// expected-error @below {{expects elements of whole bytes, but got 'i1'}}
func.func private @channel_element(!tile.channel<8x8xi1, stages = 1>)

// -----

// expected-error @below {{expects at least one stage, but got 0}}
func.func private @channel_stages(!tile.channel<8x8xf32, stages = 0>)

// -----

// expected-error @below {{expects swizzle atoms that divide the rows of 8 elements, but got 3}}
func.func private @channel_swizzle_atom(!tile.channel<8x8xf32, stages = 1, swizzle_atom = 3>)

// -----

// expected-error @below {{expects swizzle atoms that divide the rows of 8 elements, but got -4}}
func.func private @channel_negative_swizzle_atom(!tile.channel<8x8xf32, stages = 1, swizzle_atom = -4>)

// -----

// expected-error @below {{expects a cluster of at least one workgroup, but got 0}}
func.func private @channel_no_cluster(!tile.channel<16x8xf32, stages = 1, swizzle_atom = 8, cluster = 0>)

// -----

// expected-error @below {{expects swizzle atoms in a channel of a cluster of 2 workgroups, but got whole rows}}
func.func private @channel_of_rows(!tile.channel<16x8xf32, stages = 1, swizzle_atom = 0, cluster = 2>)

// -----

// expected-error @below {{expects a cluster of at most 1024 workgroups, but got 4611686018427387904}}
func.func private @channel_cluster_overflow(!tile.channel<16x8xf32, stages = 1, swizzle_atom = 8, cluster = 4611686018427387904>)

// -----

// expected-error @below {{expects a multiple of 16 rows, 8 for each of 2 workgroups, but got 24}}
func.func private @channel_shares(!tile.channel<24x8xf32, stages = 1, swizzle_atom = 8, cluster = 2>)

// -----

// expected-error @below {{expects positive extents in a layout, but got 0}}
func.func private @layout_extent() attributes {l = #tile.layout<registers = [[0, 1, 1]], lanes = [], warps = []>}

// -----

// expected-error @below {{expects at most 65536 registers, lanes and warps each in a layout, but got extents up to 512}}
func.func private @layout_count() attributes {l = #tile.layout<registers = [[256, 1, 1], [512, 0, 1]], lanes = [], warps = []>}

// -----

// expected-error @below {{expects strides of 0 to 2147483647 in a layout, but got 2147483648}}
func.func private @layout_stride_overflow() attributes {l = #tile.layout<registers = [[2, 1, 2147483648]], lanes = [], warps = []>}

// -----

// expected-error @below {{expects dimension 0 or 1 in a layout, but got 2}}
func.func private @layout_dim() attributes {l = #tile.layout<registers = [], lanes = [[2, 2, 1]], warps = []>}

// -----

// expected-error @below {{expects strides of 0 to 2147483647 in a layout, but got -1}}
func.func private @layout_stride() attributes {l = #tile.layout<registers = [], lanes = [], warps = [[2, 0, -1]]>}

// -----

// expected-error @below {{expects a vector of 1 to 65536 elements, and bits and shift in [0, 8], but got 0, 3 and 0}}
func.func private @swizzle_vector() attributes {s = #tile.swizzle<vector = 0, bits = 3, shift = 0>}

// -----

// expected-error @below {{expects a vector of 1 to 65536 elements, and bits and shift in [0, 8], but got 8, 9 and 0}}
func.func private @swizzle_bits() attributes {s = #tile.swizzle<vector = 8, bits = 9, shift = 0>}

// -----

// expected-error @below {{expects a vector of 1 to 65536 elements, and bits and shift in [0, 8], but got 8, 3 and -1}}
func.func private @swizzle_shift() attributes {s = #tile.swizzle<vector = 8, bits = 3, shift = -1>}

// -----

// expected-error @below {{expects swizzle atoms of a multiple of the 64 elements that the swizzle permutes, but got 32}}
func.func private @swizzle_atom_of_swizzle() attributes {s = #tile.swizzle<vector = 8, bits = 3, shift = 0, swizzle_atom = 32>}

// -----

// expected-error @below {{expects swizzle atoms of a multiple of the 8 elements that the swizzle permutes, but got -8}}
func.func private @negative_swizzle_atom() attributes {s = #tile.swizzle<vector = 8, bits = 0, shift = 0, swizzle_atom = -8>}

// -----

// expected-error @below {{expects swizzle atoms and a vector of a multiple of 16 elements where 'paired', but got atoms of 64 and a vector of 8}}
func.func private @pairs_of_chunks() attributes {s = #tile.swizzle<vector = 8, bits = 3, shift = 0, swizzle_atom = 64, paired = true>}

// -----

// expected-error @below {{expects swizzle atoms and a vector of a multiple of 16 elements where 'paired', but got atoms of 0 and a vector of 16}}
func.func private @pairs_of_rows() attributes {s = #tile.swizzle<vector = 16, bits = 3, shift = 0, paired = true>}

// -----

#good = #tile.layout<registers = [], lanes = [[2, 0, 1], [2, 1, 1]], warps = []>
func.func private @atom_shape() attributes {
  // expected-error @below {{expects the rhs layout of 'toy' to cover 4x2, but got 2x2}}
  a = #tile.mma_atom<name = "toy", m = 2, n = 2, k = 4, lhsType = f16, rhsType = f16, accType = f32,
    lhs = <registers = [[2, 1, 2]], lanes = [[2, 0, 1], [2, 1, 1]], warps = []>, rhs = #good, acc = #good>}

// -----

#good = #tile.layout<registers = [], lanes = [[2, 0, 1], [2, 1, 1]], warps = []>
func.func private @atom_lanes() attributes {
  // expected-error @below {{expects the lhs layout of 'toy' to use 4 lanes, but got 2}}
  a = #tile.mma_atom<name = "toy", m = 2, n = 2, k = 2, lhsType = f16, rhsType = f16, accType = f32,
    lhs = <registers = [[2, 1, 1]], lanes = [[2, 0, 1]], warps = []>, rhs = #good, acc = #good>}

// -----

#good = #tile.layout<registers = [], lanes = [[2, 0, 1], [2, 1, 1]], warps = []>
func.func private @atom_warps() attributes {
  // expected-error @below {{expects the lhs layout of 'toy' to use 1 warps, but got 2}}
  a = #tile.mma_atom<name = "toy", m = 2, n = 2, k = 2, lhsType = f16, rhsType = f16, accType = f32,
    lhs = <registers = [], lanes = [[2, 0, 1], [2, 1, 1]], warps = [[2, 0, 0]]>, rhs = #good, acc = #good>}

// -----

#good = #tile.layout<registers = [], lanes = [[2, 0, 1], [2, 1, 1]], warps = []>
func.func private @atom_units() attributes {
  // expected-error @below {{expects unit_exponents of 2 parts, but got 3}}
  a = #tile.mma_atom<name = "toy", m = 2, n = 2, k = 2, lhsType = f16, rhsType = i8, accType = f32, lhs = #good, rhs = #good, acc = #good,
    unit_exponents = [-24, -20, -16]>}

// -----

func.func private @target_positive() attributes {
  // expected-error @below {{expects a positive 'shared_per_sm', but got 0}}
  t = #tile.target<chip = "toy", family = "Toy", lanes = 4, sms = 1, shared = 1, shared_per_sm = 0,
    registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
    copy_sync = none, copy_widths = [], mma = []>}

// -----

func.func private @target_caches() attributes {
  // expected-error @below {{expects a positive 'caches', but got 0}}
  t = #tile.target<chip = "toy", family = "Toy", lanes = 4, sms = 1, shared = 1, shared_per_sm = 1,
    registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
    copy_sync = none, copy_widths = [], caches = 0, mma = []>}

// -----

func.func private @rates_positive() attributes {
  // expected-error @below {{expects a positive 'exp', but got 0}}
  t = #tile.rates<clock = 1, mma = 1, group_mma = 0, exp = 0, issue = 1, shared = 1, cache = 1, memory = 1>}

// -----

func.func private @rates_not_negative() attributes {
  // expected-error @below {{expects 'group_mma' to be 0 or positive, but got -1}}
  t = #tile.rates<clock = 1, mma = 1, group_mma = -1, exp = 1, issue = 1, shared = 1, cache = 1, memory = 1>}

// -----

func.func private @target_no_widths() attributes {
  // expected-error @below {{expects copy_widths exactly where copy_sync is not 'none'}}
  t = #tile.target<chip = "toy", family = "Toy", lanes = 4, sms = 1, shared = 1, shared_per_sm = 1,
    registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
    copy_sync = commit_group, copy_widths = [], mma = []>}

// -----

func.func private @target_no_sync() attributes {
  // expected-error @below {{expects copy_widths exactly where copy_sync is not 'none'}}
  t = #tile.target<chip = "toy", family = "Toy", lanes = 4, sms = 1, shared = 1, shared_per_sm = 1,
    registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
    copy_sync = none, copy_widths = [16], mma = []>}

// -----

func.func private @target_atom_lanes() attributes {
  // expected-error @below {{expects atoms of 8 lanes, but got 4 in 'toy'}}
  t = #tile.target<chip = "toy", family = "Toy", lanes = 8, sms = 1, shared = 1, shared_per_sm = 1,
    registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
    copy_sync = none, copy_widths = [],
    mma = [#tile.mma_atom<name = "toy", m = 2, n = 2, k = 2, lhsType = f16, rhsType = f16, accType = f32,
      lhs = <registers = [], lanes = [[2, 0, 1], [2, 1, 1]], warps = []>,
      rhs = <registers = [], lanes = [[2, 1, 1], [2, 0, 1]], warps = []>,
      acc = <registers = [], lanes = [[2, 0, 1], [2, 1, 1]], warps = []>>]>}

// -----

func.func private @target_copy_sync() attributes {
  // expected-error @+4 {{failed to parse Tile_TargetAttr parameter 'copy_sync'}}
  // expected-error @+3 {{expected ::attune::tile::CopySync to be one of: none, commit_group}}
  t = #tile.target<chip = "toy", family = "Toy", lanes = 4, sms = 1, shared = 1, shared_per_sm = 1,
    registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
    copy_sync = magic, copy_widths = [], mma = []>}

// -----

// expected-error @below {{expects 'tile.target' to be a #tile.target, but got "sm_90a"}}
module attributes {tile.target = "sm_90a"} {
}

// -----

// expected-error @below {{expects 'tile.roles' on 'gpu.func', but got it on this}}
func.func private @roles_owner() attributes {tile.roles = [#tile.role<"compute", warps = 4>]}

// -----

gpu.module @kernels {
  // expected-error @below {{expects 'tile.roles' to be an array of #tile.role, but got []}}
  gpu.func @roles_value_0() kernel attributes {tile.roles = []} {
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @below {{expects 'tile.roles' to be an array of #tile.role, but got [1]}}
  gpu.func @roles_value_1() kernel attributes {tile.roles = [1]} {
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @below {{expects 'tile.roles' to be an array of #tile.role, but got 4}}
  gpu.func @roles_value_2() kernel attributes {tile.roles = 4 : i64} {
    gpu.return
  }
}

// -----

// expected-error @below {{expects 'tile.keep_counters' on 'gpu.func', but got it on this}}
module attributes {tile.keep_counters} {}

// -----

gpu.module @kernels {
  // expected-error @below {{expects 'tile.keep_counters' to be a unit, but got 1}}
  gpu.func @keep_counters_value() kernel attributes {tile.keep_counters = 1 : i64} {
    gpu.return
  }
}

// -----

// expected-error @below {{expects 'tile.workgroups_per_sm' on 'gpu.func', but got it on this}}
func.func private @workgroups_per_sm_owner() attributes {tile.workgroups_per_sm = 2 : i64}

// -----

gpu.module @kernels {
  // expected-error @below {{expects 'tile.workgroups_per_sm' to be a positive i64, but got 0}}
  gpu.func @workgroups_per_sm_value_0() kernel attributes {tile.workgroups_per_sm = 0 : i64} {
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @below {{expects 'tile.workgroups_per_sm' to be a positive i64, but got 2 : i32}}
  gpu.func @workgroups_per_sm_value_1() kernel attributes {tile.workgroups_per_sm = 2 : i32} {
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @below {{expects 'tile.workgroups_per_sm' to be a positive i64, but got unit}}
  gpu.func @workgroups_per_sm_value_2() kernel attributes {tile.workgroups_per_sm = unit} {
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @below {{expects 'tile.overlap' on 'scf.for', but got it on this}}
  gpu.func @overlap_owner() kernel attributes {tile.overlap = #tile<overlap early>} {
    gpu.return
  }
}

// -----

func.func @overlap_value_0(%lo: index, %hi: index, %step: index) {
  // expected-error @below {{expects 'tile.overlap' to be an #tile.overlap, but got true}}
  scf.for %i = %lo to %hi step %step {
  } {tile.overlap = true}
  return
}

// -----

gpu.module @kernels {
  // expected-error @below {{expects 'tile.ping_pong' on 'scf.for', but got it on this}}
  gpu.func @ping_pong_owner() kernel attributes {tile.ping_pong = unit} {
    gpu.return
  }
}

// -----

func.func @ping_pong_value_0(%lo: index, %hi: index, %step: index) {
  // expected-error @below {{expects 'tile.ping_pong' to be a unit, but got 2}}
  scf.for %i = %lo to %hi step %step {
  } {tile.ping_pong = 2 : i64}
  return
}

// -----

gpu.module @kernels {
  // expected-error @below {{expects 'tile.split' on 'scf.for', but got it on this}}
  gpu.func @split_owner() kernel attributes {tile.split = unit} {
    gpu.return
  }
}

// -----

func.func @split_value_0(%lo: index, %hi: index, %step: index) {
  // expected-error @below {{expects 'tile.split' to be a unit, but got true}}
  scf.for %i = %lo to %hi step %step {
  } {tile.split = true}
  return
}

// -----

gpu.module @kernels {
  // expected-error @below {{expects 'tile.unroll' on 'scf.for', but got it on this}}
  gpu.func @unroll_owner() kernel attributes {tile.unroll = 2 : i64} {
    gpu.return
  }
}

// -----

func.func @unroll_value_0(%lo: index, %hi: index, %step: index) {
  // expected-error @below {{expects 'tile.unroll' to be a positive i64, but got -2}}
  scf.for %i = %lo to %hi step %step {
  } {tile.unroll = -2 : i64}
  return
}

// -----

func.func @unroll_value_1(%lo: index, %hi: index, %step: index) {
  // expected-error @below {{expects 'tile.unroll' to be a positive i64, but got 2 : i32}}
  scf.for %i = %lo to %hi step %step {
  } {tile.unroll = 2 : i32}
  return
}

// -----

func.func @unroll_value_2(%lo: index, %hi: index, %step: index) {
  // expected-error @below {{expects 'tile.unroll' to be a positive i64, but got unit}}
  scf.for %i = %lo to %hi step %step {
  } {tile.unroll = unit}
  return
}

// -----

gpu.module @kernels {
  // expected-error @below {{expects 'tile.dynamic' on 'scf.for', but got it on this}}
  gpu.func @dynamic_owner() kernel attributes {tile.dynamic = unit} {
    gpu.return
  }
}

// -----

func.func @dynamic_value_0(%lo: index, %hi: index, %step: index) {
  // expected-error @below {{expects 'tile.dynamic' to be a unit, but got true}}
  scf.for %i = %lo to %hi step %step {
  } {tile.dynamic = true}
  return
}

// -----

gpu.module @kernels {
  // expected-error @below {{expects 'tile.shared_bytes' to be an i64 of at least 0, but got -8}}
  gpu.func @shared_bytes_value_0() kernel attributes {tile.shared_bytes = -8 : i64} {
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @below {{expects 'tile.shared_bytes' to be an i64 of at least 0, but got 8 : i32}}
  gpu.func @shared_bytes_value_1() kernel attributes {tile.shared_bytes = 8 : i32} {
    gpu.return
  }
}

// -----

// expected-error @below {{expects 'tile.shared_bytes' on 'gpu.func', but got it on this}}
func.func @shared_bytes_owner() attributes {tile.shared_bytes = 8 : i64} {
  return
}

// -----

func.func @fma_share_value(%x: f32) -> f32 {
  // expected-error @below {{expects 'tile.fma_share' to be an i64 from 1 to 16, but got 17}}
  %y = math.exp2 %x {tile.fma_share = 17 : i64} : f32
  return %y : f32
}

// -----

gpu.module @kernels {
  // expected-error @below {{expects 'tile.divisor' to be a positive i64, but got 0}}
  gpu.func @divisor_value_0(%m: memref<?xf16> {tile.divisor = 0 : i64}) kernel {
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @below {{expects 'tile.divisor' to be a positive i64, but got unit}}
  gpu.func @divisor_value_1(%m: memref<?xf16> {tile.divisor}) kernel {
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @below {{expects 'tile.divisor' on an argument that is a memref, but got it on 'index'}}
  gpu.func @divisor_type(%m: index {tile.divisor = 8 : i64}) kernel {
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @below {{expects 'tile.work_counter' on an argument of type 'memref<1xi32>', but got it on 'memref<1xi64>'}}
  gpu.func @counter_type(%m: memref<1xi64> {tile.work_counter}) kernel {
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @below {{expects 'tile.work_counter' to be a unit, but got 1 : i64}}
  gpu.func @counter_value(%m: memref<1xi32> {tile.work_counter = 1 : i64}) kernel {
    gpu.return
  }
}

// -----

// expected-error @below {{expects 'tile.work_counter' on an argument of 'gpu.func', but got it on one of this}}
func.func @counter_owner(%m: memref<1xi32> {tile.work_counter}) {
  return
}

// -----

// A space that nobody knows is not taken for another one.
// expected-error @below {{expected ::attune::tile::MemorySpace to be one of: registers, shared}}
// expected-error @below {{failed to parse Tile_TileType parameter 'space' which is to be a `::attune::tile::MemorySpace`}}
func.func private @unknown_space(!tile.tile<8x8xf32, tensor>)

// -----

gpu.module @kernels {
  // expected-error @below {{expects 'tile.chain' on 'scf.for', but got it on this}}
  gpu.func @chain_owner() kernel attributes {tile.chain} {
    gpu.return
  }
}

// -----

func.func @chain_value(%lo: index, %hi: index, %step: index) {
  // expected-error @below {{expects 'tile.chain' to be a unit, but got 2}}
  scf.for %i = %lo to %hi step %step {
  } {tile.chain = 2 : i64}
  return
}

// -----

func.func @raise_priority_owner(%lo: index, %hi: index, %step: index) {
  // expected-error @below {{expects 'tile.raise_priority' on 'tile.mma' or 'tile.mma_async', but got it on this}}
  scf.for %i = %lo to %hi step %step {
  } {tile.raise_priority}
  return
}

// -----

func.func @issue_groups_value(%a: !tile.tile<16x16xf16, registers>, %b: !tile.tile<16x8xf16, registers>, %c: !tile.tile<16x8xf32, registers>) {
  // expected-error @below {{expects 'tile.issue_groups' to be a unit, but got 2 : i64}}
  %d = tile.mma %a, %b, %c {tile.issue_groups = 2 : i64}
     : !tile.tile<16x16xf16, registers>, !tile.tile<16x8xf16, registers>, !tile.tile<16x8xf32, registers>
  return
}
