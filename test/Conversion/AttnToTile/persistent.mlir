// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Persistent workgroups, and the order of tiles in sections of heads.
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_90a" --attune-set-schedule="num-warps=8 mma-warps=4 producer-warps=4 q-in-registers=0 persistent=static tile-order=descending" \
// RUN:   --convert-attn-to-tile | FileCheck %s
// RUN: attune-opt %s --attune-attach-target="chip=sm_90a" --attune-set-schedule="num-warps=8 mma-warps=4 producer-warps=4 q-in-registers=0 persistent=dynamic tile-order=across-heads" \
// RUN:   --convert-attn-to-tile | FileCheck %s --check-prefix=COUNTER
// RUN: attune-opt %s --attune-attach-target="chip=sm_90a" --attune-set-schedule="block-m=64 tile-order=across-heads" \
// RUN:   --convert-attn-to-tile | FileCheck %s --check-prefix=SECTIONS

// Of 8 x 16 x 4 tiles, as many at a time as the chip has SMs.
// CHECK-LABEL: gpu.func @f_kernel
// CHECK-SAME:    grid_limit = 132
// CHECK:         %[[OWN:.+]] = gpu.block_id x
// CHECK:         %[[GRID:.+]] = gpu.grid_dim x
// CHECK:         scf.for %[[T:[^ ]+]] = %[[OWN]] to %c512{{[^ ]*}} step %[[GRID]]
// CHECK:           arith.remui %[[T]], %c4
// CHECK:           tile.load
// CHECK:           tile.store
// CHECK-LABEL: func.func @f
// CHECK:         gpu.launch_func @f_kernel::@f_kernel blocks in (%c132

// The same loop, and a counter for the pass that assigns its tiles: a buffer of
// its own in each call, for calls may overlap in time, that launches leave at zero.
// COUNTER-LABEL: gpu.func @f_kernel
// COUNTER-SAME:    %{{[^ ]+}}: memref<1xi32> {tile.work_counter})
// COUNTER-SAME:    #launch.workspace<name = "counter", type = i32, sizes = [#launch.product<1>], alignment = 4, contents = zero, restored = true>]
// COUNTER-SAME:    grid_limit = 132
// COUNTER:         scf.for %{{[^ ]+}} = %{{[^ ]+}} to %c512{{[^ ]*}} step
// COUNTER-LABEL: func.func @f
// COUNTER-NOT:     launch.sequences
// COUNTER:         %[[COUNTER:.+]] = memref.alloc() {alignment = 4 : i64} : memref<1xi32>
// COUNTER:         gpu.memset %[[COUNTER]], %c0_i32 : memref<1xi32>, i32 {launch.restored}
// COUNTER:         gpu.launch_func @f_kernel::@f_kernel
// COUNTER-SAME:      %[[COUNTER]] : memref<1xi32>

// A head has keys and values of 512 x 256 x 2 bytes: 128 of them fit the cache,
// which are all. Tiles go from the last to the first, heads faster than tiles.
// SECTIONS-LABEL: gpu.func @f_kernel
// SECTIONS-NOT:     grid_limit
// SECTIONS:         %[[ID:.+]] = gpu.block_id x
// SECTIONS:         %[[IN:.+]] = arith.remui %[[ID]], %c1024
// SECTIONS:         %[[TILE:.+]] = arith.divui %[[IN]], %c128
// SECTIONS:         arith.remui %[[IN]], %c128
// SECTIONS:         arith.subi %c7{{.*}}, %[[TILE]]
func.func @f(%q: tensor<8x16x512x128xbf16>) -> tensor<8x16x512x128xbf16> {
  %o = attn.attention %q, %q, %q : tensor<8x16x512x128xbf16>, tensor<8x16x512x128xbf16>, tensor<8x16x512x128xbf16>
  return %o : tensor<8x16x512x128xbf16>
}
