// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gradients that add in turns under a mask of comparisons that all hold: a band, as numbers of 32 bits, beside an end that all queries share.
//
// DEFINE: %{run} = attune-run %s --device=host --chip=sm_90a
// RUN: %{run} --schedule="form=ordered kv-in-registers=0 mma-warps=4 producer-warps=4 kv-block-m=64 kv-block-n=64 kv-warps=4" | FileCheck %s
// RUN: %{run} --schedule="form=ordered kv-in-registers=0 mma-warps=4 producer-warps=4 kv-block-m=128 kv-block-n=128 kv-warps=8 scores-ahead=1" --host-seed=3 | FileCheck %s
//
// CHECK: device    host executor
// CHECK-NEXT: right     result 0 (dq): error
// CHECK-NEXT: right     result 1 (dk): error
// CHECK-NEXT: right     result 2 (dv): error

!q = tensor<1x2x333x64xbf16>
!k = tensor<1x1x411x64xbf16>
!lse = tensor<1x2x333xf32>
func.func @band(%q: !q, %k: !k, %v: !k, %o: !q, %lse: !lse, %do: !q) -> (!q, !k, !k) {
  %dq, %dk, %dv = attn.attention_grad %q, %k, %v, %o, %lse, %do deterministic
    mask (%b, %h, %m, %n) {
      %width = arith.constant 140 : i32
      %i = arith.index_cast %m : index to i32
      %j = arith.index_cast %n : index to i32
      %d = arith.subi %i, %j : i32
      %near = arith.cmpi slt, %d, %width : i32
      %end = arith.constant 290 : index
      %early = arith.cmpi slt, %n, %end : index
      %both = arith.andi %near, %early : i1
      %c7 = arith.constant 7 : index
      %late = arith.addi %n, %c7 : index
      %past = arith.cmpi sge, %m, %late : index
      %all = arith.andi %both, %past : i1
      attn.yield %all : i1
    } : !q, !k, !k, !q, !lse, !q
  return %dq, %dk, %dv : !q, !k, !k
}
