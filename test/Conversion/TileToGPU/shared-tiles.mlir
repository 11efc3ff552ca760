// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles that warpgroups write to shared memory, multiply and store from there.
//
// RUN: attune-opt %s \
// RUN:   --pass-pipeline="builtin.module(attune-attach-target{chip=sm_90a},gpu.module(gpu.func(tile-allocate-shared)),convert-tile-to-gpu,cse)" \
// RUN:   | FileCheck %s

// Of the accumulator of an MMA of a warpgroup.
#wide = #tile.layout<registers = [[2, 1, 1], [2, 0, 8], [12, 1, 8]], lanes = [[4, 1, 2], [8, 0, 1]], warps = [[8, 0, 16]]>
#narrow = #tile.layout<registers = [[2, 1, 1], [2, 0, 8], [4, 1, 8]], lanes = [[4, 1, 2], [8, 0, 1]], warps = [[4, 0, 16]]>
!o = !tile.tile<128x96xf16, registers, #wide>
!p = !tile.tile<64x32xf16, registers, #narrow>
!place = !tile.tile<128x96xf16, shared, #tile.swizzle<vector = 8, bits = 2, shift = 1, swizzle_atom = 32>>
!slot = !tile.tile<64x32xf16, shared, #tile.swizzle<vector = 8, bits = 2, shift = 1, swizzle_atom = 32>>

!b = !tile.tile<64x32xf8E4M3FN, registers, #narrow>
!bytes = !tile.tile<64x32xf8E4M3FN, shared, #tile.swizzle<vector = 16, bits = 1, shift = 2, swizzle_atom = 32>>

#halves = #tile.layout<registers = [[2, 1, 1], [2, 0, 8], [4, 1, 8]], lanes = [[4, 1, 2], [8, 0, 1]], warps = [[4, 0, 16], [2, 1, 32]]>
!halves = !tile.tile<64x64xf32, registers, #halves>
#keys = #tile.layout<registers = [[2, 1, 1], [2, 0, 8], [4, 1, 8]], lanes = [[4, 1, 2], [8, 0, 1]], warps = [[4, 0, 16], [2, 0, 64]]>
!keys = !tile.tile<128x32xf32, registers, #keys>
!queries = !tile.tile<32x128xf32, shared, #tile.swizzle<vector = 4, bits = 3, shift = 0, swizzle_atom = 32>>
!sums = !tile.tile<64x64xf32, shared, #tile.swizzle<vector = 4, bits = 3, shift = 0, swizzle_atom = 32>>

module attributes {gpu.container_module} {
gpu.module @kernels {
  // One of two places, by turns.
  // CHECK-LABEL: gpu.func @by_turns
  // CHECK-SAME:    %[[I:[^ ]+]]: index
  // CHECK-DAG:   %[[EVEN:.+]] = memref.subview %{{.+}}[%c0, 0, 0] [1, 64, 32]
  // CHECK-DAG:   %[[ODD:.+]] = memref.subview %{{.+}}[%c0, 0, 0] [1, 64, 32]
  // CHECK-DAG:   %[[I32:.+]] = arith.index_cast %[[I]] : index to i32
  // CHECK:       %[[BIT:.+]] = arith.trunci %[[I32]] : i32 to i1
  // CHECK:       arith.select %[[BIT]], %{{.+}}, %{{.+}} : memref<64x32xf16
  gpu.func @by_turns(%i: index, %x: f16) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %even = tile.buffer : !slot
    %odd = tile.buffer : !slot
    %place = tile.alternate %i, %even, %odd : !slot
    %p = tile.fill %x : f16 -> !p
    tile.write %p, %place : !p, !slot
    gpu.return
  }

  // Each of two teams has its own.
  // CHECK-LABEL: gpu.func @of_teams
  // CHECK:       %[[TEAM:.+]] = arith.divui %{{.+}}, %c4
  // CHECK:       memref.subview %{{.+}}[%[[TEAM]], 0, 0] [1, 64, 32] [1, 1, 1] : memref<2x64x32xf16, #gpu.address_space<workgroup>>
  gpu.func @of_teams(%x: f16) kernel attributes {known_block_size = array<i32: 384, 1, 1>} {
    %buffer = tile.buffer : !slot
    tile.specialize <"compute", warps = 8, teams = 2> {
      %p = tile.fill %x : f16 -> !p
      tile.write %p, %buffer : !p, !slot
    }, <"load", warps = 4, threads = one> {
    }
    gpu.return
  }

