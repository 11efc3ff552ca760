// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A driver whose kernels do nothing: all of the tool runs, and what was not
// computed is not right.
// RUN: env LD_LIBRARY_PATH=%fake_driver not attune-run %s --seq-q=100 --seq-k=130 --batch=2 | FileCheck %s
// CHECK:      device    Fake GPU (sm_90, 2 SMs)
// CHECK-NEXT: kernel    attention_kernel, sm_90
// CHECK-NEXT: WRONG     result 0: {{.*}}: expects a reference to compare with at element 0, but that is nan
// CHECK-NEXT: WRONG     result 1 (lse): {{.*}}but that is nan
// CHECK-NOT:  time
//
// RUN: env LD_LIBRARY_PATH=%fake_driver attune-run - --seq-q=100 --seq-k=130 --batch=2 --bench --json < %s \
// RUN:   | FileCheck %s --check-prefix=BENCH
// BENCH-DAG: "flops": 26624000
// BENCH-DAG: "median_ms": 2
// BENCH-DAG: "tflops": 0.0133
// BENCH-DAG: "kernel": "attention_kernel"
// BENCH-DAG: "name": "Fake GPU"
//
// The CPU does not need the driver: here the reference has numbers.
// RUN: env LD_LIBRARY_PATH=%fake_driver not attune-run %s --seq-q=3 --seq-k=5 --batch=1 --reference=cpu \
// RUN:   | FileCheck %s --check-prefix=CPU
// CPU: WRONG     result 0: {{.*}}: expects {{-?[0-9.e-]+}} at element 0, but got nan
//
// A compiled module runs too: it has kept its source.
// RUN: attune-opt %s --attune-compile="chip=sm_90" -o %t.mlir
// RUN: env LD_LIBRARY_PATH=%fake_driver not attune-run %t.mlir --seq-q=1 --seq-k=1 --batch=1 \
// RUN:   | FileCheck %s --check-prefix=COMPILED
// COMPILED: WRONG     result 0
//
// No queries: no launch, and nothing to be wrong.
// RUN: env LD_LIBRARY_PATH=%fake_driver attune-run %t.mlir --seq-q=0 --seq-k=1 --batch=1 \
// RUN:   | FileCheck %s --check-prefix=EMPTY
// EMPTY: right     result 0

!query = tensor<?x4x?x64xbf16>
!key = tensor<?x2x?x64xbf16, #attn.strided<[?, 64, ?, 1], divisor = 8>>

func.func @attention(%q: !query, %k: !key, %v: !key) -> (!query, tensor<?x4x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v lse : !query, !key, !key
  return %o, %lse : !query, tensor<?x4x?xf32>
}
