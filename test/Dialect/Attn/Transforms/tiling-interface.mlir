// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles of attn.attention. Numbers are checked by tiling-interface-random.test.
//
// RUN: attune-opt %s --split-input-file --transform-interpreter --canonicalize | FileCheck %s

!op = !transform.any_op

module attributes {transform.with_named_sequence} {

// Two heads of a group of four read one key head; a diagonal of the whole is moved by the tile's offset. What belongs to
// heads is cut with them.
//
// CHECK: #[[$KEY_HEAD:.+]] = affine_map<(d0) -> (d0 floordiv 2)>
// CHECK-LABEL: func.func @part_of_a_group
// CHECK-SAME:    (%[[Q:[^ ]+]]: tensor<2x8x48x64xbf16>, %[[K:[^ ]+]]: tensor<2x2x64x64xbf16>, %[[V:[^ ]+]]: tensor<2x2x64x32xbf16>,
// CHECK-SAME:     %[[SINKS:[^ ]+]]: tensor<8xf32>, %[[SLOPES:[^ ]+]]: tensor<8xf32>
// CHECK:       scf.forall (%[[B:.+]], %[[I:.+]], %[[J:.+]]) in (2, 4, 3)
// CHECK-DAG:     %[[H:.+]] = affine.apply #{{.+}}(%[[I]])
// CHECK-DAG:     %[[M:.+]] = affine.apply #{{.+}}(%[[J]])
// CHECK-DAG:     %[[G:.+]] = affine.apply #[[$KEY_HEAD]](%[[I]])
// CHECK-DAG:     %[[QT:.+]] = tensor.extract_slice %[[Q]][%[[B]], %[[H]], %[[M]], 0] [1, 2, 16, 64]
// CHECK-DAG:     %[[KT:.+]] = tensor.extract_slice %[[K]][%[[B]], %[[G]], 0, 0] [1, 1, 64, 64]
// CHECK-DAG:     %[[VT:.+]] = tensor.extract_slice %[[V]][%[[B]], %[[G]], 0, 0] [1, 1, 64, 32]
// CHECK-DAG:     %[[ST:.+]] = tensor.extract_slice %[[SINKS]][%[[H]]] [2]
// CHECK:         attn.attention %[[QT]], %[[KT]], %[[VT]] lse sinks(%[[ST]] : tensor<2xf32>)
// CHECK-SAME:      score (%{{.+}}, %{{.+}}, %[[H0:.+]], %[[M0:.+]], %[[N0:.+]]) {
// CHECK-DAG:         %[[HEAD:.+]] = arith.addi %[[H0]], %[[H]]
// CHECK-DAG:         arith.addi %[[M0]], %[[M]]
// CHECK-DAG:         tensor.extract %[[SLOPES]][%[[HEAD]]]
// CHECK:         mask (%[[B1:.+]], %[[H1:.+]], %[[M1:.+]], %[[N1:.+]]) {
// CHECK-DAG:         %[[BATCH:.+]] = arith.addi %[[B1]], %[[B]]
// CHECK-DAG:         %[[MASKED:.+]] = arith.addi %[[H1]], %[[H]]
// CHECK-DAG:         %[[ROW:.+]] = arith.addi %[[M1]], %[[M]]
// CHECK-DAG:         arith.cmpi ne, %[[MASKED]], %[[BATCH]]
// CHECK-DAG:         %[[DIAGONAL:.+]] = arith.addi %[[ROW]], %c16
// CHECK-DAG:         arith.cmpi sle, %[[N1]], %[[DIAGONAL]]
// CHECK:         scf.forall.in_parallel
// CHECK-NEXT:      tensor.parallel_insert_slice %{{.+}} into %{{.+}}[%[[B]], %[[H]], %[[M]], 0] [1, 2, 16, 32]
// CHECK-NEXT:      tensor.parallel_insert_slice %{{.+}} into %{{.+}}[%[[B]], %[[H]], %[[M]]] [1, 2, 16]
func.func @part_of_a_group(%q: tensor<2x8x48x64xbf16>, %k: tensor<2x2x64x64xbf16>, %v: tensor<2x2x64x32xbf16>,
                           %sinks: tensor<8xf32>, %slopes: tensor<8xf32>) -> (tensor<2x8x48x32xbf16>, tensor<2x8x48xf32>) {
  %o, %lse = attn.attention %q, %k, %v lse causal(bottom_right) alibi(%slopes : tensor<8xf32>) sinks(%sinks : tensor<8xf32>)
    mask (%b, %h, %m, %n) {
      %other = arith.cmpi ne, %h, %b : index
      attn.yield %other : i1
    } : tensor<2x8x48x64xbf16>, tensor<2x2x64x64xbf16>, tensor<2x2x64x32xbf16>
  return %o, %lse : tensor<2x8x48x32xbf16>, tensor<2x8x48xf32>
}

transform.named_sequence @__transform_main(%root: !op {transform.readonly}) {
  %op = transform.structured.match ops{["attn.attention"]} in %root : (!op) -> !op
  %tile, %loop = transform.structured.tile_using_forall %op tile_sizes [1, 2, 16] : (!op) -> (!op, !op)
  transform.yield
}

}

