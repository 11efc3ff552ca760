// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that take their key blocks from lists: given ones, and those of two kernels in front.
//
// RUN: attune-opt %s --split-input-file --pass-pipeline="builtin.module(attune-attach-target{chip=sm_80},func.func(attn-expand-short-forms),convert-attn-to-tile,gpu.module(canonicalize,cse))" | FileCheck %s
// RUN: attune-opt %s --split-input-file --pass-pipeline="builtin.module(attune-attach-target{chip=sm_80},func.func(attn-expand-short-forms),convert-attn-to-tile)" --remarks-filter=mask -o %t.mlir 2>&1 | FileCheck %s --check-prefix=REMARK

!t = tensor<2x4x256x64xf16>

// Two steps for each block: first those of the full ones, then the others.
// CHECK-LABEL: gpu.func @given_kernel
// CHECK-SAME:    %[[COUNTS:[^ ]+]]: memref<2x1x2xi32>, %[[INDICES:[^ ]+]]: memref<2x1x2x4xi32>, %[[FULL_COUNTS:[^ ]+]]: memref<1x4x2xi32>, %[[FULL_INDICES:[^ ]+]]: memref<1x4x2x4xi32>
// CHECK-DAG:   %[[C0:.+]] = arith.constant 0 : index
// CHECK-DAG:   %[[C2:.+]] = arith.constant 2 : index
// CHECK-DAG:   %[[C3:.+]] = arith.constant 3 : index
// CHECK-DAG:   %[[C32:.+]] = arith.constant 32 : index
// CHECK-DAG:   %[[C64:.+]] = arith.constant 64 : index
// CHECK-DAG:   %[[C128:.+]] = arith.constant 128 : index
// CHECK:       %[[ROW:.+]] = arith.divui %{{.+}}, %[[C128]] : index
// CHECK:       %[[LOADED:.+]] = memref.load %[[COUNTS]][%[[BATCH:.+]], %[[C0]], %[[ROW]]]
// CHECK:       %[[COUNT:.+]] = arith.index_cast %[[LOADED]]
// CHECK:       %[[LOADED:.+]] = memref.load %[[FULL_COUNTS]][%[[C0]], %[[HEAD:.+]], %[[ROW]]]
// CHECK:       %[[FULL_COUNT:.+]] = arith.index_cast %[[LOADED]]
// CHECK:       %[[FULL_STEPS:.+]] = arith.muli %[[FULL_COUNT]], %[[C2]]
// CHECK:       %[[ALL:.+]] = arith.addi %[[COUNT]], %[[FULL_COUNT]]
// CHECK:       %[[STEPS:.+]] = arith.muli %[[ALL]], %[[C2]]
// CHECK:       scf.for %[[STEP:.+]] = %[[C0]] to %[[STEPS]]
// CHECK:         %[[NUMBER:.+]] = arith.divui %[[STEP]], %[[C2]]
// CHECK:         %[[PART:.+]] = arith.remui %[[STEP]], %[[C2]]
// CHECK:         %[[IS_FULL:.+]] = arith.cmpi slt, %[[STEP]], %[[FULL_STEPS]]
// CHECK:         %[[OTHER:.+]] = arith.subi %[[NUMBER]], %[[FULL_COUNT]]
// CHECK-DAG:     %[[AT_FULL:.+]] = arith.minui %[[NUMBER]], %[[C3]]
// CHECK-DAG:     memref.load %[[FULL_INDICES]][%[[C0]], %[[HEAD]], %[[ROW]], %[[AT_FULL]]]
// CHECK-DAG:     %[[AT:.+]] = arith.minui %[[OTHER]], %[[C3]]
// CHECK-DAG:     memref.load %[[INDICES]][%[[BATCH]], %[[C0]], %[[ROW]], %[[AT]]]
// CHECK:         %[[BLOCK:.+]] = arith.select %[[IS_FULL]]
// CHECK:         %[[FIRST:.+]] = arith.muli %[[BLOCK]], %[[C64]]
// CHECK:         %[[OFFSET:.+]] = arith.muli %[[PART]], %[[C32]]
// CHECK:         %[[KEY:.+]] = arith.addi %[[FIRST]], %[[OFFSET]]
// CHECK:         tile.load %{{.+}}[%[[KEY]], %[[C0]]]
// CHECK:         scf.if
// CHECK-NEXT:      scf.yield
// CHECK-NEXT:    } else {
// CHECK-NEXT:      tile.map
// REMARK: Function=given | Remark="key blocks are those that lists name, of 64 keys for 128 queries; all others are skipped, and those listed as full need no mask"
func.func @given(%q: !t, %c: tensor<2x1x2xi32>, %i: tensor<2x1x2x4xi32>, %fc: tensor<1x4x2xi32>, %fi: tensor<1x4x2x4xi32>) -> !t {
  %o = attn.attention %q, %q, %q causal(top_left)
    blocks(%c, %i, [128, 64] : tensor<2x1x2xi32>, tensor<2x1x2x4xi32>)
    full_blocks(%fc, %fi : tensor<1x4x2xi32>, tensor<1x4x2x4xi32>)
    schedule(<blockM = 64, blockN = 32>) : !t, !t, !t
  return %o : !t
}

