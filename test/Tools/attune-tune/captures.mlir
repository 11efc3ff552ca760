// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the regions of an op read comes along when the op is tuned alone:
// tensors and computed values as arguments, constants as constants.
//
// REQUIRES: attune-tune
// RUN: rm -rf %t && mkdir %t
// RUN: attune-tune %s --chip=sm_90 --device=none --budget=1 --quiet -o %t/tuned.mlir 2> /dev/null \
// RUN:   | FileCheck %s --check-prefix=TABLE
// RUN: attune-opt %t/tuned.mlir --attune-compile="chip=sm_90 format=isa" -o /dev/null

// TABLE: attention on sm_90: 1 of {{[0-9]+}} legal schedules tried
// TABLE: best by model

func.func @attention(%q: tensor<2x2x64x64xbf16>, %bias: tensor<2x64x64xf32>, %factor: f32) -> tensor<2x2x64x64xbf16> {
  %half = arith.constant 5.000000e-01 : f32
  %scale = arith.mulf %factor, %half : f32
  %o = attn.attention %q, %q, %q score (%s, %b, %h, %m, %n) {
    %t = tensor.extract %bias[%h, %m, %n] : tensor<2x64x64xf32>
    %u = arith.mulf %t, %scale : f32
    %w = arith.mulf %u, %half : f32
    %r = arith.addf %s, %w : f32
    attn.yield %r : f32
  } : tensor<2x2x64x64xbf16>, tensor<2x2x64x64xbf16>, tensor<2x2x64x64xbf16>
  return %o : tensor<2x2x64x64xbf16>
}