// -----

!op = !transform.any_op
!strided = tensor<1x8x?x64xf16, #attn.strided<[?, 64, 512, 1]>>

module attributes {transform.with_named_sequence} {

// Whole groups read as many key heads. Short forms stay where no position is cut, and so does the encoding: a slice has the
// strides of the whole.
//
// CHECK: #[[$KEY_HEAD:.+]] = affine_map<(d0) -> (d0 floordiv 2)>
// CHECK-LABEL: func.func @whole_groups
// CHECK:       scf.for %[[H:.+]] = %c0 to %c8 step %c4
// CHECK-DAG:     %[[G:.+]] = affine.apply #[[$KEY_HEAD]](%[[H]])
// CHECK-DAG:     tensor.extract_slice %{{.+}}[0, %[[H]], 0, 0] [1, 4, %{{.+}}, 64] {{.+}} to tensor<1x4x?x64xf16, #attn.strided<[?, 64, 512, 1]>>
// CHECK-DAG:     tensor.extract_slice %{{.+}}[0, %[[G]], 0, 0] [1, 2, %{{.+}}, 64] {{.+}} to tensor<1x2x?x64xf16>
// CHECK:         attn.attention {{.+}} causal(bottom_right) :
func.func @whole_groups(%q: !strided, %k: tensor<1x4x?x64xf16>, %v: tensor<1x4x?x64xf16>) -> tensor<1x8x?x64xf16> {
  %o = attn.attention %q, %k, %v causal(bottom_right) : !strided, tensor<1x4x?x64xf16>, tensor<1x4x?x64xf16>
  return %o : tensor<1x8x?x64xf16>
}

// One head fits any groups, known or not.
//
// CHECK-LABEL: func.func @one_head
// CHECK:       scf.for
// CHECK:         arith.divui
// CHECK:         attn.attention {{.+}} : tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>
func.func @one_head(%q: tensor<1x?x?x64xf16>, %k: tensor<1x?x?x64xf16>, %v: tensor<1x?x?x64xf16>) -> tensor<1x?x?x64xf16> {
  %o = attn.attention %q, %k, %v : tensor<1x?x?x64xf16>, tensor<1x?x?x64xf16>, tensor<1x?x?x64xf16>
  return %o : tensor<1x?x?x64xf16>
}

transform.named_sequence @__transform_main(%root: !op {transform.readonly}) {
  %ops = transform.structured.match ops{["attn.attention"]} in %root : (!op) -> !op
  %groups, %head = transform.split_handle %ops : (!op) -> (!op, !op)
  %tile, %loop = transform.structured.tile_using_for %groups tile_sizes [0, 4] : (!op) -> (!op, !op)
  %tile1, %loop1 = transform.structured.tile_using_for %head tile_sizes [0, 1] : (!op) -> (!op, !op)
  transform.yield
}

}

// -----

!op = !transform.any_op

module attributes {transform.with_named_sequence} {

// A consumer's tile asks for a tile of the result, or of the lse.
//
// CHECK-LABEL: func.func @fused
// CHECK:       scf.forall
// CHECK:         %[[Q:.+]] = tensor.extract_slice {{.+}} to tensor<16x1x4x32xf32>
// CHECK:         %[[O:.+]] = attn.attention %[[Q]]
// CHECK:         linalg.exp ins(%[[O]]
// CHECK-LABEL: func.func @fused_lse
// CHECK:       scf.forall
// CHECK:         %[[Q:.+]] = tensor.extract_slice {{.+}} to tensor<16x1x4x32xf32>
// CHECK:         %{{.+}}, %[[LSE:.+]] = attn.attention %[[Q]]
// CHECK:         linalg.exp ins(%[[LSE]]
func.func @fused(%q: tensor<64x1x4x32xf32>, %k: tensor<64x1x4x32xf32>, %out: tensor<64x1x4x32xf32>) -> tensor<64x1x4x32xf32> {
  %o = attn.attention %q, %k, %k order(sbhd) : tensor<64x1x4x32xf32>, tensor<64x1x4x32xf32>, tensor<64x1x4x32xf32>
  %r = linalg.exp ins(%o : tensor<64x1x4x32xf32>) outs(%out : tensor<64x1x4x32xf32>) -> tensor<64x1x4x32xf32>
  return %r : tensor<64x1x4x32xf32>
}

func.func @fused_lse(%q: tensor<64x1x4x32xf32>, %k: tensor<64x1x4x32xf32>, %out: tensor<1x4x64xf32>) -> tensor<1x4x64xf32> {
  %o, %lse = attn.attention %q, %k, %k lse order(sbhd) : tensor<64x1x4x32xf32>, tensor<64x1x4x32xf32>, tensor<64x1x4x32xf32>
  %r = linalg.exp ins(%lse : tensor<1x4x64xf32>) outs(%out : tensor<1x4x64xf32>) -> tensor<1x4x64xf32>
  return %r : tensor<1x4x64xf32>
}

transform.named_sequence @__transform_main(%root: !op {transform.readonly}) {
  %ops = transform.structured.match ops{["attn.attention"]} in %root : (!op) -> !op
  %op0, %op1 = transform.split_handle %ops : (!op) -> (!op, !op)
  %users = transform.structured.match ops{["linalg.exp"]} in %root : (!op) -> !op
  %user0, %user1 = transform.split_handle %users : (!op) -> (!op, !op)
  %tile0, %loop0 = transform.structured.tile_using_forall %user0 tile_sizes [16] : (!op) -> (!op, !op)
  %fused0, %outer0 = transform.structured.fuse_into_containing_op %op0 into %loop0 : (!op, !op) -> (!op, !op)
  %tile1, %loop1 = transform.structured.tile_using_forall %user1 tile_sizes [0, 0, 16] : (!op) -> (!op, !op)
  %fused1, %outer1 = transform.structured.fuse_into_containing_op %op1 into %loop1 : (!op, !op) -> (!op, !op)
  transform.yield
}

}

