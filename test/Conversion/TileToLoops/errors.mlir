// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What tile-to-loops refuses.
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics --tile-to-loops

!rows = !tile.tile<16xf32, registers>
gpu.module @kernels {
  gpu.func @lanes(%x: f32) kernel {
    %a = tile.fill %x : f32 -> !rows
    // expected-error @below {{expects a kernel whose lanes are not told apart, but got 'gpu.thread_id'}}
    %lane = gpu.thread_id x
    gpu.return
  }
}

// -----

!rows = !tile.tile<16xf32, registers>
gpu.module @kernels {
  gpu.func @select(%x: f32, %c: i1) kernel {
    %a = tile.fill %x : f32 -> !rows
    // expected-error @below {{expects tiles in tile ops, 'scf.for' and 'scf.if' alone, but got 'arith.select'}}
    %b = arith.select %c, %a, %a : !rows
    gpu.return
  }
}

// -----

!rows = !tile.tile<16xf32, registers>
gpu.module @kernels {
  gpu.func @nested(%x: f32, %c: i1) kernel {
    // expected-error @below {{expects tiles in tile ops, 'scf.for' and 'scf.if' alone, but got 'scf.execute_region'}}
    scf.execute_region {
      %a = tile.fill %x : f32 -> !rows
      scf.yield
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @groups(%x: f32) kernel {
    %a = tile.fill %x : f32 -> !tile.tile<16x2xf32, registers>
    // expected-error @below {{'tile.reduce' op expects at most a group for each of the 2 columns, but got 4}}
    %b = tile.reduce add %a : !tile.tile<16x2xf32, registers> -> !tile.tile<16x4xf32, registers>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @below {{'gpu.func' op expects at most 33554432 bytes of tiles in all ops together, but got 67108872}}
  gpu.func @large(%x: f32) kernel {
    %a = tile.fill %x : f32 -> !tile.tile<4096x4096xf32, registers>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @below {{'gpu.func' op expects a kernel of one block}}
  gpu.func @blocks(%x: f32) kernel {
    %a = tile.fill %x : f32 -> !tile.tile<16xf32, registers>
    cf.br ^end
  ^end:
    gpu.return
  }
}
