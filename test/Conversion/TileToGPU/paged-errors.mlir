// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics \
// RUN:   --pass-pipeline="builtin.module(attune-attach-target{chip=sm_90a},gpu.module(gpu.func(tile-allocate-shared)),convert-tile-to-gpu)"

!channel = !tile.channel<32x64xf16, stages = 2, swizzle_atom = 64>
!view = memref<?x64xf16>

module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @small_pages(%pool: !view, %table: memref<?xi32>, %block: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %row = arith.muli %block, %c32 : index
    %paged = tile.paged %pool by %table pages of 4 : !view, memref<?xi32>
    %channel = tile.channel : !channel
    // expected-error @+1 {{'tile.put' op expects pages of a multiple or, in multiples of 8, a part of the 32 rows that the copy engine copies, but got pages of 4}}
    tile.put %channel[%c0], %paged[%row, %c0] : !channel, !view
    gpu.return
  }
}
}

// -----

!channel = !tile.channel<32x64xf16, stages = 2, swizzle_atom = 64>
!view = memref<?x64xf16>

module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @pages_across_boxes(%pool: !view, %table: memref<?xi32>, %block: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %row = arith.muli %block, %c32 : index
    %paged = tile.paged %pool by %table pages of 48 : !view, memref<?xi32>
    %channel = tile.channel : !channel
    // expected-error @+1 {{'tile.put' op expects pages of a multiple or, in multiples of 8, a part of the 32 rows that the copy engine copies, but got pages of 48}}
    tile.put %channel[%c0], %paged[%row, %c0] : !channel, !view
    gpu.return
  }
}
}

// -----

!channel = !tile.channel<32x64xf16, stages = 2, swizzle_atom = 64>
!view = memref<?x64xf16>

module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @pages_in_no_box(%pool: !view, %table: memref<?xi32>, %block: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %row = arith.muli %block, %c32 : index
    %paged = tile.paged %pool by %table pages of 24 : !view, memref<?xi32>
    %channel = tile.channel : !channel
    // expected-error @+1 {{'tile.put' op expects pages of a multiple or, in multiples of 8, a part of the 32 rows that the copy engine copies, but got pages of 24}}
    tile.put %channel[%c0], %paged[%row, %c0] : !channel, !view
    gpu.return
  }
}
}

// -----

!channel = !tile.channel<32x64xf16, stages = 2, swizzle_atom = 64>
!view = memref<?x64xf16>

module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @start_in_a_page(%pool: !view, %table: memref<?xi32>, %block: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %row = arith.muli %block, %c8 : index
    %paged = tile.paged %pool by %table pages of 16 : !view, memref<?xi32>
    %channel = tile.channel : !channel
    // expected-error @+1 {{'tile.put' op expects a first row that is known to be a multiple of the 16 rows of a TMA box in a page, but got one of 8}}
    tile.put %channel[%c0], %paged[%row, %c0] : !channel, !view
    gpu.return
  }
}
}

// -----

!channel = !tile.channel<32x64xf16, stages = 2, swizzle_atom = 64>

module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @units_of_no_box(%pool: memref<9x16x64xf16>, %table: memref<?xi32>, %rows: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %paged = tile.paged %pool by %table rows %rows : memref<9x16x64xf16>, memref<?xi32>
    %channel = tile.channel : !channel
    // expected-error @+1 {{'tile.put' op expects rows that end in units of the 16 rows of a TMA box in a page, but got units of 1}}
    tile.put %channel[%c0], %paged[%c0, %c0] : !channel, memref<?x64xf16>
    gpu.return
  }
}
}
