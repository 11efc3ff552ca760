// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What convert-tile-to-gpu refuses.
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(gpu.module(gpu.func(tile-allocate-shared)),convert-tile-to-gpu)"

!rows = !tile.tile<16x8xf32, registers, #tile.layout<registers = [[8, 1, 1]], lanes = [[16, 0, 1], [2, 0, 0]], warps = []>>
gpu.module @kernels {
  // expected-error @below {{expects a 'tile.target' attribute on the kernel or around it; run attune-attach-target first}}
  gpu.func @no_target(%x: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %a = tile.fill %x : f32 -> !rows
    gpu.return
  }
}

// -----

!rows = !tile.tile<16x8xf32, registers, #tile.layout<registers = [[8, 1, 1]], lanes = [[16, 0, 1], [2, 0, 0]], warps = []>>
module attributes {tile.target = #tile.target<chip = "toy", family = "Toy", lanes = 32, sms = 1, shared = 1024,
  shared_per_sm = 1024, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  gpu.module @kernels {
    // expected-error @below {{expects a family that this build knows, but got 'Toy'}}
    gpu.func @unknown_family(%x: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      %a = tile.fill %x : f32 -> !rows
      gpu.return
    }
  }
}

// -----

!rows = !tile.tile<16x8xf32, registers, #tile.layout<registers = [[8, 1, 1]], lanes = [[16, 0, 1], [2, 0, 0]], warps = []>>
module attributes {tile.target = #tile.target<chip = "toy", family = "RDNA3", lanes = 32, sms = 1, shared = 1024,
  shared_per_sm = 1024, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  gpu.module @kernels {
    // expected-error @below {{expects 'known_block_size' on the kernel}}
    gpu.func @no_block_size(%x: f32) kernel {
      %a = tile.fill %x : f32 -> !rows
      gpu.return
    }
  }
}

// -----

module attributes {tile.target = #tile.target<chip = "toy", family = "RDNA3", lanes = 32, sms = 1, shared = 1024,
  shared_per_sm = 1024, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  gpu.module @kernels {
    // expected-error @below {{expects at most 1024 bytes of shared memory on 'toy', but got 2048}}
    gpu.func @shared_overflow() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      %a = tile.channel : !tile.channel<16x32xf16, stages = 2>
      gpu.return
    }
  }
}

// -----

module attributes {tile.target = #tile.target<chip = "toy", family = "RDNA3", lanes = 32, sms = 1, shared = 1024,
  shared_per_sm = 1024, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  gpu.module @kernels {
    gpu.func @no_layout(%x: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      // expected-error @below {{expects a layout on every tile in registers, but got '!tile.tile<16x8xf32, registers>'; run tile-assign-layouts first}}
      %a = tile.fill %x : f32 -> !tile.tile<16x8xf32, registers>
      gpu.return
    }
  }
}

// -----

#rows = #tile.layout<registers = [[8, 1, 1]], lanes = [[16, 0, 1], [2, 0, 0]], warps = [[2, 0, 16]]>
#columns = #tile.layout<registers = [[8, 1, 1]], lanes = [[2, 0, 0], [16, 0, 2]], warps = [[2, 0, 1]]>
module attributes {tile.target = #tile.target<chip = "toy", family = "RDNA3", lanes = 32, sms = 1, shared = 1024,
  shared_per_sm = 1024, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  gpu.module @kernels {
    gpu.func @between_warps(%x: f32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %a = tile.fill %x : f32 -> !tile.tile<32x8xf32, registers, #rows>
      // expected-error @below {{failed to legalize operation 'tile.convert_layout'}}
      %b = tile.convert_layout %a : !tile.tile<32x8xf32, registers, #rows> -> !tile.tile<32x8xf32, registers, #columns>
      gpu.return
    }
  }
}

// -----

!rows = !tile.tile<16x8xf32, registers, #tile.layout<registers = [[8, 1, 1]], lanes = [[16, 0, 1], [2, 0, 0]], warps = []>>
module attributes {tile.target = #tile.target<chip = "toy", family = "RDNA3", lanes = 32, sms = 1, shared = 1024,
  shared_per_sm = 1024, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  gpu.module @kernels {
    gpu.func @not_elementwise(%m: memref<8xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      // expected-error @below {{failed to legalize operation 'tile.map'}}
      %a = tile.map() {
      ^bb0(%i: index, %j: index):
        %f = arith.constant 1.0 : f32
        // expected-error @below {{expects an elementwise operation, a load or an addition to memory in a tile.map}}
        memref.store %f, %m[%i] : memref<8xf32>
        tile.yield %f : f32
      } : () -> !rows
      gpu.return
    }
  }
}

