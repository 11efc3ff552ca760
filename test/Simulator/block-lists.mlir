// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Key blocks from lists, in numbers. Random ones, in any order and of any length, 0 among them: pipelined, split,
// given to roles, in one step each or in several, with a last block that is cut.
//
// DEFINE: %{gen} = attune-gen --op=attention --head-dim=64 --dtype=f16 --lse
// DEFINE: %{groups} = mma-warps=4 q-in-registers=0
// RUN: %{gen} --batch=2 --heads=2 --kv-heads=1 --seq-q=200 --seq-k=330 --block-lists=64,64 --mask=causal-top-left -o %t.cut.mlir
// RUN: attune-run %t.cut.mlir --device=host --chip=sm_80 --schedule="block-m=32 block-n=32 num-warps=2" | FileCheck %s --check-prefixes=CHECK,LSE
// RUN: attune-run %t.cut.mlir --device=host --chip=sm_80 --schedule="block-m=64 block-n=64 num-warps=4 split-masked=0 k-stages=3 v-stages=1" --seed=2 --host-seed=2 | FileCheck %s --check-prefixes=CHECK,LSE
// RUN: attune-run %t.cut.mlir --device=host --chip=sm_90a --schedule="block-m=64 block-n=32 num-warps=4 %{groups} k-stages=1 v-stages=3" | FileCheck %s --check-prefixes=CHECK,LSE
// RUN: attune-run %t.cut.mlir --device=host --chip=sm_90a --schedule="block-m=64 block-n=64 num-warps=4 %{groups} producer-warps=4 overlap=softmax" --seed=3 --host-seed=3 | FileCheck %s --check-prefixes=CHECK,LSE
// RUN: attune-run %t.cut.mlir --device=host --chip=gfx942 --schedule="block-m=64 block-n=32 num-warps=2" | FileCheck %s --check-prefixes=CHECK,LSE
// RUN: attune-run %t.cut.mlir --device=host --chip=gfx1100 --schedule="block-m=32 block-n=16 num-warps=2" --seed=4 | FileCheck %s --check-prefixes=CHECK,LSE
//
// Ping-pong, unrolled steps, and workgroups that compute several tiles.
// RUN: %{gen} --batch=2 --heads=35 --seq-q=200 --seq-k=256 --block-lists=128,64 --mask=causal -o %t.whole.mlir
// RUN: attune-run %t.whole.mlir --device=host --chip=sm_90a --schedule="block-m=128 block-n=32 num-warps=8 %{groups} producer-warps=4 overlap=ping-pong persistent=static q-stages=2" | FileCheck %s --check-prefixes=CHECK,LSE
// RUN: attune-run %t.whole.mlir --device=host --chip=sm_90a --schedule="block-m=64 block-n=64 num-warps=4 %{groups} producer-warps=1 overlap=softmax unroll=2 persistent=dynamic tile-order=across-heads" --host-seed=2 | FileCheck %s --check-prefixes=CHECK,LSE
// RUN: attune-run %t.whole.mlir --device=host --chip=sm_90a --host-seed=5 | FileCheck %s --check-prefixes=CHECK,LSE
//
// Lists without a mask; heads that share a tile and a list.
// RUN: %{gen} --batch=1 --heads=2 --seq-q=96 --seq-k=130 --block-lists=32,32 | attune-run --device=host --chip=sm_80 | FileCheck %s --check-prefixes=CHECK,LSE
// RUN: %{gen} --batch=2 --heads=8 --kv-heads=2 --seq-q=1 --seq-k=300 --block-lists=128,64 --mask=causal | attune-run --device=host --chip=sm_80 --schedule="block-m=16 block-n=32 num-warps=1" | FileCheck %s --check-prefixes=CHECK,LSE
//
// Sizes that are known when it runs.
// RUN: %{gen} --batch=1 --heads=2 --seq-q=100 --seq-k=100 --block-lists=64,64 --dynamic=batch --dynamic=seq-q --dynamic=seq-k -o %t.dynamic.mlir
// RUN: attune-run %t.dynamic.mlir --device=host --chip=sm_90a --batch=2 --seq-q=130 --seq-k=190 --shape=3=2x1x3 --shape=4=2x1x3x3 --shape=5=2x1x3 --shape=6=2x1x3x2 | FileCheck %s --check-prefixes=CHECK,LSE
// RUN: not attune-run %t.dynamic.mlir --device=host --chip=sm_80 --batch=2 --seq-q=130 --seq-k=190 --shape=3=2x1x2 --shape=4=2x1x3x3 --shape=5=2x1x3 --shape=6=2x1x3x2 2>&1 | FileCheck %s --check-prefix=SHAPE
//
// Lists that kernels make of a mask that only data decides.
// RUN: attune-run %s --function=documents --device=host --chip=sm_80 --schedule="block-m=32 block-n=16 num-warps=2 list-blocks=1" | FileCheck %s
// RUN: attune-run %s --function=documents --device=host --chip=sm_90a --schedule="block-m=64 block-n=32 num-warps=4 %{groups} producer-warps=4 overlap=softmax persistent=static list-blocks=1" --seed=2 | FileCheck %s
// RUN: attune-run %s --function=documents --device=host --chip=gfx942 --schedule="block-m=64 block-n=32 num-warps=2 list-blocks=1" --seed=3 | FileCheck %s
// RUN: attune-run %s --function=documents --device=host --chip=gfx1100 --schedule="block-m=32 block-n=16 num-warps=2 list-blocks=1" --seed=4 | FileCheck %s
// RUN: attune-run %s --function=by_head --device=host --chip=sm_80 --schedule="block-m=32 block-n=16 num-warps=2 list-blocks=1 split-masked=0" | FileCheck %s
// RUN: attune-run %s --function=decoding --device=host --chip=sm_80 --schedule="block-m=16 block-n=16 num-warps=1 list-blocks=1" | FileCheck %s
// RUN: %{gen} --batch=1 --heads=1 --seq-q=100 --seq-k=77 --mask=causal | attune-run --device=host --chip=sm_80 --schedule="block-m=32 block-n=32 num-warps=2 list-blocks=1" | FileCheck %s --check-prefixes=CHECK,LSE
// RUN: %{gen} --batch=1 --heads=2 --seq-q=100 --seq-k=77 --mask=causal --dynamic=seq-q,seq-k -o %t.any.mlir
// RUN: attune-run %t.any.mlir --device=host --chip=sm_90a --seq-q=70 --seq-k=130 --schedule="block-m=64 block-n=32 num-warps=4 %{groups} producer-warps=4 list-blocks=1" | FileCheck %s --check-prefixes=CHECK,LSE
// RUN: attune-run %t.any.mlir --device=host --chip=sm_90a --seq-q=70 --seq-k=0 --schedule="block-m=64 block-n=32 num-warps=4 %{groups} producer-warps=4 list-blocks=1" | FileCheck %s --check-prefixes=CHECK,LSE
// RUN: attune-run %t.any.mlir --device=host --chip=sm_80 --seq-q=70 --seq-k=0 --schedule="block-m=32 block-n=32 num-warps=2 list-blocks=1" | FileCheck %s --check-prefixes=CHECK,LSE
//
// CHECK: right     result 0
// LSE:   right     result 1 (lse)
// SHAPE: expects counts of blocks to have a place for each block of 64 queries

