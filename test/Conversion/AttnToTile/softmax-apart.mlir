// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where copies pass through registers and nothing runs under MMAs, all that a
// raised maximum changes is computed in a branch: the maximum, what is added to
// exponents for it, sum and output. Lanes that share a row compare their parts of
// it with the maximum before, and meet in the branch alone. Else it is computed each time.
//
// RUN: attune-opt %s --attune-attach-target="chip=gfx942" --attune-set-schedule="num-warps=4 block-m=128 rescale=8" --convert-attn-to-tile --canonicalize --cse | FileCheck %s
// RUN: attune-opt %s --attune-attach-target="chip=gfx942" --attune-set-schedule="num-warps=4 block-m=128 rescale=0" --convert-attn-to-tile --canonicalize --cse | FileCheck %s --check-prefix=ALWAYS
// RUN: attune-opt %s --attune-attach-target="chip=sm_80" --attune-set-schedule="num-warps=4 block-m=128 rescale=8" --convert-attn-to-tile --canonicalize --cse | FileCheck %s --check-prefix=EACH

// ALWAYS-NOT: tile.any
// ALWAYS-NOT: scf.if

// EACH: tile.any
// EACH: math.exp2
// EACH: math.exp2
// EACH: scf.if
// EACH-NOT: math.exp2
// EACH: scf.yield

// CHECK: scf.for {{.*}} iter_args(%[[MAX:.+]] = %{{.+}}, %[[SUM:.+]] = %{{.+}}, %[[ACC:.+]] = %{{.+}}, %[[SHIFT:.+]] = %{{.+}})
// CHECK:   %[[PARTS:.+]] = tile.reduce {{ *}}max %{{.+}} -> <128x2xf32, registers>
// CHECK:   %[[BEFORE:.+]] = tile.broadcast %[[MAX]] : {{.+}} -> <128x2xf32, registers>
// CHECK:   %[[GROWN:.+]] = tile.map(%[[BEFORE]], %[[PARTS]]) {
// CHECK:   %[[ANY:.+]] = tile.any %[[GROWN]]
// CHECK:   %[[STATE:.+]]:4 = scf.if %[[ANY]]
// CHECK:     %[[BLOCK:.+]] = tile.reduce {{ *}}max %[[PARTS]]
// CHECK:     %[[RAISED:.+]] = tile.map(%[[MAX]], %[[BLOCK]]) {
// CHECK:       arith.maxnumf
// CHECK:     %[[ADDED:.+]] = tile.map(%[[RAISED]]) {
// CHECK:     %[[FACTOR:.+]] = tile.map(%[[MAX]], %[[ADDED]]) {
// CHECK:       math.exp2
// CHECK:     %[[LESS:.+]] = tile.map(%[[SUM]],
// CHECK:     %[[OUTPUT:.+]] = tile.map(%[[ACC]],
// CHECK:     scf.yield %[[RAISED]], %[[LESS]], %[[OUTPUT]], %[[ADDED]]
// CHECK:   } else {
// CHECK:     scf.yield %[[MAX]], %[[SUM]], %[[ACC]], %[[SHIFT]]
// CHECK:   tile.broadcast %[[STATE]]#3
// CHECK:   tile.reduce {{ *}}add %{{.+}} init %[[STATE]]#1
// CHECK:   tile.mma %{{.+}}, %{{.+}}, %[[STATE]]#2
func.func @f(%q: tensor<1x1x256x64xbf16>) -> tensor<1x1x256x64xbf16> {
  %o = attn.attention %q, %q, %q : tensor<1x1x256x64xbf16>, tensor<1x1x256x64xbf16>, tensor<1x1x256x64xbf16>
  return %o : tensor<1x1x256x64xbf16>
}
