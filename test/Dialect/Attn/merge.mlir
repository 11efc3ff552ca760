// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Round trip of attn.merge, and what folds.
//
// RUN: attune-opt %s | attune-opt | FileCheck %s
// RUN: attune-opt %s --mlir-print-op-generic | attune-opt | FileCheck %s
// RUN: attune-opt %s --canonicalize | FileCheck %s --check-prefix=FOLD
// RUN: attune-opt %s --generate-runtime-verification=verbose-level=0 | FileCheck %s --check-prefix=CHECKS
// RUN: attune-opt %s --resolve-ranked-shaped-type-result-dims --canonicalize | FileCheck %s --check-prefix=SHAPES

!o = tensor<2x4x8x64xf16>
!lse = tensor<2x4x8xf32>

// CHECK-LABEL: func.func @two
// CHECK: %[[O:.+]], %[[LSE:.+]] = attn.merge %{{.+}}, %{{.+}} lses(%{{.+}}, %{{.+}} : tensor<2x4x8xf32>, tensor<2x4x8xf32>) : tensor<2x4x8x64xf16>, tensor<2x4x8x64xf16> -> tensor<2x4x8x64xf16>, tensor<2x4x8xf32>
// FOLD-LABEL: func.func @two
// FOLD: attn.merge
// The verifier knows.
// CHECKS-LABEL: func.func @two
// CHECKS-NOT: cf.assert
func.func @two(%o0: !o, %o1: !o, %l0: !lse, %l1: !lse) -> (!o, !lse) {
  %o, %lse = attn.merge %o0, %o1 lses(%l0, %l1 : !lse, !lse) : !o, !o -> !o, !lse
  return %o, %lse : !o, !lse
}

// CHECK-LABEL: func.func @clauses
// CHECK: attn.merge %{{.+}}, %{{.+}}, %{{.+}} lses({{.+}}) order(bshd) schedule(<numWarps = 8>) attributes {note} : {{.+}} -> tensor<2x8x4x64xbf16>
func.func @clauses(%o: tensor<2x8x4x64xf32>, %p: tensor<2x8x4x64xf32, #attn.strided<[4096, 512, 64, 1]>>, %lse: !lse) -> tensor<2x8x4x64xbf16> {
  %r = attn.merge %o, %p, %o lses(%lse, %lse, %lse : !lse, !lse, !lse) order(bshd) schedule(<numWarps = 8>) attributes {note}
    : tensor<2x8x4x64xf32>, tensor<2x8x4x64xf32, #attn.strided<[4096, 512, 64, 1]>>, tensor<2x8x4x64xf32> -> tensor<2x8x4x64xbf16>
  return %r : tensor<2x8x4x64xbf16>
}

// Sizes are those of the parts.
// CHECK-LABEL: func.func @dynamic
// CHECKS-LABEL: func.func @dynamic
// CHECKS: cf.assert {{.*}}expects part 0 and lse of part 0 to have one batch size
// CHECKS: cf.assert {{.*}}expects part 0 and lse of part 0 to have one length
// CHECKS: cf.assert {{.*}}expects part 0 and part 1 to have one batch size
// CHECKS: cf.assert {{.*}}expects part 0 and lse of part 1 to have one batch size
// CHECKS: cf.assert {{.*}}expects part 0 and part 1 to have one length
// CHECKS: cf.assert {{.*}}expects part 0 and lse of part 1 to have one length
// CHECKS-NOT: cf.assert
// CHECKS: attn.merge
// SHAPES-LABEL: func.func @dynamic
// SHAPES-SAME: %[[PART:[^ ]+]]: tensor<?x?x4x64xf16>
// SHAPES: %[[LENGTH:.+]] = tensor.dim %[[PART]], %c1
// SHAPES: return %[[LENGTH]]
func.func @dynamic(%o0: tensor<?x?x4x64xf16>, %o1: tensor<?x?x4x64xf16>, %l0: tensor<?x4x?xf32>, %l1: tensor<?x4x?xf32>) -> index {
  %c2 = arith.constant 2 : index
  %o, %lse = attn.merge %o0, %o1 lses(%l0, %l1 : tensor<?x4x?xf32>, tensor<?x4x?xf32>) order(bshd)
    : tensor<?x?x4x64xf16>, tensor<?x?x4x64xf16> -> tensor<?x?x4x64xf16>, tensor<?x4x?xf32>
  %length = tensor.dim %lse, %c2 : tensor<?x4x?xf32>
  return %length : index
}

// One part is the result, if its op says that where there are no keys it is 0.
// FOLD-LABEL: func.func @one
// FOLD: %[[O:.+]], %[[LSE:.+]] = attn.attention
// FOLD-NOT: attn.merge
// FOLD: return %[[O]], %[[LSE]]
func.func @one(%q: !o) -> (!o, !lse) {
  %o, %lse = attn.attention %q, %q, %q lse : !o, !o, !o
  %r, %rl = attn.merge %o lses(%lse : !lse) : !o -> !o, !lse
  %s, %sl = attn.merge %r lses(%rl : !lse) : !o -> !o, !lse
  return %s, %sl : !o, !lse
}

// FOLD-LABEL: func.func @one_of_elsewhere
// FOLD: attn.merge
func.func @one_of_elsewhere(%o: !o, %lse: !lse) -> !o {
  %r = attn.merge %o lses(%lse : !lse) : !o -> !o
  return %r : !o
}

// FOLD-LABEL: func.func @one_of_another_type
// FOLD: attn.merge
func.func @one_of_another_type(%q: tensor<2x4x8x64xf32>) -> !o {
  %o, %lse = attn.attention %q, %q, %q lse : tensor<2x4x8x64xf32>, tensor<2x4x8x64xf32>, tensor<2x4x8x64xf32>
  %r = attn.merge %o lses(%lse : !lse) : tensor<2x4x8x64xf32> -> !o
  return %r : !o
}
