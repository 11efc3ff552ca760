// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Workgroups of a cluster take neighbouring query tiles of a head.
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_90a" --attune-set-schedule="block-m=128 num-warps=8 mma-warps=4 producer-warps=4 q-in-registers=0 cluster=2 tile-order=ascending" \
// RUN:   --convert-attn-to-tile | FileCheck %s
// RUN: attune-opt %s --attune-attach-target="chip=sm_90a sms=5" --attune-set-schedule="block-m=128 num-warps=8 mma-warps=4 producer-warps=4 q-in-registers=0 cluster=2 persistent=static tile-order=across-heads" \
// RUN:   --convert-attn-to-tile | FileCheck %s --check-prefix=PERSISTENT
// RUN: attune-opt %s --attune-attach-target="chip=sm_90a sms=1" --attune-set-schedule="block-m=128 num-warps=8 mma-warps=4 producer-warps=4 q-in-registers=0 cluster=2 persistent=static" \
// RUN:   --convert-attn-to-tile | FileCheck %s --check-prefix=ONE

// 300 rows are three tiles of 128, in two clusters: the last workgroup of a head has no rows. The grid counts
// workgroups, its factors clusters.
// CHECK-LABEL: gpu.func @f_kernel
// CHECK-SAME:    known_cluster_size = array<i32: 2, 1, 1>
// CHECK-SAME:    grid = <dim(0, 2) ceildiv 256 * {{.*}}>, cluster = 2
// CHECK:         %[[ID:.+]] = gpu.cluster_id x
// CHECK:         %[[PAIR:.+]] = arith.remui %[[ID]], %c2
// CHECK:         %[[FIRST:.+]] = arith.muli %[[PAIR]], %c2
// CHECK:         %[[RANK:.+]] = gpu.cluster_block_id x
// CHECK:         %[[TILE:.+]] = arith.addi %[[FIRST]], %[[RANK]]
// CHECK:         arith.muli %[[TILE]], %c128
// CHECK-NOT:     gpu.block_id
// CHECK-LABEL: func.func @f
// CHECK:         gpu.launch_func @f_kernel::@f_kernel blocks in (%c24

// Clusters are assigned, as many as fit: two on five SMs, for twelve of them.
// PERSISTENT-LABEL: gpu.func @f_kernel
// PERSISTENT-SAME:    grid_limit = 4
// PERSISTENT:         %[[OWN:.+]] = gpu.cluster_id x
// PERSISTENT:         %[[GRID:.+]] = gpu.cluster_dim x
// PERSISTENT:         scf.for %{{[^ ]+}} = %[[OWN]] to %c12{{[^ ]*}} step %[[GRID]]
// PERSISTENT-NOT:     gpu.block_id
// PERSISTENT:         gpu.launch_func @f_kernel::@f_kernel blocks in (%c4

// ONE: grid_limit = 2
func.func @f(%q: tensor<1x6x300x64xbf16>) -> tensor<1x6x300x64xbf16> {
  %o = attn.attention %q, %q, %q : tensor<1x6x300x64xbf16>, tensor<1x6x300x64xbf16>, tensor<1x6x300x64xbf16>
  return %o : tensor<1x6x300x64xbf16>
}
