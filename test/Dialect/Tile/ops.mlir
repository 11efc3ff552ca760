// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Round trip of every tile op, with each optional clause present and absent.
//
// RUN: attune-opt %s | attune-opt --mlir-print-op-generic | attune-opt | FileCheck %s
// RUN: attune-opt %s --emit-bytecode | attune-opt | FileCheck %s

#swizzle = #tile.swizzle<vector = 8, bits = 3, shift = 0>
!regs = !tile.tile<32x64xf16, registers>
!shared = !tile.tile<32x64xf16, shared, #swizzle>
!channel = !tile.channel<32x64xf16, stages = 2>

// CHECK-LABEL: func.func @memory
// CHECK-SAME:    %[[M:[^ ]+]]: memref<?x64xf16>, %[[ROWS:[^ ]+]]: memref<?xf16>, %[[I:.+]]: index
func.func @memory(%m: memref<?x64xf16>, %rows: memref<?xf16>, %i: index) {
  // CHECK: %[[A:.+]] = tile.load %[[M]][%[[I]], %[[I]]] : memref<?x64xf16> -> <32x64xf16, registers>
  %a = tile.load %m[%i, %i] : memref<?x64xf16> -> !regs
  // CHECK: tile.load %[[M]][%[[I]], %[[I]]] in_bounds {note} : memref<?x64xf16>
  %b = tile.load %m[%i, %i] in_bounds {note} : memref<?x64xf16> -> !regs
  // CHECK: tile.store %[[A]], %[[M]][%[[I]], %[[I]]] : <32x64xf16, registers>, memref<?x64xf16>
  tile.store %a, %m[%i, %i] : !regs, memref<?x64xf16>
  // CHECK: tile.store %[[A]], %[[M]][%[[I]], %[[I]]] accumulate by_threads : <32x64xf16, registers>, memref<?x64xf16>
  tile.store %a, %m[%i, %i] accumulate by_threads : !regs, memref<?x64xf16>
  // CHECK: tile.store %[[A]], %[[M]][%[[I]], %[[I]]] role "other" : <32x64xf16, registers>, memref<?x64xf16>
  tile.store %a, %m[%i, %i] role "other" : !regs, memref<?x64xf16>
  // CHECK: tile.store %[[A]], %[[M]][%[[I]], %[[I]]] path buffer stages 2 role "store" : <32x64xf16, registers>, memref<?x64xf16>
  tile.store %a, %m[%i, %i] path buffer stages 2 role "store" : !regs, memref<?x64xf16>
  %zero = arith.constant 0.0 : f16
  // CHECK: %[[ROW:.+]] = tile.fill %{{.+}} : f16 -> <32xf16, registers>
  %row = tile.fill %zero : f16 -> !tile.tile<32xf16, registers>
  // CHECK: tile.store %[[ROW]], %[[ROWS]][%[[I]]] : <32xf16, registers>, memref<?xf16>
  tile.store %row, %rows[%i] : !tile.tile<32xf16, registers>, memref<?xf16>
  return
}

// CHECK-LABEL: func.func @paged
// CHECK-SAME:    %[[M:[^ ]+]]: memref<128x64xf16>, %[[ROWS:[^ ]+]]: memref<?xf32>, %[[A:[^ ]+]]: memref<?xi32>, %[[B:[^ ]+]]: memref<4xi64>
func.func @paged(%m: memref<128x64xf16>, %rows: memref<?xf32>, %a: memref<?xi32>, %b: memref<4xi64>, %i: index) {
  // CHECK: %[[P:.+]] = tile.paged %[[M]] by %[[A]] pages of 16 : memref<128x64xf16>, memref<?xi32>
  %p = tile.paged %m by %a pages of 16 : memref<128x64xf16>, memref<?xi32>
  // CHECK: tile.load %[[P]][%{{.+}}] : memref<?x64xf16>
  %x = tile.load %p[%i, %i] : memref<?x64xf16> -> !regs
  // CHECK: tile.paged %[[ROWS]] by %[[B]] {note} : memref<?xf32>, memref<4xi64>
  %s = tile.paged %rows by %b pages of 1 {note} : memref<?xf32>, memref<4xi64>
  return
}

