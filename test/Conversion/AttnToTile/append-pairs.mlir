// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keys and values of the same tokens are appended by one kernel.
//
// RUN: attune-opt %s --attune-attach-target=chip=sm_90a --attune-select-schedule --convert-attn-to-tile --split-input-file | FileCheck %s

// Every second workgroup has values, of all heads of a token. What is rotated has narrower pieces, of which a warp reads more rows.
// CHECK-LABEL: gpu.func @both_append
// CHECK-SAME:    known_block_size = array<i32: 128, 1, 1>
// CHECK-SAME:    #launch.buffer<name = "pool", type = memref<?x16x8x128xbf16>, access = read_write>, #launch.buffer<name = "rows1", type = memref<?x8x128xbf16>, access = read>
// CHECK-SAME:    #launch.buffer<name = "pool1", type = memref<?x16x8x128xi8>, access = read_write>, #launch.buffer<name = "row_scales1", type = memref<?x16x8x1xf32>, access = read_write>
// CHECK-SAME:    grid = <2 * dim(6, 0) * dim(6, 1) ceildiv 8>
// CHECK: %[[BLOCK:.+]] = gpu.block_id x
// CHECK: %[[PART:.+]] = arith.remui %[[BLOCK]], %{{.+}}
// CHECK: arith.cmpi eq, %[[PART]]
// CHECK: scf.if
// CHECK-COUNT-2: tile.load {{.+}} -> <16x64xbf16, registers>
// CHECK: } else {
// CHECK: tile.load {{.+}} -> <8x128xbf16, registers>
// CHECK: tile.store {{.+}} : <8x128xi8, registers>
// CHECK-LABEL: func.func @both
// CHECK: gpu.launch_func
// CHECK-NOT: gpu.launch_func
func.func @both(%k: tensor<?x8x128xbf16>, %v: tensor<?x8x128xbf16>, %slots: tensor<?xi64>, %cos: tensor<512x64xf32>, %sin: tensor<512x64xf32>,
                %positions: tensor<?xi32>, %keys: tensor<?x16x8x128xbf16>, %values: tensor<?x16x8x128xi8>, %s: tensor<?x16x8x1xf32>)
    -> (tensor<?x16x8x128xbf16>, tensor<?x16x8x128xi8>, tensor<?x16x8x1xf32>) {
  %p = attn.append %k to %keys at %slots rotary(%cos, %sin, %positions : tensor<512x64xf32>, tensor<512x64xf32>, tensor<?xi32>)
    : tensor<?x8x128xbf16>, tensor<?x16x8x128xbf16>, tensor<?xi64>
  %w, %ws = attn.append %v to %values at %slots row_scales(%s : tensor<?x16x8x1xf32>) : tensor<?x8x128xbf16>, tensor<?x16x8x128xi8>, tensor<?xi64>
  return %p, %w, %ws : tensor<?x16x8x128xbf16>, tensor<?x16x8x128xi8>, tensor<?x16x8x1xf32>
}

// -----

// Those of other tokens, or to one pool, or of which one is used before the other is there, have their own.
// CHECK-LABEL: func.func @slots
// CHECK-COUNT-2: gpu.launch_func
func.func @slots(%x: tensor<9x8x64xf16>, %a: tensor<9xi64>, %b: tensor<9xi64>, %keys: tensor<4x16x8x64xf16>, %values: tensor<4x16x8x64xf16>)
    -> (tensor<4x16x8x64xf16>, tensor<4x16x8x64xf16>) {
  %p = attn.append %x to %keys at %a : tensor<9x8x64xf16>, tensor<4x16x8x64xf16>, tensor<9xi64>
  %w = attn.append %x to %values at %b : tensor<9x8x64xf16>, tensor<4x16x8x64xf16>, tensor<9xi64>
  return %p, %w : tensor<4x16x8x64xf16>, tensor<4x16x8x64xf16>
}

// CHECK-LABEL: func.func @one_pool
// CHECK-COUNT-2: gpu.launch_func
func.func @one_pool(%x: tensor<9x8x64xf16>, %y: tensor<9x8x64xf16>, %a: tensor<9xi64>, %keys: tensor<4x16x8x64xf16>) -> tensor<4x16x8x64xf16> {
  %p = attn.append %x to %keys at %a : tensor<9x8x64xf16>, tensor<4x16x8x64xf16>, tensor<9xi64>
  %w = attn.append %y to %p at %a : tensor<9x8x64xf16>, tensor<4x16x8x64xf16>, tensor<9xi64>
  return %w : tensor<4x16x8x64xf16>
}

// CHECK-LABEL: func.func @same_pool
// CHECK-COUNT-2: gpu.launch_func
func.func @same_pool(%x: tensor<9x8x64xf16>, %y: tensor<9x8x64xf16>, %a: tensor<9xi64>, %keys: tensor<4x16x8x64xf16>)
    -> (tensor<4x16x8x64xf16>, tensor<4x16x8x64xf16>) {
  %p = attn.append %x to %keys at %a : tensor<9x8x64xf16>, tensor<4x16x8x64xf16>, tensor<9xi64>
  %w = attn.append %y to %keys at %a : tensor<9x8x64xf16>, tensor<4x16x8x64xf16>, tensor<9xi64>
  return %p, %w : tensor<4x16x8x64xf16>, tensor<4x16x8x64xf16>
}

// CHECK-LABEL: func.func @between
// CHECK-COUNT-2: gpu.launch_func
func.func @between(%x: tensor<9x8x64xf16>, %a: tensor<9xi64>, %keys: tensor<4x16x8x64xf16>, %values: tensor<4x16x8x64xf16>)
    -> (f16, tensor<4x16x8x64xf16>, tensor<4x16x8x64xf16>) {
  %c0 = arith.constant 0 : index
  %p = attn.append %x to %keys at %a : tensor<9x8x64xf16>, tensor<4x16x8x64xf16>, tensor<9xi64>
  %e = tensor.extract %p[%c0, %c0, %c0, %c0] : tensor<4x16x8x64xf16>
  %w = attn.append %x to %values at %a : tensor<9x8x64xf16>, tensor<4x16x8x64xf16>, tensor<9xi64>
  return %e, %p, %w : f16, tensor<4x16x8x64xf16>, tensor<4x16x8x64xf16>
}

// CHECK-LABEL: func.func @heads
// CHECK-COUNT-2: gpu.launch_func
func.func @heads(%x: tensor<9x8x64xf16>, %y: tensor<9x2x64xf16>, %a: tensor<9xi64>, %keys: tensor<4x16x8x64xf16>, %values: tensor<4x16x2x64xf16>)
    -> (tensor<4x16x8x64xf16>, tensor<4x16x2x64xf16>) {
  %p = attn.append %x to %keys at %a : tensor<9x8x64xf16>, tensor<4x16x8x64xf16>, tensor<9xi64>
  %w = attn.append %y to %values at %a : tensor<9x2x64xf16>, tensor<4x16x2x64xf16>, tensor<9xi64>
  return %p, %w : tensor<4x16x8x64xf16>, tensor<4x16x2x64xf16>
}
