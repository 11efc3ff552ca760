// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Instructions of a wave of 64 lanes with known answers.
//
// RUN: attune-opt %s --attune-attach-target="chip=gfx942" --gpu-to-llvm-pipeline -o %t.mlir
// RUN: attune-run %t.mlir --device=host --print --function=lanes | FileCheck %s --check-prefix=LANES
// RUN: attune-run %t.mlir --device=host --print --function=cut | FileCheck %s --check-prefix=CUT
// RUN: attune-run %t.mlir --device=host --print --function=mfma32 | FileCheck %s --check-prefix=MFMA32
// RUN: attune-run %t.mlir --device=host --print --function=mfma16 | FileCheck %s --check-prefix=MFMA16

module attributes {gpu.container_module} {

gpu.module @cdna {
  gpu.func @lanes(%out: memref<7x64xi32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %tid = gpu.thread_id x
    %lane = arith.index_cast %tid : index to i32
    %none = arith.constant 0 : i32
    %all = arith.constant -1 : i32
    %low = rocdl.mbcnt.lo %all, %none : (i32, i32) -> i32
    %count = rocdl.mbcnt.hi %all, %low : (i32, i32) -> i32
    %four = arith.constant 4 : i32
    %next = arith.constant 1 : i32
    %other = arith.addi %lane, %next : i32
    %address = arith.muli %other, %four : i32
    %value = rocdl.ds_bpermute %address, %lane : (i32, i32) -> i32
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %c6 = arith.constant 6 : index
    %read = rocdl.readlane %lane, %four : (i32, i32) -> i32
    %first = rocdl.readfirstlane %lane : i32
    %low4 = arith.cmpi ult, %tid, %c4 : index
    %ballot = rocdl.ballot %low4 : i64
    %ballot32 = arith.trunci %ballot : i64 to i32
    // quad_perm [1, 0, 3, 2], then row_shr 1 in all rows but the second.
    %quads = rocdl.update.dpp %none, %lane with 177, 15, 15, false : i32
    %row = rocdl.update.dpp %all, %lane with 273, 13, 15, false : i32
    memref.store %read, %out[%c2, %tid] : memref<7x64xi32>
    memref.store %first, %out[%c3, %tid] : memref<7x64xi32>
    memref.store %ballot32, %out[%c4, %tid] : memref<7x64xi32>
    memref.store %quads, %out[%c5, %tid] : memref<7x64xi32>
    memref.store %row, %out[%c6, %tid] : memref<7x64xi32>
    memref.store %count, %out[%c0, %tid] : memref<7x64xi32>
    memref.store %value, %out[%c1, %tid] : memref<7x64xi32>
    gpu.return
  }

  // Numbers of f16 and almost one unit more stay these, subnormal ones and the largest among them. A larger one is cut off to that.
  gpu.func @cut(%out: memref<8xf16>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c6 = arith.constant 6 : index
    %a = arith.constant 0x3F801FFF : f32
    %b = arith.constant 0xC0001FFF : f32
    %first = rocdl.cvt.pkrtz %a, %b : vector<2xf16>
    vector.store %first, %out[%c0] : memref<8xf16>, vector<2xf16>
    %c = arith.constant 0x33FFFFFF : f32
    %d = arith.constant 0x337FFFFF : f32
    %second = rocdl.cvt.pkrtz %c, %d : vector<2xf16>
    vector.store %second, %out[%c2] : memref<8xf16>, vector<2xf16>
    %e = arith.constant 65519.0 : f32
    %f = arith.constant 1.0e10 : f32
    %third = rocdl.cvt.pkrtz %e, %f : vector<2xf16>
    vector.store %third, %out[%c4] : memref<8xf16>, vector<2xf16>
    %g = arith.constant 0.5 : f32
    %h = arith.constant 0.0 : f32
    %fourth = rocdl.cvt.pkrtz %g, %h : vector<2xf16>
    vector.store %fourth, %out[%c6] : memref<8xf16>, vector<2xf16>
    gpu.return
  }

  // A is 32x8 with rows 8 m + k, B[k][n] = k == n: D is A in columns 0 to 7.
  gpu.func @mfma32(%out: memref<32x32xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %none = arith.constant dense<0.0> : vector<4xf16>
    %zero = arith.constant dense<0.0> : vector<16xf32>
    %lane = gpu.thread_id x
    %line = arith.remui %lane, %c32 : index
    %half = arith.divui %lane, %c32 : index
    %first = arith.muli %half, %c4 : index
    %a, %b = scf.for %i = %c0 to %c4 step %c1 iter_args(%x = %none, %y = %none) -> (vector<4xf16>, vector<4xf16>) {
      %k = arith.addi %first, %i : index
      %row = arith.muli %line, %c8 : index
      %at = arith.addi %row, %k : index
      %word = arith.index_cast %at : index to i32
      %value = arith.sitofp %word : i32 to f16
      %same = arith.cmpi eq, %k, %line : index
      %one = arith.uitofp %same : i1 to f16
      %x1 = vector.insert %value, %x[%i] : f16 into vector<4xf16>
      %y1 = vector.insert %one, %y[%i] : f16 into vector<4xf16>
      scf.yield %x1, %y1 : vector<4xf16>, vector<4xf16>
    }
    %d = amdgpu.mfma 32x32x8 %a * %b + %zero blgp = none : vector<4xf16>, vector<4xf16>, vector<16xf32>
    // Register r is row 8 (r / 4) + 4 (lane / 32) + r % 4.
    scf.for %r = %c0 to %c16 step %c1 {
      %group = arith.divui %r, %c4 : index
      %rest = arith.remui %r, %c4 : index
      %row0 = arith.muli %group, %c8 : index
      %row1 = arith.addi %row0, %first : index
      %row = arith.addi %row1, %rest : index
      %value = vector.extract %d[%r] : f32 from vector<16xf32>
      memref.store %value, %out[%row, %line] : memref<32x32xf32>
    }
    gpu.return
  }

  // A is 16x16 with rows m + k / 16, B[k][n] = 1.
  gpu.func @mfma16(%out: memref<16x16xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %ones = arith.constant dense<1.0> : vector<4xbf16>
    %zero = arith.constant dense<0.0> : vector<4xf32>
    %lane = gpu.thread_id x
    %line = arith.remui %lane, %c16 : index
    %quarter = arith.divui %lane, %c16 : index
    %first = arith.muli %quarter, %c4 : index
    %word = arith.index_cast %line : index to i32
    %value = arith.sitofp %word : i32 to bf16
    %a = vector.broadcast %value : bf16 to vector<4xbf16>
    %d = amdgpu.mfma 16x16x16 %a * %ones + %zero blgp = none : vector<4xbf16>, vector<4xbf16>, vector<4xf32>
    scf.for %r = %c0 to %c4 step %c1 {
      %row = arith.addi %first, %r : index
      %sum = vector.extract %d[%r] : f32 from vector<4xf32>
      memref.store %sum, %out[%row, %line] : memref<16x16xf32>
    }
    gpu.return
  }
}

// LANES: result 0: 7x64xi32
// LANES-NEXT: {{^}}0 1 2 3 {{.*}} 62 63{{$}}

// LANES-NEXT: {{^}}1 2 3 4 {{.*}} 63 0{{$}}
// LANES-NEXT: {{^}}4 4 4 {{.*}} 4 4{{$}}
// LANES-NEXT: {{^}}0 0 0 {{.*}} 0 0{{$}}
// LANES-NEXT: {{^}}15 15 15 {{.*}} 15 15{{$}}
// LANES-NEXT: {{^}}1 0 3 2 5 4 {{.*}} 63 62{{$}}
// LANES-NEXT: {{^}}-1 0 1 2 {{.*}} 13 14 -1 -1 {{.*}} -1 -1 -1 32 33 {{.*}} 45 46 -1 48 {{.*}} 61 62{{$}}
func.func @lanes() -> tensor<7x64xi32> {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %out = memref.alloc() : memref<7x64xi32>
  gpu.launch_func @cdna::@lanes blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%out : memref<7x64xi32>)
  %result = bufferization.to_tensor %out restrict : memref<7x64xi32> to tensor<7x64xi32>
  return %result : tensor<7x64xi32>
}

