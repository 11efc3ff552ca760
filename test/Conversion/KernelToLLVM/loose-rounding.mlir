// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is rounded loosely is an addition, and a permutation to bf16 or a
// conversion that cuts off to f16, on AMD chips without an instruction for two,
// and the instruction on all others. Where one instruction adds 64 bits, it adds
// to two numbers.
//
// RUN: attune-opt %s --attune-attach-target="chip=gfx942" --gpu-to-llvm-pipeline | FileCheck %s --check-prefix=PAIRS
// RUN: attune-opt %s --attune-attach-target="chip=gfx90a" --gpu-to-llvm-pipeline | FileCheck %s --check-prefixes=CHECK,BITS
// RUN: attune-opt %s --attune-attach-target="chip=gfx1201" --gpu-to-llvm-pipeline | FileCheck %s --check-prefixes=CHECK,BITS
// RUN: attune-opt %s --attune-attach-target="chip=gfx950" --gpu-to-llvm-pipeline | FileCheck %s --check-prefixes=CHECK,WHOLE
// RUN: attune-opt %s --attune-attach-target="chip=sm_90a" --gpu-to-llvm-pipeline | FileCheck %s --check-prefixes=CHECK,WHOLE

module attributes {gpu.container_module} {
gpu.module @kernels {
  // CHECK-LABEL: llvm.func @round
  // BITS: %[[X:.+]] = llvm.bitcast %{{.+}} : vector<4xf32> to vector<4xi32>
  // BITS: %[[HALF:.+]] = llvm.mlir.constant(dense<32768> : vector<4xi32>)
  // BITS: %[[SUM:.+]] = llvm.add %[[X]], %[[HALF]] : vector<4xi32>
  // BITS: %[[PARTS:.+]] = llvm.bitcast %[[SUM]] : vector<4xi32> to vector<8xi16>
  // BITS: %[[UPPER:.+]] = llvm.shufflevector %[[PARTS]], %[[PARTS]] [1, 3, 5, 7] : vector<8xi16>
  // BITS: llvm.bitcast %[[UPPER]] : vector<4xi16> to vector<4xbf16>
  // WHOLE: llvm.fptrunc {{.*}} : vector<4xf32> to vector<4xbf16>
  // PAIRS-LABEL: llvm.func @round
  // PAIRS: %[[X:.+]] = llvm.bitcast %{{.+}} : vector<4xf32> to vector<2xi64>
  // PAIRS: %[[HALVES:.+]] = llvm.mlir.constant(dense<140737488388096> : vector<2xi64>)
  // PAIRS: %[[SUM:.+]] = llvm.add %[[X]], %[[HALVES]] : vector<2xi64>
  // PAIRS: %[[PARTS:.+]] = llvm.bitcast %[[SUM]] : vector<2xi64> to vector<8xi16>
  // PAIRS: llvm.shufflevector %[[PARTS]], %[[PARTS]] [1, 3, 5, 7] : vector<8xi16>
  // PAIRS: llvm.fptrunc {{.*}} : vector<4xf32> to vector<4xbf16>
  // PAIRS: llvm.mlir.constant(dense<17592186048512> : vector<2xi64>)
  // PAIRS: %[[FLOATS:.+]] = llvm.bitcast %{{.+}} : vector<2xi64> to vector<4xf32>
  // PAIRS-COUNT-2: rocdl.cvt.pkrtz %{{.+}}, %{{.+}} : vector<2xf16>
  // A number without another is an addition of its own, or rounded to even.
  // PAIRS: llvm.mlir.constant(dense<32768> : vector<1xi32>)
  // PAIRS: llvm.fptrunc {{.*}} : vector<1xf32> to vector<1xf16>
  // What is not marked is rounded to even, and NaN stays NaN.
  // CHECK: llvm.fptrunc {{.*}} : vector<4xf32> to vector<4xbf16>
  // BITS: llvm.mlir.constant(dense<4096> : vector<4xi32>)
  // BITS: llvm.bitcast %{{.+}} : vector<4xi32> to vector<4xf32>
  // BITS-COUNT-2: rocdl.cvt.pkrtz %{{.+}}, %{{.+}} : vector<2xf16>
  // WHOLE: llvm.fptrunc {{.*}} : vector<4xf32> to vector<4xf16>
  gpu.func @round(%in: memref<8xf32>, %out: memref<8xbf16>, %halves: memref<4xf16>) kernel {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %x = vector.load %in[%c0] : memref<8xf32>, vector<4xf32>
    %y = vector.load %in[%c4] : memref<8xf32>, vector<4xf32>
    %loose = arith.truncf %x {tile.loose_rounding} : vector<4xf32> to vector<4xbf16>
    vector.store %loose, %out[%c0] : memref<8xbf16>, vector<4xbf16>
    %even = arith.truncf %y : vector<4xf32> to vector<4xbf16>
    vector.store %even, %out[%c4] : memref<8xbf16>, vector<4xbf16>
    %half = arith.truncf %x {tile.loose_rounding} : vector<4xf32> to vector<4xf16>
    vector.store %half, %halves[%c0] : memref<4xf16>, vector<4xf16>
    %z = vector.load %in[%c0] : memref<8xf32>, vector<1xf32>
    %one = arith.truncf %z {tile.loose_rounding} : vector<1xf32> to vector<1xbf16>
    vector.store %one, %out[%c0] : memref<8xbf16>, vector<1xbf16>
    %one_half = arith.truncf %z {tile.loose_rounding} : vector<1xf32> to vector<1xf16>
    vector.store %one_half, %halves[%c0] : memref<4xf16>, vector<1xf16>
    gpu.return
  }
}
}
