// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: attune-opt %s --attune-emit-binary="format=isa" -split-input-file -verify-diagnostics

// expected-error @below {{expects a 'tile.target' attribute on a module around it; run attune-attach-target first}}
gpu.module @no_target {
  llvm.func @kernel() attributes {gpu.kernel, nvvm.kernel} {
    llvm.return
  }
}

// -----

// expected-error @below {{expects one kernel in LLVM dialect, but got 2}}
gpu.module @two_kernels {
  llvm.func @first() attributes {gpu.kernel, nvvm.kernel} {
    llvm.return
  }
  llvm.func @second() attributes {gpu.kernel, nvvm.kernel} {
    llvm.return
  }
}

// -----

// expected-error @below {{expects one kernel in LLVM dialect, but got 0}}
gpu.module @not_lowered {
  gpu.func @kernel() kernel {
    gpu.return
  }
}

// -----

module attributes {tile.target = #tile.target<chip = "sm_80", family = "Unknown", lanes = 32, sms = 1,
    shared = 1024, shared_per_sm = 1024, registers = 255, registers_per_sm = 65536, max_threads = 1024,
    max_threads_per_sm = 2048, copy_sync = none, copy_widths = [], mma = []>} {
  // expected-error @below {{expects a family of chips that this build knows, but got 'Unknown'}}
  gpu.module @unknown_family {
    llvm.func @kernel() attributes {gpu.kernel, nvvm.kernel} {
      llvm.return
    }
  }
}

// -----

module attributes {tile.target = #tile.target<chip = "sm_999", family = "Ampere", lanes = 32, sms = 1,
    shared = 1024, shared_per_sm = 1024, registers = 255, registers_per_sm = 65536, max_threads = 1024,
    max_threads_per_sm = 2048, copy_sync = none, copy_widths = [], mma = []>} {
  // expected-error @below {{expects a chip that LLVM's back end for 'nvptx64-nvidia-cuda' knows, but got 'sm_999'}}
  gpu.module @unknown_chip {
    llvm.func @kernel() attributes {gpu.kernel, nvvm.kernel} {
      llvm.return
    }
  }
}

// -----

module attributes {tile.target = #tile.target<chip = "sm_80", family = "Ampere", lanes = 32, sms = 1,
    shared = 1024, shared_per_sm = 1024, registers = 255, registers_per_sm = 65536, max_threads = 1024,
    max_threads_per_sm = 2048, copy_sync = none, copy_widths = [], mma = []>} {
  // expected-error @below {{expects a kernel that LLVM's back end can compile, but got: Cannot select}}
  gpu.module @no_such_instruction {
    llvm.func @kernel(%out: !llvm.ptr<1>, %in: vector<2xbf16>) attributes {gpu.kernel, nvvm.kernel} {
      %e = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz"(%in) : (vector<2xbf16>) -> vector<2xbf16>
      llvm.store %e, %out : vector<2xbf16>, !llvm.ptr<1>
      llvm.return
    }
  }
}

// -----

module attributes {tile.target = #tile.target<chip = "sm_80", family = "Ampere", lanes = 32, sms = 1,
    shared = 1024, shared_per_sm = 1024, registers = 255, registers_per_sm = 65536, max_threads = 1024,
    max_threads_per_sm = 2048, copy_sync = none, copy_widths = [], mma = []>} {
  // expected-error @below {{expects a kernel that LLVM's back end can compile, but got: no libcall available for flog2}}
  gpu.module @no_such_function {
    llvm.func @kernel(%out: !llvm.ptr<1>, %in: f32) attributes {gpu.kernel, nvvm.kernel} {
      %e = llvm.intr.log2(%in) : (f32) -> f32
      llvm.store %e, %out : f32, !llvm.ptr<1>
      llvm.return
    }
  }
}
