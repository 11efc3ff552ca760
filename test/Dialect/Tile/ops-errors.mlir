// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every rule of the verifiers of the tile ops.
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics

func.func @load_rank(%m: memref<?x64xf16>, %i: index) {
  // expected-error @below {{expects a source and indices of 1 dimensions for '!tile.tile<64xf16, registers>', but got 2 and 2}}
  %a = tile.load %m[%i, %i] : memref<?x64xf16> -> !tile.tile<64xf16, registers>
  return
}

// -----

func.func @load_element(%m: memref<?x64xf16>, %i: index) {
  // expected-error @below {{expects source and result to have one element type, but got 'f16' and 'f32'}}
  %a = tile.load %m[%i, %i] : memref<?x64xf16> -> !tile.tile<32x64xf32, registers>
  return
}

// -----

func.func @load_read_once(%m: memref<?x64xf16>, %i: index) {
  // expected-error @below {{expects 'stages' with 'read_once'}}
  %a = tile.load %m[%i, %i] read_once : memref<?x64xf16> -> !tile.tile<32x64xf16, registers>
  return
}

// -----

func.func @load_stages(%m: memref<?x64xf16>, %i: index) {
  // expected-error @below {{attribute 'stages' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  %a = tile.load %m[%i, %i] stages 0 : memref<?x64xf16> -> !tile.tile<32x64xf16, registers>
  return
}

// -----

func.func @load_stages_of_numbers(%m: memref<?xf32>, %i: index) {
  // expected-error @below {{expects a source and indices of 2 dimensions for '!tile.tile<64xf32, registers>' with 'stages', but got 1 and 1}}
  %a = tile.load %m[%i] stages 2 : memref<?xf32> -> !tile.tile<64xf32, registers>
  return
}

// -----

func.func @read_rows(%t: !tile.tile<2x64xf32, shared, #tile.swizzle<vector = 4, bits = 3, shift = 0>>) {
  // expected-error @below {{expects source and result to have one shape, but got '!tile.tile<2x64xf32, shared, #tile.swizzle<vector = 4, bits = 3, shift = 0>>' and '!tile.tile<64xf32, registers>'}}
  %a = tile.read %t : !tile.tile<2x64xf32, shared, #tile.swizzle<vector = 4, bits = 3, shift = 0>> -> !tile.tile<64xf32, registers>
  return
}

// -----

func.func @load_into_shared(%m: memref<?x64xf16>, %i: index) {
  // expected-error @below {{result #0 must be tile in registers}}
  %a = tile.load %m[%i, %i] : memref<?x64xf16>
    -> !tile.tile<32x64xf16, shared, #tile.swizzle<vector = 8, bits = 3, shift = 0>>
  return
}

// -----

func.func @store_rank(%a: !tile.tile<32xf16, registers>, %m: memref<?x64xf16>, %i: index) {
  // expected-error @below {{expects a destination and indices of the 1 dimensions of the value, but got 2 and 1}}
  tile.store %a, %m[%i] : !tile.tile<32xf16, registers>, memref<?x64xf16>
  return
}

// -----

func.func @store_indices(%a: !tile.tile<32x64xf16, registers>, %m: memref<?x64xf16>, %i: index) {
  // expected-error @below {{expects a destination and indices of the 2 dimensions of the value, but got 2 and 1}}
  tile.store %a, %m[%i] : !tile.tile<32x64xf16, registers>, memref<?x64xf16>
  return
}

// -----

func.func @store_element(%a: !tile.tile<32x64xf32, registers>, %m: memref<?x64xf16>, %i: index) {
  // expected-error @below {{expects value and destination to have one element type, but got 'f32' and 'f16'}}
  tile.store %a, %m[%i, %i] : !tile.tile<32x64xf32, registers>, memref<?x64xf16>
  return
}

// -----

#s = #tile.swizzle<vector = 8, bits = 3, shift = 0>
func.func @read_shape(%a: !tile.tile<32x64xf16, shared, #s>) {
  // expected-error @below {{expects source and result to have one shape, but got '!tile.tile<32x64xf16, shared, #tile.swizzle<vector = 8, bits = 3, shift = 0>>' and '!tile.tile<64x32xf16, registers>'}}
  %b = tile.read %a : !tile.tile<32x64xf16, shared, #s> -> !tile.tile<64x32xf16, registers>
  return
}

