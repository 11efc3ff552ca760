// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What tile-promote-to-shared refuses.
//
// RUN: attune-opt %s --verify-diagnostics --pass-pipeline="builtin.module(gpu.module(gpu.func(tile-promote-to-shared)))"

gpu.module @kernels {
  // How wide panels are is the chip's to say.
  // expected-error @below {{expects a 'tile.target' attribute on the kernel or around it; run attune-attach-target first}}
  gpu.func @no_target() kernel attributes {tile.schedule = #attn.schedule<mmaWarps = 4, qInRegisters = 0>} {
    gpu.return
  }
}
