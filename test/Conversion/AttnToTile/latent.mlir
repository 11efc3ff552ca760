// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values that are a part of the keys are loaded with them: in two tiles, of which
// one is multiplied twice. Warpgroups that share columns each have all scores.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(attune-attach-target{chip=sm_90a},convert-attn-to-tile)" | FileCheck %s

// CHECK-LABEL: gpu.func @latent_kernel
// CHECK-SAME: (%[[Q:.+]]: memref<1x1x64x576xbf16>, %[[K:.+]]: memref<1x1x256x576xbf16>, %{{.+}}: memref<1x1x64x512xbf16>)
// CHECK: %[[QR:.+]] = tile.load %{{.+}}[%{{.+}}, %c512{{.*}}] stages 1 {{.*}} -> <64x64xbf16, registers>
// CHECK: %[[QV:.+]] = tile.load %{{.+}}[%{{.+}}, %c0{{.*}}] stages 1 {{.*}} -> <64x512xbf16, registers>
// CHECK: scf.for
// CHECK: %[[KR:.+]] = tile.load %{{.+}}[%{{.+}}, %c512{{.*}}] in_bounds stages 2 {{.*}} -> <64x64xbf16, registers>
// CHECK: %[[R:.+]] = tile.mma %[[QR]], %[[KR]], %{{.+}} transpose_rhs scope warpgroup replicas 2
// CHECK: %[[KV:.+]] = tile.load %{{.+}}[%{{.+}}, %c0{{.*}}] in_bounds stages 2 {{.*}} -> <64x512xbf16, registers>
// CHECK-NOT: tile.load
// CHECK: tile.mma %[[QV]], %[[KV]], %[[R]] transpose_rhs scope warpgroup replicas 2
// CHECK: tile.mma %{{.+}}, %[[KV]], %{{.+}} scope warpgroup warps_n 2 : {{.+}} <64x512xf32, registers>
func.func @latent(%q: tensor<1x1x64x576xbf16>, %k: tensor<1x1x256x576xbf16>) -> tensor<1x1x64x512xbf16> {
  %o = attn.attention %q, %k, %k latent(512) schedule(<blockM = 64, numWarps = 8, mmaWarps = 4, producerWarps = 4, qInRegisters = 0, warpsN = 2>)
    : tensor<1x1x64x576xbf16>, tensor<1x1x256x576xbf16>, tensor<1x1x256x576xbf16>
  return %o : tensor<1x1x64x512xbf16>
}

// CHECK-LABEL: gpu.func @whole_kernel
// CHECK: tile.load %{{.+}} -> <64x64xbf16, registers>
// CHECK: %[[K:.+]] = tile.load %{{.+}} -> <64x64xbf16, registers>
// CHECK-NOT: tile.load
// CHECK: tile.mma %{{.+}}, %[[K]], %{{.+}} transpose_rhs :
// CHECK: tile.mma %{{.+}}, %[[K]], %{{.+}} :
func.func @whole(%q: tensor<1x1x64x64xbf16>, %k: tensor<1x1x256x64xbf16>) -> tensor<1x1x64x64xbf16> {
  %o = attn.attention %q, %k, %k latent(64) schedule(<blockM = 64, numWarps = 4>)
    : tensor<1x1x64x64xbf16>, tensor<1x1x256x64xbf16>, tensor<1x1x256x64xbf16>
  return %o : tensor<1x1x64x64xbf16>
}

// One role computes scores and hands weights, factors and the sums' inverses over to the others, each of which multiplies by its own columns.
// CHECK-LABEL: gpu.func @handed_kernel
// CHECK-SAME: tile.roles = [#tile.role<"compute", warps = 4, registers = 120>, #tile.role<"compute1", warps = 4, registers = 184>, #tile.role<"compute2", warps = 4, registers = 184>, #tile.role<"load",
// CHECK: tile.load %{{.+}} -> <64x64xbf16, registers>
// CHECK-COUNT-4: tile.load %{{.+}} -> <64x128xbf16, registers>
// CHECK: scf.for
// Each part is multiplied as soon as it is there, of one role after the other.
// CHECK: %[[K:.+]] = tile.load %{{.+}}[%{{.+}}, %c512{{.*}}] {{.*}} -> <64x64xbf16, registers>
// CHECK: tile.mma %{{.+}}, %[[K]], %{{.+}} transpose_rhs scope warpgroup :
// CHECK: %[[L:.+]] = tile.load %{{.+}}[%{{.+}}, %c0{{.*}}] {{.*}} -> <64x128xbf16, registers>
// CHECK: tile.mma %{{.+}}, %[[L]], %{{.+}} transpose_rhs scope warpgroup :
// CHECK: %[[R:.+]] = tile.load %{{.+}}[%{{.+}}, %c256{{.*}}] {{.*}} -> <64x128xbf16, registers>
// CHECK: tile.mma %{{.+}}, %[[R]], %{{.+}} transpose_rhs scope warpgroup :
// CHECK: tile.load %{{.+}}[%{{.+}}, %c128{{.*}}] {{.*}} -> <64x128xbf16, registers>
// CHECK: tile.load %{{.+}}[%{{.+}}, %c384{{.*}}] {{.*}} -> <64x128xbf16, registers>
// CHECK: %[[F:.+]] = tile.hand_over %{{.+}} stages 1 : <64xf32, registers>
// Others rescale only where a row of theirs has grown.
// CHECK: %[[GROWN:.+]] = tile.map(%[[F]])
// CHECK: arith.cmpf une, %{{.+}}, %{{.+}} : f32
// CHECK: %[[ANY:.+]] = tile.any %[[GROWN]]
// CHECK-COUNT-4: scf.if %[[ANY]]
// CHECK: %[[W:.+]] = tile.hand_over %{{.+}} stages 1 : <64x64xbf16, registers>
// CHECK: tile.mma %[[W]], %[[L]], %{{.+}} scope warpgroup : {{.+}} <64x128xf32, registers>
// CHECK: tile.mma %[[W]], %[[R]], %{{.+}} scope warpgroup : {{.+}} <64x128xf32, registers>
// CHECK: %[[INVERSE:.+]] = tile.map
// CHECK: tile.hand_over %[[INVERSE]] stages 1
// CHECK: tile.store %{{.+}}, %{{.+}}[%{{.+}}, %c0{{.*}}] role "compute1" :
// CHECK: tile.store %{{.+}}, %{{.+}}[%{{.+}}, %c256{{.*}}] role "compute2" :
func.func @handed(%q: tensor<1x1x64x576xbf16>, %k: tensor<1x1x256x576xbf16>) -> tensor<1x1x64x512xbf16> {
  %o = attn.attention %q, %k, %k latent(512) schedule(<blockM = 64, numWarps = 12, mmaWarps = 4, producerWarps = 4, qInRegisters = 0, pInRegisters = 0, warpsN = 2>)
    : tensor<1x1x64x576xbf16>, tensor<1x1x256x576xbf16>, tensor<1x1x256x576xbf16>
  return %o : tensor<1x1x64x512xbf16>
}