// -----

!rows = !tile.tile<32x8xf32, registers, #tile.layout<registers = [[8, 1, 1]], lanes = [[32, 0, 1]], warps = []>>
module attributes {tile.target = #tile.target<chip = "toy", family = "RDNA3", lanes = 32, sms = 1, shared = 1024,
  shared_per_sm = 1024, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  gpu.module @kernels {
    gpu.func @asks_before(%m: memref<8xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      // expected-error @below {{failed to legalize operation 'tile.map'}}
      %a = tile.map() {
      ^bb0(%i: index, %j: index):
        %f = arith.constant 1.0 : f32
        // expected-error @below {{expects an addition of f32 whose result is not used in a tile.map}}
        %x = memref.atomic_rmw addf %f, %m[%i] : (f32, memref<8xf32>) -> f32
        tile.yield %x : f32
      } : () -> !rows
      gpu.return
    }
  }
}

// -----

!rows = !tile.tile<32x8xf32, registers, #tile.layout<registers = [[8, 1, 1]], lanes = [[32, 0, 1]], warps = []>>
module attributes {tile.target = #tile.target<chip = "toy", family = "RDNA3", lanes = 32, sms = 1, shared = 1024,
  shared_per_sm = 1024, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  gpu.module @kernels {
    gpu.func @maximum(%m: memref<8xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      // expected-error @below {{failed to legalize operation 'tile.map'}}
      %a = tile.map() {
      ^bb0(%i: index, %j: index):
        %f = arith.constant 1.0 : f32
        // expected-error @below {{expects an addition of f32 whose result is not used in a tile.map}}
        %x = memref.atomic_rmw maximumf %f, %m[%i] : (f32, memref<8xf32>) -> f32
        tile.yield %f : f32
      } : () -> !rows
      gpu.return
    }
  }
}

// -----

!rows = !tile.tile<16x8xf32, registers, #tile.layout<registers = [[8, 1, 1]], lanes = [[16, 0, 1], [2, 0, 0]], warps = []>>
module attributes {tile.target = #tile.target<chip = "toy", family = "RDNA3", lanes = 32, sms = 1, shared = 1024,
  shared_per_sm = 1024, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  gpu.module @kernels {
    gpu.func @adds_twice(%m: memref<8xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      // expected-error @below {{failed to legalize operation 'tile.map'}}
      %a = tile.map() {
      ^bb0(%i: index, %j: index):
        %f = arith.constant 1.0 : f32
        // expected-error @below {{expects each element of a tile.map that adds to memory to be one thread's alone}}
        %x = memref.atomic_rmw addf %f, %m[%i] : (f32, memref<8xf32>) -> f32
        tile.yield %f : f32
      } : () -> !rows
      gpu.return
    }
  }
}

// -----

module attributes {tile.target = #tile.target<chip = "toy", family = "RDNA3", lanes = 32, sms = 1, shared = 65536,
  shared_per_sm = 65536, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  gpu.module @kernels {
    gpu.func @swizzle_atoms_without_barriers() kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      // expected-error @below {{'tile.channel' op expects a target with barriers in shared memory, but got 'toy'}}
      %c = tile.channel : !tile.channel<16x64xf16, stages = 1, swizzle_atom = 64>
      gpu.return
    }
  }
}

// -----

module attributes {tile.target = #tile.target<chip = "toy", family = "RDNA3", lanes = 32, sms = 1, shared = 65536,
  shared_per_sm = 65536, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  gpu.module @kernels {
    gpu.func @start_without_barriers() kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      // expected-error @below {{'tile.ping_pong_init' op expects a target with barriers in shared memory, but got 'toy'}}
      tile.ping_pong_init of 4
      gpu.return
    }
  }
}

// -----

