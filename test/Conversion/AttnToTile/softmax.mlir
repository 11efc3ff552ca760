// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ways to write the softmax: how often what was summed up is rescaled, and
// which exponentials may be polynomials.
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_90a" --attune-set-schedule="num-warps=8 mma-warps=4 q-in-registers=0" --convert-attn-to-tile --canonicalize --cse \
// RUN:   | FileCheck %s --check-prefix=ALWAYS
// RUN: attune-opt %s --attune-attach-target="chip=sm_90a" --attune-set-schedule="num-warps=8 mma-warps=4 q-in-registers=0 rescale=8 exp-on-fma=4" --convert-attn-to-tile --canonicalize --cse \
// RUN:   | FileCheck %s

// ALWAYS-NOT: tile.any
// ALWAYS-NOT: scf.if
// ALWAYS-NOT: tile.fma_share

// Scores are multiplied by 1/8 log2(e) to be exponents of 2: 8 of these are
// 44.36. The maximum is raised for all rows of a warp or for none; without a
// raise the factor of the sum is 1, and the output stays.
// CHECK-DAG: %[[LAG:.+]] = arith.constant 44.361{{[0-9]+}} : f32
// CHECK: scf.for {{.*}} iter_args(%[[OLD:.+]] = %{{.+}}, %[[SUM:.+]] = %{{.+}}, %[[ACC:.+]] = %{{.+}})
// CHECK:   %[[BLOCK:.+]] = tile.reduce max
// CHECK:   %[[LARGEST:.+]] = tile.map(%[[OLD]], %[[BLOCK]]) {
// CHECK:   arith.maxnumf
// CHECK:   %[[GROWN:.+]] = tile.map(%[[OLD]], %[[LARGEST]]) {
// CHECK-NEXT: ^bb0(%[[A:.+]]: f32, %[[B:.+]]: f32, %{{.+}}: index):
// CHECK-NEXT:     %[[BY:.+]] = arith.subf %[[B]], %[[A]] : f32
// CHECK-NEXT:     arith.cmpf ogt, %[[BY]], %[[LAG]] : f32
// CHECK:   %[[ANY:.+]] = tile.any %[[GROWN]]
// CHECK:   %[[MAX:.+]] = tile.map(%[[OLD]], %[[LARGEST]]) {
// CHECK-NEXT: ^bb0(%[[A:.+]]: f32, %[[B:.+]]: f32, %{{.+}}: index):
// CHECK-NEXT:     arith.select %[[ANY]], %[[B]], %[[A]] : f32
// CHECK:   tile.map(%[[MAX]])
// CHECK:   math.exp2 %{{.+}} fastmath<afn> {tile.fma_share = 4 : i64} : f32
// CHECK:   %[[FACTOR:.+]] = tile.map(%[[OLD]], %{{.+}}) {
// CHECK:   math.exp2 %{{.+}} fastmath<afn> : f32
// CHECK:   tile.map(%[[SUM]],
// CHECK:   %[[RESCALED:.+]] = scf.if %[[ANY]]
// CHECK:     tile.map(%[[ACC]],
// CHECK:     arith.mulf
// CHECK:   } else {
// CHECK-NEXT: scf.yield %[[ACC]]
// CHECK:   tile.mma %{{.+}}, %{{.+}}, %[[RESCALED]]
func.func @f(%q: tensor<1x1x256x64xbf16>) -> tensor<1x1x256x64xbf16> {
  %o = attn.attention %q, %q, %q : tensor<1x1x256x64xbf16>, tensor<1x1x256x64xbf16>, tensor<1x1x256x64xbf16>
  return %o : tensor<1x1x256x64xbf16>
}
