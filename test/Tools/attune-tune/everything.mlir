// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is legal and not worth trying is left out and counted apart, unless it is
// asked for: then it is right like any other.
//
// REQUIRES: attune-tune
// DEFINE: %{tune} = attune-tune %s --chip=sm_80 --only=block-m=16,block-n=16,num-warps=1,mma-warps=1,producer-warps=0,k-stages=1,v-stages=1 \
// DEFINE:   --only=rescale=0,split-masked=1,tile-order=descending,q-in-registers=1,q-stages=1,workgroups-per-sm=1,late-keys=0,cluster=1,split-k=1,warps-n=1,exp-on-fma=0,merge=kernel,mma-schedule=none \
// DEFINE:   --only=overlap=none,overlap=softmax,unroll=1,unroll=2
// RUN: %{tune} --device=none --dry-run | FileCheck %s --check-prefix=WORTH
// RUN: %{tune} --device=none --dry-run --everything | FileCheck %s --check-prefix=ALL
// RUN: %{tune} --device=host --quiet --everything --json=%t.json | FileCheck %s --check-prefix=RIGHT
// RUN: %{tune} --device=host --quiet --json=%t.json
// RUN: FileCheck %s --check-prefix=JSON --input-file=%t.json

// WORTH: attention on sm_80: 1 of 12 schedules are legal and worth trying
// WORTH: not worth trying, no-gain-of-one-warp: 11, for example {{.*}}: expects {{.*}} to have its default where mma-warps is 1, for nothing was gained by another
// ALL: attention on sm_80: 8 of 12 schedules are legal{{$}}
// ALL-NOT: not worth trying
// ALL: refused, one-warp-mma: 4, for example
// RIGHT: executed on the CPU: {{.*}} which are those of 9 schedules; 9 of these are right and have no fault
// JSON: "refused": {}
// JSON: "skipped": {
// JSON: "no-gain-of-one-warp": {
// JSON: "count": 11
func.func @attention(%q: tensor<1x1x64x64xf16>, %k: tensor<1x1x64x64xf16>, %v: tensor<1x1x64x64xf16>) -> tensor<1x1x64x64xf16> {
  %o = attn.attention %q, %k, %v : tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>
  return %o : tensor<1x1x64x64xf16>
}
