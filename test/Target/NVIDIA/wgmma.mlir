// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The wgmma dialect down to PTX, where an operand that is read and written is
// one register.
// RUN: rm -rf %t && attune-opt %s --attune-emit-binary="format=isa output-dir=%t" -o /dev/null
// RUN: FileCheck %s --input-file=%t/products.ptx

// CHECK: .target sm_90a
// CHECK: .entry products(
// CHECK: wgmma.fence.sync.aligned
// CHECK: wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {[[C:.*]]}, {[[A:%r[0-9]+, %r[0-9]+, %r[0-9]+, %r[0-9]+]]}, [[B:%rd[0-9]+]], 0, 1, 1, 1;
// CHECK: wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {[[C]]}, {[[A]]}, [[B]], 1, 1, 1, 1;
// CHECK: wgmma.fence.sync.aligned
// CHECK: wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {{{(%r[0-9]+, ){7}%r[0-9]+}}}, {[[A]]}, [[B]], 1, 1, 1, 0;
// CHECK: wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 {{{(%r[0-9]+, ){3}%r[0-9]+}}}, {[[A]]}, [[B]], 0, 1, 1;
// CHECK: wgmma.mma_async.sync.aligned.m64n8k32.f32.e5m2.e5m2 {{{(%r[0-9]+, ){3}%r[0-9]+}}}, {[[A]]}, [[B]], 1, 1, 1;
// CHECK: wgmma.commit_group.sync.aligned
// CHECK: wgmma.wait_group.sync.aligned 1;
// CHECK: wgmma.wait_group.sync.aligned 0;
// CHECK: st.global

!narrow = !llvm.struct<(f32, f32, f32, f32)>
!wide = !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>

module attributes {tile.target = #tile.target<chip = "sm_90a", family = "Ampere", lanes = 32, sms = 132,
    shared = 232448, shared_per_sm = 233472, registers = 255, registers_per_sm = 65536, max_threads = 1024,
    max_threads_per_sm = 2048, copy_sync = none, copy_widths = [], mma = []>} {
  gpu.module @kernels {
    llvm.func @products(%b: i64, %out: !llvm.ptr<1>, %wide: !wide) attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
      %lane = nvvm.read.ptx.sreg.tid.x : i32
      %none = llvm.mlir.poison : !narrow
      nvvm.wgmma.fence.aligned
      %0 = wgmma.mma_async [%lane, %lane, %lane, %lane], %b, %none, <m = 64, n = 8, k = 16>, <bf16>, D [<zero>], B [<row>] : !narrow
      %1 = wgmma.mma_async [%lane, %lane, %lane, %lane], %b, %0, <m = 64, n = 8, k = 16>, <bf16>, D [<one>], B [<row>] : !narrow
      nvvm.wgmma.commit.group.sync.aligned
      nvvm.wgmma.fence.aligned
      %2 = wgmma.mma_async [%lane, %lane, %lane, %lane], %b, %wide, <m = 64, n = 16, k = 16>, <f16>, D [<one>], B [<col>] : !wide
      %narrow0 = wgmma.mma_async [%lane, %lane, %lane, %lane], %b, %none, <m = 64, n = 8, k = 32>, <e4m3>, D [<zero>], B [<col>] : !narrow
      %narrow1 = wgmma.mma_async [%lane, %lane, %lane, %lane], %b, %narrow0, <m = 64, n = 8, k = 32>, <e5m2>, D [<one>], B [<col>] : !narrow
      nvvm.wgmma.commit.group.sync.aligned
      %3:2 = wgmma.wait_group 1, %1, %2 : !narrow, !wide
      %4 = wgmma.wait_group 0, %narrow1 : !narrow
      %x = llvm.extractvalue %3#0[3] : !narrow
      %y = llvm.extractvalue %3#1[7] : !wide
      %z = llvm.extractvalue %4[0] : !narrow
      %part = llvm.fadd %x, %y : f32
      %sum = llvm.fadd %part, %z : f32
      %to = llvm.getelementptr %out[%lane] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
      llvm.store %sum, %to : f32, !llvm.ptr<1>
      llvm.return
    }
  }
}
