// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What convert-tile-to-gpu refuses of roles, and of who learns of the next tile.
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(gpu.module(gpu.func(tile-allocate-shared)),convert-tile-to-gpu)"

module attributes {tile.target = #tile.target<chip = "toy", family = "RDNA3", lanes = 32, sms = 1, shared = 65536,
  shared_per_sm = 65536, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  gpu.module @kernels {
    gpu.func @roles_on_toy() kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      // expected-error @below {{'tile.specialize' op expects a target with roles of warps, but got 'toy'}}
      tile.specialize <"compute", warps = 4, registers = 240> {
      }, <"load", warps = 4, registers = 24, threads = one> {
      }
      gpu.return
    }
  }
}

// -----

module attributes {tile.target = #tile.target<chip = "toy", family = "Hopper", lanes = 32, sms = 1, shared = 65536,
  shared_per_sm = 65536, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  gpu.module @kernels {
    gpu.func @too_few_registers() kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      // expected-error @below {{expects registers of a role on 'toy' in multiples of 8 from 24 to 256, but got #tile.role<"load", warps = 4, registers = 16, threads = one>}}
      tile.specialize <"compute", warps = 4, registers = 240> {
      }, <"load", warps = 4, registers = 16, threads = one> {
      }
      gpu.return
    }
  }
}

// -----

module attributes {tile.target = #tile.target<chip = "toy", family = "Hopper", lanes = 32, sms = 1, shared = 65536,
  shared_per_sm = 65536, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  gpu.module @kernels {
    gpu.func @too_many_registers() kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      // expected-error @below {{expects registers of a role on 'toy' in multiples of 8 from 24 to 256, but got #tile.role<"compute", warps = 4, registers = 264>}}
      tile.specialize <"compute", warps = 4, registers = 264> {
      }, <"load", warps = 4, registers = 24, threads = one> {
      }
      gpu.return
    }
  }
}

// -----

module attributes {tile.target = #tile.target<chip = "toy", family = "Hopper", lanes = 32, sms = 1, shared = 65536,
  shared_per_sm = 65536, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  gpu.module @kernels {
    gpu.func @registers_out_of_step() kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      // expected-error @below {{expects registers of a role on 'toy' in multiples of 8 from 24 to 256, but got #tile.role<"compute", warps = 4, registers = 100>}}
      tile.specialize <"compute", warps = 4, registers = 100> {
      }, <"load", warps = 4, registers = 24, threads = one> {
      }
      gpu.return
    }
  }
}

// -----

module attributes {tile.target = #tile.target<chip = "toy", family = "Hopper", lanes = 32, sms = 1, shared = 65536,
  shared_per_sm = 65536, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  gpu.module @kernels {
    gpu.func @registers_of_a_part() kernel attributes {known_block_size = array<i32: 160, 1, 1>} {
      // expected-error @below {{expects roles of which each 4 warps ask for registers together on 'toy', but got #tile.role<"load", warps = 1, registers = 24, threads = one> from warp 4}}
      tile.specialize <"compute", warps = 4, registers = 240> {
      }, <"load", warps = 1, registers = 24, threads = one> {
      }
      gpu.return
    }
  }
}

// -----

module attributes {tile.target = #tile.target<chip = "toy", family = "Hopper", lanes = 32, sms = 1, shared = 65536,
  shared_per_sm = 65536, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  gpu.module @kernels {
    gpu.func @registers_across_warpgroups() kernel attributes {known_block_size = array<i32: 384, 1, 1>} {
      // expected-error @below {{expects roles of which each 4 warps ask for registers together on 'toy', but got #tile.role<"compute", warps = 6, registers = 240> from warp 0}}
      tile.specialize <"compute", warps = 6, registers = 240> {
      }, <"load", warps = 6, registers = 24, threads = one> {
      }
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
    gpu.func @group_across_warps(%a: !a, %b: !atoms, %acc: !acc) kernel attributes {known_block_size = array<i32: 160, 1, 1>} {
      tile.specialize <"load", warps = 1, threads = one> {
      }, <"compute", warps = 4> {
        // expected-error @below {{expects the warps of its role to start at a multiple of 4, but got 1}}
        %d = tile.mma %a, %b, %acc scope warpgroup {atom = #atom} : !a, !atoms, !acc
      }
      gpu.return
    }
  }
}

// -----

module attributes {tile.target = #tile.target<chip = "toy", family = "Hopper", lanes = 32, sms = 1, shared = 65536,
  shared_per_sm = 65536, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  gpu.module @kernels {
    gpu.func @too_few_warps() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
      // expected-error @below {{expects a workgroup of the 8 warps of all roles, but got 4}}
      tile.specialize <"compute", warps = 4, registers = 240> {
      }, <"load", warps = 4, registers = 24, threads = one> {
      }
      gpu.return
    }
  }
}

// -----

module attributes {tile.target = #tile.target<chip = "toy", family = "Hopper", lanes = 32, sms = 1, shared = 65536,
  shared_per_sm = 65536, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  gpu.module @kernels {
    gpu.func @producer_without_swizzle_atoms(%m: memref<16x64xf16>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c = tile.channel : !tile.channel<16x64xf16, stages = 1>
      tile.specialize <"compute", warps = 4, registers = 240> {
      }, <"load", warps = 4, registers = 24, threads = one> {
        // expected-error @below {{expects a channel with swizzle atoms between producers and consumers, but got '!tile.channel<16x64xf16, stages = 1>'}}
        tile.put %c[%c0], %m[%c0, %c0] : !tile.channel<16x64xf16, stages = 1>, memref<16x64xf16>
      }
      gpu.return
    }
  }
}

// -----

module attributes {tile.target = #tile.target<chip = "toy", family = "Hopper", lanes = 32, sms = 1, shared = 65536,
  shared_per_sm = 65536, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  gpu.module @kernels {
    gpu.func @work_without_roles() kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      %c0 = arith.constant 0 : index
      %d = tile.scheduler : !tile.scheduler
      // expected-error @below {{'tile.get_work' op expects to stand in a role}}
      %n = tile.get_work %d[%c0] after %c0 : !tile.scheduler
      gpu.return
    }
  }
}

