// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What each tile op means, in numbers: the kernels are run on the host, which
// lowers what speaks tile by convert-tile-to-loops. Then, what becomes of the kernel
// and of its launch.
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_80" -o %t.mlir
// RUN: attune-run %t.mlir --device=host --print --function=memory | FileCheck %s --check-prefix=MEMORY
// RUN: attune-run %t.mlir --device=host --print --function=product | FileCheck %s --check-prefix=PRODUCT
// RUN: attune-run %t.mlir --device=host --print --function=rows | FileCheck %s --check-prefix=ROWS
// RUN: attune-run %t.mlir --device=host --print --function=swapped | FileCheck %s --check-prefix=SWAPPED
// RUN: attune-run %t.mlir --device=host --print --function=any | FileCheck %s --check-prefix=ANY
// RUN: attune-run %t.mlir --device=host --print --function=carried | FileCheck %s --check-prefix=CARRIED
// RUN: attune-run %t.mlir --device=host --print --function=ring | FileCheck %s --check-prefix=RING
// RUN: attune-run %t.mlir --device=host --print --function=turns | FileCheck %s --check-prefix=TURNS
// RUN: attune-run %t.mlir --device=host --print --function=transposed | FileCheck %s --check-prefix=TRANSPOSED
// RUN: attune-run %t.mlir --device=host --print --function=widened | FileCheck %s --check-prefix=WIDENED
//
// Layouts mean nothing, and the family of the chip neither.
// RUN: attune-opt %s --attune-attach-target="chip=gfx942" | attune-run --device=host --print --function=product \
// RUN:   | FileCheck %s --check-prefix=PRODUCT
// RUN: attune-opt %s --convert-tile-to-loops | FileCheck %s --implicit-check-not=!tile --implicit-check-not=tile.

#some = #tile.layout<registers = [[2, 1, 1], [2, 0, 8]], lanes = [[4, 1, 2], [8, 0, 1]], warps = []>
#other = #tile.layout<registers = [[2, 0, 8], [2, 1, 1]], lanes = [[4, 1, 2], [8, 0, 1]], warps = []>

!number = !tile.tile<1x2xf32, shared, #tile.swizzle<vector = 2, bits = 0, shift = 0, swizzle_atom = 2>>
!place = !tile.tile<2x2xf32, shared, #tile.swizzle<vector = 2, bits = 0, shift = 3>>

module attributes {gpu.container_module} {

gpu.module @memory_module {
  // CHECK-LABEL: gpu.func @memory
  // CHECK-SAME: kernel attributes {known_block_size = array<i32: 1, 1, 1>
  // CHECK-SAME: launch.manifest = #launch.manifest<arguments = [{{.*}}], threads_in_one = 64>
  // Nothing is read or written outside of a buffer: 4x4 from (1, -1) and from (3, 2).
  gpu.func @memory(%out: memref<4x4xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>,
      launch.manifest = #launch.manifest<arguments = [#launch.buffer<name = "out", type = memref<4x4xf32>, access = write>], block = [64, 1, 1], shared_bytes = 4096>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %before = arith.constant -1 : index
    %t = tile.map() {
    ^bb0(%i: index, %j: index):
      %ten = arith.constant 10 : index
      %row = arith.muli %i, %ten : index
      %sum = arith.addi %row, %j : index
      %n = arith.index_cast %sum : index to i32
      %x = arith.sitofp %n : i32 to f32
      tile.yield %x : f32
    } : () -> !tile.tile<4x4xf32, registers>
    tile.store %t, %out[%c0, %c0] : !tile.tile<4x4xf32, registers>, memref<4x4xf32>
    // CHECK: %[[SIZE:.+]] = memref.dim %{{.+}}, %{{.+}} : memref<4x4xf32>
    // CHECK-NEXT: arith.cmpi ult, %{{.+}}, %[[SIZE]]
    %shifted = tile.load %out[%c1, %before] : memref<4x4xf32> -> !tile.tile<4x4xf32, registers>
    tile.store %shifted, %out[%c3, %c2] : !tile.tile<4x4xf32, registers>, memref<4x4xf32>
    // CHECK: gpu.return
    gpu.return
  }
}
// CHECK-LABEL: func.func @memory
// CHECK: gpu.launch_func @memory_module::@memory blocks in (%c1, %c1, %c1) threads in (%[[ONE:.+]], %[[ONE]], %[[ONE]]) args
// MEMORY: result 0: 4x4xf32
// MEMORY-NEXT: {{^}}0 1 2 3{{$}}
// MEMORY-NEXT: {{^}}10 11 12 13{{$}}
// MEMORY-NEXT: {{^}}20 21 22 23{{$}}
// MEMORY-NEXT: {{^}}30 31 0 10{{$}}
func.func @memory() -> tensor<4x4xf32> {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %bytes = arith.constant 4096 : i32
  %out = memref.alloc() : memref<4x4xf32>
  gpu.launch_func @memory_module::@memory blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1)
    dynamic_shared_memory_size %bytes args(%out : memref<4x4xf32>)
  %tensor = bufferization.to_tensor %out restrict : memref<4x4xf32> to tensor<4x4xf32>
  return %tensor : tensor<4x4xf32>
}

