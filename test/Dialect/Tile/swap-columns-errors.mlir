// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics

func.func @swap_columns_of_rows(%a: !tile.tile<8xf32, registers>) {
  // expected-error @below {{expects a 2-D tile, but got '!tile.tile<8xf32, registers>'}}
  %b = tile.swap_columns %a stride 4 : !tile.tile<8xf32, registers>
  return
}

// -----

func.func @swap_columns_in_pairs(%a: !tile.tile<4x24xf32, registers>) {
  %b = tile.swap_columns %a stride 12 : !tile.tile<4x24xf32, registers>
  // expected-error @below {{expects columns in pairs of 8 and as many, but got 24}}
  %c = tile.swap_columns %a stride 8 : !tile.tile<4x24xf32, registers>
  return
}

// -----

func.func @swap_columns_beyond(%a: !tile.tile<4x24xf32, registers>) {
  // expected-error @below {{expects columns in pairs of 4611686018427387904 and as many, but got 24}}
  %b = tile.swap_columns %a stride 4611686018427387904 : !tile.tile<4x24xf32, registers>
  return
}

// -----

func.func @swap_columns_itself(%a: !tile.tile<4x24xf32, registers>) {
  // expected-error @below {{attribute 'stride' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  %b = tile.swap_columns %a stride 0 : !tile.tile<4x24xf32, registers>
  return
}
