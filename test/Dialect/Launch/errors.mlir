// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{expects a constant of at least 1, but got 0}}
#constant = #launch.product<0>

// -----

// expected-error @below {{expects a number of at least 0 to be added, but got -3}}
#number = #launch.product<(dim(0, 0) + -3)>

// -----

// expected-error @below {{expects a divisor of at least 1, but got 0}}
#divisor = #launch.product<dim(0, 0) ceildiv 0>

// -----

#f8 = #launch.scalar<name = "x", type = f8E8M0FNU>
// expected-error @below {{expects an element type such as bf16 or i32, but got f8E8M0FNU}}
#type = #launch.manifest<arguments = [#f8]>

// -----

// expected-error @below {{expects a buffer, a scalar, a tensor map or a workspace, but got "x"}}
#kind = #launch.manifest<arguments = ["x"]>

// -----

// expected-error @below {{expects a buffer with strides, but got memref<8xf32, affine_map<(d0) -> (d0 floordiv 2)>>}}
#layout = #launch.manifest<arguments = [#launch.buffer<name = "in", type = memref<8xf32, affine_map<(d0) -> (d0 floordiv 2)>>, access = read>]>

// -----

#s = #launch.scalar<name = "s", type = f32>
// expected-error @below {{expects 'm' to be of a buffer, but got argument 0 of 2}}
#of = #launch.manifest<arguments = [#s, #launch.tensor_map<name = "m", of = 0, box = [64], swizzle = 128>]>

// -----

#in = #launch.buffer<name = "in", type = memref<?x?xf32>, access = read>
// expected-error @below {{expects a box of 'in' with a size for each of its 2 dimensions, but got 1}}
#box = #launch.manifest<arguments = [#in, #launch.tensor_map<name = "m", of = 0, box = [64], swizzle = 128>]>

// -----

#in = #launch.buffer<name = "in", type = memref<?x?xf32>, access = read>
// expected-error @below {{expects a dimension of 'in', which has 2, in grid, but got 2}}
#dim = #launch.manifest<arguments = [#in], grid = <dim(0, 2)>>

// -----

#w = #launch.workspace<name = "w", type = f32, sizes = [#launch.product<8>], alignment = 16, contents = undefined>
// expected-error @below {{expects the number of a buffer that is passed in grid, but got 0 of 1 arguments}}
#grid = #launch.manifest<arguments = [#w], grid = <dim(0, 0)>>

// -----

#w = #launch.workspace<name = "w", type = f32, sizes = [#launch.product<dim(0, 0)>], alignment = 16, contents = undefined>
// expected-error @below {{expects the number of a buffer that is passed in sizes of 'w', but got 0 of 1 arguments}}
#sizes = #launch.manifest<arguments = [#w]>

// -----

#w = #launch.workspace<name = "w", type = f32, sizes = [8], alignment = 16, contents = undefined>
// expected-error @below {{expects a #launch.product for each size, but got 8 : i64}}
#product = #launch.manifest<arguments = [#w]>

// -----

#w = #launch.workspace<name = "w", type = f32, sizes = [], alignment = 24, contents = undefined>
// expected-error @below {{expects a power of 2 as alignment of 'w', but got 24}}
#alignment = #launch.manifest<arguments = [#w]>

// -----

// expected-error @below {{expects three extents in block, but got 2}}
#block = #launch.manifest<block = [32, 1]>

// -----

// expected-error @below {{expects extents of at least 1 in block, but got 32, 0, 1}}
#threads = #launch.manifest<block = [32, 0, 1]>

// -----

// expected-error @below {{expects at least 1 in threads_in_one, but got 0}}
#in_one = #launch.manifest<threads_in_one = 0>

// -----

// expected-error @below {{expects at least 1 in cluster, but got 0}}
#cluster = #launch.manifest<cluster = 0>

// -----

// expected-error @below {{expects a positive multiple of the cluster's 2 workgroups in grid_limit, but got 3}}
#limit = #launch.manifest<cluster = 2, grid_limit = 3>

