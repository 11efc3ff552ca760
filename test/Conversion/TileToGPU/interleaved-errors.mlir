// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics \
// RUN:   --pass-pipeline="builtin.module(attune-attach-target{chip=sm_90a},gpu.module(gpu.func(tile-allocate-shared)),convert-tile-to-gpu)"

!rows = !tile.channel<64x64xf16, stages = 2, swizzle_atom = 64>
!columns = !tile.channel<32x128xf16, stages = 2, swizzle_atom = 64>
!view = memref<?x64xf16>
!wide = memref<32x?xf16, strided<[512, 1]>>

module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @rows_of_a_block(%x: !view, %y: !view, %v: !wide, %w: !wide, %block: index, %out: memref<64x64xf16>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %both = tile.interleaved %x, %y blocks of 4 : !view, !view
    %channel = tile.channel : !rows
    // expected-error @+1 {{'tile.put' op expects blocks of a multiple of 8 rows of interleaved buffers, but got 4}}
    tile.put %channel[%c0], %both[%c0, %c0] : !rows, !view
    gpu.return
  }
}
}

// -----

!rows = !tile.channel<64x64xf16, stages = 2, swizzle_atom = 64>
!columns = !tile.channel<32x128xf16, stages = 2, swizzle_atom = 64>
!view = memref<?x64xf16>
!wide = memref<32x?xf16, strided<[512, 1]>>

module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @columns_of_a_block(%x: !view, %y: !view, %v: !wide, %w: !wide, %block: index, %out: memref<64x64xf16>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %both = tile.interleaved %v, %w blocks of 32 dim 1 : !wide, !wide
    %channel = tile.channel : !columns
    // expected-error @+1 {{'tile.put' op expects blocks of a multiple of 64 columns of interleaved buffers, but got 32}}
    tile.put %channel[%c0], %both[%c0, %c0] : !columns, !wide
    gpu.return
  }
}
}

// -----

!rows = !tile.channel<64x64xf16, stages = 2, swizzle_atom = 64>
!columns = !tile.channel<32x128xf16, stages = 2, swizzle_atom = 64>
!view = memref<?x64xf16>
!wide = memref<32x?xf16, strided<[512, 1]>>

module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @part_of_a_block(%x: !view, %y: !view, %v: !wide, %w: !wide, %block: index, %out: memref<64x64xf16>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %both = tile.interleaved %x, %y blocks of 64 : !view, !view
    %channel = tile.channel : !rows
    // expected-error @+1 {{'tile.put' op expects a tile of a multiple of the 128 rows of a block of each interleaved buffer, but got 64}}
    tile.put %channel[%c0], %both[%c0, %c0] : !rows, !view
    gpu.return
  }
}
}

// -----

!rows = !tile.channel<64x64xf16, stages = 2, swizzle_atom = 64>
!columns = !tile.channel<32x128xf16, stages = 2, swizzle_atom = 64>
!view = memref<?x64xf16>
!wide = memref<32x?xf16, strided<[512, 1]>>

module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @start(%x: !view, %y: !view, %v: !wide, %w: !wide, %block: index, %out: memref<64x64xf16>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %row = arith.muli %block, %c16 : index
    %both = tile.interleaved %x, %y blocks of 32 : !view, !view
    %channel = tile.channel : !rows
    // expected-error @+1 {{'tile.put' op expects a start that is known to be a multiple of the 64 rows of a block of each interleaved buffer, but got one of 16}}
    tile.put %channel[%c0], %both[%row, %c0] : !rows, !view
    gpu.return
  }
}
}

// -----

!rows = !tile.channel<64x64xf16, stages = 2, swizzle_atom = 64>
!columns = !tile.channel<32x128xf16, stages = 2, swizzle_atom = 64>
!view = memref<?x64xf16>
!wide = memref<32x?xf16, strided<[512, 1]>>

module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @start_column(%x: !view, %y: !view, %v: !wide, %w: !wide, %block: index, %out: memref<64x64xf16>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %column = arith.muli %block, %c64 : index
    %both = tile.interleaved %v, %w blocks of 64 dim 1 : !wide, !wide
    %channel = tile.channel : !columns
    // expected-error @+1 {{'tile.put' op expects a start that is known to be a multiple of the 128 columns of a block of each interleaved buffer, but got one of 64}}
    tile.put %channel[%c0], %both[%c0, %column] : !columns, !wide
    gpu.return
  }
}
}

// -----

#layout = #tile.layout<registers = [[16, 1, 1]], lanes = [[4, 1, 16], [8, 0, 1]], warps = [[4, 0, 8]]>

module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @in_registers(%x: memref<?x64xf16>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %both = tile.interleaved %x, %x blocks of 16 : memref<?x64xf16>, memref<?x64xf16>
    // expected-error @+1 {{'tile.load' op expects a tile of interleaved buffers to go through a channel; run tile-promote-to-shared on a load with 'stages' first}}
    %tile = tile.load %both[%c0, %c0] : memref<?x64xf16> -> !tile.tile<32x64xf16, registers, #layout>
    gpu.return
  }
}
}

// -----

#layout = #tile.layout<registers = [[16, 1, 1]], lanes = [[4, 1, 16], [8, 0, 1]], warps = [[4, 0, 8]]>
#part = #tile.layout<registers = [[8, 1, 1]], lanes = [[4, 1, 8], [8, 0, 1]], warps = [[4, 0, 8]]>

module attributes {gpu.container_module} {
gpu.module @kernels {
  // Which of the parts a thread has depends on its lane.
  gpu.func @parts(%x: memref<32x64xf16>, %out: memref<32x32xf16>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %tile = tile.load %x[%c0, %c0] : memref<32x64xf16> -> !tile.tile<32x64xf16, registers, #layout>
    // expected-error @+1 {{'tile.deinterleave' op expects a layout in which a thread holds the same elements of all parts, but got}}
    %parts:2 = tile.deinterleave %tile blocks of 16 dim 1 : !tile.tile<32x64xf16, registers, #layout>
      -> !tile.tile<32x32xf16, registers, #part>, !tile.tile<32x32xf16, registers, #part>
    tile.store %parts#0, %out[%c0, %c0] : !tile.tile<32x32xf16, registers, #part>, memref<32x32xf16>
    gpu.return
  }
}
}
