// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Instructions that gfx950 has beside those of gfx942, with known answers.
//
// RUN: attune-opt %s --attune-attach-target="chip=gfx950" --gpu-to-llvm-pipeline -o %t.mlir
// RUN: attune-run %t.mlir --device=host --print --function=swap | FileCheck %s --check-prefix=SWAP
// RUN: attune-run %t.mlir --device=host --print --function=mfma32 | FileCheck %s --check-prefix=MFMA32

module attributes {gpu.container_module} {

gpu.module @cdna {
  // Lane numbers, and 100 more: the upper half of the first register changes places with the lower half of the second.
  // And odd rows of 16 lanes with even ones.
  gpu.func @swap(%out: memref<4x64xi32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %hundred = arith.constant 100 : i32
    %tid = gpu.thread_id x
    %lane = arith.index_cast %tid : index to i32
    %more = arith.addi %lane, %hundred : i32
    %both = rocdl.permlane32.swap %lane, %more, 0, 0 : (i32, i32) -> !llvm.struct<(i32, i32)>
    %first = llvm.extractvalue %both[0] : !llvm.struct<(i32, i32)>
    %second = llvm.extractvalue %both[1] : !llvm.struct<(i32, i32)>
    memref.store %first, %out[%c0, %tid] : memref<4x64xi32>
    memref.store %second, %out[%c1, %tid] : memref<4x64xi32>
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %rows = rocdl.permlane16.swap %lane, %more, 0, 0 : (i32, i32) -> !llvm.struct<(i32, i32)>
    %third = llvm.extractvalue %rows[0] : !llvm.struct<(i32, i32)>
    %fourth = llvm.extractvalue %rows[1] : !llvm.struct<(i32, i32)>
    memref.store %third, %out[%c2, %tid] : memref<4x64xi32>
    memref.store %fourth, %out[%c3, %tid] : memref<4x64xi32>
    gpu.return
  }

  // A is 32x16 with rows 16 m + k, B[k][n] = k == n: D is A in columns 0 to 15.
  gpu.func @mfma32(%out: memref<32x32xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %none = arith.constant dense<0.0> : vector<8xf16>
    %zero = arith.constant dense<0.0> : vector<16xf32>
    %lane = gpu.thread_id x
    %line = arith.remui %lane, %c32 : index
    %half = arith.divui %lane, %c32 : index
    %first = arith.muli %half, %c8 : index
    %rows = arith.muli %half, %c4 : index
    %a, %b = scf.for %i = %c0 to %c8 step %c1 iter_args(%x = %none, %y = %none) -> (vector<8xf16>, vector<8xf16>) {
      %k = arith.addi %first, %i : index
      %row = arith.muli %line, %c16 : index
      %at = arith.addi %row, %k : index
      %word = arith.index_cast %at : index to i32
      %value = arith.sitofp %word : i32 to f16
      %same = arith.cmpi eq, %k, %line : index
      %one = arith.uitofp %same : i1 to f16
      %x1 = vector.insert %value, %x[%i] : f16 into vector<8xf16>
      %y1 = vector.insert %one, %y[%i] : f16 into vector<8xf16>
      scf.yield %x1, %y1 : vector<8xf16>, vector<8xf16>
    }
    %d = amdgpu.mfma 32x32x16 %a * %b + %zero blgp = none : vector<8xf16>, vector<8xf16>, vector<16xf32>
    // Register r is row 8 (r / 4) + 4 (lane / 32) + r % 4.
    scf.for %r = %c0 to %c16 step %c1 {
      %group = arith.divui %r, %c4 : index
      %rest = arith.remui %r, %c4 : index
      %row0 = arith.muli %group, %c8 : index
      %row1 = arith.addi %row0, %rows : index
      %row = arith.addi %row1, %rest : index
      %value = vector.extract %d[%r] : f32 from vector<16xf32>
      memref.store %value, %out[%row, %line] : memref<32x32xf32>
    }
    gpu.return
  }
}

// SWAP: result 0: 4x64xi32
// SWAP-NEXT: {{^}}0 1 2 {{.*}} 30 31 100 101 {{.*}} 130 131{{$}}
// SWAP-NEXT: {{^}}32 33 {{.*}} 62 63 132 133 {{.*}} 162 163{{$}}
// SWAP-NEXT: {{^}}0 1 {{.*}} 14 15 100 101 {{.*}} 114 115 32 33 {{.*}} 46 47 132 133 {{.*}} 146 147{{$}}
// SWAP-NEXT: {{^}}16 17 {{.*}} 30 31 116 117 {{.*}} 130 131 48 49 {{.*}} 62 63 148 149 {{.*}} 162 163{{$}}
func.func @swap() -> tensor<4x64xi32> {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %out = memref.alloc() : memref<4x64xi32>
  gpu.launch_func @cdna::@swap blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%out : memref<4x64xi32>)
  %result = bufferization.to_tensor %out restrict : memref<4x64xi32> to tensor<4x64xi32>
  return %result : tensor<4x64xi32>
}

// MFMA32: result 0: 32x32xf32
// MFMA32-NEXT: {{^}}0 1 2 {{.*}} 14 15 0 0 {{[0 ]*$}}

// MFMA32-NEXT: {{^}}16 17 18 {{.*}} 30 31 0 0 {{[0 ]*$}}

// MFMA32: {{^}}496 497 {{.*}} 510 511 0 0 {{[0 ]*$}}
func.func @mfma32() -> tensor<32x32xf32> {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %out = memref.alloc() : memref<32x32xf32>
  gpu.launch_func @cdna::@mfma32 blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%out : memref<32x32xf32>)
  %result = bufferization.to_tensor %out restrict : memref<32x32xf32> to tensor<32x32xf32>
  return %result : tensor<32x32xf32>
}

}
