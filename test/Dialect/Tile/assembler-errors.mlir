// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{expects 'tile.assembler' on 'gpu.func', but got it on this}}
module attributes {tile.assembler = "plain"} {}

// -----

gpu.module @kernels {
  // expected-error @below {{expects 'tile.assembler' to be "sparing" or "plain", but got "thorough"}}
  gpu.func @assembler_value() kernel attributes {tile.assembler = "thorough"} {
    gpu.return
  }
}
