// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: attune-opt %s | attune-opt --mlir-print-op-generic | attune-opt | FileCheck %s

// CHECK-LABEL: func @is_kept
func.func @is_kept(%t: !tile.tile<16x16xf32, registers>, %seed: i32, %head: i32) -> !tile.tile<16x16xi1, registers> {
  // CHECK: ^bb0(%{{.+}}: f32, %[[I:.+]]: index, %[[J:.+]]: index):
  // CHECK: tile.is_kept %[[J]], %[[I]] head %arg2 seed(%arg1, %arg2) offset %arg1 threshold 255
  %kept = tile.map(%t) {
  ^bb0(%x: f32, %i: index, %j: index):
    %k = tile.is_kept %j, %i head %head seed(%seed, %head) offset %seed threshold 255
    tile.yield %k : i1
  } : (!tile.tile<16x16xf32, registers>) -> !tile.tile<16x16xi1, registers>
  return %kept : !tile.tile<16x16xi1, registers>
}
