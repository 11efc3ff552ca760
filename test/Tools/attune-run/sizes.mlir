// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes that do not agree are errors with both numbers when the host function
// runs, in front of the first launch.
//
// DEFINE: %{shapes} =
// DEFINE: %{refused} = not attune-run %s --device=host --chip=sm_80 --function=dynamic %{shapes} 2>&1 | FileCheck %s
// REDEFINE: %{shapes} = --shape=0=1x4x20x64 --shape=1=1x2x30x64 --shape=2=1x2x30x64 --shape=3=4 --shape=4=1x30
// RUN: attune-run %s --device=host --chip=sm_80 --function=dynamic %{shapes} | FileCheck %s --check-prefix=RIGHT
// RIGHT: right     result 0

// REDEFINE: %{shapes} = --shape=0=2x4x20x64 --shape=1=3x2x30x64 --shape=2=2x2x30x64 --shape=3=4 --shape=4=2x30
// RUN: %{refused} --check-prefix=BATCH
// BATCH: sizes.mlir:[[# @LINE + 27]]:8: error: expects query and key to have one batch size, but got 2 and 3

// REDEFINE: %{shapes} = --shape=0=1x4x20x64 --shape=1=1x2x30x64 --shape=2=1x4x30x64 --shape=3=4 --shape=4=1x30
// RUN: %{refused} --check-prefix=KV-HEADS
// KV-HEADS: error: expects key and value to have one number of heads, but got 2 and 4

// REDEFINE: %{shapes} = --shape=0=1x4x20x64 --shape=1=1x2x30x64 --shape=2=1x2x29x64 --shape=3=4 --shape=4=1x30
// RUN: %{refused} --check-prefix=LENGTH
// LENGTH: error: expects key and value to have one length, but got 30 and 29

// REDEFINE: %{shapes} = --shape=0=1x4x20x64 --shape=1=1x3x30x64 --shape=2=1x3x30x64 --shape=3=4 --shape=4=1x30
// RUN: %{refused} --check-prefix=HEADS
// HEADS: error: expects the heads of query to be a multiple of those of key, but got 4 and 3

// REDEFINE: %{shapes} = --shape=0=1x4x20x64 --shape=1=1x0x30x64 --shape=2=1x0x30x64 --shape=3=4 --shape=4=1x30
// RUN: %{refused} --check-prefix=NO-HEADS
// NO-HEADS: error: expects key to have a head where query has heads, but got 0 and 1

// REDEFINE: %{shapes} = --shape=0=1x4x20x64 --shape=1=1x2x30x64 --shape=2=1x2x30x64 --shape=3=3 --shape=4=1x30
// RUN: %{refused} --check-prefix=SINKS
// SINKS: error: expects query and sinks to have one number of heads, but got 4 and 3

// REDEFINE: %{shapes} = --shape=0=1x4x20x64 --shape=1=1x2x30x64 --shape=2=1x2x30x64 --shape=3=4 --shape=4=1x29
// RUN: %{refused} --check-prefix=TABLE
// TABLE: error: expects dimension 1 of a tensor that a region reads to have at least as many elements as there are keys, but got 29 and 30
func.func @dynamic(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>, %sinks: tensor<?xf32>,
                   %length: tensor<?x?xi32>) -> tensor<?x?x?x64xf16> {
  %o = attn.attention %q, %k, %v sinks(%sinks : tensor<?xf32>) mask (%b, %h, %m, %n) {
    %zero = arith.constant 0 : i32
    %of_key = tensor.extract %length[%b, %n] : tensor<?x?xi32>
    %see = arith.cmpi sge, %of_key, %zero : i32
    attn.yield %see : i1
  } : tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>
  return %o : tensor<?x?x?x64xf16>
}

// What is asserted of a size is a fact for the kernel, so it is checked.
// RUN: attune-run %s --device=host --chip=sm_80 --function=whole --seq-q=20 --seq-k=128 | FileCheck %s --check-prefix=RIGHT
// RUN: not attune-run %s --device=host --chip=sm_80 --function=whole --seq-q=20 --seq-k=100 2>&1 | FileCheck %s --check-prefix=WHOLE
// WHOLE: sizes.mlir:[[# @LINE + 9]]:3: error: expects a number of keys that is a multiple of 64, but got 100 and 64
func.func @whole(%q: tensor<1x2x?x64xf16>, %k: tensor<1x2x?x64xf16>, %v: tensor<1x2x?x64xf16>) -> tensor<1x2x?x64xf16> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %keys = tensor.dim %k, %c2 : tensor<1x2x?x64xf16>
  %rest = arith.remui %keys, %c64 : index
  %whole = arith.cmpi eq, %rest, %c0 : index
  // The reference does not look at it.
  cf.assert %whole, "expects a number of keys that is a multiple of 64"
  %o = attn.attention %q, %k, %v : tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>
  return %o : tensor<1x2x?x64xf16>
}

// So are the least and the most that it may be.
// RUN: attune-run %s --device=host --chip=sm_80 --function=bounded --seq-q=20 --seq-k=100 | FileCheck %s --check-prefix=RIGHT
// RUN: not attune-run %s --device=host --chip=sm_80 --function=bounded --seq-q=20 --seq-k=129 2>&1 | FileCheck %s --check-prefix=MOST
// MOST: error: expects at most 128 keys, but got 129 and 128
// RUN: not attune-run %s --device=host --chip=sm_80 --function=bounded --seq-q=20 --seq-k=63 2>&1 | FileCheck %s --check-prefix=LEAST
// LEAST: error: expects at least 64 keys, but got 63 and 64
func.func @bounded(%q: tensor<1x2x?x64xf16>, %k: tensor<1x2x?x64xf16>, %v: tensor<1x2x?x64xf16>) -> tensor<1x2x?x64xf16> {
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %keys = tensor.dim %k, %c2 : tensor<1x2x?x64xf16>
  %most = arith.cmpi ule, %keys, %c128 : index
  cf.assert %most, "expects at most 128 keys"
  %least = arith.cmpi uge, %keys, %c64 : index
  cf.assert %least, "expects at least 64 keys"
  %o = attn.attention %q, %k, %v : tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>
  return %o : tensor<1x2x?x64xf16>
}
