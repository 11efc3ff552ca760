// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the verifier says of static sizes is checked of dynamic ones when the
// op runs, by upstream's interface.
//
// RUN: attune-opt %s --generate-runtime-verification=verbose-level=0 | FileCheck %s

!q = tensor<?x?x?x64xf16>

// CHECK-LABEL: func.func @dynamic
// CHECK: %[[EQUAL:.+]] = arith.cmpi eq, %{{.+}}, %{{.+}} : index
// CHECK-NEXT: cf.assert %[[EQUAL]], "{{.*}}expects query and key to have one batch size
// CHECK: cf.assert {{.*}}expects query and value to have one batch size
// CHECK: cf.assert {{.*}}expects key and value to have one number of heads
// CHECK: cf.assert {{.*}}expects key and value to have one length
// CHECK: %[[SOME:.+]] = arith.cmpi uge, %[[KV_HEADS:.+]], %{{.+}} : index
// CHECK: cf.assert %[[SOME]], {{.*}}expects key to have a head where query has heads
// CHECK: %[[DIVISOR:.+]] = arith.maxui %[[KV_HEADS]], %{{.+}} : index
// CHECK: %[[REST:.+]] = arith.remui %{{.+}}, %[[DIVISOR]] : index
// CHECK: %[[MULTIPLE:.+]] = arith.cmpi eq, %[[REST]], %{{.+}} : index
// CHECK: cf.assert %[[MULTIPLE]], {{.*}}expects the heads of query to be a multiple of those of key
// CHECK: cf.assert {{.*}}expects query and alibi slopes to have one number of heads
// CHECK: cf.assert {{.*}}expects query and sinks to have one number of heads
// CHECK-NOT: cf.assert
// CHECK: attn.attention
func.func @dynamic(%q: !q, %k: !q, %v: !q, %slopes: tensor<?xf32>, %sinks: tensor<?xf32>) -> !q {
  %o = attn.attention %q, %k, %v alibi(%slopes : tensor<?xf32>) sinks(%sinks : tensor<?xf32>) : !q, !q, !q
  return %o : !q
}

// One tensor agrees with itself.
// CHECK-LABEL: func.func @one_tensor
// CHECK-NOT: cf.assert
func.func @one_tensor(%q: !q) -> !q {
  %o = attn.attention %q, %q, %q : !q, !q, !q
  return %o : !q
}

// The verifier knows.
// CHECK-LABEL: func.func @static
// CHECK-NOT: cf.assert
func.func @static(%q: tensor<2x4x8x64xf16>, %k: tensor<2x2x16x64xf16>) -> tensor<2x4x8x64xf16> {
  %o = attn.attention %q, %k, %k : tensor<2x4x8x64xf16>, tensor<2x2x16x64xf16>, tensor<2x2x16x64xf16>
  return %o : tensor<2x4x8x64xf16>
}

// Numbers that are known come last, and are named last.
// CHECK-LABEL: func.func @partly
// CHECK: cf.assert {{.*}}expects key and query to have one batch size
// CHECK-NOT: query and value
// CHECK: cf.assert {{.*}}expects value and key to have one number of heads
// CHECK-NOT: cf.assert
func.func @partly(%q: tensor<2x4x8x64xf16>, %k: tensor<?x2x16x64xf16>, %v: tensor<2x?x16x64xf16>) -> tensor<2x4x8x64xf16> {
  %o = attn.attention %q, %k, %v : tensor<2x4x8x64xf16>, tensor<?x2x16x64xf16>, tensor<2x?x16x64xf16>
  return %o : tensor<2x4x8x64xf16>
}

// Lists of blocks; dimensions that are 1 are shared.
// CHECK-LABEL: func.func @lists
// CHECK: cf.assert {{.*}}expects counts of blocks and query to have one batch size
// CHECK: %[[NEEDED:.+]] = arith.ceildivui %{{.+}}, %{{.+}} : index
// CHECK: cf.assert {{.*}}expects counts of blocks to have a place for each block of 16 queries
// CHECK: cf.assert {{.*}}expects query and indices of blocks to have one batch size
// CHECK: cf.assert {{.*}}expects indices of blocks to have a place for each block of 16 queries
// CHECK: cf.assert {{.*}}expects indices of blocks to have room for at least 1 block
// CHECK-NOT: cf.assert
// CHECK: attn.attention
func.func @lists(%q: tensor<?x2x?x64xf16>, %c: tensor<?x1x?xi32>, %i: tensor<3x1x9x?xi32>) -> tensor<?x2x?x64xf16> {
  %o = attn.attention %q, %q, %q blocks(%c, %i, [16, 16] : tensor<?x1x?xi32>, tensor<3x1x9x?xi32>)
    : tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16>
  return %o : tensor<?x2x?x64xf16>
}

