// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a matmul becomes under a schedule; matmul.mlir in test/Integration has what it computes.
//
// RUN: attune-opt %s --attune-attach-target=chip=sm_90a --convert-linalg-to-tile --canonicalize --cse | FileCheck %s

#all = affine_map<(i, j) -> (i, j)>
#persistent = #schedule.matmul<blockM = 128, blockN = 64, blockK = 32, numWarps = 8, mmaWarps = 4, producerWarps = 4, stages = 3,
                               resultPath = shared, persistent = static>
#split = #schedule.matmul<blockM = 64, blockN = 32, blockK = 32, warpsN = 2, splitK = 4>
#split_dynamic = #schedule.matmul<blockM = 64, blockN = 64, blockK = 32, mmaWarps = 4, producerWarps = 4, stages = 3, splitK = 2,
                                  resultPath = shared, persistent = dynamic>
#plain = #schedule.matmul<blockM = 64, blockN = 32, blockK = 32, warpsN = 2>

// Two contractions of one left operand are one kernel, which loads that once a step. A workgroup takes one tile after the
// other, in columns of groups of rows, and computes on whole warpgroups.
// CHECK-LABEL: gpu.func @gated_kernel
// CHECK-SAME:    %[[A:.+]]: memref<?x96xbf16>, %[[B:.+]]: memref<96x200xbf16>, %[[G:.+]]: memref<96x200xbf16>, %[[R:.+]]: memref<?x200xbf16>)
// CHECK-SAME:    known_block_size = array<i32: 384, 1, 1>
// CHECK-SAME:    #launch.buffer<name = "lhs", type = bf16, rank = 2, access = read>
// CHECK-SAME:    #launch.buffer<name = "result", type = bf16, rank = 2, access = write>
// CHECK-SAME:    tile.roles = [#tile.role<
// CHECK:         %[[ROWS:.+]] = memref.dim %[[A]]
// CHECK:         %[[BLOCKS:.+]] = arith.ceildivui %[[ROWS]], %c128
// CHECK:         %[[TILES:.+]] = arith.muli %[[BLOCKS]], %c4
// CHECK:         scf.for %{{.+}} = %block_id_x to %[[TILES]] step %grid_dim_x {
// CHECK:           %[[SUMS:.+]]:2 = scf.for
// CHECK:             %[[LHS:.+]] = tile.load %[[A]][%{{.+}}, %{{.+}}] stages 3 : memref<?x96xbf16> -> <128x32xbf16, registers>
// CHECK-NEXT:        %[[RHS:.+]] = tile.load %[[B]][%{{.+}}, %{{.+}}] stages 3 : memref<96x200xbf16> -> <32x64xbf16, registers>
// CHECK-NEXT:        tile.mma %[[LHS]], %[[RHS]], %{{.+}} scope warpgroup
// CHECK-NEXT:        %[[GATE:.+]] = tile.load %[[G]]
// CHECK-NEXT:        tile.mma %[[LHS]], %[[GATE]], %{{.+}} scope warpgroup
// CHECK-NEXT:        scf.yield
// CHECK-NEXT:      } {tile.chain}
// CHECK:           %[[RESULT:.+]] = tile.map(%[[SUMS]]#0, %[[SUMS]]#1)
// CHECK:             arith.mulf
// CHECK:             arith.truncf
// CHECK:           tile.store %[[RESULT]], %[[R]][%{{.+}}, %{{.+}}] path buffer
//
// No more workgroups than the chip runs at a time, and none at all without rows.
// CHECK-LABEL: func.func @gated
// CHECK:         %[[GRID:.+]] = arith.minui %{{.+}}, %c132
// CHECK:         %[[ANY:.+]] = arith.cmpi ne, %[[GRID]], %c0
// CHECK:         scf.if %[[ANY]] {
// CHECK:           gpu.launch_func @gated_kernel::@gated_kernel blocks in (%[[GRID]], %c1, %c1) threads in (%c384, %c1, %c1)
// CHECK-NOT:     linalg
func.func @gated(%a: tensor<?x96xbf16>, %b: tensor<96x200xbf16>, %g: tensor<96x200xbf16>) -> tensor<?x200xbf16> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x96xbf16>
  %empty = tensor.empty(%m) : tensor<?x200xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x200xf32>) -> tensor<?x200xf32>
  %sums = linalg.matmul {attune.schedule = #persistent}
    ins(%a, %b : tensor<?x96xbf16>, tensor<96x200xbf16>) outs(%init : tensor<?x200xf32>) -> tensor<?x200xf32>
  %gates = linalg.matmul
    ins(%a, %g : tensor<?x96xbf16>, tensor<96x200xbf16>) outs(%init : tensor<?x200xf32>) -> tensor<?x200xf32>
  %out = tensor.empty(%m) : tensor<?x200xbf16>
  %result = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel"]}
    ins(%sums, %gates : tensor<?x200xf32>, tensor<?x200xf32>) outs(%out : tensor<?x200xbf16>) {
  ^bb0(%x: f32, %y: f32, %o: bf16):
    %product = arith.mulf %x, %y : f32
    %half = arith.truncf %product : f32 to bf16
    linalg.yield %half : bf16
  } -> tensor<?x200xbf16>
  return %result : tensor<?x200xbf16>
}

