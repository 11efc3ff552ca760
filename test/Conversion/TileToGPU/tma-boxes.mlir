// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Channels with swizzle atoms: barriers, tensor maps, copies of boxes.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(attune-attach-target{chip=sm_90a},gpu.module(gpu.func(tile-allocate-shared)),convert-tile-to-gpu,cse)" | FileCheck %s

#swizzle = #tile.swizzle<vector = 8, bits = 2, shift = 1, swizzle_atom = 32>
!channel = !tile.channel<16x64xf16, stages = 2, swizzle_atom = 32>
!shared = !tile.tile<16x64xf16, shared, #swizzle>
!pairs = !tile.tile<16x64xf16, registers, #tile.layout<registers = [[2, 1, 1], [2, 0, 8], [8, 1, 8]], lanes = [[4, 1, 2], [8, 0, 1]], warps = [[4, 0, 0]]>>
!view = memref<?x64xf16, strided<[64, 1], offset: ?>>

module attributes {gpu.container_module} {
gpu.module @kernels {
  // The map is a view's whole tensor, with a TMA box of a swizzle atom in the dimensions of its rows and columns. It goes to the
  // end of the arguments, of the launch and of the manifest. Two slots of 2048 bytes for each of two channels, and
  // four barriers of 8 bytes for each behind them.
  // CHECK-LABEL: gpu.func @boxes
  // CHECK-SAME:    %[[ROW:[^ ]+]]: index, %[[E:[^ ]+]]: index, %[[MORE:[^ ]+]]: i1, %[[MAP:[^ ]+]]: !nvgpu.tensormap.descriptor<tensor = memref<1x16x32xf16, #gpu.address_space<workgroup>>, swizzle = swizzle_64b, {{.*}}oob = zero
  // CHECK-SAME:    #launch.buffer<name = "m", type = memref<2x?x64xf16>, access = read>,
  // CHECK-SAME:    #launch.tensor_map<name = "m_map", of = 0, box = [1, 16, 32], swizzle = 64>]
  // CHECK-SAME:    shared_bytes = 8256
  // One thread makes the barriers: those that say full wait for the thread that copies, those that say empty for each
  // of the 8 warps.
  // CHECK:       %[[C8192:.+]] = arith.constant 8192
  // CHECK:       %[[BARRIERS:.+]] = memref.view %{{.+}}[%[[C8192]]][] {{.*}} to memref<4xi64
  // CHECK:       %[[FIRST:.+]] = arith.cmpi eq, %thread_id_x, %c0
  // CHECK:       scf.if %[[FIRST]]
  // CHECK-COUNT-2: nvvm.mbarrier.init %{{.+}}, %c1_i32
  // CHECK-COUNT-2: nvvm.mbarrier.init %{{.+}}, %c8_i32
  // CHECK:       }
  // CHECK:       %[[SLOTS:.+]] = memref.view {{.*}} to memref<2x16x64xf16
  // CHECK-NOT:   gpu.barrier
  // CHECK:       scf.if %[[FIRST]]
  // CHECK-COUNT-4: nvvm.mbarrier.init
  // The last channel makes all of them ready.
  // CHECK:       nvvm.fence.mbarrier.init
  // CHECK-NEXT:  gpu.barrier
  // CHECK:       %[[B:.+]] = gpu.block_id
  //
  // A put waits for the phase before at the barrier that says empty. One TMA box for each swizzle atom.
  // CHECK:       scf.if %[[FIRST]]
  // CHECK-NEXT:    scf.if %[[MORE]]
  // CHECK:           %[[C2:c2.*]] = arith.constant 2 : index
  // CHECK:           %[[E32:.+]] = arith.index_cast %[[E]] : index to i32
  // CHECK:           %[[SLOT32:.+]] = arith.remui %[[E32]], %c2_i32
  // CHECK:           %[[SLOT:.+]] = arith.index_castui %[[SLOT32]]
  // CHECK:           %[[PHASE:.+]] = arith.divui %[[E32]], %c2_i32
  // CHECK:           %[[PARITY32:.+]] = arith.andi %[[PHASE]], %c1_i32
  // CHECK:           %[[PARITY:.+]] = arith.index_castui %[[PARITY32]]
  // CHECK:           %[[EMPTY:.+]] = arith.addi %[[SLOT]], %[[C2]]
  // CHECK:           %[[BEFORE:.+]] = arith.xori %[[PARITY]], %c1
  // CHECK:           arith.muli %[[EMPTY]], %c8
  // CHECK:           %[[BEFORE32:.+]] = arith.index_cast %[[BEFORE]]
  // CHECK:           nvvm.mbarrier.try_wait.parity %{{.+}}, %[[BEFORE32]]
  // CHECK:           arith.muli %[[SLOT]], %c8
  // CHECK:           %[[FULL:.+]] = llvm.inttoptr
  // CHECK:           nvvm.mbarrier.arrive.expect_tx %[[FULL]], %c2048_i32
  // CHECK:           %[[START:.+]] = arith.muli %[[SLOT]], %c1024
  // CHECK:           %[[ROW32:.+]] = arith.index_cast %[[ROW]]
  // CHECK:           %[[B32:.+]] = arith.index_cast %[[B]]
  // CHECK:           arith.muli %[[START]], %[[C2]]
  // CHECK:           nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.+}}, %{{.+}}, %[[FULL]], box[%c0_i32, %[[ROW32]], %[[B32]]]
  // CHECK:           %[[SECOND:.+]] = arith.addi %[[START]], %c512
  // CHECK:           arith.muli %[[SECOND]], %[[C2]]
  // CHECK:           nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.+}}, %{{.+}}, %[[FULL]], box[%c32_i32, %[[ROW32]], %[[B32]]]
  // CHECK-NOT:       nvvm.cp.async.bulk
  // CHECK:       }
  //
  // A get waits for this phase at the barrier that says full, and no lane for another.
  // CHECK:       %[[C2:c2.*]] = arith.constant 2 : index
  // CHECK:       %[[SLOT:.+]] = arith.index_castui
  // CHECK:       arith.andi
  // CHECK:       %[[PARITY:.+]] = arith.index_castui
  // CHECK:       arith.muli %[[SLOT]], %c8
  // CHECK:       %[[PARITY32:.+]] = arith.index_cast %[[PARITY]]
  // CHECK:       nvvm.mbarrier.try_wait.parity %{{.+}}, %[[PARITY32]]
  // One lane of each warp releases, when all have passed the get: nothing has held them together since.
  // CHECK:       nvvm.bar.warp.sync
  // CHECK:       %[[EMPTY:.+]] = arith.addi %[[SLOT]], %[[C2]]
  // CHECK:       %[[LANE:.+]] = arith.remui %thread_id_x, %c32
  // CHECK:       %[[IS0:.+]] = arith.cmpi eq, %[[LANE]], %c0
  // CHECK:       scf.if %[[IS0]]
  // CHECK:         arith.muli %[[EMPTY]], %c8
  // CHECK:         nvvm.mbarrier.arrive %
  // CHECK-NOT:   gpu.barrier
  // CHECK:       gpu.return
  gpu.func @boxes(%m: memref<2x?x64xf16>, %row: index, %e: index, %more: i1) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>, launch.manifest = #launch.manifest<arguments = [
        #launch.buffer<name = "m", type = memref<2x?x64xf16>, access = read>, #launch.scalar<name = "row", type = index>,
        #launch.scalar<name = "element", type = index>, #launch.scalar<name = "more", type = i1>]>} {
    %c0 = arith.constant 0 : index
    %b = gpu.block_id x
    %c1 = arith.constant 1 : index
    %n = memref.dim %m, %c1 : memref<2x?x64xf16>
    %view = memref.subview %m[%b, 0, 0] [1, %n, 64] [1, 1, 1] : memref<2x?x64xf16> to !view
    %c = tile.channel : !channel
    %d = tile.channel : !channel
    tile.put %c[%e], %view[%row, %c0] if %more : !channel, !view
    %s = tile.get %c[%e] : !channel -> !shared
    tile.release %c[%e] : !channel
    gpu.return
  }