// -----

!op = !transform.any_op

module attributes {transform.with_named_sequence} {

// Parts of the keys have no sinks and a lse each. The sink is a term of the sum of the whole; weights are of f32 sums.
//
// CHECK-DAG:   #[[$FIRST_KEY:.+]] = affine_map<(d0) -> (d0 * 25)>
// CHECK-DAG:   #[[$HEAD:.+]] = affine_map<(d0, d1, d2) -> (d1)>
// CHECK-LABEL: func.func @keys
// CHECK-SAME:    %[[SINKS:[^ ]+]]: tensor<4xf32>
// CHECK-DAG:   %[[ZERO:.+]] = arith.constant 0.000000e+00 : bf16
// CHECK-DAG:   %[[NONE:.+]] = arith.constant 0xFF800000 : f32
// CHECK-DAG:   %[[RESULTS:.+]] = linalg.fill ins(%[[ZERO]] : bf16) {{.+}} -> tensor<4x2x32x4x64xbf16>
// CHECK-DAG:   %[[SUMS:.+]] = linalg.fill ins(%[[NONE]] : f32) {{.+}} -> tensor<4x2x4x32xf32>
// CHECK:       %[[STATES:.+]]:2 = scf.forall (%[[PART:.+]]) in (4) shared_outs(%{{.+}} = %[[RESULTS]], %{{.+}} = %[[SUMS]])
// CHECK:         %[[N:.+]] = affine.apply #[[$FIRST_KEY]](%[[PART]])
// CHECK:         %[[O:.+]], %[[LSE:.+]] = attn.attention {{.+}} lse order(bshd) mask (%{{.+}}, %{{.+}}, %[[M:.+]], %[[N0:.+]]) {
// CHECK:           %[[KEY:.+]] = arith.addi %[[N0]], %[[N]]
// CHECK:           arith.cmpi sle, %[[KEY]], %[[M]]
// CHECK:         tensor.parallel_insert_slice %[[O]] into %{{.+}}[%[[PART]], 0, 0, 0, 0] [1, 2, 32, 4, 64]
// CHECK:         tensor.parallel_insert_slice %[[LSE]] into %{{.+}}[%[[PART]], 0, 0, 0] [1, 2, 4, 32]
// CHECK:       linalg.generic {indexing_maps = [#[[$HEAD]], {{.+}} ins(%[[SINKS]]
// CHECK:       linalg.generic {{.+}} ins(%[[STATES]]#1
// CHECK:         arith.maxnumf
// CHECK:       linalg.generic {{.+}} ins(%[[SINKS]]
// CHECK:         math.exp
// CHECK:       linalg.generic {{.+}} ins(%[[STATES]]#1
// CHECK:         math.exp
// CHECK:       math.log
// CHECK:       %[[WEIGHTS:.+]] = linalg.generic {{.+}} ins(%[[STATES]]#1
// CHECK:         math.exp
// CHECK:       %[[MERGED:.+]] = linalg.generic {{.+}} ins(%[[STATES]]#0, %[[WEIGHTS]]
// CHECK:         arith.extf
// CHECK:       %[[RESULT:.+]] = linalg.generic {{.+}} ins(%[[MERGED]]
// CHECK:         arith.truncf
// CHECK:       return %[[RESULT]] : tensor<2x32x4x64xbf16>
func.func @keys(%q: tensor<2x32x4x64xbf16>, %k: tensor<2x100x4x64xbf16>, %sinks: tensor<4xf32>) -> tensor<2x32x4x64xbf16> {
  %o = attn.attention %q, %k, %k causal(top_left) sinks(%sinks : tensor<4xf32>) order(bshd)
    : tensor<2x32x4x64xbf16>, tensor<2x100x4x64xbf16>, tensor<2x100x4x64xbf16>
  return %o : tensor<2x32x4x64xbf16>
}

transform.named_sequence @__transform_main(%root: !op {transform.readonly}) {
  %op = transform.structured.match ops{["attn.attention"]} in %root : (!op) -> !op
  %fills:2, %tile, %merge, %loop = transform.structured.tile_reduction_using_forall %op by num_threads = [0, 0, 0, 4]
    : (!op) -> (!op, !op, !op, !op, !op)
  transform.yield
}

}
