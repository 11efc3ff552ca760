// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ways to write the softmax: how often what was summed up is rescaled, and
// which exponentials may be polynomials.
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_90a" --attune-set-schedule="num-warps=8 mma-warps=4 q-in-registers=0" --convert-attn-to-tile --canonicalize --cse \
// RUN:   --split-input-file | FileCheck %s --check-prefixes=ALWAYS,CAP
// RUN: attune-opt %s --attune-attach-target="chip=sm_90a" --attune-set-schedule="num-warps=8 mma-warps=4 q-in-registers=0 rescale=8 exp-on-fma=4" --convert-attn-to-tile --canonicalize --cse \
// RUN:   --split-input-file | FileCheck %s

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
// The factor comes first, and the sum begins with what it is multiplied by.
// CHECK:   %[[FACTOR:.+]] = tile.map(%[[OLD]], %{{.+}}) {
// CHECK:   math.exp2 %{{.+}} fastmath<afn> : f32
// CHECK:   math.exp2 %{{.+}} fastmath<afn> {tile.fma_share = 4 : i64} : f32
// CHECK:   %[[FACTORS:.+]] = tile.broadcast %[[FACTOR]]
// CHECK:   %[[BEGIN:.+]] = tile.map(%[[SUM]], %[[FACTORS]])
// CHECK:   tile.reduce {{ *}}add %{{.+}} init %[[BEGIN]]
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

// -----

// A soft cap costs one product beside its tanh: the scale is part of the factor
// before it, and the factor behind it part of the exponent, 30 log2(e).
// CAP-LABEL: gpu.func @softcap_kernel
// CAP-DAG: %[[BEFORE:.+]] = arith.constant 0.00416666
// CAP-DAG: %[[UNIT:.+]] = arith.constant 43.2808{{[0-9]+}} : f32
// CAP: tile.mma
// CAP: tile.map
// CAP-NEXT: ^bb0(%[[SCORE:.+]]: f32, %{{.+}}: index, %{{.+}}: index):
// CAP-NEXT:   %[[PART:.+]] = arith.mulf %[[SCORE]], %[[BEFORE]] : f32
// CAP-NEXT:   %[[TANH:.+]] = math.tanh %[[PART]] fastmath<afn> : f32
// CAP-NEXT:   tile.yield %[[TANH]]
// CAP: math.fma %{{.+}}, %[[UNIT]], %{{.+}} : f32
func.func @softcap(%q: tensor<1x1x256x64xbf16>) -> tensor<1x1x256x64xbf16> {
  %inverse = arith.constant 0.0333333333 : f32
  %cap = arith.constant 30.0 : f32
  %o = attn.attention %q, %q, %q score (%s, %b, %h, %m, %n) {
    %t = arith.mulf %s, %inverse : f32
    %tanh = math.tanh %t fastmath<afn> : f32
    %r = arith.mulf %tanh, %cap : f32
    attn.yield %r : f32
  } : tensor<1x1x256x64xbf16>, tensor<1x1x256x64xbf16>, tensor<1x1x256x64xbf16>
  return %o : tensor<1x1x256x64xbf16>
}

// -----

// A negative factor is none of the exponent.
// CAP-LABEL: gpu.func @negative_kernel
// CAP-DAG: %[[FACTOR:.+]] = arith.constant -2.500000e-01 : f32
// CAP: tile.mma
// CAP: tile.map
// CAP-NEXT: ^bb0(%[[SCORE:.+]]: f32,
// CAP-NEXT:   %[[R:.+]] = arith.mulf %[[SCORE]], %[[FACTOR]] : f32
// CAP-NEXT:   tile.yield %[[R]]
func.func @negative(%q: tensor<1x1x256x64xbf16>) -> tensor<1x1x256x64xbf16> {
  %two = arith.constant 2.0 : f32
  %minus = arith.constant -2.0 : f32
  %o = attn.attention %q, %q, %q score (%s, %b, %h, %m, %n) {
    %r = arith.mulf %s, %minus : f32
    attn.yield %r : f32
  } : tensor<1x1x256x64xbf16>, tensor<1x1x256x64xbf16>, tensor<1x1x256x64xbf16>
  return %o : tensor<1x1x256x64xbf16>
}

// -----