module attributes {tile.target = #tile.target<chip = "toy", family = "RDNA3", lanes = 32, sms = 1, shared = 65536,
  shared_per_sm = 65536, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  gpu.module @kernels {
    gpu.func @take_without_barriers() kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      // expected-error @below {{'tile.ping_pong_wait' op expects a target with barriers in shared memory, but got 'toy'}}
      tile.ping_pong_wait of 4
      gpu.return
    }
  }
}

// -----

module attributes {tile.target = #tile.target<chip = "toy", family = "RDNA3", lanes = 32, sms = 1, shared = 65536,
  shared_per_sm = 65536, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  gpu.module @kernels {
    gpu.func @give_without_barriers() kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      // expected-error @below {{'tile.ping_pong_arrive' op expects a target with barriers in shared memory, but got 'toy'}}
      tile.ping_pong_arrive of 4
      gpu.return
    }
  }
}

// -----

#lhs = #tile.layout<registers = [[2, 1, 1], [2, 0, 8], [2, 1, 8]], lanes = [[4, 1, 2], [8, 0, 1]], warps = [[4, 0, 16]]>
#rhs = #tile.layout<registers = [[16, 0, 1], [16, 1, 1]], lanes = [[32, 0, 0]], warps = [[4, 0, 0]]>
#atom = #tile.mma_atom<name = "group", m = 64, n = 16, k = 16, lhsType = f16, rhsType = f16, accType = f32, lhs = #lhs, rhs = #rhs, acc = #lhs>
!acc = !tile.tile<64x16xf32, registers, #lhs>
!a = !tile.tile<64x16xf16, registers, #lhs>
!atoms = !tile.tile<16x16xf16, shared, #tile.swizzle<vector = 8, bits = 1, shift = 2, swizzle_atom = 16>>
!rows = !tile.tile<16x16xf16, shared, #tile.swizzle<vector = 8, bits = 1, shift = 2>>
module attributes {tile.target = #tile.target<chip = "toy", family = "RDNA3", lanes = 32, sms = 1, shared = 65536,
  shared_per_sm = 65536, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  gpu.module @kernels {
    gpu.func @multiply_without_matrix_unit(%a: !a, %b: !atoms, %acc: !acc) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
      // expected-error @below {{'tile.mma' op expects a target with a matrix unit that warpgroups issue to, but got 'toy'}}
      %d = tile.mma %a, %b, %acc scope warpgroup {atom = #atom} : !a, !atoms, !acc
      gpu.return
    }
  }
}

// -----

#lhs = #tile.layout<registers = [[2, 1, 1], [2, 0, 8], [2, 1, 8]], lanes = [[4, 1, 2], [8, 0, 1]], warps = [[4, 0, 16]]>
#rhs = #tile.layout<registers = [[16, 0, 1], [16, 1, 1]], lanes = [[32, 0, 0]], warps = [[4, 0, 0]]>
#atom = #tile.mma_atom<name = "group", m = 64, n = 16, k = 16, lhsType = f16, rhsType = f16, accType = f32, lhs = #lhs, rhs = #rhs, acc = #lhs>
!acc = !tile.tile<64x16xf32, registers, #lhs>
!a = !tile.tile<64x16xf16, registers, #lhs>
!atoms = !tile.tile<16x16xf16, shared, #tile.swizzle<vector = 8, bits = 1, shift = 2, swizzle_atom = 16>>
!rows = !tile.tile<16x16xf16, shared, #tile.swizzle<vector = 8, bits = 1, shift = 2>>
module attributes {tile.target = #tile.target<chip = "toy", family = "RDNA3", lanes = 32, sms = 1, shared = 65536,
  shared_per_sm = 65536, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  gpu.module @kernels {
    gpu.func @issue_without_matrix_unit(%a: !a, %b: !atoms, %acc: !acc) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
      // expected-error @below {{'tile.mma_async' op expects a target with a matrix unit that warpgroups issue to, but got 'toy'}}
      %d = tile.mma_async %a, %b, %acc scope warpgroup {atom = #atom} : !a, !atoms, !acc
      gpu.return
    }
  }
}

// -----