// -----

!t = tensor<2x4x250x64xf16>

// Without a mask no step asks for it; but blocks may reach beyond the last key.
// CHECK-LABEL: gpu.func @no_mask_kernel
// CHECK:       scf.for
// CHECK-NOT:     scf.if
// CHECK:         tile.map
// CHECK:           arith.cmpi slt
// CHECK-NOT:     scf.if
// REMARK: Function=no_mask | Remark="key blocks are those that lists name, of 64 keys for 128 queries; all others are skipped, and none is listed as full"
func.func @no_mask(%q: !t, %c: tensor<2x1x2xi32>, %i: tensor<2x1x2x4xi32>) -> !t {
  %o = attn.attention %q, %q, %q blocks(%c, %i, [128, 64] : tensor<2x1x2xi32>, tensor<2x1x2x4xi32>)
    schedule(<blockM = 64, blockN = 32>) : !t, !t, !t
  return %o : !t
}

// -----

!t = tensor<2x4x250x64xf16>

// Lists that all heads share are made once for them. First what is seen of each pair, then the lists, then the kernel that reads them.
// CHECK-LABEL: gpu.func @made_pairs
// CHECK-SAME:    (%{{[^ ]+}}: memref<2x4x250x64xf16>, %[[DOC:[^ ]+]]: memref<2x250xi32>, %[[PAIRS:[^ ]+]]: memref<2x1x4x8xi32>)
// CHECK-SAME:    known_block_size = array<i32: 32, 1, 1>
// CHECK:         scf.for
// CHECK:           memref.load %[[DOC]]
// CHECK:           memref.load %[[DOC]]
// CHECK:           arith.cmpi eq
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK:         scf.if
// CHECK:           memref.store %{{.+}}, %[[PAIRS]]
// CHECK-LABEL: gpu.func @made_lists
// CHECK-SAME:    memref<2x1x4x8xi32>, %[[COUNTS:[^ ]+]]: memref<2x1x4xi32>, %[[INDICES:[^ ]+]]: memref<2x1x4x8xi32>, %[[FULL_COUNTS:[^ ]+]]: memref<2x1x4xi32>, %[[FULL_INDICES:[^ ]+]]: memref<2x1x4x8xi32>
// CHECK:         scf.for
// CHECK:           memref.store %{{.+}}, %[[INDICES]]
// CHECK:           memref.store %{{.+}}, %[[FULL_INDICES]]
// CHECK:         memref.store %{{.+}}, %[[COUNTS]]
// CHECK:         memref.store %{{.+}}, %[[FULL_COUNTS]]
// CHECK-LABEL: gpu.func @made_kernel
// CHECK:         memref.load %{{.+}} : memref<2x1x4xi32>
// CHECK:         scf.for
// CHECK:           memref.load %{{.+}} : memref<2x1x4x8xi32>
// CHECK-LABEL: func.func @made
// CHECK:         gpu.launch_func @made_pairs::@made_pairs
// CHECK:         gpu.launch_func @made_lists::@made_lists
// CHECK:         gpu.launch_func @made_kernel::@made_kernel
// REMARK: Function=made | Remark="the mask is evaluated first: blocks of 32 keys that it hides from 64 queries are skipped, and those that it shows as a whole need no mask"
func.func @made(%q: !t, %doc: tensor<2x250xi32>) -> !t {
  %o = attn.attention %q, %q, %q schedule(<blockM = 64, blockN = 32, listBlocks = 1>) mask (%b, %h, %m, %n) {
    %dm = tensor.extract %doc[%b, %m] : tensor<2x250xi32>
    %dn = tensor.extract %doc[%b, %n] : tensor<2x250xi32>
    %same = arith.cmpi eq, %dm, %dn : i32
    attn.yield %same : i1
  } : !t, !t, !t
  return %o : !t
}
