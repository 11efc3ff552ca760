// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A search of some values alone: a knob that is named twice has both, one that
// is not named all values that are tried unasked. The default schedule is tried
// as well.
//
// REQUIRES: attune-tune
// RUN: attune-tune %s --chip=sm_90 --device=none --dry-run --only=block-m=64,num-warps=4,block-n=64,block-n=32 \
// RUN:   --only=k-stages=1,v-stages=1,rescale=0,split-masked=1,tile-order=descending | FileCheck %s --check-prefix=COUNT
// RUN: attune-tune %s --chip=sm_90 --device=none --quiet --only=block-m=64,num-warps=4,block-n=32,workgroups-per-sm=1 \
// RUN:   --only=k-stages=1,v-stages=1,rescale=0,split-masked=1,tile-order=descending 2> /dev/null | FileCheck %s --check-prefix=TABLE

// RUN: attune-tune %s --chip=sm_90a --device=none --dry-run --only=block-m=64,num-warps=4,block-n=64,mma-warps=4,producer-warps=4,overlap=softmax \
// RUN:   --only=k-stages=1,v-stages=1,rescale=0,exp-on-fma=0,split-masked=1,tile-order=descending,persistent=none,workgroups-per-sm=1,late-keys=0,cluster=1,split-k=1,warps-n=1,merge=kernel,mma-schedule=none | FileCheck %s --check-prefix=UNASKED
// RUN: attune-tune %s --chip=sm_90a --device=none --dry-run --only=block-m=64,num-warps=4,block-n=64,mma-warps=4,producer-warps=4,overlap=softmax \
// RUN:   --only=k-stages=1,v-stages=1,rescale=0,exp-on-fma=0,split-masked=1,tile-order=descending,persistent=none,workgroups-per-sm=1,late-keys=0,cluster=1,split-k=1,warps-n=1,merge=kernel,mma-schedule=none \
// RUN:   --only=unroll=1,unroll=4,rescale-late=1,p-in-registers=0,o-in-shared=query-slot,o-in-shared=buffer | FileCheck %s --check-prefix=ASKED

// UNASKED: attention on sm_90a: 1 of 4 schedules are legal
// ASKED: attention on sm_90a: 4 of 16 schedules are legal
// Two sizes of blocks, queries in registers or not, one to four workgroups.
// COUNT: attention on sm_90: 16 of {{[0-9]+}} schedules are legal
// TABLE: attention on sm_90: 3 of 3 legal schedules tried
// TABLE-DAG: {{ }}default{{$}}
// TABLE-DAG: {{ }}block-n=32 k-stages=1 v-stages=1 q-in-registers=0{{$}}
// TABLE-DAG: {{ }}block-n=32 k-stages=1 v-stages=1{{$}}
// TABLE: default schedule: rank
func.func @attention(%q: tensor<1x1x64x64xf16>, %k: tensor<1x1x64x64xf16>, %v: tensor<1x1x64x64xf16>) -> tensor<1x1x64x64xf16> {
  %o = attn.attention %q, %k, %v : tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>
  return %o : tensor<1x1x64x64xf16>
}
