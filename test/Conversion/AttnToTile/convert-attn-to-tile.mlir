// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kernel is given, where it reads and what the host side becomes.
// key-ranges.mlir tests which blocks are visited.
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_80" --attune-set-schedule="block-m=64 block-n=32 num-warps=2" \
// RUN:   --attn-expand-short-forms --convert-attn-to-tile --canonicalize --cse | FileCheck %s

!q = tensor<2x8x128x64xf16>
!k = tensor<2x2x96x64xf16>

// Grouped heads: key heads are query heads divided by the group.
// CHECK-LABEL: gpu.func @grouped_kernel
// CHECK-SAME:    %[[Q:[^ ]+]]: memref<2x8x128x64xf16>, %[[K:[^ ]+]]: memref<2x2x96x64xf16>, %[[V:[^ ]+]]: memref<2x2x96x64xf16>, %[[O:[^ ]+]]: memref<2x8x128x64xf16>) kernel
// CHECK-SAME:    known_block_size = array<i32: 64, 1, 1>
// CHECK-SAME:    launch.manifest = #launch.manifest<arguments = [#launch.buffer<name = "query", type = memref<2x8x128x64xf16>, access = read>
// CHECK-SAME:    #launch.buffer<name = "output", type = memref<2x8x128x64xf16>, access = write>]
// CHECK-SAME:    grid = <dim(0, 2) ceildiv 64 * dim(0, 1) * dim(0, 0)>, block = [64, 1, 1]
// CHECK-SAME:    tile.workgroups_per_sm = 1
// CHECK: %[[ID:.+]] = gpu.block_id x
// CHECK: %[[TILE:.+]] = arith.remui %[[ID]], %c2
// CHECK: %[[REST:.+]] = arith.divui %[[ID]], %c2
// CHECK: %[[HEAD:.+]] = arith.remui %[[REST]], %c8
// CHECK: %[[BATCH:.+]] = arith.divui %[[REST]], %c8
// CHECK: %[[KV:.+]] = arith.divui %[[HEAD]], %c4
// CHECK-DAG: memref.subview %[[K]][%[[BATCH]], %[[KV]], 0, 0] [1, 1, 96, 64]
// CHECK-DAG: memref.subview %[[V]][%[[BATCH]], %[[KV]], 0, 0] [1, 1, 96, 64]
// CHECK-DAG: memref.subview %[[Q]][%[[BATCH]], %[[HEAD]], 0, 0] [1, 1, 128, 64]
// One workgroup reads a query, and all of a head read its keys.
// CHECK: tile.load {{.*}} eviction first :
// CHECK: scf.for
// CHECK:   tile.load {{.*}} in_bounds {{.*}}eviction last :
// CHECK:   tile.mma {{.*}} transpose_rhs
// CHECK-NOT: scf.if
// CHECK:   tile.reduce {{ *}}max
// CHECK:   math.exp2 {{.*}}fastmath<afn>
// CHECK:   tile.reduce {{ *}}add
// CHECK:   tile.mma
// CHECK: tile.store
// CHECK: gpu.return
// CHECK-LABEL: func.func @grouped(
// CHECK-SAME:    %[[TQ:[^ ]+]]: tensor
// CHECK: %[[BQ:.+]] = bufferization.to_buffer %[[TQ]] read_only
// CHECK: %[[BO:.+]] = memref.alloc() : memref<2x8x128x64xf16>
// CHECK: gpu.launch_func @grouped_kernel::@grouped_kernel blocks in (%c32, %c1, %c1) threads in (%c64, %c1, %c1)
// CHECK-SAME: args(%[[BQ]] : {{.*}}, %[[BO]] : memref<2x8x128x64xf16>)
// CHECK: %[[RESULT:.+]] = bufferization.to_tensor %[[BO]] restrict writable
// CHECK: return %[[RESULT]]
func.func @grouped(%q: !q, %k: !k, %v: !k) -> !q {
  %o = attn.attention %q, %k, %v : !q, !k, !k
  return %o : !q
}

