// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a matmul becomes under a schedule; matmul.mlir in test/Integration has what it computes.
//
// RUN: attune-opt %s --attune-attach-target=chip=sm_90a --convert-linalg-to-tile --canonicalize --cse | FileCheck %s

#all = affine_map<(i, j) -> (i, j)>
#persistent = #schedule.matmul<blockM = 128, blockN = 64, blockK = 32, numWarps = 8, mmaWarps = 4, producerWarps = 4, stages = 3,
                               resultPath = shared, persistent = static>
#plain = #schedule.matmul<blockM = 64, blockN = 32, blockK = 32, warpsN = 2>

// Two contractions of one left operand are one kernel, which loads that once a step, and by warpgroups one MMA. A workgroup takes one tile after the
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
