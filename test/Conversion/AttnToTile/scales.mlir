// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operands of other types, and what scales multiply: those that a tile shares
// are loaded in front of its loop, where they become a part of the exponent.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(attune-attach-target{chip=sm_80},convert-attn-to-tile)" | FileCheck %s

// Keys of 8 bits are multiplied as they are loaded, by queries of f16, each row of which is times a power of 2. Scores are
// times its reciprocal.
// CHECK-LABEL: gpu.func @shared_kernel
// CHECK-SAME: (%{{.+}}: memref<1x2x64x64xbf16>, %{{.+}}: memref<1x2x256x64xf8E4M3FN>, %{{.+}}: memref<1x2x256x64xf8E5M2>, %[[QS:.+]]: memref<1x1x1x1xf32>, %[[KS:.+]]: memref<1x2x1x1xf32>, %[[VS:.+]]: memref<1x2x1x1xf32>, %{{.+}}: memref<1x2x64x64xbf16>)
// CHECK: %[[OFQ:.+]] = memref.load %[[QS]]
// CHECK: %[[OFK:.+]] = memref.load %[[KS]]
// CHECK: %[[OFQK:.+]] = arith.mulf %[[OFQ]], %[[OFK]] : f32
// CHECK: %[[OFV:.+]] = memref.load %[[VS]]
// CHECK: %[[PRODUCT:.+]] = arith.mulf %[[OFQK]], %cst{{.*}} : f32
// CHECK: %[[UNIT:.+]] = arith.maxnumf %[[PRODUCT]], %cst{{.*}} : f32
// CHECK: %[[Q:.+]] = tile.load {{.+}} -> <64x64xbf16, registers>
// CHECK: %[[AMOUNTS:.+]] = tile.reduce max %{{.+}} : <64x64xf32, registers> -> <64xf32, registers>
// CHECK: %[[POWERS:.+]] = tile.map(%[[AMOUNTS]])
// CHECK: arith.andi %{{.+}}, %c2139095040_i32
// CHECK: arith.minui %{{.+}}, %c2122317824_i32
// CHECK: tile.map(%[[POWERS]])
// CHECK: arith.subi %c2130706432_i32
// CHECK: arith.truncf %{{.+}} : f32 to f16
// CHECK: scf.for
// CHECK-NOT: memref.load
// CHECK: %[[K:.+]] = tile.load {{.+}} -> <32x64xf8E4M3FN, registers>
// CHECK: %[[PRODUCTS:.+]] = tile.mma %{{.+}}, %[[K]], %{{.+}} transpose_rhs : <64x64xf16, registers>, <32x64xf8E4M3FN, registers>, <64x32xf32, registers>
// CHECK: %[[OFROWS:.+]] = tile.broadcast %[[POWERS]]
// CHECK: %[[SCORES:.+]] = tile.map(%[[PRODUCTS]], %[[OFROWS]])
// CHECK: tile.reduce max %[[SCORES]]
// CHECK: math.fma %{{.+}}, %[[UNIT]], %{{.+}} : f32
// CHECK-NEXT: math.exp2
// Values are, too, by weights of f16, which has all of them.
// CHECK: tile.mma %{{.+}} : <64x32xf16, registers>, <32x64xf8E5M2, registers>, <64x64xf32, registers>
// CHECK: scf.yield
// CHECK: tile.map
// CHECK: arith.mulf %{{.+}}, %[[OFV]] : f32
// CHECK-NEXT: arith.truncf
func.func @shared(%q: tensor<1x2x64x64xbf16>, %k: tensor<1x2x256x64xf8E4M3FN>, %v: tensor<1x2x256x64xf8E5M2>,
                  %qs: tensor<1x1x1x1xf32>, %ks: tensor<1x2x1x1xf32>, %vs: tensor<1x2x1x1xf32>) -> tensor<1x2x64x64xbf16> {
  %o = attn.attention %q, %k, %v query_scales(%qs : tensor<1x1x1x1xf32>) key_scales(%ks : tensor<1x2x1x1xf32>)
    value_scales(%vs : tensor<1x2x1x1xf32>) schedule(<blockM = 64, blockN = 32, numWarps = 4>)
    : tensor<1x2x64x64xbf16>, tensor<1x2x256x64xf8E4M3FN>, tensor<1x2x256x64xf8E5M2>
  return %o : tensor<1x2x64x64xbf16>
}