// Sequence before heads, and head size before sequence: views of a head are transposed.
// CHECK-LABEL: gpu.func @orders_kernel
// CHECK: memref.subview %{{.+}}[%{{.+}}, 0, 0, %{{.+}}] [1, 64, 128, 1]
// CHECK: memref.transpose %{{.+}} (d0, d1) -> (d1, d0)
func.func @orders(%q: tensor<2x64x128x8xf16>) -> tensor<2x64x128x8xf16> {
  %o = attn.attention %q, %q, %q order(bdsh) : tensor<2x64x128x8xf16>, tensor<2x64x128x8xf16>, tensor<2x64x128x8xf16>
  return %o : tensor<2x64x128x8xf16>
}

// Sizes known at run time are asked of the buffers; an empty grid is not launched.
// CHECK-LABEL: gpu.func @dynamic_kernel
// CHECK-SAME:    %[[Q:[^ ]+]]: memref<?x?x?x64xf16>, %[[K:[^ ]+]]: memref<?x?x?x64xf16>
// CHECK-DAG: memref.dim %[[Q]], %c2
// CHECK-DAG: memref.dim %[[K]], %c2
// CHECK-DAG: memref.dim %[[Q]], %c1
// CHECK-DAG: arith.ceildivui
// CHECK: scf.for
// CHECK-NOT: in_bounds
// CHECK: gpu.return
// CHECK-LABEL: func.func @dynamic(
// CHECK: memref.alloc(%{{.+}}, %{{.+}}, %{{.+}}) : memref<?x?x?x64xf16>
// CHECK: %[[ANY:.+]] = arith.cmpi ne, %{{.+}}, %c0
// CHECK: scf.if %[[ANY]] {
// CHECK:   gpu.launch_func
func.func @dynamic(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>) -> tensor<?x?x?x64xf16> {
  %o = attn.attention %q, %k, %k : tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>
  return %o : tensor<?x?x?x64xf16>
}

// CHECK-LABEL: gpu.func @strided_kernel
// CHECK-SAME:    memref<1x1x64x64xf16, strided<[?, ?, 128, 1]>>
func.func @strided(%q: tensor<1x1x64x64xf16, #attn.strided<[?, ?, 128, 1]>>, %k: tensor<1x1x64x64xf16>) -> tensor<1x1x64x64xf16> {
  %o = attn.attention %q, %k, %k : tensor<1x1x64x64xf16, #attn.strided<[?, ?, 128, 1]>>, tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>
    -> tensor<1x1x64x64xf16>
  return %o : tensor<1x1x64x64xf16>
}

// What divides the unknown strides is kept; results may be strided too.
// CHECK-LABEL: gpu.func @aligned_kernel
// CHECK-SAME:    memref<1x1x64x64xf16, strided<[?, ?, ?, 1]>> {tile.divisor = 8 : i64}
// CHECK-SAME:    memref<1x1x64x64xf16>,
// CHECK-SAME:    memref<1x1x64x64xf16, strided<[8192, 8192, 128, 1]>>)
// CHECK:       func.func @aligned
// CHECK:         memref.alloc() : memref<1x1x64x64xf16, strided<[8192, 8192, 128, 1]>>
func.func @aligned(%q: tensor<1x1x64x64xf16, #attn.strided<[?, ?, ?, 1], divisor = 8>>, %k: tensor<1x1x64x64xf16>)
    -> tensor<1x1x64x64xf16, #attn.strided<[8192, 8192, 128, 1]>> {
  %o = attn.attention %q, %k, %k : tensor<1x1x64x64xf16, #attn.strided<[?, ?, ?, 1], divisor = 8>>, tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>
    -> tensor<1x1x64x64xf16, #attn.strided<[8192, 8192, 128, 1]>>
  return %o : tensor<1x1x64x64xf16, #attn.strided<[8192, 8192, 128, 1]>>
}

