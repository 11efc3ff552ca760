// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Workgroups that have equal shares of the blocks of all keys, and the kernel that merges what they leave.
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_80 sms=5" --attune-set-schedule="block-m=16 block-n=32 num-warps=1 split-k=0 persistent=static" \
// RUN:   --attn-expand-short-forms --convert-attn-to-tile --canonicalize --cse | FileCheck %s

!q = tensor<3x8x1x64xf16>
!k = tensor<3x2x?x64xf16>

// Two workgroups go side by side, for the tiles of two key heads: of five, two pairs have a share, and so there are slots for two more than batches.
// CHECK-LABEL: gpu.func @one_kernel
// CHECK-SAME:    %[[SINKS:[^ ]+]]: memref<8xf32>, %[[LENGTHS:[^ ]+]]: memref<3xi32>, %[[PARTS:[^ ]+]]: memref<5x8x1x64xf32>, %[[LOGS:[^ ]+]]: memref<5x8x1xf32>, %[[WHOSE:[^ ]+]]: memref<2x3x8x1xf32>, %[[RESULT:[^ ]+]]: memref<3x8x1x64xf16>)
// CHECK-SAME:    grid = <5 * dim(0, 2) ceildiv 16 * dim(0, 1) ceildiv 4 * dim(0, 0)>, grid_limit = 5
// CHECK: %[[ID:.+]] = gpu.block_id x
// CHECK: %[[SHARER:.+]] = arith.divui %[[ID]], %c2
// CHECK: %[[MEMBER:.+]] = arith.remui %[[ID]], %c2
// Each lane looks at a batch, those behind the last one at that, for nothing.
// CHECK: %[[THREAD:.+]] = gpu.thread_id x
// CHECK: %[[LANE:.+]] = arith.remui %[[THREAD]], %c32
// CHECK: %[[BATCH:.+]] = arith.minui %[[LANE]], %c2
// CHECK: memref.load %[[LENGTHS]][%[[BATCH]]]
// CHECK: %[[EXISTS:.+]] = arith.cmpi ult, %[[LANE]], %c3
// CHECK: %[[STEPS:.+]] = arith.select %[[EXISTS]], %{{.+}}, %c0_i32
// The steps of all, and of the longest one.
// CHECK: %[[OTHER:.+]], %{{.+}} = gpu.shuffle xor %[[STEPS]], %c1_i32, %c32_i32
// CHECK: arith.addi %[[STEPS]], %[[OTHER]]
// CHECK-COUNT-4: gpu.shuffle xor {{.+}}, %c32_i32
// CHECK: %[[ALL:.+]] = gpu.subgroup_broadcast %{{.+}}, first_active_lane
// CHECK: arith.maxui %[[STEPS]], %[[OTHER]]
// CHECK-COUNT-4: gpu.shuffle xor
// CHECK: %[[LONGEST:.+]] = gpu.subgroup_broadcast
// CHECK: %[[EACH:.+]] = arith.ceildivui %[[ALL]], %c2
// CHECK: %[[FAIR:.+]] = arith.maxui %[[EACH]], %c7
// A share is a tile where all are of about one length.
// CHECK: %[[MORE:.+]] = arith.divui %[[FAIR]], %c8
// CHECK: %[[MOST:.+]] = arith.addi %[[FAIR]], %[[MORE]]
// CHECK: %[[ISWORTH:.+]] = arith.cmpi ule, %[[LONGEST]], %[[MOST]]
// CHECK: %[[WHOLE:.+]] = arith.maxui %[[FAIR]], %[[LONGEST]]
// CHECK: %[[LENGTH:.+]] = arith.select %[[ISWORTH]], %[[WHOLE]], %[[FAIR]]
// CHECK: %[[BEGIN:.+]] = arith.muli %[[SHARER]], %[[LENGTH]]
// CHECK: %[[END:.+]] = arith.addi %[[BEGIN]], %[[LENGTH]]
// Of lanes whose lower neighbours have a bit less, what those have is before.
// CHECK: %[[BIT:.+]] = arith.andi %[[LANE]], %c1
// CHECK: %[[ISUPPER:.+]] = arith.cmpi ne, %[[BIT]], %c0
// CHECK: arith.select %[[ISUPPER]], %[[OTHER]], %c0_i32
// CHECK: arith.index_cast %[[BEGIN]]
// CHECK: arith.index_cast %[[END]]
// How many batches are before the step, and the steps of these.
// CHECK: gpu.subgroup_broadcast
// CHECK: gpu.subgroup_broadcast
// CHECK: scf.for %[[TILE:[^ ]+]] = %[[FIRST:.+]] to %[[AFTER:.+]] step %c1
// CHECK: %[[SLOT:.+]] = arith.addi %[[TILE]], %[[SHARER]]
// CHECK: %[[ISFIRST:.+]] = arith.cmpi eq, %[[TILE]], %[[FIRST]]
// CHECK: %[[STEP:.+]] = arith.select %[[ISFIRST]], %{{.+}}, %c0
// CHECK: %[[BEGINS:.+]] = arith.cmpi eq, %[[STEP]], %c0
// CHECK: %[[ISALONE:.+]] = arith.cmpi eq, %{{.+}}, %c0
// CHECK: %[[ISWHOLE:.+]] = arith.andi %[[BEGINS]], %[[ISALONE]]
// The first one has the sink.
// CHECK: %[[SINK:.+]] = memref.load %[[SINKS]]
// CHECK: arith.select %[[BEGINS]], %[[SINK]], %{{.+}} : f32
// Of rows whose first part this is.
// CHECK: %[[ROWS:.+]] = arith.select %[[BEGINS]], %c1, %c0
// CHECK: memref.subview %[[WHOSE]][0, 0, 0, 0]
// CHECK: memref.subview %{{.+}}[%{{.+}}, %{{.+}}, 0] [1, 4, %[[ROWS]]]
// A tile of which this is all is a result, another one is a part.
// CHECK: scf.if %[[ISWHOLE]] {
// CHECK:   arith.truncf %{{.+}} : f32 to f16
// CHECK:   %[[OWN:.+]] = memref.subview %[[RESULT]][%[[TILE]], %{{.+}}, 0, 0]
// CHECK:   tile.store %{{.+}}, %[[OWN]]
// CHECK-NOT: tile.store
// CHECK: } else {
// CHECK:   %[[PART:.+]] = memref.subview %[[PARTS]][%[[SLOT]], %{{.+}}, 0, 0]
// CHECK:   tile.store %{{.+}}, %[[PART]]
// CHECK:   %[[LOG:.+]] = memref.subview %[[LOGS]][%[[SLOT]], %{{.+}}, 0]
// CHECK:   tile.store %{{.+}}, %[[LOG]]

