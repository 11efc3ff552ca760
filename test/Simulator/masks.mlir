// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Masks whose blocks are found by more than sums, in numbers: lengths that no
// block divides, and blocks between that are left out, also where the loop is
// split, pipelined and given to roles.
//
// RUN: attune-run %s --device=host --chip=sm_80 --function=distance --schedule="block-m=32 block-n=16 num-warps=2 tile-order=ascending split-masked=1" | FileCheck %s
// RUN: attune-run %s --device=host --chip=sm_80 --function=unsigned_window --schedule="block-m=32 block-n=16 num-warps=2 tile-order=ascending split-masked=1" | FileCheck %s
// RUN: attune-run %s --device=host --chip=sm_80 --function=chunks --schedule="block-m=32 block-n=16 num-warps=2 tile-order=ascending split-masked=1" | FileCheck %s
// RUN: attune-run %s --device=host --chip=sm_80 --function=neighbourhood --schedule="block-m=32 block-n=16 num-warps=2 tile-order=ascending split-masked=1" | FileCheck %s
// RUN: attune-run %s --device=host --chip=sm_80 --function=global_and_near --schedule="block-m=32 block-n=16 num-warps=2 tile-order=ascending split-masked=1" | FileCheck %s
// RUN: attune-run %s --device=host --chip=sm_80 --function=islands --schedule="block-m=32 block-n=16 num-warps=2 tile-order=ascending split-masked=1" | FileCheck %s
// RUN: attune-run %s --device=host --chip=sm_90a --function=distance --schedule="block-m=64 block-n=32 num-warps=4 mma-warps=4 q-in-registers=0 producer-warps=4 k-stages=2 v-stages=2" | FileCheck %s
// RUN: attune-run %s --device=host --chip=sm_90a --function=unsigned_window --schedule="block-m=64 block-n=32 num-warps=4 mma-warps=4 q-in-registers=0 producer-warps=4 k-stages=2 v-stages=2" | FileCheck %s
// RUN: attune-run %s --device=host --chip=sm_90a --function=chunks --schedule="block-m=64 block-n=32 num-warps=4 mma-warps=4 q-in-registers=0 producer-warps=4 k-stages=2 v-stages=2" | FileCheck %s
// RUN: attune-run %s --device=host --chip=sm_90a --function=neighbourhood --schedule="block-m=64 block-n=32 num-warps=4 mma-warps=4 q-in-registers=0 producer-warps=4 k-stages=2 v-stages=2" | FileCheck %s
// RUN: attune-run %s --device=host --chip=sm_90a --function=global_and_near --schedule="block-m=64 block-n=32 num-warps=4 mma-warps=4 q-in-registers=0 producer-warps=4 k-stages=2 v-stages=2" | FileCheck %s
// RUN: attune-run %s --device=host --chip=sm_90a --function=islands --schedule="block-m=64 block-n=32 num-warps=4 mma-warps=4 q-in-registers=0 producer-warps=4 k-stages=2 v-stages=2" | FileCheck %s
// RUN: attune-run %s --device=host --chip=gfx942 --function=distance --schedule="block-m=64 block-n=32 num-warps=2" | FileCheck %s
// RUN: attune-run %s --device=host --chip=gfx942 --function=unsigned_window --schedule="block-m=64 block-n=32 num-warps=2" | FileCheck %s
// RUN: attune-run %s --device=host --chip=gfx942 --function=chunks --schedule="block-m=64 block-n=32 num-warps=2" | FileCheck %s
// RUN: attune-run %s --device=host --chip=gfx942 --function=neighbourhood --schedule="block-m=64 block-n=32 num-warps=2" | FileCheck %s
// RUN: attune-run %s --device=host --chip=gfx942 --function=global_and_near --schedule="block-m=64 block-n=32 num-warps=2" | FileCheck %s
// RUN: attune-run %s --device=host --chip=gfx942 --function=islands --schedule="block-m=64 block-n=32 num-warps=2" | FileCheck %s
// CHECK: right     result 0

