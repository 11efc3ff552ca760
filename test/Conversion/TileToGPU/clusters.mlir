// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Channels that the workgroups of a cluster share: each copies half of the rows
// to both, and waits for the warps of both.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(attune-attach-target{chip=sm_90a},gpu.module(gpu.func(tile-allocate-shared)),convert-tile-to-gpu,cse)" | FileCheck %s

#swizzle = #tile.swizzle<vector = 8, bits = 2, shift = 1, swizzle_atom = 32>
!own = !tile.channel<32x64xf16, stages = 2, swizzle_atom = 32>
!channel = !tile.channel<32x64xf16, stages = 2, swizzle_atom = 32, cluster = 2>
!shared = !tile.tile<32x64xf16, shared, #swizzle>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @share
  // CHECK-SAME:    %[[M:[^ ]+]]: memref<?x64xf16>, %[[ROW:[^ ]+]]: index, %[[E:[^ ]+]]: index,
  // CHECK-SAME:    tensor = memref<32x32xf16,
  // CHECK-SAME:    tensor = memref<16x32xf16,
  // The barriers of the own channel wait for 8 warps, those of the shared one for 16, and all are ready when the
  // cluster has met.
  // CHECK-COUNT-2: nvvm.mbarrier.init %{{.+}}, %c1_i32
  // CHECK-COUNT-2: nvvm.mbarrier.init %{{.+}}, %c8_i32
  // CHECK-COUNT-2: nvvm.mbarrier.init %{{.+}}, %c1_i32
  // CHECK-COUNT-2: nvvm.mbarrier.init %{{.+}}, %c16_i32
  // CHECK:       nvvm.fence.mbarrier.init
  // CHECK-NEXT:  nvvm.cluster.arrive.relaxed
  // CHECK-NEXT:  nvvm.cluster.wait
  // CHECK-NOT:   gpu.barrier
  // CHECK:         nvvm.mbarrier.arrive.expect_tx %{{.+}}, %c4096_i32
  // CHECK-COUNT-2: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.+}}box[%{{[^]]+}}] :
  // The whole tile is expected, and half of it copied, 16 rows further in the tensor and 16 rows of 32 columns in the
  // slot for the second workgroup.
  // CHECK:         nvvm.mbarrier.arrive.expect_tx %{{.+}}, %c4096_i32
  // CHECK:         %[[RANK:.+]] = gpu.cluster_block_id x
  // CHECK:         %[[SHARE:.+]] = arith.muli %[[RANK]], %c16
  // CHECK:         %[[FIRST:.+]] = arith.addi %[[ROW]], %[[SHARE]]
  // CHECK:         %[[PLACE:.+]] = arith.muli %[[SHARE]], %c32
  // CHECK:         arith.addi %{{.+}}, %[[PLACE]]
  // CHECK:         %[[ROW32:.+]] = arith.index_cast %[[FIRST]]
  // CHECK:         nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.+}}box[%c0_i32, %[[ROW32]]] multicast_mask = %c3_i16
  // CHECK:         nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.+}}box[%c32_i32, %[[ROW32]]] multicast_mask = %c3_i16
  // Lane 0 of a warp releases the own workgroup's slot of the one channel; of the other, lanes 0 and 1 one of each.
  // CHECK:       %[[LANE:.+]] = arith.remui %thread_id_x, %c32
  // CHECK:       %[[IS0:.+]] = arith.cmpi eq, %[[LANE]], %c0
  // CHECK:       scf.if %[[IS0]]
  // CHECK:         nvvm.mbarrier.arrive %{{.+}} : !llvm.ptr<3>
  // CHECK:       %[[ARRIVES:.+]] = arith.cmpi ult, %[[LANE]], %c2
  // CHECK:       scf.if %[[ARRIVES]]
  // CHECK:         %[[LANE32:.+]] = arith.index_cast %[[LANE]]
  // CHECK:         %[[THERE:.+]] = nvvm.mapa %{{.+}}, %[[LANE32]] : !llvm.ptr<3> -> !llvm.ptr<7>
  // CHECK:         nvvm.mbarrier.arrive %[[THERE]] : !llvm.ptr<7>
  // No workgroup ends before the other is done with its memory.
  // CHECK:       nvvm.cluster.arrive
  // CHECK-NEXT:  nvvm.cluster.wait
  // CHECK-NEXT:  gpu.return
  gpu.func @share(%m: memref<?x64xf16>, %row: index, %e: index) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c = tile.channel : !own
    %d = tile.channel : !channel
    tile.put %c[%e], %m[%row, %c0] : !own, memref<?x64xf16>
    tile.put %d[%e], %m[%row, %c0] : !channel, memref<?x64xf16>
    %s = tile.get %c[%e] : !own -> !shared
    tile.release %c[%e] : !own
    %t = tile.get %d[%e] : !channel -> !shared
    tile.release %d[%e] : !channel
    gpu.return
  }

  // Producers say that they are done behind the program of the lane that copies, and consumers behind the last loop
  // that releases what is shared. Whoever ends waits for all.
  // CHECK-LABEL: gpu.func @roles
  // CHECK:       nvvm.cluster.arrive.relaxed
  // CHECK-NEXT:  nvvm.cluster.wait
  // CHECK:       scf.if
  // CHECK:         nvvm.elect.sync
  // CHECK-COUNT-2:   multicast_mask
  // CHECK-NEXT:      }
  // CHECK-NEXT:    }
  // CHECK-NEXT:    nvvm.cluster.arrive{{$}}
  // CHECK-NEXT:  } else {
  // CHECK:         scf.for
  // CHECK:           nvvm.mapa
  // CHECK-NEXT:      nvvm.mbarrier.arrive
  // CHECK-NEXT:      }
  // CHECK-NEXT:    }
  // CHECK-NEXT:    nvvm.cluster.arrive{{$}}
  // CHECK-NEXT:    memref.store
  // CHECK-NEXT:  }
  // CHECK-NEXT:  nvvm.cluster.wait
  // CHECK-NEXT:  gpu.return
  gpu.func @roles(%m: memref<?x64xf16>, %e: index, %out: memref<?xf16>, %x: f16) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c = tile.channel : !channel
    tile.specialize <"compute", warps = 4> {
      scf.for %i = %c0 to %e step %c1 {
        %t = tile.get %c[%i] : !channel -> !shared
        tile.release %c[%i] : !channel
      }
      memref.store %x, %out[%c0] : memref<?xf16>
    }, <"load", warps = 4, threads = one> {
      tile.put %c[%c0], %m[%c0, %c0] : !channel, memref<?x64xf16>
    }
    gpu.return
  }
}
