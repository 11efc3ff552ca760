// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lanes access 16 bytes each, so that lanes 0 to 7 meet in half of 32 banks,
// but those that a CDNA chip serves together do not when they read.
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_80" --gpu-to-llvm-pipeline | attune-run --device=host --print --counts | FileCheck %s --check-prefix=ORDER
// RUN: attune-opt %s --attune-attach-target="chip=gfx1201" --gpu-to-llvm-pipeline | attune-run --device=host --print --counts | FileCheck %s --check-prefix=ORDER
// RUN: attune-opt %s --attune-attach-target="chip=gfx942" --gpu-to-llvm-pipeline | attune-run --device=host --print --counts | FileCheck %s --check-prefix=GROUPS
// RUN: attune-opt %s --attune-attach-target="chip=gfx950" --gpu-to-llvm-pipeline | attune-run --device=host --print --counts | FileCheck %s --check-prefix=WIDE
//
// Eight rounds of eight lanes; on gfx950 four of sixteen where they read.
//        requests bytes wavefronts beyond
// ORDER: 2 1024 16 8 0 llvm.store
// ORDER-NEXT: 2 1024 16 8 0 llvm.load
// GROUPS: 1 1024 16 8 0 llvm.store
// GROUPS-NEXT: 1 1024 8 0 0 llvm.load
// WIDE: 1 1024 16 8 0 llvm.store
// WIDE-NEXT: 1 1024 4 0 0 llvm.load

module attributes {gpu.container_module} {

gpu.module @kernels {
  gpu.func @kernel(%out: memref<64x4xf32>) workgroup(%s: memref<256xf32, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %lane = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %c128 = arith.constant 128 : index
    // Neighbours are neighbours in fours; the first 16 lanes of 32 are in one
    // half of the banks.
    %in_four = arith.remui %lane, %c4 : index
    %fours = arith.divui %lane, %c4 : index
    %row = arith.remui %fours, %c4 : index
    %sixteens = arith.divui %lane, %c16 : index
    %half = arith.remui %sixteens, %c2 : index
    %upper = arith.divui %lane, %c32 : index
    %a = arith.muli %in_four, %c4 : index
    %b = arith.muli %half, %c16 : index
    %c = arith.muli %row, %c32 : index
    %d = arith.muli %upper, %c128 : index
    %ab = arith.addi %a, %b : index
    %cd = arith.addi %c, %d : index
    %at = arith.addi %ab, %cd : index
    %x = arith.constant dense<1.0> : vector<4xf32>
    vector.store %x, %s[%at] : memref<256xf32, #gpu.address_space<workgroup>>, vector<4xf32>
    %y = vector.load %s[%at] : memref<256xf32, #gpu.address_space<workgroup>>, vector<4xf32>
    vector.store %y, %out[%lane, %c0] : memref<64x4xf32>, vector<4xf32>
    gpu.return
  }
}

func.func @main() -> tensor<64x4xf32> {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %out = memref.alloc() : memref<64x4xf32>
  gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%out : memref<64x4xf32>)
  %result = bufferization.to_tensor %out restrict : memref<64x4xf32> to tensor<64x4xf32>
  return %result : tensor<64x4xf32>
}

}
