// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Instructions of a warp of 32 lanes with known answers.
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_80" --gpu-to-llvm-pipeline -o %t.mlir
// RUN: attune-run %t.mlir --device=host --print --function=shuffle | FileCheck %s --check-prefix=SHUFFLE
// RUN: attune-run %t.mlir --device=host --print --function=matrix | FileCheck %s --check-prefix=MATRIX
// RUN: attune-run %t.mlir --device=host --print --function=store_matrix | FileCheck %s --check-prefix=STORE
// RUN: attune-run %t.mlir --device=host --print --function=permute | FileCheck %s --check-prefix=PERMUTE
// RUN: attune-run %t.mlir --device=host --print --function=votes | FileCheck %s --check-prefix=VOTES
// RUN: attune-run %t.mlir --device=host --print --function=arrive | FileCheck %s --check-prefix=ARRIVE
// RUN: attune-run %t.mlir --device=host --print --function=arrive --host-seed=5 | FileCheck %s --check-prefix=ARRIVE
// RUN: attune-run %t.mlir --device=host --print --function=copy | FileCheck %s --check-prefix=COPY
// RUN: attune-run %t.mlir --device=host --print --function=copy --host-seed=7 | FileCheck %s --check-prefix=COPY
// RUN: attune-run %t.mlir --device=host --print --function=products | FileCheck %s --check-prefix=PRODUCTS

