// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What convert-tile-to-gpu refuses of rows that become columns or are widened, and of MMAs of these.
//
// RUN: attune-opt %s -split-input-file --verify-diagnostics \
// RUN:   --pass-pipeline="builtin.module(attune-attach-target{chip=sm_90a},gpu.module(gpu.func(tile-assign-layouts,tile-allocate-shared)),convert-tile-to-gpu)"

#s = #tile.swizzle<vector = 8, bits = 3, shift = 0, swizzle_atom = 64>
!channel = !tile.channel<64x64xf16, stages = 1, swizzle_atom = 64>
gpu.module @kernels {
  gpu.func @wide() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = tile.buffer : !tile.tile<64x64xf16, shared, #s>
    %b = tile.channel : !channel
    // expected-error @below {{'tile.restage' op expects tiles in swizzle atoms, of elements of 8 bits that become 8, and a source of a multiple of 32x16 without pairs that alternate, but got}}
    tile.restage %a into %b[%c0] transposed : !tile.tile<64x64xf16, shared, #s>, !channel
    gpu.return
  }
}

// -----

#s = #tile.swizzle<vector = 16, bits = 2, shift = 1, swizzle_atom = 64>
!channel = !tile.channel<64x48xf8E4M3FN, stages = 1, swizzle_atom = 16>
gpu.module @kernels {
  gpu.func @few_rows() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = tile.buffer : !tile.tile<48x64xf8E4M3FN, shared, #s>
    %b = tile.channel : !channel
    // expected-error @below {{'tile.restage' op expects tiles in swizzle atoms, of elements of 8 bits that become 8, and a source of a multiple of 32x16}}
    tile.restage %a into %b[%c0] transposed : !tile.tile<48x64xf8E4M3FN, shared, #s>, !channel
    gpu.return
  }
}

// -----

#s = #tile.swizzle<vector = 16, bits = 2, shift = 1, swizzle_atom = 64>
!channel = !tile.channel<64x64xf8E4M3FN, stages = 1>
gpu.module @kernels {
  gpu.func @whole_rows() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = tile.buffer : !tile.tile<64x64xf8E4M3FN, shared, #s>
    %b = tile.channel : !channel
    // expected-error @below {{'tile.restage' op expects tiles in swizzle atoms}}
    tile.restage %a into %b[%c0] transposed : !tile.tile<64x64xf8E4M3FN, shared, #s>, !channel
    gpu.return
  }
}

// -----

#s = #tile.swizzle<vector = 16, bits = 2, shift = 1, swizzle_atom = 64>
!channel = !tile.channel<64x64xf8E4M3FN, stages = 1, swizzle_atom = 64>
!tile = !tile.tile<64x64xf8E4M3FN, shared, #s>
gpu.module @kernels {
  gpu.func @also_put(%m: memref<64x64xf8E4M3FN>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c = tile.channel : !channel
    %d = tile.channel : !channel
    %a = tile.get %c[%c0] : !channel -> !tile
    tile.restage %a into %d[%c0] transposed : !tile, !channel
    // expected-error @below {{'tile.put' op expects a channel that no 'tile.restage' of another role, or beside it, puts into}}
    tile.put %d[%c0], %m[%c0, %c0] : !channel, memref<64x64xf8E4M3FN>
    gpu.return
  }
}

// -----

#s = #tile.swizzle<vector = 16, bits = 2, shift = 1, swizzle_atom = 64>
!channel = !tile.channel<64x64xf8E4M3FN, stages = 1, swizzle_atom = 64>
!tile = !tile.tile<64x64xf8E4M3FN, shared, #s>
gpu.module @kernels {
  gpu.func @of_one_thread() kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c = tile.channel : !channel
    %d = tile.channel : !channel
    tile.specialize <"compute", warps = 4> {
    }, <"load", warps = 4, threads = one> {
      %a = tile.get %c[%c0] : !channel -> !tile
      // expected-error @below {{'tile.restage' op expects to stand in a role of which all threads run the program}}
      tile.restage %a into %d[%c0] transposed : !tile, !channel
    }
    gpu.return
  }
}

// -----

#s = #tile.swizzle<vector = 16, bits = 2, shift = 1, swizzle_atom = 64>
!channel = !tile.channel<64x64xf8E4M3FN, stages = 1, swizzle_atom = 64>
!rows = !tile.tile<64x64xf8E4M3FN, shared, #s>
gpu.module @kernels {
  gpu.func @rows(%x: f32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c = tile.channel : !channel
    %a = tile.get %c[%c0] : !channel -> !rows
    %acc = tile.fill %x : f32 -> !tile.tile<64x64xf32, registers>
    // expected-error @below {{'tile.mma' op expects a right operand of 'f8E4M3FN' that is stored by columns; run tile-promote-to-shared first}}
    %d = tile.mma %a, %a, %acc scope warpgroup : !rows, !rows, !tile.tile<64x64xf32, registers>
    gpu.return
  }
}