gpu.module @product_module {
  // [[1, 2, 3], [2, 3, 4]] * [[1, 0], [0, 1], [2, 2]] + 100, then with the right side given transposed.
  gpu.func @product(%out: memref<4x2xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %hundred = arith.constant 100.0 : f32
    %acc = tile.fill %hundred : f32 -> !tile.tile<2x2xf32, registers>
    %left = tile.map() {
    ^bb0(%i: index, %j: index):
      %one = arith.constant 1 : index
      %sum = arith.addi %i, %j : index
      %next = arith.addi %sum, %one : index
      %n = arith.index_cast %next : index to i32
      %x = arith.sitofp %n : i32 to bf16
      tile.yield %x : bf16
    } : () -> !tile.tile<2x3xbf16, registers>
    %right = tile.map() {
    ^bb0(%i: index, %j: index):
      %two = arith.constant 2 : index
      %isLast = arith.cmpi eq, %i, %two : index
      %isSame = arith.cmpi eq, %i, %j : index
      %c2f = arith.constant 2.0 : bf16
      %c1f = arith.constant 1.0 : bf16
      %c0f = arith.constant 0.0 : bf16
      %x = arith.select %isSame, %c1f, %c0f : bf16
      %y = arith.select %isLast, %c2f, %x : bf16
      tile.yield %y : bf16
    } : () -> !tile.tile<3x2xbf16, registers>
    %turned = tile.map() {
    ^bb0(%i: index, %j: index):
      %two = arith.constant 2 : index
      %isLast = arith.cmpi eq, %j, %two : index
      %isSame = arith.cmpi eq, %i, %j : index
      %c2f = arith.constant 2.0 : bf16
      %c1f = arith.constant 1.0 : bf16
      %c0f = arith.constant 0.0 : bf16
      %x = arith.select %isSame, %c1f, %c0f : bf16
      %y = arith.select %isLast, %c2f, %x : bf16
      tile.yield %y : bf16
    } : () -> !tile.tile<2x3xbf16, registers>
    %p = tile.mma %left, %right, %acc
      : !tile.tile<2x3xbf16, registers>, !tile.tile<3x2xbf16, registers>, !tile.tile<2x2xf32, registers>
    %q = tile.mma %left, %turned, %p transpose_rhs
      : !tile.tile<2x3xbf16, registers>, !tile.tile<2x3xbf16, registers>, !tile.tile<2x2xf32, registers>
    tile.store %p, %out[%c0, %c0] : !tile.tile<2x2xf32, registers>, memref<4x2xf32>
    tile.store %q, %out[%c2, %c0] : !tile.tile<2x2xf32, registers>, memref<4x2xf32>
    gpu.return
  }
}
// PRODUCT: result 0: 4x2xf32
// PRODUCT-NEXT: {{^}}107 108{{$}}
// PRODUCT-NEXT: {{^}}110 111{{$}}
// PRODUCT-NEXT: {{^}}114 116{{$}}
// PRODUCT-NEXT: {{^}}120 122{{$}}
func.func @product() -> tensor<4x2xf32> {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %out = memref.alloc() : memref<4x2xf32>
  gpu.launch_func @product_module::@product blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1)
    args(%out : memref<4x2xf32>)
  %tensor = bufferization.to_tensor %out restrict : memref<4x2xf32> to tensor<4x2xf32>
  return %tensor : tensor<4x2xf32>
}