// CHECK-LABEL: func.func @pages_of_a_head
func.func @pages_of_a_head(%m: memref<9x16x64xf16, strided<[4096, 128, 1], offset: ?>>, %table: memref<?xi32>, %n: index) {
  // CHECK: %[[P:.+]] = tile.paged %{{.+}} by %{{.+}} rows %[[N:.+]] units of 8 : memref<9x16x64xf16, strided<[4096, 128, 1], offset: ?>>, memref<?xi32>
  %p = tile.paged %m by %table rows %n units of 8 : memref<9x16x64xf16, strided<[4096, 128, 1], offset: ?>>, memref<?xi32>
  // CHECK: tile.load %[[P]][%{{.+}}] : memref<?x64xf16, strided<[128, 1], offset: ?>>
  %x = tile.load %p[%n, %n] : memref<?x64xf16, strided<[128, 1], offset: ?>> -> !regs
  // CHECK: tile.paged %{{.+}} by %{{.+}} rows %[[N]] :
  %q = tile.paged %m by %table rows %n : memref<9x16x64xf16, strided<[4096, 128, 1], offset: ?>>, memref<?xi32>
  return
}

// CHECK-LABEL: func.func @flattened
func.func @flattened(%m: memref<?x4x64xf16, strided<[4096, 64, 1], offset: ?>>, %rows: memref<8x3xf32>, %plain: memref<2x3x64xf16>, %i: index) {
  // CHECK: %[[P:.+]] = tile.flattened %{{.+}} : memref<?x4x64xf16, strided<[4096, 64, 1], offset: ?>>
  %p = tile.flattened %m : memref<?x4x64xf16, strided<[4096, 64, 1], offset: ?>>
  // CHECK: tile.load %[[P]][%{{.+}}] : memref<?x64xf16, strided<[64, 1], offset: ?>>
  %x = tile.load %p[%i, %i] : memref<?x64xf16, strided<[64, 1], offset: ?>> -> !regs
  // CHECK: %[[ROWS:.+]] = tile.flattened %{{.+}} {note} : memref<8x3xf32>
  %r = tile.flattened %rows {note} : memref<8x3xf32>
  // CHECK: tile.load %[[ROWS]][%{{.+}}] : memref<24xf32> -> <64xf32, registers>
  %y = tile.load %r[%i] : memref<24xf32> -> !tile.tile<64xf32, registers>
  // CHECK: tile.flattened %{{.+}} : memref<2x3x64xf16>
  %q = tile.flattened %plain : memref<2x3x64xf16>
  return
}

// CHECK-LABEL: func.func @interleaved
// CHECK-SAME:    %[[M:[^ ]+]]: memref<128x64xf16>, %[[N:[^ ]+]]: memref<128x64xf16>
func.func @interleaved(%m: memref<128x64xf16>, %n: memref<128x64xf16>, %i: index, %t: !tile.tile<96x32xf32, registers>) {
  // CHECK: %[[ROWS:.+]] = tile.interleaved %[[M]], %[[N]] blocks of 16 : memref<128x64xf16>, memref<128x64xf16>
  %rows = tile.interleaved %m, %n blocks of 16 : memref<128x64xf16>, memref<128x64xf16>
  // CHECK: tile.load %[[ROWS]][%{{.+}}] stages 2 : memref<?x64xf16>
  %x = tile.load %rows[%i, %i] stages 2 : memref<?x64xf16> -> !regs
  // CHECK: %[[COLUMNS:.+]] = tile.interleaved %[[M]], %[[N]], %[[M]] blocks of 8 dim 1 : memref<128x64xf16>, memref<128x64xf16>, memref<128x64xf16>
  %columns = tile.interleaved %m, %n, %m blocks of 8 dim 1 : memref<128x64xf16>, memref<128x64xf16>, memref<128x64xf16>
  // CHECK: tile.load %[[COLUMNS]][%{{.+}}] stages 2 : memref<128x?xf16>
  %y = tile.load %columns[%i, %i] stages 2 : memref<128x?xf16> -> !regs
  // CHECK: tile.deinterleave %{{.+}} blocks of 8 : <96x32xf32, registers> -> !tile.tile<32x32xf32, registers>, !tile.tile<32x32xf32, registers>, !tile.tile<32x32xf32, registers>
  %p:3 = tile.deinterleave %t blocks of 8 : !tile.tile<96x32xf32, registers>
    -> !tile.tile<32x32xf32, registers>, !tile.tile<32x32xf32, registers>, !tile.tile<32x32xf32, registers>
  // CHECK: tile.deinterleave %{{.+}} blocks of 16 dim 1 : <96x32xf32, registers> -> !tile.tile<96x16xf32, registers>, !tile.tile<96x16xf32, registers>
  %q:2 = tile.deinterleave %t blocks of 16 dim 1 : !tile.tile<96x32xf32, registers>
    -> !tile.tile<96x16xf32, registers>, !tile.tile<96x16xf32, registers>
  return
}

