// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of 16 exponentials some by multiplies and adds: which, by what, and how exact.
//
// RUN: split-file %s %t
// RUN: attune-opt %t/shares.mlir --pass-pipeline="builtin.module(attune-attach-target{chip=sm_90a},gpu.module(convert-kernel-to-llvm))" | FileCheck %s
// RUN: attune-opt %t/error.mlir --attune-attach-target="chip=sm_90a" --gpu-to-llvm-pipeline | attune-run --device=host --print --function=error | FileCheck %s --check-prefix=ERROR
// RUN: attune-opt %t/error.mlir --attune-attach-target="chip=gfx942" --gpu-to-llvm-pipeline | attune-run --device=host --print --function=error | FileCheck %s --check-prefix=ERROR
// RUN: attune-opt %t/error.mlir --attune-attach-target="chip=sm_90a" --gpu-to-llvm-pipeline | attune-run --device=host --print --function=ends | FileCheck %s --check-prefix=ENDS

//--- shares.mlir
gpu.module @kernels {
  // The last of four each time: one polynomial of three multiply-adds.
  // CHECK-LABEL: llvm.func @four
  // CHECK-COUNT-3: llvm.intr.exp2
  // CHECK-NOT:     llvm.intr.exp2
  // CHECK:         llvm.intr.maximum
  // CHECK:         llvm.fadd
  // CHECK-COUNT-2: llvm.fsub
  // CHECK-COUNT-3: llvm.intr.fma
  // CHECK-NOT:     llvm.intr.fma
  // CHECK:         llvm.shl
  // CHECK:         llvm.fmul
  // CHECK-COUNT-3: llvm.intr.exp2
  // CHECK-NOT:     llvm.intr.exp2
  // CHECK:         llvm.return
  gpu.func @four(%x: vector<8xf32>, %out: memref<8xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %y = math.exp2 %x fastmath<afn> {tile.fma_share = 4 : i64} : vector<8xf32>
    vector.store %y, %out[%c0] : memref<8xf32>, vector<8xf32>
    gpu.return
  }
  // CHECK-LABEL: llvm.func @two
  // CHECK-COUNT-7: llvm.intr.exp2
  // CHECK-NOT:     llvm.intr.exp2
  // CHECK:         llvm.shl
  // CHECK:         llvm.return
  gpu.func @two(%x: vector<8xf32>, %out: memref<8xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %y = math.exp2 %x fastmath<afn> {tile.fma_share = 2 : i64} : vector<8xf32>
    vector.store %y, %out[%c0] : memref<8xf32>, vector<8xf32>
    gpu.return
  }
  // Others stay: scalars, other types, and those of which nothing is said.
  // CHECK-LABEL: llvm.func @whole
  // CHECK-NOT:     llvm.shl
  // CHECK:         llvm.return
  gpu.func @whole(%x: f32, %h: vector<4xf16>, %v: vector<4xf32>, %out: memref<4xf32>, %half: memref<4xf16>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = math.exp2 %x {tile.fma_share = 16 : i64} : f32
    %b = math.exp2 %h {tile.fma_share = 16 : i64} : vector<4xf16>
    %c = math.exp2 %v : vector<4xf32>
    memref.store %a, %out[%c0] : memref<4xf32>
    vector.store %b, %half[%c0] : memref<4xf16>, vector<4xf16>
    vector.store %c, %out[%c0] : memref<4xf32>, vector<4xf32>
    gpu.return
  }
}