// The sink of the head joins the row sums behind the loop; the sums leave as lse.
// CHECK-LABEL: gpu.func @sinks_kernel
// CHECK-SAME:    %[[SINKS:[^ ]+]]: memref<8xf32>, %{{[^ ]+}}: memref<2x8x128x64xf16>, %[[LSE:[^ ]+]]: memref<2x8x128xf32>
// CHECK: scf.for
// CHECK: scf.yield
// CHECK: memref.load %[[SINKS]]
// CHECK: tile.store
// CHECK: math.log2
// CHECK: %[[ROWS:.+]] = memref.subview %[[LSE]]
// CHECK: tile.store %{{.+}}, %[[ROWS]][%{{.+}}] : <64xf32, registers>
func.func @sinks(%q: !q, %k: !k, %sinks: tensor<8xf32>) -> (!q, tensor<2x8x128xf32>) {
  %o, %lse = attn.attention %q, %k, %k lse sinks(%sinks : tensor<8xf32>) : !q, !k, !k
  return %o, %lse : !q, tensor<2x8x128xf32>
}

// Scalars become arguments, arithmetic on them is done in the kernel. Without a
// tensor to read, positions are not clamped.
// CHECK-LABEL: gpu.func @captured_scalar_kernel
// CHECK-SAME:    %[[BIAS:[^ ]+]]: f32
// CHECK-SAME:    #launch.scalar<name = "capture2", type = f32>
// CHECK: %[[TWICE:.+]] = arith.addf %[[BIAS]], %[[BIAS]]
// CHECK: scf.for
// CHECK:   tile.map
// CHECK-NOT: arith.minsi
// CHECK:   arith.addf %{{.+}}, %[[TWICE]]
func.func @captured_scalar(%q: !q, %k: !k, %bias: f32) -> !q {
  %twice = arith.addf %bias, %bias : f32
  %o = attn.attention %q, %k, %k score (%s, %b, %h, %m, %n) {
    %x = arith.addf %s, %twice : f32
    attn.yield %x : f32
  } : !q, !k, !k
  return %o : !q
}

// Tiles reach beyond the ends of sequences; what a region reads must not.
// CHECK-LABEL: gpu.func @captured_tensor_kernel
// CHECK-SAME:    %[[BIAS:[^ ]+]]: memref<128x96xf32>
// CHECK: scf.for
// CHECK:   %[[ROW:.+]] = arith.minsi %{{.+}}, %c127
// CHECK:   %[[COLUMN:.+]] = arith.minsi %{{.+}}, %c95
// CHECK:   memref.load %[[BIAS]][%[[ROW]], %[[COLUMN]]]
func.func @captured_tensor(%q: !q, %k: !k, %bias: tensor<128x96xf32>) -> !q {
  %o = attn.attention %q, %k, %k score (%s, %b, %h, %m, %n) {
    %y = tensor.extract %bias[%m, %n] : tensor<128x96xf32>
    %x = arith.addf %s, %y : f32
    attn.yield %x : f32
  } : !q, !k, !k
  return %o : !q
}

// Heads are padded to the instruction: loads are then never known to be inside.
// CHECK-LABEL: gpu.func @padded_head_kernel
// A single tile of queries reads the keys once.
// CHECK: tile.load {{.*}} -> <64x48xf16, registers>
// CHECK: tile.load %{{[^]]+}}] stages {{[0-9]+}} : memref<64x40xf16{{.*}} -> <32x48xf16, registers>
// CHECK: tile.load {{.*}} : memref<64x20xf16{{.*}} -> <32x24xf16, registers>
func.func @padded_head(%q: tensor<1x1x64x40xf16>, %v: tensor<1x1x64x20xf16>) -> tensor<1x1x64x20xf16> {
  %o = attn.attention %q, %q, %v : tensor<1x1x64x40xf16>, tensor<1x1x64x40xf16>, tensor<1x1x64x20xf16>
  return %o : tensor<1x1x64x20xf16>
}

// CHECK-LABEL: func.func @no_attention
// CHECK-NEXT: return
func.func @no_attention(%q: !q) -> !q {
  return %q : !q
}
