// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a tuning spec has for a problem of the same kind and chip is tried after
// the default, the closest length first; the rest of the space comes later.
// Where lengths are equal, both alignments are one mask.
//
// REQUIRES: attune-tune
// RUN: split-file %s %t
// RUN: attune-tune %t/problem.mlir --chip=sm_80 --device=none --rank=false --strategy=grid --budget=4 --jobs=1 --quiet \
// RUN:   --tuning-specs=%t/far.mlir,%t/near.mlir,%t/other-chip.mlir --finalists=0 --json=%t/report.json
// RUN: FileCheck %s < %t/report.json
// RUN: not attune-tune %t/problem.mlir --chip=sm_80 --device=none --tuning-specs=%t/none.mlir 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NONE
// RUN: not attune-tune %t/problem.mlir --chip=sm_80 --device=none --tuning-specs=%t/nameless.mlir 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NAMELESS

// CHECK:      "kind": "{{[0-9a-f]+}}",
// CHECK:      "block-m":
// CHECK:      "block-m": 32,
// CHECK-NEXT: "block-n": 48,
// CHECK:      "block-m": 32,
// CHECK-NEXT: "block-n": 80,
// CHECK:      "block-m": 16,
// CHECK-NEXT: "block-n": 16,
// CHECK-NOT:  "block-m"
// CHECK:      "sizes": {
// CHECK-NEXT:   "batch": 2,
// CHECK-NEXT:   "heads": 4,
// CHECK-NEXT:   "kv-heads": 4,
// CHECK-NEXT:   "seq-k": 256,
// CHECK-NEXT:   "seq-q": 256
// NONE: cannot read the tuning spec '{{.*}}none.mlir'
// NONE: attune-tune: error: cannot use the tuning spec '{{.*}}none.mlir'
// NAMELESS: expects a tuning spec to name its chip in 'attune.tuned_for'

//--- problem.mlir
func.func @f(%q: tensor<2x4x256x64xf16>, %k: tensor<2x4x256x64xf16>, %v: tensor<2x4x256x64xf16>) -> tensor<2x4x256x64xf16> {
  %o = attn.attention %q, %k, %v causal(bottom_right) : tensor<2x4x256x64xf16>, tensor<2x4x256x64xf16>, tensor<2x4x256x64xf16>
  return %o : tensor<2x4x256x64xf16>
}
//--- far.mlir
module attributes {attune.tuned_for = "sm_80"} {
  func.func @far(%q: tensor<2x4x8192x64xf16>, %k: tensor<2x4x8192x64xf16>, %v: tensor<2x4x8192x64xf16>) -> tensor<2x4x8192x64xf16> {
    %o = attn.attention %q, %k, %v causal(top_left) schedule(<blockM = 32, blockN = 80, numWarps = 2>) : tensor<2x4x8192x64xf16>, tensor<2x4x8192x64xf16>, tensor<2x4x8192x64xf16>
    return %o : tensor<2x4x8192x64xf16>
  }
  func.func @full(%q: tensor<2x4x256x64xf16>, %k: tensor<2x4x256x64xf16>, %v: tensor<2x4x256x64xf16>) -> tensor<2x4x256x64xf16> {
    %o = attn.attention %q, %k, %v schedule(<blockM = 32, blockN = 112, numWarps = 2>) : tensor<2x4x256x64xf16>, tensor<2x4x256x64xf16>, tensor<2x4x256x64xf16>
    return %o : tensor<2x4x256x64xf16>
  }
}
//--- near.mlir
module attributes {attune.tuned_for = "sm_80"} {
  func.func @near(%q: tensor<1x4x512x64xf16>, %k: tensor<1x4x512x64xf16>, %v: tensor<1x4x512x64xf16>) -> tensor<1x4x512x64xf16> {
    %o = attn.attention %q, %k, %v causal(top_left) schedule(<blockM = 32, blockN = 48, numWarps = 2>) : tensor<1x4x512x64xf16>, tensor<1x4x512x64xf16>, tensor<1x4x512x64xf16>
    return %o : tensor<1x4x512x64xf16>
  }
}
//--- other-chip.mlir
module attributes {attune.tuned_for = "sm_90"} {
  func.func @equal(%q: tensor<2x4x256x64xf16>, %k: tensor<2x4x256x64xf16>, %v: tensor<2x4x256x64xf16>) -> tensor<2x4x256x64xf16> {
    %o = attn.attention %q, %k, %v causal(top_left) schedule(<blockM = 32, blockN = 96, numWarps = 2>) : tensor<2x4x256x64xf16>, tensor<2x4x256x64xf16>, tensor<2x4x256x64xf16>
    return %o : tensor<2x4x256x64xf16>
  }
}
//--- nameless.mlir
module {
}
