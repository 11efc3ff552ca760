// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Without ptxas the binary holds PTX, unless that is refused.
// RUN: env PATH= CUDA_HOME= CUDA_PATH= CUDA_ROOT= attune-opt %s --attune-attach-target="chip=sm_90" \
// RUN:   --attune-emit-binary 2>&1 | FileCheck %s --check-prefix=NOPTXAS
// NOPTXAS: remark: no ptxas in PATH, CUDA_HOME, CUDA_PATH or CUDA_ROOT: the binary holds PTX
// NOPTXAS: #gpu.object<#nvvm.target<O = 3, chip = "sm_90">, {{.*}}assembly = "//{{.*}}.target sm_90
//
// RUN: env PATH= CUDA_HOME= CUDA_PATH= CUDA_ROOT= not attune-opt %s --attune-attach-target="chip=sm_90" \
// RUN:   --attune-emit-binary="require-object" 2>&1 | FileCheck %s --check-prefix=REQUIRED
// REQUIRED: files.mlir:[[#]]:{{.*}}: error: expects ptxas in PATH, or in bin/ below CUDA_HOME, CUDA_PATH or CUDA_ROOT
//
// A path that was given is never optional.
// RUN: not attune-opt %s --attune-attach-target="chip=sm_90" --attune-emit-binary="ptxas=%t.none" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=PATH
// PATH: error: expects an executable at '{{.*}}.none', but there is none
//
// What the assembler says is passed on.
// RUN: printf '#!/bin/sh\necho ptxas fatal: out of ideas; exit 3\n' > %t.ptxas && chmod +x %t.ptxas
// RUN: not attune-opt %s --attune-attach-target="chip=sm_90" --attune-emit-binary="ptxas=%t.ptxas output-dir=%t.failed" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=FAILED
// RUN: not ls %t.failed
// FAILED: error: expects '{{.*}}' to assemble the kernel, but it exited with code 3
// FAILED: note: it said: ptxas fatal: out of ideas
//
// Where one file cannot be written, none is.
// RUN: not attune-opt %s --attune-attach-target="chip=sm_90" --attune-emit-binary="format=isa output-dir=%s/below" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=FOLDER
// FOLDER: error: 'gpu.module' op expects to create the folder '{{.*}}below', but got:
// RUN: rm -rf %t.taken && mkdir -p %t.taken/kernel.json/x
// RUN: not attune-opt %s --attune-attach-target="chip=sm_90" --attune-emit-binary="format=isa output-dir=%t.taken" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=TAKEN
// TAKEN: error: expects to write '{{.*}}kernel.json', but got:
// RUN: ls %t.taken | count 1

gpu.module @kernels {
  llvm.func @kernel() attributes {gpu.kernel, nvvm.kernel} {
    llvm.return
  }
}
