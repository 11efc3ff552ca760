// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What attune-bisect refuses.
//
// RUN: not attune-bisect %s --function=small 2>&1 | FileCheck %s --check-prefix=CHIP
// CHIP: errors.mlir:{{[0-9:]+}} error: expects --chip=<name>, or a kernel that is compiled for a chip, to be executed on the host
// RUN: not attune-bisect %s --function=small --chip=nothing 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: expects a known chip ({{.*}}), but got 'nothing'
// RUN: not attune-bisect %s --function=small --chip=sm_80 -o= 2>&1 | FileCheck %s --check-prefix=NODIR
// NODIR: attune-bisect: for the -o option: expects a path, but got nothing
// RUN: not attune-bisect %s --function=small --chip=sm_80 --pass-pipeline="builtin.module(nothing)" 2>&1 | FileCheck %s --check-prefix=PASS
// PASS: attune-bisect: error: --pass-pipeline: {{.*}}'nothing' does not refer to a registered pass or pass pipeline
// RUN: not attune-bisect %s --function=small --chip=sm_80 --pass-pipeline="func.func(canonicalize)" 2>&1 | FileCheck %s --check-prefix=ANCHOR
// ANCHOR: attune-bisect: error: --pass-pipeline expects builtin.module(<passes>), but got 'func.func(canonicalize)'
// RUN: not attune-bisect %s --function=small --chip=sm_80 --schedule=block-m=64 --pass-pipeline="builtin.module(canonicalize)" 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: attune-bisect: error: --schedule expects no --pass-pipeline, which may hold attune-set-schedule itself
// RUN: not attune-bisect %s --function=small --chip=sm_80 --tolerance=-1 2>&1 | FileCheck %s --check-prefix=TOLERANCE
// TOLERANCE: attune-bisect: error: --tolerance expects a number of at least 0, but got -1
// RUN: not attune-bisect %s --function=small --chip=sm_80 --load-pass-plugin=%t.none 2>&1 | FileCheck %s --check-prefix=PLUGIN
// PLUGIN: attune-bisect: error: {{.*}}{{[nN]}}o such file or directory
// RUN: not attune-bisect %s --chip=sm_80 2>&1 | FileCheck %s --check-prefix=SEVERAL
// SEVERAL: attune-bisect: error: expects --function=<name> where there are several: small, dynamic
// RUN: not attune-bisect %s --function=dynamic --chip=sm_80 2>&1 | FileCheck %s --check-prefix=SIZE
// SIZE: error: expects a size for dimension 2 of argument 0: give --seq-q=<number>
// RUN: echo "module {}" | not attune-bisect --chip=sm_80 2>&1 | FileCheck %s --check-prefix=NOTHING
// NOTHING: attune-bisect: error: expects a function with an op that can be tuned
// RUN: attune-opt %s --attune-compile="chip=sm_80 format=tile" | not attune-bisect --function=small 2>&1 | FileCheck %s --check-prefix=COMPILED
// COMPILED: attune-bisect: error: expects --pass-pipeline=<passes> for a module that is compiled already
//
// The folder is a file.
// RUN: echo > %t.file
// RUN: not attune-bisect %s --function=small --chip=sm_80 -o %t.file/folder 2>&1 | FileCheck %s --check-prefix=FOLDER
// FOLDER: attune-bisect: error: expects to create the folder '{{.*}}folder', but got: Not a directory
//
// What an earlier search has left is a folder.
// RUN: mkdir -p %t.taken/after.mlir/folder
// RUN: not attune-bisect %s --function=small --chip=sm_80 -o %t.taken 2>&1 | FileCheck %s --check-prefix=TAKEN
// TAKEN: attune-bisect: error: expects to remove '{{.*}}after.mlir', but got: Directory not empty
//
// A pass that fails is named as well.
// RUN: not attune-bisect %s --function=small --chip=sm_80 --pass-pipeline="builtin.module(attune-attach-target{chip=sm_80},convert-attn-to-tile)" 2>&1 | FileCheck %s --check-prefix=FAILS
// FAILS: attune-bisect: error: 'convert-attn-to-tile' fails; the results are right before it

func.func @small(%q: tensor<1x1x8x64xf16>, %k: tensor<1x1x8x64xf16>, %v: tensor<1x1x8x64xf16>) -> tensor<1x1x8x64xf16> {
  %o = attn.attention %q, %k, %v : tensor<1x1x8x64xf16>, tensor<1x1x8x64xf16>, tensor<1x1x8x64xf16>
  return %o : tensor<1x1x8x64xf16>
}

func.func @dynamic(%q: tensor<1x1x?x64xf16>, %k: tensor<1x1x?x64xf16>, %v: tensor<1x1x?x64xf16>) -> tensor<1x1x?x64xf16> {
  %o = attn.attention %q, %k, %v : tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>
  return %o : tensor<1x1x?x64xf16>
}
