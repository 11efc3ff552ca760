// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops of two MMAs, rotated by one, and those that are left alone.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(gpu.module(gpu.func(tile-overlap-mmas)))" | FileCheck %s

#swizzle = #tile.swizzle<vector = 8, bits = 2, shift = 1, swizzle_atom = 32>
!channel = !tile.channel<16x32xf16, stages = 2, swizzle_atom = 32>
!shared = !tile.tile<16x32xf16, shared, #swizzle>
!columns = !tile.tile<32x16xf16, shared, #tile.swizzle<vector = 8, bits = 1, shift = 2, swizzle_atom = 16>>
!transposed = !tile.channel<32x16xf16, stages = 2, swizzle_atom = 16>
!q = !tile.tile<64x32xf16, registers>
!s = !tile.tile<64x16xf32, registers>
!p = !tile.tile<64x16xf16, registers>
!o = !tile.tile<64x32xf32, registers>

gpu.module @kernels {
  // The weights of a block are carried to the iteration of the next; the value
  // is fetched there, and released when its MMA is done.
  // CHECK-LABEL: gpu.func @rotated
  // CHECK-SAME:    %[[Q:[^ ]+]]: !tile.tile<64x32xf16, registers>, %[[M:[^ ]+]]: memref<?x32xf16>, %{{.+}}, %{{.+}}, %[[FIRST:[^ ]+]]: !tile.tile<64x32xf32, registers>
  // CHECK-DAG: %[[C0:.+]] = arith.constant 0 : index
  // CHECK-DAG: %[[C1:.+]] = arith.constant 1 : index
  // CHECK: %[[K:.+]] = tile.channel
  // CHECK: %[[V:.+]] = tile.channel
  // The first half of the first iteration: there is one, so no test is needed.
  // CHECK-NOT: scf.if
  // CHECK: tile.put %[[K]][%[[C0]]]
  // CHECK: tile.get %[[K]][%[[C0]]]
  // CHECK: tile.mma %{{.+}} transpose_rhs
  // CHECK: tile.release %[[K]][%[[C0]]]
  // CHECK-NOT: tile.put %[[V]]
  // CHECK: tile.map(
  // CHECK: arith.truncf
  // CHECK: %[[SCALED:.+]] = tile.map(%[[FIRST]])
  // CHECK: scf.for %[[J:.+]] = %{{.+}} to %{{.+}} step %[[C1]] iter_args(%[[MAX:.+]] = %{{.+}}, %[[ACC:.+]] = %[[SCALED]], %[[W:.+]] = %{{.+}}) -> (!tile.tile<64xf32, registers>, !tile.tile<64x32xf32, registers>, !tile.tile<64x16xf16, registers>)
  // CHECK:   %[[LAST:.+]] = arith.subi %[[J]], %[[C1]]
  // CHECK:   tile.put %[[K]][%[[J]]], %[[M]][%[[J]], %[[C0]]]
  // CHECK:   %[[KEY:.+]] = tile.get %[[K]][%[[J]]]
  // CHECK:   %[[S:.+]] = tile.mma_async %[[Q]], %[[KEY]], %{{.+}} transpose_rhs
  // CHECK:   tile.put %[[V]][%[[LAST]]], %[[M]][%[[LAST]], %[[C0]]]
  // CHECK:   %[[VALUE:.+]] = tile.get %[[V]][%[[LAST]]]
  // CHECK:   %[[SUM:.+]] = tile.mma_async %[[W]], %[[VALUE]], %[[ACC]] scope warpgroup :
  // Scores are there while the other MMA runs.
  // CHECK:   tile.wait %[[S]] :
  // CHECK:   tile.release %[[K]][%[[J]]]
  // CHECK:   %[[NEXT:.+]] = tile.reduce max
  // CHECK:   %[[DONE:.+]] = tile.wait %[[SUM]] :
  // CHECK:   tile.release %[[V]][%[[LAST]]]
  // What the MMA read is overwritten behind it.
  // CHECK:   %[[WEIGHTS:.+]] = tile.map(
  // CHECK:   arith.truncf
  // CHECK:   %[[SCALED:.+]] = tile.map(%[[DONE]])
  // CHECK:   scf.yield %[[NEXT]], %[[SCALED]], %[[WEIGHTS]]
  // The second half of the last iteration.
  // CHECK: %[[END:.+]] = arith.subi %c4
  // CHECK: tile.put %[[V]][%[[END]]]
  // CHECK: %[[VALUE:.+]] = tile.get %[[V]][%[[END]]]
  // CHECK: %[[RESULT:.+]] = tile.mma %{{.+}}, %[[VALUE]], %{{.+}} scope warpgroup :
  // CHECK: tile.release %[[V]][%[[END]]]
  // CHECK-NOT: tile.mma
  // CHECK: tile.store %[[RESULT]]
  gpu.func @rotated(%q: !q, %m: memref<?x32xf16>, %max: !tile.tile<64xf32, registers>, %zero: !s, %acc: !o, %out: memref<64x32xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %kc = tile.channel : !channel
    %vc = tile.channel : !channel
    %r:2 = scf.for %j = %c0 to %c4 step %c1 iter_args(%x = %max, %a = %acc) -> (!tile.tile<64xf32, registers>, !o) {
      tile.put %kc[%j], %m[%j, %c0] : !channel, memref<?x32xf16>
      %k = tile.get %kc[%j] : !channel -> !shared
      %s = tile.mma %q, %k, %zero transpose_rhs scope warpgroup : !q, !shared, !s
      tile.release %kc[%j] : !channel
      %n = tile.reduce max %s : !s -> !tile.tile<64xf32, registers>
      %p = tile.map(%s) {
      ^bb0(%e: f32, %row: index, %column: index):
        %t = arith.truncf %e : f32 to f16
        tile.yield %t : f16
      } : (!s) -> !p
      %b = tile.map(%a) {
      ^bb0(%e: f32, %row: index, %column: index):
        %t = arith.negf %e : f32
        tile.yield %t : f32
      } : (!o) -> !o
      tile.put %vc[%j], %m[%j, %c0] : !channel, memref<?x32xf16>
      %v = tile.get %vc[%j] : !channel -> !shared
      %o = tile.mma %p, %v, %b scope warpgroup : !p, !shared, !o
      tile.release %vc[%j] : !channel
      scf.yield %n, %o : !tile.tile<64xf32, registers>, !o
    } {tile.overlap = #tile<overlap early>}
    tile.store %r#1, %out[%c0, %c0] : !o, memref<64x32xf32>
    gpu.return
  }

  // Values are transposed in the first half, while those of the iteration before are multiplied.
  // CHECK-LABEL: gpu.func @transposed
  // CHECK: tile.mma %{{.+}} transpose_rhs scope warpgroup :
  // CHECK: %[[FIRST:.+]] = tile.get %[[V:[0-9a-z_]+]][%c0
  // CHECK-NEXT: tile.restage %[[FIRST]] into %[[C:[0-9a-z_]+]][%c0
  // CHECK-NEXT: tile.release %[[V]][%c0
  // CHECK-NOT: tile.get
  // CHECK: scf.for %[[J:[^ ]+]] =
  // CHECK:   %[[LAST:.+]] = arith.subi %[[J]], %{{.+}}
  // CHECK:   %[[S:.+]] = tile.mma_async
  // CHECK-NEXT: %[[PLACE:.+]] = tile.get %[[C]][%[[LAST]]]
  // CHECK-NEXT: %[[SUM:.+]] = tile.mma_async %{{.+}}, %[[PLACE]], %{{.+}} transpose_rhs scope warpgroup :
  // CHECK-NEXT: tile.wait %[[S]] :
  // CHECK:   %[[VALUE:.+]] = tile.get %[[V]][%[[J]]]
  // CHECK-NEXT: tile.restage %[[VALUE]] into %[[C]][%[[J]]]
  // CHECK-NEXT: tile.release %[[V]][%[[J]]]
  // CHECK:   tile.wait %[[SUM]] :
  // CHECK-NEXT: tile.release %[[C]][%[[LAST]]]
  // CHECK:   scf.yield
  // CHECK-NOT: tile.restage
  // CHECK: tile.get %[[C]]
  // CHECK-NEXT: tile.mma
  // CHECK-NEXT: tile.release %[[C]]
  // CHECK: gpu.return
  gpu.func @transposed(%q: !q, %k: !shared, %max: !tile.tile<64xf32, registers>, %zero: !s, %acc: !o, %out: memref<64x32xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %columns = tile.channel : !transposed
    %vc = tile.channel : !channel
    %r:2 = scf.for %j = %c0 to %c4 step %c1 iter_args(%x = %max, %a = %acc) -> (!tile.tile<64xf32, registers>, !o) {
      %s = tile.mma %q, %k, %zero transpose_rhs scope warpgroup : !q, !shared, !s
      %n = tile.reduce max %s : !s -> !tile.tile<64xf32, registers>
      %p = tile.map(%s) {
      ^bb0(%e: f32, %row: index, %column: index):
        %t = arith.truncf %e : f32 to f16
        tile.yield %t : f16
      } : (!s) -> !p
      %v = tile.get %vc[%j] : !channel -> !shared
      tile.restage %v into %columns[%j] transposed : !shared, !transposed
      tile.release %vc[%j] : !channel
      %place = tile.get %columns[%j] : !transposed -> !columns
      %o = tile.mma %p, %place, %a transpose_rhs scope warpgroup : !p, !columns, !o
      tile.release %columns[%j] : !transposed
      scf.yield %n, %o : !tile.tile<64xf32, registers>, !o
    } {tile.overlap = #tile<overlap early>}
    tile.store %r#1, %out[%c0, %c0] : !o, memref<64x32xf32>
    gpu.return
  }

  // A loop that may not run is rotated where it does.
  // CHECK-LABEL: gpu.func @maybe_empty
  // CHECK-SAME:    %[[ACC:[^ ]+]]: !tile.tile<64x32xf32, registers>, %[[LO:[^ ]+]]: index, %[[HI:[^ ]+]]: index
  // CHECK: %[[ANY:.+]] = arith.cmpi slt, %[[LO]], %[[HI]]
  // CHECK: %[[RESULT:.+]] = scf.if %[[ANY]] -> (!tile.tile<64x32xf32, registers>)
  // CHECK:   tile.mma %
  // CHECK:   %[[SECOND:.+]] = arith.addi %[[LO]], %c2
  // CHECK:   scf.for %{{.+}} = %[[SECOND]] to %[[HI]] step %c2
  // CHECK:     tile.mma_async
  // CHECK:     tile.mma_async
  // The last element, where the range is no multiple of the step.
  // CHECK:   %[[LENGTH:.+]] = arith.subi %[[HI]], %[[LO]]
  // CHECK:   %[[DISTANCE:.+]] = arith.subi %[[LENGTH]], %c1
  // CHECK:   %[[STEPS:.+]] = arith.divui %[[DISTANCE]], %c2
  // CHECK:   %[[WHOLE:.+]] = arith.muli %[[STEPS]], %c2
  // CHECK:   %[[END:.+]] = arith.addi %[[LO]], %[[WHOLE]]
  // CHECK:   tile.get %{{.+}}[%[[END]]]
  // CHECK:   tile.mma
  // CHECK: } else {
  // CHECK-NEXT: scf.yield %[[ACC]]
  // CHECK: tile.store %[[RESULT]]
  gpu.func @maybe_empty(%acc: !o, %lo: index, %hi: index, %q: !q, %k: !shared, %zero: !s, %out: memref<64x32xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %vc = tile.channel : !channel
    %r = scf.for %j = %lo to %hi step %c2 iter_args(%a = %acc) -> !o {
      %s = tile.mma %q, %k, %zero transpose_rhs scope warpgroup : !q, !shared, !s
      %p = tile.map(%s) {
      ^bb0(%e: f32, %row: index, %column: index):
        %t = arith.truncf %e : f32 to f16
        tile.yield %t : f16
      } : (!s) -> !p
      %v = tile.get %vc[%j] : !channel -> !shared
      %o = tile.mma %p, %v, %a scope warpgroup : !p, !shared, !o
      tile.release %vc[%j] : !channel
      scf.yield %o : !o
    } {tile.overlap = #tile<overlap early>}
    tile.store %r, %out[%c0, %c0] : !o, memref<64x32xf32>
    gpu.return
  }

  // The output is rescaled under the first MMA of the next block: what an iteration carries is the sum as the second
  // MMA left it, the weights, and the rows' factors; copies of these are made where they are wanted.
  // CHECK-LABEL: gpu.func @rescaled_late
  // CHECK-SAME:    %[[Q:[^ ]+]]: !tile.tile<64x32xf16, registers>, %[[FIRST:[^ ]+]]: !tile.tile<64x32xf32, registers>
  // CHECK: tile.mma %[[Q]]
  // CHECK: %[[F0:.+]] = tile.reduce max
  // CHECK: %[[W0:.+]] = tile.map(
  // CHECK-NOT: tile.broadcast
  // CHECK: scf.for {{.+}} iter_args(%[[ACC:.+]] = %[[FIRST]], %[[W:.+]] = %[[W0]], %[[F:.+]] = %[[F0]]) -> (!tile.tile<64x32xf32, registers>, !tile.tile<64x16xf16, registers>, !tile.tile<64xf32, registers>)
  // CHECK:   %[[S:.+]] = tile.mma_async %[[Q]]
  // CHECK:   %[[COPIES:.+]] = tile.broadcast %[[F]]
  // CHECK:   %[[SCALED:.+]] = tile.map(%[[ACC]], %[[COPIES]])
  // CHECK:   tile.get
  // CHECK:   %[[SUM:.+]] = tile.mma_async %[[W]], %{{.+}}, %[[SCALED]] scope warpgroup :
  // CHECK:   tile.wait %[[S]] :
  // CHECK:   %[[FACTOR:.+]] = tile.reduce max
  // CHECK:   %[[DONE:.+]] = tile.wait %[[SUM]] :
  // CHECK:   %[[WEIGHTS:.+]] = tile.map(
  // CHECK-NOT: tile.map(
  // CHECK:   scf.yield %[[DONE]], %[[WEIGHTS]], %[[FACTOR]]
  // CHECK: tile.broadcast
  // CHECK: %[[SCALED:.+]] = tile.map(
  // CHECK: tile.mma %{{.+}}, %{{.+}}, %[[SCALED]] scope warpgroup :
  gpu.func @rescaled_late(%q: !q, %acc: !o, %n: index, %k: !shared, %zero: !s, %out: memref<64x32xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %vc = tile.channel : !channel
    %r = scf.for %j = %c0 to %n step %c1 iter_args(%a = %acc) -> !o {
      %s = tile.mma %q, %k, %zero transpose_rhs scope warpgroup : !q, !shared, !s
      %f = tile.reduce max %s : !s -> !tile.tile<64xf32, registers>
      %p = tile.map(%s) {
      ^bb0(%e: f32, %row: index, %column: index):
        %t = arith.truncf %e : f32 to f16
        tile.yield %t : f16
      } : (!s) -> !p
      %fs = tile.broadcast %f : !tile.tile<64xf32, registers> -> !o
      %b = tile.map(%a, %fs) {
      ^bb0(%e: f32, %g: f32, %row: index, %column: index):
        %t = arith.mulf %e, %g : f32
        tile.yield %t : f32
      } : (!o, !o) -> !o
      %v = tile.get %vc[%j] : !channel -> !shared
      %o = tile.mma %p, %v, %b scope warpgroup : !p, !shared, !o
      tile.release %vc[%j] : !channel
      scf.yield %o : !o
    } {tile.overlap = #tile<overlap late>}
    tile.store %r, %out[%c0, %c0] : !o, memref<64x32xf32>
    gpu.return
  }

  // The same where it is seldom rescaled: the warp's decision is carried, too.
  // CHECK-LABEL: gpu.func @rescaled_seldom_and_late
  // CHECK: scf.for {{.+}} -> (!tile.tile<64x32xf32, registers>, !tile.tile<64x16xf16, registers>, !tile.tile<64xf32, registers>, i1)
  // CHECK:   tile.mma_async
  // CHECK:   %[[SCALED:.+]] = scf.if
  // CHECK:   tile.mma_async %{{.+}}, %{{.+}}, %[[SCALED]] scope warpgroup :
  gpu.func @rescaled_seldom_and_late(%q: !q, %acc: !o, %n: index, %k: !shared, %zero: !s, %grown: !tile.tile<64xi1, registers>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %vc = tile.channel : !channel
    %r = scf.for %j = %c0 to %n step %c1 iter_args(%a = %acc) -> !o {
      %s = tile.mma %q, %k, %zero transpose_rhs scope warpgroup : !q, !shared, !s
      %f = tile.reduce max %s : !s -> !tile.tile<64xf32, registers>
      %any = tile.any %grown : !tile.tile<64xi1, registers>
      %p = tile.map(%s) {
      ^bb0(%e: f32, %row: index, %column: index):
        %t = arith.truncf %e : f32 to f16
        tile.yield %t : f16
      } : (!s) -> !p
      %b = scf.if %any -> !o {
        %fs = tile.broadcast %f : !tile.tile<64xf32, registers> -> !o
        scf.yield %fs : !o
      } else {
        scf.yield %a : !o
      }
      %v = tile.get %vc[%j] : !channel -> !shared
      %o = tile.mma %p, %v, %b scope warpgroup : !p, !shared, !o
      tile.release %vc[%j] : !channel
      scf.yield %o : !o
    } {tile.overlap = #tile<overlap late>}
    gpu.return
  }

  // Weights in shared memory are not carried: they are written when the MMA that reads them is done, and rounded before.
  // CHECK-LABEL: gpu.func @weights_in_shared
  // CHECK: %[[PLACE:.+]] = tile.buffer
  // CHECK: tile.write %{{.+}}, %[[PLACE]]
  // CHECK: scf.for {{.+}} -> (!tile.tile<64x32xf32, registers>) {
  // CHECK:   %[[S:.+]] = tile.mma_async
  // CHECK:   %[[SUM:.+]] = tile.mma_async %[[PLACE]]
  // CHECK:   tile.wait %[[S]] :
  // CHECK:   %[[WEIGHTS:.+]] = tile.map(
  // CHECK:   tile.wait %[[SUM]] :
  // CHECK:   tile.write %[[WEIGHTS]], %[[PLACE]]
  // CHECK:   scf.yield
  // CHECK: tile.mma %[[PLACE]]
  gpu.func @weights_in_shared(%q: !q, %acc: !o, %n: index, %k: !shared, %zero: !s) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %place = tile.buffer : !tile.tile<64x16xf16, shared, #tile.swizzle<vector = 8, bits = 1, shift = 2, swizzle_atom = 16>>
    %vc = tile.channel : !channel
    %r = scf.for %j = %c0 to %n step %c1 iter_args(%a = %acc) -> !o {
      %s = tile.mma %q, %k, %zero transpose_rhs scope warpgroup lhs_through_shared : !q, !shared, !s
      %p = tile.map(%s) {
      ^bb0(%e: f32, %row: index, %column: index):
        %t = arith.truncf %e : f32 to f16
        tile.yield %t : f16
      } : (!s) -> !p
      tile.write %p, %place : !p, !tile.tile<64x16xf16, shared, #tile.swizzle<vector = 8, bits = 1, shift = 2, swizzle_atom = 16>>
      %v = tile.get %vc[%j] : !channel -> !shared
      %o = tile.mma %place, %v, %a scope warpgroup lhs_through_shared : !tile.tile<64x16xf16, shared, #tile.swizzle<vector = 8, bits = 1, shift = 2, swizzle_atom = 16>>, !shared, !o
      tile.release %vc[%j] : !channel
      scf.yield %o : !o
    } {tile.overlap = #tile<overlap early>}
    gpu.return
  }

  // CHECK-LABEL: gpu.func @no_overlap
  // CHECK-NOT: tile.mma_async
  // CHECK: gpu.return
  gpu.func @no_overlap(%acc: !o, %n: index, %q: !q, %k: !shared, %zero: !s) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %vc = tile.channel : !channel
    %r = scf.for %j = %c0 to %n step %c1 iter_args(%a = %acc) -> !o {
      %s = tile.mma %q, %k, %zero transpose_rhs scope warpgroup : !q, !shared, !s
      %p = tile.map(%s) {
      ^bb0(%e: f32, %row: index, %column: index):
        %t = arith.truncf %e : f32 to f16
        tile.yield %t : f16
      } : (!s) -> !p
      %v = tile.get %vc[%j] : !channel -> !shared
      %o = tile.mma %p, %v, %a scope warpgroup : !p, !shared, !o
      tile.release %vc[%j] : !channel
      scf.yield %o : !o
    }
    gpu.return
  }

  // Keys that are values: the first MMA needs what the second one fetches.
  // CHECK-LABEL: gpu.func @one_channel
  // CHECK-NOT: tile.mma_async
  // CHECK: gpu.return
  gpu.func @one_channel(%acc: !tile.tile<64x16xf32, registers>, %n: index, %q: !tile.tile<64x16xf16, registers>, %zero: !s) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c = tile.channel : !tile.channel<16x16xf16, stages = 2, swizzle_atom = 16>
    %r = scf.for %j = %c0 to %n step %c1 iter_args(%a = %acc) -> !s {
      %k = tile.get %c[%j] : !tile.channel<16x16xf16, stages = 2, swizzle_atom = 16> -> !tile.tile<16x16xf16, shared, #tile.swizzle<vector = 8, bits = 1, shift = 2, swizzle_atom = 16>>
      %s = tile.mma %q, %k, %zero transpose_rhs scope warpgroup : !tile.tile<64x16xf16, registers>, !tile.tile<16x16xf16, shared, #tile.swizzle<vector = 8, bits = 1, shift = 2, swizzle_atom = 16>>, !s
      %p = tile.map(%s) {
      ^bb0(%e: f32, %row: index, %column: index):
        %t = arith.truncf %e : f32 to f16
        tile.yield %t : f16
      } : (!s) -> !p
      %o = tile.mma %p, %k, %a scope warpgroup : !p, !tile.tile<16x16xf16, shared, #tile.swizzle<vector = 8, bits = 1, shift = 2, swizzle_atom = 16>>, !s
      tile.release %c[%j] : !tile.channel<16x16xf16, stages = 2, swizzle_atom = 16>
      scf.yield %o : !s
    } {tile.overlap = #tile<overlap early>}
    gpu.return
  }

  // CHECK-LABEL: gpu.func @no_schedule
  // CHECK-NOT: tile.mma_async
  // CHECK: gpu.return
  gpu.func @no_schedule(%acc: !o, %n: index, %q: !q, %k: !shared, %p: !p) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %r = scf.for %j = %c0 to %n step %c1 iter_args(%a = %acc) -> !o {
      %o = tile.mma %p, %k, %a : !p, !shared, !o
      scf.yield %o : !o
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @one_multiply
  // CHECK-NOT: tile.mma_async
  // CHECK: gpu.return
  gpu.func @one_multiply(%acc: !o, %n: index, %p: !p) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %vc = tile.channel : !channel
    %r = scf.for %j = %c0 to %n step %c1 iter_args(%a = %acc) -> !o {
      %v = tile.get %vc[%j] : !channel -> !shared
      %o = tile.mma %p, %v, %a scope warpgroup : !p, !shared, !o
      tile.release %vc[%j] : !channel
      scf.yield %o : !o
    } {tile.overlap = #tile<overlap early>}
    gpu.return
  }

  // The first MMA reads what the second one gave.
  // CHECK-LABEL: gpu.func @dependent
  // CHECK-NOT: tile.mma_async
  // CHECK: gpu.return
  gpu.func @dependent(%acc: !s, %n: index, %q: !q, %k: !shared) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %vc = tile.channel : !channel
    %r = scf.for %j = %c0 to %n step %c1 iter_args(%a = %acc) -> !s {
      %s = tile.mma %q, %k, %a transpose_rhs scope warpgroup : !q, !shared, !s
      %w = tile.map() {
      ^bb0(%row: index, %column: index):
        %t = arith.constant 1.0 : f16
        tile.yield %t : f16
      } : () -> !q
      %v = tile.get %vc[%j] : !channel -> !shared
      %o = tile.mma %w, %v, %s transpose_rhs scope warpgroup : !q, !shared, !s
      tile.release %vc[%j] : !channel
      scf.yield %o : !s
    } {tile.overlap = #tile<overlap early>}
    gpu.return
  }

  // What is yielded beside the accumulator needs the second MMA's result.
  // CHECK-LABEL: gpu.func @late_state
  // CHECK-NOT: tile.mma_async
  // CHECK: gpu.return
  gpu.func @late_state(%acc: !o, %max: !tile.tile<64xf32, registers>, %n: index, %q: !q, %k: !shared, %zero: !s) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %vc = tile.channel : !channel
    %r:2 = scf.for %j = %c0 to %n step %c1 iter_args(%a = %acc, %x = %max) -> (!o, !tile.tile<64xf32, registers>) {
      %s = tile.mma %q, %k, %zero transpose_rhs scope warpgroup : !q, !shared, !s
      %p = tile.map(%s) {
      ^bb0(%e: f32, %row: index, %column: index):
        %t = arith.truncf %e : f32 to f16
        tile.yield %t : f16
      } : (!s) -> !p
      %y = tile.reduce max %a : !o -> !tile.tile<64xf32, registers>
      %v = tile.get %vc[%j] : !channel -> !shared
      %o = tile.mma %p, %v, %a scope warpgroup : !p, !shared, !o
      tile.release %vc[%j] : !channel
      scf.yield %o, %y : !o, !tile.tile<64xf32, registers>
    } {tile.overlap = #tile<overlap early>}
    gpu.return
  }

  // The second MMA's right operand is in no channel.
  // CHECK-LABEL: gpu.func @no_channel
  // CHECK-NOT: tile.mma_async
  // CHECK: gpu.return
  gpu.func @no_channel(%acc: !o, %n: index, %q: !q, %k: !shared, %zero: !s) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %r = scf.for %j = %c0 to %n step %c1 iter_args(%a = %acc) -> !o {
      %s = tile.mma %q, %k, %zero transpose_rhs scope warpgroup : !q, !shared, !s
      %p = tile.map(%s) {
      ^bb0(%e: f32, %row: index, %column: index):
        %t = arith.truncf %e : f32 to f16
        tile.yield %t : f16
      } : (!s) -> !p
      %o = tile.mma %p, %k, %a scope warpgroup : !p, !shared, !o
      scf.yield %o : !o
    } {tile.overlap = #tile<overlap early>}
    gpu.return
  }

  // Where warpgroups multiply in ping-pong and seldom rescale, the slot of the keys is free once the sums of rows are known.
  // CHECK-LABEL: gpu.func @released_late
  // CHECK: scf.for
  // CHECK:   %[[FIRST:.+]] = tile.mma_async
  // CHECK:   tile.mma_async
  // CHECK:   tile.wait %[[FIRST]]
  // CHECK-NOT: tile.release
  // CHECK:   tile.reduce max
  // CHECK:   %[[SUM:.+]] = tile.reduce add
  // CHECK:   tile.release %{{.+}}[%{{.+}}] after(%[[SUM]] : !tile.tile<64xf32, registers>) :
  // CHECK:   tile.wait
  // CHECK:   scf.if
  gpu.func @released_late(%q: !q, %m: memref<?x32xf16>, %max: !tile.tile<64xf32, registers>, %zero: !s, %acc: !o, %seldom: i1) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %kc = tile.channel : !channel
    %vc = tile.channel : !channel
    %r:3 = scf.for %j = %c0 to %c4 step %c1 iter_args(%x = %max, %l = %max, %a = %acc) -> (!tile.tile<64xf32, registers>, !tile.tile<64xf32, registers>, !o) {
      %k = tile.get %kc[%j] : !channel -> !shared
      %s = tile.mma %q, %k, %zero transpose_rhs scope warpgroup : !q, !shared, !s
      tile.release %kc[%j] : !channel
      %n = tile.reduce max %s : !s -> !tile.tile<64xf32, registers>
      %d = tile.broadcast %n : !tile.tile<64xf32, registers> -> !s
      %e = tile.map(%s, %d) {
      ^bb0(%t: f32, %g: f32, %row: index, %column: index):
        %u = arith.subf %t, %g : f32
        tile.yield %u : f32
      } : (!s, !s) -> !s
      %sum = tile.reduce add %e : !s -> !tile.tile<64xf32, registers>
      %p = tile.map(%e) {
      ^bb0(%t: f32, %row: index, %column: index):
        %u = arith.truncf %t : f32 to f16
        tile.yield %u : f16
      } : (!s) -> !p
      %b = scf.if %seldom -> !o {
        %c = tile.map(%a) {
        ^bb0(%t: f32, %row: index, %column: index):
          %u = arith.negf %t : f32
          tile.yield %u : f32
        } : (!o) -> !o
        scf.yield %c : !o
      } else {
        scf.yield %a : !o
      }
      %v = tile.get %vc[%j] : !channel -> !shared
      %o = tile.mma %p, %v, %b scope warpgroup : !p, !shared, !o
      tile.release %vc[%j] : !channel
      scf.yield %n, %sum, %o : !tile.tile<64xf32, registers>, !tile.tile<64xf32, registers>, !o
    } {tile.overlap = #tile<overlap early>, tile.ping_pong}
    gpu.return
  }

  // Elsewhere it is as soon as they are multiplied.
  // CHECK-LABEL: gpu.func @released_early
  // CHECK-NOT: after(
  // CHECK: gpu.return
  gpu.func @released_early(%q: !q, %m: memref<?x32xf16>, %max: !tile.tile<64xf32, registers>, %zero: !s, %acc: !o, %seldom: i1) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %kc = tile.channel : !channel
    %vc = tile.channel : !channel
    %r:3 = scf.for %j = %c0 to %c4 step %c1 iter_args(%x = %max, %l = %max, %a = %acc) -> (!tile.tile<64xf32, registers>, !tile.tile<64xf32, registers>, !o) {
      %k = tile.get %kc[%j] : !channel -> !shared
      %s = tile.mma %q, %k, %zero transpose_rhs scope warpgroup : !q, !shared, !s
      tile.release %kc[%j] : !channel
      %n = tile.reduce max %s : !s -> !tile.tile<64xf32, registers>
      %d = tile.broadcast %n : !tile.tile<64xf32, registers> -> !s
      %e = tile.map(%s, %d) {
      ^bb0(%t: f32, %g: f32, %row: index, %column: index):
        %u = arith.subf %t, %g : f32
        tile.yield %u : f32
      } : (!s, !s) -> !s
      %sum = tile.reduce add %e : !s -> !tile.tile<64xf32, registers>
      %p = tile.map(%e) {
      ^bb0(%t: f32, %row: index, %column: index):
        %u = arith.truncf %t : f32 to f16
        tile.yield %u : f16
      } : (!s) -> !p
      %b = scf.if %seldom -> !o {
        %c = tile.map(%a) {
        ^bb0(%t: f32, %row: index, %column: index):
          %u = arith.negf %t : f32
          tile.yield %u : f32
        } : (!o) -> !o
        scf.yield %c : !o
      } else {
        scf.yield %a : !o
      }
      %v = tile.get %vc[%j] : !channel -> !shared
      %o = tile.mma %p, %v, %b scope warpgroup : !p, !shared, !o
      tile.release %vc[%j] : !channel
      scf.yield %n, %sum, %o : !tile.tile<64xf32, registers>, !tile.tile<64xf32, registers>, !o
    } {tile.overlap = #tile<overlap early>}
    gpu.return
  }
}
