// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which key blocks each query tile visits, and which of them need no mask, by
// kind of mask: 4 query tiles of 64 rows, key blocks of 32. Inputs/key_ranges.py
// runs the kernel's index arithmetic.
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_80" --attune-set-schedule="block-m=64 block-n=32 tile-order=ascending" \
// RUN:   --attn-expand-short-forms --convert-attn-to-tile | %python %S/Inputs/key_ranges.py 4 | FileCheck %s

!t = tensor<1x1x256x64xf16>
!long = tensor<1x1x320x64xf16>
!short = tensor<1x1x192x64xf16>
!odd = tensor<1x1x250x64xf16>

// CHECK-LABEL: no_mask:
// CHECK-NEXT:    tile 0 visits [0, 8) masks none
func.func @no_mask(%q: !t) -> !t {
  %o = attn.attention %q, %q, %q : !t, !t, !t
  return %o : !t
}

// The last block reaches beyond the end of the keys.
// CHECK-LABEL: odd_length:
// CHECK-NEXT:    tile 0 visits [0, 8) full [0, 7)
// CHECK-NEXT:    tile 1 visits [0, 8) full [0, 7)
func.func @odd_length(%q: !t, %k: !odd) -> !t {
  %o = attn.attention %q, %k, %k : !t, !odd, !odd
  return %o : !t
}

// CHECK-LABEL: causal:
// CHECK-NEXT:    tile 0 visits [0, 2) full none
// CHECK-NEXT:    tile 1 visits [0, 4) full [0, 2)
// CHECK-NEXT:    tile 2 visits [0, 6) full [0, 4)
// CHECK-NEXT:    tile 3 visits [0, 8) full [0, 6)
func.func @causal(%q: !t) -> !t {
  %o = attn.attention %q, %q, %q causal(top_left) : !t, !t, !t
  return %o : !t
}

// CHECK-LABEL: causal_bottom_right:
// CHECK-NEXT:    tile 0 visits [0, 4) full [0, 2)
// CHECK-NEXT:    tile 1 visits [0, 6) full [0, 4)
// CHECK-NEXT:    tile 2 visits [0, 8) full [0, 6)
// CHECK-NEXT:    tile 3 visits [0, 10) full [0, 8)
func.func @causal_bottom_right(%q: !t, %k: !long) -> !t {
  %o = attn.attention %q, %k, %k causal(bottom_right) : !t, !long, !long
  return %o : !t
}

// The first 64 queries see no key at all.
// CHECK-LABEL: causal_more_queries:
// CHECK-NEXT:    tile 0 visits none
// CHECK-NEXT:    tile 1 visits [0, 2) full none
// CHECK-NEXT:    tile 2 visits [0, 4) full [0, 2)
// CHECK-NEXT:    tile 3 visits [0, 6) full [0, 4)
func.func @causal_more_queries(%q: !t, %k: !short) -> !t {
  %o = attn.attention %q, %k, %k causal(bottom_right) : !t, !short, !short
  return %o : !t
}

// CHECK-LABEL: causal_odd_length:
// CHECK-NEXT:    tile 0 visits [0, 2) full none
// CHECK-NEXT:    tile 1 visits [0, 4) full [0, 2)
// CHECK-NEXT:    tile 2 visits [0, 6) full [0, 4)
// CHECK-NEXT:    tile 3 visits [0, 8) full [0, 6)
func.func @causal_odd_length(%q: !t, %k: !odd) -> !t {
  %o = attn.attention %q, %k, %k causal(top_left) : !t, !odd, !odd
  return %o : !t
}

// CHECK-LABEL: window:
// CHECK-NEXT:    tile 0 visits [0, 3) full [0, 1)
// CHECK-NEXT:    tile 1 visits [0, 5) full [2, 3)
// CHECK-NEXT:    tile 2 visits [2, 7) full [4, 5)
// CHECK-NEXT:    tile 3 visits [4, 8) full [6, 7)
func.func @window(%q: !t) -> !t {
  %o = attn.attention %q, %q, %q window(64, 31, top_left) : !t, !t, !t
  return %o : !t
}

