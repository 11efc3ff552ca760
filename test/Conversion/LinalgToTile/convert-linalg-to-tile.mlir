// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a matmul becomes under a schedule; matmul.mlir in test/Integration has what it computes.
//
// RUN: attune-opt %s --attune-attach-target=chip=sm_90a --convert-linalg-to-tile --canonicalize --cse | FileCheck %s

#all = affine_map<(i, j) -> (i, j)>
#persistent = #schedule.matmul<blockM = 128, blockN = 64, blockK = 32, numWarps = 8, mmaWarps = 4, producerWarps = 4, stages = 3,
                               resultPath = shared, persistent = static>
#split = #schedule.matmul<blockM = 64, blockN = 32, blockK = 32, warpsN = 2, splitK = 4>
#split_persistent = #schedule.matmul<blockM = 64, blockN = 64, blockK = 32, mmaWarps = 4, producerWarps = 4, stages = 3, splitK = 2,
                                     resultPath = shared, persistent = static>
#plain = #schedule.matmul<blockM = 64, blockN = 32, blockK = 32, warpsN = 2>

// Two contractions of one left operand are one kernel, which loads that once a step, and by warpgroups one MMA. A
// workgroup takes one tile after the other, in columns of groups of rows, and computes on whole warpgroups.
// CHECK-LABEL: gpu.func @gated_kernel
// CHECK-SAME:    %[[A:.+]]: memref<?x96xbf16>, %[[B:.+]]: memref<96x200xbf16>, %[[G:.+]]: memref<96x200xbf16>, %[[R:.+]]: memref<?x200xbf16>)
// CHECK-SAME:    known_block_size = array<i32: 384, 1, 1>
// CHECK-SAME:    #launch.buffer<name = "lhs", type = memref<?x96xbf16>, access = read>
// CHECK-SAME:    #launch.buffer<name = "result", type = memref<?x200xbf16>, access = write>
// CHECK-SAME:    tile.roles = [#tile.role<
// CHECK:         %[[ROWS:.+]] = memref.dim %[[A]]
// CHECK:         %[[BLOCKS:.+]] = arith.ceildivui %[[ROWS]], %c128
// CHECK:         %[[TILES:.+]] = arith.muli %[[BLOCKS]], %c4
// CHECK:         scf.for %{{.+}} = %block_id_x to %[[TILES]] step %grid_dim_x {
// CHECK:           %[[SUM:.+]] = scf.for
// CHECK:             %[[LHS:.+]] = tile.load %[[A]][%{{.+}}, %[[K:.+]]] stages 3 : memref<?x96xbf16> -> <128x32xbf16, registers>
// CHECK-NEXT:        %[[BOTH:.+]] = tile.interleaved %[[B]], %[[G]] blocks of 64 dim 1 : memref<96x200xbf16>, memref<96x200xbf16>
// CHECK-NEXT:        %[[COLUMN:.+]] = arith.muli %{{.+}}, %c128
// CHECK-NEXT:        %[[RHS:.+]] = tile.load %[[BOTH]][%[[K]], %[[COLUMN]]] stages 3 : memref<96x?xbf16> -> <32x128xbf16, registers>
// CHECK-NEXT:        tile.mma %[[LHS]], %[[RHS]], %{{.+}} scope warpgroup
// CHECK-NEXT:        scf.yield
// CHECK-NEXT:      } {tile.chain}
// CHECK-NEXT:      %[[SUMS:.+]]:2 = tile.deinterleave %[[SUM]] blocks of 64 dim 1
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

