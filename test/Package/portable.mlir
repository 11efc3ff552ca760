// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The portable executable needs nothing but glibc, goes by the name of each tool,
// and compiles with an empty environment.
//
// REQUIRES: portable
// RUN: llvm-readelf --needed-libs %portable/attune | FileCheck %s --check-prefix=LIBRARIES
// LIBRARIES:      NeededLibraries [
// LIBRARIES-NEXT:   ld-linux-x86-64.so.2
// LIBRARIES-NEXT:   libc.so.6
// LIBRARIES-NEXT:   libm.so.6
// LIBRARIES-NEXT: ]
//
// RUN: env -i %portable/attune-opt %s --attune-set-schedule --attune-compile="chip=sm_80 format=isa" | FileCheck %s --check-prefix=PTX
// RUN: env -i %portable/attune opt %s --attune-set-schedule --attune-compile="chip=gfx942 format=bin" | FileCheck %s --check-prefix=HSACO
// PTX: .visible .entry
// HSACO: bin = "\7FELF
//
// RUN: not %portable/attune paint 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: attune: error: unknown tool 'paint'
// UNKNOWN: usage: attune <tool>
// UNKNOWN: opt

func.func @attention(%q: tensor<1x8x256x64xf16>, %k: tensor<1x2x256x64xf16>, %v: tensor<1x2x256x64xf16>) -> tensor<1x8x256x64xf16> {
  %o = attn.attention %q, %k, %v causal(top_left)
     : tensor<1x8x256x64xf16>, tensor<1x2x256x64xf16>, tensor<1x2x256x64xf16>
  return %o : tensor<1x8x256x64xf16>
}
