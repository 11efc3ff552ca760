// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Schedules of matmuls from files, beside those of attention: of an equal one,
// or of the closest one whose rows are aligned as well.
//
// RUN: attune-opt %s --attune-attach-target=chip=sm_90a --attune-apply-tuning-spec=specs=%S/Inputs/spec.mlir,%S/Inputs/spec-matmul.mlir | FileCheck %s
// RUN: attune-opt %s --attune-attach-target=chip=sm_90 --attune-apply-tuning-spec=specs=%S/Inputs/spec-matmul.mlir | FileCheck %s --check-prefix=CHIP
// RUN: attune-opt %s --attune-compile="chip=sm_90a format=tile tuning-specs=%S/Inputs/spec-matmul.mlir" | FileCheck %s --check-prefix=PIPELINE

// CHIP-NOT: blockN
// PIPELINE-LABEL: gpu.func @equal_kernel
// PIPELINE: tile.load {{.*}} -> <64x32xf16, registers>
// PIPELINE: tile.load {{.*}} -> <32x32xf16, registers>

// CHECK-LABEL: func.func @equal(
// CHECK: linalg.matmul {attune.schedule = #schedule.matmul<blockM = 64, blockN = 32>}
func.func @equal(%a: tensor<512x512xf16>, %b: tensor<512x512xf16>, %c: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %x = linalg.matmul ins(%a, %b : tensor<512x512xf16>, tensor<512x512xf16>) outs(%c : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %x : tensor<512x512xf32>
}
// CHECK-LABEL: func.func @close_to_512(
// CHECK: linalg.matmul {attune.schedule = #schedule.matmul<blockM = 64, blockN = 32>}
func.func @close_to_512(%a: tensor<100x512xf16>, %b: tensor<512x1024xf16>, %c: tensor<100x1024xf32>) -> tensor<100x1024xf32> {
  %x = linalg.matmul ins(%a, %b : tensor<100x512xf16>, tensor<512x1024xf16>) outs(%c : tensor<100x1024xf32>) -> tensor<100x1024xf32>
  return %x : tensor<100x1024xf32>
}
// CHECK-LABEL: func.func @close_to_4096(
// CHECK: linalg.matmul {attune.schedule = #schedule.matmul<blockM = 64, blockN = 96>}
func.func @close_to_4096(%a: tensor<3000x8192xf16>, %b: tensor<8192x1024xf16>, %c: tensor<3000x1024xf32>) -> tensor<3000x1024xf32> {
  %x = linalg.matmul ins(%a, %b : tensor<3000x8192xf16>, tensor<8192x1024xf16>) outs(%c : tensor<3000x1024xf32>) -> tensor<3000x1024xf32>
  return %x : tensor<3000x1024xf32>
}

// The other sizes decide.
// CHECK-LABEL: func.func @dynamic(
// CHECK: linalg.matmul {attune.schedule = #schedule.matmul<blockM = 64, blockN = 96>}
func.func @dynamic(%a: tensor<?x2048xf16>, %b: tensor<2048x4096xf16>, %c: tensor<?x4096xf32>) -> tensor<?x4096xf32> {
  %x = linalg.matmul ins(%a, %b : tensor<?x2048xf16>, tensor<2048x4096xf16>) outs(%c : tensor<?x4096xf32>) -> tensor<?x4096xf32>
  return %x : tensor<?x4096xf32>
}

// Of one element each.
// CHECK-LABEL: func.func @odd(
// CHECK: linalg.matmul {attune.schedule = #schedule.matmul<blockM = 32, numWarps = 2>}
func.func @odd(%a: tensor<512x77xf16>, %b: tensor<77x512xf16>, %c: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %x = linalg.matmul ins(%a, %b : tensor<512x77xf16>, tensor<77x512xf16>) outs(%c : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %x : tensor<512x512xf32>
}

// Neither of another type nor of other alignments.
// CHECK-LABEL: func.func @other_type(
// CHECK: linalg.matmul ins(
func.func @other_type(%a: tensor<512x512xbf16>, %b: tensor<512x512xbf16>, %c: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %x = linalg.matmul ins(%a, %b : tensor<512x512xbf16>, tensor<512x512xbf16>) outs(%c : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %x : tensor<512x512xf32>
}
// CHECK-LABEL: func.func @other_rows(
// CHECK: linalg.matmul ins(
func.func @other_rows(%a: tensor<512x510xf16>, %b: tensor<510x512xf16>, %c: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %x = linalg.matmul ins(%a, %b : tensor<512x510xf16>, tensor<510x512xf16>) outs(%c : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %x : tensor<512x512xf32>
}
// CHECK-LABEL: func.func @given(
// CHECK: linalg.matmul {attune.schedule = #schedule.matmul<blockM = 192>}
func.func @given(%a: tensor<512x512xf16>, %b: tensor<512x512xf16>, %c: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %x = linalg.matmul {attune.schedule = #schedule.matmul<blockM = 192>} ins(%a, %b : tensor<512x512xf16>, tensor<512x512xf16>) outs(%c : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %x : tensor<512x512xf32>
}
// CHECK-LABEL: func.func @attention(
// CHECK: schedule(<blockM = 64, blockN = 48>)
func.func @attention(%q: tensor<2x4x512x64xf16>) -> tensor<2x4x512x64xf16> {
  %o = attn.attention %q, %q, %q : tensor<2x4x512x64xf16>, tensor<2x4x512x64xf16>, tensor<2x4x512x64xf16>
  return %o : tensor<2x4x512x64xf16>
}
