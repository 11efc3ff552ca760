// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes of 0 that types know: no key leaves a result of 0, and no query, head
// or batch leaves no result.
//
// RUN: attune-run %s --device=host --chip=sm_80 --function=no_keys | FileCheck %s
// RUN: attune-run %s --device=host --chip=sm_90a --function=no_keys | FileCheck %s
// RUN: attune-run %s --device=host --chip=gfx942 --function=no_keys | FileCheck %s
// RUN: attune-run %s --device=host --chip=sm_90a --function=no_keys --output-dir=%t | FileCheck %s
// RUN: %python -c "import struct, sys; d = open(sys.argv[1], 'rb').read()[-256:]; print(set(struct.unpack('64f', d)))" %t/result1.npy | FileCheck %s --check-prefix=LSE
// RUN: attune-run %s --device=host --chip=sm_80 --function=no_queries | FileCheck %s
// RUN: attune-run %s --device=host --chip=sm_90a --function=no_queries | FileCheck %s
// RUN: attune-run %s --device=host --chip=sm_90a --function=nothing | FileCheck %s
// RUN: attune-run %s --device=host --chip=sm_80 --function=no_terms | FileCheck %s
// RUN: attune-opt %s --attune-compile="chip=sm_90a format=isa" | FileCheck %s --check-prefix=ISA
// CHECK: right     result 0
// LSE: {-inf}
// ISA-COUNT-4: gpu.binary

func.func @no_keys(%q: tensor<1x16x4x64xf16>, %k: tensor<1x0x2x64xf16>, %v: tensor<1x0x2x64xf16>)
    -> (tensor<1x16x4x64xf16>, tensor<1x4x16xf32>) {
  %o, %lse = attn.attention %q, %k, %v lse causal(bottom_right) order(bshd)
    : tensor<1x16x4x64xf16>, tensor<1x0x2x64xf16>, tensor<1x0x2x64xf16>
  return %o, %lse : tensor<1x16x4x64xf16>, tensor<1x4x16xf32>
}

func.func @no_queries(%q: tensor<1x2x0x64xf16>, %k: tensor<1x2x16x64xf16>, %v: tensor<1x2x16x64xf16>)
    -> (tensor<1x2x0x64xf16>, tensor<1x2x0xf32>) {
  %o, %lse = attn.attention %q, %k, %v lse : tensor<1x2x0x64xf16>, tensor<1x2x16x64xf16>, tensor<1x2x16x64xf16>
  return %o, %lse : tensor<1x2x0x64xf16>, tensor<1x2x0xf32>
}

func.func @nothing(%q: tensor<0x0x4x64xf16>, %k: tensor<0x0x4x64xf16>, %v: tensor<0x0x4x64xf16>) -> tensor<0x0x4x64xf16> {
  %o = attn.attention %q, %k, %v : tensor<0x0x4x64xf16>, tensor<0x0x4x64xf16>, tensor<0x0x4x64xf16>
  return %o : tensor<0x0x4x64xf16>
}

func.func @no_terms(%a: tensor<2x16x0xf16>, %b: tensor<2x0x32xf16>) -> tensor<2x16x32xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x16x32xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x16x32xf32>) -> tensor<2x16x32xf32>
  %c = linalg.batch_matmul ins(%a, %b : tensor<2x16x0xf16>, tensor<2x0x32xf16>) outs(%init : tensor<2x16x32xf32>) -> tensor<2x16x32xf32>
  return %c : tensor<2x16x32xf32>
}
