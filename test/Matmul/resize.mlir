// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A group with other sizes: those that were dynamic become known, those that
// were known change, and so do all tensors of the group.
//
// REQUIRES: plugin
// RUN: attune-gen --op=matmul --dtype=bf16 --dynamic=m,k,batch --n=128 --rope=halves --head-dim=32 --bias > %t.mlir
// RUN: attune-opt %t.mlir --load-pass-plugin=%test_passes --pass-pipeline="builtin.module(test-print-contraction-groups{sizes=2,16,64,48})" -o /dev/null \
// RUN:   | FileCheck %s
// CHECK:      group batch=? m=? n=128 k=?
// CHECK:      work 196608.00 FLOP 21632.00 bytes
// CHECK:      func.func @matmul(%{{.+}}: tensor<2x16x48xbf16>, %{{.+}}: tensor<2x48x64xbf16>, %{{.+}}: tensor<64xbf16>, %{{.+}}: tensor<16x16xf32>, %{{.+}}: tensor<16x16xf32>) -> tensor<2x16x64xbf16>
// CHECK-NOT:  ?
// CHECK:      tensor.expand_shape %{{.+}} output_shape [2, 16, 2, 2, 16]
// CHECK-NOT:  ?
// CHECK:      return

// RUN: not attune-opt %t.mlir --load-pass-plugin=%test_passes --pass-pipeline="builtin.module(test-print-contraction-groups{sizes=2,16,80,48})" -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=HALF
// HALF: error: expects a multiple of 32 for a reshape, but got 80

// RUN: attune-gen --op=matmul --dtype=f16 --m=64 --n=64 --k=64 --gate --out-dtype=f32 > %t.gate.mlir
// RUN: attune-opt %t.gate.mlir --load-pass-plugin=%test_passes --pass-pipeline="builtin.module(test-print-contraction-groups{sizes=1,8,24,40})" -o /dev/null \
// RUN:   | FileCheck %s --check-prefix=GATE
// GATE:     work 30720.00 FLOP 5248.00 bytes
// GATE:     func.func @matmul(%{{.+}}: tensor<8x40xf16>, %{{.+}}: tensor<40x24xf16>, %{{.+}}: tensor<40x24xf16>) -> tensor<8x24xf32>
// GATE-NOT: x64
// GATE:     return
// RUN: not attune-opt %t.gate.mlir --load-pass-plugin=%test_passes --pass-pipeline="builtin.module(test-print-contraction-groups{sizes=2,8,24,40})" -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BATCH
// BATCH: error: expects a batch of 1, for there is none