!q = tensor<1x2x147x64xf16>
!k = tensor<1x2x171x64xf16>

// |m - n| <= 20.
func.func @distance(%q: !q, %k: !k, %v: !k) -> !q {
  %o = attn.attention %q, %k, %v mask (%b, %h, %m, %n) {
    %reach = arith.constant 20 : index
    %d = arith.subi %m, %n : index
    %far = math.absi %d : index
    %see = arith.cmpi sle, %far, %reach : index
    attn.yield %see : i1
  } : !q, !k, !k
  return %o : !q
}

// 0 <= m - n < 37, in one comparison.
func.func @unsigned_window(%q: !q, %k: !k, %v: !k) -> !q {
  %o = attn.attention %q, %k, %v mask (%b, %h, %m, %n) {
    %width = arith.constant 37 : i32
    %m32 = arith.index_cast %m : index to i32
    %n32 = arith.index_cast %n : index to i32
    %d = arith.subi %m32, %n32 : i32
    %see = arith.cmpi ult, %d, %width : i32
    attn.yield %see : i1
  } : !q, !k, !k
  return %o : !q
}

// Chunks of 40, each of which sees itself.
func.func @chunks(%q: !q, %k: !k, %v: !k) -> !q {
  %o = attn.attention %q, %k, %v mask (%b, %h, %m, %n) {
    %size = arith.constant 40 : index
    %x = arith.divui %m, %size : index
    %y = arith.floordivsi %n, %size : index
    %see = arith.cmpi eq, %x, %y : index
    attn.yield %see : i1
  } : !q, !k, !k
  return %o : !q
}

// Rows of 16, three of which are seen, moved inward at the ends.
func.func @neighbourhood(%q: !q, %k: !k, %v: !k) -> !q {
  %o = attn.attention %q, %k, %v mask (%b, %h, %m, %n) {
    %four = arith.constant 4 : index
    %one = arith.constant 1 : index
    %last = arith.constant 8 : index
    %x = arith.shrui %m, %four : index
    %y = arith.shrsi %n, %four : index
    %low = arith.maxsi %x, %one : index
    %centre = arith.minsi %low, %last : index
    %d = arith.subi %centre, %y : index
    %far = math.absi %d : index
    %see = arith.cmpi sle, %far, %one : index
    attn.yield %see : i1
  } : !q, !k, !k
  return %o : !q
}

// The first keys and those nearby.
func.func @global_and_near(%q: !q, %k: !k, %v: !k) -> !q {
  %o = attn.attention %q, %k, %v causal(top_left) mask (%b, %h, %m, %n) {
    %globals = arith.constant 5 : index
    %reach = arith.constant 18 : index
    %is_global = arith.cmpi slt, %n, %globals : index
    %d = arith.subi %m, %n : index
    %near = arith.cmpi sle, %d, %reach : index
    %see = arith.ori %is_global, %near : i1
    attn.yield %see : i1
  } : !q, !k, !k
  return %o : !q
}

// Two whole ranges with a hole, the one in front up to a bound of each batch,
// and queries that see neither.
func.func @islands(%q: !q, %k: !k, %v: !k, %length: index) -> !q {
  %o = attn.attention %q, %k, %v mask (%b, %h, %m, %n) {
    %second = arith.constant 100 : index
    %third = arith.constant 145 : index
    %blind = arith.constant 31 : index
    %in_first = arith.cmpi slt, %n, %length : index
    %from_second = arith.cmpi uge, %n, %second : index
    %to_third = arith.cmpi ult, %n, %third : index
    %in_second = arith.andi %from_second, %to_third : i1
    %either = arith.ori %in_first, %in_second : i1
    %looks = arith.cmpi sgt, %m, %blind : index
    %see = arith.andi %either, %looks : i1
    attn.yield %see : i1
  } : !q, !k, !k
  return %o : !q
}