// CHECK-LABEL: func.func @ordered
// CHECK-SAME:    %[[M:[^ ]+]]: memref<?x64xf32>, %[[C:[^ ]+]]: memref<?xi32>, %[[I:[^ ]+]]: index, %[[T:[^ ]+]]: index
func.func @ordered(%m: memref<?x64xf32>, %counters: memref<?xi32>, %i: index, %t: index) {
  %zero = arith.constant 0.0 : f32
  %tile = tile.fill %zero : f32 -> !tile.tile<32x64xf32, registers>
  // CHECK:      tile.ordered %[[C]][%[[I]]] turn %[[T]] of %[[I]] {
  // CHECK-NEXT:   tile.store %{{.+}}, %[[M]][%[[I]], %[[I]]] accumulate
  // CHECK-NEXT: } {note} : memref<?xi32>
  tile.ordered %counters[%i] turn %t of %i {
    tile.store %tile, %m[%i, %i] accumulate : !tile.tile<32x64xf32, registers>, memref<?x64xf32>
  } {note} : memref<?xi32>
  // CHECK:      tile.ordered %[[C]][%[[I]]] turn %[[T]] of %[[I]] role "store" {
  // CHECK-NEXT: } : memref<?xi32>
  tile.ordered %counters[%i] turn %t of %i role "store" {
  } : memref<?xi32>
  return
}

// CHECK-LABEL: func.func @join
// CHECK-SAME:    %[[C:[^ ]+]]: memref<?xi32>, %[[I:[^ ]+]]: index, %[[N:[^ ]+]]: index
func.func @join(%counters: memref<?xi32>, %i: index, %n: index) -> (i1, i1) {
  // CHECK: tile.join %[[C]][%[[I]]] of %[[N]] : memref<?xi32>
  // CHECK: tile.join %[[C]][%[[I]]] of %[[N]] at 64 {note} : memref<?xi32>
  %a = tile.join %counters[%i] of %n : memref<?xi32>
  %b = tile.join %counters[%i] of %n at 64 {note} : memref<?xi32>
  return %a, %b : i1, i1
}

// CHECK-LABEL: func.func @shared_tiles
// CHECK-SAME:    %[[M:[^ ]+]]: memref<?x64xf16>, %[[A:[^ ]+]]: !tile.tile<32x64xf16, registers>, %[[I:.+]]: index
func.func @shared_tiles(%m: memref<?x64xf16>, %a: !regs, %i: index, %columns: !tile.channel<64x32xf16, stages = 1>) {
  // CHECK: %[[B:.+]] = tile.buffer : <32x64xf16, shared, #tile.swizzle<vector = 8, bits = 3, shift = 0>>
  %b = tile.buffer : !shared
  // CHECK: tile.alternate %{{.+}}, %[[B]], %[[B]] : <32x64xf16, shared,
  %turn = tile.alternate %i, %b, %b : !shared
  // CHECK: tile.write %[[A]], %[[B]] : <32x64xf16, registers>, <32x64xf16, shared,
  tile.write %a, %b : !regs, !shared
  // CHECK: %[[COLUMN:.+]] = tile.read %[[B]] transposed : <32x64xf16, shared, {{.*}}> -> <64x32xf16, registers>
  %column = tile.read %b transposed : !shared -> !tile.tile<64x32xf16, registers>
  // CHECK: tile.write %[[COLUMN]], %[[B]] transposed : <64x32xf16, registers>, <32x64xf16, shared,
  tile.write %column, %b transposed : !tile.tile<64x32xf16, registers>, !shared
  // CHECK: tile.restage %[[B]] into %[[COLUMNS:.+]][%[[I]]] transposed : <32x64xf16, shared, {{.*}}>, <64x32xf16, stages = 1>
  tile.restage %b into %columns[%i] transposed : !shared, !tile.channel<64x32xf16, stages = 1>
  // CHECK: tile.restage %[[B]] into %[[COLUMNS]][%[[I]]] transposed role "restage" : <32x64xf16, shared, {{.*}}>, <64x32xf16, stages = 1>
  tile.restage %b into %columns[%i] transposed role "restage" : !shared, !tile.channel<64x32xf16, stages = 1>
  // CHECK: %[[STORED:.+]] = tile.store_async %[[B]], %[[M]][%[[I]], %[[I]]] : <32x64xf16, shared, {{.*}}>, memref<?x64xf16>
  %stored = tile.store_async %b, %m[%i, %i] : !shared, memref<?x64xf16>
  // CHECK: tile.wait_reads %[[STORED]] : !tile.token
  tile.wait_reads %stored : !tile.token
  return
}