module attributes {gpu.container_module} {

gpu.module @kernels {
  // Lane l holds l. Sources out of range give the lane's own value.
  gpu.func @shuffle(%out: memref<4x32xi32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %tid = gpu.thread_id x
    %lane = arith.index_cast %tid : index to i32
    %all = arith.constant -1 : i32
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %none = arith.constant 0 : i32
    %whole = arith.constant 31 : i32
    // Segments of 8 lanes.
    %eight = arith.constant 0x181f : i32
    %xor = nvvm.shfl.sync bfly %all, %lane, %one, %whole : i32 -> i32
    %up = nvvm.shfl.sync up %all, %lane, %two, %none : i32 -> i32
    %down = nvvm.shfl.sync down %all, %lane, %two, %whole : i32 -> i32
    %index = nvvm.shfl.sync idx %all, %lane, %two, %eight : i32 -> i32
    memref.store %xor, %out[%c0, %tid] : memref<4x32xi32>
    memref.store %up, %out[%c1, %tid] : memref<4x32xi32>
    memref.store %down, %out[%c2, %tid] : memref<4x32xi32>
    memref.store %index, %out[%c3, %tid] : memref<4x32xi32>
    gpu.return
  }

  // Both halves of products of the lanes, as scalars and in a vector.
  gpu.func @products(%out: memref<4x32xi32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %tid = gpu.thread_id x
    %lane = arith.index_cast %tid : index to i32
    %factor = arith.constant 0xD2511F53 : i32
    %low, %high = arith.mului_extended %lane, %factor : i32
    %both = vector.from_elements %factor, %high : vector<2xi32>
    %lanes = vector.broadcast %lane : i32 to vector<2xi32>
    %lows, %highs = arith.mului_extended %lanes, %both : vector<2xi32>
    %first = vector.extract %highs[0] : i32 from vector<2xi32>
    %second = vector.extract %lows[1] : i32 from vector<2xi32>
    memref.store %low, %out[%c0, %tid] : memref<4x32xi32>
    memref.store %high, %out[%c1, %tid] : memref<4x32xi32>
    memref.store %first, %out[%c2, %tid] : memref<4x32xi32>
    memref.store %second, %out[%c3, %tid] : memref<4x32xi32>
    gpu.return
  }

  // C = A B with B[k][n] = k == n, so that C is the left half of A = 16 m + k.
  // ldmatrix brings A from shared memory, where rows are stored one after another.
  gpu.func @matrix(%out: memref<16x8xf32>) workgroup(%shared: memref<16x16xf16, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %zero = arith.constant 0.0 : f32
    %lane = gpu.thread_id x
    scf.for %i = %c0 to %c8 step %c1 {
      %base = arith.muli %lane, %c8 : index
      %at = arith.addi %base, %i : index
      %row = arith.divui %at, %c16 : index
      %column = arith.remui %at, %c16 : index
      %word = arith.index_cast %at : index to i32
      %value = arith.sitofp %word : i32 to f16
      memref.store %value, %shared[%row, %column] : memref<16x16xf16, #gpu.address_space<workgroup>>
    }
    gpu.barrier
    %row = arith.remui %lane, %c16 : index
    %high = arith.divui %lane, %c16 : index
    %column = arith.muli %high, %c8 : index
    %a = nvgpu.ldmatrix %shared[%row, %column] {numTiles = 4 : i32, transpose = false}
      : memref<16x16xf16, #gpu.address_space<workgroup>> -> vector<4x2xf16>
    // Lane l holds rows 2 (l % 4) and the next one, and those 8 below, of column l / 4.
    %n = arith.divui %lane, %c4 : index
    %t = arith.remui %lane, %c4 : index
    %k0 = arith.muli %t, %c2 : index
    %k1 = arith.addi %k0, %c1 : index
    %is0 = arith.cmpi eq, %k0, %n : index
    %is1 = arith.cmpi eq, %k1, %n : index
    %b0 = arith.uitofp %is0 : i1 to f16
    %b1 = arith.uitofp %is1 : i1 to f16
    %none = arith.constant dense<0.0> : vector<2x2xf16>
    %b_0 = vector.insert %b0, %none[0, 0] : f16 into vector<2x2xf16>
    %b = vector.insert %b1, %b_0[0, 1] : f16 into vector<2x2xf16>
    %c = arith.constant dense<0.0> : vector<2x2xf32>
    %d = nvgpu.mma.sync (%a, %b, %c) {mmaShape = [16, 8, 16]}
      : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
    %n8 = arith.addi %n, %c8 : index
    %top = vector.extract %d[0] : vector<2xf32> from vector<2x2xf32>
    %bottom = vector.extract %d[1] : vector<2xf32> from vector<2x2xf32>
    vector.store %top, %out[%n, %k0] : memref<16x8xf32>, vector<2xf32>
    vector.store %bottom, %out[%n8, %k0] : memref<16x8xf32>, vector<2xf32>
    gpu.return
  }

  // Each lane copies 8 bytes, of which lane l < 2 reads 4: the rest is 0.
  gpu.func @copy(%in: memref<8xf32>, %out: memref<8xf32>)
      workgroup(%shared: memref<8xf32, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 4, 1, 1>} {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %lane = gpu.thread_id x
    %at = arith.muli %lane, %c2 : index
    %short = arith.cmpi ult, %lane, %c2 : index
    %elements = arith.select %short, %c1, %c2 : index
    %token = nvgpu.device_async_copy %in[%at], %shared[%at], 2, %elements
      : memref<8xf32> to memref<8xf32, #gpu.address_space<workgroup>>
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 0
    gpu.barrier
    %value = vector.load %shared[%at] : memref<8xf32, #gpu.address_space<workgroup>>, vector<2xf32>
    vector.store %value, %out[%at] : memref<8xf32>, vector<2xf32>
    gpu.return
  }
}

gpu.module @more_kernels {
  // Lane l holds elements 2 l and 2 l + 1 of an 8x8 matrix, and of another one
  // whose transpose is stored.
  gpu.func @store_matrix(%out: memref<16x8xi16>) workgroup(%s: memref<16x8xi16, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c2 = arith.constant 2 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c128 = arith.constant 128 : index
    %lane = gpu.thread_id x
    %even = arith.muli %lane, %c2 : index
    %word = arith.index_cast %even : index to i32
    %factor = arith.constant 0x10001 : i32
    %odd = arith.constant 0x10000 : i32
    %both = arith.muli %word, %factor : i32
    %elements = arith.addi %both, %odd : i32
    %base = memref.extract_aligned_pointer_as_index %s : memref<16x8xi16, #gpu.address_space<workgroup>> -> index
    %row = arith.remui %lane, %c8 : index
    %offset = arith.muli %row, %c16 : index
    %address = arith.addi %base, %offset : index
    %word64 = arith.index_cast %address : index to i64
    %pointer = llvm.inttoptr %word64 : i64 to !llvm.ptr<3>
    nvvm.stmatrix %pointer, %elements {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<row>,
      shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>} : !llvm.ptr<3>, i32
    %other = arith.addi %address, %c128 : index
    %other64 = arith.index_cast %other : index to i64
    %second = llvm.inttoptr %other64 : i64 to !llvm.ptr<3>
    nvvm.stmatrix %second, %elements {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<col>,
      shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>} : !llvm.ptr<3>, i32
    gpu.barrier
    %line = arith.divui %lane, %c2 : index
    %half = arith.remui %lane, %c2 : index
    %c4 = arith.constant 4 : index
    %column = arith.muli %half, %c4 : index
    %values = vector.load %s[%line, %column] : memref<16x8xi16, #gpu.address_space<workgroup>>, vector<4xi16>
    vector.store %values, %out[%line, %column] : memref<16x8xi16>, vector<4xi16>
    gpu.return
  }

  // Bytes of two words, and the sign of one of them.
  gpu.func @permute(%out: memref<3xi32>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %low = arith.constant 0x03020100 : i32
    %high = arith.constant 0x87060504 : i32
    %even = arith.constant 0x6420 : i32
    %last = arith.constant 0x0077 : i32
    %signs = arith.constant 0x80f7 : i32
    %0 = nvvm.prmt <default> %even, %low, %high : i32
    %1 = nvvm.prmt <default> %last, %low, %high : i32
    %2 = nvvm.prmt <default> %signs, %low, %high : i32
    memref.store %0, %out[%c0] : memref<3xi32>
    memref.store %1, %out[%c1] : memref<3xi32>
    memref.store %2, %out[%c2] : memref<3xi32>
    gpu.return
  }

  // Lanes 0 to 3 say yes; all lanes' numbers have these bits.
  gpu.func @votes(%out: memref<6x32xi32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %tid = gpu.thread_id x
    %all = arith.constant -1 : i32
    %yes = arith.cmpi ult, %tid, %c4 : index
    %ballot = nvvm.vote.sync ballot %all, %yes -> i32
    %any = nvvm.vote.sync any %all, %yes -> i1
    %every = nvvm.vote.sync all %all, %yes -> i1
    %same = nvvm.vote.sync uni %all, %yes -> i1
    %elected = nvvm.elect.sync -> i1
    %any32 = arith.extui %any : i1 to i32
    %every32 = arith.extui %every : i1 to i32
    %same32 = arith.extui %same : i1 to i32
    %elected32 = arith.extui %elected : i1 to i32
    memref.store %ballot, %out[%c0, %tid] : memref<6x32xi32>
    memref.store %any32, %out[%c1, %tid] : memref<6x32xi32>
    memref.store %every32, %out[%c2, %tid] : memref<6x32xi32>
    memref.store %same32, %out[%c3, %tid] : memref<6x32xi32>
    memref.store %elected32, %out[%c4, %tid] : memref<6x32xi32>
    %c5 = arith.constant 5 : index
    %lane = arith.index_cast %tid : index to i32
    %bits = nvvm.redux.sync or %lane, %all : i32 -> i32
    memref.store %bits, %out[%c5, %tid] : memref<6x32xi32>
    gpu.return
  }

  // The first warp only says that it has written; the second one waits for it.
  gpu.func @arrive(%out: memref<32xi32>) workgroup(%s: memref<32xi32, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c32 = arith.constant 32 : index
    %tid = gpu.thread_id x
    %id = arith.constant 1 : i32
    %count = arith.constant 64 : i32
    %first = arith.cmpi ult, %tid, %c32 : index
    scf.if %first {
      %word = arith.index_cast %tid : index to i32
      memref.store %word, %s[%tid] : memref<32xi32, #gpu.address_space<workgroup>>
      nvvm.barrier.arrive id = %id number_of_threads = %count
    } else {
      nvvm.barrier id = %id number_of_threads = %count
      %at = arith.subi %tid, %c32 : index
      %word = memref.load %s[%at] : memref<32xi32, #gpu.address_space<workgroup>>
      memref.store %word, %out[%at] : memref<32xi32>
    }
    gpu.return
  }
}

// PRODUCTS: result 0: 4x32xi32
// PRODUCTS-NEXT: {{^}}0 -7.66436e+08 -1.53287e+09 1.99566e+09 {{.*}}
// PRODUCTS-NEXT: {{^}}0 0 1 2 3 4 4 5 6 7 8 9 9 10 11 12 13 13 14 15 16 17 18 18 19 20 21 22 23 23 24 25{{$}}
// PRODUCTS-NEXT: {{^}}0 0 1 2 3 4 4 5 6 7 8 9 9 10 11 12 13 13 14 15 16 17 18 18 19 20 21 22 23 23 24 25{{$}}
// PRODUCTS-NEXT: {{^}}0 0 2 6 12 20 24 35 48 63 80 99 108 130 154 180 208 221 252 285 320 357 396 414 456 500 546 594 644 667 720 775{{$}}
func.func @products() -> tensor<4x32xi32> {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %out = memref.alloc() : memref<4x32xi32>
  gpu.launch_func @kernels::@products blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
    args(%out : memref<4x32xi32>)
  %result = bufferization.to_tensor %out restrict : memref<4x32xi32> to tensor<4x32xi32>
  return %result : tensor<4x32xi32>
}

// SHUFFLE: result 0: 4x32xi32
// SHUFFLE-NEXT: {{^}}1 0 3 2 5 4 {{.*}} 29 28 31 30{{$}}
// SHUFFLE-NEXT: {{^}}0 1 0 1 2 3 {{.*}} 26 27 28 29{{$}}
// SHUFFLE-NEXT: {{^}}2 3 4 5 6 7 {{.*}} 30 31 30 31{{$}}
// SHUFFLE-NEXT: {{^}}2 2 2 2 2 2 2 2 10 10 {{.*}} 18 26 26 26 26 26 26 26 26{{$}}
func.func @shuffle() -> tensor<4x32xi32> {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %out = memref.alloc() : memref<4x32xi32>
  gpu.launch_func @kernels::@shuffle blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
    args(%out : memref<4x32xi32>)
  %result = bufferization.to_tensor %out restrict : memref<4x32xi32> to tensor<4x32xi32>
  return %result : tensor<4x32xi32>
}

// 0x06040200, 0x00008787 and 0x0000ff87.
// PERMUTE: result 0: 3xi32
// PERMUTE-NEXT: {{^}}1.00926e+08 34695 65415{{$}}
func.func @permute() -> tensor<3xi32> {
  %c1 = arith.constant 1 : index
  %out = memref.alloc() : memref<3xi32>
  gpu.launch_func @more_kernels::@permute blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%out : memref<3xi32>)
  %result = bufferization.to_tensor %out restrict : memref<3xi32> to tensor<3xi32>
  return %result : tensor<3xi32>
}

