// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bounds that a mask captures, small and at the ends of their type: 4 query
// tiles of 64 rows, key blocks of 32.
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_80" --attune-set-schedule="block-m=64 block-n=32 tile-order=ascending" \
// RUN:   --convert-attn-to-tile -o %t.mlir
// RUN: %python %S/Inputs/key_ranges.py 2 31 < %t.mlir | FileCheck %s --check-prefix=SMALL
// RUN: %python %S/Inputs/key_ranges.py 2 9223372036854775807 < %t.mlir | FileCheck %s --check-prefix=MOST
// RUN: %python %S/Inputs/key_ranges.py 2 -9223372036854775808 < %t.mlir | FileCheck %s --check-prefix=LEAST

!t = tensor<1x1x256x64xf16>

// A comparison alone holds for every bound: n - m <= ahead.
// SMALL-LABEL: compared:
// SMALL-NEXT:    tile 0 visits [0, 3) full [0, 1)
// SMALL-NEXT:    tile 1 visits [0, 5) full [0, 3)
// MOST-LABEL:  compared:
// MOST-NEXT:     tile 0 visits [0, 8) full [0, 8)
// MOST-NEXT:     tile 1 visits [0, 8) full [0, 8)
// LEAST-LABEL: compared:
// LEAST-NEXT:    tile 0 visits none
// LEAST-NEXT:    tile 1 visits none
func.func @compared(%q: !t, %ahead: i64) -> !t {
  %o = attn.attention %q, %q, %q mask (%b, %h, %m, %n) {
    %m64 = arith.index_cast %m : index to i64
    %n64 = arith.index_cast %n : index to i64
    %d = arith.subi %n64, %m64 : i64
    %see = arith.cmpi sle, %d, %ahead : i64
    attn.yield %see : i1
  } : !t, !t, !t
  return %o : !t
}

// A sum may wrap around in the region, and then nothing is known: n <= m + ahead.
// SMALL-LABEL: added:
// SMALL-NEXT:    tile 0 visits [0, 3) full [0, 1)
// SMALL-NEXT:    tile 1 visits [0, 5) full [0, 3)
// MOST-LABEL:  added:
// MOST-NEXT:     tile 0 visits [0, 8) full none
// MOST-NEXT:     tile 1 visits [0, 8) full none
// LEAST-LABEL: added:
// LEAST-NEXT:    tile 0 visits [0, 8) full none
// LEAST-NEXT:    tile 1 visits [0, 8) full none
func.func @added(%q: !t, %ahead: i64) -> !t {
  %o = attn.attention %q, %q, %q mask (%b, %h, %m, %n) {
    %m64 = arith.index_cast %m : index to i64
    %n64 = arith.index_cast %n : index to i64
    %last = arith.addi %m64, %ahead : i64
    %see = arith.cmpi sle, %n64, %last : i64
    attn.yield %see : i1
  } : !t, !t, !t
  return %o : !t
}