// Those of keys multiply scores and weights, in blocks of 16.
// CHECK-LABEL: gpu.func @rows_kernel
// CHECK-SAME: %[[KS:[^ ]+]]: memref<1x2x16x1xf32>, %[[VS:[^ ]+]]: memref<1x1x256x1xf32>
// CHECK: scf.for
// CHECK: tile.mma
// CHECK-NEXT: tile.map
// CHECK: %[[BLOCK:.+]] = arith.divui %{{.+}}, %c16
// CHECK: %[[OFK:.+]] = memref.load %[[KS]][%c0{{.*}}, %{{.+}}, %[[BLOCK]], %c0{{.*}}]
// CHECK: arith.mulf %{{.+}}, %[[OFK]] : f32
// CHECK: math.exp2
// CHECK: %[[OFV:.+]] = memref.load %[[VS]][%c0{{.*}}, %c0{{.*}}, %{{.+}}, %c0{{.*}}]
// CHECK-NEXT: %[[SCALED:.+]] = arith.mulf %[[WEIGHT:.+]], %[[OFV]] : f32
// A key that is not seen may have a scale that is NaN.
// CHECK: arith.select %{{.+}}, %[[SCALED]], %{{.+}} : f32
// CHECK: tile.mma
func.func @rows(%q: tensor<1x2x64x64xbf16>, %ks: tensor<1x2x16x1xf32>, %vs: tensor<1x1x256x1xf32>, %k: tensor<1x2x256x64xbf16>)
    -> tensor<1x2x64x64xbf16> {
  %o = attn.attention %q, %k, %k key_scales(%ks, [1, 1, 16, 1] : tensor<1x2x16x1xf32>) value_scales(%vs : tensor<1x1x256x1xf32>)
    schedule(<blockM = 64, blockN = 32, numWarps = 4>)
    : tensor<1x2x64x64xbf16>, tensor<1x2x256x64xbf16>, tensor<1x2x256x64xbf16>
  return %o : tensor<1x2x64x64xbf16>
}

// Queries that are read anew for each block stay what they are, for which keys are widened to bf16.
// CHECK-LABEL: gpu.func @query_in_shared_kernel
// CHECK-NOT: xf16,
// CHECK: tile.mma {{.*}} transpose_rhs : <64x64xbf16, registers>, <32x64xi8, registers>
// CHECK-NEXT: tile.reduce max
func.func @query_in_shared(%q: tensor<1x2x64x64xbf16>, %k: tensor<1x2x256x64xi8>) -> tensor<1x2x64x64xbf16> {
  %o = attn.attention %q, %k, %k schedule(<blockM = 64, blockN = 32, numWarps = 4, qInRegisters = 0>)
    : tensor<1x2x64x64xbf16>, tensor<1x2x256x64xi8>, tensor<1x2x256x64xi8>
  return %o : tensor<1x2x64x64xbf16>
}

// Scores are less the sum of a query times the zero point of a key; weights, as they are multiplied, times those of values add up beside
// them, with lanes that each have a part, and are subtracted at last.
// CHECK-LABEL: gpu.func @zeros_kernel
// CHECK-SAME: memref<1x1x256x1xf32>, %[[KZ:[^ ]+]]: memref<1x2x256x1xf32>, %[[VZ:[^ ]+]]: memref<1x1x256x1xf32>,
// CHECK: %[[SUMS:.+]] = tile.reduce add %{{.+}} : <64x64xf32, registers> -> <64xf32, registers>
// CHECK: %[[LOOP:.+]]:4 = scf.for
// CHECK: tile.broadcast %[[SUMS]]
// CHECK: memref.load %[[KZ]]
// CHECK: math.fma
// CHECK: arith.truncf %{{.+}} : f32 to bf16
// CHECK: arith.extf %{{.+}} : bf16 to f32
// CHECK: memref.load %[[VZ]]
// CHECK: tile.reduce add {{.+}} init {{.+}} : <64x32xf32, registers> -> <64x4xf32, registers>
// CHECK: tile.mma
// CHECK: tile.reduce add %[[LOOP]]#3
// CHECK: arith.subf
func.func @zeros(%q: tensor<1x2x64x64xbf16>, %ks: tensor<1x2x256x1xf32>, %vs: tensor<1x1x256x1xf32>, %k: tensor<1x2x256x64xi8>,
                 %kz: tensor<1x2x256x1xf32>, %vz: tensor<1x1x256x1xf32>)
    -> tensor<1x2x64x64xbf16> {
  %o = attn.attention %q, %k, %k key_scales(%ks : tensor<1x2x256x1xf32>) value_scales(%vs : tensor<1x1x256x1xf32>)
    key_zeros(%kz : tensor<1x2x256x1xf32>) value_zeros(%vz : tensor<1x1x256x1xf32>) schedule(<blockM = 64, blockN = 32, numWarps = 4>)
    : tensor<1x2x64x64xbf16>, tensor<1x2x256x64xi8>, tensor<1x2x256x64xi8>
  return %o : tensor<1x2x64x64xbf16>
}

