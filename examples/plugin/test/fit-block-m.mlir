// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// DEFINE: %{pipeline} = --pass-pipeline="builtin.module(func.func(fit-block-m))"
// RUN: %attune_opt %s %{pipeline} | FileCheck %s
// RUN: %mlir_opt %s %{pipeline} | FileCheck %s

// Ahead of a pipeline of the library, which obeys what the plugin has set.
// DEFINE: %{before} = --pass-pipeline="builtin.module(func.func(fit-block-m),attune-compile{chip=sm_80 format=tile})"
// RUN: %attune_opt %s %{before} | FileCheck %s --check-prefix=TILE
// RUN: %mlir_opt %s %{before} | FileCheck %s --check-prefix=TILE
// TILE: gpu.func @few_queries_kernel
// TILE: tile.load {{.*}}<32x64xf16, registers>

// CHECK-LABEL: func.func @few_queries
// CHECK: attn.attention
// CHECK-SAME: schedule(<blockM = 32, numWarps = 1>)
func.func @few_queries(%q: tensor<1x8x20x64xf16>, %k: tensor<1x2x256x64xf16>, %v: tensor<1x2x256x64xf16>) -> tensor<1x8x20x64xf16> {
  %o = attn.attention %q, %k, %v
     : tensor<1x8x20x64xf16>, tensor<1x2x256x64xf16>, tensor<1x2x256x64xf16>
  return %o : tensor<1x8x20x64xf16>
}

// CHECK-LABEL: func.func @many_queries
// CHECK-NOT: schedule
func.func @many_queries(%q: tensor<1x8x256x64xf16>, %k: tensor<1x2x256x64xf16>, %v: tensor<1x2x256x64xf16>) -> tensor<1x8x256x64xf16> {
  %o = attn.attention %q, %k, %v
     : tensor<1x8x256x64xf16>, tensor<1x2x256x64xf16>, tensor<1x2x256x64xf16>
  return %o : tensor<1x8x256x64xf16>
}

// CHECK-LABEL: func.func @has_one
// CHECK: schedule(<blockM = 64>)
func.func @has_one(%q: tensor<1x8x20x64xf16>, %k: tensor<1x2x256x64xf16>, %v: tensor<1x2x256x64xf16>) -> tensor<1x8x20x64xf16> {
  %o = attn.attention %q, %k, %v schedule(<blockM = 64>)
     : tensor<1x8x20x64xf16>, tensor<1x2x256x64xf16>, tensor<1x2x256x64xf16>
  return %o : tensor<1x8x20x64xf16>
}
