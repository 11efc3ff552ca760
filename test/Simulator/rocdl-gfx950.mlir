// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Instructions that gfx950 has beside those of gfx942, with known answers.
//
// RUN: attune-opt %s --attune-attach-target="chip=gfx950" --gpu-to-llvm-pipeline -o %t.mlir
// RUN: attune-run %t.mlir --device=host --print --function=swap | FileCheck %s --check-prefix=SWAP
// RUN: attune-run %t.mlir --device=host --print --function=mfma32 | FileCheck %s --check-prefix=MFMA32
// RUN: attune-run %t.mlir --device=host --print --function=transposed | FileCheck %s --check-prefix=TRANSPOSED
// RUN: attune-run %t.mlir --device=host --print --function=copied | FileCheck %s --check-prefix=COPIED
// RUN: not attune-run %t.mlir --device=host --print --function=not_waited_for 2>&1 | FileCheck %s --check-prefix=WAIT

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

  // Lanes write their own four numbers, 4 l to 4 l + 3, and read them as columns.
  gpu.func @transposed(%out: memref<64x4xi16>)
      workgroup(%shared: memref<256xi16, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %lane = gpu.thread_id x
    %first = arith.muli %lane, %c4 : index
    scf.for %i = %c0 to %c4 step %c1 {
      %at = arith.addi %first, %i : index
      %value = arith.index_cast %at : index to i16
      memref.store %value, %shared[%at] : memref<256xi16, #gpu.address_space<workgroup>>
    }
    gpu.barrier
    %columns = amdgpu.transpose_load %shared[%first] : memref<256xi16, #gpu.address_space<workgroup>> -> vector<4xi16>
    vector.store %columns, %out[%lane, %c0] : memref<64x4xi16>, vector<4xi16>
    gpu.return
  }

  // Lane l copies row 63 - l, but rows from 60 on are not there.
  gpu.func @copied(%in: memref<64x4xi32>, %out: memref<64x4xi32>)
      workgroup(%shared: memref<256xi32, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %last = arith.constant 63 : index
    %lane = gpu.thread_id x
    %row = arith.subi %last, %lane : index
    %some = memref.subview %in[0, 0] [60, 4] [1, 1] : memref<64x4xi32> to memref<60x4xi32, strided<[4, 1]>>
    amdgpu.gather_to_lds %some[%row, %c0], %shared[%c0] : vector<4xi32>, memref<60x4xi32, strided<[4, 1]>>, memref<256xi32, #gpu.address_space<workgroup>>
    amdgpu.memory_counter_wait load(0)
    %first = arith.muli %lane, %c4 : index
    %piece = vector.load %shared[%first] : memref<256xi32, #gpu.address_space<workgroup>>, vector<4xi32>
    vector.store %piece, %out[%lane, %c0] : memref<64x4xi32>, vector<4xi32>
    gpu.return
  }

  gpu.func @not_waited_for(%in: memref<64x4xi32>, %out: memref<64x4xi32>)
      workgroup(%shared: memref<256xi32, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %lane = gpu.thread_id x
    amdgpu.gather_to_lds %in[%lane, %c0], %shared[%c0] : vector<4xi32>, memref<64x4xi32>, memref<256xi32, #gpu.address_space<workgroup>>
    amdgpu.memory_counter_wait load(1)
    %first = arith.muli %lane, %c4 : index
    %piece = vector.load %shared[%first] : memref<256xi32, #gpu.address_space<workgroup>>, vector<4xi32>
    vector.store %piece, %out[%lane, %c0] : memref<64x4xi32>, vector<4xi32>
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

// TRANSPOSED: result 0: 64x4xi16
// TRANSPOSED-NEXT: {{^}}0 16 32 48{{$}}
// TRANSPOSED-NEXT: {{^}}1 17 33 49{{$}}
// TRANSPOSED: {{^}}15 31 47 63{{$}}
// TRANSPOSED-NEXT: {{^}}64 80 96 112{{$}}
// TRANSPOSED: {{^}}207 223 239 255{{$}}
func.func @transposed() -> tensor<64x4xi16> {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %out = memref.alloc() : memref<64x4xi16>
  gpu.launch_func @cdna::@transposed blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%out : memref<64x4xi16>)
  %result = bufferization.to_tensor %out restrict : memref<64x4xi16> to tensor<64x4xi16>
  return %result : tensor<64x4xi16>
}

