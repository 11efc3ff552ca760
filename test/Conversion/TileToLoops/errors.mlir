// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What convert-tile-to-loops refuses.
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics --convert-tile-to-loops

!rows = !tile.tile<16xf32, registers>
gpu.module @kernels {
  gpu.func @lanes(%x: f32) kernel {
    %a = tile.fill %x : f32 -> !rows
    // expected-error @below {{expects a kernel whose threads are not told apart, but got 'gpu.thread_id'}}
    %lane = gpu.thread_id x
    gpu.return
  }
}

// -----

!rows = !tile.tile<16xf32, registers>
gpu.module @kernels {
  gpu.func @select(%x: f32, %c: i1) kernel {
    %a = tile.fill %x : f32 -> !rows
    // expected-error @below {{expects tiles in tile ops, 'scf.for', 'scf.while' and 'scf.if' alone, but got 'arith.select'}}
    %b = arith.select %c, %a, %a : !rows
    gpu.return
  }
}

// -----

!rows = !tile.tile<16xf32, registers>
gpu.module @kernels {
  gpu.func @nested(%x: f32, %c: i1) kernel {
    // expected-error @below {{expects tiles in tile ops, 'scf.for', 'scf.while' and 'scf.if' alone, but got 'scf.execute_region'}}
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
  gpu.func @large(%x: f32) kernel {
    // expected-error @below {{expects tiles of at most 33554432 bytes with 8 bytes for an element, but got 134217728}}
    %a = tile.fill %x : f32 -> !tile.tile<4096x4096xf32, registers>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @countless() kernel {
    // expected-error @below {{expects tiles of at most 33554432 bytes with 8 bytes for an element, but got 4294967296}}
    %a = tile.channel : !tile.channel<16384x16384xf16, stages = 2>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @below {{'gpu.func' op expects at most 33554432 bytes of tiles in all ops together, but got 37748744}}
  gpu.func @together(%x: f32) kernel {
    %a = tile.fill %x : f32 -> !tile.tile<1024x3072xf32, registers>
    %b = tile.fill %x : f32 -> !tile.tile<1024x3072xf32, registers>
    %c = tile.fill %x : f32 -> !tile.tile<1024x3072xf32, registers>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @given(%a: !tile.tile<16x2xf32, registers>) kernel {
    // expected-error @below {{expects tiles that the kernel makes, and channels and MMAs that no op but loops and branches hand on, but got an operand of type '!tile.tile<16x2xf32, registers>'}}
    %b = tile.reduce add %a : !tile.tile<16x2xf32, registers> -> !tile.tile<16xf32, registers>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @handed_on(%c: i1) kernel {
    %a = tile.channel : !tile.channel<2x2xf32, stages = 2>
    %b = scf.if %c -> (!tile.channel<2x2xf32, stages = 2>) {
      // expected-error @below {{expects tiles that the kernel makes, and channels and MMAs that no op but loops and branches hand on, but got an operand of type '!tile.channel<2x2xf32, stages = 2>'}}
      scf.yield %a : !tile.channel<2x2xf32, stages = 2>
    } else {
      scf.yield %a : !tile.channel<2x2xf32, stages = 2>
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @integers(%x: i32) kernel {
    %a = tile.fill %x : i32 -> !tile.tile<16x2xi32, registers>
    // expected-error @below {{'tile.reduce' op expects floats, but got 'i32'}}
    %b = tile.reduce add %a : !tile.tile<16x2xi32, registers> -> !tile.tile<16xi32, registers>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @narrow(%x: f32, %y: f16) kernel {
    %a = tile.fill %x : f32 -> !tile.tile<16x16xf32, registers>
    %acc = tile.fill %y : f16 -> !tile.tile<16x16xf16, registers>
    // expected-error @below {{'tile.mma' op expects floats of the accumulator that are as the operands or wider, but got 'f32' and 'f16'}}
    %b = tile.mma %a, %a, %acc : !tile.tile<16x16xf32, registers>, !tile.tile<16x16xf32, registers>, !tile.tile<16x16xf16, registers>
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

// -----

!ring = !tile.channel<2x2xf32, stages = 2, swizzle_atom = 2>
gpu.module @kernels {
  gpu.func @producer_gets(%m: memref<2x2xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c = tile.channel : !ring
    tile.specialize <"compute", warps = 4, registers = 240> {
    }, <"load", warps = 4, registers = 24, threads = one> {
      // expected-error @below {{expects producers that put alone, but got 'tile.release'}}
      tile.release %c[%c0] : !ring
    }
    gpu.return
  }
}

// -----

!regs = !tile.tile<2x2xf32, registers>
gpu.module @kernels {
  gpu.func @pending_from_a_select(%x: f32, %first: i1) kernel {
    %a = tile.fill %x : f32 -> !regs
    %p = tile.mma_async %a, %a, %a : !regs, !regs, !regs
    %q = tile.mma_async %a, %a, %p : !regs, !regs, !tile.pending<!regs>
    // expected-error @below {{expects tiles that the kernel makes, and channels and MMAs that no op but loops and branches hand on, but got an operand of type '!tile.pending<<2x2xf32, registers>>'}}
    %r = arith.select %first, %p, %q : !tile.pending<!regs>
    %t = tile.wait %r : !tile.pending<!regs>
    gpu.return
  }
}

// -----

!regs = !tile.tile<2x2xf32, registers>
gpu.module @kernels {
  gpu.func @while_carries_a_tile(%x: f32, %more: i1) kernel {
    %a = tile.fill %x : f32 -> !regs
    // expected-error @below {{expects a loop that carries no tiles, but got '!tile.tile<2x2xf32, registers>'}}
    %r = scf.while (%t = %a) : (!regs) -> !regs {
      scf.condition(%more) %t : !regs
    } do {
    ^bb0(%t: !regs):
      scf.yield %t : !regs
    }
    gpu.return
  }
}
