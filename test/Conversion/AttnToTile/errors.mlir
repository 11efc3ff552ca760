// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What convert-attn-to-tile refuses.
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics --convert-attn-to-tile

!t = tensor<1x1x64x16xf16>
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
  func.func @short_form(%q: !t) -> !t {
    // expected-error @below {{expects short forms to be expanded; run attn-expand-short-forms first}}
    %o = attn.attention %q, %q, %q causal(top_left) schedule(<>) : !t, !t, !t
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
  func.func @no_schedule(%q: !t) -> !t {
    // expected-error @below {{expects a schedule; run attune-set-schedule or attune-select-schedule first}}
    %o = attn.attention %q, %q, %q : !t, !t, !t
    return %o : !t
  }
}

// -----

#acc = #tile.layout<registers = [], lanes = [[2, 0, 1], [2, 1, 1]], warps = []>
#toy = #tile.target<chip = "toy", family = "Toy", lanes = 4, sms = 1, shared = 8192, shared_per_sm = 10240,
  registers = 64, registers_per_sm = 512, max_threads = 8, max_threads_per_sm = 12, copy_sync = none,
  copy_widths = [], mma = [#tile.mma_atom<name = "toy", m = 2, n = 2, k = 2, lhsType = f16, rhsType = f16, accType = f32,
  lhs = #acc, rhs = #acc, acc = #acc>]>
!t = tensor<1x1x64x16xbf16>
module attributes {tile.target = #toy} {
  func.func @no_instruction(%q: !t) -> !t {
    // expected-error @below {{expects an element type that 'toy' has a matrix instruction for, but got 'bf16'}}
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
!lse = tensor<1x1x64xf32>
module attributes {tile.target = #toy} {
  func.func @gradient_short_form(%q: !t, %lse: !lse) {
    // expected-error @below {{expects short forms to be expanded; run attn-expand-short-forms first}}
    %g = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(key) causal(top_left) schedule(<>) : !t, !t, !t, !t, !lse, !t
    return
  }
}

// -----

#acc = #tile.layout<registers = [], lanes = [[2, 0, 1], [2, 1, 1]], warps = []>
#toy = #tile.target<chip = "toy", family = "Toy", lanes = 4, sms = 1, shared = 8192, shared_per_sm = 10240,
  registers = 64, registers_per_sm = 512, max_threads = 8, max_threads_per_sm = 12, copy_sync = none,
  copy_widths = [], mma = [#tile.mma_atom<name = "toy", m = 2, n = 2, k = 2, lhsType = f16, rhsType = f16, accType = f32,
  lhs = #acc, rhs = #acc, acc = #acc>]>
!t = tensor<1x1x64x16xf16>
!lse = tensor<1x1x64xf32>
module attributes {tile.target = #toy} {
  func.func @gradient_without_schedule(%q: !t, %lse: !lse) {
    // expected-error @below {{expects a schedule; run attune-set-schedule or attune-select-schedule first}}
    %g = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(key) : !t, !t, !t, !t, !lse, !t
    return
  }
}

// -----

#acc = #tile.layout<registers = [], lanes = [[2, 0, 1], [2, 1, 1]], warps = []>
#toy = #tile.target<chip = "toy", family = "Toy", lanes = 4, sms = 1, shared = 8192, shared_per_sm = 10240,
  registers = 64, registers_per_sm = 512, max_threads = 8, max_threads_per_sm = 12, copy_sync = none,
  copy_widths = [], mma = [#tile.mma_atom<name = "toy", m = 2, n = 2, k = 2, lhsType = f16, rhsType = f16, accType = f32,
  lhs = #acc, rhs = #acc, acc = #acc>]>
!t = tensor<1x1x64x16xf16>
!lse = tensor<1x1x64xf32>
module attributes {tile.target = #toy} {
  func.func @deterministic_sinks(%q: !t, %lse: !lse, %s: tensor<1xf32>) {
    // expected-error @below {{expects gradients of query, key and value alone where they are deterministic, for those of tensors are added up in no order, but got one of 'tensor<1xf32>'}}
    %g = attn.attention_grad %q, %q, %q, %q, %lse, %q deterministic wrt(%s : tensor<1xf32>) sinks(%s : tensor<1xf32>) schedule(<>) : !t, !t, !t, !t, !lse, !t
    return
  }
  func.func @deterministic(%q: !t, %lse: !lse, %s: tensor<1xf32>) {
    // expected-error @below {{expects gradients of query, key and value alone where they are deterministic, for those of tensors are added up in no order, but got one of 'tensor<1xf32>'}}
    %g = attn.attention_grad %q, %q, %q, %q, %lse, %q deterministic wrt(%s : tensor<1xf32>) schedule(<>)
      score (%x, %b, %h, %m, %n) {
        %a = tensor.extract %s[%h] : tensor<1xf32>
        %y = arith.addf %x, %a : f32
        attn.yield %y : f32
      } : !t, !t, !t, !t, !lse, !t
    return
  }
  func.func @column_major(%q: !t, %lse: !lse, %s: tensor<1x64xf32>) {
    // expected-error @below {{expects gradients of tensors in row-major order, but got 'tensor<1x64xf32, #attn.strided<[1, 1]>>'}}
    %g = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(%s : tensor<1x64xf32>) schedule(<>)
      score (%x, %b, %h, %m, %n) {
        %a = tensor.extract %s[%h, %n] : tensor<1x64xf32>
        %y = arith.addf %x, %a : f32
        attn.yield %y : f32
      } : !t, !t, !t, !t, !lse, !t -> tensor<1x64xf32, #attn.strided<[1, 1]>>
    return
  }
}

// -----

#acc = #tile.layout<registers = [], lanes = [[2, 0, 1], [2, 1, 1]], warps = []>
#toy = #tile.target<chip = "toy", family = "Toy", lanes = 4, sms = 1, shared = 8192, shared_per_sm = 10240,
  registers = 64, registers_per_sm = 512, max_threads = 8, max_threads_per_sm = 12, copy_sync = none,
  copy_widths = [], mma = [#tile.mma_atom<name = "toy", m = 2, n = 2, k = 2, lhsType = f16, rhsType = f16, accType = f32,
  lhs = #acc, rhs = #acc, acc = #acc>]>
!t = tensor<1x1x64x16xf16>
!lse = tensor<1x1x64xf32>
module attributes {tile.target = #toy} {
  func.func @gradient_of_lists(%q: !t, %lse: !lse, %c: tensor<1x1x2xi32>, %i: tensor<1x1x2x1xi32>) {
    // expected-error @below {{expects no lists of blocks, which kernels of gradients do not take}}
    %g = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(key) blocks(%c, %i, [32, 32] : tensor<1x1x2xi32>, tensor<1x1x2x1xi32>) schedule(<>) : !t, !t, !t, !t, !lse, !t
    return
  }
}

// -----

#acc = #tile.layout<registers = [], lanes = [[2, 0, 1], [2, 1, 1]], warps = []>
#toy = #tile.target<chip = "toy", family = "Toy", lanes = 4, sms = 1, shared = 8192, shared_per_sm = 10240,
  registers = 64, registers_per_sm = 512, max_threads = 8, max_threads_per_sm = 12, copy_sync = none,
  copy_widths = [], mma = [#tile.mma_atom<name = "toy", m = 2, n = 2, k = 2, lhsType = f16, rhsType = f16, accType = f32,
  lhs = #acc, rhs = #acc, acc = #acc>]>
!t = tensor<1x1x64x16xbf16>
!lse = tensor<1x1x64xf32>
module attributes {tile.target = #toy} {
  func.func @gradient_type(%q: !t, %lse: !lse) {
    // expected-error @below {{expects an element type that 'toy' has a matrix instruction for, but got 'bf16'}}
    %g = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(key) schedule(<>) : !t, !t, !t, !t, !lse, !t
    return
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
  func.func @lists_and_lengths(%q: !t, %c: tensor<1x1x1xi32>, %i: tensor<1x1x1x1xi32>, %lengths: tensor<1xi32>) {
    // expected-error @below {{expects no lists of blocks beside lengths of batches, which kernels do not take together}}
    %o = attn.attention %q, %q, %q key_lengths(%lengths : tensor<1xi32>)
      blocks(%c, %i, [64, 64] : tensor<1x1x1xi32>, tensor<1x1x1x1xi32>) schedule(<>) : !t, !t, !t
    return
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
  func.func @lists_and_pages(%q: !t, %c: tensor<1x1x1xi32>, %i: tensor<1x1x1x1xi32>, %pages: tensor<1x1xi32>) {
    // expected-error @below {{expects no lists of blocks beside pages, which kernels do not take together}}
    %o = attn.attention %q, %q, %q pages(%pages : tensor<1x1xi32>)
      blocks(%c, %i, [64, 64] : tensor<1x1x1xi32>, tensor<1x1x1x1xi32>) schedule(<>) : !t, !t, !t
    return
  }
}

// -----

#acc = #tile.layout<registers = [], lanes = [[2, 0, 1], [2, 1, 1]], warps = []>
#toy = #tile.target<chip = "toy", family = "Toy", lanes = 4, sms = 1, shared = 8192, shared_per_sm = 10240,
  registers = 64, registers_per_sm = 512, max_threads = 8, max_threads_per_sm = 12, copy_sync = none,
  copy_widths = [], mma = [#tile.mma_atom<name = "toy", m = 2, n = 2, k = 2, lhsType = f16, rhsType = f16, accType = f32,
  lhs = #acc, rhs = #acc, acc = #acc>]>
!q = tensor<1x1x64x16xf16>
!v = tensor<1x1x64x2147483647xf16>
!lse = tensor<1x1x64xf32>
module attributes {tile.target = #toy} {
  func.func @rows_beyond_tiles(%q: !q, %v: !v) {
    // expected-error @below {{expects head sizes of at most 1048576, but got 2147483647}}
    %o = attn.attention %q, %q, %v schedule(<>) : !q, !q, !v
    return
  }
  func.func @gradients_of_rows_beyond_tiles(%q: !q, %v: !v, %lse: !lse) {
    // expected-error @below {{expects head sizes of at most 1048576, but got 2147483647}}
    %g = attn.attention_grad %q, %q, %v, %v, %lse, %v wrt(key) schedule(<>) : !q, !q, !v, !v, !lse, !v
    return
  }
}
