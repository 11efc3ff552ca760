// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What AMD chips do their own way: votes are seldom for it.
//
// RUN: attune-opt %s --attune-attach-target="chip=gfx942" --gpu-to-llvm-pipeline | FileCheck %s --check-prefixes=CHECK,CDNA
// RUN: attune-opt %s --attune-attach-target="chip=gfx1100" --gpu-to-llvm-pipeline | FileCheck %s --check-prefixes=CHECK,RDNA

module attributes {gpu.container_module} {
gpu.module @kernels {
  // CHECK-LABEL: llvm.func @vote
  // CHECK: %[[LANES:.+]] = rocdl.ballot
  // CHECK: %[[ANY:.+]] = llvm.icmp "ne" %[[LANES]], %{{.+}} : i32
  // CHECK: %[[SELDOM:.+]] = llvm.intr.expect %[[ANY]], %{{.+}} : i1
  // CHECK: llvm.cond_br %[[SELDOM]]
  // Other comparisons tell nothing.
  // CHECK: %[[OTHER:.+]] = llvm.icmp "ne"
  // CHECK: llvm.cond_br %[[OTHER]]
  gpu.func @vote(%own: i1, %count: i32, %out: memref<1xi32>) kernel {
    %c0 = arith.constant 0 : index
    %none = arith.constant 0 : i32
    %lanes = rocdl.ballot %own : i32
    %any = arith.cmpi ne, %lanes, %none : i32
    scf.if %any {
      memref.store %lanes, %out[%c0] : memref<1xi32>
    }
    %some = arith.cmpi ne, %count, %none : i32
    scf.if %some {
      memref.store %count, %out[%c0] : memref<1xi32>
    }
    gpu.return
  }
}
}
