// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The shell of a kernel and its math, on both vendors.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(attune-attach-target{chip=sm_80},gpu.module(convert-kernel-to-llvm))" \
// RUN:   | FileCheck %s --check-prefixes=CHECK,NVIDIA
// RUN: attune-opt %s --pass-pipeline="builtin.module(attune-attach-target{chip=gfx942},gpu.module(convert-kernel-to-llvm))" \
// RUN:   | FileCheck %s --check-prefixes=CHECK,AMD

gpu.module @kernels {
  // Workgroup memory of run-time size is one external array.
  // CHECK: llvm.mlir.global external @attune_shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  // CHECK-NOT: llvm.mlir.global
  // CHECK-LABEL: llvm.func @shared
  // NVIDIA-SAME: nvvm.kernel
  // NVIDIA-SAME: nvvm.reqntid = array<i32: 64, 1, 1>
  // AMD-SAME:    rocdl.kernel
  // CHECK: llvm.mlir.addressof @attune_shared : !llvm.ptr<3>
  gpu.func @shared(%x: f32, %i: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1024 = arith.constant 1024 : index
    %memory = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %a = memref.view %memory[%c0][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<16xf32, #gpu.address_space<workgroup>>
    %b = memref.view %memory[%c1024][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<16xf32, #gpu.address_space<workgroup>>
    memref.store %x, %a[%i] : memref<16xf32, #gpu.address_space<workgroup>>
    memref.store %x, %b[%i] : memref<16xf32, #gpu.address_space<workgroup>>
    gpu.return
  }

  // Of an index that fits into 32 bits a lane keeps no more, where it would keep
  // 64. What is read from memory may be any.
  // CHECK-LABEL: llvm.func @indices
  // NVIDIA: llvm.mul %{{.+}}, %{{.+}} : i32
  // AMD:    llvm.mul %{{.+}}, %{{.+}} : i64
  // CHECK:  llvm.load
  // CHECK:  llvm.mul %{{.+}}, %{{.+}} : i64
  gpu.func @indices(%out: memref<2048xindex>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c24 = arith.constant 24 : index
    %lane = gpu.thread_id x
    %place = arith.muli %lane, %c24 : index
    %any = memref.load %out[%place] : memref<2048xindex>
    %more = arith.muli %any, %c24 : index
    memref.store %more, %out[%place] : memref<2048xindex>
    gpu.return
  }

  // Exponentials and logarithms of any base are those of base 2.
  // CHECK-LABEL: llvm.func @math
  // CHECK-NOT: llvm.call @
  // NVIDIA-NOT: __nv_
  // AMD-NOT: __ocml
  // CHECK: llvm.return
  gpu.func @math(%x: f32, %out: memref<8xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %exp = math.exp %x : f32
    %log = math.log %exp : f32
    %log10 = math.log10 %log : f32
    %exp2 = math.exp2 %log10 : f32
    %tanh = math.tanh %exp2 : f32
    %erf = math.erf %tanh : f32
    %sin = math.sin %erf : f32
    memref.store %sin, %out[%c0] : memref<8xf32>
    gpu.return
  }

  // A tanh that may be approximate is an instruction where the chip has it, and
  // one that may not is not.
  // CHECK-LABEL: llvm.func @approximate
  // NVIDIA: llvm.intr.tanh(%{{.+}}) {fastmathFlags = #llvm.fastmath<afn>} : (vector<4xf32>) -> vector<4xf32>
  // AMD-NOT: tanh
  // CHECK-LABEL: llvm.func @precise
  // CHECK-NOT: tanh
  // CHECK: llvm.return
  gpu.func @approximate(%x: vector<4xf32>, %out: memref<8xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %tanh = math.tanh %x fastmath<afn> : vector<4xf32>
    vector.store %tanh, %out[%c0] : memref<8xf32>, vector<4xf32>
    gpu.return
  }
  gpu.func @precise(%x: vector<4xf32>, %out: memref<8xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %tanh = math.tanh %x fastmath<contract> : vector<4xf32>
    vector.store %tanh, %out[%c0] : memref<8xf32>, vector<4xf32>
    gpu.return
  }

  // GELU: one exponential and one quotient, with constants that are multiplied
  // together and a half and a two that cancel.
  // CHECK-LABEL: llvm.func @gelu
  // CHECK-DAG: %[[ONE:.+]] = llvm.mlir.constant(1.000000e+00 : f32)
  // CHECK-DAG: %[[FACTOR:.+]] = llvm.mlir.constant(-2.30220819 : f32)
  // CHECK: %[[SCALED:.+]] = llvm.fmul %[[Y:.+]], %[[FACTOR]]
  // CHECK: %[[POWER:.+]] = llvm.{{.*}}exp2{{.*}}(%[[SCALED]])
  // CHECK: %[[SUM:.+]] = llvm.fadd %[[POWER]], %[[ONE]]
  // CHECK: %[[SHARE:.+]] = llvm.fdiv %[[ONE]], %[[SUM]]
  // CHECK: llvm.fmul %[[X:.+]], %[[SHARE]]
  // CHECK-NOT: llvm.fmul
  // CHECK-NOT: llvm.fsub
  // CHECK: llvm.return
  gpu.func @gelu(%x: f32, %y: f32, %out: memref<8xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %scale = arith.constant 0.797884583 : f32
    %half = arith.constant 0.5 : f32
    %one = arith.constant 1.0 : f32
    %scaled = arith.mulf %y, %scale : f32
    %tanh = math.tanh %scaled : f32
    %part = arith.mulf %half, %x : f32
    %sum = arith.addf %one, %tanh : f32
    %gelu = arith.mulf %part, %sum : f32
    memref.store %gelu, %out[%c0] : memref<8xf32>
    gpu.return
  }

  // A tanh that others read as well, that 2 is added to, or that is multiplied by
  // what is no power of two.
  // CHECK-LABEL: llvm.func @no_gelu
  // CHECK: %[[FIRST:.+]] = llvm.fsub
  // CHECK: llvm.fadd %[[FIRST]]
  // CHECK: %[[SECOND:.+]] = llvm.fsub
  // CHECK: llvm.fadd %[[SECOND]]
  // CHECK: llvm.return
  gpu.func @no_gelu(%x: f32, %y: f32, %out: memref<8xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %one = arith.constant 1.0 : f32
    %two = arith.constant 2.0 : f32
    %tanh = math.tanh %x : f32
    %sum = arith.addf %tanh, %one : f32
    memref.store %tanh, %out[%c0] : memref<8xf32>
    memref.store %sum, %out[%c1] : memref<8xf32>
    %other = math.tanh %y : f32
    %more = arith.addf %other, %two : f32
    memref.store %more, %out[%c2] : memref<8xf32>
    gpu.return
  }

  // A vector is computed element by element, f16 included.
  // CHECK-LABEL: llvm.func @vectors
  // CHECK-NOT: llvm.call @
  // CHECK: llvm.return
  gpu.func @vectors(%x: vector<4xf32>, %out: memref<8xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %tanh = math.tanh %x : vector<4xf32>
    %half = arith.truncf %tanh : vector<4xf32> to vector<4xf16>
    %wide = arith.extf %half : vector<4xf16> to vector<4xf32>
    vector.store %wide, %out[%c0] : memref<8xf32>, vector<4xf32>
    gpu.return
  }

  // A buffer is a descriptor: two pointers, an offset, sizes and strides.
  // CHECK-LABEL: llvm.func @descriptor
  // CHECK-SAME:    (%{{[^:]+}}: !llvm.ptr{{[^,]*}}, %{{[^:]+}}: !llvm.ptr{{[^,]*}}, %{{[^:]+}}: i64{{[^,]*}}, %{{[^:]+}}: i64{{[^,]*}}, %{{[^:]+}}: i64{{[^,]*}}, %{{[^:]+}}: i64{{[^,]*}}, %{{[^:]+}}: i64{{[^,]*}}, %{{[^:]+}}: f32
  gpu.func @descriptor(%m: memref<?x?xf32>, %x: f32, %i: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    memref.store %x, %m[%i, %i] : memref<?x?xf32>
    gpu.return
  }
}