// -----

#s = #tile.swizzle<vector = 8, bits = 3, shift = 0>
func.func @read_element(%a: !tile.tile<32x64xf16, shared, #s>) {
  // expected-error @below {{expects source and result to have one element type, but got 'f16' and 'bf16'}}
  %b = tile.read %a : !tile.tile<32x64xf16, shared, #s> -> !tile.tile<32x64xbf16, registers>
  return
}

// -----

func.func @read_registers(%a: !tile.tile<32x64xf16, registers>) {
  // expected-error @below {{operand #0 must be tile in shared memory}}
  %b = tile.read %a : !tile.tile<32x64xf16, registers> -> !tile.tile<32x64xf16, registers>
  return
}

// -----

func.func @put_element(%c: !tile.channel<32x64xf16, stages = 1>, %m: memref<?x64xbf16>, %i: index) {
  // expected-error @below {{expects source and channel to have one element type, but got 'bf16' and 'f16'}}
  tile.put %c[%i], %m[%i, %i] : !tile.channel<32x64xf16, stages = 1>, memref<?x64xbf16>
  return
}

// -----

func.func @get_type(%c: !tile.channel<32x64xf16, stages = 1>, %i: index) {
  // expected-error @below {{expects a result of type '!tile.tile<32x64xf16, shared, #tile.swizzle<vector = 8, bits = 3, shift = 0>>', but got '!tile.tile<32x64xf16, shared, #tile.swizzle<vector = 8, bits = 0, shift = 0>>'}}
  %t = tile.get %c[%i] : !tile.channel<32x64xf16, stages = 1>
    -> !tile.tile<32x64xf16, shared, #tile.swizzle<vector = 8, bits = 0, shift = 0>>
  return
}

// -----

func.func @get_pending(%c: !tile.channel<32x64xf16, stages = 1>, %i: index) {
  // expected-error @below {{attribute 'pending' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  %t = tile.get %c[%i] pending -1 : !tile.channel<32x64xf16, stages = 1>
    -> !tile.tile<32x64xf16, shared, #tile.swizzle<vector = 8, bits = 3, shift = 0>>
  return
}

// -----

func.func @fill_element(%x: f16) {
  // expected-error @below {{expects value and result to have one element type, but got 'f16' and 'f32'}}
  %a = tile.fill %x : f16 -> !tile.tile<32x64xf32, registers>
  return
}

// -----

func.func @mma_rank(%a: !tile.tile<32xf16, registers>, %acc: !tile.tile<32x32xf32, registers>) {
  // expected-error @below {{expects operands of two dimensions, but got '!tile.tile<32xf16, registers>', '!tile.tile<32xf16, registers>' and '!tile.tile<32x32xf32, registers>'}}
  %b = tile.mma %a, %a, %acc : !tile.tile<32xf16, registers>, !tile.tile<32xf16, registers>, !tile.tile<32x32xf32, registers>
  return
}

// -----

func.func @mma_depth(%a: !tile.tile<32x64xf16, registers>, %acc: !tile.tile<32x64xf32, registers>) {
  // expected-error @below {{expects lhs and rhs to agree on k, but got 64 and 32}}
  %b = tile.mma %a, %a, %acc : !tile.tile<32x64xf16, registers>, !tile.tile<32x64xf16, registers>, !tile.tile<32x64xf32, registers>
  return
}

// -----

func.func @mma_depth_transposed(%a: !tile.tile<32x64xf16, registers>, %k: !tile.tile<64x32xf16, registers>,
                                %acc: !tile.tile<32x64xf32, registers>) {
  // expected-error @below {{expects lhs and rhs to agree on k, but got 64 and 32}}
  %b = tile.mma %a, %k, %acc transpose_rhs : !tile.tile<32x64xf16, registers>, !tile.tile<64x32xf16, registers>, !tile.tile<32x64xf32, registers>
  return
}

// -----

