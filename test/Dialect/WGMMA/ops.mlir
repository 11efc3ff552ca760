// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Everything of the dialect, printed and read again.
// RUN: attune-opt %s | attune-opt | FileCheck %s
// RUN: attune-opt %s --mlir-print-op-generic | attune-opt | FileCheck %s

// CHECK-LABEL: llvm.func @products
llvm.func @products(%a: i32, %b: i64, %acc: !llvm.struct<(f32, f32, f32, f32)>, %wide: !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>) {
  // CHECK: wgmma.mma_async[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}], %{{.*}}, %{{.*}}, <m = 64, n = 8, k = 16>, <bf16>, D[<one>], B[<row>] : !llvm.struct<(f32, f32, f32, f32)>
  %0 = wgmma.mma_async [%a, %a, %a, %a], %b, %acc, <m = 64, n = 8, k = 16>, <bf16>, D [<one>], B [<row>]
      : !llvm.struct<(f32, f32, f32, f32)>
  // CHECK: wgmma.mma_async[{{.*}} <m = 64, n = 16, k = 16>, <f16>, D[<zero>], B[<col>] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>
  %1 = wgmma.mma_async [%a, %a, %a, %a], %b, %wide, <m = 64, n = 16, k = 16>, <f16>, D [<zero>], B [<col>]
      : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>
  // CHECK: wgmma.mma_async[{{.*}} <m = 64, n = 8, k = 32>, <e4m3>, D[<zero>], B[<col>] : !llvm.struct<(f32, f32, f32, f32)>
  %3 = wgmma.mma_async [%a, %a, %a, %a], %b, %acc, <m = 64, n = 8, k = 32>, <e4m3>, D [<zero>], B [<col>]
      : !llvm.struct<(f32, f32, f32, f32)>
  // CHECK: %{{.*}}:2 = wgmma.wait_group 1, %{{.*}}, %{{.*}} : !llvm.struct<(f32, f32, f32, f32)>, !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>
  %2:2 = wgmma.wait_group 1, %0, %1 : !llvm.struct<(f32, f32, f32, f32)>, !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>
  // CHECK: wgmma.wait_group 0{{$}}
  wgmma.wait_group 0
  llvm.return
}
