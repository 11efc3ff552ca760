// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX needs nothing of the CUDA toolkit, and its absence is no error.
//
// RUN: env CUDA_ROOT=%t/absent attune-opt %s --attune-attach-target="chip=sm_80" \
// RUN:   --attune-emit-binary="format=isa" -verify-diagnostics | FileCheck %s

// CHECK: .entry kernel(
gpu.module @module {
  llvm.func @kernel() attributes {gpu.kernel, nvvm.kernel} {
    llvm.return
  }
}
