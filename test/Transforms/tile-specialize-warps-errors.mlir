// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What tile-specialize-warps refuses.
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics \
// RUN:   --pass-pipeline="builtin.module(gpu.module(gpu.func(tile-specialize-warps)))"

!channel = !tile.channel<16x32xf16, stages = 2, swizzle_atom = 32>
module attributes {tile.target = #tile.target<
  chip = "toy", family = "Toy", lanes = 32, sms = 1, shared = 65536, shared_per_sm = 65536, registers = 255,
  registers_per_sm = 65536, max_threads = 1024, max_threads_per_sm = 1024, copy_sync = none, copy_widths = [],
  tma_box_bytes = 128, mma = []>} {
gpu.module @kernels {
  gpu.func @carried(%m: memref<?x32xf16>) kernel
      attributes {known_block_size = array<i32: 384, 1, 1>, tile.roles = [#tile.role<"compute", warps = 8>, #tile.role<"load", warps = 4, threads = one>]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %one = arith.constant 1 : i32
    %c = tile.channel : !channel
    // Of what a loop carries, the producer counts indices alone.
    // expected-error @below {{expects what a put reads to be computed by arithmetic, but got}}
    %r = scf.for %j = %c0 to %c1 step %c1 iter_args(%narrow = %one) -> i32 {
      %row = arith.index_cast %narrow : i32 to index
      tile.put %c[%j], %m[%row, %c0] : !channel, memref<?x32xf16>
      %next = arith.addi %narrow, %one : i32
      scf.yield %next : i32
    }
    gpu.return
  }
}
}

// -----

!channel = !tile.channel<16x32xf16, stages = 2, swizzle_atom = 32>
module attributes {tile.target = #tile.target<
  chip = "toy", family = "Toy", lanes = 32, sms = 1, shared = 65536, shared_per_sm = 65536, registers = 255,
  registers_per_sm = 65536, max_threads = 1024, max_threads_per_sm = 1024, copy_sync = none, copy_widths = [],
  tma_box_bytes = 128, mma = []>} {
gpu.module @kernels {
  gpu.func @branch(%m: memref<?x32xf16>, %more: i1) kernel
      attributes {known_block_size = array<i32: 384, 1, 1>, tile.roles = [#tile.role<"compute", warps = 8>, #tile.role<"load", warps = 4, threads = one>]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c = tile.channel : !channel
    %zero = arith.constant 0.0 : f16
    tile.put %c[%c0], %m[%c0, %c0] : !channel, memref<?x32xf16>
    // What is stored would be stored twice.
    // expected-error @below {{expects what a put reads to be computed by arithmetic, but got}}
    %row = scf.if %more -> index {
      memref.store %zero, %m[%c0, %c0] : memref<?x32xf16>
      scf.yield %c0 : index
    } else {
      scf.yield %c1 : index
    }
    tile.put %c[%c1], %m[%row, %c0] : !channel, memref<?x32xf16>
    gpu.return
  }
}
}

// -----

!channel = !tile.channel<16x32xf16, stages = 2, swizzle_atom = 32>
module attributes {tile.target = #tile.target<
  chip = "toy", family = "Toy", lanes = 32, sms = 1, shared = 65536, shared_per_sm = 65536, registers = 255,
  registers_per_sm = 65536, max_threads = 1024, max_threads_per_sm = 1024, copy_sync = none, copy_widths = [],
  tma_box_bytes = 128, mma = []>} {
gpu.module @kernels {
  gpu.func @bound(%m: memref<?x32xf16>, %counter: memref<i64>, %one: i64) kernel
      attributes {known_block_size = array<i32: 384, 1, 1>, tile.roles = [#tile.role<"compute", warps = 8>, #tile.role<"load", warps = 4, threads = one>]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c = tile.channel : !channel
    tile.put %c[%c0], %m[%c0, %c0] : !channel, memref<?x32xf16>
    // expected-error @below {{expects what a put reads to be computed by arithmetic, but got}}
    %read = memref.atomic_rmw addi %one, %counter[] : (i64, memref<i64>) -> i64
    %n = arith.index_cast %read : i64 to index
    scf.for %j = %c1 to %n step %c1 {
      tile.put %c[%j], %m[%c0, %c0] : !channel, memref<?x32xf16>
    }
    gpu.return
  }
}
}

// -----

!channel = !tile.channel<16x32xf16, stages = 2, swizzle_atom = 32>
module attributes {tile.target = #tile.target<
  chip = "toy", family = "Toy", lanes = 32, sms = 1, shared = 65536, shared_per_sm = 65536, registers = 255,
  registers_per_sm = 65536, max_threads = 1024, max_threads_per_sm = 1024, copy_sync = none, copy_widths = [],
  tma_box_bytes = 128, mma = []>} {
gpu.module @kernels {
  gpu.func @other_loop(%m: memref<?x32xf16>, %n: index) kernel
      attributes {known_block_size = array<i32: 384, 1, 1>, tile.roles = [#tile.role<"compute", warps = 8>, #tile.role<"load", warps = 4, threads = one>]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c = tile.channel : !channel
    // expected-error @below {{expects puts in loops and branches alone, but got one in this}}
    %r = scf.while (%j = %c0) : (index) -> index {
      %more = arith.cmpi slt, %j, %n : index
      scf.condition(%more) %j : index
    } do {
    ^bb0(%j: index):
      tile.put %c[%j], %m[%c0, %c0] : !channel, memref<?x32xf16>
      %next = arith.addi %j, %c1 : index
      scf.yield %next : index
    }
    gpu.return
  }
}
}

// -----

!channel = !tile.channel<16x32xf16, stages = 2, swizzle_atom = 32>
gpu.module @kernels {
  // expected-error @below {{expects a role of which all threads run the program, and one of which one thread does, in 'tile.roles'}}
  gpu.func @nobody_computes(%m: memref<?x32xf16>) kernel
      attributes {tile.roles = [#tile.role<"load_k", warps = 4, threads = one>, #tile.role<"load_v", warps = 4, threads = one>]} {
    %c0 = arith.constant 0 : index
    %c = tile.channel : !channel
    tile.put %c[%c0], %m[%c0, %c0] : !channel, memref<?x32xf16>
    gpu.return
  }
}

// -----

!channel = !tile.channel<16x32xf16, stages = 2, swizzle_atom = 32>
gpu.module @kernels {
  // expected-error @below {{expects a role of which all threads run the program, and one of which one thread does, in 'tile.roles'}}
  gpu.func @nobody_loads(%m: memref<?x32xf16>) kernel
      attributes {tile.roles = [#tile.role<"compute", warps = 8>]} {
    %c0 = arith.constant 0 : index
    %c = tile.channel : !channel
    tile.put %c[%c0], %m[%c0, %c0] : !channel, memref<?x32xf16>
    gpu.return
  }
}

// -----

!channel = !tile.channel<16x32xf16, stages = 2, swizzle_atom = 32>
gpu.module @kernels {
  gpu.func @store_of_one_thread(%m: memref<?x32xf16>, %t: !tile.tile<16x32xf16, registers>) kernel
      attributes {tile.roles = [#tile.role<"compute", warps = 4>, #tile.role<"load", warps = 1, threads = one>, #tile.role<"other", warps = 4>]} {
    %c0 = arith.constant 0 : index
    %c = tile.channel : !channel
    tile.put %c[%c0], %m[%c0, %c0] : !channel, memref<?x32xf16>
    // expected-error @below {{expects a role of which all threads run the program, but got 'load'}}
    tile.store %t, %m[%c0, %c0] role "load" : !tile.tile<16x32xf16, registers>, memref<?x32xf16>
    gpu.return
  }
}

// -----

!channel = !tile.channel<16x32xf16, stages = 2, swizzle_atom = 32>
gpu.module @kernels {
  gpu.func @tile_of_nobody(%t: !tile.tile<16x32xf16, registers>) kernel
      attributes {tile.roles = [#tile.role<"compute", warps = 4>, #tile.role<"load", warps = 1, threads = one>, #tile.role<"other", warps = 4>]} {
    %c0 = arith.constant 0 : index
    %c = tile.channel : !channel
    // expected-error @below {{expects a role of which all threads run the program, but got 'scores'}}
    tile.put_tile %c[%c0], %t role "scores" : !channel, !tile.tile<16x32xf16, registers>
    gpu.return
  }
}

// -----

!channel = !tile.channel<16x32xf16, stages = 2, swizzle_atom = 32>
gpu.module @kernels {
  gpu.func @unknown_role(%m: memref<?x32xf16>) kernel
      attributes {tile.roles = [#tile.role<"compute", warps = 4>, #tile.role<"load", warps = 1, threads = one>]} {
    %c0 = arith.constant 0 : index
    %c = tile.channel : !channel
    // expected-error @below {{expects a role of which one thread runs the program, but got 'load_k'}}
    tile.put %c[%c0], %m[%c0, %c0] role "load_k" : !channel, memref<?x32xf16>
    gpu.return
  }
}

// -----

!channel = !tile.channel<16x32xf16, stages = 2, swizzle_atom = 32>
gpu.module @kernels {
  gpu.func @role_that_computes(%m: memref<?x32xf16>) kernel
      attributes {tile.roles = [#tile.role<"compute", warps = 4>, #tile.role<"load", warps = 1, threads = one>]} {
    %c0 = arith.constant 0 : index
    %c = tile.channel : !channel
    // expected-error @below {{expects a role of which one thread runs the program, but got 'compute'}}
    tile.put %c[%c0], %m[%c0, %c0] role "compute" : !channel, memref<?x32xf16>
    gpu.return
  }
}

// -----

!channel = !tile.channel<16x32xf16, stages = 2, swizzle_atom = 32>
gpu.module @kernels {
  gpu.func @turns_of_all_threads(%m: memref<?x32xf16>, %turns: memref<?xi32>) kernel
      attributes {tile.roles = [#tile.role<"compute", warps = 4>, #tile.role<"load", warps = 1, threads = one>]} {
    %c0 = arith.constant 0 : index
    %c = tile.channel : !channel
    tile.put %c[%c0], %m[%c0, %c0] : !channel, memref<?x32xf16>
    // expected-error @below {{expects a role of which one thread runs the program, but got 'compute'}}
    tile.ordered %turns[%c0] turn %c0 of %c0 role "compute" {
    } : memref<?xi32>
    gpu.return
  }
}
