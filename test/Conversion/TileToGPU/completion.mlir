// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a wait for a value becomes where hardware counts: as many MMAs may still run as were issued since, at least, on
// all ways from the MMA to the wait. Stores are waited for by the thread that issued them.
//
// RUN: attune-opt %s \
// RUN:   --pass-pipeline="builtin.module(attune-attach-target{chip=sm_90a},gpu.module(gpu.func(tile-assign-layouts,tile-allocate-shared)),convert-tile-to-gpu,cse)" \
// RUN:   | FileCheck %s

!channel = !tile.channel<64x64xf16, stages = 1, swizzle_atom = 64>
!shared = !tile.tile<64x64xf16, shared, #tile.swizzle<vector = 8, bits = 3, shift = 0, swizzle_atom = 64>>
!rows = !tile.tile<64x64xf16, shared, #tile.swizzle<vector = 8, bits = 3, shift = 0>>
!acc = !tile.tile<64x64xf32, registers>
!pending = !tile.pending<!acc>

gpu.module @kernels {
  // The first of three is waited for while the others run, and the last one while none does: then the second is done, too.
  // CHECK-LABEL: gpu.func @in_a_block
  // CHECK-COUNT-3: nvvm.wgmma.commit.group.sync.aligned
  // CHECK: wgmma.wait_group 2,
  // CHECK: wgmma.wait_group 0,
  // CHECK: wgmma.wait_group 0,
  // CHECK-NOT: wgmma.wait_group
  gpu.func @in_a_block(%x: f32, %out: memref<64x64xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c = tile.channel : !channel
    %a = tile.get %c[%c0] : !channel -> !shared
    %acc = tile.fill %x : f32 -> !acc
    %p = tile.mma_async %a, %a, %acc scope warpgroup : !shared, !shared, !acc
    %q = tile.mma_async %a, %a, %acc scope warpgroup : !shared, !shared, !acc
    %r = tile.mma_async %a, %a, %acc scope warpgroup : !shared, !shared, !acc
    %d = tile.wait %p : !pending
    %e = tile.wait %r : !pending
    %f = tile.wait %q : !pending
    tile.store %d, %out[%c0, %c0] : !acc, memref<64x64xf32>
    tile.store %e, %out[%c0, %c0] : !acc, memref<64x64xf32>
    tile.store %f, %out[%c0, %c0] : !acc, memref<64x64xf32>
    gpu.return
  }

  // What an iteration waits for of the one before is followed by its own two; what the loop gives, by none or one.
  // CHECK-LABEL: gpu.func @carried
  // CHECK: scf.for
  // CHECK-COUNT-2: nvvm.wgmma.commit.group.sync.aligned
  // CHECK:   wgmma.wait_group 3{{$}}
  // CHECK:   wgmma.wait_group 2{{$}}
  // CHECK:   scf.yield
  // CHECK: wgmma.wait_group 1,
  // CHECK: wgmma.wait_group 0,
  gpu.func @carried(%x: f32, %n: index, %out: memref<64x64xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c = tile.channel : !channel
    %a = tile.get %c[%c0] : !channel -> !shared
    %acc = tile.fill %x : f32 -> !acc
    %p = tile.mma_async %a, %a, %acc scope warpgroup : !shared, !shared, !acc
    %q = tile.mma_async %a, %a, %acc scope warpgroup : !shared, !shared, !acc
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %p, %t = %q) -> (!pending, !pending) {
      %u = tile.mma_async %a, %a, %s scope warpgroup : !shared, !shared, !pending
      %v = tile.mma_async %a, %a, %t scope warpgroup : !shared, !shared, !pending
      tile.wait_reads %s : !pending
      tile.wait_reads %t : !pending
      scf.yield %u, %v : !pending, !pending
    }
    %d = tile.wait %r#0 : !pending
    %e = tile.wait %r#1 : !pending
    tile.store %d, %out[%c0, %c0] : !acc, memref<64x64xf32>
    tile.store %e, %out[%c0, %c0] : !acc, memref<64x64xf32>
    gpu.return
  }

  // A loop that hands its values on from one to the other: the one that has come the shorter way decides. %q is the
  // result if there is one iteration, with the one MMA of that behind it.
  // CHECK-LABEL: gpu.func @exchanged
  // CHECK: scf.for
  // CHECK: wgmma.wait_group 1,
  gpu.func @exchanged(%x: f32, %n: index, %out: memref<64x64xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c = tile.channel : !channel
    %a = tile.get %c[%c0] : !channel -> !shared
    %acc = tile.fill %x : f32 -> !acc
    %p = tile.mma_async %a, %a, %acc scope warpgroup : !shared, !shared, !acc
    %o = tile.mma_async %a, %a, %acc scope warpgroup : !shared, !shared, !acc
    %q = tile.mma_async %a, %a, %acc scope warpgroup : !shared, !shared, !acc
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %p, %t = %q) -> (!pending, !pending) {
      %u = tile.mma_async %a, %a, %acc scope warpgroup : !shared, !shared, !acc
      scf.yield %t, %s : !pending, !pending
    }
    %d = tile.wait %r#0 : !pending
    tile.store %d, %out[%c0, %c0] : !acc, memref<64x64xf32>
    gpu.return
  }

  // Of two branches the one that issues less behind it decides, and what may not run does not count.
  // CHECK-LABEL: gpu.func @branches
  // CHECK: scf.if
  // CHECK: scf.if
  // CHECK: wgmma.wait_group 1,
  gpu.func @branches(%x: f32, %yes: i1, %out: memref<64x64xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c = tile.channel : !channel
    %a = tile.get %c[%c0] : !channel -> !shared
    %acc = tile.fill %x : f32 -> !acc
    %p = scf.if %yes -> !pending {
      %first = tile.mma_async %a, %a, %acc scope warpgroup : !shared, !shared, !acc
      scf.yield %first : !pending
    } else {
      %first = tile.mma_async %a, %a, %acc scope warpgroup : !shared, !shared, !acc
      %other = tile.mma_async %a, %a, %acc scope warpgroup : !shared, !shared, !acc
      scf.yield %first : !pending
    }
    scf.if %yes {
      %other = tile.mma_async %a, %a, %acc scope warpgroup : !shared, !shared, !acc
    }
    %last = tile.mma_async %a, %a, %acc scope warpgroup : !shared, !shared, !acc
    %d = tile.wait %p : !pending
    tile.store %d, %out[%c0, %c0] : !acc, memref<64x64xf32>
    gpu.return
  }

  // MMAs of a warp are done at once: nothing is waited for, and they do not count.
  // CHECK-LABEL: gpu.func @of_a_warp
  // CHECK: nvvm.mma.sync
  // CHECK-NOT: wgmma.wait_group 1
  // CHECK: wgmma.wait_group 0,
  // CHECK-NOT: wgmma.wait_group
  // CHECK: gpu.return
  gpu.func @of_a_warp(%x: f32, %out: memref<64x64xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c = tile.channel : !channel
    %a = tile.get %c[%c0] : !channel -> !shared
    %rows = tile.channel : !tile.channel<64x64xf16, stages = 1>
    %l = tile.get %rows[%c0] : !tile.channel<64x64xf16, stages = 1> -> !rows
    %acc = tile.fill %x : f32 -> !acc
    %p = tile.mma_async %a, %a, %acc scope warpgroup : !shared, !shared, !acc
    %q = tile.mma_async %l, %l, %acc : !rows, !rows, !acc
    %e = tile.wait %q : !pending
    %d = tile.wait %p : !pending
    tile.store %d, %out[%c0, %c0] : !acc, memref<64x64xf32>
    tile.store %e, %out[%c0, %c0] : !acc, memref<64x64xf32>
    gpu.return
  }

  // Tokens are nothing that loops carry then. Of two waits for stores in a row the last one waits for both.
  // CHECK-LABEL: gpu.func @tokens
  // CHECK: scf.for %{{[^ ]+}} = %{{.+}} to %{{[^ ]+}} step %{{[^ ]+}} {
  // CHECK-COUNT-1: nvvm.cp.async.bulk.wait_group 0 {read}
  // CHECK: nvvm.barrier id
  // CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta {{.*}} l2_cache_hint = %
  // CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta
  // CHECK-NOT: nvvm.cp.async.bulk.wait_group
  // CHECK: }
  // CHECK-COUNT-1: nvvm.cp.async.bulk.wait_group 0 {read}
  // CHECK-NOT: nvvm.cp.async.bulk.wait_group
  // CHECK: gpu.return
  gpu.func @tokens(%out: memref<64x64xf16>, %n: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %place = tile.buffer : !shared
    %other = tile.buffer : !shared
    %none = tile.done
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %none, %t = %none) -> (!tile.token, !tile.token) {
      tile.wait_reads %s : !tile.token
      tile.wait_reads %t : !tile.token
      %u = tile.store_async %place, %out[%c0, %c0] eviction first : !shared, memref<64x64xf16>
      %v = tile.store_async %other, %out[%c0, %c0] : !shared, memref<64x64xf16>
      scf.yield %u, %v : !tile.token, !tile.token
    }
    tile.wait_reads %r#0 : !tile.token
    tile.wait_reads %r#1 : !tile.token
    gpu.return
  }
}
