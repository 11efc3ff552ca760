// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: attune-opt %s | attune-opt | FileCheck %s

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // What has its default is not printed.
    // CHECK-LABEL: gpu.func @all
    // CHECK-SAME: launch.manifest = #launch.manifest<arguments = [
    // CHECK-SAME:   #launch.buffer<name = "in", type = memref<?x?xbf16>, access = read>,
    // CHECK-SAME:   #launch.buffer<name = "sum", type = memref<?xf32>, access = read_write>,
    // CHECK-SAME:   #launch.scalar<name = "scale", type = f32>,
    // CHECK-SAME:   #launch.workspace<name = "w", type = i32, sizes = [#launch.product<2 * dim(0, 1) ceildiv 64>, #launch.product<3>], alignment = 16, contents = zero>,
    // CHECK-SAME:   #launch.workspace<name = "counter", type = i32, sizes = [#launch.product<1>], alignment = 4, contents = zero, restored = true>,
    // CHECK-SAME:   #launch.tensor_map<name = "in_map", of = 0, box = [64, 64], swizzle = 128>],
    // CHECK-SAME:   grid = <4 * dim(0, 0) ceildiv 128 * dim(1, 0)>, grid_limit = 128, cluster = 2, block = [256, 1, 1], shared_bytes = 1024>
    gpu.func @all(%in: memref<?x?xbf16>, %sum: memref<?xf32>, %scale: f32, %w: memref<?x3xi32>, %counter: memref<1xi32>,
                  %map: !nvgpu.tensormap.descriptor<tensor = memref<64x64xbf16, 3>, swizzle = swizzle_128b, l2promo = none, oob = zero, interleave = none>)
        kernel attributes {launch.manifest = #launch.manifest<
          arguments = [#launch.buffer<name = "in", type = memref<?x?xbf16>, access = read>,
                       #launch.buffer<name = "sum", type = memref<?xf32>, access = read_write>,
                       #launch.scalar<name = "scale", type = f32>,
                       #launch.workspace<name = "w", type = i32, sizes = [#launch.product<2 * dim(0, 1) ceildiv 64>, #launch.product<3>], alignment = 16, contents = zero>,
                       #launch.workspace<name = "counter", type = i32, sizes = [#launch.product<1>], alignment = 4, contents = zero, restored = true>,
                       #launch.tensor_map<name = "in_map", of = 0, box = [64, 64], swizzle = 128>],
          grid = <4 * dim(0, 0) ceildiv 128 * dim(1, 0)>, grid_limit = 128, cluster = 2, block = [256, 1, 1], shared_bytes = 1024,
          threads_in_one = 1>} {
      gpu.return
    }

    // CHECK-LABEL: gpu.func @sums
    // CHECK-SAME: grid = <2 * (dim(0, 0) ceildiv 128 + dim(1, 0)) * (dim(0, 1) + dim(1, 0)) * (dim(1, 0) ceildiv 2 + 66)>, block
    gpu.func @sums(%in: memref<?x?xbf16>, %starts: memref<?xi32>) kernel attributes {launch.manifest = #launch.manifest<
        arguments = [#launch.buffer<name = "in", type = memref<?x?xbf16>, access = read>,
                     #launch.buffer<name = "starts", type = memref<?xi32>, access = read>],
        grid = <2 * (dim(0, 0) ceildiv 128 + dim(1, 0)) * (dim(0, 1) + dim(1, 0)) * (dim(1, 0) ceildiv 2 + 66)>, block = [128, 1, 1]>} {
      gpu.return
    }

    // Of a kernel that was written by hand nothing need be known.
    // CHECK-LABEL: gpu.func @nothing
    // CHECK-SAME: launch.manifest = #launch.manifest<>
    gpu.func @nothing(%in: memref<f32>) kernel attributes {launch.manifest = #launch.manifest<>} {
      gpu.return
    }
  }

  // CHECK-LABEL: func.func @f
  // CHECK-SAME: launch.sequences = [#launch.sequence<name = "f", values = [#launch.buffer<name = "in", type = memref<?xf32>, access = read>],
  // CHECK-SAME:   launches = [#launch.step<@a::@a, [0]>, #launch.step<@b::@b, [0, 0]>]>]
  func.func @f(%in: tensor<?xf32>) attributes {launch.sequences = [#launch.sequence<name = "f",
      values = [#launch.buffer<name = "in", type = memref<?xf32>, access = read>],
      launches = [#launch.step<@a::@a, [0]>, #launch.step<@b::@b, [0, 0]>]>]} {
    %counter = memref.alloc() : memref<1xi32>
    %zero = arith.constant 0 : i32
    // CHECK: gpu.memset %{{.+}}, %{{.+}} : memref<1xi32>, i32 {launch.restored}
    gpu.memset %counter, %zero : memref<1xi32>, i32 {launch.restored}
    return
  }
}