// Rotary embedding of heads' halves: the partners' sums and elements are those of swapped columns. The angles' table has no row
// for each row and no column for each column: its elements are read one by one, and those outside of the matrix as the last
// ones. So is the number of each head.
// CHECK-LABEL: gpu.func @rotated_kernel
// CHECK-SAME:    memref<?x96xf16>, %{{[^ ]+}}: memref<96x256xf16>, %[[BIAS:[^ ]+]]: memref<256xf32>, %[[ANGLES:[^ ]+]]: memref<?x64xf32>, %[[FACTORS:[^ ]+]]: memref<2xf32>,
// CHECK:         %[[ROWS:.+]] = memref.dim %arg0, %c0
// CHECK:         %[[SUMS:.+]] = scf.for
// CHECK:         %[[OTHERS:.+]] = tile.swap_columns %[[SUMS]] stride 64 : <64x128xf32, registers>
// CHECK:         %[[LOADED:.+]] = tile.load %[[BIAS]]
// CHECK-NEXT:    %[[WIDE:.+]] = tile.broadcast %[[LOADED]] dim 1
// CHECK-NEXT:    %[[SWAPPED:.+]] = tile.swap_columns %[[WIDE]] stride 64
// CHECK:         %[[LAST:.+]] = arith.subi %[[ROWS]], %c1
// CHECK:         tile.map(%[[SUMS]], %[[OTHERS]], %[[WIDE]], %[[SWAPPED]]) {
// CHECK:           %[[M:.+]] = arith.addi %{{.+}}, %{{.+}} : index
// CHECK-NEXT:      %[[N:.+]] = arith.addi %{{.+}}, %{{.+}} : index
// CHECK-NEXT:      %[[ROW:.+]] = arith.minui %[[M]], %[[LAST]]
// CHECK-NEXT:      %[[PLACE:.+]] = arith.remui %[[N]], %c64
// CHECK-NEXT:      memref.load %[[ANGLES]][%[[ROW]], %[[PLACE]]]
// CHECK-NEXT:      %[[HEAD:.+]] = arith.divui %[[N]], %c128
// CHECK-NEXT:      memref.load %[[FACTORS]][%[[HEAD]]]
#heads = affine_map<(m, h, s, d) -> (m, h, s, d)>
#flipped = affine_map<(m, h, s, d) -> (m, h, 1 - s, d)>
#angles = affine_map<(m, h, s, d) -> (m, d)>
#head = affine_map<(m, h, s, d) -> (h)>
func.func @rotated(%a: tensor<?x96xf16>, %b: tensor<96x256xf16>, %bias: tensor<256xf32>, %angles: tensor<?x64xf32>, %factors: tensor<2xf32>) -> tensor<?x2x2x64xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x96xf16>
  %empty = tensor.empty(%m) : tensor<?x256xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x256xf32>) -> tensor<?x256xf32>
  %sums = linalg.matmul {attune.schedule = #schedule.matmul<blockM = 64, blockN = 128, blockK = 32>}
    ins(%a, %b : tensor<?x96xf16>, tensor<96x256xf16>) outs(%init : tensor<?x256xf32>) -> tensor<?x256xf32>
  %biased = linalg.generic {indexing_maps = [#all, affine_map<(i, j) -> (j)>, #all], iterator_types = ["parallel", "parallel"]}
    ins(%sums, %bias : tensor<?x256xf32>, tensor<256xf32>) outs(%empty : tensor<?x256xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<?x256xf32>
  %heads = tensor.expand_shape %biased [[0], [1, 2, 3]] output_shape [%m, 2, 2, 64] : tensor<?x256xf32> into tensor<?x2x2x64xf32>
  %out = tensor.empty(%m) : tensor<?x2x2x64xf32>
  %result = linalg.generic {indexing_maps = [#heads, #flipped, #angles, #head, #heads], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%heads, %heads, %angles, %factors : tensor<?x2x2x64xf32>, tensor<?x2x2x64xf32>, tensor<?x64xf32>, tensor<2xf32>) outs(%out : tensor<?x2x2x64xf32>) {
  ^bb0(%x: f32, %y: f32, %angle: f32, %factor: f32, %o: f32):
    %turned = arith.mulf %y, %angle : f32
    %both = arith.addf %x, %turned : f32
    %scaled = arith.mulf %both, %factor : f32
    linalg.yield %scaled : f32
  } -> tensor<?x2x2x64xf32>
  return %result : tensor<?x2x2x64xf32>
}

// What depends on the batch alone is read before.
// CHECK-LABEL: gpu.func @groups_kernel
// CHECK-SAME:    %[[SCALES:[^ ]+]]: memref<2xf32>,
// CHECK:         %[[GROUP:.+]] = arith.divui %{{.+}}, %c3
// CHECK:         %[[SCALE:.+]] = memref.load %[[SCALES]][%[[GROUP]]]
// CHECK:         tile.map
// CHECK:           arith.mulf %{{.+}}, %[[SCALE]]
func.func @groups(%a: tensor<2x3x64x64xf16>, %b: tensor<2x3x64x64xf16>, %scales: tensor<2xf32>) -> tensor<2x3x64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x3x64x64xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x3x64x64xf32>) -> tensor<2x3x64x64xf32>
  %sums = linalg.contract indexing_maps = [affine_map<(g, h, m, n, k) -> (g, h, m, k)>, affine_map<(g, h, m, n, k) -> (g, h, k, n)>, affine_map<(g, h, m, n, k) -> (g, h, m, n)>]
    {attune.schedule = #plain} ins(%a, %b : tensor<2x3x64x64xf16>, tensor<2x3x64x64xf16>) outs(%init : tensor<2x3x64x64xf32>) -> tensor<2x3x64x64xf32>
  %out = tensor.empty() : tensor<2x3x64x64xf32>
  %result = linalg.generic {indexing_maps = [#heads, affine_map<(g, h, m, n) -> (g)>, #heads], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%sums, %scales : tensor<2x3x64x64xf32>, tensor<2xf32>) outs(%out : tensor<2x3x64x64xf32>) {
  ^bb0(%x: f32, %scale: f32, %o: f32):
    %y = arith.mulf %x, %scale : f32
    linalg.yield %y : f32
  } -> tensor<2x3x64x64xf32>
  return %result : tensor<2x3x64x64xf32>
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

// Both sums of a gate are left, each in a place of its own. A workgroup that takes one tile after the other has the same
// split of each, so that those that wait for others have higher numbers than these.
// CHECK-LABEL: gpu.func @split_gate_kernel
// CHECK-SAME:    %[[M:[^ ]+]]: memref<?x96xbf16>
// CHECK-SAME:    %[[P:[^ ]+]]: memref<?x64xf32>, %[[TURNS:[^ ]+]]: memref<?xi32>)
// CHECK-SAME:    #launch.product<128 * dim(0, 0) ceildiv 64 * dim(1, 1) ceildiv 64>, #launch.product<64>
// CHECK:         %[[TILES:.+]] = arith.muli %[[ROWS:.+]], %c4
// CHECK:         %[[SHARERS:.+]] = arith.divui %grid_dim_x, %c2
// CHECK:         %[[SPLIT:.+]] = arith.divui %block_id_x, %[[SHARERS]]
// CHECK:         %[[FIRST:.+]] = arith.remui %block_id_x, %[[SHARERS]]
// CHECK:         scf.for %{{.+}} = %[[FIRST]] to %[[TILES]] step %[[SHARERS]] {
// CHECK:           %[[LAST:.+]] = arith.cmpi eq, %[[SPLIT]], %c1
// CHECK:           scf.if %[[LAST]] {
// CHECK:             tile.ordered %[[TURNS]][%{{.+}}] turn %c1 of %c2
// CHECK:             tile.load %[[P]]
// CHECK:             tile.load %[[P]]
// CHECK:             tile.store %{{.+}} path buffer
// CHECK:             tile.ordered %[[TURNS]][%{{.+}}] turn %c0 of %c2
// CHECK:               tile.store %{{.+}}, %[[P]]
// CHECK:               tile.store %{{.+}}, %[[P]]
// CHECK-LABEL: func.func @split_gate(
func.func @split_gate(%a: tensor<?x96xbf16>, %b: tensor<96x200xbf16>, %g: tensor<96x200xbf16>) -> tensor<?x200xbf16> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x96xbf16>
  %empty = tensor.empty(%m) : tensor<?x200xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x200xf32>) -> tensor<?x200xf32>
  %sums = linalg.matmul {attune.schedule = #split_persistent}
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
