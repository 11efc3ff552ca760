// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Packed keys and values are multiplied in the units that a chip has for them, as numbers that are 8 more: queries make up for the units of keys, the
// accumulator of scores starts at what is more, and sums of weights, as they are multiplied, say what values are more. Simulator/attention-units.test
// checks numbers.
//
// DEFINE: %{chip} = sm_90a
// DEFINE: %{schedule} = block-m=16 block-n=32 num-warps=1
// DEFINE: %{run} = attune-opt %s --attune-attach-target="chip=%{chip}" --attune-set-schedule="%{schedule}" --attn-expand-short-forms --convert-attn-to-tile --canonicalize --cse
// RUN: %{run} | FileCheck %s
//
// Not where others widen, by other types, of queries that are read anew, nor by chips without such units.
// REDEFINE: %{schedule} = block-m=64 block-n=32 num-warps=4 mma-warps=4 producer-warps=8 q-in-registers=0
// RUN: %{run} | FileCheck %s --check-prefix=SIGNED --implicit-check-not="packed_rhs unit_exponents"
// REDEFINE: %{schedule} = block-m=16 block-n=32 num-warps=1
// REDEFINE: %{chip} = gfx1100
// RUN: %{run} | FileCheck %s --check-prefix=SIGNED --implicit-check-not="packed_rhs unit_exponents"
// REDEFINE: %{chip} = sm_80
// REDEFINE: %{schedule} = block-m=16 block-n=32 num-warps=1 q-in-registers=0
// RUN: %{run} | FileCheck %s --check-prefix=VALUES

!q = tensor<1x2x40x64xbf16>
!k = tensor<1x2x70x32xi8>

// Amounts of rows are from 2^14 on for columns of lower bits, and from 2^10 on for those of upper ones.
// CHECK-LABEL: gpu.func @plain_kernel
// CHECK-DAG: %[[LOWER:.+]] = arith.constant 1.638400e+04 : f32
// CHECK-DAG: %[[UPPER:.+]] = arith.constant 1.024000e+03 : f32
// CHECK-DAG: %[[LESS:.+]] = arith.constant -4.76837158E-7 : f32
// CHECK-DAG: %[[LESS_OF_UPPER:.+]] = arith.constant -7.62939453E-6 : f32
// CHECK-DAG: %[[HALF:.+]] = arith.constant 32 : index
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1 : i8
// CHECK: %[[IS_LOWER:.+]] = arith.cmpi ult, %{{.+}}, %[[HALF]]
// CHECK: arith.select %[[IS_LOWER]], %[[LOWER]], %[[UPPER]]
// CHECK: %[[FACTORS:.+]] = tile.map(%{{.+}}) {
// CHECK:   arith.mulf %{{.+}}, %[[UPPER]]
// CHECK: arith.select %{{.+}}, %[[LESS]], %[[LESS_OF_UPPER]]
// CHECK: %[[BIASES:.+]] = tile.reduce add
// CHECK: %[[LOOP:.+]]:3 = scf.for
// CHECK:   %[[START:.+]] = tile.broadcast %[[BIASES]]
// CHECK:   %[[SCORES:.+]] = tile.mma %{{.+}}, %{{.+}}, %[[START]] transpose_rhs packed_rhs unit_exponents [-24, -20]
// CHECK:   %[[ONES:.+]] = tile.fill %[[ONE]] : i8 -> <32x16xi8, registers>
// CHECK:   %[[COUNTS:.+]] = tile.mma %[[WEIGHTS:.+]], %[[ONES]], %{{.+}} :
// CHECK:   tile.mma %[[WEIGHTS]], %{{.+}}, %{{.+}} packed_rhs unit_exponents [-24, -20]
// The sum of a row is that of its weights as well.
// CHECK: %[[COUNT:.+]] = tile.reduce max %[[LOOP]]#
// CHECK-NOT: tile.reduce
// CHECK: tile.broadcast %[[COUNT]]
// CHECK: math.fma
//
// SIGNED-LABEL: gpu.func @plain_kernel
// SIGNED: transpose_rhs packed_rhs
// SIGNED: packed_rhs
// VALUES-LABEL: gpu.func @plain_kernel
// VALUES-NOT: transpose_rhs packed_rhs unit_exponents
// VALUES: packed_rhs unit_exponents
func.func @plain(%q: !q, %k: !k, %v: !k) -> !q {
  %o = attn.attention %q, %k, %v packed(key, value) : !q, !k, !k
  return %o : !q
}

// Weights times the scales of their values are counted beside their sum.
// CHECK-LABEL: gpu.func @rows_kernel
// CHECK: scf.for
// CHECK:   tile.reduce add
// CHECK:   %[[ONES:.+]] = tile.fill %{{.+}} : i8 -> <32x16xi8, registers>
// CHECK:   tile.mma %{{.+}}, %[[ONES]], %{{.+}} :
// CHECK: tile.reduce max
// CHECK: tile.reduce add
func.func @rows(%q: !q, %k: !k, %v: !k, %s: tensor<1x2x70x1xf32>) -> !q {
  %o = attn.attention %q, %k, %v packed(key, value) value_scales(%s : tensor<1x2x70x1xf32>) weights(f16) : !q, !k, !k
  return %o : !q
}