// Prefix LM: the first 40 keys, and those behind the query.
// CHECK-LABEL: prefix_lm:
// CHECK-NEXT:    tile 0 visits [0, 2) full [0, 1)
// CHECK-NEXT:    tile 1 visits [0, 4) full [0, 2)
// CHECK-NEXT:    tile 2 visits [0, 6) full [0, 4)
func.func @prefix_lm(%q: !t) -> !t {
  %o = attn.attention %q, %q, %q mask (%b, %h, %m, %n) {
    %prefix = arith.constant 40 : index
    %in_prefix = arith.cmpi slt, %n, %prefix : index
    %behind = arith.cmpi sle, %n, %m : index
    %see = arith.ori %in_prefix, %behind : i1
    attn.yield %see : i1
  } : !t, !t, !t
  return %o : !t
}

// not (n > m or n + 32 <= m) is a causal window.
// CHECK-LABEL: negated:
// CHECK-NEXT:    tile 0 visits [0, 2) full none
// CHECK-NEXT:    tile 1 visits [1, 4) full none
// CHECK-NEXT:    tile 2 visits [3, 6) full none
func.func @negated(%q: !t) -> !t {
  %o = attn.attention %q, %q, %q mask (%b, %h, %m, %n) {
    %c32 = arith.constant 32 : index
    %true = arith.constant true
    %ahead = arith.cmpi sgt, %n, %m : index
    %n32 = arith.addi %n, %c32 : index
    %far = arith.cmpi sle, %n32, %m : index
    %either = arith.ori %ahead, %far : i1
    %see = arith.xori %either, %true : i1
    attn.yield %see : i1
  } : !t, !t, !t
  return %o : !t
}

// Queries below 64 see everything, the others what is behind them. The
// condition says the same of all keys.
// CHECK-LABEL: select:
// CHECK-NEXT:    tile 0 visits [0, 8) full [0, 8)
// CHECK-NEXT:    tile 1 visits [0, 4) full [0, 2)
func.func @select(%q: !t) -> !t {
  %o = attn.attention %q, %q, %q mask (%b, %h, %m, %n) {
    %c64 = arith.constant 64 : index
    %true = arith.constant true
    %early = arith.cmpi slt, %m, %c64 : index
    %behind = arith.cmpi sle, %n, %m : index
    %see = arith.select %early, %true, %behind : i1
    attn.yield %see : i1
  } : !t, !t, !t
  return %o : !t
}

// Keys below 64 are all seen, the others where they are behind.
// CHECK-LABEL: select_on_keys:
// CHECK-NEXT:    tile 0 visits [0, 2) full [0, 2)
// CHECK-NEXT:    tile 1 visits [0, 4) full [0, 2)
// CHECK-NEXT:    tile 2 visits [0, 6) full [0, 4)
func.func @select_on_keys(%q: !t) -> !t {
  %o = attn.attention %q, %q, %q mask (%b, %h, %m, %n) {
    %c64 = arith.constant 64 : index
    %true = arith.constant true
    %early = arith.cmpi slt, %n, %c64 : index
    %behind = arith.cmpi sle, %n, %m : index
    %see = arith.select %early, %true, %behind : i1
    attn.yield %see : i1
  } : !t, !t, !t
  return %o : !t
}

// CHECK-LABEL: reads_a_tensor:
// CHECK-NEXT:    tile 0 visits [0, 8) masks all
// CHECK-NEXT:    tile 1 visits [0, 8) masks all
func.func @reads_a_tensor(%q: !t, %document: tensor<256xi32>) -> !t {
  %o = attn.attention %q, %q, %q mask (%b, %h, %m, %n) {
    %dm = tensor.extract %document[%m] : tensor<256xi32>
    %dn = tensor.extract %document[%n] : tensor<256xi32>
    %same = arith.cmpi eq, %dm, %dn : i32
    attn.yield %same : i1
  } : !t, !t, !t
  return %o : !t
}

