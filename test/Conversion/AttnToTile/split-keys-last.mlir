// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Workgroups that share the keys of a tile, of which the last one merges what all have left: there is one kernel.
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_80" --attune-set-schedule="block-m=16 block-n=32 num-warps=1 split-k=3 merge=last tile-order=ascending" \
// RUN:   --attn-expand-short-forms --convert-attn-to-tile --canonicalize --cse | FileCheck %s
// RUN: attune-opt %s --attune-attach-target="chip=sm_80" --attune-set-schedule="block-m=16 block-n=32 num-warps=1 split-k=64 merge=last tile-order=ascending" \
// RUN:   --attn-expand-short-forms --convert-attn-to-tile --canonicalize --cse | FileCheck %s --check-prefix=MANY

!q = tensor<2x4x1x64xf16>
!k = tensor<2x2x?x64xf16>

// Sinks are taken where parts are merged. Each of four tiles has a counter, which is zero behind the kernel as it was before.
// CHECK-LABEL: gpu.func @one_kernel
// CHECK-SAME:    %{{[^ ]+}}: memref<2x4x1x64xf16>, %{{[^ ]+}}: memref<2x2x?x64xf16>, %[[SINKS:[^ ]+]]: memref<4xf32>
// CHECK-SAME:    %[[PARTS:[^ ]+]]: memref<3x2x4x1x64xf32>, %[[LOGS:[^ ]+]]: memref<3x2x4x1xf32>, %[[COUNTERS:[^ ]+]]: memref<4xi32>, %[[O:[^ ]+]]: memref<2x4x1x64xf16>, %[[LSE:[^ ]+]]: memref<2x4x1xf32>)
// CHECK-SAME:    name = "part_output", type = f32, sizes = [{{.+}}], alignment = 16, contents = undefined>
// CHECK-SAME:    name = "arrivals", type = i32, sizes = [#launch.product<dim(0, 2) ceildiv 16 * dim(0, 1) ceildiv 2 * dim(0, 0)>], alignment = 4, contents = zero, restored = true>
// CHECK-SAME:    grid = <3 * dim(0, 2) ceildiv 16 * dim(0, 1) ceildiv 2 * dim(0, 0)>
// CHECK: %[[ID:.+]] = gpu.block_id x
// CHECK: %[[PART:.+]] = arith.remui %[[ID]], %c3
// CHECK: %[[TILE:.+]] = arith.divui %[[ID]], %c3
// CHECK-NOT: memref.load
// CHECK: memref.subview %[[PARTS]][%[[PART]], 0, 0, 0, 0] [1, 2, 4, 1, 64]
// CHECK: tile.store %{{.+}} : <16x64xf32, registers>
// CHECK: tile.store %{{.+}} : <16xf32, registers>
// CHECK-NEXT: %[[LAST:.+]] = tile.join %[[COUNTERS]][%[[TILE]]] of %c3
// CHECK-NEXT: scf.if %[[LAST]] {
// The two rows that there are, a warp each time as many as it has registers for; all parts are loaded before the first is needed.
// CHECK-COUNT-3: tile.load {{.+}} -> <2x64xf32, registers>
// CHECK-NOT: arith.maxnumf
// CHECK: memref.load %[[SINKS]]
// CHECK: arith.maxnumf
// CHECK: memref.subview %[[O]]
// CHECK: tile.store {{.+}} : <2x64xf16, registers>
// CHECK: tile.store {{.+}} : <2xf32, registers>
// CHECK-NOT: gpu.func
// CHECK-LABEL: func.func @one
// CHECK: %[[ARRIVALS:.+]] = memref.alloc() {alignment = 4 : i64} : memref<4xi32>
// CHECK: gpu.memset %[[ARRIVALS]], %{{.+}} {launch.restored}
// CHECK: gpu.launch_func @one_kernel::@one_kernel blocks in (%c12,
// CHECK-NOT: gpu.launch_func

// Logarithms of all first, and then some parts at a time, with what is known to be the largest: sums and their order are the
// same.
// MANY: tile.join %{{.+}}[%{{.+}}] of %c64
// MANY: memref.load
// MANY: scf.for %{{.+}} = %c0 to %c64 step %c32 iter_args
// MANY-COUNT-32: tile.load {{.+}} -> <2xf32, registers>
// MANY: scf.for %{{.+}} = %c0 to %c64 step %c16 iter_args
// MANY-COUNT-16: tile.load {{.+}} -> <2x64xf32, registers>
func.func @one(%q: !q, %k: !k, %sinks: tensor<4xf32>) -> (!q, tensor<2x4x1xf32>) {
  %o, %lse = attn.attention %q, %k, %k lse sinks(%sinks : tensor<4xf32>) : !q, !k, !k
  return %o, %lse : !q, tensor<2x4x1xf32>
}
