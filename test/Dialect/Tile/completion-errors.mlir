// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What waits for asynchronous work, and what gives it, refuse.
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics

!regs = !tile.tile<32x32xf32, registers>
func.func @wait_reads_of(%p: !regs) {
  // expected-error @below {{'tile.wait_reads' op operand #0 must be A tile in registers that is still being computed or Stands for a copy out of shared memory that may be under way, but got '!tile.tile<32x32xf32, registers>'}}
  tile.wait_reads %p : !regs
  return
}

// -----

func.func @wait_token(%t: !tile.token) {
  // expected-error @below {{invalid kind of type specified: expected tile.pending, but found '!tile.token'}}
  %a = tile.wait %t : !tile.token
  return
}

// -----

func.func @wait_result(%p: !tile.pending<!tile.tile<32x32xf32, registers>>) {
  // expected-error @below {{the result is what is waited for}}
  %a = "tile.wait"(%p) : (!tile.pending<!tile.tile<32x32xf32, registers>>) -> !tile.tile<32x32xf16, registers>
  return
}

// -----

!shared = !tile.tile<32x64xf16, shared, #tile.swizzle<vector = 8, bits = 3, shift = 0>>
func.func @store_type(%b: !shared, %m: memref<32x64xf32>, %i: index) {
  // expected-error @below {{'tile.store_async' op expects source and destination to have one element type, but got 'f16' and 'f32'}}
  %stored = tile.store_async %b, %m[%i, %i] : !shared, memref<32x64xf32>
  tile.wait_reads %stored : !tile.token
  return
}

// -----

!shared = !tile.tile<32x64xf16, shared, #tile.swizzle<vector = 8, bits = 3, shift = 0>>
func.func @store_without_wait(%b: !shared, %m: memref<32x64xf16>, %i: index) {
  // expected-error @below {{'tile.store_async' op expects a 'tile.wait_reads' of its token, but nothing uses it}}
  %stored = tile.store_async %b, %m[%i, %i] : !shared, memref<32x64xf16>
  return
}
