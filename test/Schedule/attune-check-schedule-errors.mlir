// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One refusal of each kind, with both numbers. unittests/Schedule walks both
// sides of every limit.
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics --attune-check-schedule

!t = tensor<1x1x256x64xf16>

// expected-error @below {{expects a 'tile.target' attribute on the module; run attune-attach-target first}}
module {
func.func @no_target(%q: !t) -> !t {
  %o = attn.attention %q, %q, %q schedule(<>) : !t, !t, !t
  return %o : !t
}
}

// -----

#acc = #tile.layout<registers = [], lanes = [[2, 0, 1], [2, 1, 1]], warps = []>
#toy = #tile.target<chip = "toy", family = "Toy", lanes = 4, sms = 1, shared = 8192, shared_per_sm = 10240,
  registers = 64, registers_per_sm = 512, max_threads = 8, max_threads_per_sm = 12, copy_sync = none,
  copy_widths = [], mma = [#tile.mma_atom<name = "toy", m = 2, n = 2, k = 2, lhsType = f16, rhsType = f16, accType = f32,
  lhs = #acc, rhs = #acc, acc = #acc>]>
!t = tensor<1x1x64x16xf16>
module attributes {tile.target = #toy} {
func.func @no_matrix_instruction(%q: tensor<1x1x64x16xbf16>) -> tensor<1x1x64x16xbf16> {
  // expected-error @below {{no-matrix-instruction: expects an element type that 'toy' has a matrix instruction for, but got bf16}}
  %o = attn.attention %q, %q, %q schedule(<>) : tensor<1x1x64x16xbf16>, tensor<1x1x64x16xbf16>, tensor<1x1x64x16xbf16>
  return %o : tensor<1x1x64x16xbf16>
}
func.func @threads_overflow(%q: !t) -> !t {
  // expected-error @below {{threads-overflow: expects at most 8 threads in a workgroup on 'toy', but got 16}}
  %o = attn.attention %q, %q, %q schedule(<blockM = 16, blockN = 16, numWarps = 4>) : !t, !t, !t
  return %o : !t
}
func.func @threads_per_sm(%q: !t) -> !t {
  // expected-error @below {{threads-per-sm: expects at most 12 threads on an SM of 'toy', but got 16 (2 workgroups of 8)}}
  %o = attn.attention %q, %q, %q schedule(<blockM = 16, blockN = 16, numWarps = 2, workgroupsPerSm = 2>) : !t, !t, !t
  return %o : !t
}
func.func @shared_overflow(%q: !t) -> !t {
  // expected-error @below {{shared-overflow: expects at most 8192 bytes of shared memory on 'toy', but got 9344}}
  %o = attn.attention %q, %q, %q schedule(<blockM = 128, blockN = 32, numWarps = 2, kStages = 4, vStages = 4>) : !t, !t, !t
  return %o : !t
}
func.func @shared_per_sm(%q: !t) -> !t {
  // expected-error @below {{shared-per-sm: expects at most 10240 bytes of shared memory on an SM of 'toy', but got 15552 (2 workgroups of 7776)}}
  %o = attn.attention %q, %q, %q schedule(<blockM = 64, blockN = 16, numWarps = 1, kStages = 4, vStages = 3, qInRegisters = 0, workgroupsPerSm = 2>) : !t, !t, !t
  return %o : !t
}
func.func @register_overflow(%q: !t) -> !t {
  // expected-error @below {{register-overflow: expects accumulators of at most 32 registers a thread on 'toy', but got 128}}
  %o = attn.attention %q, %q, %q schedule(<blockM = 16, blockN = 16, numWarps = 1, kStages = 1, vStages = 1>) : !t, !t, !t
  return %o : !t
}
}

// -----

#mma = #tile.layout<registers = [[16, 0, 2], [16, 1, 2]], lanes = [[2, 0, 1], [2, 1, 1]], warps = []>
#toy = #tile.target<chip = "toy", family = "Toy", lanes = 4, sms = 1, shared = 8192, shared_per_sm = 10240,
  registers = 64, registers_per_sm = 512, max_threads = 8, max_threads_per_sm = 12, copy_sync = none,
  copy_widths = [], mma = [#tile.mma_atom<name = "wide", m = 32, n = 32, k = 32, lhsType = f16, rhsType = f16, accType = f32,
  lhs = #mma, rhs = #mma, acc = #mma>]>
!t = tensor<1x1x64x16xf16>
module attributes {tile.target = #toy} {
func.func @rows_per_warp(%q: !t) -> !t {
  // expected-error @below {{rows-per-warp: expects block-m to be a multiple of 64 rows (2 warps of 32), but got 32}}
  %o = attn.attention %q, %q, %q schedule(<blockM = 32, blockN = 32, numWarps = 2>) : !t, !t, !t
  return %o : !t
}
func.func @block_n_multiple(%q: !t) -> !t {
  // expected-error @below {{block-n-multiple: expects block-n to be a multiple of 32 (columns of 'wide'), but got 16}}
  %o = attn.attention %q, %q, %q schedule(<blockM = 32, blockN = 16, numWarps = 1>) : !t, !t, !t
  return %o : !t
}
}