func.func @mma_accumulator(%a: !tile.tile<32x64xf16, registers>, %acc: !tile.tile<32x64xf32, registers>) {
  // expected-error @below {{expects an accumulator of 32x32, but got 32x64}}
  %b = tile.mma %a, %a, %acc transpose_rhs : !tile.tile<32x64xf16, registers>, !tile.tile<32x64xf16, registers>, !tile.tile<32x64xf32, registers>
  return
}

// -----

#atom = #tile.mma_atom<name = "toy", m = 2, n = 2, k = 2, lhsType = f16, rhsType = f16, accType = f32,
  lhs = <registers = [], lanes = [[2, 0, 1], [2, 1, 1]], warps = []>,
  rhs = <registers = [], lanes = [[2, 1, 1], [2, 0, 1]], warps = []>,
  acc = <registers = [], lanes = [[2, 0, 1], [2, 1, 1]], warps = []>>
func.func @mma_atom_scope(%a: !tile.tile<4x4xf16, registers>, %acc: !tile.tile<4x4xf32, registers>) {
  // expected-error @below {{expects an atom of a warpgroup, but got one of a warp}}
  %c = tile.mma %a, %a, %acc scope warpgroup {atom = #atom} : !tile.tile<4x4xf16, registers>, !tile.tile<4x4xf16, registers>, !tile.tile<4x4xf32, registers>
  return
}

// -----

#atom = #tile.mma_atom<name = "group", m = 4, n = 2, k = 2, lhsType = f16, rhsType = f16, accType = f32,
  lhs = <registers = [], lanes = [[2, 0, 1], [2, 1, 1]], warps = [[2, 0, 2]]>,
  rhs = <registers = [], lanes = [[2, 1, 1], [2, 0, 1]], warps = [[2, 0, 0]]>,
  acc = <registers = [], lanes = [[2, 0, 1], [2, 1, 1]], warps = [[2, 0, 2]]>>
func.func @mma_async_atom_scope(%a: !tile.tile<4x4xf16, registers>, %acc: !tile.tile<4x4xf32, registers>) {
  // expected-error @below {{expects an atom of a warp, but got one of a warpgroup}}
  %c = tile.mma_async %a, %a, %acc {atom = #atom} : !tile.tile<4x4xf16, registers>, !tile.tile<4x4xf16, registers>, !tile.tile<4x4xf32, registers>
  return
}

// -----

#atom = #tile.mma_atom<name = "toy", m = 2, n = 2, k = 2, lhsType = f16, rhsType = f16, accType = f32,
  lhs = <registers = [], lanes = [[2, 0, 1], [2, 1, 1]], warps = []>,
  rhs = <registers = [], lanes = [[2, 1, 1], [2, 0, 1]], warps = []>,
  acc = <registers = [], lanes = [[2, 0, 1], [2, 1, 1]], warps = []>>
func.func @mma_atom_lhs(%a: !tile.tile<4x4xbf16, registers>, %b: !tile.tile<4x4xf16, registers>,
                        %acc: !tile.tile<4x4xf32, registers>) {
  // expected-error @below {{expects an atom of 'bf16', 'f16' and 'f32', but got one of 'f16', 'f16' and 'f32'}}
  %c = tile.mma %a, %b, %acc {atom = #atom} : !tile.tile<4x4xbf16, registers>, !tile.tile<4x4xf16, registers>, !tile.tile<4x4xf32, registers>
  return
}

// -----

#atom = #tile.mma_atom<name = "toy", m = 2, n = 2, k = 2, lhsType = f16, rhsType = f16, accType = f32,
  lhs = <registers = [], lanes = [[2, 0, 1], [2, 1, 1]], warps = []>,
  rhs = <registers = [], lanes = [[2, 1, 1], [2, 0, 1]], warps = []>,
  acc = <registers = [], lanes = [[2, 0, 1], [2, 1, 1]], warps = []>>
func.func @mma_atom_rhs(%a: !tile.tile<4x4xf16, registers>, %b: !tile.tile<4x4xbf16, registers>,
                        %acc: !tile.tile<4x4xf32, registers>) {
  // expected-error @below {{expects an atom of 'f16', 'bf16' and 'f32', but got one of 'f16', 'f16' and 'f32'}}
  %c = tile.mma %a, %b, %acc {atom = #atom} : !tile.tile<4x4xf16, registers>, !tile.tile<4x4xbf16, registers>, !tile.tile<4x4xf32, registers>
  return
}

// -----

#atom = #tile.mma_atom<name = "toy", m = 2, n = 2, k = 2, lhsType = f16, rhsType = f16, accType = f32,
  lhs = <registers = [], lanes = [[2, 0, 1], [2, 1, 1]], warps = []>,
  rhs = <registers = [], lanes = [[2, 1, 1], [2, 0, 1]], warps = []>,
  acc = <registers = [], lanes = [[2, 0, 1], [2, 1, 1]], warps = []>>
func.func @mma_atom_acc(%a: !tile.tile<4x4xf16, registers>, %acc: !tile.tile<4x4xf16, registers>) {
  // expected-error @below {{expects an atom of 'f16', 'f16' and 'f16', but got one of 'f16', 'f16' and 'f32'}}
  %c = tile.mma %a, %a, %acc {atom = #atom} : !tile.tile<4x4xf16, registers>, !tile.tile<4x4xf16, registers>, !tile.tile<4x4xf16, registers>
  return
}

// -----

func.func @mma_replicas_of_columns(%a: !tile.tile<4x4xf16, registers>, %acc: !tile.tile<4x4xf32, registers>) {
  // expected-error @below {{expects columns that are shared or computed by all, but got warps_n 2 and replicas 2}}
  %c = tile.mma %a, %a, %acc warps_n 2 replicas 2 : !tile.tile<4x4xf16, registers>, !tile.tile<4x4xf16, registers>, !tile.tile<4x4xf32, registers>
  return
}

// -----

func.func @mma_warps_n(%a: !tile.tile<4x4xf16, registers>, %acc: !tile.tile<4x4xf32, registers>) {
  // expected-error @below {{attribute 'warps_n' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  %c = tile.mma %a, %a, %acc warps_n 0 : !tile.tile<4x4xf16, registers>, !tile.tile<4x4xf16, registers>, !tile.tile<4x4xf32, registers>
  return
}

// -----

#atom = #tile.mma_atom<name = "toy", m = 2, n = 2, k = 2, lhsType = f16, rhsType = f16, accType = f32,
  lhs = <registers = [], lanes = [[2, 0, 1], [2, 1, 1]], warps = []>,
  rhs = <registers = [], lanes = [[2, 1, 1], [2, 0, 1]], warps = []>,
  acc = <registers = [], lanes = [[2, 0, 1], [2, 1, 1]], warps = []>>
func.func @mma_atom(%a: !tile.tile<4x4xf16, registers>, %b: !tile.tile<4x3xf16, registers>,
                    %acc: !tile.tile<4x3xf32, registers>) {
  // expected-error @below {{expects sizes that are multiples of the 2x2x2 atom, but got 4x3x4}}
  %c = tile.mma %a, %b, %acc {atom = #atom} : !tile.tile<4x4xf16, registers>, !tile.tile<4x3xf16, registers>, !tile.tile<4x3xf32, registers>
  return
}

// -----

func.func @map_shape(%a: !tile.tile<4x8xf32, registers>) {
  // expected-error @below {{expects input and result to have one shape, but got '!tile.tile<4x8xf32, registers>' and '!tile.tile<8x4xf32, registers>'}}
  %b = tile.map(%a) {
  ^bb0(%x: f32, %i: index, %j: index):
    tile.yield %x : f32
  } : (!tile.tile<4x8xf32, registers>) -> !tile.tile<8x4xf32, registers>
  return
}

// -----

#layout = #tile.layout<registers = [[8, 1, 1]], lanes = [[4, 0, 1]], warps = []>
func.func @map_layout(%a: !tile.tile<4x8xf32, registers, #layout>) {
  // expected-error @below {{expects inputs and result of one layout}}
  %b = tile.map(%a) {
  ^bb0(%x: f32, %i: index, %j: index):
    tile.yield %x : f32
  } : (!tile.tile<4x8xf32, registers, #layout>) -> !tile.tile<4x8xf32, registers>
  return
}

// -----

func.func @map_arguments(%a: !tile.tile<4x8xf32, registers>) {
  // expected-error @below {{expects a region with 1 element and 2 index arguments, but got 1}}
  %b = tile.map(%a) {
  ^bb0(%x: f32):
    tile.yield %x : f32
  } : (!tile.tile<4x8xf32, registers>) -> !tile.tile<4x8xf32, registers>
  return
}

// -----

func.func @map_element_argument(%a: !tile.tile<4x8xf32, registers>) {
  // expected-error @below {{expects region argument 0 to be 'f32', but got 'f16'}}
  %b = tile.map(%a) {
  ^bb0(%x: f16, %i: index, %j: index):
    tile.yield %x : f16
  } : (!tile.tile<4x8xf32, registers>) -> !tile.tile<4x8xf16, registers>
  return
}

// -----

func.func @map_index_argument(%a: !tile.tile<4x8xf32, registers>) {
  // expected-error @below {{expects region argument 2 to be index, but got 'i32'}}
  %b = tile.map(%a) {
  ^bb0(%x: f32, %i: index, %j: i32):
    tile.yield %x : f32
  } : (!tile.tile<4x8xf32, registers>) -> !tile.tile<4x8xf32, registers>
  return
}

// -----

func.func @map_yield(%a: !tile.tile<4x8xf32, registers>) {
  %b = tile.map(%a) {
  ^bb0(%x: f32, %i: index, %j: index):
    // expected-error @below {{expects a value of type 'f16'}}
    tile.yield %x : f32
  } : (!tile.tile<4x8xf32, registers>) -> !tile.tile<4x8xf16, registers>
  return
}

// -----

func.func @map_no_yield(%a: !tile.tile<4x8xf32, registers>) {
  // expected-error @below {{expects a value of type 'f32'}}
  %b = tile.map(%a) {
  ^bb0(%x: f32, %i: index, %j: index):
  } : (!tile.tile<4x8xf32, registers>) -> !tile.tile<4x8xf32, registers>
  return
}

// -----

func.func @map_of_tiles(%a: !tile.tile<4x8xf32, registers>, %c: !tile.channel<4x8xf32, stages = 1>) {
  %b = tile.map(%a) {
  ^bb0(%x: f32, %i: index, %j: index):
    // expected-error @below {{expects no tiles inside of a 'tile.map'}}
    tile.release %c[%i] : !tile.channel<4x8xf32, stages = 1>
    tile.yield %x : f32
  } : (!tile.tile<4x8xf32, registers>) -> !tile.tile<4x8xf32, registers>
  return
}

// -----

func.func @yield_parent(%x: f32) {
  // expected-error @below {{expects parent op 'tile.map'}}
  tile.yield %x : f32
}

// -----

func.func @reduce_rows(%a: !tile.tile<4x8xf32, registers>) {
  // expected-error @below {{expects a 1-D tile with one element per row of a 2-D tile, but got '!tile.tile<8xf32, registers>' and '!tile.tile<4x8xf32, registers>'}}
  %b = tile.reduce add %a : !tile.tile<4x8xf32, registers> -> !tile.tile<8xf32, registers>
  return
}

// -----

func.func @reduce_element(%a: !tile.tile<4x8xf32, registers>) {
  // expected-error @below {{expects input and result to have one element type, but got 'f16' and 'f32'}}
  %b = tile.reduce add %a : !tile.tile<4x8xf32, registers> -> !tile.tile<4xf16, registers>
  return
}

// -----

#layout = #tile.layout<registers = [[8, 1, 1]], lanes = [[4, 0, 1]], warps = []>
func.func @reduce_layout(%a: !tile.tile<4x8xf32, registers, #layout>) {
  // expected-error @below {{expects the 1-D tile to have layout #tile.layout<registers = [], lanes = [[4, 0, 1]], warps = []>, but got #tile.layout<registers = [[4, 0, 1]], lanes = [], warps = []>}}
  %b = tile.reduce add %a : !tile.tile<4x8xf32, registers, #layout>
    -> !tile.tile<4xf32, registers, #tile.layout<registers = [[4, 0, 1]], lanes = [], warps = []>>
  return
}

// -----

func.func @reduce_partial_rows(%a: !tile.tile<4x8xf32, registers>) {
  // expected-error @below {{expects a result with the rows of the input, but got '!tile.tile<8x2xf32, registers>' and '!tile.tile<4x8xf32, registers>'}}
  %b = tile.reduce add %a : !tile.tile<4x8xf32, registers> -> !tile.tile<8x2xf32, registers>
  return
}

// -----

func.func @reduce_partial_element(%a: !tile.tile<4x8xf32, registers>) {
  // expected-error @below {{expects input and result to have one element type, but got 'f32' and 'f16'}}
  %b = tile.reduce add %a : !tile.tile<4x8xf32, registers> -> !tile.tile<4x2xf16, registers>
  return
}

// -----

#layout = #tile.layout<registers = [[4, 1, 1]], lanes = [[4, 0, 1], [2, 1, 4]], warps = []>
func.func @reduce_partial_layout(%a: !tile.tile<4x8xf32, registers, #layout>) {
  // expected-error @below {{expects a partial result to have layout #tile.layout<registers = [], lanes = [[4, 0, 1], [2, 1, 1]], warps = []>, but got}}
  %b = tile.reduce add %a : !tile.tile<4x8xf32, registers, #layout> -> !tile.tile<4x2xf32, registers>
  return
}

// -----

func.func @any_element(%a: !tile.tile<4xf32, registers>) {
  // expected-error @below {{expects elements of type i1, but got 'f32'}}
  %b = tile.any %a : !tile.tile<4xf32, registers>
  return
}

// -----

func.func @broadcast_rows(%a: !tile.tile<8xf32, registers>) {
  // expected-error @below {{expects a 1-D tile with one element per row of a 2-D tile, but got '!tile.tile<8xf32, registers>' and '!tile.tile<4x8xf32, registers>'}}
  %b = tile.broadcast %a : !tile.tile<8xf32, registers> -> !tile.tile<4x8xf32, registers>
  return
}

// -----

func.func @convert_layout_shape(%a: !tile.tile<8x4xf32, registers>) {
  // expected-error @below {{expects input and result to have one shape}}
  %b = tile.convert_layout %a : !tile.tile<8x4xf32, registers> -> !tile.tile<4x8xf32, registers>
  return
}

// -----

func.func @convert_layout_element(%a: !tile.tile<8x4xf32, registers>) {
  // expected-error @below {{expects input and result to have one element type, but got 'f32' and 'f16'}}
  %b = tile.convert_layout %a : !tile.tile<8x4xf32, registers> -> !tile.tile<8x4xf16, registers>
  return
}

// -----

func.func @mma_async_rank(%a: !tile.tile<32xf16, registers>, %acc: !tile.tile<32x32xf32, registers>) {
  // expected-error @below {{expects operands of two dimensions, but got '!tile.tile<32xf16, registers>', '!tile.tile<32xf16, registers>' and '!tile.tile<32x32xf32, registers>'}}
  %b = tile.mma_async %a, %a, %acc : !tile.tile<32xf16, registers>, !tile.tile<32xf16, registers>, !tile.tile<32x32xf32, registers>
  return
}

// -----

func.func @mma_async_accumulator(%a: !tile.tile<32x64xf16, registers>, %acc: !tile.tile<32x64xf32, registers>) {
  // expected-error @below {{expects an accumulator of 32x32, but got 32x64}}
  %b = tile.mma_async %a, %a, %acc transpose_rhs : !tile.tile<32x64xf16, registers>, !tile.tile<32x64xf16, registers>, !tile.tile<32x64xf32, registers>
  return
}

// -----

func.func @mma_async_result(%a: !tile.tile<32x64xf16, registers>, %acc: !tile.tile<32x32xf32, registers>) {
  // expected-error @below {{the result is the accumulator when it is there}}
  %b = "tile.mma_async"(%a, %a, %acc) {transpose_rhs} : (!tile.tile<32x64xf16, registers>, !tile.tile<32x64xf16, registers>,
    !tile.tile<32x32xf32, registers>) -> !tile.pending<!tile.tile<32x32xf16, registers>>
  return
}

// -----

func.func @mma_async_in_shared(%a: !tile.tile<32x64xf16, registers>,
                               %acc: !tile.tile<32x32xf32, shared, #tile.swizzle<vector = 4, bits = 3, shift = 0>>) {
  // expected-error @below {{'acc' must be tile in registers}}
  %b = tile.mma_async %a, %a, %acc transpose_rhs : !tile.tile<32x64xf16, registers>, !tile.tile<32x64xf16, registers>,
    !tile.tile<32x32xf32, shared, #tile.swizzle<vector = 4, bits = 3, shift = 0>>
  return
}

// -----

func.func @specialize_programs() {
  // expected-error @below {{expects a program for each of 2 roles, but got 1}}
  "tile.specialize"() ({
    %i = arith.constant 0 : index
  }) {roles = [#tile.role<"compute", warps = 4>, #tile.role<"load", warps = 4, threads = one>]} : () -> ()
  return
}

// -----

func.func @specialize_one_role() {
  // expected-error @below {{expects at least two roles, but got 1}}
  tile.specialize <"compute", warps = 4> {
  }
  return
}

// -----

func.func @specialize_names() {
  // expected-error @below {{expects roles of different names, but got two 'load'}}
  tile.specialize <"load", warps = 1, threads = one> {
  }, <"compute", warps = 4> {
  }, <"load", warps = 4, threads = one> {
  }
  return
}

// -----

func.func @specialize_registers_of_one() {
  // expected-error @below {{expects registers of all roles or of none}}
  tile.specialize <"compute", warps = 4> {
  }, <"load", warps = 4, registers = 24, threads = one> {
  }
  return
}

// -----

func.func @specialize_nobody_computes() {
  // expected-error @below {{expects a role of which all threads run the program}}
  tile.specialize <"load_k", warps = 1, threads = one> {
  }, <"load_v", warps = 1, threads = one> {
  }
  return
}

// -----

func.func @specialize_roles() {
  // expected-error @below {{attribute 'roles' failed to satisfy constraint: array of roles}}
  "tile.specialize"() ({
    %i = arith.constant 0 : index
  }, {
    %i = arith.constant 0 : index
  }) {roles = [1, 2]} : () -> ()
  return
}

// -----

func.func @specialize_parent(%more: i1) {
  scf.if %more {
    // expected-error @below {{expects to stand in the body of the kernel}}
    tile.specialize <"compute", warps = 4, registers = 240> {
    }, <"load", warps = 4, registers = 24, threads = one> {
    }
  }
  return
}

// -----

func.func @ping_pong_init() {
  // expected-error @below {{attribute 'groups' failed to satisfy constraint: 64-bit signless integer attribute whose minimum value is 2}}
  tile.ping_pong_init of 1
  return
}

// -----

func.func @ping_pong_wait() {
  // expected-error @below {{attribute 'groups' failed to satisfy constraint: 64-bit signless integer attribute whose minimum value is 2}}
  tile.ping_pong_wait of 1
  return
}

// -----

func.func @ping_pong_arrive() {
  // expected-error @below {{attribute 'groups' failed to satisfy constraint: 64-bit signless integer attribute whose minimum value is 2}}
  tile.ping_pong_arrive of 0
  return
}

// -----

!shared = !tile.tile<32x64xf16, shared, #tile.swizzle<vector = 8, bits = 3, shift = 0>>
func.func @write_shape(%a: !tile.tile<16x64xf16, registers>, %b: !shared) {
  // expected-error @below {{'tile.write' op expects value and destination to have one shape, but got}}
  tile.write %a, %b : !tile.tile<16x64xf16, registers>, !shared
  return
}

// -----

!shared = !tile.tile<32x64xf16, shared, #tile.swizzle<vector = 8, bits = 3, shift = 0>>
func.func @write_type(%a: !tile.tile<32x64xf32, registers>, %b: !shared) {
  // expected-error @below {{'tile.write' op expects value and destination to have one element type, but got 'f32' and 'f16'}}
  tile.write %a, %b : !tile.tile<32x64xf32, registers>, !shared
  return
}
