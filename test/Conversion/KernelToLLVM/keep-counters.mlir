// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The mark of kept counters, and how a kernel is assembled, become attributes that functions pass on to LLVM, beside those that they have or that their chip
// gives them.
//
// DEFINE: %{chip} =
// DEFINE: %{convert} = attune-opt %s --pass-pipeline="builtin.module(attune-attach-target{chip=%{chip}},gpu.module(convert-kernel-to-llvm))"
// REDEFINE: %{chip} = sm_90a
// RUN: %{convert} | FileCheck %s --check-prefixes=CHECK,NVIDIA
// REDEFINE: %{chip} = gfx1100
// RUN: %{convert} | FileCheck %s --check-prefixes=CHECK,AMD

gpu.module @kernels {
  // CHECK-LABEL: llvm.func @marked
  // NVIDIA-SAME: passthrough = ["tile.keep_counters"]
  // AMD-SAME: passthrough = ["tile.keep_counters", [
  gpu.func @marked() kernel attributes {known_block_size = array<i32: 32, 1, 1>, tile.keep_counters} {
    gpu.return
  }

  // CHECK-LABEL: llvm.func @joined
  // NVIDIA-SAME: passthrough = ["tile.keep_counters", "cold"]
  gpu.func @joined() kernel attributes {known_block_size = array<i32: 32, 1, 1>, tile.keep_counters, passthrough = ["cold"]} {
    gpu.return
  }

  // CHECK-LABEL: llvm.func @assembled
  // CHECK-SAME: passthrough = ["tile.keep_counters", ["tile.assembler", "sparing"]
  gpu.func @assembled() kernel attributes {known_block_size = array<i32: 32, 1, 1>, tile.keep_counters, tile.assembler = "sparing"} {
    gpu.return
  }

  // CHECK-LABEL: llvm.func @plain
  // NVIDIA-NOT: passthrough
  gpu.func @plain() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    gpu.return
  }
}
