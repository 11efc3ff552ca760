// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of attention, and those of its gradients that are tiled, say how they are assembled where that is not thorough.
//
// DEFINE: %{how} =
// DEFINE: %{convert} = attune-opt %s --attune-attach-target="chip=sm_90a" --attune-set-schedule="assembler=%{how}" --attn-expand-short-forms --convert-attn-to-tile
// REDEFINE: %{how} = thorough
// RUN: %{convert} | FileCheck %s --implicit-check-not=tile.assembler
// REDEFINE: %{how} = sparing
// RUN: %{convert} | FileCheck %s --check-prefixes=CHECK,OTHER -DHOW=sparing
// REDEFINE: %{how} = plain
// RUN: %{convert} | FileCheck %s --check-prefixes=CHECK,OTHER -DHOW=plain

!q = tensor<1x2x256x64xf16>
!lse = tensor<1x2x256xf32>

// CHECK: gpu.func @forward_kernel(
// OTHER-SAME: tile.assembler = "[[HOW]]"
func.func @forward(%q: !q, %k: !q, %v: !q) -> !q {
  %o = attn.attention %q, %k, %v : !q, !q, !q
  return %o : !q
}

// CHECK: gpu.func @backward_key_grad(
// OTHER-SAME: tile.assembler = "[[HOW]]"
// CHECK: gpu.func @backward_query_grad(
// OTHER-SAME: tile.assembler = "[[HOW]]"
func.func @backward(%q: !q, %k: !q, %v: !q, %o: !q, %lse: !lse, %do: !q) -> (!q, !q, !q) {
  %dq, %dk, %dv = attn.attention_grad %q, %k, %v, %o, %lse, %do : !q, !q, !q, !q, !lse, !q
  return %dq, %dk, %dv : !q, !q, !q
}