// CHECK-LABEL: func.func @channels
// CHECK-SAME:    %[[M:[^ ]+]]: memref<?x64xf16>, %[[I:[^ ]+]]: index, %[[MORE:.+]]: i1
func.func @channels(%m: memref<?x64xf16>, %i: index, %more: i1) -> !regs {
  // CHECK: %[[C:.+]] = tile.channel : <32x64xf16, stages = 2>
  %c = tile.channel : !channel
  // CHECK: tile.put %[[C]][%[[I]]], %[[M]][%[[I]], %[[I]]] : <32x64xf16, stages = 2>, memref<?x64xf16>
  tile.put %c[%i], %m[%i, %i] : !channel, memref<?x64xf16>
  // CHECK: tile.put %[[C]][%[[I]]], %[[M]][%[[I]], %[[I]]] if %[[MORE]] in_bounds :
  tile.put %c[%i], %m[%i, %i] if %more in_bounds : !channel, memref<?x64xf16>
  // CHECK: %[[T:.+]] = tile.load
  // CHECK: tile.put_tile %[[C]][%[[I]]], %[[T]] : <32x64xf16, stages = 2>, <32x64xf16, registers>
  %t = tile.load %m[%i, %i] : memref<?x64xf16> -> !regs
  tile.put_tile %c[%i], %t : !channel, !regs
  // CHECK: tile.put_tile %[[C]][%[[I]]], %[[T]] role "scores" : <32x64xf16, stages = 2>, <32x64xf16, registers>
  tile.put_tile %c[%i], %t role "scores" : !channel, !regs
  // CHECK: tile.hand_over %[[T]] stages 2 role "scores" : <32x64xf16, registers>
  %handed = tile.hand_over %t stages 2 role "scores" : !regs
  // CHECK: tile.get %[[C]][%[[I]]] : <32x64xf16, stages = 2> -> <32x64xf16, shared, #tile.swizzle<vector = 8, bits = 3, shift = 0>>
  %g = tile.get %c[%i] : !channel -> !shared
  // CHECK: %[[H:.+]] = tile.get %[[C]][%[[I]]] pending 3 :
  %h = tile.get %c[%i] pending 3 : !channel -> !shared
  // CHECK: tile.read %[[H]] : <32x64xf16, shared, {{.*}}> -> <32x64xf16, registers>
  %r = tile.read %h : !shared -> !regs
  // CHECK: tile.release %[[C]][%[[I]]] : <32x64xf16, stages = 2>
  tile.release %c[%i] : !channel
  return %r : !regs
}

