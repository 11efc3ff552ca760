// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stock mlir-opt, with the plugin, knows the dialects and the passes.
//
// REQUIRES: plugin
// RUN: mlir-opt %s --load-dialect-plugin=%plugin --load-pass-plugin=%plugin \
// RUN:   --pass-pipeline='builtin.module(attune-set-schedule{block-m=64},canonicalize)' | FileCheck %s
//
// attune-opt has the same library loaded, so that each of them is known once.
// RUN: attune-opt %s --load-dialect-plugin=%plugin --load-pass-plugin=%plugin \
// RUN:   --pass-pipeline='builtin.module(attune-set-schedule{block-m=64},canonicalize)' | FileCheck %s

// CHECK-LABEL: func.func @plugin
// CHECK: attn.attention
// CHECK-SAME: blockM = 64
func.func @plugin(%q: tensor<1x8x256x64xf16>, %k: tensor<1x2x256x64xf16>, %v: tensor<1x2x256x64xf16>) -> tensor<1x8x256x64xf16> {
  %o = attn.attention %q, %k, %v causal(top_left)
     : tensor<1x8x256x64xf16>, tensor<1x2x256x64xf16>, tensor<1x2x256x64xf16>
  return %o : tensor<1x8x256x64xf16>
}
