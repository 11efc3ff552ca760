// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops cut at the bounds of a range test.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(gpu.module(gpu.func(tile-split-loops)))" | FileCheck %s

gpu.module @kernels {
  // Before, inside and after the range.
  // CHECK-LABEL: gpu.func @three_loops
  // CHECK-SAME:    (%[[LO:[^ ]+]]: index, %[[A:[^ ]+]]: index, %[[B:[^ ]+]]: index, %[[HI:[^ ]+]]: index, %[[X:[^ ]+]]: f32, %[[OUT:.+]]: memref<f32>)
  gpu.func @three_loops(%lo: index, %a: index, %b: index, %hi: index, %x: f32, %out: memref<f32>) kernel {
    // CHECK: %[[RAISED:.+]] = arith.maxsi %[[A]], %[[LO]]
    // CHECK: %[[FIRST:.+]] = arith.minsi %[[RAISED]], %[[HI]]
    // CHECK: %[[RAISED:.+]] = arith.maxsi %[[B]], %[[FIRST]]
    // CHECK: %[[AFTER:.+]] = arith.minsi %[[RAISED]], %[[HI]]
    // CHECK: %[[HEAD:.+]] = scf.for %{{.+}} = %[[LO]] to %[[FIRST]] step %{{.+}} iter_args(%[[S:.+]] = %[[X]])
    // CHECK-NOT: scf.if
    // CHECK:   %[[R:.+]] = arith.negf %[[S]]
    // CHECK:   scf.yield %[[R]]
    // CHECK: %[[MIDDLE:.+]] = scf.for %{{.+}} = %[[FIRST]] to %[[AFTER]] step %{{.+}} iter_args(%[[S:.+]] = %[[HEAD]])
    // CHECK-NOT: scf.if
    // CHECK:   %[[R:.+]] = math.exp2 %[[S]]
    // CHECK:   scf.yield %[[R]]
    // CHECK: %[[TAIL:.+]] = scf.for %{{.+}} = %[[AFTER]] to %[[HI]] step %{{.+}} iter_args(%[[S:.+]] = %[[MIDDLE]])
    // CHECK-NOT: scf.if
    // CHECK:   arith.negf %[[S]]
    // CHECK: memref.store %[[TAIL]], %[[OUT]]
    %c1 = arith.constant 1 : index
    %r = scf.for %i = %lo to %hi step %c1 iter_args(%s = %x) -> f32 {
      %sge = arith.cmpi sge, %i, %a : index
      %slt = arith.cmpi slt, %i, %b : index
      %inside = arith.andi %sge, %slt : i1
      %y = scf.if %inside -> f32 {
        %e = math.exp2 %s : f32
        scf.yield %e : f32
      } else {
        %n = arith.negf %s : f32
        scf.yield %n : f32
      }
      scf.yield %y : f32
    } {tile.split}
    memref.store %r, %out[] : memref<f32>
    gpu.return
  }

  // A range that starts with the loop, as under a causal mask.
  // CHECK-LABEL: gpu.func @two_loops
  // CHECK-SAME:    (%[[LO:[^ ]+]]: index, %[[B:[^ ]+]]: index, %[[HI:[^ ]+]]: index
  gpu.func @two_loops(%lo: index, %b: index, %hi: index, %x: f32, %out: memref<f32>) kernel {
    // CHECK: %[[RAISED:.+]] = arith.maxsi %[[B]], %[[LO]]
    // CHECK: %[[AFTER:.+]] = arith.minsi %[[RAISED]], %[[HI]]
    // CHECK: scf.for %{{.+}} = %[[LO]] to %[[AFTER]]
    // CHECK:   math.exp2
    // CHECK: scf.for %{{.+}} = %[[AFTER]] to %[[HI]]
    // CHECK:   arith.negf
    // CHECK-NOT: scf.for
    // CHECK: memref.store
    %c1 = arith.constant 1 : index
    %r = scf.for %i = %lo to %hi step %c1 iter_args(%s = %x) -> f32 {
      %sge = arith.cmpi sge, %i, %lo : index
      %slt = arith.cmpi slt, %i, %b : index
      %inside = arith.andi %sge, %slt : i1
      %y = scf.if %inside -> f32 {
        %e = math.exp2 %s : f32
        scf.yield %e : f32
      } else {
        %n = arith.negf %s : f32
        scf.yield %n : f32
      }
      scf.yield %y : f32
    } {tile.split}
    memref.store %r, %out[] : memref<f32>
    gpu.return
  }

  // Equal constants are equal bounds; the whole loop is inside.
  // CHECK-LABEL: gpu.func @one_loop
  // CHECK-SAME:    %[[HI:[^ ]+]]: index
  gpu.func @one_loop(%hi: index, %x: f32, %out: memref<f32>) kernel {
    // CHECK: %[[C0:.+]] = arith.constant 0 : index
    // CHECK: scf.for %{{.+}} = %[[C0]] to %[[HI]]
    // CHECK:   math.exp2
    // CHECK-NOT: arith.negf
    // CHECK-NOT: scf.for
    // CHECK: memref.store
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %r = scf.for %i = %c0 to %hi step %c1 iter_args(%s = %x) -> f32 {
      %sge = arith.cmpi sge, %i, %zero : index
      %slt = arith.cmpi slt, %i, %hi : index
      %inside = arith.andi %sge, %slt : i1
      %y = scf.if %inside -> f32 {
        %e = math.exp2 %s : f32
        scf.yield %e : f32
      } else {
        %n = arith.negf %s : f32
        scf.yield %n : f32
      }
      scf.yield %y : f32
    } {tile.split}
    memref.store %r, %out[] : memref<f32>
    gpu.return
  }

  // A branch without results and without an else side.
  // CHECK-LABEL: gpu.func @no_else
  gpu.func @no_else(%lo: index, %a: index, %hi: index, %x: f32, %out: memref<?xf32>) kernel {
    // CHECK: scf.for
    // CHECK-NOT: memref.store
    // CHECK: }
    // CHECK: scf.for %[[I:[^ ]+]] =
    // CHECK:   memref.store %{{.+}}, %{{.+}}[%[[I]]]
    // CHECK-NOT: scf.if
    // CHECK-NOT: scf.for
    // CHECK: gpu.return
    %c1 = arith.constant 1 : index
    scf.for %i = %lo to %hi step %c1 {
      %sge = arith.cmpi sge, %i, %a : index
      %slt = arith.cmpi slt, %i, %hi : index
      %inside = arith.andi %sge, %slt : i1
      scf.if %inside {
        memref.store %x, %out[%i] : memref<?xf32>
      }
    } {tile.split}
    gpu.return
  }

  // One loop is wanted.
  // CHECK-LABEL: gpu.func @not_wanted
  gpu.func @not_wanted(%lo: index, %a: index, %hi: index, %x: f32, %out: memref<?xf32>) kernel {
    // CHECK: scf.for
    // CHECK:   scf.if
    // CHECK-NOT: scf.for
    // CHECK: gpu.return
    %c1 = arith.constant 1 : index
    scf.for %i = %lo to %hi step %c1 {
      %sge = arith.cmpi sge, %i, %a : index
      %slt = arith.cmpi slt, %i, %hi : index
      %inside = arith.andi %sge, %slt : i1
      scf.if %inside {
        memref.store %x, %out[%i] : memref<?xf32>
      }
    }
    gpu.return
  }

  // A bound that changes inside the loop, another predicate, no range at all.
  // CHECK-LABEL: gpu.func @no_range
  gpu.func @no_range(%lo: index, %a: index, %hi: index, %x: f32, %out: memref<?xf32>, %bounds: memref<?xindex>) kernel {
    // CHECK-COUNT-3: scf.if
    // CHECK-NOT: scf.for
    // CHECK: gpu.return
    %c1 = arith.constant 1 : index
    scf.for %i = %lo to %hi step %c1 {
      %bound = memref.load %bounds[%i] : memref<?xindex>
      %sge = arith.cmpi sge, %i, %bound : index
      %slt = arith.cmpi slt, %i, %hi : index
      %sle = arith.cmpi sle, %i, %hi : index
      %moving = arith.andi %sge, %slt : i1
      scf.if %moving {
        memref.store %x, %out[%i] : memref<?xf32>
      }
      %fixed = arith.cmpi sge, %i, %a : index
      %other = arith.andi %fixed, %sle : i1
      scf.if %other {
        memref.store %x, %out[%i] : memref<?xf32>
      }
      scf.if %fixed {
        memref.store %x, %out[%i] : memref<?xf32>
      }
    } {tile.split}
    gpu.return
  }

  // A loop that starts behind the start of the range has no part before it.
  // CHECK-LABEL: gpu.func @starts_inside
  // CHECK-SAME:    %[[LAST:[^ ]+]]: index, %[[HI:[^ ]+]]: index
  gpu.func @starts_inside(%last: index, %hi: index, %x: f32, %out: memref<?xf32>) kernel {
    // CHECK: scf.for %{{.+}} = %c1{{.*}} to %[[AFTER:[^ ]+]]
    // CHECK-NOT: scf.if
    // CHECK:   memref.store
    // CHECK: scf.for %{{.+}} = %[[AFTER]] to %[[HI]]
    // CHECK-NOT: scf.for
    // CHECK: gpu.return
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c1 to %hi step %c1 {
      %sge = arith.cmpi sge, %i, %c0 : index
      %slt = arith.cmpi slt, %i, %last : index
      %inside = arith.andi %sge, %slt : i1
      scf.if %inside {
        memref.store %x, %out[%i] : memref<?xf32>
      }
    } {tile.split}
    gpu.return
  }

  // Whoever asks for one side of the range gets the answer, where it is known.
  // CHECK-LABEL: gpu.func @asked_elsewhere
  // CHECK:       scf.for
  // CHECK:         %[[NO:.+]] = arith.constant false
  // CHECK:         %[[BELOW:.+]] = arith.cmpi slt
  // CHECK:         arith.select %[[NO]],
  // CHECK:         arith.select %[[BELOW]],
  // CHECK:       scf.for
  // CHECK:         %[[ATLEAST:.+]] = arith.constant true
  // CHECK:         %[[BELOW:.+]] = arith.constant true
  // CHECK:         arith.select %[[ATLEAST]],
  // CHECK:         arith.select %[[BELOW]],
  // CHECK:       scf.for
  // CHECK:         %[[ATLEAST:.+]] = arith.constant true
  // CHECK:         %[[BELOW:.+]] = arith.constant false
  // CHECK:         arith.select %[[ATLEAST]],
  // CHECK:         arith.select %[[BELOW]],
  gpu.func @asked_elsewhere(%lo: index, %a: index, %b: index, %hi: index, %x: f32, %out: memref<f32>) kernel {
    %c1 = arith.constant 1 : index
    %r = scf.for %i = %lo to %hi step %c1 iter_args(%s = %x) -> f32 {
      %sge = arith.cmpi sge, %i, %a : index
      %slt = arith.cmpi slt, %i, %b : index
      %u = arith.select %sge, %s, %x : f32
      %v = arith.select %slt, %u, %x : f32
      %inside = arith.andi %sge, %slt : i1
      %y = scf.if %inside -> f32 {
        %e = math.exp2 %v : f32
        scf.yield %e : f32
      } else {
        %n = arith.negf %v : f32
        scf.yield %n : f32
      }
      scf.yield %y : f32
    } {tile.split}
    memref.store %r, %out[] : memref<f32>
    gpu.return
  }
}