// CHECK-LABEL: func.func @arithmetic
func.func @arithmetic(%q: !regs, %k: !shared, %v: !tile.tile<64x32xf16, registers>, %bias: memref<?xf32>,
                      %bytes: !tile.tile<32x32xi8, registers>, %few: !tile.tile<64x16xi8, registers>) {
  %zero = arith.constant 0.0 : f32
  // CHECK: %[[ACC:.+]] = tile.fill %{{.+}} : f32 -> <32x32xf32, registers>
  %acc = tile.fill %zero : f32 -> !tile.tile<32x32xf32, registers>
  // CHECK: %[[S:.+]] = tile.mma %{{.+}}, %{{.+}}, %[[ACC]] transpose_rhs : <32x64xf16, registers>, <32x64xf16, shared
  %s = tile.mma %q, %k, %acc transpose_rhs : !regs, !shared, !tile.tile<32x32xf32, registers>
  // CHECK: tile.mma %{{.+}}, %{{.+}}, %[[ACC]] : <32x64xf16, registers>, <64x32xf16, registers>
  %t = tile.mma %q, %v, %acc : !regs, !tile.tile<64x32xf16, registers>, !tile.tile<32x32xf32, registers>
  // CHECK: tile.mma %{{.+}}, %{{.+}}, %[[ACC]] transpose_rhs packed_rhs : <32x64xf16, registers>, <32x32xi8, registers>
  %u = tile.mma %q, %bytes, %acc transpose_rhs packed_rhs : !regs, !tile.tile<32x32xi8, registers>, !tile.tile<32x32xf32, registers>
  // CHECK: tile.mma_async %{{.+}}, %{{.+}}, %[[ACC]] packed_rhs : <32x64xf16, registers>, <64x16xi8, registers>
  %w = tile.mma_async %q, %few, %acc packed_rhs : !regs, !tile.tile<64x16xi8, registers>, !tile.tile<32x32xf32, registers>
  // CHECK: tile.mma %{{.+}}, %{{.+}}, %[[ACC]] transpose_rhs packed_rhs unit_exponents [-24, -20] : <32x64xf16, registers>, <32x32xi8, registers>
  %units = tile.mma %q, %bytes, %acc transpose_rhs packed_rhs unit_exponents [-24, -20] : !regs, !tile.tile<32x32xi8, registers>, !tile.tile<32x32xf32, registers>
  // CHECK: %[[MAX:.+]] = tile.reduce max %[[S]] : <32x32xf32, registers> -> <32xf32, registers>
  %max = tile.reduce max %s : !tile.tile<32x32xf32, registers> -> !tile.tile<32xf32, registers>
  // CHECK: tile.reduce add %[[S]] : <32x32xf32, registers> -> <32x4xf32, registers>
  %sum = tile.reduce add %s : !tile.tile<32x32xf32, registers> -> !tile.tile<32x4xf32, registers>
  // CHECK: tile.reduce add %[[S]] init %{{.+}} : <32x32xf32, registers> -> <32x4xf32, registers>
  %more = tile.reduce add %s init %sum : !tile.tile<32x32xf32, registers> -> !tile.tile<32x4xf32, registers>
  %positive = tile.map(%max) {
  ^bb0(%x: f32, %i: index):
    %is = arith.cmpf ogt, %x, %zero : f32
    tile.yield %is : i1
  } : (!tile.tile<32xf32, registers>) -> !tile.tile<32xi1, registers>
  // CHECK: tile.any %{{.+}} : <32xi1, registers>
  %any = tile.any %positive : !tile.tile<32xi1, registers>
  // CHECK: %[[WIDE:.+]] = tile.broadcast %[[MAX]] : <32xf32, registers> -> <32x32xf32, registers>
  %wide = tile.broadcast %max : !tile.tile<32xf32, registers> -> !tile.tile<32x32xf32, registers>
  // CHECK: tile.swap_columns %[[S]] stride 16 : <32x32xf32, registers>
  %swapped = tile.swap_columns %s stride 16 : !tile.tile<32x32xf32, registers>
  // CHECK: tile.map(%[[S]], %[[WIDE]]) {
  // CHECK-NEXT: ^bb0(%[[X:.+]]: f32, %[[Y:.+]]: f32, %{{.+}}: index, %[[J:.+]]: index):
  // CHECK-NEXT:   arith.subf %[[X]], %[[Y]] : f32
  // CHECK-NEXT:   memref.load %{{.+}}[%[[J]]]
  // CHECK:        tile.yield %{{.+}} : f32
  // CHECK-NEXT: } : (!tile.tile<32x32xf32, registers>, !tile.tile<32x32xf32, registers>) -> !tile.tile<32x32xf32, registers>
  %d = tile.map(%s, %wide) {
  ^bb0(%x: f32, %y: f32, %i: index, %j: index):
    %difference = arith.subf %x, %y : f32
    %b = memref.load %bias[%j] : memref<?xf32>
    %biased = arith.addf %difference, %b : f32
    tile.yield %biased : f32
  } : (!tile.tile<32x32xf32, registers>, !tile.tile<32x32xf32, registers>) -> !tile.tile<32x32xf32, registers>
  // A map without inputs computes from positions.
  // CHECK: tile.map() {
  // CHECK-NEXT: ^bb0(%[[I:.+]]: index):
  %positions = tile.map() {
  ^bb0(%i: index):
    tile.yield %i : index
  } : () -> !tile.tile<32xindex, registers>
  return
}

#rows = #tile.layout<registers = [[8, 1, 1]], lanes = [[16, 0, 1]], warps = []>
#columns = #tile.layout<registers = [[16, 0, 1]], lanes = [[8, 1, 1], [2, 0, 0]], warps = []>