// Warps share rows and columns of one tile; the grid has all tiles.
// CHECK-LABEL: gpu.func @plain_kernel
// CHECK-SAME:    known_block_size = array<i32: 128, 1, 1>
// CHECK-NOT:     tile.roles
// CHECK:         tile.mma {{.*}} warps_n 2 :
// CHECK:         tile.store %{{.+}}, %{{.+}}[%{{.+}}, %{{.+}}] :
func.func @plain(%a: tensor<128x96xf16>, %b: tensor<96x64xf16>) -> tensor<128x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<128x64xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<128x64xf32>) -> tensor<128x64xf32>
  %sums = linalg.matmul {attune.schedule = #plain}
    ins(%a, %b : tensor<128x96xf16>, tensor<96x64xf16>) outs(%init : tensor<128x64xf32>) -> tensor<128x64xf32>
  return %sums : tensor<128x64xf32>
}

// Four workgroups for a tile, of which those of one split come before those of the next. Each multiplies its share of the
// blocks of k. The last one waits for the others, adds what they have left in their order and stores the result.
// CHECK-LABEL: gpu.func @split_kernel
// CHECK-SAME:    %[[A:[^ ]+]]: memref<3x100x?xf16>, %[[B:[^ ]+]]: memref<3x?x64xf16>, %[[R:[^ ]+]]: memref<3x100x64xf32>, %[[P:[^ ]+]]: memref<2304x32xf32>, %[[TURNS:[^ ]+]]: memref<12xi32>
// CHECK-SAME:    #launch.workspace<name = "partials", type = f32, sizes = [#launch.product<192 * dim(0, 1) ceildiv 64 * dim(1, 2) ceildiv 32 * dim(0, 0)>, #launch.product<32>], alignment = 128, contents = undefined>
// CHECK-SAME:    #launch.workspace<name = "turns", type = i32, sizes = [#launch.product<dim(0, 1) ceildiv 64 * dim(1, 2) ceildiv 32 * dim(0, 0)>], alignment = 4, contents = zero, restored = true>
// CHECK-SAME:    grid = <4 * dim(0, 1) ceildiv 64 * dim(1, 2) ceildiv 32 * dim(0, 0)>
// CHECK:         %[[SPLIT:.+]] = arith.divui %block_id_x, %c12
// CHECK:         %[[TILE:.+]] = arith.remui %block_id_x, %c12
// CHECK:         %[[BLOCKS:.+]] = arith.ceildivui %{{.+}}, %c32
// CHECK:         %[[NEXT:.+]] = arith.addi %[[SPLIT]], %c1
// CHECK:         %[[BEFORE:.+]] = arith.muli %[[SPLIT]], %[[BLOCKS]]
// CHECK:         %[[FIRST:.+]] = arith.divui %[[BEFORE]], %c4
// CHECK:         %[[TO:.+]] = arith.muli %[[NEXT]], %[[BLOCKS]]
// CHECK:         %[[END:.+]] = arith.divui %[[TO]], %c4
// CHECK:         %[[OWN:.+]] = scf.for %{{.+}} = %[[FIRST]] to %[[END]] step %c1
// CHECK:         %[[LAST:.+]] = arith.cmpi eq, %[[SPLIT]], %c3
// CHECK:         scf.if %[[LAST]] {
// CHECK:           tile.ordered %[[TURNS]][%[[TILE]]] turn %c3 of %c4 {
// CHECK-NEXT:      }
// CHECK:           %[[SUMS:.+]] = scf.for %[[I:.+]] = %c0 to %c3 step %c1 iter_args(%[[SUM:.+]] = %[[OWN]])
// CHECK:             %[[OFSPLIT:.+]] = arith.muli %[[I]], %c12
// CHECK:             %[[NUMBER:.+]] = arith.addi %[[OFSPLIT]], %[[TILE]]
// CHECK:             %[[ROW:.+]] = arith.muli %[[NUMBER]], %c64
// CHECK:             %[[LEFT:.+]] = tile.load %[[P]][%[[ROW]], %c0] in_bounds
// CHECK:             tile.map(%[[SUM]], %[[LEFT]])
// CHECK:           %[[RESULT:.+]] = tile.map(%[[SUMS]])
// CHECK:           tile.store %[[RESULT]]
// CHECK:         } else {
// CHECK:           tile.ordered %[[TURNS]][%[[TILE]]] turn %c0 of %c4 {
// CHECK:             %[[OFSPLIT:.+]] = arith.muli %[[SPLIT]], %c12
// CHECK:             %[[NUMBER:.+]] = arith.addi %[[OFSPLIT]], %[[TILE]]
// CHECK:             %[[ROW:.+]] = arith.muli %[[NUMBER]], %c64
// CHECK:             tile.store %[[OWN]], %[[P]][%[[ROW]], %c0]
//
// CHECK-LABEL: func.func @split(
// CHECK:         gpu.memset %[[ZEROS:.+]], %c0_i32 : memref<12xi32>, i32 {launch.restored}
// CHECK:         gpu.launch_func @split_kernel::@split_kernel blocks in (%c48, %c1, %c1)
func.func @split(%a: tensor<3x100x?xf16>, %b: tensor<3x?x64xf16>) -> tensor<3x100x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<3x100x64xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<3x100x64xf32>) -> tensor<3x100x64xf32>
  %sums = linalg.batch_matmul {attune.schedule = #split}
    ins(%a, %b : tensor<3x100x?xf16>, tensor<3x?x64xf16>) outs(%init : tensor<3x100x64xf32>) -> tensor<3x100x64xf32>
  return %sums : tensor<3x100x64xf32>
}

