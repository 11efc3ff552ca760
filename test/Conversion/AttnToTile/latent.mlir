// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values that are a part of the keys are loaded with them: in two tiles, of which
// one is multiplied twice. Warpgroups that share columns each have all scores.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(attune-attach-target{chip=sm_90a},convert-attn-to-tile)" | FileCheck %s

// CHECK-LABEL: gpu.func @latent_kernel
// CHECK-SAME: (%[[Q:.+]]: memref<1x1x64x576xbf16>, %[[K:.+]]: memref<1x1x256x576xbf16>, %{{.+}}: memref<1x1x64x512xbf16>)
// CHECK: %[[QV:.+]] = tile.load %{{.+}}[%{{.+}}, %c0{{.*}}] stages 1 {{.*}} -> <64x512xbf16, registers>
// CHECK: %[[QR:.+]] = tile.load %{{.+}}[%{{.+}}, %c512{{.*}}] stages 1 {{.*}} -> <64x64xbf16, registers>
// CHECK: scf.for
// CHECK: %[[KV:.+]] = tile.load %{{.+}}[%{{.+}}, %c0{{.*}}] in_bounds stages 2 {{.*}} -> <64x512xbf16, registers>
// CHECK: %[[KR:.+]] = tile.load %{{.+}}[%{{.+}}, %c512{{.*}}] in_bounds stages 2 {{.*}} -> <64x64xbf16, registers>
// CHECK-NOT: tile.load
// CHECK: %[[R:.+]] = tile.mma %[[QR]], %[[KR]], %{{.+}} transpose_rhs scope warpgroup replicas 2
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
