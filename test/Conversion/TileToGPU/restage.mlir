// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What MMAs of warpgroups want otherwise than it is stored: rows of 8 bits that become columns, matrices of 8x16 bytes, four at a time, whose bytes are taken
// apart in pairs; and rows that are widened, by runs of 8 elements.
//
// RUN: attune-opt %s \
// RUN:   --pass-pipeline="builtin.module(attune-attach-target{chip=sm_90a},gpu.module(gpu.func(tile-assign-layouts,tile-remove-layout-conversions,tile-allocate-shared)),convert-tile-to-gpu,cse)" \
// RUN:   | FileCheck %s

#s64 = #tile.swizzle<vector = 16, bits = 2, shift = 1, swizzle_atom = 64>
#s32 = #tile.swizzle<vector = 16, bits = 1, shift = 2, swizzle_atom = 32>
!channel = !tile.channel<64x64xf8E4M3FN, stages = 1, swizzle_atom = 64>
!rows = !tile.tile<64x64xf8E4M3FN, shared, #s64>
!columns = !tile.channel<64x64xf8E4M3FN, stages = 2, swizzle_atom = 64, paired = true>
!paired = !tile.tile<64x64xf8E4M3FN, shared, #tile.swizzle<vector = 16, bits = 2, shift = 1, swizzle_atom = 64, paired = true>>
!few_channel = !tile.channel<32x96xf8E5M2, stages = 1, swizzle_atom = 32>
!few_rows = !tile.tile<32x96xf8E5M2, shared, #s32>
!few_columns = !tile.channel<96x32xf8E5M2, stages = 1, swizzle_atom = 32>

