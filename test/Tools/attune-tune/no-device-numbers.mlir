// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Without a device the kernels of the best are executed on the CPU, for a
// smaller problem of the same kind: whatever the order of dimensions, the heads,
// what regions capture, and what is known only at run time.
//
// REQUIRES: attune-tune
// DEFINE: %{part} = --only=block-n=32,block-n=64,num-warps=4,tile-order=ascending,split-k=1
// RUN: attune-tune %s %{part} --chip=gfx1100 --device=none --budget=1 2> %t.log | FileCheck %s
// RUN: FileCheck %s --check-prefix=LOG < %t.log
// RUN: attune-tune %s %{part} --chip=gfx942 --device=none --budget=1 2> %t.log | FileCheck %s
// RUN: attune-tune %s %{part} --chip=gfx942 --device=none --budget=1 --size=seq-q=700,seq-k=900 2> %t.log \
// RUN:   | FileCheck %s

// LOG: note: the kernels of the best were executed on the CPU
// LOG: warning: no numbers are checked: expects
// LOG: note: no numbers were checked

// CHECK: grouped on gfx{{.*}}: 1 of
// CHECK: numbers
// CHECK-NEXT: 1 {{.*}} right
func.func @grouped(%q: tensor<4x3000x16x128xbf16>, %k: tensor<4x4096x4x128xbf16>, %v: tensor<4x4096x4x64xbf16>,
                   %slopes: tensor<16xf32>, %sinks: tensor<16xf32>)
    -> (tensor<4x3000x16x64xbf16>, tensor<4x16x3000xf32>) {
  %o, %lse = attn.attention %q, %k, %v lse order(bshd) causal(bottom_right) alibi(%slopes : tensor<16xf32>) sinks(%sinks : tensor<16xf32>)
     : tensor<4x3000x16x128xbf16>, tensor<4x4096x4x128xbf16>, tensor<4x4096x4x64xbf16>
  return %o, %lse : tensor<4x3000x16x64xbf16>, tensor<4x16x3000xf32>
}

// CHECK: documents on gfx{{.*}}: 1 of
// CHECK: numbers
// CHECK-NEXT: 1 {{.*}} right
func.func @documents(%q: tensor<2x8x?x64xf16>, %k: tensor<2x8x?x64xf16>, %v: tensor<2x8x?x64xf16>,
                     %doc: tensor<2x?xi32>) -> tensor<2x8x?x64xf16> {
  %o = attn.attention %q, %k, %v
     mask (%b, %h, %m, %n) {
       %dm = tensor.extract %doc[%b, %m] : tensor<2x?xi32>
       %dn = tensor.extract %doc[%b, %n] : tensor<2x?xi32>
       %same = arith.cmpi eq, %dm, %dn : i32
       attn.yield %same : i1
     } : tensor<2x8x?x64xf16>, tensor<2x8x?x64xf16>, tensor<2x8x?x64xf16>
  return %o : tensor<2x8x?x64xf16>
}

// One tensor is query, key and value.
// CHECK: self on gfx{{.*}}: 1 of
// CHECK: numbers
// CHECK-NEXT: 1 {{.*}} right
func.func @self(%x: tensor<1x4x513x80xf16>) -> tensor<1x4x513x80xf16> {
  %o = attn.attention %x, %x, %x : tensor<1x4x513x80xf16>, tensor<1x4x513x80xf16>, tensor<1x4x513x80xf16>
  return %o : tensor<1x4x513x80xf16>
}

// Lists of blocks are for as many blocks of queries as there are.
// CHECK: listed on gfx{{.*}}: 1 of
// CHECK: numbers
// CHECK-NEXT: 1 {{.*}} right
func.func @listed(%q: tensor<2x4x1000x64xf16>, %counts: tensor<1x1x8xi32>, %indices: tensor<1x1x8x8xi32>) -> tensor<2x4x1000x64xf16> {
  %o = attn.attention %q, %q, %q blocks(%counts, %indices, [128, 128] : tensor<1x1x8xi32>, tensor<1x1x8x8xi32>)
     : tensor<2x4x1000x64xf16>, tensor<2x4x1000x64xf16>, tensor<2x4x1000x64xf16>
  return %o : tensor<2x4x1000x64xf16>
}

// A problem that cannot be run leaves its candidates as they are.
// CHECK: unknown on gfx{{.*}}: 1 of
// CHECK: numbers
// CHECK-NEXT: {{^}}   1 {{ *[0-9.]+ +- }}
func.func @unknown(%q: tensor<2x8x?x64xf16>, %k: tensor<2x8x?x64xf16>, %bias: tensor<?xf16>) -> tensor<2x8x?x64xf16> {
  %o = attn.attention %q, %k, %k
     score (%s, %b, %h, %m, %n) {
       %c3 = arith.constant 3 : index
       %i = arith.divui %m, %c3 : index
       %x = tensor.extract %bias[%i] : tensor<?xf16>
       %y = arith.extf %x : f16 to f32
       %z = arith.addf %s, %y : f32
       attn.yield %z : f32
     } : tensor<2x8x?x64xf16>, tensor<2x8x?x64xf16>, tensor<2x8x?x64xf16>
  return %o : tensor<2x8x?x64xf16>
}