gpu.module @rows_module {
  // Of the rows 0, 1 and ... 7 with a NaN at (1, 2): sum, maximum, maximum of
  // the partial maxima, sum of the partial sums, the second partial sum, and the
  // sum of the row and its maximum.
  gpu.func @rows(%out: memref<6x2xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %nan = arith.constant 0x7FC00000 : f32
    %t = tile.map() {
    ^bb0(%i: index, %j: index):
      %n = arith.index_cast %j : index to i32
      %x = arith.sitofp %n : i32 to f32
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %isRow = arith.cmpi eq, %i, %c1 : index
      %isColumn = arith.cmpi eq, %j, %c2 : index
      %is = arith.andi %isRow, %isColumn : i1
      %y = arith.select %is, %nan, %x : f32
      tile.yield %y : f32
    } : () -> !tile.tile<2x8xf32, registers>
    %sum = tile.reduce add %t : !tile.tile<2x8xf32, registers> -> !tile.tile<2xf32, registers>
    %max = tile.reduce max %t : !tile.tile<2x8xf32, registers> -> !tile.tile<2xf32, registers>
    %sums = tile.reduce add %t : !tile.tile<2x8xf32, registers> -> !tile.tile<2x4xf32, registers>
    %maxima = tile.reduce max %t : !tile.tile<2x8xf32, registers> -> !tile.tile<2x4xf32, registers>
    %whole = tile.reduce max %maxima : !tile.tile<2x4xf32, registers> -> !tile.tile<2xf32, registers>
    %total = tile.reduce add %sums : !tile.tile<2x4xf32, registers> -> !tile.tile<2xf32, registers>
    %wide = tile.broadcast %max : !tile.tile<2xf32, registers> -> !tile.tile<2x8xf32, registers>
    %difference = tile.map(%wide, %t) {
    ^bb0(%x: f32, %y: f32, %i: index, %j: index):
      %z = arith.subf %x, %y : f32
      tile.yield %z : f32
    } : (!tile.tile<2x8xf32, registers>, !tile.tile<2x8xf32, registers>) -> !tile.tile<2x8xf32, registers>
    %more = tile.reduce add %t init %max : !tile.tile<2x8xf32, registers> -> !tile.tile<2xf32, registers>
    %largest = tile.reduce max %difference : !tile.tile<2x8xf32, registers> -> !tile.tile<2xf32, registers>
    %c0 = arith.constant 0 : index
    %v0 = memref.subview %out[0, 0] [1, 2] [1, 1] : memref<6x2xf32> to memref<2xf32, strided<[1]>>
    %v1 = memref.subview %out[1, 0] [1, 2] [1, 1] : memref<6x2xf32> to memref<2xf32, strided<[1], offset: 2>>
    %v2 = memref.subview %out[2, 0] [1, 2] [1, 1] : memref<6x2xf32> to memref<2xf32, strided<[1], offset: 4>>
    %v3 = memref.subview %out[3, 0] [1, 2] [1, 1] : memref<6x2xf32> to memref<2xf32, strided<[1], offset: 6>>
    %v4 = memref.subview %out[4, 0] [1, 2] [1, 1] : memref<6x2xf32> to memref<2xf32, strided<[1], offset: 8>>
    %v5 = memref.subview %out[5, 0] [1, 2] [1, 1] : memref<6x2xf32> to memref<2xf32, strided<[1], offset: 10>>
    tile.store %sum, %v0[%c0] : !tile.tile<2xf32, registers>, memref<2xf32, strided<[1]>>
    tile.store %max, %v1[%c0] : !tile.tile<2xf32, registers>, memref<2xf32, strided<[1], offset: 2>>
    tile.store %whole, %v2[%c0] : !tile.tile<2xf32, registers>, memref<2xf32, strided<[1], offset: 4>>
    tile.store %total, %v3[%c0] : !tile.tile<2xf32, registers>, memref<2xf32, strided<[1], offset: 6>>
    tile.store %largest, %v4[%c0] : !tile.tile<2xf32, registers>, memref<2xf32, strided<[1], offset: 8>>
    tile.store %more, %v5[%c0] : !tile.tile<2xf32, registers>, memref<2xf32, strided<[1], offset: 10>>
    gpu.return
  }
}
// ROWS: result 0: 6x2xf32
// ROWS-NEXT: {{^}}28 nan{{$}}
// ROWS-NEXT: {{^}}7 7{{$}}
// ROWS-NEXT: {{^}}7 7{{$}}
// ROWS-NEXT: {{^}}28 nan{{$}}
// ROWS-NEXT: {{^}}7 7{{$}}
// ROWS-NEXT: {{^}}35 nan{{$}}
func.func @rows() -> tensor<6x2xf32> {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %out = memref.alloc() : memref<6x2xf32>
  gpu.launch_func @rows_module::@rows blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1)
    args(%out : memref<6x2xf32>)
  %tensor = bufferization.to_tensor %out restrict : memref<6x2xf32> to tensor<6x2xf32>
  return %tensor : tensor<6x2xf32>
}