// MATRIX: result 0: 16x8xf32
// MATRIX-NEXT: {{^}}0 1 2 3 4 5 6 7{{$}}
// MATRIX-NEXT: {{^}}16 17 18 19 20 21 22 23{{$}}
// MATRIX: {{^}}240 241 242 243 244 245 246 247{{$}}
func.func @matrix() -> tensor<16x8xf32> {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %out = memref.alloc() : memref<16x8xf32>
  gpu.launch_func @kernels::@matrix blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
    args(%out : memref<16x8xf32>)
  %result = bufferization.to_tensor %out restrict : memref<16x8xf32> to tensor<16x8xf32>
  return %result : tensor<16x8xf32>
}

// COPY: result 0: 8xf32
// COPY-NEXT: {{^}}1 0 3 0 5 6 7 8{{$}}
func.func @copy() -> tensor<8xf32> {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %values = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>
  %in = bufferization.to_buffer %values : tensor<8xf32> to memref<8xf32>
  %out = memref.alloc() : memref<8xf32>
  gpu.launch_func @kernels::@copy blocks in (%c1, %c1, %c1) threads in (%c4, %c1, %c1)
    args(%in : memref<8xf32>, %out : memref<8xf32>)
  %result = bufferization.to_tensor %out restrict : memref<8xf32> to tensor<8xf32>
  return %result : tensor<8xf32>
}