// CHECK-LABEL: gpu.func @one_merge
// CHECK-SAME:    %[[PARTS:[^ ]+]]: memref<5x8x1x64xf32>, %[[LOGS:[^ ]+]]: memref<5x8x1xf32>, %[[WHOSE:[^ ]+]]: memref<2x3x8x1xf32>
// CHECK: memref.load %[[WHOSE]][%c1, %[[BATCH:.+]], %[[ROW:.+]], %c0]
// CHECK: %[[COUNT:.+]] = arith.index_castui
// What has one part is left alone.
// CHECK: %[[ISSHARED:.+]] = arith.cmpi ne, %[[COUNT]], %c1
// CHECK: scf.if %[[ISSHARED]] {
// CHECK: memref.load %[[WHOSE]][%c0, %[[BATCH]], %[[ROW]], %c0]
// Sixteen parts of 64 columns at a time, as far as there are such.
// CHECK: scf.for %[[NUMBER:[^ ]+]] = %c0 to %[[COUNT]] step %c16
// CHECK: arith.cmpi ult, %[[NUMBER]], %[[COUNT]]
// CHECK-COUNT-32: tile.load
// CHECK: scf.yield
// CHECK-NOT: memref.load
// CHECK: tile.store {{.+}} : <4x64xf16, registers>

// CHECK: #launch.workspace<name = "part_output", type = f32, sizes = [#launch.product<(dim(0, 0) + 2)>, #launch.product<dim(0, 1)>, #launch.product<dim(0, 2)>, #launch.product<64>]
// CHECK: memref.alloc() {alignment = 16 : i64} : memref<5x8x1x64xf32>
func.func @one(%q: !q, %k: !k, %n: tensor<3xi32>, %sinks: tensor<8xf32>) -> !q {
  %o = attn.attention %q, %k, %k key_lengths(%n : tensor<3xi32>) sinks(%sinks : tensor<8xf32>) : !q, !k, !k
  return %o : !q
}

// How many batches there are is known when it runs.
// CHECK-LABEL: gpu.func @many_kernel
// CHECK-SAME:    %[[LENGTHS:[^ ]+]]: memref<?xi32>
// CHECK: scf.for %[[FIRST:[^ ]+]] = %c0 to %[[BATCHES:[^ ]+]] step %c32
// CHECK: %[[BATCH:.+]] = arith.addi %[[FIRST]], %{{.+}}
// CHECK: arith.minui %[[BATCH]], %{{.+}}
// CHECK: memref.load %[[LENGTHS]]
// CHECK: scf.yield
// CHECK-NOT: scf.for
// CHECK: scf.for %{{[^ ]+}} = %c0 to %[[BATCHES]] step %c32
// CHECK: func.func @many
// CHECK: %[[SIZE:[^ ]+]] = tensor.dim
// CHECK: arith.addi %[[SIZE]], %c2
func.func @many(%q: tensor<?x8x1x64xf16>, %k: tensor<?x2x?x64xf16>, %n: tensor<?xi32>) -> tensor<?x8x1x64xf16> {
  %o = attn.attention %q, %k, %k key_lengths(%n : tensor<?xi32>) : tensor<?x8x1x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16>
  return %o : tensor<?x8x1x64xf16>
}