gpu.module @swapped_module {
  // Columns of pairs and of halves of six: 10 * row + column.
  gpu.func @swapped(%pairs: memref<2x6xf32>, %halves: memref<2x6xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %t = tile.map() {
    ^bb0(%i: index, %j: index):
      %c10 = arith.constant 10 : index
      %first = arith.muli %i, %c10 : index
      %number = arith.addi %first, %j : index
      %n = arith.index_cast %number : index to i32
      %x = arith.sitofp %n : i32 to f32
      tile.yield %x : f32
    } : () -> !tile.tile<2x6xf32, registers>
    %a = tile.swap_columns %t stride 1 : !tile.tile<2x6xf32, registers>
    %b = tile.swap_columns %t stride 3 : !tile.tile<2x6xf32, registers>
    tile.store %a, %pairs[%c0, %c0] : !tile.tile<2x6xf32, registers>, memref<2x6xf32>
    tile.store %b, %halves[%c0, %c0] : !tile.tile<2x6xf32, registers>, memref<2x6xf32>
    gpu.return
  }
}
// SWAPPED: result 0: 2x6xf32
// SWAPPED-NEXT: {{^}}1 0 3 2 5 4{{$}}
// SWAPPED-NEXT: {{^}}11 10 13 12 15 14{{$}}
// SWAPPED: result 1: 2x6xf32
// SWAPPED-NEXT: {{^}}3 4 5 0 1 2{{$}}
// SWAPPED-NEXT: {{^}}13 14 15 10 11 12{{$}}
func.func @swapped() -> (tensor<2x6xf32>, tensor<2x6xf32>) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %a = memref.alloc() : memref<2x6xf32>
  %b = memref.alloc() : memref<2x6xf32>
  gpu.launch_func @swapped_module::@swapped blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1)
    args(%a : memref<2x6xf32>, %b : memref<2x6xf32>)
  %pairs = bufferization.to_tensor %a restrict : memref<2x6xf32> to tensor<2x6xf32>
  %halves = bufferization.to_tensor %b restrict : memref<2x6xf32> to tensor<2x6xf32>
  return %pairs, %halves : tensor<2x6xf32>, tensor<2x6xf32>
}

gpu.module @any_module {
  // Whether 3, and whether 4, is among the rows 0 to 3: a branch, and a scalar in a map.
  gpu.func @any(%out: memref<2xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %is3 = tile.map() {
    ^bb0(%i: index):
      %c3 = arith.constant 3 : index
      %is = arith.cmpi eq, %i, %c3 : index
      tile.yield %is : i1
    } : () -> !tile.tile<4xi1, registers>
    %is4 = tile.map() {
    ^bb0(%i: index):
      %c4 = arith.constant 4 : index
      %is = arith.cmpi eq, %i, %c4 : index
      tile.yield %is : i1
    } : () -> !tile.tile<4xi1, registers>
    %any3 = tile.any %is3 : !tile.tile<4xi1, registers>
    %any4 = tile.any %is4 : !tile.tile<4xi1, registers>
    %one = arith.constant 1.0 : f32
    %ten = arith.constant 10.0 : f32
    %a = scf.if %any3 -> !tile.tile<2xf32, registers> {
      %ones = tile.fill %one : f32 -> !tile.tile<2xf32, registers>
      scf.yield %ones : !tile.tile<2xf32, registers>
    } else {
      %tens = tile.fill %ten : f32 -> !tile.tile<2xf32, registers>
      scf.yield %tens : !tile.tile<2xf32, registers>
    }
    %b = tile.map(%a) {
    ^bb0(%x: f32, %i: index):
      %more = arith.addf %x, %ten : f32
      %isFirst = arith.cmpi eq, %i, %c0 : index
      %other = arith.select %any4, %one, %more : f32
      %y = arith.select %isFirst, %x, %other : f32
      tile.yield %y : f32
    } : (!tile.tile<2xf32, registers>) -> !tile.tile<2xf32, registers>
    tile.store %b, %out[%c0] : !tile.tile<2xf32, registers>, memref<2xf32>
    gpu.return
  }
}
// ANY: result 0: 2xf32
// ANY-NEXT: {{^}}1 11{{$}}
func.func @any() -> tensor<2xf32> {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %out = memref.alloc() : memref<2xf32>
  gpu.launch_func @any_module::@any blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1)
    args(%out : memref<2xf32>)
  %tensor = bufferization.to_tensor %out restrict : memref<2xf32> to tensor<2xf32>
  return %tensor : tensor<2xf32>
}