// What can be bounded still is, beside what cannot.
// CHECK-LABEL: documents_and_causal:
// CHECK-NEXT:    tile 0 visits [0, 2) masks all
// CHECK-NEXT:    tile 1 visits [0, 4) masks all
func.func @documents_and_causal(%q: !t, %document: tensor<256xi32>) -> !t {
  %o = attn.attention %q, %q, %q mask (%b, %h, %m, %n) {
    %dm = tensor.extract %document[%m] : tensor<256xi32>
    %dn = tensor.extract %document[%n] : tensor<256xi32>
    %same = arith.cmpi eq, %dm, %dn : i32
    %behind = arith.cmpi sle, %n, %m : index
    %see = arith.andi %same, %behind : i1
    attn.yield %see : i1
  } : !t, !t, !t
  return %o : !t
}

// A length per batch is read once, in front of the loop (the script reads 20).
// CHECK-LABEL: length_per_batch:
// CHECK-NEXT:    tile 0 visits [0, 1) full none
// CHECK-NEXT:    tile 1 visits [0, 1) full none
func.func @length_per_batch(%q: !t, %lengths: tensor<1xi32>) -> !t {
  %o = attn.attention %q, %q, %q mask (%b, %h, %m, %n) {
    %length = tensor.extract %lengths[%b] : tensor<1xi32>
    %n32 = arith.index_cast %n : index to i32
    %see = arith.cmpi slt, %n32, %length : i32
    attn.yield %see : i1
  } : !t, !t, !t
  return %o : !t
}

// A captured scalar is an argument of the kernel (20 for the script).
// CHECK-LABEL: captured_scalar:
// CHECK-NEXT:    tile 0 visits [0, 3) full none
// CHECK-NEXT:    tile 1 visits [0, 5) full [0, 2)
func.func @captured_scalar(%q: !t, %ahead: i64) -> !t {
  %o = attn.attention %q, %q, %q mask (%b, %h, %m, %n) {
    %more = arith.index_cast %ahead : i64 to index
    %last = arith.addi %m, %more : index
    %see = arith.cmpi sle, %n, %last : index
    attn.yield %see : i1
  } : !t, !t, !t
  return %o : !t
}

// CHECK-LABEL: nothing_visible:
// CHECK-NEXT:    tile 0 visits none
// CHECK-NEXT:    tile 1 visits none
func.func @nothing_visible(%q: !t) -> !t {
  %o = attn.attention %q, %q, %q mask (%b, %h, %m, %n) {
    %false = arith.constant false
    attn.yield %false : i1
  } : !t, !t, !t
  return %o : !t
}

// CHECK-LABEL: all_visible:
// CHECK-NEXT:    tile 0 visits [0, 8) full [0, 8)
func.func @all_visible(%q: !t) -> !t {
  %o = attn.attention %q, %q, %q mask (%b, %h, %m, %n) {
    %true = arith.constant true
    attn.yield %true : i1
  } : !t, !t, !t
  return %o : !t
}

// CHECK-LABEL: block_diagonal:
// CHECK-NEXT:    tile 0 visits [0, 2) full [0, 2)
// CHECK-NEXT:    tile 1 visits [2, 4) full [2, 4)
func.func @block_diagonal(%q: !t) -> !t {
  %o = attn.attention %q, %q, %q mask (%b, %h, %m, %n) {
    %c64 = arith.constant 64 : index
    %bm = arith.divui %m, %c64 : index
    %bn = arith.divui %n, %c64 : index
    %see = arith.cmpi eq, %bm, %bn : index
    attn.yield %see : i1
  } : !t, !t, !t
  return %o : !t
}