// STORE: result 0: 16x8xi16
// STORE-NEXT: {{^}}0 1 2 3 4 5 6 7{{$}}
// STORE-NEXT: {{^}}8 9 10 11 12 13 14 15{{$}}
// STORE: {{^}}56 57 58 59 60 61 62 63{{$}}
// STORE-NEXT: {{^}}0 8 16 24 32 40 48 56{{$}}
// STORE-NEXT: {{^}}1 9 17 25 33 41 49 57{{$}}
func.func @store_matrix() -> tensor<16x8xi16> {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %out = memref.alloc() : memref<16x8xi16>
  gpu.launch_func @more_kernels::@store_matrix blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
    args(%out : memref<16x8xi16>)
  %result = bufferization.to_tensor %out restrict : memref<16x8xi16> to tensor<16x8xi16>
  return %result : tensor<16x8xi16>
}

// VOTES: result 0: 6x32xi32
// VOTES-NEXT: {{^}}15 15 15 {{.*}} 15 15{{$}}
// VOTES-NEXT: {{^}}1 1 1 {{.*}} 1 1{{$}}
// VOTES-NEXT: {{^}}0 0 0 {{.*}} 0 0{{$}}
// VOTES-NEXT: {{^}}0 0 0 {{.*}} 0 0{{$}}
// VOTES-NEXT: {{^}}1 0 0 {{.*}} 0 0{{$}}
// VOTES-NEXT: {{^}}31 31 31 {{.*}} 31 31{{$}}
func.func @votes() -> tensor<6x32xi32> {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %out = memref.alloc() : memref<6x32xi32>
  gpu.launch_func @more_kernels::@votes blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
    args(%out : memref<6x32xi32>)
  %result = bufferization.to_tensor %out restrict : memref<6x32xi32> to tensor<6x32xi32>
  return %result : tensor<6x32xi32>
}

// ARRIVE: result 0: 32xi32
// ARRIVE-NEXT: {{^}}0 1 2 3 {{.*}} 30 31{{$}}
func.func @arrive() -> tensor<32xi32> {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %out = memref.alloc() : memref<32xi32>
  gpu.launch_func @more_kernels::@arrive blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1)
    args(%out : memref<32xi32>)
  %result = bufferization.to_tensor %out restrict : memref<32xi32> to tensor<32xi32>
  return %result : tensor<32xi32>
}

}