#lhs = #tile.layout<registers = [[2, 1, 1], [2, 0, 8], [2, 1, 8]], lanes = [[4, 1, 2], [8, 0, 1]], warps = [[4, 0, 16]]>
#rhs = #tile.layout<registers = [[16, 0, 1], [16, 1, 1]], lanes = [[32, 0, 0]], warps = [[4, 0, 0]]>
#atom = #tile.mma_atom<name = "group", m = 64, n = 16, k = 16, lhsType = f16, rhsType = f16, accType = f32, lhs = #lhs, rhs = #rhs, acc = #lhs>
!acc = !tile.tile<64x16xf32, registers, #lhs>
!a = !tile.tile<64x16xf16, registers, #lhs>
!atoms = !tile.tile<16x16xf16, shared, #tile.swizzle<vector = 8, bits = 1, shift = 2, swizzle_atom = 16>>
!rows = !tile.tile<16x16xf16, shared, #tile.swizzle<vector = 8, bits = 1, shift = 2>>
module attributes {tile.target = #tile.target<chip = "toy", family = "Hopper", lanes = 32, sms = 1, shared = 65536,
  shared_per_sm = 65536, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  gpu.module @kernels {
    gpu.func @no_swizzle_atoms(%a: !a, %b: !rows, %acc: !acc) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
      // expected-error @below {{expects operands in shared memory to be stored in swizzle atoms, but got '!tile.tile<16x16xf16, shared, #tile.swizzle<vector = 8, bits = 1, shift = 2>>'}}
      %d = tile.mma %a, %b, %acc scope warpgroup {atom = #atom} : !a, !rows, !acc
      gpu.return
    }
  }
}

// -----

#one = #tile.layout<registers = [[2, 1, 1], [2, 0, 8], [2, 1, 8]], lanes = [[4, 1, 2], [8, 0, 1]], warps = []>
#atom = #tile.mma_atom<name = "one", m = 16, n = 16, k = 16, lhsType = f16, rhsType = f16, accType = f32, lhs = #one, rhs = #one, acc = #one>
!acc = !tile.tile<16x16xf32, registers, #one>
!a = !tile.tile<16x16xf16, registers, #one>
!atoms = !tile.tile<16x16xf16, shared, #tile.swizzle<vector = 8, bits = 1, shift = 2, swizzle_atom = 16>>
module attributes {tile.target = #tile.target<chip = "toy", family = "Hopper", lanes = 32, sms = 1, shared = 65536,
  shared_per_sm = 65536, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  gpu.module @kernels {
    gpu.func @swizzle_atoms_for_one_warp(%a: !a, %b: !atoms, %acc: !acc) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      // expected-error @below {{expects operands in shared memory to be stored in whole rows, but got '!tile.tile<16x16xf16, shared, #tile.swizzle<vector = 8, bits = 1, shift = 2, swizzle_atom = 16>>'}}
      %d = tile.mma %a, %b, %acc {atom = #atom} : !a, !atoms, !acc
      gpu.return
    }
  }
}

// -----

#one = #tile.layout<registers = [[2, 1, 1], [2, 0, 8], [2, 1, 8]], lanes = [[4, 1, 2], [8, 0, 1]], warps = []>
#atom = #tile.mma_atom<name = "one", m = 16, n = 16, k = 16, lhsType = f16, rhsType = f16, accType = f32, lhs = #one, rhs = #one, acc = #one>
!acc = !tile.tile<16x16xf32, registers, #one>
!a = !tile.tile<16x16xf16, registers, #one>
module attributes {tile.target = #tile.target<chip = "toy", family = "Hopper", lanes = 32, sms = 1, shared = 65536,
  shared_per_sm = 65536, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  gpu.module @kernels {
    gpu.func @no_groups(%a: !a, %acc: !acc) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      // expected-error @below {{'tile.mma' op expects a target with MMAs that it is told how to issue, but got 'toy'}}
      %d = tile.mma %a, %a, %acc {atom = #atom, tile.issue_groups} : !a, !a, !acc
      gpu.return
    }
  }
}

// -----

