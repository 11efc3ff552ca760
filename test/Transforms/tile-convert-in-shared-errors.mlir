// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What tile-convert-in-shared refuses.
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(gpu.module(gpu.func(tile-convert-in-shared)))"

#rows = #tile.layout<registers = [[8, 1, 1]], lanes = [[16, 0, 1]], warps = [[2, 0, 16]]>
#columns = #tile.layout<registers = [[4, 1, 1], [2, 0, 16]], lanes = [[16, 0, 1]], warps = [[2, 1, 4]]>
!rows = !tile.tile<32x8xf16, registers, #rows>
!columns = !tile.tile<32x8xf16, registers, #columns>
gpu.module @kernels {
  gpu.func @in_role(%a: !rows) kernel {
    tile.specialize <"load", warps = 2, threads = one> {
    }, <"compute", warps = 2> {
      // expected-error @below {{expects a conversion between warps to stand outside of roles, but got it in role 'compute'}}
      %b = tile.convert_layout %a : !rows -> !columns
    }
    gpu.return
  }
}

// -----

#rows = #tile.layout<registers = [[8, 1, 1]], lanes = [[16, 0, 1]], warps = [[2, 0, 16]]>
#columns = #tile.layout<registers = [[4, 1, 1], [2, 0, 16]], lanes = [[16, 0, 1]], warps = [[2, 1, 4]]>
gpu.module @kernels {
  gpu.func @bits(%a: !tile.tile<32x8xi1, registers, #rows>) kernel {
    // expected-error @below {{expects elements of whole bytes, which shared memory carries between warps, but got '!tile.tile<32x8xi1, registers, #tile.layout}}
    %b = tile.convert_layout %a : !tile.tile<32x8xi1, registers, #rows> -> !tile.tile<32x8xi1, registers, #columns>
    gpu.return
  }
}

// -----

#rows = #tile.layout<registers = [[8, 1, 1]], lanes = [[16, 0, 1]], warps = [[2, 0, 16]]>
#columns = #tile.layout<registers = [[4, 1, 1], [2, 0, 16]], lanes = [[16, 0, 1]], warps = [[2, 1, 4]]>
!rows = !tile.tile<32x8xf16, registers, #rows>
!columns = !tile.tile<32x8xf16, registers, #columns>
gpu.module @kernels {
  gpu.func @ping_pong(%a: !rows, %lo: index, %hi: index, %step: index) kernel {
    scf.for %i = %lo to %hi step %step {
      tile.ping_pong_wait of 2
      // expected-error @below {{expects a conversion between warps to stand outside of loops with 'tile.ping_pong_wait'}}
      %b = tile.convert_layout %a : !rows -> !columns
    }
    gpu.return
  }
}
