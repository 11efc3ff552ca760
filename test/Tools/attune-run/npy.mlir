// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A user's own arrays, and the results to hold against theirs.
//
// RUN: rm -rf %t && mkdir %t && %python %S/Inputs/npy.py write %t
// RUN: attune-run %s --device=host --chip=sm_80 --schedule="block-m=16 block-n=16 num-warps=1" --function=plain \
// RUN:   --input=0=%t/q.npy --input=1=%t/k.npy --input=2=%t/v.npy --output-dir=%t | FileCheck %s
// CHECK: right     result 0
// RUN: %python %S/Inputs/npy.py check %t | FileCheck %s --check-prefix=SAME
// SAME: largest error small
//
// What was written can be read: the same arguments make the same result.
// RUN: attune-run %s --device=host --chip=sm_80 --schedule="block-m=16 block-n=16 num-warps=1" --function=plain \
// RUN:   --input=0=%t/argument0.npy --input=1=%t/argument1.npy --input=2=%t/argument2.npy --output-dir=%t/again
// RUN: cmp %t/result0.npy %t/again/result0.npy
//
// With one weight for all keys of the same value, the result is that value.
// RUN: %python %S/Inputs/npy.py bf16 %t/ones.npy
// RUN: attune-run %s --device=host --chip=sm_80 --schedule="block-m=16 block-n=16 num-warps=1" --function=brain \
// RUN:   --input=1=%t/ones.npy --output-dir=%t/brain
// RUN: cmp %t/brain/argument1.npy %t/brain/result0.npy
//
// RUN: not attune-run %s --device=host --chip=sm_80 --function=plain --input=0=%t/ones.npy 2>&1 \
// RUN:   | FileCheck %s --check-prefix=TYPE
// TYPE: npy.mlir:[[#]]:[[#]]: error: argument 0: '{{.*}}ones.npy' expects elements of type '<f2' for f16, but got '<u2'
// RUN: not attune-run %s --device=host --chip=sm_80 --function=plain --input=0=%t/none.npy 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NONE
// NONE: error: argument 0: cannot read '{{.*}}none.npy': No such file
// RUN: not attune-run %s --device=host --chip=sm_80 --function=plain --input=0=%t 2>&1 \
// RUN:   | FileCheck %s --check-prefix=FOLDER
// FOLDER: error: argument 0: cannot read '{{.*}}': Is a directory
// RUN: not attune-run %s --device=host --chip=sm_80 --function=plain --input=3=%t/q.npy 2>&1 \
// RUN:   | FileCheck %s --check-prefix=COUNT
// COUNT: error: expects files for arguments 0 to 2, but got '{{.*}}q.npy' for argument 3
// RUN: not attune-run %s --device=host --chip=sm_80 --function=plain --input=q=%t/q.npy 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NUMBER
// NUMBER: error: --input expects <argument>=<file>, but got 'q={{.*}}q.npy'
// RUN: not attune-run %s --device=host --chip=sm_80 --function=plain --input=0=%t/q.npy --input=0=%t/k.npy 2>&1 \
// RUN:   | FileCheck %s --check-prefix=TWICE
// TWICE: error: --input expects one file for an argument, but got two for argument 0
// RUN: not attune-run %s --device=host --chip=sm_80 --function=plain --schedule="block-m=16 block-n=16 num-warps=1" \
// RUN:   --output-dir=%t/q.npy 2>&1 | FileCheck %s --check-prefix=WRITE
// WRITE: error: expects to write '{{.*}}q.npy{{/}}argument0.npy', but got: Not a directory

!t = tensor<1x1x16x16xf16>
!b = tensor<1x1x16x16xbf16>

func.func @plain(%q: !t, %k: !t, %v: !t) -> !t {
  %o = attn.attention %q, %k, %v : !t, !t, !t
  return %o : !t
}

func.func @brain(%q: !b, %kv: !b) -> !b {
  %o = attn.attention %q, %kv, %kv : !b, !b, !b
  return %o : !b
}