#one = #tile.layout<registers = [[2, 1, 1], [2, 0, 8], [2, 1, 8]], lanes = [[4, 1, 2], [8, 0, 1]], warps = []>
#atom = #tile.mma_atom<name = "one", m = 16, n = 16, k = 16, lhsType = f16, rhsType = f16, accType = f32, lhs = #one, rhs = #one, acc = #one>
!acc = !tile.tile<16x16xf32, registers, #one>
!a = !tile.tile<16x16xf16, registers, #one>
!rows = !tile.tile<16x16xf16, registers, #tile.layout<registers = [[8, 1, 1]], lanes = [[2, 1, 8], [16, 0, 1]], warps = []>>
!atoms = !tile.tile<16x16xf16, shared, #tile.swizzle<vector = 8, bits = 1, shift = 2, swizzle_atom = 16>>
module attributes {tile.target = #tile.target<chip = "toy", family = "Hopper", lanes = 32, sms = 1, shared = 65536,
  shared_per_sm = 65536, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  gpu.module @kernels {
    gpu.func @read_of_swizzle_atoms(%b: !atoms) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      // expected-error @below {{expects elements of 8, 16 or 32 bits in the layout of the accumulator of a warpgroup MMA, but got '!tile.tile<16x16xf16, registers, #tile.layout<registers = [[8, 1, 1]], lanes = [[2, 1, 8], [16, 0, 1]], warps = []>>'}}
      %a = tile.read %b : !atoms -> !rows
      gpu.return
    }
  }
}

// -----

#one = #tile.layout<registers = [[2, 1, 1], [2, 0, 8], [2, 1, 8]], lanes = [[4, 1, 2], [8, 0, 1]], warps = []>
#atom = #tile.mma_atom<name = "one", m = 16, n = 16, k = 16, lhsType = f16, rhsType = f16, accType = f32, lhs = #one, rhs = #one, acc = #one>
!acc = !tile.tile<16x16xf32, registers, #one>
!a = !tile.tile<16x16xf16, registers, #one>
!atoms = !tile.tile<16x16xf16, shared, #tile.swizzle<vector = 8, bits = 1, shift = 2, swizzle_atom = 16>>
module attributes {tile.target = #tile.target<chip = "toy", family = "Hopper", lanes = 32, sms = 1, shared = 65536,
  shared_per_sm = 65536, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  gpu.module @kernels {
    gpu.func @no_atom(%a: !a, %b: !atoms, %acc: !acc) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      // expected-error @below {{expects a matrix instruction; run tile-assign-layouts first}}
      %d = tile.mma_async %a, %b, %acc : !a, !atoms, !acc
      gpu.return
    }
  }
}

// -----

