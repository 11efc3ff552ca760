// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A candidate that cannot be compiled is a row with its reason and a file that
// shows the failure; where no candidate is left, that is an error. The failure
// here is an assembler that refuses everything.
//
// REQUIRES: attune-tune
// RUN: rm -rf %t && mkdir %t
// RUN: printf '#!/bin/sh\necho "ptxas fatal: out of luck" >&2\nexit 255\n' > %t/ptxas && chmod +x %t/ptxas
// RUN: not attune-tune %s --chip=sm_90 --device=none --budget=1 --quiet --assembler=%t/ptxas --db=%t/tuning.db \
// RUN:   --repro-dir=%t/repro -o %t/tuned.mlir > %t/table 2> %t/log
// RUN: FileCheck %s --check-prefix=TABLE < %t/table
// RUN: FileCheck %s --check-prefix=LOG < %t/log
// RUN: not ls %t/tuned.mlir
// RUN: cat %t/repro/*.mlir | FileCheck %s --check-prefix=REPRO
// RUN: attune-opt %t/repro/*.mlir --verify-roundtrip -o /dev/null

// TABLE: default schedule: compile-error: expects '{{.*}}ptxas' to assemble the kernel, but it exited with code 255
// TABLE: compile-error: 1, for example default:
// LOG: attune-tune: error: no schedule of 'attention' that was tried is valid on sm_90

// REPRO: // compile-error at stage compile:
// REPRO: out of luck
// REPRO: // Reproduce with: attune-opt attention-compile-error-{{.*}}.mlir --attune-compile="chip=sm_90" -o /dev/null
// REPRO: attn.attention {{.*}} schedule(<

func.func @attention(%q: tensor<1x1x64x64xf16>) -> tensor<1x1x64x64xf16> {
  %o = attn.attention %q, %q, %q
     : tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>
  return %o : tensor<1x1x64x64xf16>
}