// CHECK-LABEL: func.func @convert_layout
func.func @convert_layout(%a: !tile.tile<16x8xf32, registers, #rows>) -> !tile.tile<16x8xf32, registers, #columns> {
  // CHECK: tile.convert_layout %{{.+}} : <16x8xf32, registers, #tile.layout<registers = {{\[\[}}8, 1, 1]], lanes = {{\[\[}}16, 0, 1]], warps = []>>
  // CHECK-SAME: -> <16x8xf32, registers, #tile.layout<registers = {{\[\[}}16, 0, 1]], lanes = {{\[\[}}8, 1, 1], [2, 0, 0]], warps = []>>
  %b = tile.convert_layout %a : !tile.tile<16x8xf32, registers, #rows> -> !tile.tile<16x8xf32, registers, #columns>
  return %b : !tile.tile<16x8xf32, registers, #columns>
}

!atoms = !tile.channel<32x64xf16, stages = 2, swizzle_atom = 32>
!atom_tile = !tile.tile<32x64xf16, shared, #tile.swizzle<vector = 8, bits = 2, shift = 1, swizzle_atom = 32>>
!acc = !tile.tile<32x32xf32, registers>

// A slot of a channel with swizzle atoms has the swizzle of a swizzle atom.
// CHECK-LABEL: func.func @multiplies
func.func @multiplies(%q: !regs, %i: index, %acc: !acc) -> !acc {
  // CHECK: %[[C:.+]] = tile.channel : <32x64xf16, stages = 2, swizzle_atom = 32>
  %c = tile.channel : !atoms
  // CHECK: %[[K:.+]] = tile.get %[[C]][%{{.+}}] : <32x64xf16, stages = 2, swizzle_atom = 32> -> <32x64xf16, shared, #tile.swizzle<vector = 8, bits = 2, shift = 1, swizzle_atom = 32>>
  %k = tile.get %c[%i] : !atoms -> !atom_tile
  // CHECK: %[[P:.+]] = tile.mma_async %{{.+}}, %[[K]], %{{.+}} transpose_rhs : <32x64xf16, registers>, <32x64xf16, shared, {{.*}}>, !tile.tile<32x32xf32, registers>
  %p = tile.mma_async %q, %k, %acc transpose_rhs : !regs, !atom_tile, !acc
  // CHECK: %[[R:.+]] = tile.mma_async %[[K]], %[[K]], %{{.+}} transpose_rhs {note} : <32x64xf16, shared
  %r = tile.mma_async %k, %k, %acc transpose_rhs {note} : !atom_tile, !atom_tile, !acc
  // CHECK: tile.mma_async %{{.+}}, %[[K]], %[[P]] transpose_rhs terms [16, 64] : <32x64xf16, registers>
  %e = tile.mma_async %q, %k, %p transpose_rhs terms [16, 64] : !regs, !atom_tile, !tile.pending<!acc>
  // CHECK: tile.wait %[[P]] : <<32x32xf32, registers>>
  %s = tile.wait %p : !tile.pending<!acc>
  // CHECK: %[[T:.+]] = tile.wait %[[R]] : <<32x32xf32, registers>>
  %t = tile.wait %r : !tile.pending<!acc>
  // CHECK: return %[[T]]
  return %t : !acc
}

// What completes is a value, which loops carry.
// CHECK-LABEL: func.func @completion
func.func @completion(%b: !shared, %k: !atom_tile, %m: memref<?x64xf16>, %acc: !acc, %i: index) -> !acc {
  // CHECK: %[[NONE:.+]] = tile.done{{$}}
  %none = tile.done
  // CHECK: %[[P:.+]] = tile.mma_async
  %p = tile.mma_async %k, %k, %acc transpose_rhs : !atom_tile, !atom_tile, !acc
  // CHECK: %[[FOR:.+]]:2 = scf.for {{.*}} iter_args(%[[BEFORE:.+]] = %[[NONE]], %[[Q:.+]] = %[[P]]) -> (!tile.token, !tile.pending<<32x32xf32, registers>>)
  %last, %sum = scf.for %j = %i to %i step %i iter_args(%before = %none, %q = %p) -> (!tile.token, !tile.pending<!acc>) {
    // CHECK: tile.wait_reads %[[BEFORE]] : !tile.token
    tile.wait_reads %before : !tile.token
    // CHECK: %[[R:.+]] = tile.mma_async %{{.+}}, %{{.+}}, %[[Q]] transpose_rhs
    %r = tile.mma_async %k, %k, %q transpose_rhs : !atom_tile, !atom_tile, !tile.pending<!acc>
    // CHECK: tile.wait_reads %[[Q]] : !tile.pending<<32x32xf32, registers>>
    tile.wait_reads %q : !tile.pending<!acc>
    // CHECK: %[[STORED:.+]] = tile.store_async
    %stored = tile.store_async %b, %m[%j, %i] : !shared, memref<?x64xf16>
    // CHECK: scf.yield %[[STORED]], %[[R]] : !tile.token, !tile.pending<<32x32xf32, registers>>
    scf.yield %stored, %r : !tile.token, !tile.pending<!acc>
  }
  // CHECK: tile.wait_reads %[[FOR]]#0 : !tile.token
  tile.wait_reads %last : !tile.token
  // CHECK: tile.wait %[[FOR]]#1 : <<32x32xf32, registers>>
  %d = tile.wait %sum : !tile.pending<!acc>
  return %d : !acc
}