#lhs = #tile.layout<registers = [[2, 1, 1], [2, 0, 8], [2, 1, 8]], lanes = [[4, 1, 2], [8, 0, 1]], warps = [[4, 0, 16]]>
#rhs = #tile.layout<registers = [[16, 0, 1], [16, 1, 1]], lanes = [[32, 0, 0]], warps = [[4, 0, 0]]>
#atom = #tile.mma_atom<name = "group", m = 64, n = 16, k = 16, lhsType = f16, rhsType = f16, accType = f32, lhs = #lhs, rhs = #rhs, acc = #lhs>
!acc = !tile.tile<64x16xf32, registers, #lhs>
!a = !tile.tile<64x16xf16, registers, #lhs>
!atoms = !tile.tile<16x16xf16, shared, #tile.swizzle<vector = 8, bits = 1, shift = 2, swizzle_atom = 16>>
!rows = !tile.tile<16x16xf16, shared, #tile.swizzle<vector = 8, bits = 1, shift = 2>>
module attributes {tile.target = #tile.target<chip = "toy", family = "Hopper", lanes = 32, sms = 1, shared = 65536,
  shared_per_sm = 65536, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  gpu.module @kernels {
    gpu.func @group_of_six(%a: !a, %b: !atoms, %acc: !acc) kernel attributes {known_block_size = array<i32: 192, 1, 1>} {
      // expected-error @below {{expects a multiple of 4 warps that compute, but got 6}}
      %d = tile.mma %a, %b, %acc scope warpgroup {atom = #atom} : !a, !atoms, !acc
      gpu.return
    }
  }
}

// -----

#lhs = #tile.layout<registers = [[2, 1, 1], [2, 0, 8], [2, 1, 8]], lanes = [[4, 1, 2], [8, 0, 1]], warps = [[4, 0, 16]]>
#rhs = #tile.layout<registers = [[16, 0, 1], [16, 1, 1]], lanes = [[32, 0, 0]], warps = [[4, 0, 0]]>
#atom = #tile.mma_atom<name = "group", m = 64, n = 16, k = 16, lhsType = f16, rhsType = f16, accType = f32, lhs = #lhs, rhs = #rhs, acc = #lhs>
!acc = !tile.tile<64x16xf32, registers, #lhs>
!a = !tile.tile<64x16xf16, registers, #lhs>
!atoms = !tile.tile<16x16xf16, shared, #tile.swizzle<vector = 8, bits = 1, shift = 2, swizzle_atom = 16>>
!rows = !tile.tile<16x16xf16, shared, #tile.swizzle<vector = 8, bits = 1, shift = 2>>
module attributes {tile.target = #tile.target<chip = "toy", family = "Hopper", lanes = 32, sms = 1, shared = 65536,
  shared_per_sm = 65536, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  gpu.module @kernels {
    gpu.func @part_of_a_warp(%a: !a, %b: !atoms, %acc: !acc) kernel attributes {known_block_size = array<i32: 24, 1, 1>} {
      // expected-error @below {{expects a multiple of 4 warps that compute, but got 0}}
      %d = tile.mma %a, %b, %acc scope warpgroup {atom = #atom} : !a, !atoms, !acc
      gpu.return
    }
  }
}

// -----

module attributes {tile.target = #tile.target<chip = "toy", family = "Hopper", lanes = 32, sms = 1, shared = 65536,
  shared_per_sm = 65536, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  gpu.module @kernels {
    gpu.func @uneven_ping_pong() kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      // expected-error @below {{expects groups of as many warps each, but got 3 of 8}}
      tile.ping_pong_wait of 3
      gpu.return
    }
  }
}

// -----

!channel = !tile.channel<16x64xf16, stages = 1, swizzle_atom = 64>
module attributes {tile.target = #tile.target<chip = "toy", family = "Hopper", lanes = 32, sms = 1, shared = 65536,
  shared_per_sm = 65536, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  gpu.module @kernels {
    gpu.func @channel_from_outside(%c: !channel) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      %c0 = arith.constant 0 : index
      // expected-error @below {{expects a channel that 'tile.channel' makes}}
      tile.release %c[%c0] : !channel
      gpu.return
    }
  }
}

// -----

!channel = !tile.channel<16x64xf16, stages = 1, swizzle_atom = 64>
module attributes {tile.target = #tile.target<chip = "toy", family = "Hopper", lanes = 32, sms = 1, shared = 65536,
  shared_per_sm = 65536, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  gpu.module @kernels {
    gpu.func @boxes_of_no_argument() kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      %c0 = arith.constant 0 : index
      %m = memref.alloca() : memref<16x64xf16, #gpu.address_space<private>>
      %c = tile.channel : !channel
      // expected-error @below {{expects a view, with rows of neighbours, of an argument of the kernel to copy TMA boxes of, but got 'memref<16x64xf16, #gpu.address_space<private>>'}}
      tile.put %c[%c0], %m[%c0, %c0] : !channel, memref<16x64xf16, #gpu.address_space<private>>
      gpu.return
    }
  }
}

// -----

!channel = !tile.channel<16x64xf16, stages = 1, swizzle_atom = 64>
module attributes {tile.target = #tile.target<chip = "toy", family = "Hopper", lanes = 32, sms = 1, shared = 65536,
  shared_per_sm = 65536, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  gpu.module @kernels {
    gpu.func @boxes_of_columns(%m: memref<64x16xf16>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      %c0 = arith.constant 0 : index
      %t = memref.transpose %m (i, j) -> (j, i) : memref<64x16xf16> to memref<16x64xf16, strided<[1, 16]>>
      %c = tile.channel : !channel
      // expected-error @below {{expects a view, with rows of neighbours, of an argument of the kernel to copy TMA boxes of, but got 'memref<16x64xf16, strided<[1, 16]>>'}}
      tile.put %c[%c0], %t[%c0, %c0] : !channel, memref<16x64xf16, strided<[1, 16]>>
      gpu.return
    }
  }
}

// -----

