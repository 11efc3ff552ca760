// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What convert-kernel-to-llvm refuses.
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(gpu.module(convert-kernel-to-llvm))"

// expected-error @below {{expects a 'tile.target' attribute on the module or around it; run attune-attach-target first}}
gpu.module @no_target {
  gpu.func @kernel() kernel {
    gpu.return
  }
}

// -----

module attributes {tile.target = #tile.target<chip = "toy", family = "Toy", lanes = 32, sms = 1, shared = 1024,
  shared_per_sm = 1024, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  // expected-error @below {{expects a family that this build knows, but got 'Toy'}}
  gpu.module @unknown_family {
    gpu.func @kernel() kernel {
      gpu.return
    }
  }
}

// -----

module attributes {tile.target = #tile.target<chip = "toy", family = "CDNA", lanes = 64, sms = 1, shared = 1024,
  shared_per_sm = 1024, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  // expected-error @below {{expects a chip of the form gfx<version>, but got 'toy'}}
  gpu.module @unknown_chip {
    gpu.func @kernel() kernel {
      gpu.return
    }
  }
}

// -----

module attributes {tile.target = #tile.target<chip = "gfx1100", family = "RDNA3", lanes = 32, sms = 1, shared = 1024,
  shared_per_sm = 1024, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  gpu.module @left_over {
    gpu.func @kernel(%x: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      // expected-error @below {{failed to legalize operation 'tile.channel'}}
      %a = tile.channel : !tile.channel<16x32xf16, stages = 1>
      gpu.return
    }
  }
}

// -----

module attributes {tile.target = #tile.target<chip = "gfx942", family = "CDNA", lanes = 64, sms = 1, shared = 1024,
  shared_per_sm = 1024, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  gpu.module @other_vendor {
    // expected-error @below {{expects arguments that kernels of the family 'CDNA' can take, but got '!nvgpu.tensormap.descriptor<}}
    gpu.func @kernel(%x: f32, %map: !nvgpu.tensormap.descriptor<tensor = memref<64xbf16, 3>, swizzle = none,
                     l2promo = none, oob = zero, interleave = none>) kernel {
      gpu.return
    }
  }
}

// -----

module attributes {tile.target = #tile.target<chip = "sm_90", family = "Ampere", lanes = 32, sms = 1, shared = 1024,
  shared_per_sm = 1024, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  gpu.module @wrong_cast {
    gpu.func @kernel(%x: f32, %out: memref<i64>) kernel {
      // expected-error @below {{failed to legalize operation 'builtin.unrealized_conversion_cast'}}
      %p = builtin.unrealized_conversion_cast %x : f32 to !llvm.ptr
      %i = llvm.ptrtoint %p : !llvm.ptr to i64
      memref.store %i, %out[] : memref<i64>
      gpu.return
    }
  }
}