// The diagonal itself: m - n = 0, in 32 bits.
// CHECK-LABEL: diagonal:
// CHECK-NEXT:    tile 0 visits [0, 2) full none
// CHECK-NEXT:    tile 1 visits [2, 4) full none
func.func @diagonal(%q: !t) -> !t {
  %o = attn.attention %q, %q, %q mask (%b, %h, %m, %n) {
    %zero = arith.constant 0 : i32
    %m32 = arith.index_cast %m : index to i32
    %n32 = arith.index_cast %n : index to i32
    %d = arith.subi %m32, %n32 : i32
    %see = arith.cmpi eq, %d, %zero : i32
    attn.yield %see : i1
  } : !t, !t, !t
  return %o : !t
}

// Linear in both: 2 m - n >= 0 and m <= 3 n.
// CHECK-LABEL: factors:
// CHECK-NEXT:    tile 0 visits [0, 4) full none
// CHECK-NEXT:    tile 1 visits [0, 8) full [2, 4)
// CHECK-NEXT:    tile 2 visits [1, 8) full [2, 8)
func.func @factors(%q: !t) -> !t {
  %o = attn.attention %q, %q, %q mask (%b, %h, %m, %n) {
    %zero = arith.constant 0 : index
    %two = arith.constant 2 : index
    %three = arith.constant 3 : index
    %m2 = arith.muli %m, %two : index
    %n3 = arith.muli %three, %n : index
    %d = arith.subi %m2, %n : index
    %a = arith.cmpi sge, %d, %zero : index
    %b2 = arith.cmpi sle, %m, %n3 : index
    %see = arith.andi %a, %b2 : i1
    attn.yield %see : i1
  } : !t, !t, !t
  return %o : !t
}

// |m - n| <= 40.
// CHECK-LABEL: distance:
// CHECK-NEXT:    tile 0 visits [0, 4) full none
// CHECK-NEXT:    tile 1 visits [0, 6) full none
// CHECK-NEXT:    tile 2 visits [2, 8) full none
func.func @distance(%q: !t) -> !t {
  %o = attn.attention %q, %q, %q mask (%b, %h, %m, %n) {
    %reach = arith.constant 40 : index
    %d = arith.subi %m, %n : index
    %far = math.absi %d : index
    %see = arith.cmpi sle, %far, %reach : index
    attn.yield %see : i1
  } : !t, !t, !t
  return %o : !t
}

// 0 <= m - n < 128 in one comparison: a negative number is a large one.
// CHECK-LABEL: unsigned_window:
// CHECK-NEXT:    tile 0 visits [0, 2) full none
// CHECK-NEXT:    tile 1 visits [0, 4) full [0, 2)
// CHECK-NEXT:    tile 2 visits [0, 6) full [2, 4)
func.func @unsigned_window(%q: !t) -> !t {
  %o = attn.attention %q, %q, %q mask (%b, %h, %m, %n) {
    %width = arith.constant 128 : i32
    %m32 = arith.index_cast %m : index to i32
    %n32 = arith.index_cast %n : index to i32
    %d = arith.subi %m32, %n32 : i32
    %see = arith.cmpi ult, %d, %width : i32
    attn.yield %see : i1
  } : !t, !t, !t
  return %o : !t
}

// Chunks of 96, by a shift and a division: queries see the chunk before, too.
// CHECK-LABEL: chunks:
// CHECK-NEXT:    tile 0 visits [0, 3) full [0, 3)
// CHECK-NEXT:    tile 1 visits [0, 6) full [0, 3)
// CHECK-NEXT:    tile 2 visits [0, 6) full [0, 6)
// CHECK-NEXT:    tile 3 visits [3, 8) full [3, 8)
func.func @chunks(%q: !t) -> !t {
  %o = attn.attention %q, %q, %q mask (%b, %h, %m, %n) {
    %five = arith.constant 5 : index
    %three = arith.constant 3 : index
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %m_block = arith.shrsi %m, %five : index
    %n_block = arith.shrui %n, %five : index
    %m_chunk = arith.divui %m_block, %three : index
    %n_chunk = arith.floordivsi %n_block, %three : index
    %d = arith.subi %m_chunk, %n_chunk : index
    %behind = arith.cmpi sge, %d, %zero : index
    %near = arith.cmpi sle, %d, %one : index
    %see = arith.andi %behind, %near : i1
    attn.yield %see : i1
  } : !t, !t, !t
  return %o : !t
}