// One that all keys of a head share is subtracted from the result alone.
// CHECK-LABEL: gpu.func @shared_zeros_kernel
// CHECK: scf.for {{.+}} -> (!tile.tile<64xf32, registers>, !tile.tile<64x4xf32, registers>, !tile.tile<64x64xf32, registers>)
// CHECK-NOT: arith.extf %{{.+}} : bf16 to f32
func.func @shared_zeros(%q: tensor<1x2x64x64xbf16>, %vs: tensor<1x1x1x1xf32>, %vz: tensor<1x1x1x1xf32>, %k: tensor<1x2x256x64xi8>)
    -> tensor<1x2x64x64xbf16> {
  %o = attn.attention %q, %k, %k value_scales(%vs : tensor<1x1x1x1xf32>) value_zeros(%vz : tensor<1x1x1x1xf32>)
    schedule(<blockM = 64, blockN = 32, numWarps = 4>)
    : tensor<1x2x64x64xbf16>, tensor<1x2x256x64xi8>, tensor<1x2x256x64xi8>
  return %o : tensor<1x2x64x64xbf16>
}

// Results are divided by the scales of their heads, where they are f32, and rounded; rows of a tile may be of several heads.
// CHECK-LABEL: gpu.func @result_kernel
// CHECK-SAME: %[[SCALES:[^ ]+]]: memref<1x4x1x1xf32>
// CHECK: scf.for
// CHECK: memref.load %[[SCALES]]
// CHECK: arith.divf
// CHECK: math.copysign
// CHECK: arith.truncf %{{.+}} : f32 to f8E4M3FN
// CHECK: tile.store {{.+}} : <16x64xf8E4M3FN, registers>
func.func @result(%q: tensor<1x4x2x64xbf16>, %k: tensor<1x2x256x64xbf16>, %s: tensor<1x4x1x1xf32>) -> tensor<1x4x2x64xf8E4M3FN> {
  %o = attn.attention %q, %k, %k result_scales(%s : tensor<1x4x1x1xf32>) schedule(<blockM = 16, blockN = 32, numWarps = 1>)
    : tensor<1x4x2x64xbf16>, tensor<1x2x256x64xbf16>, tensor<1x2x256x64xbf16> -> tensor<1x4x2x64xf8E4M3FN>
  return %o : tensor<1x4x2x64xf8E4M3FN>
}

// Of parts of the keys, who merges them divides and rounds.
// CHECK-LABEL: gpu.func @result_of_parts_kernel
// CHECK-NOT: f8E4M3FN
// CHECK-LABEL: gpu.func @result_of_parts_merge
// CHECK-SAME: memref<1x1x1x1xf32>
// CHECK: arith.truncf %{{.+}} : f32 to f8E4M3FN
func.func @result_of_parts(%q: tensor<1x4x2x64xbf16>, %k: tensor<1x2x256x64xbf16>, %s: tensor<1x1x1x1xf32>) -> tensor<1x4x2x64xf8E4M3FN> {
  %o = attn.attention %q, %k, %k result_scales(%s : tensor<1x1x1x1xf32>) schedule(<blockM = 16, blockN = 32, numWarps = 1, splitK = 2>)
    : tensor<1x4x2x64xbf16>, tensor<1x2x256x64xbf16>, tensor<1x2x256x64xbf16> -> tensor<1x4x2x64xf8E4M3FN>
  return %o : tensor<1x4x2x64xf8E4M3FN>
}