gpu.module @kernels {
  // Lane l gives the address of row l where pairs alternate. Each of four warps has 16 of 64 columns, and reads both of its
  // units before it writes one. A slot is free when these
  // have released it, and full when these have published what they wrote.
  // CHECK-LABEL: gpu.func @alternating
  // CHECK-COUNT-4: nvvm.mbarrier.init %{{.+}}, %c4_i32
  // CHECK-DAG: %[[LANE:.+]] = arith.remui %thread_id_x, %c32
  // CHECK-DAG: %[[WARP:.+]] = arith.divui %thread_id_x, %c32
  // CHECK: arith.muli %[[WARP]], %c16
  // CHECK: %[[LATER:.+]] = arith.cmpi uge, %[[LANE]], %c16
  // CHECK: %[[FIRST:.+]] = arith.select %[[LATER]], %c30001_i32, %c25632_i32 : i32
  // CHECK: %[[OTHER:.+]] = arith.select %[[LATER]], %c25632_i32, %c30001_i32 : i32
  // CHECK: %[[READ:.+]] = nvvm.ldmatrix %{{.+}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<col>, num = 4 : i32
  // CHECK: nvvm.ldmatrix
  // CHECK: %[[P0:.+]] = llvm.extractvalue %[[READ]][0]
  // CHECK: %[[P1:.+]] = llvm.extractvalue %[[READ]][1]
  // CHECK: %[[P2:.+]] = llvm.extractvalue %[[READ]][2]
  // CHECK: %[[P3:.+]] = llvm.extractvalue %[[READ]][3]
  // CHECK: %[[W0:.+]] = nvvm.prmt <default> %[[FIRST]], %[[P0]], %[[P1]] : i32
  // CHECK: %[[W1:.+]] = nvvm.prmt <default> %[[OTHER]], %[[P0]], %[[P1]] : i32
  // CHECK: %[[W2:.+]] = nvvm.prmt <default> %[[FIRST]], %[[P2]], %[[P3]] : i32
  // CHECK: %[[W3:.+]] = nvvm.prmt <default> %[[OTHER]], %[[P2]], %[[P3]] : i32
  // CHECK: nvvm.stmatrix %{{.+}}, %[[W0]], %[[W1]], %[[W2]], %[[W3]] {{.*}}layout = #nvvm.mma_layout<row>
  // CHECK: nvvm.stmatrix
  // CHECK-NOT: nvvm.ldmatrix
  // CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>
  // CHECK: nvvm.bar.warp.sync
  // CHECK: nvvm.mbarrier.arrive
  // CHECK: nvvm.mbarrier.try_wait.parity
  // Weights are renamed by pairs of them, and multiplied as they are.
  // CHECK: vector.bitcast %{{.+}} : vector<32xf8E4M3FN> to vector<16xi16>
  // CHECK: vector.shuffle {{.*}} [0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15] : vector<16xi16>, vector<16xi16>
  // CHECK: wgmma.mma_async{{.*}} <m = 64, n = 64, k = 32>, <e4m3>, D[<zero>], B[<col>]
  // CHECK: wgmma.mma_async{{.*}} <m = 64, n = 64, k = 32>, <e4m3>, D[<one>], B[<col>]
  // CHECK-NOT: wgmma.mma_async
  gpu.func @alternating(%out: memref<64x64xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %c = tile.channel : !channel
    %places = tile.channel : !columns
    %a = tile.get %c[%c0] : !channel -> !rows
    %none = tile.fill %zero : f32 -> !tile.tile<64x64xf32, registers>
    // A lane's weights come from a product.
    %scores = tile.mma %a, %a, %none transpose_rhs scope warpgroup : !rows, !rows, !tile.tile<64x64xf32, registers>
    %p = tile.map(%scores) {
    ^bb0(%x: f32, %i: index, %j: index):
      %y = arith.truncf %x : f32 to f8E4M3FN
      tile.yield %y : f8E4M3FN
    } : (!tile.tile<64x64xf32, registers>) -> !tile.tile<64x64xf8E4M3FN, registers>
    tile.restage %a into %places[%c0] transposed : !rows, !columns
    tile.release %c[%c0] : !channel
    %place = tile.get %places[%c0] : !columns -> !paired
    %d = tile.mma %p, %place, %none transpose_rhs scope warpgroup : !tile.tile<64x64xf8E4M3FN, registers>, !paired, !tile.tile<64x64xf32, registers>
    tile.release %places[%c0] : !columns
    tile.store %d, %out[%c0, %c0] : !tile.tile<64x64xf32, registers>, memref<64x64xf32>
    gpu.return
  }

  // In their own order, lanes give rows 0, 1, 4, 5 and so on, and then 2, 3, 6, 7. Of eight warps, six have something to do.
  // CHECK-LABEL: gpu.func @in_order
  // CHECK: %[[WARP:.+]] = arith.divui %thread_id_x, %c32
  // CHECK: %[[IS:.+]] = arith.cmpi ult, %{{.+}}, %c6
  // CHECK: scf.if %[[IS]] {
  // CHECK:   nvvm.ldmatrix
  // CHECK:   nvvm.stmatrix
  // CHECK: }
  // CHECK-NOT: nvvm.ldmatrix
  // CHECK: nvvm.fence.proxy
  gpu.func @in_order() kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c = tile.channel : !few_channel
    %places = tile.channel : !few_columns
    %a = tile.get %c[%c0] : !few_channel -> !few_rows
    tile.restage %a into %places[%c0] transposed : !few_rows, !few_columns
    tile.release %c[%c0] : !few_channel
    gpu.return
  }

  // A role of three warps, of which each has its own of four columns, and the last one two, at places that are constants. It asks for registers
  // together with the one that loads.
  // CHECK-LABEL: gpu.func @role
  // CHECK: %[[BEHIND:.+]] = arith.cmpi uge, %[[WARP:.+]], %c4
  // CHECK-NEXT: scf.if %[[BEHIND]] {
  // CHECK-NEXT:   nvvm.setmaxregister decrease 24
  // CHECK:        %[[LOADS:.+]] = arith.cmpi uge, %[[WARP]], %c7
  // CHECK-NEXT:   scf.if %[[LOADS]] {
  // CHECK-NOT:      nvvm.setmaxregister
  // CHECK:          nvvm.elect.sync
  // CHECK:        } else {
  // CHECK-NOT:      nvvm.setmaxregister
  // CHECK:          arith.subi %{{.+}}, %c4
  // CHECK:          arith.cmpi eq, %[[OWN:.+]], %c0
  // CHECK-NEXT:     scf.if
  // CHECK-COUNT-2:  nvvm.ldmatrix
  // CHECK:          arith.cmpi eq, %[[OWN]], %c1
  // CHECK-NEXT:     scf.if
  // CHECK-COUNT-2:  nvvm.ldmatrix
  // CHECK:          arith.cmpi eq, %[[OWN]], %c2
  // CHECK-NEXT:     scf.if
  // CHECK-COUNT-4:  nvvm.ldmatrix
  // CHECK-NOT:      nvvm.ldmatrix
  // CHECK:          nvvm.mbarrier.arrive
  // CHECK:      } else {
  // CHECK-NEXT:   nvvm.setmaxregister increase 240
  gpu.func @role(%m: memref<64x64xf8E4M3FN>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c = tile.channel : !channel
    %places = tile.channel : !columns
    tile.specialize <"compute", warps = 4, registers = 240> {
      %place = tile.get %places[%c0] : !columns -> !paired
      tile.release %places[%c0] : !columns
    }, <"restage", warps = 3, registers = 24> {
      %a = tile.get %c[%c0] : !channel -> !rows
      tile.restage %a into %places[%c0] transposed : !rows, !columns
      tile.release %c[%c0] : !channel
    }, <"load", warps = 1, registers = 24, threads = one> {
      tile.put %c[%c0], %m[%c0, %c0] : !channel, memref<64x64xf8E4M3FN>
    }
    gpu.return
  }

  // A lane has runs of 8 in 4 rows of a warp's, of which the first and the last two are 16 rows apart, and writes none before the next four are read.
  // Rows of 64 halves are an atom as those of 64 bytes are.
  // CHECK-LABEL: gpu.func @widened
  // CHECK-DAG: %[[LANE:.+]] = arith.remui %thread_id_x, %c32
  // CHECK-DAG: %[[WARP:.+]] = arith.divui %thread_id_x, %c32
  // CHECK: arith.muli %[[WARP]], %c4
  // CHECK: arith.divui %[[LANE]], %c8
  // CHECK: %[[FROM:.+]] = memref.subview %{{.+}} : memref<4096xf8E4M3FN
  // CHECK: %[[R0:.+]] = vector.load %[[FROM]][%c0] {alignment = 8 : i64}
  // CHECK: %[[R1:.+]] = vector.load %[[FROM]][%c1024] {alignment = 8 : i64}
  // CHECK: vector.load %[[FROM]][%c2048] {alignment = 8 : i64}
  // CHECK: vector.load %[[FROM]][%c3072] {alignment = 8 : i64}
  // CHECK: %[[W0:.+]] = arith.extf %[[R0]] : vector<8xf8E4M3FN> to vector<8xf16>
  // CHECK: %[[TO:.+]] = memref.subview %{{.+}} : memref<4096xf16
  // CHECK: vector.store %[[W0]], %[[TO]][%c0] {alignment = 16 : i64}
  // CHECK: %[[W1:.+]] = arith.extf %[[R1]] : vector<8xf8E4M3FN> to vector<8xf16>
  // CHECK: vector.store %[[W1]], %[[TO]][%c1024] {alignment = 16 : i64}
  // CHECK-COUNT-2: vector.store {{.*}} vector<8xf16>
  // CHECK-NOT: vector.store
  // CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>
  // CHECK: nvvm.mbarrier.arrive
  gpu.func @widened() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c = tile.channel : !channel
    %wide = tile.channel : !tile.channel<64x64xf16, stages = 2, swizzle_atom = 64>
    %a = tile.get %c[%c0] : !channel -> !rows
    tile.restage %a into %wide[%c0] : !rows, !tile.channel<64x64xf16, stages = 2, swizzle_atom = 64>
    gpu.return
  }

  // Bytes of 16 rows are two runs of one lane each; one of three warps has them. The lower bits become the first half of the columns.
  // CHECK-LABEL: gpu.func @unpacked
  // CHECK: %[[HAS:.+]] = arith.cmpi ult, %{{.+}}, %c1
  // CHECK: scf.if %[[HAS]] {
  // CHECK: %[[BYTES:.+]] = vector.load {{.*}} vector<8xi8>
  // CHECK: %[[LEFT:.+]] = arith.shli %[[BYTES]], %{{.+}} : vector<8xi8>
  // CHECK: %[[LOWER:.+]] = arith.shrsi %[[LEFT]], %{{.+}} : vector<8xi8>
  // CHECK: %[[L:.+]] = arith.sitofp %[[LOWER]] : vector<8xi8> to vector<8xbf16>
  // CHECK: vector.store %[[L]]
  // CHECK: %[[UPPER:.+]] = arith.shrsi %[[BYTES]], %{{.+}} : vector<8xi8>
  // CHECK: %[[U:.+]] = arith.sitofp %[[UPPER]] : vector<8xi8> to vector<8xbf16>
  // CHECK: vector.store %[[U]]
  // CHECK-NOT: vector.store
  gpu.func @unpacked() kernel attributes {known_block_size = array<i32: 96, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c = tile.channel : !tile.channel<16x16xi8, stages = 1, swizzle_atom = 16>
    %wide = tile.channel : !tile.channel<16x32xbf16, stages = 2, swizzle_atom = 32>
    %a = tile.get %c[%c0] : !tile.channel<16x16xi8, stages = 1, swizzle_atom = 16> -> !tile.tile<16x16xi8, shared, #tile.swizzle<vector = 16, bits = 0, shift = 3, swizzle_atom = 16>>
    tile.restage %a into %wide[%c0] packed : !tile.tile<16x16xi8, shared, #tile.swizzle<vector = 16, bits = 0, shift = 3, swizzle_atom = 16>>, !tile.channel<16x32xbf16, stages = 2, swizzle_atom = 32>
    gpu.return
  }
}
