// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Warps that share the columns of one MMA have all of what the one before computes:
// rows are laid out alike, and nothing is converted between warps. The zeros that
// both start from are of one type here, and have a layout each.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(tensors-to-tile-pipeline{chip=sm_80},gpu.module(gpu.func(tile-promote-to-shared,tile-assign-layouts,tile-remove-layout-conversions)))" \
// RUN:   | FileCheck %s --implicit-check-not="convert_layout {{.*}}f32"

// CHECK: scf.for
// CHECK: tile.mma {{.*}} replicas 2 {{.*}} <32x64xf32, registers, #tile.layout<registers = {{\[\[}}2, 1, 1], [2, 0, 8], [8, 1, 8]], lanes = {{\[\[}}4, 1, 2], [8, 0, 1]], warps = {{\[\[}}2, 0, 16], [2, 0, 0]]>>
// CHECK: tile.reduce max {{.*}} -> <32xf32, registers, #tile.layout<{{.*}}warps = {{\[\[}}2, 0, 16], [2, 0, 0]]>>
// CHECK: tile.mma {{.*}} warps_n 2 {{.*}} <32x64xf32, registers, #tile.layout<registers = {{\[\[}}2, 1, 1], [2, 0, 8], [4, 1, 8]], lanes = {{\[\[}}4, 1, 2], [8, 0, 1]], warps = {{\[\[}}2, 0, 16], [2, 1, 32]]>>
func.func @attention(%q: tensor<1x1x64x64xf16>, %k: tensor<1x1x256x64xf16>) -> tensor<1x1x64x64xf16> {
  %o = attn.attention %q, %k, %k schedule(<blockM = 32, kStages = 1, vStages = 1, warpsN = 2>) : tensor<1x1x64x64xf16>, tensor<1x1x256x64xf16>, tensor<1x1x256x64xf16>
  return %o : tensor<1x1x64x64xf16>
}