// A region that is a product and nothing else leaves the scale.
// CAP-LABEL: gpu.func @product_kernel
// CAP-DAG: %[[SCALE:.+]] = arith.constant 1.250000e-01 : f32
// CAP-DAG: %[[UNIT:.+]] = arith.constant 2.88539{{.*}} : f32
// CAP: tile.mma
// CAP: tile.map
// CAP-NEXT: ^bb0(%[[SCORE:.+]]: f32,
// CAP-NEXT:   %[[R:.+]] = arith.mulf %[[SCORE]], %[[SCALE]] fastmath<contract> : f32
// CAP-NEXT:   tile.yield %[[R]]
// CAP: math.fma %{{.+}}, %[[UNIT]], %{{.+}} : f32
func.func @product(%q: tensor<1x1x256x64xbf16>) -> tensor<1x1x256x64xbf16> {
  %two = arith.constant 2.0 : f32
  %minus = arith.constant -2.0 : f32
  %o = attn.attention %q, %q, %q score (%s, %b, %h, %m, %n) {
    %r = arith.mulf %two, %s : f32
    attn.yield %r : f32
  } : tensor<1x1x256x64xbf16>, tensor<1x1x256x64xbf16>, tensor<1x1x256x64xbf16>
  return %o : tensor<1x1x256x64xbf16>
}

// -----

// What is behind a factor keeps it, and a score that is read twice its scale.
// CAP-LABEL: gpu.func @sum_kernel
// CAP-DAG: %[[SCALE:.+]] = arith.constant 1.250000e-01 : f32
// CAP-DAG: %[[TWO:.+]] = arith.constant 2.000000e+00 : f32
// CAP: tile.mma
// CAP: tile.map
// CAP-NEXT: ^bb0(%[[SCORE:.+]]: f32,
// CAP-NEXT:   %[[S:.+]] = arith.mulf %[[SCORE]], %[[SCALE]] fastmath<contract> : f32
// CAP-NEXT:   %[[T:.+]] = arith.mulf %[[S]], %[[TWO]] : f32
// CAP-NEXT:   %[[R:.+]] = arith.addf %[[T]], %[[S]] : f32
// CAP-NEXT:   tile.yield %[[R]]
func.func @sum(%q: tensor<1x1x256x64xbf16>) -> tensor<1x1x256x64xbf16> {
  %two = arith.constant 2.0 : f32
  %minus = arith.constant -2.0 : f32
  %o = attn.attention %q, %q, %q score (%s, %b, %h, %m, %n) {
    %t = arith.mulf %s, %two : f32
    %r = arith.addf %t, %s : f32
    attn.yield %r : f32
  } : tensor<1x1x256x64xbf16>, tensor<1x1x256x64xbf16>, tensor<1x1x256x64xbf16>
  return %o : tensor<1x1x256x64xbf16>
}

// -----

// The scale is no factor of a region that gives the score as it is, and neither is
// one of a value that is worked out outside.
// CAP-LABEL: gpu.func @identity_kernel
// CAP-DAG: %[[SCALE:.+]] = arith.constant 1.250000e-01 : f32
// CAP-DAG: %[[UNIT:.+]] = arith.constant 1.442695{{.*}} : f32
// CAP: tile.mma
// CAP: tile.map
// CAP-NEXT: ^bb0(%[[SCORE:.+]]: f32,
// CAP-NEXT:   %[[R:.+]] = arith.mulf %[[SCORE]], %[[SCALE]] fastmath<contract> : f32
// CAP-NEXT:   tile.yield %[[R]]
// CAP: math.fma %{{.+}}, %[[UNIT]], %{{.+}} : f32
func.func @identity(%q: tensor<1x1x256x64xbf16>) -> tensor<1x1x256x64xbf16> {
  %o = attn.attention %q, %q, %q score (%s, %b, %h, %m, %n) {
    attn.yield %s : f32
  } : tensor<1x1x256x64xbf16>, tensor<1x1x256x64xbf16>, tensor<1x1x256x64xbf16>
  return %o : tensor<1x1x256x64xbf16>
}

// -----

// CAP-LABEL: gpu.func @outside_kernel
// CAP-DAG: %[[UNIT:.+]] = arith.constant 1.442695{{.*}} : f32
// CAP: tile.mma
// CAP: math.fma %{{.+}}, %[[UNIT]], %{{.+}} : f32
func.func @outside(%q: tensor<1x1x256x64xbf16>, %x: f32) -> tensor<1x1x256x64xbf16> {
  %two = arith.constant 2.0 : f32
  %p = arith.mulf %x, %two : f32
  %o = attn.attention %q, %q, %q score (%s, %b, %h, %m, %n) {
    attn.yield %p : f32
  } : tensor<1x1x256x64xbf16>, tensor<1x1x256x64xbf16>, tensor<1x1x256x64xbf16>
  return %o : tensor<1x1x256x64xbf16>
}
