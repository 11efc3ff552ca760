// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two programs for the warps of a workgroup, and ping-pong.
//
// RUN: attune-opt %s --allow-unregistered-dialect --pass-pipeline="builtin.module(attune-attach-target{chip=sm_90a},gpu.module(gpu.func(tile-allocate-shared)),convert-tile-to-gpu,cse)" | FileCheck %s

#swizzle = #tile.swizzle<vector = 8, bits = 2, shift = 1, swizzle_atom = 32>
!channel = !tile.channel<16x64xf16, stages = 2, swizzle_atom = 32>
!shared = !tile.tile<16x64xf16, shared, #swizzle>

gpu.module @kernels {
  // Of 12 warps the last 4 produce; one thread of the first of those does it all.
  // The barrier that says empty waits for the other 8.
  // CHECK-LABEL: gpu.func @specialize
  // CHECK:     scf.if
  // CHECK-COUNT-2: nvvm.mbarrier.init %{{.+}}, %c1_i32
  // CHECK-COUNT-2: nvvm.mbarrier.init %{{.+}}, %c8_i32
  // CHECK:     %[[NUMBER:.+]] = arith.divui %thread_id_x, %c32
  // CHECK:     %[[NUMBER32:.+]] = arith.index_cast %[[NUMBER]]
  // CHECK:     %[[UNIFORM:.+]] = nvvm.shfl.sync idx %{{.+}}, %[[NUMBER32]], %c0_i32
  // CHECK:     %[[WARP:.+]] = arith.index_cast %[[UNIFORM]]
  // CHECK:     %[[PRODUCES:.+]] = arith.cmpi uge, %[[WARP]], %c8
  // CHECK:     scf.if %[[PRODUCES]] {
  // CHECK-NEXT:  nvvm.setmaxregister decrease 24
  // CHECK-NEXT:  %[[FIRST:.+]] = arith.cmpi eq, %[[WARP]], %c8
  // CHECK-NEXT:  scf.if %[[FIRST]] {
  // CHECK-NEXT:    %[[LANE:.+]] = nvvm.elect.sync
  // CHECK-NEXT:    scf.if %[[LANE]] {
  // The lane is chosen: there is no other test.
  // CHECK-NOT:       scf.if
  // CHECK:           nvvm.mbarrier.try_wait.parity
  // CHECK-COUNT-2:   nvvm.cp.async.bulk.tensor
  // CHECK:     } else {
  // CHECK-NEXT:  nvvm.setmaxregister increase 240
  // CHECK:       nvvm.mbarrier.try_wait.parity
  // CHECK:       nvvm.mbarrier.arrive %
  // CHECK:     }
  // CHECK-NEXT: }
  // CHECK-NEXT: gpu.return
  gpu.func @specialize(%m: memref<64x64xf16>) kernel attributes {known_block_size = array<i32: 384, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c = tile.channel : !channel
    tile.specialize <"compute", warps = 8, registers = 240> {
      %s = tile.get %c[%c0] : !channel -> !shared
      tile.release %c[%c0] : !channel
    }, <"load", warps = 4, registers = 24, threads = one> {
      tile.put %c[%c0], %m[%c0, %c0] : !channel, memref<64x64xf16>
    }
    gpu.return
  }

  // Two teams of 4 warps. Each runs the program, of whose elements some are released by both and others by the one whose turn
  // it is: that is the number of a warp by 4. Team t waits for the other one at barrier 1 + t; its own is 5 + t.
  // CHECK-LABEL: gpu.func @teams
  // CHECK-SAME:    %{{.+}}: memref<64x64xf16>, %[[N:[^ ]+]]: index
  // CHECK-COUNT-2: nvvm.mbarrier.init %{{.+}}, %c1_i32
  // CHECK-COUNT-2: nvvm.mbarrier.init %{{.+}}, %c4_i32
  // CHECK-COUNT-2: nvvm.mbarrier.init %{{.+}}, %c1_i32
  // CHECK-COUNT-2: nvvm.mbarrier.init %{{.+}}, %c8_i32
  // CHECK:       nvvm.setmaxregister decrease 40
  // A role of one thread has one team.
  // CHECK:       "test.use"(%true)
  // CHECK:       nvvm.setmaxregister increase 232
  // CHECK:       nvvm.barrier.arrive id = %c1_i32 number_of_threads = %c256_i32
  // CHECK:       %[[NUMBER:.+]] = arith.remui %[[N]], %c2
  // CHECK:       %[[TEAM:.+]] = arith.divui %{{.+}}, %c4
  // CHECK-NEXT:  %[[TURN:.+]] = arith.cmpi eq, %[[NUMBER]], %[[TEAM]]
  // CHECK-NEXT:  scf.if %[[TURN]] {
  // CHECK:         arith.addi %{{.+}}, %c1
  // CHECK:         nvvm.barrier id = %{{.+}} number_of_threads = %c256_i32
  // CHECK:         nvvm.mbarrier.try_wait.parity
  // CHECK:         nvvm.barrier.arrive id = %{{.+}} number_of_threads = %c256_i32
  // CHECK:         nvvm.mbarrier.arrive
  // CHECK:         %[[GROUP:.+]] = arith.divui %{{.+}}, %c4
  // CHECK:         %[[OWN:.+]] = arith.addi %[[GROUP]], %c5
  // CHECK-NEXT:    %[[OWN32:.+]] = arith.index_cast %[[OWN]]
  // CHECK:         nvvm.barrier id = %[[OWN32]] number_of_threads = %c128_i32
  gpu.func @teams(%m: memref<64x64xf16>, %n: index) kernel attributes {known_block_size = array<i32: 384, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c = tile.channel : !channel
    %all = tile.channel : !channel
    tile.specialize <"compute", warps = 8, registers = 232, teams = 2> {
      tile.ping_pong_init of 2
      %b = tile.get %all[%c0] : !channel -> !shared
      tile.release %all[%c0] : !channel
      %turn = tile.is_turn %n
      scf.if %turn {
        tile.ping_pong_wait of 2
        %s = tile.get %c[%c0] : !channel -> !shared
        tile.ping_pong_arrive of 2
        tile.release %c[%c0] : !channel
        tile.barrier
      }
    }, <"load", warps = 4, registers = 40, threads = one> {
      tile.put %c[%c0], %m[%c0, %c0] : !channel, memref<64x64xf16>
      tile.put %all[%c0], %m[%c0, %c0] : !channel, memref<64x64xf16>
      %turn = tile.is_turn %n
      "test.use"(%turn) : (i1) -> ()
    }
    gpu.return
  }

  // One warp produces, and nobody gets other registers.
  // CHECK-LABEL: gpu.func @one_warp
  // CHECK: %[[PRODUCES:.+]] = arith.cmpi uge, %{{.+}}, %c4
  // CHECK: scf.if %[[PRODUCES]]
  // CHECK-NOT: nvvm.setmaxregister
  // CHECK: gpu.return
  gpu.func @one_warp(%m: memref<64x64xf16>) kernel attributes {known_block_size = array<i32: 160, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c = tile.channel : !channel
    tile.specialize <"compute", warps = 4> {
      %s = tile.get %c[%c0] : !channel -> !shared
      tile.release %c[%c0] : !channel
    }, <"load", warps = 1, threads = one> {
      tile.put %c[%c0], %m[%c0, %c0] : !channel, memref<64x64xf16>
    }
    gpu.return
  }

  // Group g of three, of 4 warps each, waits at barrier 1 + g for the group
  // before it: 256 threads. The last group lets the first one start.
  // CHECK-LABEL: gpu.func @ping_pong
  // CHECK:     %[[WARP:.+]] = arith.divui %thread_id_x, %c32
  // CHECK:     %[[GROUP:.+]] = arith.divui %{{.+}}, %c4
  // CHECK:     %[[LAST:.+]] = arith.cmpi eq, %[[GROUP]], %c2
  // CHECK-NEXT: scf.if %[[LAST]]
  // CHECK:       nvvm.barrier.arrive id = %c1_i32 number_of_threads = %c256_i32
  // CHECK:     %[[GROUP:.+]] = arith.divui %{{.+}}, %c4
  // CHECK:     %[[OWN:.+]] = arith.addi %[[GROUP]], %c1
  // CHECK:     %[[OWN32:.+]] = arith.index_cast %[[OWN]]
  // CHECK:     nvvm.barrier id = %[[OWN32]] number_of_threads = %c256_i32
  // CHECK:     %[[GROUP:.+]] = arith.divui %{{.+}}, %c4
  // CHECK:     %[[LAST:.+]] = arith.cmpi eq, %[[GROUP]], %c2
  // CHECK:     %[[NEXT:.+]] = arith.addi %[[GROUP]], %c2
  // CHECK:     %[[NUMBER:.+]] = arith.select %[[LAST]], %c1, %[[NEXT]]
  // CHECK:     %[[NUMBER32:.+]] = arith.index_cast %[[NUMBER]]
  // CHECK:     nvvm.barrier.arrive id = %[[NUMBER32]] number_of_threads = %c256_i32
  // CHECK-NEXT: gpu.return
  gpu.func @ping_pong() kernel attributes {known_block_size = array<i32: 384, 1, 1>} {
    tile.ping_pong_init of 3
    tile.ping_pong_wait of 3
    tile.ping_pong_arrive of 3
    gpu.return
  }
}
