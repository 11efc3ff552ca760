// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the device's cache has eight parts, of which workgroup i uses part
// i mod 8, the tiles of a head meet in one: those of one part have numbers in a
// row, or heads that are visited in turn are as many as the parts, or a multiple.
//
// RUN: attune-opt %s --attune-attach-target="chip=gfx942" --attune-set-schedule="num-warps=4 block-m=128 tile-order=ascending" --convert-attn-to-tile | FileCheck %s --check-prefix=DEALT
// RUN: attune-opt %s --attune-attach-target="chip=gfx942" --attune-set-schedule="num-warps=4 block-m=128 tile-order=across-heads" --convert-attn-to-tile | FileCheck %s --check-prefix=SECTIONS
// RUN: attune-opt %s --attune-attach-target="chip=gfx90a" --attune-set-schedule="num-warps=4 block-m=128 tile-order=ascending" --convert-attn-to-tile | FileCheck %s --check-prefix=WHOLE

// 3 batches of 12 heads with 3 tiles each: 108 tiles, 13 of a part, and four more.
// DEALT-LABEL: gpu.func @f_kernel
// DEALT-DAG:     %[[NUMBER:.+]] = gpu.block_id x
// DEALT:         %[[PART:.+]] = arith.remui %[[NUMBER]], %c8
// DEALT:         %[[FIRST:.+]] = arith.muli %[[PART]], %c13
// DEALT:         %[[PLACE:.+]] = arith.divui %[[NUMBER]], %c8
// DEALT:         %[[SUM:.+]] = arith.addi %[[FIRST]], %[[PLACE]]
// DEALT:         %[[IS:.+]] = arith.cmpi ult, %[[NUMBER]], %c104
// DEALT:         %[[DEALT:.+]] = arith.select %[[IS]], %[[SUM]], %[[NUMBER]]
// DEALT:         arith.remui %[[DEALT]], %c3

// A section has all heads: 12 key heads with 3 heads each. The key head goes fastest.
// SECTIONS-LABEL: gpu.func @f_kernel
// SECTIONS:         %[[NUMBER:.+]] = gpu.block_id x
// SECTIONS:         %[[IN:.+]] = arith.remui %{{.+}}, %c36
// SECTIONS:         %[[KEY:.+]] = arith.remui %[[IN]], %c12
// SECTIONS:         %[[BASE:.+]] = arith.muli %[[KEY]], %c3
// SECTIONS:         %[[OF:.+]] = arith.divui %[[IN]], %c12
// SECTIONS:         arith.addi %[[BASE]], %[[OF]]

// WHOLE-LABEL: gpu.func @f_kernel
// WHOLE:         %[[NUMBER:.+]] = gpu.block_id x
// WHOLE-NEXT:    arith.remui %[[NUMBER]], %c3
func.func @f(%q: tensor<3x12x384x64xf16>, %k: tensor<3x4x512x64xf16>) -> tensor<3x12x384x64xf16> {
  %o = attn.attention %q, %k, %k : tensor<3x12x384x64xf16>, tensor<3x4x512x64xf16>, tensor<3x4x512x64xf16>
  return %o : tensor<3x12x384x64xf16>
}