// CHECK-LABEL: func.func @lengths
// CHECK: cf.assert {{.*}}expects query lengths and query to have one batch size
// CHECK: cf.assert {{.*}}expects key lengths and query to have one batch size
// CHECK-NOT: cf.assert
// CHECK: attn.attention
func.func @lengths(%q: tensor<2x2x8x64xf16>, %lq: tensor<?xi32>, %lk: tensor<?xi32>) -> tensor<2x2x8x64xf16> {
  %o = attn.attention %q, %q, %q query_lengths(%lq : tensor<?xi32>) key_lengths(%lk : tensor<?xi32>)
    : tensor<2x2x8x64xf16>, tensor<2x2x8x64xf16>, tensor<2x2x8x64xf16>
  return %o : tensor<2x2x8x64xf16>
}

// Pools have a number of pages, not of batches.
// CHECK-LABEL: func.func @pages
// CHECK-DAG: cf.assert %{{.+}}expects pages and query to have one batch size
// CHECK-DAG: cf.assert %{{.+}}expects key and value to have one number of pages
// CHECK-NOT: cf.assert
// CHECK: attn.attention
func.func @pages(%q: tensor<2x2x8x64xf16>, %k: tensor<?x2x8x64xf16>, %v: tensor<?x2x8x64xf16>, %pages: tensor<?x?xi32>)
    -> tensor<2x2x8x64xf16> {
  %o = attn.attention %q, %k, %v pages(%pages : tensor<?x?xi32>)
    : tensor<2x2x8x64xf16>, tensor<?x2x8x64xf16>, tensor<?x2x8x64xf16>
  return %o : tensor<2x2x8x64xf16>
}

// Starts rise from 0 to what there is, in a loop, and are as many as batches and one more.
// CHECK-LABEL: func.func @packed
// CHECK: cf.assert {{.*}}expects query starts to have at least 2 elements
// CHECK: cf.assert {{.*}}expects query starts and key starts to have one number of batches
// CHECK: cf.assert {{.*}}expects query starts to have one element more than there are batches of query lengths
// CHECK: cf.assert {{.*}}expects the first of query starts to be 0
// CHECK: scf.for
// CHECK:   %[[RISES:.+]] = arith.cmpi sge
// CHECK:   cf.assert %[[RISES]], {{.*}}expects no element of query starts below the one before it
// CHECK: cf.assert {{.*}}expects query starts to end within the tensor
// CHECK: cf.assert {{.*}}expects the first of key starts to be 0
// CHECK: cf.assert {{.*}}expects key starts to end within the tensor
// CHECK-NOT: cf.assert
// CHECK: attn.attention
func.func @packed(%q: tensor<1x2x?x64xf16>, %k: tensor<1x2x20x64xf16>, %lq: tensor<?xi32>, %sq: tensor<?xi32>, %sk: tensor<4xi32>) -> tensor<1x2x?x64xf16> {
  %o = attn.attention %q, %k, %k query_lengths(%lq : tensor<?xi32>) query_starts(%sq : tensor<?xi32>) key_starts(%sk : tensor<4xi32>)
    : tensor<1x2x?x64xf16>, tensor<1x2x20x64xf16>, tensor<1x2x20x64xf16>
  return %o : tensor<1x2x?x64xf16>
}

// Scales are as many as blocks of what they multiply, but where there is one.
// CHECK-LABEL: func.func @scales
// CHECK: arith.ceildivui
// CHECK: cf.assert {{.*}}expects scales of query to have an element for each 8 along dimension 2
// CHECK: cf.assert {{.*}}expects scales of key to have an element for each 1 along dimension 1
// CHECK-NOT: cf.assert
// CHECK: attn.attention
func.func @scales(%q: tensor<2x2x?x64xf16>, %k: tensor<2x2x8x64xf16>, %qs: tensor<2x1x?x1xf32>, %ks: tensor<1x?x1x1xf32>) -> tensor<2x2x?x64xf16> {
  %o = attn.attention %q, %k, %k query_scales(%qs, [1, 1, 8, 1] : tensor<2x1x?x1xf32>) key_scales(%ks : tensor<1x?x1x1xf32>)
    : tensor<2x2x?x64xf16>, tensor<2x2x8x64xf16>, tensor<2x2x8x64xf16>
  return %o : tensor<2x2x?x64xf16>
}
