// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who restages operands of 8 bits for warpgroups: half of the warps beside them, all but one where values of many columns are only transposed, or,
// where that is one warp, they themselves.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(attune-attach-target{chip=sm_90a},attune-check-schedule,convert-attn-to-tile)" | FileCheck %s

!narrow = tensor<1x1x256x64xf8E4M3FN>
!wide = tensor<1x1x256x64xbf16>

// CHECK-LABEL: gpu.func @role_kernel
// CHECK-SAME: tile.roles = [#tile.role<"compute", warps = 8, registers = 232>, #tile.role<"restage", warps = 2, registers = 40>, #tile.role<"load", warps = 2, registers = 40, threads = one>]
func.func @role(%q: !narrow) -> !wide {
  %o = attn.attention %q, %q, %q weights(f8E4M3FN) schedule(<blockM = 128, numWarps = 8, mmaWarps = 4, producerWarps = 4, qInRegisters = 0>) : !narrow, !narrow, !narrow
  return %o : !wide
}

// Rows of 256 elements leave less, for more warps.
// CHECK-LABEL: gpu.func @wide_rows_kernel
// CHECK-SAME: tile.roles = [#tile.role<"compute", warps = 8, registers = 240>, #tile.role<"restage", warps = 3, registers = 24>, #tile.role<"load", warps = 1, registers = 24, threads = one>]
func.func @wide_rows(%q: tensor<1x1x256x256xf8E4M3FN>) -> tensor<1x1x256x256xbf16> {
  %o = attn.attention %q, %q, %q weights(f8E4M3FN) schedule(<blockM = 128, blockN = 128, numWarps = 8, mmaWarps = 4, producerWarps = 4, qInRegisters = 0, overlap = softmax, rescale = 8>) : tensor<1x1x256x256xf8E4M3FN>, tensor<1x1x256x256xf8E4M3FN>, tensor<1x1x256x256xf8E4M3FN>
  return %o : tensor<1x1x256x256xbf16>
}

// CHECK-LABEL: gpu.func @themselves_kernel
// CHECK-SAME: tile.roles = [#tile.role<"compute", warps = 8>, #tile.role<"load", warps = 1, threads = one>]
func.func @themselves(%q: !narrow) -> !wide {
  %o = attn.attention %q, %q, %q weights(f8E4M3FN) schedule(<blockM = 128, numWarps = 8, mmaWarps = 4, producerWarps = 1, qInRegisters = 0>) : !narrow, !narrow, !narrow
  return %o : !wide
}

// CHECK-LABEL: gpu.func @rows_kernel
// CHECK-SAME: tile.roles = [#tile.role<"compute", warps = 8, registers = 240>, #tile.role<"load", warps = 4, registers = 24, threads = one>]
func.func @rows(%q: !wide) -> !wide {
  %o = attn.attention %q, %q, %q schedule(<blockM = 128, numWarps = 8, mmaWarps = 4, producerWarps = 4, qInRegisters = 0>) : !wide, !wide, !wide
  return %o : !wide
}

// Who widens has the registers for it.
// CHECK-LABEL: gpu.func @widened_kernel
// CHECK-SAME: tile.roles = [#tile.role<"compute", warps = 8, registers = 200>, #tile.role<"restage", warps = 4, registers = 56>, #tile.role<"load", warps = 4, registers = 56, threads = one>]
func.func @widened(%q: tensor<1x1x256x128xbf16>, %k: tensor<1x1x256x128xi8>) -> tensor<1x1x256x128xbf16> {
  %o = attn.attention %q, %k, %k schedule(<blockM = 128, blockN = 128, numWarps = 8, mmaWarps = 4, producerWarps = 8, qInRegisters = 0>) : tensor<1x1x256x128xbf16>, tensor<1x1x256x128xi8>, tensor<1x1x256x128xi8>
  return %o : tensor<1x1x256x128xbf16>
}

// A role that widens reads scales of keys, and hands rows of them over, in which those of values are finite: weights of keys that are not seen stay 0.
// CHECK-LABEL: gpu.func @rows_of_restaging_kernel
// CHECK: scf.for
// CHECK: %[[KEYS:.+]] = tile.map() {
// CHECK: memref.load
// CHECK-NEXT: tile.yield
// CHECK: %[[VALUES:.+]] = tile.map() {
// CHECK: %[[NUMBER:.+]] = memref.load
// CHECK: %[[FINITE:.+]] = arith.cmpf ole
// CHECK: arith.select %[[FINITE]], %[[NUMBER]], %{{.+}} : f32
// CHECK: tile.load {{.*}}xi8
// CHECK: %[[K:.+]] = tile.hand_over %[[KEYS]] stages 2 role "restage" : <64xf32, registers>
// CHECK: %[[V:.+]] = tile.hand_over %[[VALUES]] stages 2 role "restage" : <64xf32, registers>
// CHECK: tile.mma
// CHECK: tile.broadcast %[[K]] dim 1
// CHECK: tile.broadcast %[[V]] dim 1
// CHECK-NOT: arith.cmpf une
// CHECK: tile.mma
func.func @rows_of_restaging(%q: tensor<1x2x64x64xbf16>, %k: tensor<1x2x128x64xi8>, %ks: tensor<1x2x128x1xf32>) -> tensor<1x2x64x64xbf16> {
  %o = attn.attention %q, %k, %k key_scales(%ks : tensor<1x2x128x1xf32>) value_scales(%ks : tensor<1x2x128x1xf32>)
    schedule(<blockM = 64, mmaWarps = 4, producerWarps = 8, qInRegisters = 0>) : tensor<1x2x64x64xbf16>, tensor<1x2x128x64xi8>, tensor<1x2x128x64xi8>
  return %o : tensor<1x2x64x64xbf16>
}
