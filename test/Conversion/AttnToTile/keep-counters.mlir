// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of attention and of its gradients keep the counters of their loops unless the schedule asks for strength reduction.
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_90a" --attune-set-schedule --attn-expand-short-forms --convert-attn-to-tile | FileCheck %s
// RUN: attune-opt %s --attune-attach-target="chip=sm_90a" --attune-set-schedule="strength-reduction=1" \
// RUN:   --attn-expand-short-forms --convert-attn-to-tile | FileCheck %s --check-prefix=REDUCED --implicit-check-not=tile.keep_counters

!q = tensor<1x2x256x64xf16>
!lse = tensor<1x2x256xf32>

// CHECK: gpu.func @forward_kernel({{.*}} tile.keep_counters
// REDUCED: gpu.func @forward_kernel(
func.func @forward(%q: !q, %k: !q, %v: !q) -> !q {
  %o = attn.attention %q, %k, %v : !q, !q, !q
  return %o : !q
}

// CHECK: gpu.func @backward_key_grad({{.*}} tile.keep_counters
// CHECK: gpu.func @backward_query_grad({{.*}} tile.keep_counters
// REDUCED: gpu.func @backward_key_grad(
// REDUCED: gpu.func @backward_query_grad(
func.func @backward(%q: !q, %k: !q, %v: !q, %o: !q, %lse: !lse, %do: !q) -> (!q, !q, !q) {
  %dq, %dk, %dv = attn.attention_grad %q, %k, %v, %o, %lse, %do : !q, !q, !q, !q, !lse, !q
  return %dq, %dk, %dv : !q, !q, !q
}
