// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step of decoding: new keys and values are put into a cache in pages, which attention then reads. The host code
// has the caller's pools alone, and launches in this order: keys and values are one kernel's.
//
// RUN: attune-opt %s --attune-compile="chip=sm_90a format=isa" | attune-opt --attune-bufferize-host --canonicalize | FileCheck %s
// RUN: attune-opt %s --attune-compile="chip=gfx942 format=isa" | attune-opt --attune-bufferize-host --canonicalize | FileCheck %s
//
// CHECK: func.func @step(%[[Q:[^:]+]]: {{[^%]+}}, %[[K:[^:]+]]: {{[^%]+}}, %[[V:[^:]+]]: {{[^%]+}}, %[[SLOTS:[^:]+]]: memref<4xi64>,
// CHECK-SAME: %[[KEYS:[^:]+]]: memref<32x16x4x64xbf16>, %[[VALUES:[^:]+]]: memref<32x16x4x64xbf16>, %{{.+}}, %{{.+}}, %[[OUT:[^:]+]]: memref<4x1x16x64xbf16>) {
// CHECK-NOT: memref.copy
// CHECK: gpu.launch_func {{.+}} args(%[[K]] : {{.+}}, %[[SLOTS]] : memref<4xi64>, %[[KEYS]] : {{.+}}, %[[V]] : {{.+}}, %[[VALUES]] :
// CHECK: gpu.launch_func {{.+}} args(%[[Q]] : {{.+}}, %[[KEYS]] : {{.+}}, %[[VALUES]] :

!rows = tensor<4x4x64xbf16>
!pool = tensor<32x16x4x64xbf16>
!query = tensor<4x1x16x64xbf16>

func.func @step(%q: !query, %k: !rows, %v: !rows, %slots: tensor<4xi64>, %keys: !pool, %values: !pool,
                %lengths: tensor<4xi32>, %pages: tensor<4x8xi32>) -> (!query, !pool, !pool) {
  %k1 = attn.append %k to %keys at %slots : !rows, !pool, tensor<4xi64>
  %v1 = attn.append %v to %values at %slots : !rows, !pool, tensor<4xi64>
  %o = attn.attention %q, %k1, %v1 order(bshd) key_lengths(%lengths : tensor<4xi32>) pages(%pages : tensor<4x8xi32>) : !query, !pool, !pool
  return %o, %k1, %v1 : !query, !pool, !pool
}