!t = tensor<2x2x147x64xf16>
!k = tensor<2x2x171x64xf16>

func.func @documents(%q: !t, %k: !k, %v: !k, %of_queries: tensor<2x147xi32>, %of_keys: tensor<2x171xi32>) -> !t {
  %o = attn.attention %q, %k, %v mask (%b, %h, %m, %n) {
    %dm = tensor.extract %of_queries[%b, %m] : tensor<2x147xi32>
    %dn = tensor.extract %of_keys[%b, %n] : tensor<2x171xi32>
    %same = arith.cmpi eq, %dm, %dn : i32
    attn.yield %same : i1
  } : !t, !k, !k
  return %o : !t
}

// Heads with keys of their own, the same ones in all batches.
func.func @by_head(%q: !t, %k: !k, %v: !k, %first: tensor<2xi32>) -> !t {
  %o = attn.attention %q, %k, %v causal(bottom_right) mask (%b, %h, %m, %n) {
    %from = tensor.extract %first[%h] : tensor<2xi32>
    %begin = arith.index_cast %from : i32 to index
    %see = arith.cmpi sge, %n, %begin : index
    attn.yield %see : i1
  } : !t, !k, !k
  return %o : !t
}

// One query of each head, several heads in a tile.
func.func @decoding(%q: tensor<3x8x1x64xf16>, %k: tensor<3x2x90x64xf16>, %length: tensor<3xi32>) -> tensor<3x8x1x64xf16> {
  %o = attn.attention %q, %k, %k mask (%b, %h, %m, %n) {
    %keys = tensor.extract %length[%b] : tensor<3xi32>
    %end = arith.index_cast %keys : i32 to index
    %see = arith.cmpi slt, %n, %end : index
    attn.yield %see : i1
  } : tensor<3x8x1x64xf16>, tensor<3x2x90x64xf16>, tensor<3x2x90x64xf16>
  return %o : tensor<3x8x1x64xf16>
}
