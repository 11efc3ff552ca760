// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is said about masks: how many blocks are skipped, and why not more.
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_80" --attune-set-schedule="block-m=64 block-n=32" --attn-expand-short-forms \
// RUN:   --convert-attn-to-tile --remarks-filter=mask -o %t.mlir 2>&1 | FileCheck %s
//
// Nothing is said unasked.
// RUN: attune-opt %s --attune-attach-target="chip=sm_80" --attune-set-schedule="block-m=64 block-n=32" --attn-expand-short-forms \
// RUN:   --convert-attn-to-tile 2>&1 | FileCheck %s --check-prefix=QUIET
// QUIET-NOT: remark

!t = tensor<1x1x256x64xf16>

// CHECK-NOT: Function=no_mask
func.func @no_mask(%q: !t) -> !t {
  %o = attn.attention %q, %q, %q : !t, !t, !t
  return %o : !t
}

// CHECK: [[# @LINE + 2]]:8: remark: [Passed] key-blocks | Category:mask | Function=causal | Remark="12 of 32 key blocks of a head are skipped, and 12 need no mask"
func.func @causal(%q: !t) -> !t {
  %o = attn.attention %q, %q, %q causal(top_left) : !t, !t, !t
  return %o : !t
}

// The first keys and those nearby.
// CHECK: [Passed] {{.*}}Function=global_and_near | Remark="18 of 32 key blocks of a head are skipped, and 0 need no mask"
func.func @global_and_near(%q: !t) -> !t {
  %o = attn.attention %q, %q, %q causal(top_left) mask (%b, %h, %m, %n) {
    %globals = arith.constant 4 : index
    %reach = arith.constant 31 : index
    %is_global = arith.cmpi slt, %n, %globals : index
    %d = arith.subi %m, %n : index
    %near = arith.cmpi sle, %d, %reach : index
    %see = arith.ori %is_global, %near : i1
    attn.yield %see : i1
  } : !t, !t, !t
  return %o : !t
}

// What is captured decides over more of them.
// CHECK: [Missed] {{.*}}Function=captured | Remark="at least 0 of 32 key blocks of a head are skipped, and at least 0 need no mask"
func.func @captured(%q: !t, %length: index) -> !t {
  %o = attn.attention %q, %q, %q mask (%b, %h, %m, %n) {
    %see = arith.cmpi slt, %n, %length : index
    attn.yield %see : i1
  } : !t, !t, !t
  return %o : !t
}

// CHECK: [Missed] {{.*}}Function=documents | Remark="0 of 32 key blocks of a head are skipped, and 0 need no mask"
func.func @documents(%q: !t, %document: tensor<256xi32>) -> !t {
  %o = attn.attention %q, %q, %q mask (%b, %h, %m, %n) {
    // CHECK: [[# @LINE + 1]]:11: remark: [Missed] {{.*}}"'tensor.extract' is not understood as a number made of positions: no key block is skipped for it"
    %dm = tensor.extract %document[%m] : tensor<256xi32>
    // CHECK: [[# @LINE + 1]]:11: remark: [Missed] {{.*}}"'tensor.extract' is not
    %dn = tensor.extract %document[%n] : tensor<256xi32>
    %same = arith.cmpi eq, %dm, %dn : i32
    attn.yield %same : i1
  } : !t, !t, !t
  return %o : !t
}

!dynamic = tensor<1x1x?x64xf16>

// Lengths that are not known: only what stands in the way.
// CHECK-NOT: Function=dynamic | Remark="{{[0-9]}}
// CHECK: [[# @LINE + 10]]:13: remark: [Missed] {{.*}}Function=dynamic | Remark="'arith.cmpi' bounds no range of positions: no key block is skipped for it"
// CHECK: [[# @LINE + 12]]:16: remark: [Missed] {{.*}}Function=dynamic | Remark="'arith.muli' may wrap around: no key block is skipped for it"
// CHECK-NOT: remark
func.func @dynamic(%q: !dynamic) -> !dynamic {
  %o = attn.attention %q, %q, %q mask (%b, %h, %m, %n) {
    %step = arith.constant 4 : index
    %zero = arith.constant 0 : index
    %many = arith.constant 300 : i32
    %rest = arith.remui %n, %step : index
    // A remainder of keys repeats itself within the range of all.
    %even = arith.cmpi eq, %rest, %zero : index
    %n32 = arith.index_cast %n : index to i32
    %m32 = arith.index_cast %m : index to i32
    %product = arith.muli %n32, %many : i32
    %less = arith.cmpi sle, %product, %m32 : i32
    %see = arith.andi %even, %less : i1
    attn.yield %see : i1
  } : !dynamic, !dynamic, !dynamic
  return %o : !dynamic
}
