// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the puts of a loop go, which predicates they get and how many may be
// under way at each get. In a function's name, the slots of the first and the second channel.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(gpu.module(gpu.func(tile-pipeline-loops)))" | FileCheck %s

#swizzle = #tile.swizzle<vector = 8, bits = 2, shift = 1>
!shared = !tile.tile<16x32xf16, shared, #swizzle>
!c1 = !tile.channel<16x32xf16, stages = 1>
!c2 = !tile.channel<16x32xf16, stages = 2>
!c3 = !tile.channel<16x32xf16, stages = 3>

gpu.module @kernels {
  // The key's slot is free when its value is waited for, the value's when the
  // next key is: each put stands behind the other channel's get.
  // CHECK-LABEL: gpu.func @stages_1_1
  // CHECK-SAME:    %[[M:[^ ]+]]: memref<?x32xf16>, %[[LO:[^ ]+]]: index, %[[HI:[^ ]+]]: index
  // CHECK: %[[K:.+]] = tile.channel
  // CHECK: %[[V:.+]] = tile.channel
  // CHECK: %[[MORE:.+]] = arith.cmpi slt, %[[LO]], %[[HI]]
  // CHECK: tile.put %[[K]][%[[LO]]], %[[M]][%[[LO]], %c0] if %[[MORE]] :
  // CHECK-NOT: tile.put
  // CHECK: scf.for %[[I:[^ ]+]] =
  // CHECK-NOT: tile.put
  // CHECK:   tile.get %[[K]][%[[I]]] :
  // CHECK:   %[[MORE:.+]] = arith.cmpi slt, %[[I]], %[[HI]]
  // CHECK:   tile.put %[[V]][%[[I]]], %[[M]][%[[I]], %c0] if %[[MORE]] :
  // CHECK:   tile.release %[[K]][%[[I]]]
  // CHECK:   tile.get %[[V]][%[[I]]] :
  // CHECK:   %[[E:.+]] = arith.addi %[[I]], %c1
  // CHECK:   %[[MORE:.+]] = arith.cmpi slt, %[[E]], %[[HI]]
  // CHECK:   tile.put %[[K]][%[[E]]], %[[M]][%[[E]], %c0] if %[[MORE]] :
  // CHECK:   tile.release %[[V]][%[[I]]]
  // CHECK-NOT: tile.put
  // CHECK: gpu.return
  gpu.func @stages_1_1(%m: memref<?x32xf16>, %lo: index, %hi: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %k = tile.channel : !c1
    %v = tile.channel : !c1
    scf.for %i = %lo to %hi step %c1 {
      tile.put %k[%i], %m[%i, %c0] : !c1, memref<?x32xf16>
      %key = tile.get %k[%i] : !c1 -> !shared
      tile.release %k[%i] : !c1
      tile.put %v[%i], %m[%i, %c0] : !c1, memref<?x32xf16>
      %value = tile.get %v[%i] : !c1 -> !shared
      tile.release %v[%i] : !c1
    }
    gpu.return
  }

  // All slots but one run ahead of the loop; the last key slot is filled by the
  // get behind its release, so that a get never waits for what was just issued.
  // CHECK-LABEL: gpu.func @stages_2_2
  // CHECK-SAME:    %[[M:[^ ]+]]: memref<?x32xf16>, %[[LO:[^ ]+]]: index, %[[HI:[^ ]+]]: index
  // CHECK: %[[K:.+]] = tile.channel
  // CHECK: %[[V:.+]] = tile.channel
  // CHECK: %[[MORE:.+]] = arith.cmpi slt, %[[LO]], %[[HI]]
  // CHECK: tile.put %[[K]][%[[LO]]], %[[M]][%[[LO]], %c0] if %[[MORE]] :
  // CHECK: %[[MORE:.+]] = arith.cmpi slt, %[[LO]], %[[HI]]
  // CHECK: tile.put %[[V]][%[[LO]]], %[[M]][%[[LO]], %c0] if %[[MORE]] :
  // CHECK: %[[E:.+]] = arith.addi %[[LO]], %c1
  // CHECK: %[[MORE:.+]] = arith.cmpi slt, %[[E]], %[[HI]]
  // CHECK: tile.put %[[K]][%[[E]]], %[[M]][%[[E]], %c0] if %[[MORE]] :
  // CHECK-NOT: tile.put
  // CHECK: scf.for %[[I:[^ ]+]] =
  // CHECK-NOT: tile.put
  // CHECK:   tile.get %[[K]][%[[I]]] pending 2 :
  // CHECK:   %[[E:.+]] = arith.addi %[[I]], %c1
  // CHECK:   %[[MORE:.+]] = arith.cmpi slt, %[[E]], %[[HI]]
  // CHECK:   tile.put %[[V]][%[[E]]], %[[M]][%[[E]], %c0] if %[[MORE]] :
  // CHECK:   tile.release %[[K]][%[[I]]]
  // CHECK:   tile.get %[[V]][%[[I]]] pending 2 :
  // CHECK:   %[[E:.+]] = arith.addi %[[I]], %c2
  // CHECK:   %[[MORE:.+]] = arith.cmpi slt, %[[E]], %[[HI]]
  // CHECK:   tile.put %[[K]][%[[E]]], %[[M]][%[[E]], %c0] if %[[MORE]] :
  // CHECK:   tile.release %[[V]][%[[I]]]
  // CHECK-NOT: tile.put
  // CHECK: gpu.return
  gpu.func @stages_2_2(%m: memref<?x32xf16>, %lo: index, %hi: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %k = tile.channel : !c2
    %v = tile.channel : !c2
    scf.for %i = %lo to %hi step %c1 {
      tile.put %k[%i], %m[%i, %c0] : !c2, memref<?x32xf16>
      %key = tile.get %k[%i] : !c2 -> !shared
      tile.release %k[%i] : !c2
      tile.put %v[%i], %m[%i, %c0] : !c2, memref<?x32xf16>
      %value = tile.get %v[%i] : !c2 -> !shared
      tile.release %v[%i] : !c2
    }
    gpu.return
  }

  // A single key slot leaves nothing under way when its get waits.
  // CHECK-LABEL: gpu.func @stages_1_2
  // CHECK-SAME:    %[[M:[^ ]+]]: memref<?x32xf16>, %[[LO:[^ ]+]]: index, %[[HI:[^ ]+]]: index
  // CHECK: %[[K:.+]] = tile.channel
  // CHECK: %[[V:.+]] = tile.channel
  // CHECK: %[[MORE:.+]] = arith.cmpi slt, %[[LO]], %[[HI]]
  // CHECK: tile.put %[[K]][%[[LO]]], %[[M]][%[[LO]], %c0] if %[[MORE]] :
  // CHECK: %[[MORE:.+]] = arith.cmpi slt, %[[LO]], %[[HI]]
  // CHECK: tile.put %[[V]][%[[LO]]], %[[M]][%[[LO]], %c0] if %[[MORE]] :
  // CHECK-NOT: tile.put
  // CHECK: scf.for %[[I:[^ ]+]] =
  // CHECK-NOT: tile.put
  // CHECK:   tile.get %[[K]][%[[I]]] :
  // CHECK:   %[[E:.+]] = arith.addi %[[I]], %c1
  // CHECK:   %[[MORE:.+]] = arith.cmpi slt, %[[E]], %[[HI]]
  // CHECK:   tile.put %[[V]][%[[E]]], %[[M]][%[[E]], %c0] if %[[MORE]] :
  // CHECK:   tile.release %[[K]][%[[I]]]
  // CHECK:   tile.get %[[V]][%[[I]]] pending 1 :
  // CHECK:   %[[E:.+]] = arith.addi %[[I]], %c1
  // CHECK:   %[[MORE:.+]] = arith.cmpi slt, %[[E]], %[[HI]]
  // CHECK:   tile.put %[[K]][%[[E]]], %[[M]][%[[E]], %c0] if %[[MORE]] :
  // CHECK:   tile.release %[[V]][%[[I]]]
  // CHECK-NOT: tile.put
  // CHECK: gpu.return
  gpu.func @stages_1_2(%m: memref<?x32xf16>, %lo: index, %hi: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %k = tile.channel : !c1
    %v = tile.channel : !c2
    scf.for %i = %lo to %hi step %c1 {
      tile.put %k[%i], %m[%i, %c0] : !c1, memref<?x32xf16>
      %key = tile.get %k[%i] : !c1 -> !shared
      tile.release %k[%i] : !c1
      tile.put %v[%i], %m[%i, %c0] : !c2, memref<?x32xf16>
      %value = tile.get %v[%i] : !c2 -> !shared
      tile.release %v[%i] : !c2
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @stages_3_2
  // CHECK-SAME:    %[[M:[^ ]+]]: memref<?x32xf16>, %[[LO:[^ ]+]]: index, %[[HI:[^ ]+]]: index
  // CHECK: %[[K:.+]] = tile.channel
  // CHECK: %[[V:.+]] = tile.channel
  // CHECK: %[[MORE:.+]] = arith.cmpi slt, %[[LO]], %[[HI]]
  // CHECK: tile.put %[[K]][%[[LO]]], %[[M]][%[[LO]], %c0] if %[[MORE]] :
  // CHECK: %[[MORE:.+]] = arith.cmpi slt, %[[LO]], %[[HI]]
  // CHECK: tile.put %[[V]][%[[LO]]], %[[M]][%[[LO]], %c0] if %[[MORE]] :
  // CHECK: %[[E:.+]] = arith.addi %[[LO]], %c1
  // CHECK: %[[MORE:.+]] = arith.cmpi slt, %[[E]], %[[HI]]
  // CHECK: tile.put %[[K]][%[[E]]], %[[M]][%[[E]], %c0] if %[[MORE]] :
  // CHECK: %[[E:.+]] = arith.addi %[[LO]], %c2
  // CHECK: %[[MORE:.+]] = arith.cmpi slt, %[[E]], %[[HI]]
  // CHECK: tile.put %[[K]][%[[E]]], %[[M]][%[[E]], %c0] if %[[MORE]] :
  // CHECK-NOT: tile.put
  // CHECK: scf.for %[[I:[^ ]+]] =
  // CHECK-NOT: tile.put
  // CHECK:   tile.get %[[K]][%[[I]]] pending 3 :
  // CHECK:   %[[E:.+]] = arith.addi %[[I]], %c1
  // CHECK:   %[[MORE:.+]] = arith.cmpi slt, %[[E]], %[[HI]]
  // CHECK:   tile.put %[[V]][%[[E]]], %[[M]][%[[E]], %c0] if %[[MORE]] :
  // CHECK:   tile.release %[[K]][%[[I]]]
  // CHECK:   tile.get %[[V]][%[[I]]] pending 2 :
  // CHECK:   %[[E:.+]] = arith.addi %[[I]], %c3
  // CHECK:   %[[MORE:.+]] = arith.cmpi slt, %[[E]], %[[HI]]
  // CHECK:   tile.put %[[K]][%[[E]]], %[[M]][%[[E]], %c0] if %[[MORE]] :
  // CHECK:   tile.release %[[V]][%[[I]]]
  // CHECK-NOT: tile.put
  // CHECK: gpu.return
  gpu.func @stages_3_2(%m: memref<?x32xf16>, %lo: index, %hi: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %k = tile.channel : !c3
    %v = tile.channel : !c2
    scf.for %i = %lo to %hi step %c1 {
      tile.put %k[%i], %m[%i, %c0] : !c3, memref<?x32xf16>
      %key = tile.get %k[%i] : !c3 -> !shared
      tile.release %k[%i] : !c3
      tile.put %v[%i], %m[%i, %c0] : !c2, memref<?x32xf16>
      %value = tile.get %v[%i] : !c2 -> !shared
      tile.release %v[%i] : !c2
    }
    gpu.return
  }

  // The only value slot is filled in the iteration that uses it.
  // CHECK-LABEL: gpu.func @stages_2_1
  // CHECK-SAME:    %[[M:[^ ]+]]: memref<?x32xf16>, %[[LO:[^ ]+]]: index, %[[HI:[^ ]+]]: index
  // CHECK: %[[K:.+]] = tile.channel
  // CHECK: %[[V:.+]] = tile.channel
  // CHECK: %[[MORE:.+]] = arith.cmpi slt, %[[LO]], %[[HI]]
  // CHECK: tile.put %[[K]][%[[LO]]], %[[M]][%[[LO]], %c0] if %[[MORE]] :
  // CHECK: %[[E:.+]] = arith.addi %[[LO]], %c1
  // CHECK: %[[MORE:.+]] = arith.cmpi slt, %[[E]], %[[HI]]
  // CHECK: tile.put %[[K]][%[[E]]], %[[M]][%[[E]], %c0] if %[[MORE]] :
  // CHECK-NOT: tile.put
  // CHECK: scf.for %[[I:[^ ]+]] =
  // CHECK-NOT: tile.put
  // CHECK:   tile.get %[[K]][%[[I]]] pending 1 :
  // CHECK:   %[[MORE:.+]] = arith.cmpi slt, %[[I]], %[[HI]]
  // CHECK:   tile.put %[[V]][%[[I]]], %[[M]][%[[I]], %c0] if %[[MORE]] :
  // CHECK:   tile.release %[[K]][%[[I]]]
  // CHECK:   tile.get %[[V]][%[[I]]] :
  // CHECK:   %[[E:.+]] = arith.addi %[[I]], %c2
  // CHECK:   %[[MORE:.+]] = arith.cmpi slt, %[[E]], %[[HI]]
  // CHECK:   tile.put %[[K]][%[[E]]], %[[M]][%[[E]], %c0] if %[[MORE]] :
  // CHECK:   tile.release %[[V]][%[[I]]]
  // CHECK-NOT: tile.put
  // CHECK: gpu.return
  gpu.func @stages_2_1(%m: memref<?x32xf16>, %lo: index, %hi: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %k = tile.channel : !c2
    %v = tile.channel : !c1
    scf.for %i = %lo to %hi step %c1 {
      tile.put %k[%i], %m[%i, %c0] : !c2, memref<?x32xf16>
      %key = tile.get %k[%i] : !c2 -> !shared
      tile.release %k[%i] : !c2
      tile.put %v[%i], %m[%i, %c0] : !c1, memref<?x32xf16>
      %value = tile.get %v[%i] : !c1 -> !shared
      tile.release %v[%i] : !c1
    }
    gpu.return
  }

  // One channel of one slot has nothing to overlap with.
  // CHECK-LABEL: gpu.func @one_channel_one_stage
  // CHECK-NOT: tile.put
  // CHECK: scf.for %[[I:[^ ]+]] =
  // CHECK-NEXT: tile.put %{{.+}}[%[[I]]], %{{.+}}[%[[I]], %{{.+}}] : <
  // CHECK-NEXT: tile.get %{{.+}}[%[[I]]] :
  // CHECK-NEXT: tile.release
  gpu.func @one_channel_one_stage(%m: memref<?x32xf16>, %lo: index, %hi: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %k = tile.channel : !c1
    scf.for %i = %lo to %hi step %c1 {
      tile.put %k[%i], %m[%i, %c0] : !c1, memref<?x32xf16>
      %key = tile.get %k[%i] : !c1 -> !shared
      tile.release %k[%i] : !c1
    }
    gpu.return
  }

  // What a put computes from the induction variable is computed again for the
  // element that it serves.
  // CHECK-LABEL: gpu.func @one_channel_two_stages
  // CHECK-SAME:    %{{[^ ]+}}: memref<?x32xf16>, %[[LO:[^ ]+]]: index
  // CHECK: %[[ROW:.+]] = arith.muli %[[LO]], %c16
  // CHECK: tile.put %{{.+}}[%[[LO]]], %{{.+}}[%[[ROW]], %c0] if
  // CHECK-NOT: tile.put
  // CHECK: scf.for %[[I:[^ ]+]] =
  // CHECK:   tile.get %{{.+}}[%[[I]]] :
  // CHECK:   %[[E:.+]] = arith.addi %[[I]], %c1
  // CHECK:   %[[ROW:.+]] = arith.muli %[[E]], %c16
  // CHECK:   tile.put %{{.+}}[%[[E]]], %{{.+}}[%[[ROW]], %c0] if
  // CHECK:   tile.release %{{.+}}[%[[I]]]
  gpu.func @one_channel_two_stages(%m: memref<?x32xf16>, %lo: index, %hi: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %k = tile.channel : !c2
    scf.for %i = %lo to %hi step %c1 {
      %row = arith.muli %i, %c16 : index
      tile.put %k[%i], %m[%row, %c0] : !c2, memref<?x32xf16>
      %key = tile.get %k[%i] : !c2 -> !shared
      tile.release %k[%i] : !c2
    }
    gpu.return
  }

  // The first puts stand behind those in front of the loop, whose get then lets them be under way.
  // CHECK-LABEL: gpu.func @behind_the_query
  // CHECK: tile.put %[[Q:[0-9]+]][
  // CHECK: tile.put %[[K:[0-9]+]][
  // CHECK: tile.get %[[Q]][%{{.+}}] pending 1 :
  // CHECK: scf.for
  gpu.func @behind_the_query(%m: memref<?x32xf16>, %lo: index, %hi: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %q = tile.channel : !c1
    %k = tile.channel : !c2
    tile.put %q[%c0], %m[%c0, %c0] : !c1, memref<?x32xf16>
    %query = tile.get %q[%c0] : !c1 -> !shared
    scf.for %i = %lo to %hi step %c1 {
      tile.put %k[%i], %m[%i, %c0] : !c2, memref<?x32xf16>
      %key = tile.get %k[%i] : !c2 -> !shared
      tile.release %k[%i] : !c2
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @no_channel
  // CHECK: scf.for
  // CHECK-NEXT: memref.store
  gpu.func @no_channel(%m: memref<?xindex>, %lo: index, %hi: index) kernel {
    %c1 = arith.constant 1 : index
    scf.for %i = %lo to %hi step %c1 {
      memref.store %i, %m[%i] : memref<?xindex>
    }
    gpu.return
  }

  // Elements that count the iterations of a loop from 0 run ahead as well.
  // CHECK-LABEL: gpu.func @counted_from_zero
  // CHECK-SAME:    %{{[^ ]+}}: memref<?x32xf16>, %[[LO:[^ ]+]]: index
  // CHECK: %[[E:.+]] = arith.subi %[[LO]], %[[LO]]
  // CHECK: tile.put %{{.+}}[%[[E]]], %{{.+}}[%[[LO]], %c0] if
  // CHECK: scf.for %[[I:[^ ]+]] = %[[LO]]
  // CHECK:   %[[HERE:.+]] = arith.subi %[[I]], %[[LO]]
  // CHECK:   tile.get %{{.+}}[%[[HERE]]] :
  // CHECK:   %[[NEXT:.+]] = arith.addi %[[I]], %c1
  // CHECK:   %[[E:.+]] = arith.subi %[[NEXT]], %[[LO]]
  // CHECK:   tile.put %{{.+}}[%[[E]]], %{{.+}}[%[[NEXT]], %c0] if
  // CHECK:   tile.release %{{.+}}[%[[HERE]]]
  gpu.func @counted_from_zero(%m: memref<?x32xf16>, %lo: index, %hi: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %k = tile.channel : !c2
    scf.for %i = %lo to %hi step %c1 {
      %e = arith.subi %i, %lo : index
      tile.put %k[%e], %m[%i, %c0] : !c2, memref<?x32xf16>
      %key = tile.get %k[%e] : !c2 -> !shared
      tile.release %k[%e] : !c2
    }
    gpu.return
  }

  // Producers run ahead on their own.
  // CHECK-LABEL: gpu.func @producers
  // CHECK-NOT: tile.put
  // CHECK: scf.for
  // CHECK-NEXT: tile.put
  // CHECK-NEXT: tile.get
  // CHECK-NOT: tile.put
  // CHECK: gpu.return
  gpu.func @producers(%m: memref<?x32xf16>, %lo: index, %hi: index) kernel
      attributes {tile.schedule = #schedule.attention<numWarps = 4, mmaWarps = 4, producerWarps = 4>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %k = tile.channel : !c2
    scf.for %i = %lo to %hi step %c1 {
      tile.put %k[%i], %m[%i, %c0] : !c2, memref<?x32xf16>
      %key = tile.get %k[%i] : !c2 -> !shared
      tile.release %k[%i] : !c2
    }
    gpu.return
  }
}
