// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Teams go through all tiles and compute their own. One gets what it needs when the one before has all that it needs.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(gpu.module(gpu.func(tile-take-turns)))" | FileCheck %s

#swizzle = #tile.swizzle<vector = 8, bits = 2, shift = 1, swizzle_atom = 32>
!channel = !tile.channel<64x32xf16, stages = 2, swizzle_atom = 32>
!shared = !tile.tile<64x32xf16, shared, #swizzle>

gpu.module @kernels {
  // Counts are carried on in any case, and what they follow from moves with them; the token is that of the team's own tile
  // before. Producers put all tiles.
  // CHECK-LABEL: gpu.func @turns
  // CHECK-SAME:    %[[M:[^ ]+]]: memref<?x32xf16>, %[[BLOCKS:[^ ]+]]: index
  // CHECK: tile.specialize <"compute", warps = 8, teams = 2> {
  // CHECK:   tile.ping_pong_init of 2
  // CHECK-NEXT: %[[R:.+]]:3 = scf.for %[[T:.+]] = %{{.+}} to %{{.+}} step %{{.+}} iter_args(%[[E:.+]] = %c0, %[[BEFORE:.+]] = %{{.+}}, %[[N:.+]] = %c0{{.*}}) -> (index, !tile.token, index) {
  // CHECK-NEXT: %[[END:.+]] = arith.subi %[[BLOCKS]], %c0
  // CHECK-NEXT: %[[NEXT:.+]] = arith.addi %[[E]], %[[END]]
  // CHECK:      %[[N2:.+]] = arith.addi %[[N]], %{{.+}}
  // CHECK-NEXT: %[[TURN:.+]] = tile.is_turn %[[N]]
  // CHECK-NEXT: %[[TOKEN:.+]] = scf.if %[[TURN]] -> (!tile.token) {
  // CHECK-NEXT:   tile.ping_pong_wait of 2
  // CHECK-NEXT:   scf.for
  // CHECK:          tile.get
  // CHECK:          tile.release
  // CHECK:        }
  // CHECK-NEXT:   tile.ping_pong_arrive of 2
  // CHECK-NEXT:   tile.wait_reads %[[BEFORE]]
  // CHECK-NEXT:   %[[STORED:.+]] = tile.store_async
  // CHECK-NEXT:   scf.yield %[[STORED]]
  // CHECK-NEXT: } else {
  // CHECK-NEXT:   scf.yield %[[BEFORE]]
  // CHECK-NEXT: }
  // CHECK-NEXT: scf.yield %[[NEXT]], %[[TOKEN]], %[[N2]] : index, !tile.token, index
  // CHECK-NEXT: }
  // CHECK-NEXT: tile.wait_reads %[[R]]#1
  // CHECK-NEXT: }, <"load", warps = 4, threads = one> {
  // CHECK:   scf.for
  // CHECK-NOT: tile.is_turn
  // CHECK:     tile.put
  // CHECK-NOT: tile.take_turns
  // CHECK: gpu.return
  gpu.func @turns(%m: memref<?x32xf16>, %blocks: index, %tiles: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c = tile.channel : !channel
    %buffer = tile.buffer : !shared
    %own = gpu.block_id x
    %grid = gpu.grid_dim x
    tile.specialize <"compute", warps = 8, teams = 2> {
      %none = tile.done
      %r:2 = scf.for %t = %own to %tiles step %grid iter_args(%e = %c0, %before = %none) -> (index, !tile.token) {
        scf.for %k = %c0 to %blocks step %c1 {
          %n = arith.addi %e, %k : index
          %s = tile.get %c[%n] : !channel -> !shared
          tile.release %c[%n] : !channel
        }
        tile.wait_reads %before : !tile.token
        %stored = tile.store_async %buffer, %m[%t, %c0] : !shared, memref<?x32xf16>
        %count = arith.subi %blocks, %c0 : index
        %next = arith.addi %e, %count : index
        scf.yield %next, %stored : index, !tile.token
      } {tile.take_turns}
      tile.wait_reads %r#1 : !tile.token
    }, <"load", warps = 4, threads = one> {
      %r = scf.for %t = %own to %tiles step %grid iter_args(%e = %c0) -> index {
        scf.for %k = %c0 to %blocks step %c1 {
          %n = arith.addi %e, %k : index
          tile.put %c[%n], %m[%t, %c0] : !channel, memref<?x32xf16>
        }
        %next = arith.addi %e, %blocks : index
        scf.yield %next : index
      } {tile.take_turns}
    }
    gpu.return
  }

  // Nothing is carried.
  // CHECK-LABEL: gpu.func @nothing_carried
  // CHECK:      tile.ping_pong_init of 3
  // CHECK:      scf.for %[[T:.+]] = %{{.+}} to %{{.+}} step %{{.+}} iter_args(%[[N:.+]] = %c0{{.*}}) -> (index) {
  // CHECK:        %[[TURN:.+]] = tile.is_turn %[[N]]
  // CHECK-NEXT:   scf.if %[[TURN]] {
  // CHECK-NEXT:     tile.ping_pong_wait of 3
  // CHECK-NEXT:     tile.get %{{.+}}[%[[T]]]
  // CHECK-NEXT:     tile.ping_pong_arrive of 3
  // CHECK-NEXT:     tile.release
  // CHECK-NEXT:   }
  // CHECK-NEXT:   scf.yield
  gpu.func @nothing_carried(%tiles: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c = tile.channel : !channel
    tile.specialize <"compute", warps = 12, teams = 3> {
      scf.for %t = %c0 to %tiles step %c1 {
        %s = tile.get %c[%t] : !channel -> !shared
        tile.release %c[%t] : !channel
      } {tile.take_turns}
    }, <"load", warps = 4, threads = one> {
    }
    gpu.return
  }

  // A role of one team, and a kernel without roles.
  // CHECK-LABEL: gpu.func @one_team
  // CHECK-NOT:  tile.is_turn
  // CHECK-NOT:  tile.take_turns
  // CHECK: gpu.return
  gpu.func @one_team(%tiles: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c = tile.channel : !channel
    scf.for %t = %c0 to %tiles step %c1 {
    } {tile.take_turns}
    tile.specialize <"compute", warps = 8> {
      scf.for %t = %c0 to %tiles step %c1 {
        %s = tile.get %c[%t] : !channel -> !shared
        tile.release %c[%t] : !channel
      } {tile.take_turns}
    }, <"load", warps = 4, threads = one> {
    }
    gpu.return
  }
}
