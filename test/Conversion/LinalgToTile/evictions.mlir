// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the device's cache is asked to keep. A chip's record says how much of it there is.
//
// RUN: attune-opt %s --attune-attach-target=chip=sm_90a --convert-linalg-to-tile | FileCheck %s

#along_m = #schedule.matmul<blockM = 128, blockN = 128, blockK = 64, numWarps = 8, mmaWarps = 4, producerWarps = 4, stages = 3>
#along_n = #schedule.matmul<blockM = 128, blockN = 128, blockK = 64, numWarps = 8, mmaWarps = 4, producerWarps = 4, stages = 3,
                            raster = "along-n">

// Each group of rows reads all of the right operand, which is too much to stay until the next one.
// CHECK-LABEL: gpu.func @long_kernel(
// CHECK:         tile.load {{.*}} eviction last : memref<8192x8192xbf16> -> <128x64xbf16, registers>
// CHECK:         tile.load {{.*}} eviction first : memref<8192x8192xbf16> -> <64x128xbf16, registers>
// CHECK:         tile.store {{.*}} eviction first :
func.func @long(%a: tensor<8192x8192xbf16>, %b: tensor<8192x8192xbf16>, %c: tensor<8192x8192xf32>) -> tensor<8192x8192xf32> {
  %x = linalg.matmul {attune.schedule = #along_m} ins(%a, %b : tensor<8192x8192xbf16>, tensor<8192x8192xbf16>)
    outs(%c : tensor<8192x8192xf32>) -> tensor<8192x8192xf32>
  return %x : tensor<8192x8192xf32>
}

// Groups of columns read all of the left one.
// CHECK-LABEL: gpu.func @columns_kernel(
// CHECK:         tile.load {{.*}} eviction first : memref<8192x8192xbf16> -> <128x64xbf16, registers>
// CHECK:         tile.load {{.*}} eviction last : memref<8192x8192xbf16> -> <64x128xbf16, registers>
// CHECK:         tile.store {{.*}} eviction first :
func.func @columns(%a: tensor<8192x8192xbf16>, %b: tensor<8192x8192xbf16>, %c: tensor<8192x8192xf32>) -> tensor<8192x8192xf32> {
  %x = linalg.matmul {attune.schedule = #along_n} ins(%a, %b : tensor<8192x8192xbf16>, tensor<8192x8192xbf16>)
    outs(%c : tensor<8192x8192xf32>) -> tensor<8192x8192xf32>
  return %x : tensor<8192x8192xf32>
}

// Operands that stay: only the result is not to take their place.
// CHECK-LABEL: gpu.func @wide_kernel(
// CHECK-NOT:     tile.load {{.*}} eviction
// CHECK:         tile.store {{.*}} eviction first :
func.func @wide(%a: tensor<16384x1024xbf16>, %b: tensor<1024x4096xbf16>, %c: tensor<16384x4096xf32>) -> tensor<16384x4096xf32> {
  %x = linalg.matmul {attune.schedule = #along_m} ins(%a, %b : tensor<16384x1024xbf16>, tensor<1024x4096xbf16>)
    outs(%c : tensor<16384x4096xf32>) -> tensor<16384x4096xf32>
  return %x : tensor<16384x4096xf32>
}

// All of it stays, and sizes that nobody knows are the cache's own affair.
// CHECK-LABEL: gpu.func @small_kernel(
// CHECK-NOT:     eviction
// CHECK-LABEL: gpu.func @dynamic_kernel(
// CHECK-NOT:     eviction
// CHECK-LABEL: func.func @dynamic(
func.func @small(%a: tensor<1024x1024xbf16>, %b: tensor<1024x1024xbf16>, %c: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %x = linalg.matmul {attune.schedule = #along_m} ins(%a, %b : tensor<1024x1024xbf16>, tensor<1024x1024xbf16>)
    outs(%c : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %x : tensor<1024x1024xf32>
}
func.func @dynamic(%a: tensor<?x8192xbf16>, %b: tensor<8192x8192xbf16>, %c: tensor<?x8192xf32>) -> tensor<?x8192xf32> {
  %x = linalg.matmul {attune.schedule = #along_m} ins(%a, %b : tensor<?x8192xbf16>, tensor<8192x8192xbf16>)
    outs(%c : tensor<?x8192xf32>) -> tensor<?x8192xf32>
  return %x : tensor<?x8192xf32>
}
