// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mma.sync.m16n8k32 (PTX ISA, "Matrix Fragments for mma.m16n8k32"): the bits of A[m][k] are 8 (m % 15) + k % 8, and
// B[k][n] = k == n + shift, in the other type, so that D is A from column `shift` on.
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_89" --gpu-to-llvm-pipeline -o %t.mlir
// RUN: attune-run %t.mlir --device=host --print | FileCheck %s

module attributes {gpu.container_module} {

gpu.module @kernels {
  gpu.func @matrix(%out: memref<2x16x8xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c15 = arith.constant 15 : index
    %c16 = arith.constant 16 : index
    %c20 = arith.constant 20 : index
    %one = arith.constant 0x3c : i8
    %zero = arith.constant 0 : i8
    %none = arith.constant 0.0 : f32
    %noneOfA = arith.constant dense<0> : vector<16xi8>
    %noneOfB = arith.constant dense<0> : vector<8xi8>
    %lane = gpu.thread_id x
    %g = arith.divui %lane, %c4 : index
    %t = arith.remui %lane, %c4 : index
    %column = arith.muli %t, %c4 : index
    %bytesOfA = scf.for %i = %c0 to %c16 step %c1 iter_args(%x = %noneOfA) -> vector<16xi8> {
      %register = arith.divui %i, %c4 : index
      %below = arith.remui %register, %c2 : index
      %right = arith.divui %i, %c8 : index
      %rows = arith.muli %below, %c8 : index
      %columns = arith.muli %right, %c16 : index
      %byte = arith.remui %i, %c4 : index
      %m = arith.addi %g, %rows : index
      %k0 = arith.addi %column, %byte : index
      %k = arith.addi %k0, %columns : index
      %row = arith.remui %m, %c15 : index
      %high = arith.muli %row, %c8 : index
      %low = arith.remui %k, %c8 : index
      %code = arith.addi %high, %low : index
      %bits = arith.index_cast %code : index to i8
      %next = vector.insert %bits, %x[%i] : i8 into vector<16xi8>
      scf.yield %next : vector<16xi8>
    }
    %a = vector.bitcast %bytesOfA : vector<16xi8> to vector<4xi32>
    %a0, %a1, %a2, %a3 = vector.to_elements %a : vector<4xi32>
    scf.for %number = %c0 to %c2 step %c1 {
      %shift = arith.muli %number, %c20 : index
      %bytesOfB = scf.for %i = %c0 to %c8 step %c1 iter_args(%x = %noneOfB) -> vector<8xi8> {
        %below = arith.divui %i, %c4 : index
        %rows = arith.muli %below, %c16 : index
        %byte = arith.remui %i, %c4 : index
        %k0 = arith.addi %column, %byte : index
        %k = arith.addi %k0, %rows : index
        %wanted = arith.addi %g, %shift : index
        %is = arith.cmpi eq, %k, %wanted : index
        %bits = arith.select %is, %one, %zero : i8
        %next = vector.insert %bits, %x[%i] : i8 into vector<8xi8>
        scf.yield %next : vector<8xi8>
      }
      %b = vector.bitcast %bytesOfB : vector<8xi8> to vector<2xi32>
      %b0, %b1 = vector.to_elements %b : vector<2xi32>
      %d = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k32.row.col.f32.e4m3.e5m2.f32"(%a0, %a1, %a2, %a3, %b0, %b1, %none, %none, %none, %none)
        : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
      %d0 = llvm.extractvalue %d[0] : !llvm.struct<(f32, f32, f32, f32)>
      %d1 = llvm.extractvalue %d[1] : !llvm.struct<(f32, f32, f32, f32)>
      %d2 = llvm.extractvalue %d[2] : !llvm.struct<(f32, f32, f32, f32)>
      %d3 = llvm.extractvalue %d[3] : !llvm.struct<(f32, f32, f32, f32)>
      %n = arith.muli %t, %c2 : index
      %n1 = arith.addi %n, %c1 : index
      %g8 = arith.addi %g, %c8 : index
      memref.store %d0, %out[%number, %g, %n] : memref<2x16x8xf32>
      memref.store %d1, %out[%number, %g, %n1] : memref<2x16x8xf32>
      memref.store %d2, %out[%number, %g8, %n] : memref<2x16x8xf32>
      memref.store %d3, %out[%number, %g8, %n1] : memref<2x16x8xf32>
    }
    gpu.return
  }
}

// The subnormal numbers of e4m3, and 1 in row 7.
// CHECK: result 0: 2x16x8xf32
// CHECK-NEXT: {{^}}0 0.00195312 0.00390625 0.00585938 0.0078125 0.00976562 0.0117188 0.0136719{{$}}
// CHECK-NEXT: {{^}}0.015625 0.0175781
// CHECK: {{^}}1 1.125 1.25 1.375 1.5 1.625 1.75 1.875{{$}}
// CHECK-NEXT: {{^}}2 2.25 2.5 2.75 3 3.25 3.5 3.75{{$}}
// CHECK: {{^}}128 144 160 176 192 208 224 240{{$}}
// CHECK-NEXT: {{^}}0 0.00195312
// CHECK-NEXT: {{^}}0.0078125 0.00976562 0.0117188 0.0136719 0 0.00195312 0.00390625 0.00585938{{$}}
// CHECK: {{^}}1.5 1.625 1.75 1.875 1 1.125 1.25 1.375{{$}}
// CHECK: {{^}}192 208 224 240 128 144 160 176{{$}}
func.func @launch() -> tensor<2x16x8xf32> {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %out = memref.alloc() : memref<2x16x8xf32>
  gpu.launch_func @kernels::@matrix blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%out : memref<2x16x8xf32>)
  %result = bufferization.to_tensor %out restrict : memref<2x16x8xf32> to tensor<2x16x8xf32>
  return %result : tensor<2x16x8xf32>
}
}
