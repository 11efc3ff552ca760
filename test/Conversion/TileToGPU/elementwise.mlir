// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Maps, fills, reductions, broadcasts and changes of layout as vectors of one thread.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(attune-attach-target{chip=sm_80},gpu.module(gpu.func(tile-allocate-shared)),convert-tile-to-gpu,canonicalize,cse)" | FileCheck %s

#acc = #tile.layout<registers = [[2, 1, 1], [2, 0, 8]], lanes = [[4, 1, 2], [8, 0, 1]], warps = [[2, 0, 16]]>
#rows = #tile.layout<registers = [[2, 0, 8]], lanes = [[4, 0, 0], [8, 0, 1]], warps = [[2, 0, 16]]>
#partial = #tile.layout<registers = [[2, 0, 8]], lanes = [[4, 1, 1], [8, 0, 1]], warps = [[2, 0, 16]]>
#renamed = #tile.layout<registers = [[2, 0, 8], [2, 1, 1]], lanes = [[4, 1, 2], [8, 0, 1]], warps = [[2, 0, 16]]>
!acc = !tile.tile<32x8xf32, registers, #acc>
!rows = !tile.tile<32xf32, registers, #rows>
!partial = !tile.tile<32x4xf32, registers, #partial>
!renamed = !tile.tile<32x8xf32, registers, #renamed>
#wide = #tile.layout<registers = [[2, 1, 1], [2, 0, 8], [4, 1, 8]], lanes = [[4, 1, 2], [8, 0, 1]], warps = [[2, 0, 16]]>
!wide = !tile.tile<32x32xf32, registers, #wide>

