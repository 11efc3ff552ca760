// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifier diagnostics of MMAs of some of the terms, and of what asks for them.
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics

gpu.module @kernels {
  // expected-error @below {{expects 'tile.issue_late' on 'scf.for', but got it on this}}
  gpu.func @issue_late_owner() kernel attributes {tile.issue_late = 32 : i64} {
    gpu.return
  }
}

// -----

func.func @issue_late_value(%n: index) {
  // expected-error @below {{expects 'tile.issue_late' to be a positive i64, but got 0}}
  scf.for %i = %n to %n step %n {
  } {tile.issue_late = 0 : i64}
  return
}

// -----

func.func @terms_of_none(%a: !tile.tile<16x64xf16, registers>, %b: !tile.tile<64x8xf16, registers>, %acc: !tile.tile<16x8xf32, registers>) {
  // expected-error @below {{'tile.mma_async' op expects terms [from, to] of the 64 that there are, but got [48, 48]}}
  %c = tile.mma_async %a, %b, %acc terms [48, 48] : !tile.tile<16x64xf16, registers>, !tile.tile<64x8xf16, registers>, !tile.tile<16x8xf32, registers>
  return
}

// -----

func.func @terms_behind_the_last(%a: !tile.tile<16x64xf16, registers>, %b: !tile.tile<64x8xf16, registers>, %acc: !tile.tile<16x8xf32, registers>) {
  // expected-error @below {{'tile.mma_async' op expects terms [from, to] of the 64 that there are, but got [48, 80]}}
  %c = tile.mma_async %a, %b, %acc terms [48, 80] : !tile.tile<16x64xf16, registers>, !tile.tile<64x8xf16, registers>, !tile.tile<16x8xf32, registers>
  return
}

// -----

func.func @terms_without_end(%a: !tile.tile<16x64xf16, registers>, %b: !tile.tile<64x8xf16, registers>, %acc: !tile.tile<16x8xf32, registers>) {
  // expected-error @below {{'tile.mma_async' op expects terms [from, to] of the 64 that there are, but got [16]}}
  %c = tile.mma_async %a, %b, %acc terms [16] : !tile.tile<16x64xf16, registers>, !tile.tile<64x8xf16, registers>, !tile.tile<16x8xf32, registers>
  return
}

// -----

func.func @terms_of_packed(%a: !tile.tile<16x64xf16, registers>, %b: !tile.tile<64x8xi8, registers>, %acc: !tile.tile<16x16xf32, registers>) {
  // expected-error @below {{'tile.mma_async' op expects all terms of a packed rhs, but got [0, 32]}}
  %c = tile.mma_async %a, %b, %acc packed_rhs terms [0, 32] : !tile.tile<16x64xf16, registers>, !tile.tile<64x8xi8, registers>, !tile.tile<16x16xf32, registers>
  return
}

// -----

#atom = #tile.mma_atom<name = "warp", m = 4, n = 4, k = 4, lhsType = f16, rhsType = f16, accType = f32,
  lhs = <registers = [[4, 1, 1]], lanes = [[4, 0, 1]], warps = []>,
  rhs = <registers = [[4, 0, 1]], lanes = [[4, 1, 1]], warps = []>,
  acc = <registers = [[4, 1, 1]], lanes = [[4, 0, 1]], warps = []>>
func.func @terms_of_atoms(%a: !tile.tile<4x8xf16, registers>, %b: !tile.tile<8x4xf16, registers>, %acc: !tile.tile<4x4xf32, registers>) {
  // expected-error @below {{'tile.mma_async' op expects terms that are multiples of the atom's 4, but got [2, 8]}}
  %c = tile.mma_async %a, %b, %acc terms [2, 8] {atom = #atom} : !tile.tile<4x8xf16, registers>, !tile.tile<8x4xf16, registers>, !tile.tile<4x4xf32, registers>
  return
}
