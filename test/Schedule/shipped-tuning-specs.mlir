// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The schedules that come with the project are legal, and are found for ops
// like theirs: of an equal one, and of one of another length.
//
// RUN: attune-opt %S/../../tuning/sm_90a.mlir --attune-attach-target=chip=sm_90a --attune-check-schedule -o /dev/null
// RUN: attune-opt %s --attune-attach-target=chip=sm_90a --attune-apply-tuning-spec=specs=%S/../../tuning/sm_90a.mlir --attune-check-schedule | FileCheck %s

// CHECK-LABEL: func.func @equal
// CHECK: schedule(<blockM = 64,
func.func @equal(%q: tensor<32x32x512x64xbf16>, %k: tensor<32x32x512x64xbf16>, %v: tensor<32x32x512x64xbf16>) -> tensor<32x32x512x64xbf16> {
  %o = attn.attention %q, %k, %v causal(top_left) : tensor<32x32x512x64xbf16>, tensor<32x32x512x64xbf16>, tensor<32x32x512x64xbf16>
  return %o : tensor<32x32x512x64xbf16>
}

// CHECK-LABEL: func.func @longest
// CHECK: schedule(<blockN = 128, numWarps = 8, mmaWarps = 4, {{.*}}tileOrder = "across-heads", {{.*}}lateKeys = 32
func.func @longest(%q: tensor<1x8x100000x128xbf16>, %k: tensor<1x8x100000x128xbf16>) -> tensor<1x8x100000x128xbf16> {
  %o = attn.attention %q, %k, %k causal(top_left) : tensor<1x8x100000x128xbf16>, tensor<1x8x100000x128xbf16>, tensor<1x8x100000x128xbf16>
  return %o : tensor<1x8x100000x128xbf16>
}
