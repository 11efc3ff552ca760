// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gradients that visit the blocks which kernels in front have listed: of masks that tell batches, heads or neither apart, that show nothing of some queries and keys, and some blocks as a whole.
//
// DEFINE: %{run} = attune-run %s --device=host
// DEFINE: %{groups} = mma-warps=4 producer-warps=4 kv-in-registers=0 q-in-registers=0
// RUN: %{run} --function=documents --chip=sm_80 --schedule="kv-block-m=32 kv-block-n=64 q-block-m=64 q-block-n=16 list-blocks=1" | FileCheck %s
// RUN: %{run} --function=documents --chip=sm_90a --schedule="%{groups} form=fused kv-block-m=64 kv-block-n=64 kv-warps=4 list-blocks=1" --seed=2 | FileCheck %s
// RUN: %{run} --function=documents --chip=gfx942 --schedule="kv-block-m=32 kv-block-n=128 kv-stages=1 q-block-m=128 q-block-n=32 split-masked=0 list-blocks=1" --seed=3 | FileCheck %s
// RUN: %{run} --function=documents --chip=gfx1100 --schedule="kv-block-m=16 kv-block-n=64 q-block-n=16 list-blocks=1" --seed=4 | FileCheck %s
// RUN: %{run} --function=ends --chip=sm_90a --schedule="%{groups} form=fused round-last=1 scores-ahead=1 kv-block-m=128 kv-block-n=128 kv-warps=8 list-blocks=1" | FileCheck %s
// RUN: %{run} --function=ends --chip=sm_90a --schedule="%{groups} form=split kv-block-m=32 kv-block-n=64 q-block-n=64 scores-ahead=1 list-blocks=1" --host-seed=2 | FileCheck %s
// RUN: %{run} --function=ends --chip=sm_90a --schedule="%{groups} form=apart kv-block-m=16 kv-block-n=128 kv-warps=8 q-block-n=80 kv-stages=3 split-masked=0 list-blocks=1" | FileCheck %s
// RUN: %{run} --function=ends --chip=sm_80 --schedule="form=apart kv-block-m=16 kv-block-n=32 kv-warps=2 kv-in-registers=0 q-block-m=32 q-warps=2 q-block-n=32 list-blocks=1" | FileCheck %s
//
// What is chosen. Sizes known when it runs, none among them.
// RUN: %{run} --function=dynamic --chip=sm_90a --shape=0=1x2x300x64 --shape=1=1x2x261x64 --shape=2=1x2x261x64 --shape=3=1x2x300x64 --shape=4=1x2x300 --shape=5=1x2x300x64 --shape=6=300 --shape=7=261 | FileCheck %s
// RUN: %{run} --function=dynamic --chip=sm_80 --shape=0=1x2x0x64 --shape=1=1x2x70x64 --shape=2=1x2x70x64 --shape=3=1x2x0x64 --shape=4=1x2x0 --shape=5=1x2x0x64 --shape=6=0 --shape=7=70 | FileCheck %s
// RUN: %{run} --function=dynamic --chip=sm_90a --shape=0=1x2x70x64 --shape=1=1x2x0x64 --shape=2=1x2x0x64 --shape=3=1x2x70x64 --shape=4=1x2x70 --shape=5=1x2x70x64 --shape=6=70 --shape=7=0 | FileCheck %s
//
// CHECK: device    host executor
// CHECK-NEXT: right     result 0 (dq): error
// CHECK-NEXT: right     result 1 (dk): error
// CHECK-NEXT: right     result 2 (dv): error

!q = tensor<2x4x147x64xf16>
!k = tensor<2x2x171x64xf16>
!lse = tensor<2x4x147xf32>
func.func @documents(%q: !q, %k: !k, %v: !k, %o: !q, %lse: !lse, %do: !q, %of_queries: tensor<2x147xi32>, %of_keys: tensor<2x171xi32>) -> (!q, !k, !k) {
  %dq, %dk, %dv = attn.attention_grad %q, %k, %v, %o, %lse, %do mask (%b, %h, %m, %n) {
    %dm = tensor.extract %of_queries[%b, %m] : tensor<2x147xi32>
    %dn = tensor.extract %of_keys[%b, %n] : tensor<2x171xi32>
    %same = arith.cmpi eq, %dm, %dn : i32
    attn.yield %same : i1
  } : !q, !k, !k, !q, !lse, !q
  return %dq, %dk, %dv : !q, !k, !k
}

// What each head shows ends anywhere, of some queries at once; of others nothing is seen.
func.func @ends(%q: !q, %k: !k, %v: !k, %o: !q, %lse: !lse, %do: !q, %ends: tensor<4x147xi32>) -> (!q, !k, !k) {
  %dq, %dk, %dv = attn.attention_grad %q, %k, %v, %o, %lse, %do mask (%b, %h, %m, %n) {
    %c30 = arith.constant 30 : index
    %c2 = arith.constant 2 : index
    %part = arith.divui %m, %c30 : index
    %element = tensor.extract %ends[%h, %part] : tensor<4x147xi32>
    %end = arith.index_cast %element : i32 to index
    %before = arith.cmpi slt, %n, %end : index
    %other = arith.cmpi ne, %part, %c2 : index
    %see = arith.andi %before, %other : i1
    attn.yield %see : i1
  } : !q, !k, !k, !q, !lse, !q
  return %dq, %dk, %dv : !q, !k, !k
}

!dq = tensor<1x2x?x64xf16>
!dk = tensor<1x2x?x64xf16>
!dlse = tensor<1x2x?xf32>
func.func @dynamic(%q: !dq, %k: !dk, %v: !dk, %o: !dq, %lse: !dlse, %do: !dq, %of_queries: tensor<?xi32>, %of_keys: tensor<?xi32>) -> (!dq, !dk, !dk) {
  %dq, %dk, %dv = attn.attention_grad %q, %k, %v, %o, %lse, %do mask (%b, %h, %m, %n) {
    %dm = tensor.extract %of_queries[%m] : tensor<?xi32>
    %dn = tensor.extract %of_keys[%n] : tensor<?xi32>
    %same = arith.cmpi eq, %dm, %dn : i32
    attn.yield %same : i1
  } : !dq, !dk, !dk, !dq, !dlse, !dq
  return %dq, %dk, %dv : !dq, !dk, !dk
}