// -----

module attributes {tile.target = #tile.target<chip = "toy", family = "Hopper", lanes = 32, sms = 1, shared = 65536,
  shared_per_sm = 65536, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  gpu.module @kernels {
    gpu.func @work_without_roles(%counter: memref<1xi32>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      %c0 = arith.constant 0 : index
      %d = tile.scheduler : !tile.scheduler
      // expected-error @below {{expects to stand in a role of which one thread runs the program}}
      %n = tile.fetch_work %d[%c0], %counter after %c0 of %c0 : !tile.scheduler, memref<1xi32>
      gpu.return
    }
  }
}

// -----

module attributes {tile.target = #tile.target<chip = "toy", family = "Hopper", lanes = 32, sms = 1, shared = 65536,
  shared_per_sm = 65536, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  gpu.module @kernels {
    gpu.func @registers_of_one_thread(%x: f16) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      tile.specialize <"compute", warps = 4> {
      }, <"load", warps = 4, threads = one> {
        // expected-error @below {{'tile.fill' op expects tiles in registers in roles of which all threads run the program, but got one in 'load'}}
        %t = tile.fill %x : f16 -> !tile.tile<16xf16, registers, #tile.layout<registers = [[16, 0, 1]], lanes = [[32, 0, 0]], warps = [[4, 0, 0]]>>
      }
      gpu.return
    }
  }
}

// -----

module attributes {tile.target = #tile.target<chip = "toy", family = "Hopper", lanes = 32, sms = 1, shared = 65536,
  shared_per_sm = 65536, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  gpu.module @kernels {
    gpu.func @barrier_of_one_thread(%x: f16) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      tile.specialize <"compute", warps = 4> {
      }, <"load", warps = 4, threads = one> {
        // expected-error @below {{'tile.barrier' op expects to stand in a role of which all threads run the program}}
        tile.barrier
      }
      gpu.return
    }
  }
}

// -----

module attributes {tile.target = #tile.target<chip = "toy", family = "Hopper", lanes = 32, sms = 1, shared = 65536,
  shared_per_sm = 65536, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  gpu.module @kernels {
    // expected-error @below {{expects a program for each role, but got 'tile.roles'; run tile-specialize-warps first}}
    gpu.func @roles_without_programs() kernel attributes {known_block_size = array<i32: 256, 1, 1>,
        tile.roles = [#tile.role<"compute", warps = 4>, #tile.role<"load", warps = 4, threads = one>]} {
      tile.sync_warp
      gpu.return
    }
  }
}

// -----

!channel = !tile.channel<16x64xf16, stages = 2, swizzle_atom = 32>
module attributes {tile.target = #tile.target<chip = "toy", family = "Hopper", lanes = 32, sms = 1, shared = 65536,
  shared_per_sm = 65536, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  gpu.module @kernels {
    gpu.func @mixed_releases(%n: index) kernel attributes {known_block_size = array<i32: 288, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c = tile.channel : !channel
      tile.specialize <"compute", warps = 8, teams = 2> {
        // expected-error @below {{'tile.release' op expects all elements of a channel to be released by one team, or all by every team, but got both}}
        tile.release %c[%c0] : !channel
        %turn = tile.is_turn %n
        scf.if %turn {
          tile.release %c[%n] : !channel
        }
      }, <"load", warps = 1, threads = one> {
      }
      gpu.return
    }
  }
}

// -----

module attributes {tile.target = #tile.target<chip = "toy", family = "Hopper", lanes = 32, sms = 1, shared = 65536,
  shared_per_sm = 65536, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  gpu.module @kernels {
    gpu.func @ping_pong_of_others() kernel attributes {known_block_size = array<i32: 288, 1, 1>} {
      tile.specialize <"compute", warps = 8, teams = 2> {
        // expected-error @below {{'tile.ping_pong_init' op expects as many groups as the role has teams, 2, but got 4}}
        tile.ping_pong_init of 4
      }, <"load", warps = 1, threads = one> {
      }
      gpu.return
    }
  }
}

// -----

!tile = !tile.tile<64x32xf16, shared, #tile.swizzle<vector = 8, bits = 2, shift = 1, swizzle_atom = 32>>
module attributes {tile.target = #tile.target<chip = "toy", family = "Hopper", lanes = 32, sms = 1, shared = 65536,
  shared_per_sm = 65536, registers = 1, registers_per_sm = 1, max_threads = 1, max_threads_per_sm = 1,
  copy_sync = none, copy_widths = [], mma = []>} {
  gpu.module @kernels {
    gpu.func @buffer_of_teams(%m: memref<64x32xf16>) kernel attributes {known_block_size = array<i32: 288, 1, 1>} {
      %c0 = arith.constant 0 : index
      %place = tile.buffer : !tile
      tile.specialize <"compute", warps = 8, teams = 2> {
        %a = tile.store_async %place, %m[%c0, %c0] : !tile, memref<64x32xf16>
        tile.wait_reads %a : !tile.token
      }, <"load", warps = 1, threads = one> {
        // expected-error @below {{'tile.store_async' op expects to stand in role 'compute', whose teams have a buffer each}}
        %b = tile.store_async %place, %m[%c0, %c0] : !tile, memref<64x32xf16>
        tile.wait_reads %b : !tile.token
      }
      gpu.return
    }
  }
}