// An image of 16 columns: 5 rows around the query's, which stay in the image.
// CHECK-LABEL: neighbourhood:
// CHECK-NEXT:    tile 0 visits [0, 3) masks all
// CHECK-NEXT:    tile 1 visits [1, 5) masks all
// CHECK-NEXT:    tile 2 visits [3, 7) masks all
// CHECK-NEXT:    tile 3 visits [5, 8) masks all
func.func @neighbourhood(%q: !t) -> !t {
  %o = attn.attention %q, %q, %q mask (%b, %h, %m, %n) {
    %width = arith.constant 16 : index
    %two = arith.constant 2 : index
    %last = arith.constant 13 : index
    %m_row = arith.divui %m, %width : index
    %n_row = arith.divui %n, %width : index
    %m_column = arith.remui %m, %width : index
    %n_column = arith.remui %n, %width : index
    %low = arith.maxsi %m_row, %two : index
    %centre = arith.minsi %low, %last : index
    %down = arith.subi %centre, %n_row : index
    %right = arith.subi %m_column, %n_column : index
    %rows = math.absi %down : index
    %columns = math.absi %right : index
    %row_near = arith.cmpi sle, %rows, %two : index
    %column_near = arith.cmpi sle, %columns, %two : index
    %see = arith.andi %row_near, %column_near : i1
    attn.yield %see : i1
  } : !t, !t, !t
  return %o : !t
}

// The first keys and those nearby; what lies between is left out.
// CHECK-LABEL: global_and_near:
// CHECK-NEXT:    tile 0 visits [0, 2) full none
// CHECK-NEXT:    tile 1 visits [0, 4) full none
// CHECK-NEXT:    tile 2 visits [0, 1) and [3, 6) full none
// CHECK-NEXT:    tile 3 visits [0, 1) and [5, 8) full none
func.func @global_and_near(%q: !t) -> !t {
  %o = attn.attention %q, %q, %q causal(top_left) mask (%b, %h, %m, %n) {
    %globals = arith.constant 4 : index
    %reach = arith.constant 31 : index
    %is_global = arith.cmpi slt, %n, %globals : index
    %d = arith.subi %m, %n : index
    %near = arith.cmpi sle, %d, %reach : index
    %see = arith.ori %is_global, %near : i1
    attn.yield %see : i1
  } : !t, !t, !t
  return %o : !t
}

// What m leaves of a division selects rows; it says the same of all keys.
// CHECK-LABEL: remainder_of_query:
// CHECK-NEXT:    tile 0 visits [0, 8) full none
// CHECK-NEXT:    tile 1 visits none
// CHECK-NEXT:    tile 2 visits [0, 8) full none
func.func @remainder_of_query(%q: !t) -> !t {
  %o = attn.attention %q, %q, %q mask (%b, %h, %m, %n) {
    %low = arith.constant 127 : index
    %first = arith.constant 10 : index
    %rest = arith.andi %m, %low : index
    %see = arith.cmpi slt, %rest, %first : index
    attn.yield %see : i1
  } : !t, !t, !t
  return %o : !t
}