// CHECK-LABEL: func.func @roles
func.func @roles() {
  // CHECK: tile.ping_pong_init of 3
  tile.ping_pong_init of 3
  // CHECK: tile.specialize <"compute", warps = 4, registers = 240> {
  // CHECK-NEXT: tile.ping_pong_wait of 3
  // CHECK-NEXT: tile.ping_pong_arrive of 3
  // CHECK-NEXT: }, <"load", warps = 4, registers = 24, threads = one> {
  // CHECK: } {note}
  tile.specialize <"compute", warps = 4, registers = 240> {
    tile.ping_pong_wait of 3
    tile.ping_pong_arrive of 3
  }, <"load", warps = 4, registers = 24, threads = one> {
    %i = arith.constant 0 : index
  } {note}
  // CHECK: %[[SCHEDULER:.+]] = tile.scheduler : !tile.scheduler
  // CHECK: tile.fetch_work %[[SCHEDULER]][%{{.+}}], %{{.+}} after %{{.+}} of %{{.+}} : !tile.scheduler, memref<1xi32>
  // CHECK: tile.get_work %[[SCHEDULER]][%{{.+}}] after %{{.+}} : !tile.scheduler
  %c7 = arith.constant 7 : index
  %counter = memref.alloc() : memref<1xi32>
  %scheduler = tile.scheduler : !tile.scheduler
  %next = tile.fetch_work %scheduler[%c7], %counter after %c7 of %c7 : !tile.scheduler, memref<1xi32>
  %same = tile.get_work %scheduler[%c7] after %c7 : !tile.scheduler
  // Teams of a role, that go by turns.
  // CHECK: tile.specialize <"compute", warps = 8, registers = 240, teams = 2> {
  // CHECK-NEXT: tile.is_turn %{{.+}} {note}
  // CHECK-NEXT: }, <"load", warps = 4, registers = 24, threads = one> {
  tile.specialize <"compute", warps = 8, registers = 240, teams = 2> {
    %turn = tile.is_turn %c7 {note}
  }, <"load", warps = 4, registers = 24, threads = one, teams = 1> {
  }
  // Any number of roles, some of which have nothing to do.
  // CHECK: tile.specialize <"load_k", warps = 1, threads = one> {
  // CHECK-NEXT: }, <"compute", warps = 4> {
  // CHECK-NEXT: }, <"load_v", warps = 1, threads = one> {
  // CHECK-NEXT: }
  // CHECK-NEXT: return
  tile.specialize <"load_k", warps = 1, threads = one> {
  }, <"compute", warps = 4, threads = all> {
  }, <"load_v", warps = 1, threads = one> {
  }
  return
}

// What tile-allocate-shared gives and makes.
// CHECK-LABEL: func.func @places
func.func @places(%m: memref<?x64xf16>, %i: index, %map: !nvgpu.tensormap.descriptor<tensor = memref<8x64xf16, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>) {
  // CHECK: tile.channel at 1024 barriers at 9216 : <32x64xf16, stages = 2>
  %c = tile.channel at 1024 barriers at 9216 : !channel
  // CHECK: tile.channel at 0 : <32x64xf16, stages = 2>
  %without = tile.channel at 0 : !channel
  // CHECK: %[[B:.+]] = tile.buffer at 2048 : <32x64xf16, shared,
  %b = tile.buffer at 2048 : !shared
  // CHECK: tile.scheduler at 64 : !tile.scheduler
  %d = tile.scheduler at 64 : !tile.scheduler
  // CHECK: tile.fence_barriers
  tile.fence_barriers
  // CHECK: tile.put %{{.+}}[%{{.+}}], %{{.+}}[%{{.+}}, %{{.+}}] role "load_k" eviction last map(%[[MAP:.+]] : !nvgpu.tensormap.descriptor<{{.*}}>) : <32x64xf16, stages = 2>, memref<?x64xf16>
  tile.put %c[%i], %m[%i, %i] role "load_k" eviction last map(%map : !nvgpu.tensormap.descriptor<tensor = memref<8x64xf16, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>) : !channel, memref<?x64xf16>
  // CHECK: %[[STORED:.+]] = tile.store_async %[[B]], %{{.+}}[%{{.+}}, %{{.+}}] accumulate eviction first map %{{.+}} : !nvgpu.tensormap.descriptor<{{.*}}>, : <32x64xf16, shared,
  %stored = tile.store_async %b, %m[%i, %i] accumulate eviction first map %map : !nvgpu.tensormap.descriptor<tensor = memref<8x64xf16, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>, : !shared, memref<?x64xf16>
  // CHECK-NEXT: tile.wait_reads %[[STORED]] : !tile.token
  // CHECK-NEXT: tile.sync_warp
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.arrive_cluster
  // CHECK-NEXT: tile.wait_cluster
  tile.wait_reads %stored : !tile.token
  tile.sync_warp
  tile.barrier
  tile.arrive_cluster
  tile.wait_cluster
  return
}

