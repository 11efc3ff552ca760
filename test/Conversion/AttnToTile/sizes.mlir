// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes that are known when the op runs: what has to agree is checked in front
// of the launch, and what is asserted in front of the op is a fact.
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_80" --attune-set-schedule="block-m=64 block-n=32" --convert-attn-to-tile | FileCheck %s

!t = tensor<1x2x?x64xf16>

// Blocks are whole, so nothing is masked and rows of keys are in bounds. The
// assertion stays, and is checked by who runs the host side.
// CHECK-LABEL: gpu.func @whole_kernel
// CHECK: scf.for
// CHECK-NOT: scf.if
// CHECK: tile.load {{.*}}in_bounds
// CHECK-NOT: scf.if
// CHECK: gpu.return
// CHECK-LABEL: func.func @whole
// CHECK: cf.assert {{.*}}multiple of 64
func.func @whole(%q: !t, %k: !t, %v: !t) -> !t {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %keys = tensor.dim %v, %c2 : !t
  %rest = arith.remui %keys, %c64 : index
  %whole = arith.cmpi eq, %rest, %c0 : index
  cf.assert %whole, "expects a number of keys that is a multiple of 64"
  %o = attn.attention %q, %k, %v : !t, !t, !t
  return %o : !t
}

// 8 and 12 make 24 at least, of which 32 is no divisor.
// CHECK-LABEL: gpu.func @not_enough_kernel
// CHECK-NOT: in_bounds
// CHECK: gpu.return
func.func @not_enough(%q: !t, %k: !t, %v: !t) -> !t {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c12 = arith.constant 12 : index
  %keys = tensor.dim %k, %c2 : !t
  %rest = arith.remui %keys, %c8 : index
  %eights = arith.cmpi eq, %rest, %c0 : index
  cf.assert %eights, "eights"
  %rest12 = arith.remsi %keys, %c12 : index
  %twelves = arith.cmpi eq, %rest12, %c0 : index
  cf.assert %twelves, "twelves"
  %o = attn.attention %q, %k, %v : !t, !t, !t
  return %o : !t
}

// What is asserted behind the op, of queries, or of a rest that is not 0, says
// nothing.
// CHECK-LABEL: gpu.func @nothing_known_kernel
// CHECK-NOT: in_bounds
// CHECK: gpu.return
func.func @nothing_known(%q: !t, %k: !t, %v: !t) -> !t {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %queries = tensor.dim %q, %c2 : !t
  %rest_of_queries = arith.remui %queries, %c32 : index
  %whole_queries = arith.cmpi eq, %rest_of_queries, %c0 : index
  cf.assert %whole_queries, "queries"
  %keys = tensor.dim %k, %c2 : !t
  %rest = arith.remui %keys, %c32 : index
  %one = arith.cmpi eq, %rest, %c1 : index
  cf.assert %one, "one more"
  %o = attn.attention %q, %k, %v : !t, !t, !t
  %whole = arith.cmpi eq, %rest, %c0 : index
  cf.assert %whole, "late"
  return %o : !t
}

// Lengths stay within what is asserted of them, whichever way the comparison is
// written; 100 is said twice.
// CHECK-LABEL: gpu.func @bounded_kernel
// CHECK: %[[QUERIES:.+]] = memref.dim %arg0
// CHECK: arith.minui %[[QUERIES]], %c4095
// CHECK: %[[KEYS:.+]] = memref.dim %arg1
// CHECK: %[[LEAST:.+]] = arith.maxui %[[KEYS]], %c64
// CHECK: arith.minui %[[LEAST]], %c100
// CHECK-LABEL: func.func @bounded
func.func @bounded(%q: !t, %k: !t, %v: !t) -> !t {
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %c100 = arith.constant 100 : index
  %c4096 = arith.constant 4096 : index
  %queries = tensor.dim %q, %c2 : !t
  %few = arith.cmpi slt, %queries, %c4096 : index
  cf.assert %few, "expects fewer than 4096 queries"
  %keys = tensor.dim %k, %c2 : !t
  %some = arith.cmpi uge, %keys, %c64 : index
  cf.assert %some, "expects at least 64 keys"
  %values = tensor.dim %v, %c2 : !t
  %most = arith.cmpi sge, %c100, %values : index
  cf.assert %most, "expects at most 100 keys"
  %again = arith.cmpi ule, %keys, %c100 : index
  cf.assert %again, "expects at most 100 keys"
  %o = attn.attention %q, %k, %v : !t, !t, !t
  return %o : !t
}

// Neither is a bound: one is of a size that is another one's, one is asserted
// behind the op, one is not asserted.
// CHECK-LABEL: gpu.func @unbounded_kernel
// CHECK-NOT: arith.minui
// CHECK-NOT: arith.maxui
// CHECK: gpu.return
func.func @unbounded(%q: !t, %k: !t, %v: !t) -> !t {
  %c2 = arith.constant 2 : index
  %c100 = arith.constant 100 : index
  %keys = tensor.dim %k, %c2 : !t
  %more = arith.addi %keys, %c2 : index
  %fewer = arith.cmpi ule, %more, %c100 : index
  cf.assert %fewer, "expects at most 98 keys"
  %most = arith.cmpi ule, %keys, %c100 : index
  %o = attn.attention %q, %k, %v : !t, !t, !t
  %late = arith.cmpi ult, %keys, %c100 : index
  cf.assert %late, "expects fewer than 100 keys"
  return %o : !t
}

// Tables have an element for each position that they are read at; elsewhere
// the region answers for what it reads.
// CHECK-LABEL: func.func @tables
// CHECK: arith.cmpi uge
// CHECK: cf.assert {{.*}}expects dimension 1 of a tensor that a region reads to have at least as many elements as there are queries
// CHECK: arith.cmpi ule
// CHECK: cf.assert {{.*}}expects no more keys than elements of dimension 0 of a tensor that a region reads
// CHECK-NOT: cf.assert
// CHECK: gpu.launch_func
func.func @tables(%q: tensor<2x4x8x64xf16>, %k: tensor<2x4x?x64xf16>, %bias: tensor<4x?xf32>, %doc: tensor<100xi32>) -> tensor<2x4x8x64xf16> {
  %o = attn.attention %q, %k, %k score (%s, %b, %h, %m, %n) {
    %x = tensor.extract %bias[%h, %m] : tensor<4x?xf32>
    %y = arith.addf %s, %x : f32
    attn.yield %y : f32
  } mask (%b, %h, %m, %n) {
    %hundred = arith.constant 100 : index
    %c0 = arith.constant 0 : i32
    %place = arith.remui %m, %hundred : index
    %of_query = tensor.extract %doc[%place] : tensor<100xi32>
    %of_key = tensor.extract %doc[%n] : tensor<100xi32>
    %same = arith.cmpi eq, %of_query, %of_key : i32
    attn.yield %same : i1
  } : tensor<2x4x8x64xf16>, tensor<2x4x?x64xf16>, tensor<2x4x?x64xf16>
  return %o : tensor<2x4x8x64xf16>
}