  // Two channels of one tensor whose TMA boxes are alike have one map; another swizzle atom or another tensor needs its own. A
  // transposed view and one that starts elsewhere are TMA boxes of the tensor behind them.
  // CHECK-LABEL: gpu.func @maps
  // CHECK-SAME:    %[[ROW:[^ ]+]]: index,
  // CHECK-SAME:    %[[NARROW:[^ ]+]]: !nvgpu.tensormap.descriptor<tensor = memref<16x1x32xf16, #gpu.address_space<workgroup>>, swizzle = swizzle_64b
  // CHECK-SAME:    %[[WIDE:[^ ]+]]: !nvgpu.tensormap.descriptor<tensor = memref<16x1x64xf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b
  // CHECK-SAME:    %[[OTHER:[^ ]+]]: !nvgpu.tensormap.descriptor<tensor = memref<1x16x32xf16, #gpu.address_space<workgroup>>, swizzle = swizzle_64b
  // CHECK-NOT:     !nvgpu
  // CHECK-SAME:    ) kernel
  // CHECK:       %[[PLUS7:.+]] = arith.addi %[[ROW]], %{{.+}} : index
  // CHECK:       %[[A:.+]] = builtin.unrealized_conversion_cast %[[NARROW]]
  // CHECK:       %[[ROW32:.+]] = arith.index_cast %[[PLUS7]]
  // CHECK:       nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.+}}, %[[A]], %{{.+}}, box[%c0_i32, %c1_i32, %[[ROW32]]]
  // CHECK:       nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.+}}, %[[A]], %{{.+}}, box[%c32_i32, %c1_i32
  // CHECK-COUNT-2: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.+}}, %[[A]],
  // CHECK:       %[[W:.+]] = builtin.unrealized_conversion_cast %[[WIDE]]
  // CHECK:       nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.+}}, %[[W]],
  // CHECK:       %[[O:.+]] = builtin.unrealized_conversion_cast %[[OTHER]]
  // CHECK-COUNT-2: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.+}}, %[[O]],
  // CHECK:       gpu.return
  gpu.func @maps(%m: memref<100x2x64xf16>, %n: memref<2x100x64xf16>, %row: index) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %turned = memref.transpose %m (i, j, k) -> (j, i, k) : memref<100x2x64xf16> to memref<2x100x64xf16, strided<[64, 128, 1]>>
    %head = memref.subview %turned[1, 7, 0] [1, 50, 64] [1, 1, 1]
      : memref<2x100x64xf16, strided<[64, 128, 1]>> to memref<50x64xf16, strided<[128, 1], offset: 960>>
    %plain = memref.subview %n[0, 0, 0] [1, 100, 64] [1, 1, 1] : memref<2x100x64xf16> to memref<100x64xf16, strided<[64, 1]>>
    %c = tile.channel : !channel
    %d = tile.channel : !channel
    %e = tile.channel : !tile.channel<16x64xf16, stages = 1, swizzle_atom = 64>
    %f = tile.channel : !channel
    tile.put %c[%c0], %head[%row, %c0] : !channel, memref<50x64xf16, strided<[128, 1], offset: 960>>
    tile.put %d[%c0], %head[%row, %c0] : !channel, memref<50x64xf16, strided<[128, 1], offset: 960>>
    tile.put %e[%c0], %head[%row, %c0] : !tile.channel<16x64xf16, stages = 1, swizzle_atom = 64>, memref<50x64xf16, strided<[128, 1], offset: 960>>
    tile.put %f[%c0], %plain[%row, %c0] : !channel, memref<100x64xf16, strided<[64, 1]>>
    gpu.return
  }

  // A row of numbers is one TMA box, which is not permuted, and a thread reads the neighbours that it has.
  // CHECK-LABEL: gpu.func @numbers
  // CHECK-SAME:    !nvgpu.tensormap.descriptor<tensor = memref<1x64xf32, #gpu.address_space<workgroup>>, swizzle = none
  // CHECK-SAME:    #launch.tensor_map<name = "m_map", of = 0, box = [1, 64], swizzle = 0>]
  // CHECK:       nvvm.mbarrier.arrive.expect_tx %{{.+}}, %c256_i32
  // CHECK:       nvvm.cp.async.bulk.tensor
  // CHECK-NOT:   nvvm.cp.async.bulk.tensor
  // CHECK:       %[[LANE:.+]] = arith.remui %thread_id_x, %c32
  // CHECK:       %[[PAIR:.+]] = arith.muli %{{.+}}, %c2
  // CHECK-COUNT-8: vector.load %{{.+}}[%{{.+}}] {alignment = 8 : i64} : memref<{{.*}}xf32{{.*}}>, vector<2xf32>
  // CHECK-NOT:   vector.load
  // CHECK:       gpu.return
  gpu.func @numbers(%m: memref<4x64xf32>, %out: memref<64xf32>, %head: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>,
      launch.manifest = #launch.manifest<arguments = [#launch.buffer<name = "m", type = memref<4x64xf32>, access = read>, #launch.buffer<name = "out", type = memref<64xf32>, access = write>,
                                                      #launch.scalar<name = "head", type = index>],
                                         grid = <1>, block = [128, 1, 1]>} {
    %c0 = arith.constant 0 : index
    %c = tile.channel : !tile.channel<1x64xf32, stages = 2, swizzle_atom = 64>
    tile.put %c[%c0], %m[%head, %c0] : !tile.channel<1x64xf32, stages = 2, swizzle_atom = 64>, memref<4x64xf32>
    %row = tile.get %c[%c0] : !tile.channel<1x64xf32, stages = 2, swizzle_atom = 64> -> !tile.tile<1x64xf32, shared, #tile.swizzle<vector = 4, bits = 0, shift = 0, swizzle_atom = 64>>
    %x = tile.read %row : !tile.tile<1x64xf32, shared, #tile.swizzle<vector = 4, bits = 0, shift = 0, swizzle_atom = 64>>
      -> !tile.tile<64xf32, registers, #tile.layout<registers = [[2, 0, 1], [8, 0, 8]], lanes = [[4, 0, 2], [8, 0, 0]], warps = [[4, 0, 0]]>>
    tile.store %x, %out[%c0] : !tile.tile<64xf32, registers, #tile.layout<registers = [[2, 0, 1], [8, 0, 8]], lanes = [[4, 0, 2], [8, 0, 0]], warps = [[4, 0, 0]]>>, memref<64xf32>
    gpu.return
  }

  // What a lane holds of an accumulator is read in pairs: rows 0 and 8, columns 0, 8 and so on from its own, those of the second
  // swizzle atom behind all rows of the first.
  // CHECK-LABEL: gpu.func @pairs
  // CHECK-COUNT-16: vector.load %{{.+}}[%{{.+}}] {alignment = 4 : i64} : memref<1024xf16, {{.*}}>, vector<2xf16>
  // CHECK-NOT:   vector.load
  // CHECK:       vector.from_elements {{.*}} : vector<32xf16>
  gpu.func @pairs(%m: memref<16x64xf16>, %out: memref<64x64xf16>) kernel attributes {known_block_size = array<i32: 128, 1, 1>,
      launch.manifest = #launch.manifest<arguments = [#launch.buffer<name = "m", type = memref<16x64xf16>, access = read>, #launch.buffer<name = "out", type = memref<64x64xf16>, access = write>],
                                         grid = <1>, block = [128, 1, 1]>} {
    %c0 = arith.constant 0 : index
    %c = tile.channel : !channel
    tile.put %c[%c0], %m[%c0, %c0] : !channel, memref<16x64xf16>
    %tile = tile.get %c[%c0] : !channel -> !shared
    %x = tile.read %tile : !shared -> !pairs
    tile.store %x, %out[%c0, %c0] : !pairs, memref<64x64xf16>
    gpu.return
  }

  // Of a transpose it is read by matrices: four give the pairs of 16 rows and columns. Each lane says where a row lies.
  // CHECK-LABEL: gpu.func @transposed_pairs
  // CHECK-COUNT-4: nvvm.ldmatrix %{{.+}} {eltType = {{.*}}, layout = #nvvm.mma_layout<col>, num = 4 : i32
  // CHECK-NOT:   nvvm.ldmatrix
  // CHECK:       vector.from_elements {{.*}} : vector<16xi32>
  // CHECK:       vector.bitcast %{{.+}} : vector<16xi32> to vector<32xf16>
  gpu.func @transposed_pairs(%m: memref<64x64xf16>, %out: memref<64x64xf16>) kernel attributes {known_block_size = array<i32: 128, 1, 1>,
      launch.manifest = #launch.manifest<arguments = [#launch.buffer<name = "m", type = memref<64x64xf16>, access = read>, #launch.buffer<name = "out", type = memref<64x64xf16>, access = write>],
                                         grid = <1>, block = [128, 1, 1]>} {
    %c0 = arith.constant 0 : index
    %c = tile.channel : !tile.channel<64x64xf16, stages = 1, swizzle_atom = 64>
    tile.put %c[%c0], %m[%c0, %c0] : !tile.channel<64x64xf16, stages = 1, swizzle_atom = 64>, memref<64x64xf16>
    %tile = tile.get %c[%c0] : !tile.channel<64x64xf16, stages = 1, swizzle_atom = 64>
      -> !tile.tile<64x64xf16, shared, #tile.swizzle<vector = 8, bits = 3, shift = 0, swizzle_atom = 64>>
    %x = tile.read %tile transposed : !tile.tile<64x64xf16, shared, #tile.swizzle<vector = 8, bits = 3, shift = 0, swizzle_atom = 64>>
      -> !tile.tile<64x64xf16, registers, #tile.layout<registers = [[2, 1, 1], [2, 0, 8], [8, 1, 8]], lanes = [[4, 1, 2], [8, 0, 1]], warps = [[4, 0, 16]]>>
    tile.store %x, %out[%c0, %c0] : !tile.tile<64x64xf16, registers, #tile.layout<registers = [[2, 1, 1], [2, 0, 8], [8, 1, 8]], lanes = [[4, 1, 2], [8, 0, 1]], warps = [[4, 0, 16]]>>, memref<64x64xf16>
    gpu.return
  }

  // Elements of another size are read one by one.
  // CHECK-LABEL: gpu.func @transposed_elements
  // CHECK-COUNT-32: memref.load %{{.+}} : memref<4096xf32, {{.*}}>
  // CHECK-NOT:   memref.load
  // CHECK:       vector.from_elements {{.*}} : vector<32xf32>
  gpu.func @transposed_elements(%m: memref<64x64xf32>, %out: memref<64x64xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>,
      launch.manifest = #launch.manifest<arguments = [#launch.buffer<name = "m", type = memref<64x64xf32>, access = read>, #launch.buffer<name = "out", type = memref<64x64xf32>, access = write>],
                                         grid = <1>, block = [128, 1, 1]>} {
    %c0 = arith.constant 0 : index
    %c = tile.channel : !tile.channel<64x64xf32, stages = 1, swizzle_atom = 32>
    tile.put %c[%c0], %m[%c0, %c0] : !tile.channel<64x64xf32, stages = 1, swizzle_atom = 32>, memref<64x64xf32>
    %tile = tile.get %c[%c0] : !tile.channel<64x64xf32, stages = 1, swizzle_atom = 32>
      -> !tile.tile<64x64xf32, shared, #tile.swizzle<vector = 4, bits = 3, shift = 0, swizzle_atom = 32>>
    %x = tile.read %tile transposed : !tile.tile<64x64xf32, shared, #tile.swizzle<vector = 4, bits = 3, shift = 0, swizzle_atom = 32>>
      -> !tile.tile<64x64xf32, registers, #tile.layout<registers = [[2, 1, 1], [2, 0, 8], [8, 1, 8]], lanes = [[4, 1, 2], [8, 0, 1]], warps = [[4, 0, 16]]>>
    tile.store %x, %out[%c0, %c0] : !tile.tile<64x64xf32, registers, #tile.layout<registers = [[2, 1, 1], [2, 0, 8], [8, 1, 8]], lanes = [[4, 1, 2], [8, 0, 1]], warps = [[4, 0, 16]]>>, memref<64x64xf32>
    gpu.return
  }

  // A channel inside of a loop has its barriers once, at the start.
  // CHECK-LABEL: gpu.func @in_a_loop
  // CHECK:     nvvm.fence.mbarrier.init
  // CHECK-NEXT: gpu.barrier
  // CHECK:     scf.for
  // CHECK-NOT:   nvvm.mbarrier.init
  // CHECK:     gpu.return
  gpu.func @in_a_loop(%m: memref<64x64xf16>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    scf.for %i = %c0 to %c4 step %c1 {
      %c = tile.channel : !channel
      tile.put %c[%i], %m[%c0, %c0] : !channel, memref<64x64xf16>
    }
    gpu.return
  }
}

// The map is made right before the launch.
// CHECK-LABEL: func.func @launches
// CHECK-SAME:    %[[M:[^ ]+]]: memref<2x?x64xf16>
// CHECK: %[[CAST:.+]] = memref.cast %[[M]] : memref<2x?x64xf16> to memref<*xf16>
// CHECK: %[[MAP:.+]] = nvgpu.tma.create.descriptor %[[CAST]] box[%c1, %c16, %c32]
// CHECK: gpu.launch_func  @kernels::@boxes {{.*}} dynamic_shared_memory_size %c8256_i32 args(%[[M]] : {{.*}}, %[[MAP]] : !nvgpu.tensormap.descriptor
func.func @launches(%m: memref<2x?x64xf16>, %row: index, %more: i1) {
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  gpu.launch_func @kernels::@boxes blocks in (%c1, %c1, %c1) threads in (%c256, %c1, %c1)
    args(%m : memref<2x?x64xf16>, %row : index, %row : index, %more : i1)
  return
}
}
