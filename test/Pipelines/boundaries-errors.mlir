// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What boundaries.test is there to find.
//
// REQUIRES: plugin
// RUN: attune-opt %s -split-input-file -verify-diagnostics --load-pass-plugin=%test_passes --pass-pipeline="builtin.module(test-check-layer{name=tile})"
// RUN: not attune-opt %s -split-input-file --load-pass-plugin=%test_passes --pass-pipeline="builtin.module(test-check-layer{name=tiles})" 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not attune-opt %s -split-input-file --load-pass-plugin=%test_passes --pass-pipeline="builtin.module(test-check-layer{name=gpu-amd})" 2>&1 | FileCheck %s --check-prefix=GPU
// NAME: error: expects the name of a layer, but got 'tiles'
// GPU: error: expects only {{.*}} on the kernel side of layer 'gpu-amd', but got 'tile.fill'

gpu.module @kernels {
  // expected-error @below {{expects only arith, gpu, math, memref, scf, tile on the kernel side of layer 'tile', but got a type of 'nvgpu' on 'gpu.func'}}
  gpu.func @another_dialect(%map: !nvgpu.tensormap.descriptor<tensor = memref<64x64xf16, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>) kernel {
    %zero = arith.constant 0.0 : f32
    %t = tile.fill %zero : f32 -> !tile.tile<16x16xf32, registers>
    // expected-error @below {{expects only arith, gpu, math, memref, scf, tile on the kernel side of layer 'tile', but got 'vector.broadcast'}}
    %v = vector.broadcast %zero : f32 to vector<4xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @host_side() kernel {
    %zero = arith.constant 0.0 : f32
    %t = tile.fill %zero : f32 -> !tile.tile<16x16xf32, registers>
    gpu.return
  }
}
func.func @host_side(%x: f32) -> vector<4xf32> {
  // expected-error @below {{on the host side of layer 'tile', but got 'vector.broadcast'}}
  %v = vector.broadcast %x : f32 to vector<4xf32>
  return %v : vector<4xf32>
}
// What the kernels were made from may say what it likes.
module attributes {attune.source} {
  func.func @source(%x: f32) -> vector<4xf32> {
    %v = vector.broadcast %x : f32 to vector<4xf32>
    return %v : vector<4xf32>
  }
}

// -----

// expected-error @below {{expects ops of 'tile' on the kernel side of layer 'tile', but got none}}
module {
  gpu.module @kernels {
    gpu.func @nothing_to_check() kernel {
      gpu.return
    }
  }
}

// -----

// A schedule is the business of who makes tiles.
gpu.module @kernels {
  // expected-error @below {{on the kernel side of layer 'tile', but got an attribute of 'schedule' on 'gpu.func'}}
  gpu.func @schedule() kernel attributes {tile.of = #schedule.attention<numWarps = 1>} {
    %zero = arith.constant 0.0 : f32
    %t = tile.fill %zero : f32 -> !tile.tile<16x16xf32, registers>
    gpu.return
  }
}
