// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An MMA whose operands are loaded by a role each, through rings of unlike
// lengths: executed as tiles, and as what a chip runs.
//
// RUN: attune-opt %s \
// RUN:   --pass-pipeline="builtin.module(attune-attach-target{chip=sm_90a},gpu.module(gpu.func(tile-promote-to-shared,tile-specialize-warps)))" -o %t.tile.mlir
// RUN: FileCheck %s --check-prefix=ROLES < %t.tile.mlir
// RUN: attune-run %t.tile.mlir --device=host --print --function=product | FileCheck %s
// RUN: attune-opt %t.tile.mlir \
// RUN:   --pass-pipeline="builtin.module(gpu.module(gpu.func(tile-assign-layouts,tile-allocate-shared)),convert-tile-to-gpu,canonicalize,cse,gpu-to-llvm-pipeline)" -o %t.llvm.mlir
// RUN: attune-run %t.llvm.mlir --device=host --print --function=product | FileCheck %s

// ROLES: tile.specialize <"compute", warps = 4> {
// ROLES-NOT: tile.put
// ROLES: }, <"load_a", warps = 1, threads = one> {
// ROLES: tile.put {{.*}} role "load_a"
// ROLES-NOT: tile.put
// ROLES: }, <"load_b", warps = 1, threads = one> {
// ROLES: tile.put {{.*}} role "load_b"
// ROLES-NOT: tile.put

// CHECK: result 0: 64x16xf32
// CHECK-NEXT: {{^}}-11 3 -4 3 -11 10 10 -11 3 -4 3 -11 10 10 -11 3{{$}}
// CHECK-NEXT: {{^}}4 -16 6 7 -6 2 3 4 -16 6 7 -6 2 3 4 -16{{$}}
// CHECK-NEXT: {{^}}4 0 -4 6 9 -16 1 4 0 -4 6 9 -16 1 4 0{{$}}
// CHECK-NEXT: {{^}}9 6 -4 0 4 1 -16 9 6 -4 0 4 1 -16 9 6{{$}}
module attributes {gpu.container_module} {
gpu.module @product_module {
  gpu.func @product(%a: memref<64x128xf16>, %b: memref<16x128xf16>, %d: memref<64x16xf32>) kernel
      attributes {known_block_size = array<i32: 192, 1, 1>, tile.roles = [
        #tile.role<"compute", warps = 4>, #tile.role<"load_a", warps = 1, threads = one>, #tile.role<"load_b", warps = 1, threads = one>]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %zero = arith.constant 0.0 : f32
    %acc = tile.fill %zero : f32 -> !tile.tile<64x16xf32, registers>
    %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%s = %acc) -> !tile.tile<64x16xf32, registers> {
      %k = arith.muli %i, %c32 : index
      %x = tile.load %a[%c0, %k] in_bounds stages 2 role "load_a" : memref<64x128xf16> -> !tile.tile<64x32xf16, registers>
      %y = tile.load %b[%c0, %k] in_bounds stages 3 role "load_b" : memref<16x128xf16> -> !tile.tile<16x32xf16, registers>
      %t = tile.mma %x, %y, %s transpose_rhs scope warpgroup
        : !tile.tile<64x32xf16, registers>, !tile.tile<16x32xf16, registers>, !tile.tile<64x16xf32, registers>
      scf.yield %t : !tile.tile<64x16xf32, registers>
    }
    tile.store %r, %d[%c0, %c0] : !tile.tile<64x16xf32, registers>, memref<64x16xf32>
    gpu.return
  }
}

// a[i, k] = (i + 2 k) mod 5 - 2, b[j, k] = (3 j + k) mod 7 - 3.
gpu.module @fill_module {
  gpu.func @fill(%a: memref<64x128xf16>, %b: memref<16x128xf16>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c5 = arith.constant 5 : index
    %c7 = arith.constant 7 : index
    %two = arith.constant 2.0 : f32
    %three = arith.constant 3.0 : f32
    %as = tile.map() {
    ^bb0(%i: index, %k: index):
      %scaled = arith.muli %k, %c2 : index
      %sum = arith.addi %i, %scaled : index
      %rest = arith.remui %sum, %c5 : index
      %number = arith.index_cast %rest : index to i32
      %float = arith.sitofp %number : i32 to f32
      %shifted = arith.subf %float, %two : f32
      %x = arith.truncf %shifted : f32 to f16
      tile.yield %x : f16
    } : () -> !tile.tile<64x128xf16, registers>
    tile.store %as, %a[%c0, %c0] : !tile.tile<64x128xf16, registers>, memref<64x128xf16>
    %bs = tile.map() {
    ^bb0(%i: index, %k: index):
      %scaled = arith.muli %i, %c3 : index
      %sum = arith.addi %k, %scaled : index
      %rest = arith.remui %sum, %c7 : index
      %number = arith.index_cast %rest : index to i32
      %float = arith.sitofp %number : i32 to f32
      %shifted = arith.subf %float, %three : f32
      %x = arith.truncf %shifted : f32 to f16
      tile.yield %x : f16
    } : () -> !tile.tile<16x128xf16, registers>
    tile.store %bs, %b[%c0, %c0] : !tile.tile<16x128xf16, registers>, memref<16x128xf16>
    gpu.return
  }
}

func.func @product() -> tensor<64x16xf32> {
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %c192 = arith.constant 192 : index
  %a = memref.alloc() : memref<64x128xf16>
  %b = memref.alloc() : memref<16x128xf16>
  %d = memref.alloc() : memref<64x16xf32>
  gpu.launch_func @fill_module::@fill blocks in (%c1, %c1, %c1) threads in (%c128, %c1, %c1)
    args(%a : memref<64x128xf16>, %b : memref<16x128xf16>)
  gpu.launch_func @product_module::@product blocks in (%c1, %c1, %c1) threads in (%c192, %c1, %c1)
    args(%a : memref<64x128xf16>, %b : memref<16x128xf16>, %d : memref<64x16xf32>)
  %tensor = bufferization.to_tensor %d restrict : memref<64x16xf32> to tensor<64x16xf32>
  return %tensor : tensor<64x16xf32>
}
}
