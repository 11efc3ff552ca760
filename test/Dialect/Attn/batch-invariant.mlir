// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bits of a batch that do not depend on the others.
//
// RUN: attune-opt %s | attune-opt | FileCheck %s
// RUN: attune-opt %s --mlir-print-op-generic | attune-opt | FileCheck %s
// RUN: attune-gen --op=attention --dtype=bf16 --batch=1 --heads=4 --seq-q=1 --head-dim=32 --seq-k=64 --key-lengths --batch-invariant | FileCheck %s --check-prefix=GEN
// RUN: not attune-gen --op=attention --dtype=bf16 --batch=1 --heads=4 --seq-q=1 --head-dim=32 --grad --batch-invariant 2>&1 | FileCheck %s --check-prefix=GRAD

// GEN: attn.attention {{.*}} key_lengths(%{{.*}} : tensor<1xi32>) batch_invariant
// GRAD: attune-gen: error: expects no --batch-invariant with --grad

// CHECK-LABEL: func.func @invariant
func.func @invariant(%q: tensor<2x8x1x48xbf16>, %k: tensor<2x1x?x48xbf16>, %n: tensor<2xi32>) -> tensor<2x8x1x32xbf16> {
  // CHECK: key_lengths(%{{.+}} : tensor<2xi32>) latent(32) batch_invariant : 
  // CHECK-NOT: batch_invariant
  %o = attn.attention %q, %k, %k batch_invariant latent(32) key_lengths(%n : tensor<2xi32>)
    : tensor<2x8x1x48xbf16>, tensor<2x1x?x48xbf16>, tensor<2x1x?x48xbf16>
  return %o : tensor<2x8x1x32xbf16>
}
