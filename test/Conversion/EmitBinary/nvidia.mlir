// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// REQUIRES: ptxas
// RUN: rm -rf %t && attune-opt %s --attune-attach-target="chip=sm_80" --attune-emit-binary="output-dir=%t" -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: FileCheck %s --input-file=%t/add.ptx --check-prefix=PTX
// RUN: FileCheck %s --input-file=%t/add.json --check-prefix=JSON
// RUN: llvm-readobj --file-headers %t/add.cubin | FileCheck %s --check-prefix=CUBIN
//
// The binary is the same in each run, whatever the clock says.
// RUN: attune-opt %s --attune-attach-target="chip=sm_80" --attune-emit-binary -o %t.again.mlir
// RUN: cmp %t.mlir %t.again.mlir

// CHECK: gpu.binary @vector_add
// CHECK-SAME: launch.manifest = #launch.manifest<arguments = [#launch.buffer<name = "lhs"
// CHECK-SAME: kernel = "add", chip = "sm_80", resources = {registers = {{[0-9]+}} : i64, spill_load_bytes = 0 : i64
// CHECK-SAME: #gpu.object<#nvvm.target<O = 3, chip = "sm_80">, kernels = {{.*}}"add"{{.*}}bin = "\7FELF
// CHECK-NOT: gpu.module

// PTX: .version 7.0
// PTX: .target sm_80
// PTX: .entry add(
// PTX: add.rn.f32

// JSON-DAG: "version": 1
// JSON-DAG: "kernel": "add"
// JSON-DAG: "chip": "sm_80"
// JSON-DAG: "assembly": "add.ptx"
// JSON-DAG: "object": "add.cubin"
// JSON-DAG: "per": 128
// JSON-DAG: "registers": {{[0-9]+}}

// CUBIN: Machine: EM_CUDA

gpu.module @vector_add {
  llvm.func @add(%lhs: !llvm.ptr<1>, %rhs: !llvm.ptr<1>, %sum: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel,
      launch.manifest = #launch.manifest<arguments = [#launch.buffer<name = "lhs", type = memref<?xf32>, access = read>,
                                                      #launch.buffer<name = "rhs", type = memref<?xf32>, access = read>,
                                                      #launch.buffer<name = "sum", type = memref<?xf32>, access = write>],
                                         grid = <dim(0, 0) ceildiv 128>, block = [128, 1, 1]>} {
    %thread = nvvm.read.ptx.sreg.tid.x : i32
    %block = nvvm.read.ptx.sreg.ctaid.x : i32
    %width = nvvm.read.ptx.sreg.ntid.x : i32
    %start = llvm.mul %block, %width : i32
    %index = llvm.add %start, %thread : i32
    %lhs_at = llvm.getelementptr %lhs[%index] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %rhs_at = llvm.getelementptr %rhs[%index] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %sum_at = llvm.getelementptr %sum[%index] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %a = llvm.load %lhs_at : !llvm.ptr<1> -> f32
    %b = llvm.load %rhs_at : !llvm.ptr<1> -> f32
    %c = llvm.fadd %a, %b : f32
    llvm.store %c, %sum_at : f32, !llvm.ptr<1>
    llvm.return
  }
}