// What passes obey.
// CHECK-LABEL: func.func @clauses
func.func @clauses(%m: memref<?x64xf16>, %rows: memref<?xf16>, %i: index, %k: !shared, %acc: !acc) {
  // CHECK: %[[A:.+]] = tile.load %{{.+}}[%{{.+}}, %{{.+}}] in_bounds stages 3 read_once role "load_q" eviction first {note} : memref<?x64xf16>
  %a = tile.load %m[%i, %i] in_bounds stages 3 read_once role "load_q" eviction first {note} : memref<?x64xf16> -> !regs
  // CHECK: tile.load %{{.+}}[%{{.+}}, %{{.+}}] stages 1 : memref<?x64xf16>
  %b = tile.load %m[%i, %i] stages 1 : memref<?x64xf16> -> !regs
  // CHECK: tile.load %{{.+}}[%{{.+}}, %{{.+}}] role "load_q" : memref<?x64xf16>
  %c = tile.load %m[%i, %i] role "load_q" : memref<?x64xf16> -> !regs
  // CHECK: tile.store %[[A]], %{{.+}}[%{{.+}}, %{{.+}}] path operand_slot : <32x64xf16, registers>
  tile.store %a, %m[%i, %i] path operand_slot : !regs, memref<?x64xf16>
  // CHECK: tile.store %[[A]], %{{.+}}[%{{.+}}, %{{.+}}] path buffer eviction first {note} : <32x64xf16, registers>
  tile.store %a, %m[%i, %i] path buffer eviction first {note} : !regs, memref<?x64xf16>
  // What is said anyway is not printed.
  // CHECK: tile.store %[[A]], %{{.+}}[%{{.+}}, %{{.+}}] : <32x64xf16, registers>
  tile.store %a, %m[%i, %i] path direct : !regs, memref<?x64xf16>
  // CHECK: tile.mma %[[A]], %{{.+}}, %{{.+}} transpose_rhs scope warpgroup warps_n 2 lhs_through_shared {note} : <32x64xf16, registers>
  %s = tile.mma %a, %k, %acc transpose_rhs scope warpgroup warps_n 2 lhs_through_shared {note} : !regs, !shared, !acc
  // CHECK: tile.mma %[[A]], %{{.+}}, %{{.+}} transpose_rhs : <32x64xf16, registers>
  %t = tile.mma %a, %k, %acc transpose_rhs scope warp warps_n 1 : !regs, !shared, !acc
  // CHECK: tile.mma %[[A]], %{{.+}}, %{{.+}} transpose_rhs scope warpgroup replicas 2 : <32x64xf16, registers>
  %r = tile.mma %a, %k, %acc transpose_rhs scope warpgroup replicas 2 : !regs, !shared, !acc
  // CHECK: tile.mma_async %[[A]], %{{.+}}, %{{.+}} transpose_rhs replicas 4 : <32x64xf16, registers>
  %p = tile.mma_async %a, %k, %acc transpose_rhs replicas 4 : !regs, !shared, !acc
  // CHECK: tile.mma_async %[[A]], %{{.+}}, %{{.+}} transpose_rhs scope warpgroup warps_n 2 : <32x64xf16, registers>
  %u = tile.mma_async %a, %k, %acc transpose_rhs scope warpgroup warps_n 2 : !regs, !shared, !acc
  return
}