// COPIED: result 0: 64x4xi32
// COPIED-NEXT: {{^}}0 0 0 0{{$}}
// COPIED-NEXT: {{^}}0 0 0 0{{$}}
// COPIED-NEXT: {{^}}0 0 0 0{{$}}
// COPIED-NEXT: {{^}}0 0 0 0{{$}}
// COPIED-NEXT: {{^}}236 237 238 239{{$}}
// COPIED: {{^}}0 1 2 3{{$}}
func.func @copied() -> tensor<64x4xi32> {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %values = arith.constant dense<[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14, 15], [16, 17, 18, 19], [20, 21, 22, 23], [24, 25, 26, 27], [28, 29, 30, 31], [32, 33, 34, 35], [36, 37, 38, 39], [40, 41, 42, 43], [44, 45, 46, 47], [48, 49, 50, 51], [52, 53, 54, 55], [56, 57, 58, 59], [60, 61, 62, 63], [64, 65, 66, 67], [68, 69, 70, 71], [72, 73, 74, 75], [76, 77, 78, 79], [80, 81, 82, 83], [84, 85, 86, 87], [88, 89, 90, 91], [92, 93, 94, 95], [96, 97, 98, 99], [100, 101, 102, 103], [104, 105, 106, 107], [108, 109, 110, 111], [112, 113, 114, 115], [116, 117, 118, 119], [120, 121, 122, 123], [124, 125, 126, 127], [128, 129, 130, 131], [132, 133, 134, 135], [136, 137, 138, 139], [140, 141, 142, 143], [144, 145, 146, 147], [148, 149, 150, 151], [152, 153, 154, 155], [156, 157, 158, 159], [160, 161, 162, 163], [164, 165, 166, 167], [168, 169, 170, 171], [172, 173, 174, 175], [176, 177, 178, 179], [180, 181, 182, 183], [184, 185, 186, 187], [188, 189, 190, 191], [192, 193, 194, 195], [196, 197, 198, 199], [200, 201, 202, 203], [204, 205, 206, 207], [208, 209, 210, 211], [212, 213, 214, 215], [216, 217, 218, 219], [220, 221, 222, 223], [224, 225, 226, 227], [228, 229, 230, 231], [232, 233, 234, 235], [236, 237, 238, 239], [240, 241, 242, 243], [244, 245, 246, 247], [248, 249, 250, 251], [252, 253, 254, 255]]> : tensor<64x4xi32>
  %in = bufferization.to_buffer %values : tensor<64x4xi32> to memref<64x4xi32>
  %out = memref.alloc() : memref<64x4xi32>
  gpu.launch_func @cdna::@copied blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%in : memref<64x4xi32>, %out : memref<64x4xi32>)
  %result = bufferization.to_tensor %out restrict : memref<64x4xi32> to tensor<64x4xi32>
  return %result : tensor<64x4xi32>
}

// WAIT: error: 'llvm.load' op reads what an asynchronous copy of this thread that was not waited for writes
func.func @not_waited_for() -> tensor<64x4xi32> {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %values = arith.constant dense<[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14, 15], [16, 17, 18, 19], [20, 21, 22, 23], [24, 25, 26, 27], [28, 29, 30, 31], [32, 33, 34, 35], [36, 37, 38, 39], [40, 41, 42, 43], [44, 45, 46, 47], [48, 49, 50, 51], [52, 53, 54, 55], [56, 57, 58, 59], [60, 61, 62, 63], [64, 65, 66, 67], [68, 69, 70, 71], [72, 73, 74, 75], [76, 77, 78, 79], [80, 81, 82, 83], [84, 85, 86, 87], [88, 89, 90, 91], [92, 93, 94, 95], [96, 97, 98, 99], [100, 101, 102, 103], [104, 105, 106, 107], [108, 109, 110, 111], [112, 113, 114, 115], [116, 117, 118, 119], [120, 121, 122, 123], [124, 125, 126, 127], [128, 129, 130, 131], [132, 133, 134, 135], [136, 137, 138, 139], [140, 141, 142, 143], [144, 145, 146, 147], [148, 149, 150, 151], [152, 153, 154, 155], [156, 157, 158, 159], [160, 161, 162, 163], [164, 165, 166, 167], [168, 169, 170, 171], [172, 173, 174, 175], [176, 177, 178, 179], [180, 181, 182, 183], [184, 185, 186, 187], [188, 189, 190, 191], [192, 193, 194, 195], [196, 197, 198, 199], [200, 201, 202, 203], [204, 205, 206, 207], [208, 209, 210, 211], [212, 213, 214, 215], [216, 217, 218, 219], [220, 221, 222, 223], [224, 225, 226, 227], [228, 229, 230, 231], [232, 233, 234, 235], [236, 237, 238, 239], [240, 241, 242, 243], [244, 245, 246, 247], [248, 249, 250, 251], [252, 253, 254, 255]]> : tensor<64x4xi32>
  %in = bufferization.to_buffer %values : tensor<64x4xi32> to memref<64x4xi32>
  %out = memref.alloc() : memref<64x4xi32>
  gpu.launch_func @cdna::@not_waited_for blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%in : memref<64x4xi32>, %out : memref<64x4xi32>)
  %result = bufferization.to_tensor %out restrict : memref<64x4xi32> to tensor<64x4xi32>
  return %result : tensor<64x4xi32>
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