gpu.module @kernels {
  // Positions are 32-bit vectors of what differs in a thread, two rows or two columns: the register's part is a constant. A sum
  // of positions is converted once, and what each register adds to it is a constant.
  // CHECK-LABEL: gpu.func @positions
  // CHECK-SAME:    %{{[^ ]+}}: memref<32x8xf32>, %[[BIAS:.+]]: memref<8xf32>
  gpu.func @positions(%m: memref<32x8xf32>, %bias: memref<8xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    // CHECK-DAG: %[[PARTS:.+]] = arith.constant dense<[0.000000e+00, 1.000000e+00, 8.000000e+00, 9.000000e+00]> : vector<4xf32>
    // CHECK-DAG: %[[COLUMNS:.+]] = arith.constant dense<[0, 1]> : vector<2xi32>
    // CHECK: arith.muli %{{.+}}, %c16
    // CHECK: %[[ROW:.+]] = arith.index_cast %{{.+}} : index to i32
    // CHECK: %[[COLUMN:.+]] = arith.index_cast %{{.+}} : index to i32
    // CHECK: %[[OWN:.+]] = vector.broadcast %[[COLUMN]] : i32 to vector<2xi32>
    // CHECK: arith.addi %[[OWN]], %[[COLUMNS]] : vector<2xi32>
    // CHECK: %[[SUM:.+]] = arith.addi %[[ROW]], %[[COLUMN]] : i32
    // CHECK: %[[BASE:.+]] = arith.sitofp %[[SUM]] : i32 to f32
    // CHECK: %[[ALL:.+]] = vector.broadcast %[[BASE]] : f32 to vector<4xf32>
    // CHECK: %[[X:.+]] = arith.addf %[[ALL]], %[[PARTS]] : vector<4xf32>
    // CHECK-COUNT-2: memref.load %[[BIAS]]
    // CHECK-NOT: memref.load
    // CHECK: %[[LOADED:.+]] = vector.from_elements {{.*}} : vector<2xf32>
    // CHECK: %[[B:.+]] = vector.shuffle %[[LOADED]], %[[LOADED]] [0, 1, 0, 1] : vector<2xf32>, vector<2xf32>
    // CHECK: arith.addf %[[X]], %[[B]] : vector<4xf32>
    %c0 = arith.constant 0 : index
    %a = tile.map() {
    ^bb0(%i: index, %j: index):
      %ij = arith.addi %i, %j : index
      %n = arith.index_cast %ij : index to i32
      %x = arith.sitofp %n : i32 to f32
      %b = memref.load %bias[%j] : memref<8xf32>
      %y = arith.addf %x, %b : f32
      tile.yield %y : f32
    } : () -> !acc
    tile.store %a, %m[%c0, %c0] : !acc, memref<32x8xf32>
    gpu.return
  }

  // What is the same in all registers stays a scalar, what depends on the row alone is computed for two.
  // CHECK-LABEL: gpu.func @once
  // CHECK-SAME:    %{{[^ ]+}}: memref<32x8xf32>, %[[TABLE:[^ ]+]]: memref<32xindex>, %[[SLOPE:[^ ]+]]: memref<f32>, %[[HEAD:[^ ]+]]: index
  gpu.func @once(%m: memref<32x8xf32>, %table: memref<32xindex>, %slope: memref<f32>, %head: index) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    // CHECK-COUNT-2: memref.load %[[TABLE]]
    // CHECK-NOT: memref.load %[[TABLE]]
    // CHECK: %[[ENDS:.+]] = vector.from_elements {{.*}} : vector<2xi32>
    // CHECK: %[[S:.+]] = memref.load %[[SLOPE]][] : memref<f32>
    // CHECK: %[[NEXT:.+]] = arith.addi %[[HEAD]], %c1 : index
    // CHECK: %[[NUMBER:.+]] = arith.index_cast %[[NEXT]] : index to i32
    // CHECK: %[[F:.+]] = arith.sitofp %[[NUMBER]] : i32 to f32
    // CHECK: %[[FACTOR:.+]] = arith.mulf %[[F]], %[[S]] : f32
    // CHECK: %[[ALL:.+]] = vector.shuffle %[[ENDS]], %[[ENDS]] [0, 0, 1, 1] : vector<2xi32>, vector<2xi32>
    // CHECK: arith.cmpi slt, %{{.+}}, %[[ALL]] : vector<4xi32>
    // CHECK: %[[FACTORS:.+]] = vector.broadcast %[[FACTOR]] : f32 to vector<4xf32>
    // CHECK: arith.select %{{.+}}, %[[FACTORS]], %{{.+}} : vector<4xi1>, vector<4xf32>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a = tile.map() {
    ^bb0(%i: index, %j: index):
      %end = memref.load %table[%i] : memref<32xindex>
      %s = memref.load %slope[] : memref<f32>
      %next = arith.addi %head, %c1 : index
      %number = arith.index_cast %next : index to i32
      %f = arith.sitofp %number : i32 to f32
      %factor = arith.mulf %f, %s : f32
      %zero = arith.constant 0.0 : f32
      %sees = arith.cmpi slt, %j, %end : index
      %y = arith.select %sees, %factor, %zero : f32
      tile.yield %y : f32
    } : () -> !acc
    tile.store %a, %m[%c0, %c0] : !acc, memref<32x8xf32>
    gpu.return
  }

  // Of parts of positions, what registers differ in is a constant where the thread's own position has no such bits, and what is
  // the same in several registers is computed once for these.
  // CHECK-LABEL: gpu.func @parts
  gpu.func @parts(%m: memref<32x8xf32>, %from: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    // CHECK-DAG: %[[ODD:.+]] = arith.constant dense<[0, 1]> : vector<2xi32>
    // CHECK-DAG: %[[EIGHTS:.+]] = arith.constant dense<[0, 8]> : vector<2xi32>
    // CHECK-DAG: %[[ONE:.+]] = arith.constant dense<1> : vector<2xi32>
    // CHECK: %[[OTHERS:.+]] = arith.andi %{{.+}}, %c-9_i32 : i32
    // CHECK: %[[OTHER:.+]] = vector.broadcast %[[OTHERS]] : i32 to vector<1xi32>
    // CHECK: %[[LOW:[^,]+]], %[[HIGH:.+]] = arith.mului_extended %[[OTHER]], %{{.+}} : vector<1xi32>
    // CHECK: %[[L:.+]] = vector.shuffle %[[LOW]], %[[LOW]] [0, 0] : vector<1xi32>, vector<1xi32>
    // CHECK: arith.shli %[[L]], %[[EIGHTS]] : vector<2xi32>
    // CHECK: %[[H:.+]] = vector.shuffle %[[HIGH]], %[[HIGH]] [0, 0] : vector<1xi32>, vector<1xi32>
    // CHECK: arith.shli %[[H]], %[[ODD]] : vector<2xi32>
    // From an unknown place, each register has a bit of its own.
    // CHECK: %[[MOVED:.+]] = arith.addi %{{.+}}, %{{.+}} : vector<2xi32>
    // CHECK: arith.andi %[[MOVED]], %[[ONE]] : vector<2xi32>
    %c0 = arith.constant 0 : index
    %a = tile.map() {
    ^bb0(%i: index, %j: index):
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %c-9 = arith.constant -9 : index
      %factor = arith.constant 77 : i32
      %group = arith.andi %i, %c-9 : index
      %number = arith.index_cast %group : index to i32
      %low, %high = arith.mului_extended %number, %factor : i32
      %eight = arith.andi %i, %c8 : index
      %e = arith.index_cast %eight : index to i32
      %left = arith.shli %low, %e : i32
      %odd = arith.andi %j, %c1 : index
      %o = arith.index_cast %odd : index to i32
      %right = arith.shli %high, %o : i32
      %moved = arith.addi %j, %from : index
      %bit = arith.andi %moved, %c1 : index
      %b = arith.index_cast %bit : index to i32
      %x = arith.addi %left, %right : i32
      %y = arith.addi %x, %b : i32
      %f = arith.bitcast %y : i32 to f32
      tile.yield %f : f32
    } : () -> !acc
    tile.store %a, %m[%c0, %c0] : !acc, memref<32x8xf32>
    gpu.return
  }

  // Registers first, as a tree, then the four lanes that share a row.
  // CHECK-LABEL: gpu.func @reduce
  gpu.func @reduce(%m: memref<32x8xf32>, %out: memref<32xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    // CHECK-COUNT-2: arith.maxnumf
    // CHECK: gpu.shuffle {{ *}}xor %{{.+}}, %c1_i32, %c32_i32 : f32
    // CHECK: gpu.shuffle {{ *}}xor %{{.+}}, %c2_i32, %c32_i32 : f32
    // CHECK-NOT: gpu.shuffle {{.*}}%c4_i32
    // Of the lanes that hold a row, the first writes it.
    // CHECK: arith.cmpi eq
    // CHECK: memref.store
    // CHECK: gpu.return
    %c0 = arith.constant 0 : index
    %a = tile.load %m[%c0, %c0] in_bounds : memref<32x8xf32> -> !acc
    %r = tile.reduce max %a : !acc -> !rows
    tile.store %r, %out[%c0] : !rows, memref<32xf32>
    gpu.return
  }

  // One column per lane: no exchange until the second reduction.
  // CHECK-LABEL: gpu.func @partial
  gpu.func @partial(%m: memref<32x8xf32>, %out: memref<32x4xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    // CHECK-COUNT-2: arith.addf
    // CHECK-NOT: gpu.shuffle
    // CHECK: gpu.return
    %c0 = arith.constant 0 : index
    %a = tile.load %m[%c0, %c0] in_bounds : memref<32x8xf32> -> !acc
    %r = tile.reduce add %a : !acc -> !partial
    tile.store %r, %out[%c0, %c0] : !partial, memref<32x4xf32>
    gpu.return
  }

  // Each group of columns begins with its initial value, element by element.
  // CHECK-LABEL: gpu.func @from_initial_value
  gpu.func @from_initial_value(%m: memref<32x8xf32>, %out: memref<32x4xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    // CHECK: %[[INIT:.+]] = vector.extract %{{.+}}[0] : f32 from vector<1xf32>
    // CHECK: %[[FIRST:.+]] = arith.addf %[[INIT]], %{{.+}} : f32
    // CHECK: arith.addf %[[FIRST]], %{{.+}} : f32
    // CHECK: gpu.return
    %c0 = arith.constant 0 : index
    %a = tile.load %m[%c0, %c0] in_bounds : memref<32x8xf32> -> !acc
    %s = tile.load %out[%c0, %c0] in_bounds : memref<32x4xf32> -> !partial
    %r = tile.reduce add %a init %s : !acc -> !partial
    tile.store %r, %out[%c0, %c0] : !partial, memref<32x4xf32>
    gpu.return
  }

  // All lanes of a row have its initial value, which counts once.
  // CHECK-LABEL: gpu.func @rows_from_initial_value
  gpu.func @rows_from_initial_value(%m: memref<32x8xf32>, %out: memref<32xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    // CHECK: vector.load %{{.+}} : memref<32xf32>, vector<1xf32>
    // CHECK-NEXT: %[[INIT:.+]] = vector.extract %{{.+}}[0] : f32 from vector<1xf32>
    // CHECK-COUNT-4: gpu.shuffle
    // CHECK-NOT: gpu.shuffle
    // CHECK: %[[TOTAL:.+]] = arith.addf %[[INIT]], %{{.+}} : f32
    // CHECK: memref.store %[[TOTAL]], %{{.+}} : memref<32xf32>
    // CHECK: gpu.return
    %c0 = arith.constant 0 : index
    %a = tile.load %m[%c0, %c0] in_bounds : memref<32x8xf32> -> !acc
    %s = tile.load %out[%c0] in_bounds : memref<32xf32> -> !rows
    %r = tile.reduce add %a init %s : !acc -> !rows
    tile.store %r, %out[%c0] : !rows, memref<32xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @broadcast
  gpu.func @broadcast(%m: memref<32x8xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    // CHECK: %[[ROWS:.+]] = vector.from_elements
    // CHECK: vector.shuffle %[[ROWS]], %[[ROWS]] [0, 0, 1, 1] : vector<2xf32>, vector<2xf32>
    %c0 = arith.constant 0 : index
    %loaded = tile.load %m[%c0, %c0] in_bounds : memref<32x8xf32> -> !acc
    %max = tile.reduce max %loaded : !acc -> !rows
    %w = tile.broadcast %max : !rows -> !acc
    tile.store %w, %m[%c0, %c0] : !acc, memref<32x8xf32>
    gpu.return
  }

  // The same lanes: registers are renamed, nothing moves.
  // CHECK-LABEL: gpu.func @renamed
  gpu.func @renamed(%m: memref<32x8xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    // CHECK-NOT: gpu.shuffle
    // CHECK: gpu.return
    %c0 = arith.constant 0 : index
    %a = tile.load %m[%c0, %c0] in_bounds : memref<32x8xf32> -> !acc
    %b = tile.convert_layout %a : !acc -> !renamed
    tile.store %b, %m[%c0, %c0] : !renamed, memref<32x8xf32>
    gpu.return
  }

  // Loads and stores at the ends of a buffer test each row; neighbours are read and written together.
  // CHECK-LABEL: gpu.func @ends
  // CHECK-SAME:    %[[M:[^ ]+]]: memref<?x8xf32>
  gpu.func @ends(%m: memref<?x8xf32>, %first: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    // CHECK: %[[ROWS:.+]] = memref.dim %[[M]]
    // CHECK: arith.cmpi slt, %{{.+}}, %[[ROWS]]
    // CHECK: scf.if {{.*}} -> (vector<2xf32>)
    // CHECK:   vector.load %[[M]]{{.*}} vector<2xf32>
    // CHECK: scf.if %{{.+}} {
    // CHECK:   vector.store {{.*}}alignment = 8 : i64{{.*}} vector<2xf32>
    // CHECK: scf.if %{{.+}} {
    // CHECK:   vector.store {{.*}}alignment = 8 : i64{{.*}} vector<2xf32>
    %c0 = arith.constant 0 : index
    %a = tile.load %m[%first, %c0] : memref<?x8xf32> -> !acc
    tile.store %a, %m[%first, %c0] : !acc, memref<?x8xf32>
    gpu.return
  }

  // A kernel without tiles needs no target and stays as it is.
  // CHECK-LABEL: gpu.func @no_tiles
  gpu.func @no_tiles(%m: memref<8xf32>, %x: f32) kernel {
    // CHECK: memref.store
    %c0 = arith.constant 0 : index
    memref.store %x, %m[%c0] : memref<8xf32>
    gpu.return
  }
}