gpu.module @carried_module {
  // The loop swaps two tiles and adds 1 to the first, beside a scalar; changes of layout rename. A branch then
  // picks one tile, and hands on a scalar.
  // CHECK-LABEL: gpu.func @carried
  // CHECK: %{{.+}} = scf.for {{.*}} iter_args(%{{.+}} = %{{.+}}) -> (f32)
  // CHECK: %{{.+}} = scf.if %{{.+}} -> (f32)
  gpu.func @carried(%out: memref<2x8xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %ten = arith.constant 10.0 : f32
    %twenty = arith.constant 20.0 : f32
    %one = arith.constant 1.0 : f32
    %a = tile.fill %ten : f32 -> !tile.tile<16x8xf32, registers, #some>
    %b = tile.fill %twenty : f32 -> !tile.tile<16x8xf32, registers, #other>
    %r:3 = scf.for %i = %c0 to %c3 step %c1 iter_args(%x = %a, %y = %b, %s = %one)
        -> (!tile.tile<16x8xf32, registers, #some>, !tile.tile<16x8xf32, registers, #other>, f32) {
      %x1 = tile.map(%x) {
      ^bb0(%e: f32, %p: index, %q: index):
        %f = arith.addf %e, %one : f32
        tile.yield %f : f32
      } : (!tile.tile<16x8xf32, registers, #some>) -> !tile.tile<16x8xf32, registers, #some>
      %first = tile.convert_layout %y : !tile.tile<16x8xf32, registers, #other> -> !tile.tile<16x8xf32, registers, #some>
      %second = tile.convert_layout %x1 : !tile.tile<16x8xf32, registers, #some> -> !tile.tile<16x8xf32, registers, #other>
      %s1 = arith.addf %s, %s : f32
      scf.yield %first, %second, %s1
        : !tile.tile<16x8xf32, registers, #some>, !tile.tile<16x8xf32, registers, #other>, f32
    }
    %more = arith.cmpf ogt, %r#2, %ten : f32
    %chosen:2 = scf.if %more -> (!tile.tile<16x8xf32, registers, #some>, f32) {
      scf.yield %a, %ten : !tile.tile<16x8xf32, registers, #some>, f32
    } else {
      scf.yield %r#0, %r#2 : !tile.tile<16x8xf32, registers, #some>, f32
    }
    tile.store %chosen#0, %out[%c0, %c0] : !tile.tile<16x8xf32, registers, #some>, memref<2x8xf32>
    %wide = tile.map(%r#1) {
    ^bb0(%e: f32, %p: index, %q: index):
      %f = arith.mulf %e, %chosen#1 : f32
      tile.yield %f : f32
    } : (!tile.tile<16x8xf32, registers, #other>) -> !tile.tile<16x8xf32, registers, #other>
    tile.store %wide, %out[%c1, %c0] : !tile.tile<16x8xf32, registers, #other>, memref<2x8xf32>
    gpu.return
  }
}
// (10, 20) (20, 11) (11, 21) (21, 12); 8 times 12 is 96.
// CARRIED: result 0: 2x8xf32
// CARRIED-NEXT: {{^}}21 21 21 21 21 21 21 21{{$}}
// CARRIED-NEXT: {{^}}96 96 96 96 96 96 96 96{{$}}
func.func @carried() -> tensor<2x8xf32> {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %out = memref.alloc() : memref<2x8xf32>
  gpu.launch_func @carried_module::@carried blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
    args(%out : memref<2x8xf32>)
  %tensor = bufferization.to_tensor %out restrict : memref<2x8xf32> to tensor<2x8xf32>
  return %tensor : tensor<2x8xf32>
}

gpu.module @ring_module {
  // Two slots, three elements of two rows: what is outside of the source is 0, a put
  // that does not happen counts for those that may be pending.
  gpu.func @ring(%out: memref<6x2xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %no = arith.constant false
    %t = tile.map() {
    ^bb0(%i: index, %j: index):
      %sum = arith.addi %i, %j : index
      %n = arith.index_cast %sum : index to i32
      %x = arith.sitofp %n : i32 to f32
      tile.yield %x : f32
    } : () -> !tile.tile<6x2xf32, registers>
    tile.store %t, %out[%c0, %c0] : !tile.tile<6x2xf32, registers>, memref<6x2xf32>
    %ring = tile.channel : !tile.channel<2x2xf32, stages = 2>
    tile.put %ring[%c0], %out[%c0, %c0] in_bounds : !tile.channel<2x2xf32, stages = 2>, memref<6x2xf32>
    tile.put %ring[%c1], %out[%c2, %c1] : !tile.channel<2x2xf32, stages = 2>, memref<6x2xf32>
    %first = tile.get %ring[%c0] pending 1 : !tile.channel<2x2xf32, stages = 2> -> !tile.tile<2x2xf32, shared, #tile.swizzle<vector = 2, bits = 0, shift = 3>>
    %r0 = tile.read %first : !tile.tile<2x2xf32, shared, #tile.swizzle<vector = 2, bits = 0, shift = 3>> -> !tile.tile<2x2xf32, registers>
    tile.release %ring[%c0] : !tile.channel<2x2xf32, stages = 2>
    tile.put %ring[%c2], %out[%c5, %c0] : !tile.channel<2x2xf32, stages = 2>, memref<6x2xf32>
    tile.put %ring[%c3], %out[%c0, %c0] if %no : !tile.channel<2x2xf32, stages = 2>, memref<6x2xf32>
    %second = tile.get %ring[%c1] pending 2 : !tile.channel<2x2xf32, stages = 2> -> !tile.tile<2x2xf32, shared, #tile.swizzle<vector = 2, bits = 0, shift = 3>>
    %third = tile.get %ring[%c2] pending 1 : !tile.channel<2x2xf32, stages = 2> -> !tile.tile<2x2xf32, shared, #tile.swizzle<vector = 2, bits = 0, shift = 3>>
    %r1 = tile.read %second : !tile.tile<2x2xf32, shared, #tile.swizzle<vector = 2, bits = 0, shift = 3>> -> !tile.tile<2x2xf32, registers>
    %r2 = tile.read %third : !tile.tile<2x2xf32, shared, #tile.swizzle<vector = 2, bits = 0, shift = 3>> -> !tile.tile<2x2xf32, registers>
    tile.store %r0, %out[%c0, %c0] : !tile.tile<2x2xf32, registers>, memref<6x2xf32>
    tile.store %r1, %out[%c2, %c0] : !tile.tile<2x2xf32, registers>, memref<6x2xf32>
    tile.store %r2, %out[%c4, %c0] : !tile.tile<2x2xf32, registers>, memref<6x2xf32>
    gpu.return
  }
}
// RING: result 0: 6x2xf32
// RING-NEXT: {{^}}0 1{{$}}
// RING-NEXT: {{^}}1 2{{$}}
// RING-NEXT: {{^}}3 0{{$}}
// RING-NEXT: {{^}}4 0{{$}}
// RING-NEXT: {{^}}5 6{{$}}
// RING-NEXT: {{^}}0 0{{$}}
func.func @ring() -> tensor<6x2xf32> {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %out = memref.alloc() : memref<6x2xf32>
  gpu.launch_func @ring_module::@ring blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
    args(%out : memref<6x2xf32>)
  %tensor = bufferization.to_tensor %out restrict : memref<6x2xf32> to tensor<6x2xf32>
  return %tensor : tensor<6x2xf32>
}

gpu.module @turns_module {
  // A tile of one dimension is part of a row, also behind the last column; what is written by turns is not what the turn before reads.
  // Rows become columns at last.
  gpu.func @turns(%out: memref<6x2xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %t = tile.map() {
    ^bb0(%i: index, %j: index):
      %sum = arith.addi %i, %j : index
      %n = arith.index_cast %sum : index to i32
      %x = arith.sitofp %n : i32 to f32
      tile.yield %x : f32
    } : () -> !tile.tile<6x2xf32, registers>
    tile.store %t, %out[%c0, %c0] : !tile.tile<6x2xf32, registers>, memref<6x2xf32>
    %loaded = tile.load %out[%c3, %c0] stages 2 : memref<6x2xf32> -> !tile.tile<2xf32, registers>
    %ring = tile.channel : !tile.channel<1x2xf32, stages = 1, swizzle_atom = 2>
    tile.put %ring[%c0], %out[%c4, %c1] : !tile.channel<1x2xf32, stages = 1, swizzle_atom = 2>, memref<6x2xf32>
    %row = tile.get %ring[%c0] : !tile.channel<1x2xf32, stages = 1, swizzle_atom = 2> -> !number
    %read = tile.read %row : !number -> !tile.tile<2xf32, registers>
    %a = tile.broadcast %loaded dim 1 : !tile.tile<2xf32, registers> -> !tile.tile<2x2xf32, registers>
    %b = tile.broadcast %read dim 1 : !tile.tile<2xf32, registers> -> !tile.tile<2x2xf32, registers>
    %even = tile.buffer : !place
    %odd = tile.buffer : !place
    %first = tile.alternate %c2, %even, %odd : !place
    %second = tile.alternate %c3, %even, %odd : !place
    tile.write %a, %first : !tile.tile<2x2xf32, registers>, !place
    tile.write %b, %second : !tile.tile<2x2xf32, registers>, !place
    %x0 = tile.read %even : !place -> !tile.tile<2x2xf32, registers>
    %x1 = tile.read %second : !place -> !tile.tile<2x2xf32, registers>
    tile.store %x0, %out[%c0, %c0] : !tile.tile<2x2xf32, registers>, memref<6x2xf32>
    tile.store %x1, %out[%c2, %c0] : !tile.tile<2x2xf32, registers>, memref<6x2xf32>
    %columns = tile.channel : !tile.channel<2x2xf32, stages = 1>
    tile.restage %odd into %columns[%c0] transposed : !place, !tile.channel<2x2xf32, stages = 1>
    %transposed = tile.get %columns[%c0] : !tile.channel<2x2xf32, stages = 1> -> !tile.tile<2x2xf32, shared, #tile.swizzle<vector = 2, bits = 0, shift = 3>>
    %x2 = tile.read %transposed : !tile.tile<2x2xf32, shared, #tile.swizzle<vector = 2, bits = 0, shift = 3>> -> !tile.tile<2x2xf32, registers>
    tile.store %x2, %out[%c4, %c0] : !tile.tile<2x2xf32, registers>, memref<6x2xf32>
    gpu.return
  }
}
// TURNS: result 0: 6x2xf32
// TURNS-NEXT: {{^}}3 4{{$}}
// TURNS-NEXT: {{^}}3 4{{$}}
// TURNS-NEXT: {{^}}5 0{{$}}
// TURNS-NEXT: {{^}}5 0{{$}}
// TURNS-NEXT: {{^}}5 5{{$}}
// TURNS-NEXT: {{^}}0 0{{$}}
func.func @turns() -> tensor<6x2xf32> {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %out = memref.alloc() : memref<6x2xf32>
  gpu.launch_func @turns_module::@turns blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
    args(%out : memref<6x2xf32>)
  %tensor = bufferization.to_tensor %out restrict : memref<6x2xf32> to tensor<6x2xf32>
  return %tensor : tensor<6x2xf32>
}

gpu.module @transposed_module {
  // Rows become columns on the way from shared memory, and on the way to it.
  gpu.func @transposed(%out: memref<5x3xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %t = tile.map() {
    ^bb0(%i: index, %j: index):
      %ten = arith.constant 10 : index
      %tens = arith.muli %i, %ten : index
      %sum = arith.addi %tens, %j : index
      %n = arith.index_cast %sum : index to i32
      %x = arith.sitofp %n : i32 to f32
      tile.yield %x : f32
    } : () -> !tile.tile<2x3xf32, registers>
    %columns = tile.buffer : !tile.tile<3x2xf32, shared, #tile.swizzle<vector = 2, bits = 0, shift = 3>>
    tile.write %t, %columns transposed : !tile.tile<2x3xf32, registers>, !tile.tile<3x2xf32, shared, #tile.swizzle<vector = 2, bits = 0, shift = 3>>
    %as_rows = tile.read %columns : !tile.tile<3x2xf32, shared, #tile.swizzle<vector = 2, bits = 0, shift = 3>> -> !tile.tile<3x2xf32, registers>
    %back = tile.read %columns transposed : !tile.tile<3x2xf32, shared, #tile.swizzle<vector = 2, bits = 0, shift = 3>> -> !tile.tile<2x3xf32, registers>
    tile.store %back, %out[%c0, %c0] : !tile.tile<2x3xf32, registers>, memref<5x3xf32>
    tile.store %as_rows, %out[%c2, %c0] : !tile.tile<3x2xf32, registers>, memref<5x3xf32>
    gpu.return
  }
}
// TRANSPOSED: result 0: 5x3xf32
// TRANSPOSED-NEXT: {{^}}0 1 2{{$}}
// TRANSPOSED-NEXT: {{^}}10 11 12{{$}}
// TRANSPOSED-NEXT: {{^}}0 10 0{{$}}
// TRANSPOSED-NEXT: {{^}}1 11 0{{$}}
// TRANSPOSED-NEXT: {{^}}2 12 0{{$}}
func.func @transposed() -> tensor<5x3xf32> {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<5x3xf32>
  %out = bufferization.to_buffer %zero : tensor<5x3xf32> to memref<5x3xf32>
  gpu.launch_func @transposed_module::@transposed blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
    args(%out : memref<5x3xf32>)
  %tensor = bufferization.to_tensor %out restrict : memref<5x3xf32> to tensor<5x3xf32>
  return %tensor : tensor<5x3xf32>
}

gpu.module @widened_module {
  // Bytes hold 3 and -5, in lower and upper bits, and are -77 and 8 more in each next column.
  gpu.func @widened(%out: memref<2x6xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %t = tile.map() {
    ^bb0(%i: index, %j: index):
      %n = arith.index_cast %j : index to i8
      %first = arith.constant -77 : i8
      %step = arith.constant 8 : i8
      %more = arith.muli %n, %step : i8
      %x = arith.addi %first, %more : i8
      tile.yield %x : i8
    } : () -> !tile.tile<2x2xi8, registers>
    %bytes = tile.buffer : !tile.tile<2x2xi8, shared, #tile.swizzle<vector = 2, bits = 0, shift = 3>>
    tile.write %t, %bytes : !tile.tile<2x2xi8, registers>, !tile.tile<2x2xi8, shared, #tile.swizzle<vector = 2, bits = 0, shift = 3>>
    %whole = tile.channel : !tile.channel<2x2xf32, stages = 1>
    tile.restage %bytes into %whole[%c0] : !tile.tile<2x2xi8, shared, #tile.swizzle<vector = 2, bits = 0, shift = 3>>, !tile.channel<2x2xf32, stages = 1>
    %a = tile.get %whole[%c0] : !tile.channel<2x2xf32, stages = 1> -> !tile.tile<2x2xf32, shared, #tile.swizzle<vector = 2, bits = 0, shift = 3>>
    %x0 = tile.read %a : !tile.tile<2x2xf32, shared, #tile.swizzle<vector = 2, bits = 0, shift = 3>> -> !tile.tile<2x2xf32, registers>
    tile.store %x0, %out[%c0, %c0] : !tile.tile<2x2xf32, registers>, memref<2x6xf32>
    %halves = tile.channel : !tile.channel<2x4xf32, stages = 1>
    tile.restage %bytes into %halves[%c0] packed : !tile.tile<2x2xi8, shared, #tile.swizzle<vector = 2, bits = 0, shift = 3>>, !tile.channel<2x4xf32, stages = 1>
    %b = tile.get %halves[%c0] : !tile.channel<2x4xf32, stages = 1> -> !tile.tile<2x4xf32, shared, #tile.swizzle<vector = 4, bits = 0, shift = 3>>
    %x1 = tile.read %b : !tile.tile<2x4xf32, shared, #tile.swizzle<vector = 4, bits = 0, shift = 3>> -> !tile.tile<2x4xf32, registers>
    tile.store %x1, %out[%c0, %c2] : !tile.tile<2x4xf32, registers>, memref<2x6xf32>
    gpu.return
  }
}
// WIDENED: result 0: 2x6xf32
// WIDENED-NEXT: {{^}}-77 -69 3 -5 -5 -5{{$}}
// WIDENED-NEXT: {{^}}-77 -69 3 -5 -5 -5{{$}}
func.func @widened() -> tensor<2x6xf32> {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %out = memref.alloc() : memref<2x6xf32>
  gpu.launch_func @widened_module::@widened blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
    args(%out : memref<2x6xf32>)
  %tensor = bufferization.to_tensor %out restrict : memref<2x6xf32> to tensor<2x6xf32>
  return %tensor : tensor<2x6xf32>
}

// A kernel without tiles is left alone, and so is its launch.
// CHECK-LABEL: gpu.func @other
// CHECK-SAME: known_block_size = array<i32: 32, 1, 1>
// CHECK: gpu.thread_id
// CHECK: gpu.launch_func @other_module::@other blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
gpu.module @other_module {
  gpu.func @other(%out: memref<32xindex>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %lane = gpu.thread_id x
    memref.store %lane, %out[%lane] : memref<32xindex>
    gpu.return
  }
}
func.func @other(%out: memref<32xindex>) {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  gpu.launch_func @other_module::@other blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
    args(%out : memref<32xindex>)
  return
}
}
