// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics

func.func @outside(%i: index, %word: i32) {
  // expected-error @below {{'tile.is_kept' op expects parent op 'tile.map'}}
  %k = tile.is_kept %i, %i head %word seed(%word, %word) offset %word threshold 3
  return
}

// -----

func.func @threshold(%word: i32) {
  %kept = tile.map() {
  ^bb0(%i: index, %j: index):
    // expected-error @below {{attribute 'threshold' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative whose maximum value is 255}}
    %k = tile.is_kept %i, %j head %word seed(%word, %word) offset %word threshold 256
    tile.yield %k : i1
  } : () -> !tile.tile<16x16xi1, registers>
  return
}
