// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An HSACO is made without any tool of the vendor; its notes say what it takes.
// RUN: rm -rf %t && env PATH= attune-opt %s --attune-attach-target="chip=gfx942" --attune-emit-binary="require-object output-dir=%t" \
// RUN:   | FileCheck %s
// RUN: FileCheck %s --input-file=%t/add.s --check-prefix=ISA
// RUN: FileCheck %s --input-file=%t/add.json --check-prefix=JSON
// RUN: llvm-readobj --file-headers %t/add.hsaco | FileCheck %s --check-prefix=HEADER
// RUN: llvm-readobj --notes %t/add.hsaco | FileCheck %s --check-prefix=NOTES
// RUN: llvm-objdump -d %t/add.hsaco | FileCheck %s --check-prefix=CODE
//
// Waves of 32 lanes on the other family.
// RUN: rm -rf %t.32 && attune-opt %s --attune-attach-target="chip=gfx1100" --attune-emit-binary="output-dir=%t.32" -o /dev/null
// RUN: llvm-readobj --notes %t.32/add.hsaco | FileCheck %s --check-prefix=WAVE32

// CHECK: gpu.binary @vector_add
// CHECK-SAME: kernel = "add", chip = "gfx942", resources = {registers = [[#]] : i64, scalar_registers = [[#]] : i64
// CHECK-SAME: static_shared_bytes = 512 : i64
// CHECK-SAME: #gpu.object<#rocdl.target<O = 3, chip = "gfx942"{{.*}}>, kernels = {{.*}}"add"{{.*}}bin = "\7FELF

// ISA: .amdgcn_target "amdgcn-amd-amdhsa--gfx942"
// ISA: v_add_f32

// JSON-DAG: "assembly": "add.s"
// JSON-DAG: "object": "add.hsaco"
// JSON-DAG: "static_shared_bytes": 512

// HEADER: Type: SharedObject
// HEADER: Machine: EM_AMDGPU
// HEADER: EF_AMDGPU_MACH_AMDGCN_GFX942

// NOTES: .group_segment_fixed_size: 512
// NOTES: .name: {{ *}}add
// NOTES: .wavefront_size: 64

// CODE: v_add_f32
// CODE: s_endpgm

// WAVE32: .wavefront_size: 32

gpu.module @vector_add {
  llvm.mlir.global internal @scratch() {addr_space = 3 : i32} : !llvm.array<128 x f32>
  llvm.func @add(%lhs: !llvm.ptr<1>, %rhs: !llvm.ptr<1>, %sum: !llvm.ptr<1>) attributes {gpu.kernel, rocdl.kernel} {
    %index = rocdl.workitem.id.x : i32
    %scratch = llvm.mlir.addressof @scratch : !llvm.ptr<3>
    %lhs_at = llvm.getelementptr %lhs[%index] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %rhs_at = llvm.getelementptr %rhs[%index] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %sum_at = llvm.getelementptr %sum[%index] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %scratch_at = llvm.getelementptr %scratch[%index] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    %a = llvm.load %lhs_at : !llvm.ptr<1> -> f32
    llvm.store volatile %a, %scratch_at : f32, !llvm.ptr<3>
    %a_again = llvm.load volatile %scratch_at : !llvm.ptr<3> -> f32
    %b = llvm.load %rhs_at : !llvm.ptr<1> -> f32
    %c = llvm.fadd %a_again, %b : f32
    llvm.store %c, %sum_at : f32, !llvm.ptr<1>
    llvm.return
  }
}
