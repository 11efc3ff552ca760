// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics

func.func @packed_floats(%a: !tile.tile<32x64xf16, registers>, %k: !tile.tile<32x32xf16, registers>,
                         %acc: !tile.tile<32x32xf32, registers>) {
  // expected-error @below {{expects a packed rhs of i8 beside wider floats, but got 'f16' beside 'f16'}}
  %b = tile.mma %a, %k, %acc transpose_rhs packed_rhs : !tile.tile<32x64xf16, registers>, !tile.tile<32x32xf16, registers>, !tile.tile<32x32xf32, registers>
  return
}

// -----

func.func @packed_depth(%a: !tile.tile<32x32xf16, registers>, %k: !tile.tile<32x32xi8, registers>,
                        %acc: !tile.tile<32x32xf32, registers>) {
  // expected-error @below {{expects lhs and rhs to agree on k, but got 32 and 64}}
  %b = tile.mma %a, %k, %acc transpose_rhs packed_rhs : !tile.tile<32x32xf16, registers>, !tile.tile<32x32xi8, registers>, !tile.tile<32x32xf32, registers>
  return
}

// -----

func.func @units_of_bytes(%a: !tile.tile<32x64xf16, registers>, %k: !tile.tile<32x64xi8, registers>,
                          %acc: !tile.tile<32x32xf32, registers>) {
  // expected-error @below {{expects 2 exponents of units of a packed rhs, but got 2 beside one that is not}}
  %b = tile.mma %a, %k, %acc transpose_rhs unit_exponents [-24, -20] : !tile.tile<32x64xf16, registers>, !tile.tile<32x64xi8, registers>, !tile.tile<32x32xf32, registers>
  return
}

// -----

func.func @one_unit(%a: !tile.tile<32x64xf16, registers>, %k: !tile.tile<32x32xi8, registers>,
                    %acc: !tile.tile<32x32xf32, registers>) {
  // expected-error @below {{expects 2 exponents of units of a packed rhs, but got 1 beside one that is packed}}
  %b = tile.mma %a, %k, %acc transpose_rhs packed_rhs unit_exponents [-24] : !tile.tile<32x64xf16, registers>, !tile.tile<32x32xi8, registers>, !tile.tile<32x32xf32, registers>
  return
}

// -----

func.func @units_of_warpgroup(%a: !tile.tile<64x64xf16, registers>, %k: !tile.tile<32x32xi8, registers>,
                              %acc: !tile.tile<64x32xf32, registers>) {
  // expected-error @below {{expects a warp to multiply in units, but got a warpgroup}}
  %b = tile.mma %a, %k, %acc transpose_rhs packed_rhs unit_exponents [-24, -20] scope warpgroup : !tile.tile<64x64xf16, registers>, !tile.tile<32x32xi8, registers>, !tile.tile<64x32xf32, registers>
  return
}