  // The map of the output has TMA boxes of one group's 64 rows and a swizzle atom.
  // CHECK-LABEL: gpu.func @stored
  // CHECK-SAME:    %[[OUT:[^ ]+]]: memref<3x?x96xf16>, %[[HEAD:[^ ]+]]: index, %[[ROW:[^ ]+]]: index, %{{.+}}: f16, %[[MAP:[^ ]+]]: !nvgpu.tensormap.descriptor<tensor = memref<1x64x32xf16, #gpu.address_space<workgroup>>, swizzle = swizzle_64b
  // CHECK:       %[[PLACE:.+]] = memref.subview %{{.+}}[%c0, 0, 0] [1, 128, 96] [1, 1, 1]
  // What is on its way from the buffer has left it, and the group knows.
  // CHECK:       %[[NUMBER:.+]] = arith.remui %thread_id_x, %c128
  // CHECK:       %[[FIRST:.+]] = arith.cmpi eq, %[[NUMBER]], %c0
  // CHECK:       scf.if %[[FIRST]] {
  // CHECK-NEXT:    nvvm.cp.async.bulk.commit.group
  // CHECK-NEXT:    nvvm.cp.async.bulk.wait_group 0 {read}
  // CHECK-NEXT:  }
  // CHECK:       %[[GROUP:.+]] = arith.divui %{{.+}}, %c4 :
  // Barriers 1 and 2 are those of ping-pong.
  // CHECK:       %[[BARRIER:.+]] = arith.addi %[[GROUP]], %c3
  // CHECK:       nvvm.barrier id = %{{.+}} number_of_threads = %c128_i32
  // A lane gives the place of a row of one of four matrices: of a row of its warp, in the left or right eight of 16 columns.
  // CHECK:       %[[LANE:.+]] = arith.remui %thread_id_x, %c32
  // CHECK:       %[[INROW:.+]] = arith.remui %[[LANE]], %c16
  // CHECK:       %[[RIGHT:.+]] = arith.divui %[[LANE]], %c16
  // CHECK:       arith.muli %[[RIGHT]], %c8
  // CHECK-COUNT-6: nvvm.stmatrix %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<row>
  // CHECK-NOT:   nvvm.stmatrix
  // CHECK:       nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
  // CHECK:       nvvm.barrier id = %{{.+}} number_of_threads = %c128_i32
  // One thread of a group stores its rows, a TMA box for each of three swizzle atoms.
  // CHECK:       %[[ROWS:.+]] = arith.muli %{{.+}}, %c64
  // CHECK:       scf.if %[[FIRST]] {
  // CHECK:         arith.addi %[[ROW]], %[[ROWS]]
  // CHECK:         %[[START:.+]] = arith.muli %[[ROWS]], %c32
  // CHECK:         nvvm.cp.async.bulk.tensor.global.shared.cta %{{.+}}, %{{.+}}, box[%c0_i32,
  // CHECK:         arith.addi %[[START]], %c4096
  // CHECK:         nvvm.cp.async.bulk.tensor.global.shared.cta %{{.+}}, %{{.+}}, box[%c32_i32,
  // CHECK:         arith.addi %[[START]], %c8192
  // CHECK:         nvvm.cp.async.bulk.tensor.global.shared.cta %{{.+}}, %{{.+}}, box[%c64_i32,
  // CHECK:       }
  // Nobody has to know at the end.
  // CHECK:       scf.if %[[FIRST]] {
  // CHECK:         nvvm.cp.async.bulk.wait_group 0 {read}
  // CHECK-NEXT:  }
  // CHECK-NEXT:  gpu.return
  gpu.func @stored(%out: memref<3x?x96xf16>, %head: index, %row: index, %x: f16) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %place = tile.buffer : !place
    %o = tile.fill %x : f16 -> !o
    %rows = memref.dim %out, %c1 : memref<3x?x96xf16>
    %view = memref.subview %out[%head, 0, 0] [1, %rows, 96] [1, 1, 1] : memref<3x?x96xf16> to memref<?x96xf16, strided<[96, 1], offset: ?>>
    %none = tile.done
    tile.wait_reads %none : !tile.token
    tile.write %o, %place : !o, !place
    %stored = tile.store_async %place, %view[%row, %c0] : !place, memref<?x96xf16, strided<[96, 1], offset: ?>>
    tile.wait_reads %stored : !tile.token
    gpu.return
  }

  // Those of 8 bits go in pairs as well, whose words neighbouring lanes share.
  // CHECK-LABEL: gpu.func @bytes
  // CHECK-NOT:   nvvm.stmatrix
  // CHECK-COUNT-8: vector.store %{{.+}} {alignment = 2 : i64} : memref<{{.*}}xf8E4M3FN, {{.*}}>, vector<2xf8E4M3FN>
  // CHECK-NOT:   vector.store
  // CHECK:       gpu.return
  gpu.func @bytes(%out: memref<?x32xf8E4M3FN>, %x: f8E4M3FN) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %place = tile.buffer : !bytes
    %t = tile.fill %x : f8E4M3FN -> !b
    tile.write %t, %place : !b, !bytes
    %stored = tile.store_async %place, %out[%c0, %c0] : !bytes, memref<?x32xf8E4M3FN>
    tile.wait_reads %stored : !tile.token
    gpu.return
  }

  // Numbers of 32 bits go in pairs, those of odd rows the other way round. Groups that share rows have columns of their own, an
  // atom each, which is added to memory. All warps of a role meet at the barrier behind those of its groups.
  // CHECK-LABEL: gpu.func @added
  // CHECK-SAME:    !nvgpu.tensormap.descriptor<tensor = memref<64x32xf32, #gpu.address_space<workgroup>>, swizzle = swizzle_128b
  // CHECK:       %[[ODD:.+]] = arith.cmpi ne
  // CHECK:       arith.select %[[ODD]], %{{.+}}, %{{.+}} : index
  // CHECK:       arith.select %[[ODD]], %{{.+}}, %{{.+}} : vector<2xf32>
  // CHECK-COUNT-8: vector.store %{{.+}} {alignment = 8 : i64} : memref<{{.*}}>, vector<2xf32>
  // CHECK-NOT:   vector.store
  // CHECK:       nvvm.fence.proxy
  // CHECK-NOT:   nvvm.barrier id = %{{.+}} number_of_threads = %c128_i32
  // CHECK:       nvvm.barrier id = %c5_i32 number_of_threads = %c256_i32
  // CHECK:       %[[COLUMN:.+]] = arith.muli %{{.+}}, %c32
  // CHECK:       arith.muli %[[COLUMN]], %c64
  // CHECK:       nvvm.cp.async.bulk.tensor.reduce
  // CHECK-NOT:   nvvm.cp.async.bulk.tensor
  // CHECK:       gpu.return
  gpu.func @added(%out: memref<64x64xf32>, %x: f32) kernel
      attributes {known_block_size = array<i32: 384, 1, 1>} {
    %place = tile.buffer : !sums
    tile.specialize <"compute", warps = 8> {
      %c0 = arith.constant 0 : index
      %o = tile.fill %x : f32 -> !halves
      tile.write %o, %place : !halves, !sums
      tile.barrier
      %stored = tile.store_async %place, %out[%c0, %c0] accumulate : !sums, memref<64x64xf32>
      tile.wait_reads %stored : !tile.token
    }, <"load", warps = 4, threads = one> {
    }
    gpu.return
  }

  // Rows of a transpose are columns of what is stored: each of two groups has those of two atoms, of which a warp has half of one.
  // Elements go one by one, those that a lane has of a row into neighbouring rows.
  // CHECK-LABEL: gpu.func @transposed
  // CHECK-SAME:    !nvgpu.tensormap.descriptor<tensor = memref<32x32xf32, #gpu.address_space<workgroup>>, swizzle = swizzle_128b
  // CHECK:       %[[IN:.+]] = arith.remui %[[COLUMN:.+]], %c32
  // CHECK:       %[[ATOM:.+]] = arith.subi %[[COLUMN]], %[[IN]]
  // CHECK:       arith.muli %[[ATOM]], %c32
  // CHECK-COUNT-16: memref.store %{{.+}} : memref<4096xf32, {{.*}}>
  // CHECK-NOT:   memref.store
  // CHECK:       nvvm.fence.proxy
  // CHECK:       nvvm.barrier id = %{{.+}} number_of_threads = %c128_i32
  // CHECK:       arith.muli %{{.+}}, %c64
  // CHECK-COUNT-2: nvvm.cp.async.bulk.tensor.reduce
  // CHECK-NOT:   nvvm.cp.async.bulk.tensor
  // CHECK:       gpu.return
  gpu.func @transposed(%out: memref<32x128xf32>, %x: f32) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %place = tile.buffer : !queries
    %o = tile.fill %x : f32 -> !keys
    tile.write %o, %place transposed : !keys, !queries
    %stored = tile.store_async %place, %out[%c0, %c0] accumulate : !queries, memref<32x128xf32>
    tile.wait_reads %stored : !tile.token
    gpu.return
  }

  // Nor where a slot is released: it is free when all warps have, the one that has waited among them.
  // CHECK-LABEL: gpu.func @released
  // CHECK:       nvvm.barrier id
  // CHECK:       nvvm.cp.async.bulk.tensor.global.shared.cta
  // CHECK:       nvvm.cp.async.bulk.wait_group 0 {read}
  // CHECK-NOT:   nvvm.barrier
  // CHECK:       nvvm.mbarrier.arrive
  gpu.func @released(%out: memref<64x32xf16>, %x: f16) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c = tile.channel : !tile.channel<64x32xf16, stages = 1, swizzle_atom = 32>
    %slot = tile.get %c[%c0] : !tile.channel<64x32xf16, stages = 1, swizzle_atom = 32> -> !slot
    %o = tile.fill %x : f16 -> !p
    tile.write %o, %slot : !p, !slot
    %stored = tile.store_async %slot, %out[%c0, %c0] : !slot, memref<64x32xf16>
    tile.wait_reads %stored : !tile.token
    tile.release %c[%c0] : !tile.channel<64x32xf16, stages = 1, swizzle_atom = 32>
    gpu.return
  }
}
}