// Flags of a batch and of all: the script reads what is not 0. Batches that are
// not causal see everything.
// CHECK-LABEL: flags:
// CHECK-NEXT:    tile 0 visits [0, 2) full none
// CHECK-NEXT:    tile 1 visits [0, 4) full [0, 2)
func.func @flags(%q: !t, %is_causal: tensor<1xi1>, %on: i1) -> !t {
  %o = attn.attention %q, %q, %q mask (%b, %h, %m, %n) {
    %true = arith.constant true
    %causal = tensor.extract %is_causal[%b] : tensor<1xi1>
    %free = arith.xori %causal, %true : i1
    %behind = arith.cmpi sle, %n, %m : index
    %either = arith.ori %free, %behind : i1
    %see = arith.andi %either, %on : i1
    attn.yield %see : i1
  } : !t, !t, !t
  return %o : !t
}

// Which extreme holds is decided by more comparisons than are followed: the
// answer is not wrong, and does not take for ever.
// CHECK-LABEL: deep:
// CHECK-NEXT:    tile 0 visits [0, 8)
func.func @deep(%q: !t) -> !t {
  %o = attn.attention %q, %q, %q mask (%b, %h, %m, %n) {
    %c = arith.constant 1000 : index
    %d0 = arith.subi %m, %n : index
    %a0 = math.absi %d0 : index
    %d1 = arith.subi %a0, %n : index
    %a1 = math.absi %d1 : index
    %d2 = arith.subi %a1, %n : index
    %a2 = math.absi %d2 : index
    %d3 = arith.subi %a2, %n : index
    %a3 = math.absi %d3 : index
    %d4 = arith.subi %a3, %n : index
    %a4 = math.absi %d4 : index
    %d5 = arith.subi %a4, %n : index
    %a5 = math.absi %d5 : index
    %d6 = arith.subi %a5, %n : index
    %a6 = math.absi %d6 : index
    %d7 = arith.subi %a6, %n : index
    %a7 = math.absi %d7 : index
    %d8 = arith.subi %a7, %n : index
    %a8 = math.absi %d8 : index
    %d9 = arith.subi %a8, %n : index
    %a9 = math.absi %d9 : index
    %d10 = arith.subi %a9, %n : index
    %a10 = math.absi %d10 : index
    %d11 = arith.subi %a10, %n : index
    %a11 = math.absi %d11 : index
    %d12 = arith.subi %a11, %n : index
    %a12 = math.absi %d12 : index
    %d13 = arith.subi %a12, %n : index
    %a13 = math.absi %d13 : index
    %d14 = arith.subi %a13, %n : index
    %a14 = math.absi %d14 : index
    %d15 = arith.subi %a14, %n : index
    %a15 = math.absi %d15 : index
    %d16 = arith.subi %a15, %n : index
    %a16 = math.absi %d16 : index
    %d17 = arith.subi %a16, %n : index
    %a17 = math.absi %d17 : index
    %d18 = arith.subi %a17, %n : index
    %a18 = math.absi %d18 : index
    %d19 = arith.subi %a18, %n : index
    %a19 = math.absi %d19 : index
    %d20 = arith.subi %a19, %n : index
    %a20 = math.absi %d20 : index
    %d21 = arith.subi %a20, %n : index
    %a21 = math.absi %d21 : index
    %d22 = arith.subi %a21, %n : index
    %a22 = math.absi %d22 : index
    %d23 = arith.subi %a22, %n : index
    %a23 = math.absi %d23 : index
    %d24 = arith.subi %a23, %n : index
    %a24 = math.absi %d24 : index
    %d25 = arith.subi %a24, %n : index
    %a25 = math.absi %d25 : index
    %d26 = arith.subi %a25, %n : index
    %a26 = math.absi %d26 : index
    %d27 = arith.subi %a26, %n : index
    %a27 = math.absi %d27 : index
    %d28 = arith.subi %a27, %n : index
    %a28 = math.absi %d28 : index
    %d29 = arith.subi %a28, %n : index
    %a29 = math.absi %d29 : index
    %d30 = arith.subi %a29, %n : index
    %see = arith.cmpi sge, %d30, %c : index
    attn.yield %see : i1
  } : !t, !t, !t
  return %o : !t
}