//--- error.mlir
// The largest relative error at 1.1 million points from -125 to 8, in millionths; each of 64 lanes
// takes its part of them. bf16 rounds by 3900 at most and f16 by 488, which is
// half of the distance between two of its numbers.
// ERROR: result 0: 1xf32
// ERROR-NEXT: {{^}}7{{[45]\.[0-9]+$}}
module attributes {gpu.container_module} {
  gpu.module @error_module {
    gpu.func @error(%out: memref<64xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c16 = arith.constant 16 : index
      %steps = arith.constant 1072 : index
      %zero = arith.constant dense<0.0> : vector<16xf32>
      %one = arith.constant dense<1.0> : vector<16xf32>
      %millions = arith.constant dense<1.0e6> : vector<16xf32>
      %width = arith.constant dense<0.00012116> : vector<16xf32>
      %least = arith.constant dense<-125.0> : vector<16xf32>
      %offsets = arith.constant dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0]> : vector<16xf32>
      %lane = gpu.thread_id x
      %begin = arith.muli %lane, %steps : index
      %worst = scf.for %i = %c0 to %steps step %c1 iter_args(%most = %zero) -> (vector<16xf32>) {
        %number = arith.addi %begin, %i : index
        %first = arith.muli %number, %c16 : index
        %narrow = arith.index_cast %first : index to i32
        %float = arith.sitofp %narrow : i32 to f32
        %same = vector.broadcast %float : f32 to vector<16xf32>
        %place = arith.addf %same, %offsets : vector<16xf32>
        %x = math.fma %place, %width, %least : vector<16xf32>
        %right = math.exp2 %x : vector<16xf32>
        %y = math.exp2 %x {tile.fma_share = 16 : i64} : vector<16xf32>
        %ratio = arith.divf %y, %right : vector<16xf32>
        %difference = arith.subf %ratio, %one : vector<16xf32>
        %error = math.absf %difference : vector<16xf32>
        %scaled = arith.mulf %error, %millions : vector<16xf32>
        %next = arith.maximumf %most, %scaled : vector<16xf32>
        scf.yield %next : vector<16xf32>
      }
      %largest = vector.reduction <maximumf>, %worst : vector<16xf32> into f32
      memref.store %largest, %out[%lane] : memref<64xf32>
      gpu.return
    }
    // The largest of the lanes' values.
    gpu.func @most(%all: memref<64xf32>, %out: memref<1xf32>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
      %c0 = arith.constant 0 : index
      %values = vector.load %all[%c0] : memref<64xf32>, vector<64xf32>
      %largest = vector.reduction <maximumf>, %values : vector<64xf32> into f32
      memref.store %largest, %out[%c0] : memref<1xf32>
      gpu.return
    }
    // What masks and overflows leave, and numbers that are known.
    gpu.func @ends(%out: memref<8xf32>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
      %c0 = arith.constant 0 : index
      %x = arith.constant dense<[0xFF800000, -3.0e38, -1000.0, -126.6, 0x7FC00000, 0xFFFFFFFF, 0.0, 8.0]> : vector<8xf32>
      // Not folded.
      vector.store %x, %out[%c0] : memref<8xf32>, vector<8xf32>
      %z = vector.load %out[%c0] : memref<8xf32>, vector<8xf32>
      %y = math.exp2 %z {tile.fma_share = 16 : i64} : vector<8xf32>
      vector.store %y, %out[%c0] : memref<8xf32>, vector<8xf32>
      gpu.return
    }
  }
  func.func @error() -> tensor<1xf32> {
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %all = memref.alloc() : memref<64xf32>
    %out = memref.alloc() : memref<1xf32>
    gpu.launch_func @error_module::@error blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%all : memref<64xf32>)
    gpu.launch_func @error_module::@most blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%all : memref<64xf32>, %out : memref<1xf32>)
    %result = bufferization.to_tensor %out restrict writable : memref<1xf32> to tensor<1xf32>
    return %result : tensor<1xf32>
  }
  // ENDS: result 0: 8xf32
  // ENDS-NEXT: {{^}}0 0 0 0 {{-?}}nan {{-?}}nan 0.9999{{[0-9]+}} 255.98{{[0-9]*$}}
  func.func @ends() -> tensor<8xf32> {
    %c1 = arith.constant 1 : index
    %out = memref.alloc() : memref<8xf32>
    gpu.launch_func @error_module::@ends blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%out : memref<8xf32>)
    %result = bufferization.to_tensor %out restrict writable : memref<8xf32> to tensor<8xf32>
    return %result : tensor<8xf32>
  }
}
