// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What stands below a table: how fast the winner is beside the default and
// another kernel, and a command that runs it when it is pasted. The driver is
// one whose kernels do nothing, which is right where there are no queries.
//
// REQUIRES: attune-tune
// DEFINE: %{part} = --only=block-m=64,block-n=64,num-warps=4,k-stages=2,v-stages=2,exp-on-fma=0,rescale=0,tile-order=ascending,split-k=1
// RUN: rm -rf %t && mkdir %t
// DEFINE: %{fake} = env LD_LIBRARY_PATH=%fake_driver TMPDIR=%t
// DEFINE: %{paste} = env LD_LIBRARY_PATH=%fake_driver TMPDIR=%t PATH=%attune_build/bin:/usr/bin:/bin bash
// DEFINE: %{tune} = attune-tune %s %{part} --budget=2 --size=batch=1,seq-q=0,seq-k=64 --state=cool --quiet
//
// RUN: %{fake} %{tune} -o "%t/my winner.mlir" --json=%t/report.json --vendor=winner=0.4ms > %t/table
// RUN: FileCheck %s --check-prefix=TABLE < %t/table
// RUN: FileCheck %s --check-prefix=JSON < %t/report.json
// RUN: attune-report %t/report.json | FileCheck %s --check-prefix=PAGE
// RUN: sed -n 's/^run it: //p' %t/table > %t/command
// RUN: %{paste} %t/command | FileCheck %s --check-prefix=PASTED
// TABLE: rank {{.*}} us, 95 % interval over default over vendor regs
// TABLE-NEXT: 1 {{.*}} {{[0-9.]+}}x {{ *}}0.20x
// TABLE: vendor: 400.0 us; the best is 0.20x as fast
// TABLE: best: block-m=
// TABLE-NEXT: {{^}}run it: attune-run '{{.*}}/my winner.mlir' --chip=sm_90a --batch=1 --seq-k=64 --seq-q=0 --verify --bench --state=cool{{$}}
// JSON: "vendor_ns": 400000
// PAGE: <th scope="col">over vendor</th>
// PASTED: right {{.*}} ratio 0.00
// PASTED-NEXT: time median 2.0000 ms
//
// Without an output the schedule stands in the command.
// RUN: %{fake} %{tune} > %t/table
// RUN: FileCheck %s --check-prefix=NOFILE < %t/table
// RUN: sed -n 's/^run it: //p' %t/table > %t/command
// RUN: %{paste} %t/command | FileCheck %s --check-prefix=PASTED
// NOFILE-NOT: vendor
// NOFILE: run it: attune-run {{.*}}winner.mlir --chip=sm_90a {{.*}} --schedule='block-m={{.*}}'
//
// Of several problems one is named. What cannot be timed here is to be run elsewhere.
// RUN: sed '/^!operand/d; s/func.func @attention/func.func @other/' %s > %t/other.mlir
// RUN: cat %s %t/other.mlir > %t/two.mlir
// RUN: %{fake} attune-tune %t/two.mlir %{part} --budget=1 --size=batch=1,seq-q=0,seq-k=64 --state=cool --quiet -o %t/both.mlir --vendor=other=1ms > %t/table
// RUN: FileCheck %s --check-prefix=TWO < %t/table
// RUN: sed -n 's/^run it: //p' %t/table > %t/command
// RUN: %{paste} %t/command | FileCheck %s --check-prefix=PASTED
// TWO: attention on
// TWO-NOT: vendor:
// TWO: run it: attune-run {{.*}}both.mlir {{.*}} --function=attention
// TWO: other on
// TWO: vendor: 1000.0 us
// TWO: run it: attune-run {{.*}}both.mlir {{.*}} --function=other
// RUN: %{fake} attune-tune %t/two.mlir %{part} --budget=1 --size=batch=1,seq-q=0,seq-k=64 --state=cool --quiet | FileCheck %s --check-prefix=NONAME
// NONAME-NOT: run it
// RUN: attune-tune %s --chip=gfx942 --device=none --budget=1 --size=batch=1,seq-q=64,seq-k=64 --quiet 2> /dev/null | FileCheck %s --check-prefix=ELSEWHERE
// ELSEWHERE: best by model: block-m=
// ELSEWHERE-NEXT: run it on gfx942: attune-run {{.*}}winner.mlir --chip=gfx942

!operand = tensor<?x2x?x64xf16>

func.func @attention(%q: !operand, %k: !operand, %v: !operand) -> !operand {
  %o = attn.attention %q, %k, %v : !operand, !operand, !operand
  return %o : !operand
}