// Both sums of a gate are left, each in a place of its own; tiles and their splits are taken as they come.
// CHECK-LABEL: gpu.func @split_gate_kernel
// CHECK-SAME:    %[[M:[^ ]+]]: memref<?x96xbf16>
// CHECK-SAME:    %[[P:[^ ]+]]: memref<?x64xf32>, %[[TURNS:[^ ]+]]: memref<?xi32>, %{{[^ ]+}}: memref<1xi32>
// CHECK-SAME:    #launch.product<128 * dim(0, 0) ceildiv 64 * dim(1, 1) ceildiv 64>, #launch.product<64>
// CHECK:         %[[TILES:.+]] = arith.muli %[[ROWS:.+]], %c4
// CHECK:         %[[ALL:.+]] = arith.muli %[[ROWS]], %c8
// CHECK:         scf.for %[[TAKEN:.+]] = %block_id_x to %[[ALL]] step %grid_dim_x {
// CHECK:           arith.divui %[[TAKEN]], %[[TILES]]
// CHECK:           scf.if
// CHECK:             tile.ordered %[[TURNS]][%{{.+}}] turn %c1 of %c2
// CHECK:             tile.load %[[P]]
// CHECK:             tile.load %[[P]]
// CHECK:             tile.store %{{.+}} path buffer
// CHECK:             tile.ordered %[[TURNS]][%{{.+}}] turn %c0 of %c2
// CHECK:               tile.store %{{.+}}, %[[P]]
// CHECK:               tile.store %{{.+}}, %[[P]]
// CHECK:         } {tile.dynamic}
func.func @split_gate(%a: tensor<?x96xbf16>, %b: tensor<96x200xbf16>, %g: tensor<96x200xbf16>) -> tensor<?x200xbf16> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x96xbf16>
  %empty = tensor.empty(%m) : tensor<?x200xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x200xf32>) -> tensor<?x200xf32>
  %sums = linalg.matmul {attune.schedule = #split_dynamic}
    ins(%a, %b : tensor<?x96xbf16>, tensor<96x200xbf16>) outs(%init : tensor<?x200xf32>) -> tensor<?x200xf32>
  %gates = linalg.matmul
    ins(%a, %g : tensor<?x96xbf16>, tensor<96x200xbf16>) outs(%init : tensor<?x200xf32>) -> tensor<?x200xf32>
  %out = tensor.empty(%m) : tensor<?x200xbf16>
  %result = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel"]}
    ins(%sums, %gates : tensor<?x200xf32>, tensor<?x200xf32>) outs(%out : tensor<?x200xbf16>) {
  ^bb0(%x: f32, %y: f32, %o: bf16):
    %product = arith.mulf %x, %y : f32
    %half = arith.truncf %product : f32 to bf16
    linalg.yield %half : bf16
  } -> tensor<?x200xbf16>
  return %result : tensor<?x200xbf16>
}

// What has no schedule stays.
// CHECK-LABEL: func.func @unscheduled
// CHECK:         linalg.matmul
func.func @unscheduled(%a: tensor<128x96xf16>, %b: tensor<96x64xf16>) -> tensor<128x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<128x64xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<128x64xf32>) -> tensor<128x64xf32>
  %sums = linalg.matmul
    ins(%a, %b : tensor<128x96xf16>, tensor<96x64xf16>) outs(%init : tensor<128x64xf32>) -> tensor<128x64xf32>
  return %sums : tensor<128x64xf32>
}