// -----

// expected-error @below {{expects at least 0 in shared_bytes, but got -1}}
#shared = #launch.manifest<shared_bytes = -1>

// -----

// expected-error @below {{expects integers and strings as resources, but got 1.0}}
#resources = #launch.manifest<resources = {registers = 1.0}>

// -----

#in = #launch.buffer<name = "in", type = memref<?xf32>, access = read>
// expected-error @below {{expects the numbers of the 1 values as arguments of 'k', but got 1}}
#number = #launch.sequence<name = "s", values = [#in], launches = [#launch.step<@k::@k, [1]>]>

// -----

#in = #launch.buffer<name = "in", type = memref<?xf32>, access = read>
#map = #launch.tensor_map<name = "m", of = 0, box = [64], swizzle = 128>
// expected-error @below {{expects buffers, scalars and workspaces as values, but got the tensor map 'm'}}
#value = #launch.sequence<name = "s", values = [#in, #map], launches = []>

// -----

// expected-error @below {{expects #launch.step as launches, but got 1 : i64}}
#step = #launch.sequence<name = "s", values = [], launches = [1]>

// -----

// expected-error @below {{'func.func' op expects 'launch.manifest', 'launch.sequences', 'launch.restored', 'launch.follows' or 'launch.precedes', but got 'launch.order'}}
func.func private @name() attributes {launch.order = 1}

// -----

// expected-error @below {{'builtin.module' op expects 'launch.manifest' to be a #launch.manifest on a kernel or a gpu.binary, but got #launch.manifest<>}}
module attributes {launch.manifest = #launch.manifest<>} {}

// -----

// expected-error @below {{'func.func' op expects 'launch.manifest' to be a #launch.manifest on a kernel or a gpu.binary, but got {}}}
func.func private @kind() attributes {launch.manifest = {}}

// -----

// expected-error @below {{'func.func' op expects 'launch.sequences' to be an array of #launch.sequence on a function, but got [1]}}
func.func private @sequences() attributes {launch.sequences = [1]}

// -----

// expected-error @below {{'func.func' op expects 'launch.restored' to be a unit attribute on a gpu.memset, but got unit}}
func.func private @restored() attributes {launch.restored}

// -----

// expected-error @below {{'func.func' op expects 'launch.follows' to be a unit attribute on a gpu.func, but got unit}}
func.func private @follows() attributes {launch.follows}

// -----

gpu.module @precedes {
  // expected-error @below {{'gpu.func' op expects 'launch.precedes' to be a unit attribute on a gpu.func, but got 1 : i64}}
  gpu.func @precedes() kernel attributes {launch.precedes = 1} {
    gpu.return
  }
}

// -----

gpu.module @count {
  // expected-error @below {{'gpu.func' op expects a manifest of its 2 arguments, but got one of 1}}
  gpu.func @count(%in: memref<?xf32>, %out: memref<?xf32>) kernel attributes {launch.manifest = #launch.manifest<
      arguments = [#launch.buffer<name = "in", type = memref<?xf32>, access = read>]>} {
    gpu.return
  }
}

// -----

gpu.module @size {
  // expected-error @below {{'gpu.func' op expects a manifest of argument 0, a 'memref<8xf32>', but got #launch.buffer<name = "in", type = memref<4xf32>, access = read>}}
  gpu.func @size(%in: memref<8xf32>) kernel attributes {launch.manifest = #launch.manifest<
      arguments = [#launch.buffer<name = "in", type = memref<4xf32>, access = read>]>} {
    gpu.return
  }
}

// -----

gpu.module @wrong {
  // expected-error @below {{'gpu.func' op expects a manifest of argument 0, a 'memref<?xf32>', but got #launch.buffer<name = "in", type = memref<?xf16>, access = read>}}
  gpu.func @wrong(%in: memref<?xf32>) kernel attributes {launch.manifest = #launch.manifest<
      arguments = [#launch.buffer<name = "in", type = memref<?xf16>, access = read>]>} {
    gpu.return
  }
}
