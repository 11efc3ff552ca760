// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Places in shared memory, and who waits for whom.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(gpu.module(gpu.func(tile-allocate-shared)))" | FileCheck %s

!rows = !tile.channel<16x40xf16, stages = 2>
!row_tile = !tile.tile<16x40xf16, shared, #tile.swizzle<vector = 8, bits = 0, shift = 3>>
!atoms = !tile.channel<16x64xf16, stages = 3, swizzle_atom = 32>
!atom_tile = !tile.tile<16x64xf16, shared, #tile.swizzle<vector = 8, bits = 2, shift = 1, swizzle_atom = 32>>
!shared = !tile.channel<16x64xf16, stages = 2, swizzle_atom = 32, cluster = 2>
!regs = !tile.tile<16x64xf16, registers>
!acc = !tile.tile<16x16xf32, registers>

gpu.module @kernels {
  // Lanes that read a tile themselves are done when they have met, and not when they have multiplied.
  // CHECK-LABEL: gpu.func @read_by_lanes
  // CHECK:      tile.mma
  // CHECK-NEXT: tile.sync_warp
  // CHECK-NEXT: tile.release
  // CHECK:      tile.read
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.release
  gpu.func @read_by_lanes(%p: !tile.tile<64x32xf16, registers>, %v: !tile.tile<32x64xf16, registers>, %acc: !tile.tile<64x64xf32, registers>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %numbers = tile.channel : !tile.channel<1x64xf32, stages = 2, swizzle_atom = 64>
    %a = tile.get %numbers[%c0] : !tile.channel<1x64xf32, stages = 2, swizzle_atom = 64> -> !tile.tile<1x64xf32, shared, #tile.swizzle<vector = 4, bits = 0, shift = 0, swizzle_atom = 64>>
    %x = tile.read %a : !tile.tile<1x64xf32, shared, #tile.swizzle<vector = 4, bits = 0, shift = 0, swizzle_atom = 64>> -> !tile.tile<64xf32, registers>
    %o = tile.mma %p, %v, %acc : !tile.tile<64x32xf16, registers>, !tile.tile<32x64xf16, registers>, !tile.tile<64x64xf32, registers>
    tile.release %numbers[%c0] : !tile.channel<1x64xf32, stages = 2, swizzle_atom = 64>
    %b = tile.get %numbers[%c1] : !tile.channel<1x64xf32, stages = 2, swizzle_atom = 64> -> !tile.tile<1x64xf32, shared, #tile.swizzle<vector = 4, bits = 0, shift = 0, swizzle_atom = 64>>
    %y = tile.read %b : !tile.tile<1x64xf32, shared, #tile.swizzle<vector = 4, bits = 0, shift = 0, swizzle_atom = 64>> -> !tile.tile<64xf32, registers>
    tile.barrier
    tile.release %numbers[%c1] : !tile.channel<1x64xf32, stages = 2, swizzle_atom = 64>
    gpu.return
  }

  // Channels in order, then buffers, each at a multiple of 1024 bytes: 2 x 1280,
  // 3 x 2048, 512 and 2048 bytes. Behind them, at multiples of 8, two barriers for
  // each slot with swizzle atoms, and what tile schedulers keep.
  // CHECK-LABEL: gpu.func @places
  // CHECK-SAME:    tile.shared_bytes = 12400 : i64
  // CHECK-DAG: tile.channel at 0 : <16x40xf16, stages = 2>
  // CHECK-DAG: tile.channel at 3072 barriers at 12288 : <16x64xf16, stages = 3, swizzle_atom = 32>
  // CHECK-DAG: tile.buffer at 10240 : <16x64xf16
  // CHECK-DAG: tile.scheduler at 12352
  // CHECK-DAG: tile.channel at 9216 barriers at 12336 : <8x32xf16, stages = 1, swizzle_atom = 32>
  gpu.func @places() kernel {
    %a = tile.channel : !rows
    %d = tile.scheduler : !tile.scheduler
    %o = tile.buffer : !atom_tile
    %b = tile.channel : !atoms
    %e = tile.channel : !tile.channel<8x32xf16, stages = 1, swizzle_atom = 32>
    gpu.return
  }

  // Tile schedulers have barriers where no channel has.
  // CHECK-LABEL: gpu.func @scheduler_alone
  // CHECK-NEXT: tile.scheduler at 0
  // CHECK-NEXT: tile.fence_barriers
  // CHECK-NEXT: arith.constant
  gpu.func @scheduler_alone() kernel {
    %c0 = arith.constant 0 : index
    %d = tile.scheduler : !tile.scheduler
    gpu.return
  }

  // Nothing is laid out.
  // CHECK-LABEL: gpu.func @nothing
  // CHECK-SAME:    tile.shared_bytes = 0 : i64
  // CHECK-NEXT: gpu.return
  gpu.func @nothing() kernel {
    gpu.return
  }

  // Whoever has barriers moves to the start, in order, and one fence makes all
  // of them usable; what has none stays where it is.
  // CHECK-LABEL: gpu.func @fence
  // CHECK-NEXT: tile.scheduler
  // CHECK-NEXT: tile.channel at 3072
  // CHECK-NEXT: tile.channel at 9216
  // CHECK-NEXT: tile.fence_barriers
  // CHECK-NOT:  tile.fence_barriers
  // CHECK:      scf.if
  // CHECK-NEXT:   tile.channel at 0
  // CHECK-NOT:  tile.fence_barriers
  // CHECK:      gpu.return
  gpu.func @fence(%more: i1) kernel {
    %c0 = arith.constant 0 : index
    scf.if %more {
      %a = tile.channel : !rows
      %b = tile.channel : !atoms
      %d = tile.scheduler : !tile.scheduler
      %c = tile.channel : !atoms
    }
    gpu.return
  }

  // Without swizzle atoms threads meet where a slot that was released is filled again:
  // in the next iteration, but not at the first put, nor where they have met at
  // the get of another channel since.
  // CHECK-LABEL: gpu.func @overwritten
  // CHECK-NOT:  tile.fence_barriers
  // CHECK:      tile.put
  // CHECK:      scf.for
  // CHECK-NEXT:   gpu.barrier
  // CHECK-NEXT:   tile.put
  // CHECK-NEXT:   tile.get
  // CHECK-NOT:    tile.sync_warp
  // CHECK-NEXT:   tile.release
  // CHECK-NEXT: }
  // CHECK-NEXT: scf.for
  // CHECK-NEXT:   tile.get
  // CHECK-NEXT:   tile.put
  // CHECK-NEXT:   tile.release
  // CHECK-NEXT: }
  gpu.func @overwritten(%m: memref<?x40xf16>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a = tile.channel : !rows
    %b = tile.channel : !rows
    tile.put %b[%c0], %m[%c0, %c0] : !rows, memref<?x40xf16>
    scf.for %i = %c0 to %n step %c1 {
      tile.put %a[%i], %m[%i, %c0] : !rows, memref<?x40xf16>
      %t = tile.get %a[%i] : !rows -> !row_tile
      tile.release %a[%i] : !rows
    }
    scf.for %i = %c0 to %n step %c1 {
      %t = tile.get %b[%i] : !rows -> !row_tile
      tile.put %b[%i], %m[%i, %c0] : !rows, memref<?x40xf16>
      tile.release %b[%i] : !rows
    }
    gpu.return
  }

  // A release in a loop or a branch before the put counts.
  // CHECK-LABEL: gpu.func @released_in_a_loop
  // CHECK:      scf.for
  // CHECK:      }
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: tile.put
  // CHECK-NEXT: gpu.return
  gpu.func @released_in_a_loop(%m: memref<?x40xf16>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a = tile.channel : !rows
    scf.for %i = %c0 to %n step %c1 {
      %t = tile.get %a[%i] : !rows -> !row_tile
      tile.release %a[%i] : !rows
    }
    tile.put %a[%n], %m[%c0, %c0] : !rows, memref<?x40xf16>
    gpu.return
  }

  // With swizzle atoms a slot's barriers keep others from it; but the lanes of a warp
  // meet before one of them releases it, unless they have multiplied since.
  // CHECK-LABEL: gpu.func @released
  // CHECK-NOT:  gpu.barrier
  // CHECK:      tile.get
  // CHECK-NEXT: tile.sync_warp
  // CHECK-NEXT: tile.release
  // CHECK-NEXT: tile.get
  // CHECK-NEXT: tile.mma
  // CHECK-NEXT: tile.release
  // CHECK-NEXT: tile.get
  // CHECK-NEXT: tile.mma_async
  // CHECK-NEXT: tile.wait
  // CHECK-NEXT: tile.release
  // What was multiplied before the get says nothing.
  // CHECK-NEXT: tile.mma
  // CHECK-NEXT: tile.get
  // CHECK-NEXT: tile.sync_warp
  // CHECK-NEXT: tile.release
  // CHECK-NOT:  gpu.barrier
  // CHECK:      gpu.return
  gpu.func @released(%m: memref<?x64xf16>, %q: !regs, %acc: !acc) kernel {
    %c0 = arith.constant 0 : index
    %a = tile.channel : !atoms
    tile.put %a[%c0], %m[%c0, %c0] : !atoms, memref<?x64xf16>
    %s = tile.get %a[%c0] : !atoms -> !atom_tile
    tile.release %a[%c0] : !atoms
    %t = tile.get %a[%c0] : !atoms -> !atom_tile
    %x = tile.mma %q, %t, %acc transpose_rhs scope warpgroup : !regs, !atom_tile, !acc
    tile.release %a[%c0] : !atoms
    %u = tile.get %a[%c0] : !atoms -> !atom_tile
    %p = tile.mma_async %q, %u, %acc transpose_rhs scope warpgroup : !regs, !atom_tile, !acc
    %y = tile.wait %p : !tile.pending<!acc>
    tile.release %a[%c0] : !atoms
    %z = tile.mma %q, %t, %acc transpose_rhs scope warpgroup : !regs, !atom_tile, !acc
    %v = tile.get %a[%c0] : !atoms -> !atom_tile
    tile.release %a[%c0] : !atoms
    tile.put %a[%c0], %m[%c0, %c0] : !atoms, memref<?x64xf16>
    gpu.return
  }

  // Workgroups of a cluster end together. Without roles they say so where they
  // end.
  // CHECK-LABEL: gpu.func @cluster
  // CHECK:      tile.release
  // CHECK:      memref.store
  // CHECK-NEXT: tile.arrive_cluster
  // CHECK-NEXT: tile.wait_cluster
  // CHECK-NEXT: gpu.return
  gpu.func @cluster(%x: f16, %m: memref<?xf16>) kernel attributes {known_cluster_size = array<i32: 2, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = tile.channel : !shared
    %s = tile.get %a[%c0] : !shared -> !atom_tile
    tile.release %a[%c0] : !shared
    memref.store %x, %m[%c0] : memref<?xf16>
    gpu.return
  }

  // With roles, all threads of one say so behind the last release of what is
  // shared, or at once where they release none of it; one thread that loads has
  // nothing to say.
  // CHECK-LABEL: gpu.func @roles_of_a_cluster
  // CHECK:      tile.specialize <"compute", warps = 4> {
  // CHECK-NEXT:   scf.for
  // CHECK:          tile.release
  // CHECK-NEXT:   }
  // CHECK-NEXT:   tile.arrive_cluster
  // CHECK-NEXT:   tile.get
  // CHECK-NEXT:   tile.sync_warp
  // CHECK-NEXT:   tile.release
  // CHECK-NEXT: }, <"load", warps = 1, threads = one> {
  // CHECK-NEXT:   tile.put
  // CHECK-NEXT: }, <"store", warps = 4> {
  // CHECK-NEXT:   tile.arrive_cluster
  // CHECK-NEXT:   memref.store
  // CHECK-NEXT: }
  // CHECK-NEXT: tile.wait_cluster
  // CHECK-NEXT: gpu.return
  gpu.func @roles_of_a_cluster(%x: f16, %m: memref<?x64xf16>, %out: memref<?xf16>, %n: index) kernel
      attributes {known_cluster_size = array<i32: 2, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a = tile.channel : !shared
    %own = tile.channel : !atoms
    tile.specialize <"compute", warps = 4> {
      scf.for %i = %c0 to %n step %c1 {
        %s = tile.get %a[%i] : !shared -> !atom_tile
        tile.release %a[%i] : !shared
      }
      %t = tile.get %own[%c0] : !atoms -> !atom_tile
      tile.release %own[%c0] : !atoms
    }, <"load", warps = 1, threads = one> {
      tile.put %a[%c0], %m[%c0, %c0] : !shared, memref<?x64xf16>
    }, <"store", warps = 4> {
      memref.store %x, %out[%c0] : memref<?xf16>
    }
    gpu.return
  }

  // A cluster of one workgroup has nobody to wait for.
  // CHECK-LABEL: gpu.func @alone
  // CHECK-NOT: tile.wait_cluster
  // CHECK: gpu.return
  gpu.func @alone() kernel attributes {known_cluster_size = array<i32: 1, 1, 1>} {
    %a = tile.channel : !atoms
    gpu.return
  }
}
