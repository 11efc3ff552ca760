// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Canonical form of attn.attention: each pattern, and what it must leave alone.
//
// RUN: attune-opt %s --canonicalize --split-input-file | FileCheck %s

!t = tensor<1x2x8x16xf16>
!k = tensor<1x2x9x16xf16>

// CHECK-LABEL: func.func @mask_of_true
func.func @mask_of_true(%q: !t) -> !t {
  // CHECK: attn.attention %{{.+}}, %{{.+}}, %{{.+}} : tensor
  %o = attn.attention %q, %q, %q mask (%b, %h, %m, %n) {
    %true = arith.constant true
    attn.yield %true : i1
  } : !t, !t, !t
  return %o : !t
}

// CHECK-LABEL: func.func @mask_of_captured_true
func.func @mask_of_captured_true(%q: !t) -> !t {
  %true = arith.constant true
  // CHECK: attn.attention %{{.+}}, %{{.+}}, %{{.+}} : tensor
  %o = attn.attention %q, %q, %q mask (%b, %h, %m, %n) {
    attn.yield %true : i1
  } : !t, !t, !t
  return %o : !t
}

// CHECK-LABEL: func.func @mask_of_false
func.func @mask_of_false(%q: !t) -> !t {
  // CHECK: attn.attention {{.*}} mask
  %o = attn.attention %q, %q, %q mask (%b, %h, %m, %n) {
    %false = arith.constant false
    attn.yield %false : i1
  } : !t, !t, !t
  return %o : !t
}

// CHECK-LABEL: func.func @idle_score
func.func @idle_score(%q: !t) -> !t {
  // CHECK: attn.attention %{{.+}}, %{{.+}}, %{{.+}} : tensor
  %o = attn.attention %q, %q, %q score (%s, %b, %h, %m, %n) {
    attn.yield %s : f32
  } : !t, !t, !t
  return %o : !t
}

// A folded constant stays in the region and a captured one moves there.
// CHECK-LABEL: func.func @constants
func.func @constants(%q: !t) -> !t {
  // CHECK-NOT: arith.constant
  // CHECK: attn.attention {{.*}} score
  // CHECK-DAG: arith.constant 3.000000e+00 : f32
  // CHECK-DAG: arith.constant 2.000000e+00 : f32
  // CHECK: attn.yield
  %two = arith.constant 2.0 : f32
  %o = attn.attention %q, %q, %q score (%s, %b, %h, %m, %n) {
    %one = arith.constant 1.0 : f32
    %three = arith.addf %one, %two : f32
    %x = arith.mulf %s, %three : f32
    %y = arith.addf %x, %two : f32
    attn.yield %y : f32
  } : !t, !t, !t
  return %o : !t
}

// CHECK-LABEL: func.func @unbounded_window
func.func @unbounded_window(%q: !t, %k: !k) -> !t {
  // CHECK: attn.attention %{{.+}}, %{{.+}}, %{{.+}} : tensor
  %o = attn.attention %q, %k, %k window(?, ?, bottom_right) : !t, !k, !k
  return %o : !t
}

// CHECK-LABEL: func.func @window_that_is_causal
func.func @window_that_is_causal(%q: !t, %k: !k) -> !t {
  // CHECK: attn.attention %{{.+}}, %{{.+}}, %{{.+}} causal(bottom_right) : tensor
  %o = attn.attention %q, %k, %k window(?, 0, bottom_right) : !t, !k, !k
  return %o : !t
}

// CHECK-LABEL: func.func @window_behind_causal
func.func @window_behind_causal(%q: !t, %k: !k) -> !t {
  // CHECK: attn.attention %{{.+}}, %{{.+}}, %{{.+}} causal(top_left) window(4, ?, top_left) : tensor
  %o = attn.attention %q, %k, %k causal(top_left) window(4, 3, top_left) : !t, !k, !k
  return %o : !t
}

// With other alignments, neither says what the other says.
// CHECK-LABEL: func.func @window_beside_causal
func.func @window_beside_causal(%q: !t, %k: !k) -> !t {
  // CHECK: causal(top_left) window(4, 0, bottom_right)
  %o = attn.attention %q, %k, %k causal(top_left) window(4, 0, bottom_right) : !t, !k, !k
  return %o : !t
}

// CHECK-LABEL: func.func @one_diagonal
func.func @one_diagonal(%q: !t) -> !t {
  // CHECK: causal(top_left) window(4, ?, top_left)
  %o = attn.attention %q, %q, %q causal(bottom_right) window(4, 2, top_left) : !t, !t, !t
  return %o : !t
}

// Nothing is known of dynamic lengths, even of one tensor.
// CHECK-LABEL: func.func @unknown_diagonal
func.func @unknown_diagonal(%q: tensor<1x2x?x16xf16>) -> tensor<1x2x?x16xf16> {
  // CHECK: causal(bottom_right)
  %o = attn.attention %q, %q, %q causal(bottom_right)
    : tensor<1x2x?x16xf16>, tensor<1x2x?x16xf16>, tensor<1x2x?x16xf16>
  return %o : tensor<1x2x?x16xf16>
}

// CHECK-LABEL: func.func @unused_lse
func.func @unused_lse(%q: !t, %sinks: tensor<2xf32>) -> !t {
  // CHECK: %[[O:.+]] = attn.attention %{{.+}}, %{{.+}}, %{{.+}} sinks(%{{.+}} : tensor<2xf32>) scale(1.000000e+00) mask
  // CHECK: attn.yield
  // CHECK: } attributes {note} : tensor
  // CHECK: return %[[O]]
  %o, %lse = attn.attention %q, %q, %q lse sinks(%sinks : tensor<2xf32>) scale(1.0) mask (%b, %h, %m, %n) {
    %p = arith.cmpi ne, %m, %n : index
    attn.yield %p : i1
  } attributes {note} : !t, !t, !t
  return %o : !t
}

// CHECK-LABEL: func.func @used_lse
func.func @used_lse(%q: !t) -> tensor<1x2x8xf32> {
  // CHECK: %{{.+}}, %[[LSE:.+]] = attn.attention %{{.+}} lse
  // CHECK: return %[[LSE]]
  %o, %lse = attn.attention %q, %q, %q lse : !t, !t, !t
  return %lse : tensor<1x2x8xf32>
}

// -----

!t = tensor<1x2x8x16xf16>

// Batches of one tensor length may have different ones.
// CHECK-LABEL: func.func @diagonal_of_lengths
func.func @diagonal_of_lengths(%q: !t, %lengths: tensor<1xi32>) -> !t {
  // CHECK: causal(bottom_right)
  %o = attn.attention %q, %q, %q key_lengths(%lengths : tensor<1xi32>) causal(bottom_right) : !t, !t, !t
  return %o : !t
}
