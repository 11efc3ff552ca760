// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Schedules from files, as attune-tune writes them: of an equal op, or of the
// closest one that differs in batch, heads and lengths alone.
//
// RUN: attune-opt %s --attune-attach-target=chip=sm_90a --attune-apply-tuning-spec=specs=%S/Inputs/spec-other.mlir,%S/Inputs/spec.mlir | FileCheck %s
// RUN: attune-opt %s --attune-attach-target=chip=sm_90 --attune-apply-tuning-spec=specs=%S/Inputs/spec.mlir | FileCheck %s --check-prefix=CHIP
// RUN: attune-opt %s --attune-compile="chip=sm_90a format=tile tuning-specs=%S/Inputs/spec.mlir" | FileCheck %s --check-prefix=PIPELINE

// CHIP-NOT: blockN
// Keys come in blocks of 48 rows, queries of 64.
// PIPELINE-LABEL: gpu.func @equal_kernel
// PIPELINE: tile.load {{.*}} -> <64x64xf16, registers>
// PIPELINE: tile.load {{.*}} -> <48x64xf16, registers>

// CHECK-LABEL: func.func @equal
// CHECK: schedule(<blockM = 64, blockN = 48
func.func @equal(%q: tensor<2x4x512x64xf16>) -> tensor<2x4x512x64xf16> {
  %o = attn.attention %q, %q, %q causal(top_left) : tensor<2x4x512x64xf16>, tensor<2x4x512x64xf16>, tensor<2x4x512x64xf16>
  return %o : tensor<2x4x512x64xf16>
}

// Among lengths of 512 and 4096, 1024 is closer to 512 and 2000 to 4096.
// CHECK-LABEL: func.func @close_to_512
// CHECK: schedule(<blockM = 64, blockN = 48
func.func @close_to_512(%q: tensor<1x8x1024x64xf16>) -> tensor<1x8x1024x64xf16> {
  %o = attn.attention %q, %q, %q causal(top_left) : tensor<1x8x1024x64xf16>, tensor<1x8x1024x64xf16>, tensor<1x8x1024x64xf16>
  return %o : tensor<1x8x1024x64xf16>
}
// CHECK-LABEL: func.func @close_to_4096
// CHECK: schedule(<blockM = 64, blockN = 80
func.func @close_to_4096(%q: tensor<1x8x2000x64xf16>) -> tensor<1x8x2000x64xf16> {
  %o = attn.attention %q, %q, %q causal(top_left) : tensor<1x8x2000x64xf16>, tensor<1x8x2000x64xf16>, tensor<1x8x2000x64xf16>
  return %o : tensor<1x8x2000x64xf16>
}

// With lengths that nobody knows the number of heads decides, and then the first.
// CHECK-LABEL: func.func @dynamic
// CHECK: schedule(<blockM = 64, blockN = 48
func.func @dynamic(%q: tensor<?x4x?x64xf16>) -> tensor<?x4x?x64xf16> {
  %o = attn.attention %q, %q, %q causal(top_left) : tensor<?x4x?x64xf16>, tensor<?x4x?x64xf16>, tensor<?x4x?x64xf16>
  return %o : tensor<?x4x?x64xf16>
}

// A region is part of what an op is.
// CHECK-LABEL: func.func @region
// CHECK: schedule(<blockM = 64, blockN = 96
func.func @region(%q: tensor<1x1x100x64xf16>, %bias: tensor<100xf32>) -> tensor<1x1x100x64xf16> {
  %o = attn.attention %q, %q, %q score(%s, %b, %h, %i, %j) {
    %x = tensor.extract %bias[%j] : tensor<100xf32>
    %t = arith.addf %s, %x : f32
    attn.yield %t : f32
  } : tensor<1x1x100x64xf16>, tensor<1x1x100x64xf16>, tensor<1x1x100x64xf16>
  return %o : tensor<1x1x100x64xf16>
}

// Another head size, another mask and another type are another kind, and what
// is given stays.
// CHECK-LABEL: func.func @others
// CHECK-NOT: schedule(
// CHECK: schedule(<blockM = 192>)
// CHECK-NOT: schedule(
func.func @others(%q: tensor<2x4x512x64xf16>, %w: tensor<2x4x512x128xf16>, %b: tensor<2x4x512x64xbf16>)
    -> (tensor<2x4x512x64xf16>, tensor<2x4x512x128xf16>, tensor<2x4x512x64xbf16>, tensor<2x4x512x64xf16>) {
  %0 = attn.attention %q, %q, %q : tensor<2x4x512x64xf16>, tensor<2x4x512x64xf16>, tensor<2x4x512x64xf16>
  %1 = attn.attention %w, %w, %w causal(top_left) : tensor<2x4x512x128xf16>, tensor<2x4x512x128xf16>, tensor<2x4x512x128xf16>
  %2 = attn.attention %b, %b, %b causal(top_left) : tensor<2x4x512x64xbf16>, tensor<2x4x512x64xbf16>, tensor<2x4x512x64xbf16>
  %3 = attn.attention %q, %q, %q causal(top_left) schedule(<blockM = 192>) : tensor<2x4x512x64xf16>, tensor<2x4x512x64xf16>, tensor<2x4x512x64xf16>
  return %0, %1, %2, %3 : tensor<2x4x512x64xf16>, tensor<2x4x512x128xf16>, tensor<2x4x512x64xbf16>, tensor<2x4x512x64xf16>
}