!channel = !tile.channel<16x64xf16, stages = 1, swizzle_atom = 64>
module attributes {tile.target = #tile.target<chip = "toy", family = "Hopper", lanes = 32, sms = 1, shared = 65536,
  shared_per_sm = 65536, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  gpu.module @kernels {
    gpu.func @boxes_of_every_other_row(%m: memref<32x64xf16>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      %c0 = arith.constant 0 : index
      %t = memref.subview %m[0, 0] [16, 64] [2, 1] : memref<32x64xf16> to memref<16x64xf16, strided<[128, 1]>>
      %c = tile.channel : !channel
      // expected-error @below {{expects a view, with rows of neighbours, of an argument of the kernel to copy TMA boxes of, but got 'memref<16x64xf16, strided<[128, 1]>>'}}
      tile.put %c[%c0], %t[%c0, %c0] : !channel, memref<16x64xf16, strided<[128, 1]>>
      gpu.return
    }
  }
}

// -----

!channel = !tile.channel<16x64xf16, stages = 1, swizzle_atom = 64>
module attributes {tile.target = #tile.target<chip = "toy", family = "Hopper", lanes = 32, sms = 1, shared = 65536,
  shared_per_sm = 65536, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  gpu.module @kernels {
    gpu.func @boxes_of_a_carried_buffer(%m: memref<16x64xf16>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c = tile.channel : !channel
      %r = scf.for %i = %c0 to %c1 step %c1 iter_args(%t = %m) -> memref<16x64xf16> {
        // expected-error @below {{expects a view, with rows of neighbours, of an argument of the kernel to copy TMA boxes of, but got 'memref<16x64xf16>'}}
        tile.put %c[%c0], %t[%c0, %c0] : !channel, memref<16x64xf16>
        scf.yield %t : memref<16x64xf16>
      }
      gpu.return
    }
  }
}

// -----

#rows = #tile.layout<registers = [[2, 0, 16]], lanes = [[16, 0, 1], [2, 0, 0]], warps = []>
module attributes {tile.target = #tile.target<chip = "toy", family = "RDNA3", lanes = 32, sms = 1, shared = 1024,
  shared_per_sm = 1024, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  gpu.module @kernels {
    gpu.func @effect_of_one_warp(%i1: i1, %m: memref<?x32xf16>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c = tile.channel : !tile.channel<8x32xf16, stages = 1>
      %t = tile.fill %i1 : i1 -> !tile.tile<32xi1, registers, #rows>
      %any = tile.any %t : !tile.tile<32xi1, registers, #rows>
      // expected-error @below {{expects no effects on memory where warps may differ in the condition}}
      scf.if %any {
        tile.put %c[%c0], %m[%c0, %c0] : !tile.channel<8x32xf16, stages = 1>, memref<?x32xf16>
      }
      gpu.return
    }
  }
}

// -----

!channel = !tile.channel<32x32xf16, stages = 2, swizzle_atom = 32, cluster = 2>
gpu.module @kernels attributes {tile.target = #tile.target<chip = "sm_90a", family = "Hopper", lanes = 32, sms = 1,
  shared = 65536, shared_per_sm = 65536, registers = 255, registers_per_sm = 65536, max_threads = 1024,
  max_threads_per_sm = 1024, copy_sync = none, copy_widths = [], tma_box_bytes = 128, mma = []>} {
  gpu.func @no_cluster() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // expected-error @below {{'tile.channel' op expects a kernel with a known_cluster_size of 2, but got 1}}
    %c = tile.channel : !channel
    gpu.return
  }
}

// -----

!tile = !tile.tile<16x8xf32, registers, #tile.layout<registers = [[4, 1, 1]], lanes = [[16, 0, 1], [2, 0, 0]], warps = [[2, 1, 4]]>>
!sums = !tile.tile<16xf32, registers, #tile.layout<registers = [], lanes = [[16, 0, 1], [2, 0, 0]], warps = [[2, 0, 0]]>>
module attributes {tile.target = #tile.target<chip = "toy", family = "RDNA3", lanes = 32, sms = 1, shared = 1024,
  shared_per_sm = 1024, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  gpu.module @kernels {
    gpu.func @rows_of_warps(%a: !tile) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      // expected-error @below {{'tile.reduce' op expects each row inside one warp, but got layout}}
      %s = tile.reduce add %a dim 1 : !tile -> !sums
      gpu.return
    }
  }
}
