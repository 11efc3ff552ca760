// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Initial values of reductions that tile refuses.
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics

func.func @reduce_init(%a: !tile.tile<4x8xf32, registers>, %b: !tile.tile<4xf32, registers>) {
  // expected-note @above {{prior use here}}
  // expected-error @below {{use of value '%b' expects different type than prior uses: '!tile.tile<4x2xf32, registers>' vs '!tile.tile<4xf32, registers>'}}
  %c = tile.reduce add %a init %b : !tile.tile<4x8xf32, registers> -> !tile.tile<4x2xf32, registers>
  return
}

// -----

func.func @reduce_init_generic(%a: !tile.tile<4x8xf32, registers>, %b: !tile.tile<4xf32, registers>) {
  // expected-error @below {{the initial value has the type of the result}}
  %c = "tile.reduce"(%a, %b) <{kind = #tile<reduction add>}> : (!tile.tile<4x8xf32, registers>, !tile.tile<4xf32, registers>) -> !tile.tile<4x2xf32, registers>
  return
}