// -----

#s = #tile.swizzle<vector = 16, bits = 2, shift = 1, swizzle_atom = 64>
!channel = !tile.channel<64x64xf8E4M3FN, stages = 1, swizzle_atom = 64>
!rows = !tile.tile<64x64xf8E4M3FN, shared, #s>
gpu.module @kernels {
  gpu.func @no_pairs(%x: f32, %y: f8E4M3FN) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c = tile.channel : !channel
    %a = tile.get %c[%c0] : !channel -> !rows
    %p = tile.fill %y : f8E4M3FN -> !tile.tile<64x64xf8E4M3FN, registers>
    %acc = tile.fill %x : f32 -> !tile.tile<64x64xf32, registers>
    // expected-error @below {{'tile.mma' op expects a right operand with pairs that alternate, and no left one with them, but got}}
    %d = tile.mma %p, %a, %acc transpose_rhs scope warpgroup : !tile.tile<64x64xf8E4M3FN, registers>, !rows, !tile.tile<64x64xf32, registers>
    gpu.return
  }
}

// -----

#s = #tile.swizzle<vector = 16, bits = 2, shift = 1, swizzle_atom = 64>
#p = #tile.swizzle<vector = 16, bits = 2, shift = 1, swizzle_atom = 64, paired = true>
!channel = !tile.channel<64x64xf8E4M3FN, stages = 1, swizzle_atom = 64>
!columns = !tile.channel<64x64xf8E4M3FN, stages = 1, swizzle_atom = 64, paired = true>
!rows = !tile.tile<64x64xf8E4M3FN, shared, #s>
!paired = !tile.tile<64x64xf8E4M3FN, shared, #p>
gpu.module @kernels {
  gpu.func @needless_pairs(%x: f32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c = tile.channel : !channel
    %d = tile.channel : !columns
    %a = tile.get %c[%c0] : !channel -> !rows
    tile.restage %a into %d[%c0] transposed : !rows, !columns
    %b = tile.get %d[%c0] : !columns -> !paired
    %acc = tile.fill %x : f32 -> !tile.tile<64x64xf32, registers>
    // expected-error @below {{'tile.mma' op expects a right operand without pairs that alternate, and no left one with them, but got}}
    %e = tile.mma %a, %b, %acc transpose_rhs scope warpgroup : !rows, !paired, !tile.tile<64x64xf32, registers>
    gpu.return
  }
}

// -----

#s = #tile.swizzle<vector = 16, bits = 2, shift = 1, swizzle_atom = 64>
!channel = !tile.channel<64x64xf32, stages = 1, swizzle_atom = 32>
gpu.module @kernels {
  gpu.func @singles() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = tile.buffer : !tile.tile<64x64xf8E4M3FN, shared, #s>
    %b = tile.channel : !channel
    // expected-error @below {{'tile.restage' op expects tiles in swizzle atoms, of elements of 8 bits that become 16, and a source of a multiple of 16x16 without pairs that alternate, but got}}
    tile.restage %a into %b[%c0] : !tile.tile<64x64xf8E4M3FN, shared, #s>, !channel
    gpu.return
  }
}

// -----

#s = #tile.swizzle<vector = 16, bits = 2, shift = 1, swizzle_atom = 64>
!channel = !tile.channel<64x64xf8E4M3FN, stages = 1, swizzle_atom = 64>
!rows = !tile.tile<64x64xf8E4M3FN, shared, #s>
gpu.module @kernels {
  gpu.func @narrow(%x: f32, %y: f16) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c = tile.channel : !channel
    %a = tile.get %c[%c0] : !channel -> !rows
    %p = tile.fill %y : f16 -> !tile.tile<64x64xf16, registers>
    %acc = tile.fill %x : f32 -> !tile.tile<64x64xf32, registers>
    // expected-error @below {{'tile.mma' op expects a right operand of 'f16' for a warpgroup, but got '!tile.tile<64x64xf8E4M3FN, shared, #tile.swizzle<vector = 16, bits = 2, shift = 1, swizzle_atom = 64>>'; run tile-promote-to-shared first}}
    %d = tile.mma %p, %a, %acc scope warpgroup : !tile.tile<64x64xf16, registers>, !rows, !tile.tile<64x64xf32, registers>
    gpu.return
  }
}