// CUT: result 0: 8xf16
// CUT-NEXT: {{^}}1 -2 5.96{{[0-9]*}}e-08 0 65504 65504 0.5 0{{$}}
func.func @cut() -> tensor<8xf16> {
  %c1 = arith.constant 1 : index
  %out = memref.alloc() : memref<8xf16>
  gpu.launch_func @cdna::@cut blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%out : memref<8xf16>)
  %result = bufferization.to_tensor %out restrict : memref<8xf16> to tensor<8xf16>
  return %result : tensor<8xf16>
}

// MFMA32: result 0: 32x32xf32
// MFMA32-NEXT: {{^}}0 1 2 3 4 5 6 7 0 0 0 {{[0 ]*$}}

// MFMA32-NEXT: {{^}}8 9 10 11 12 13 14 15 0 0 0 {{[0 ]*$}}

// MFMA32: {{^}}248 249 250 251 252 253 254 255 0 0 0 {{[0 ]*$}}
func.func @mfma32() -> tensor<32x32xf32> {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %out = memref.alloc() : memref<32x32xf32>
  gpu.launch_func @cdna::@mfma32 blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%out : memref<32x32xf32>)
  %result = bufferization.to_tensor %out restrict : memref<32x32xf32> to tensor<32x32xf32>
  return %result : tensor<32x32xf32>
}

// MFMA16: result 0: 16x16xf32
// MFMA16-NEXT: {{^}}0 0 0 {{[0 ]*$}}

// MFMA16-NEXT: {{^}}16 16 16 {{[16 ]*$}}

// MFMA16: {{^}}240 240 240 {{[240 ]*$}}
func.func @mfma16() -> tensor<16x16xf32> {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %out = memref.alloc() : memref<16x16xf32>
  gpu.launch_func @cdna::@mfma16 blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%out : memref<16x16xf32>)
  %result = bufferization.to_tensor %out restrict : memref<16x16xf32> to tensor<16x16xf32>
  return %result : tensor<16x16xf32>
}

}
