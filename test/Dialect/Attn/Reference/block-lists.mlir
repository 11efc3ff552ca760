// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lists of blocks mean what a mask means that says the same: the reference prints the same numbers for both, but for the
// order of its sums.
//
// RUN: attune-opt %s --convert-attn-to-loops | mlir-opt %cpu_pipeline -o %t.mlir
// RUN: mlir-runner %t.mlir -e listed %cpu_runner | grep -v base | sed -E 's/([.][0-9]{4})[0-9]*/\1/g' > %t.listed
// RUN: mlir-runner %t.mlir -e masked %cpu_runner | grep -v base | sed -E 's/([.][0-9]{4})[0-9]*/\1/g' > %t.masked
// RUN: diff %t.listed %t.masked
// RUN: FileCheck %s --input-file=%t.listed
//
// Queries 2 and 3 have empty lists.
// CHECK:      {{^}}[{{\[\[\[}}{{.*}}],
// CHECK-NEXT: ],
// CHECK-NEXT: [0, {{ *}}0],
// CHECK-NEXT: [0, {{ *}}0],
// CHECK-NEXT: ]],

func.func private @printMemrefF32(tensor<*xf32>)

// x[h, i, d] = ((3*h + 7*i + 2*d + seed) mod 11 - 5) / 4
func.func @fill(%length: index, %seed: index) -> tensor<1x2x?x2xf32> {
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %c7 = arith.constant 7 : index
  %c11 = arith.constant 11 : index
  %quarter = arith.constant 0.25 : f32
  %filled = tensor.generate %length {
  ^bb0(%b: index, %h: index, %i: index, %d: index):
    %x = arith.muli %h, %c3 : index
    %y = arith.muli %i, %c7 : index
    %z = arith.muli %d, %c2 : index
    %xy = arith.addi %x, %y : index
    %zs = arith.addi %z, %seed : index
    %sum = arith.addi %xy, %zs : index
    %mod = arith.remui %sum, %c11 : index
    %centred = arith.subi %mod, %c5 : index
    %int = arith.index_cast %centred : index to i32
    %float = arith.sitofp %int : i32 to f32
    %element = arith.mulf %float, %quarter : f32
    tensor.yield %element : f32
  } : tensor<1x2x?x2xf32>
  return %filled : tensor<1x2x?x2xf32>
}

func.func @inputs() -> (tensor<1x2x5x2xf32>, tensor<1x2x8x2xf32>, tensor<1x2x8x2xf32>) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %c8 = arith.constant 8 : index
  %qd = call @fill(%c5, %c1) : (index, index) -> tensor<1x2x?x2xf32>
  %kd = call @fill(%c8, %c2) : (index, index) -> tensor<1x2x?x2xf32>
  %vd = call @fill(%c8, %c3) : (index, index) -> tensor<1x2x?x2xf32>
  %q = tensor.cast %qd : tensor<1x2x?x2xf32> to tensor<1x2x5x2xf32>
  %k = tensor.cast %kd : tensor<1x2x?x2xf32> to tensor<1x2x8x2xf32>
  %v = tensor.cast %vd : tensor<1x2x?x2xf32> to tensor<1x2x8x2xf32>
  return %q, %k, %v : tensor<1x2x5x2xf32>, tensor<1x2x8x2xf32>, tensor<1x2x8x2xf32>
}

func.func @print(%o: tensor<1x2x5x2xf32>) {
  %any = tensor.cast %o : tensor<1x2x5x2xf32> to tensor<*xf32>
  call @printMemrefF32(%any) : (tensor<*xf32>) -> ()
  return
}

// Blocks of 2 queries and 3 keys, of which the last has 2. Heads have lists of their own, and share those of full
// blocks. What stands behind the count does not count.
func.func @listed() {
  %q, %k, %v = call @inputs() : () -> (tensor<1x2x5x2xf32>, tensor<1x2x8x2xf32>, tensor<1x2x8x2xf32>)
  %c = arith.constant dense<[[[2, 0, 1], [1, 0, 1]]]> : tensor<1x2x3xi32>
  %i = arith.constant dense<[[[[2, 0], [1, 1], [1, 0]], [[0, 2], [2, 2], [2, 1]]]]> : tensor<1x2x3x2xi32>
  %fc = arith.constant dense<[[[1, 0, 1]]]> : tensor<1x1x3xi32>
  %fi = arith.constant dense<[[[[1], [0], [0]]]]> : tensor<1x1x3x1xi32>
  %o = attn.attention %q, %k, %v blocks(%c, %i, [2, 3] : tensor<1x2x3xi32>, tensor<1x2x3x2xi32>)
    full_blocks(%fc, %fi : tensor<1x1x3xi32>, tensor<1x1x3x1xi32>) mask (%b, %h, %m, %n) {
      %c1 = arith.constant 1 : index
      %odd = arith.andi %n, %c1 : index
      %see = arith.cmpi eq, %odd, %c1 : index
      attn.yield %see : i1
    } : tensor<1x2x5x2xf32>, tensor<1x2x8x2xf32>, tensor<1x2x8x2xf32>
  call @print(%o) : (tensor<1x2x5x2xf32>) -> ()
  return
}

// The same as a table: the first row of each head is of queries 0 and 1, the second of 2 and 3, the third of 4.
func.func @masked() {
  %q, %k, %v = call @inputs() : () -> (tensor<1x2x5x2xf32>, tensor<1x2x8x2xf32>, tensor<1x2x8x2xf32>)
  %table = arith.constant dense<[[[0, 1, 0, 1, 1, 1, 0, 1], [0, 0, 0, 0, 0, 0, 0, 0], [1, 1, 1, 1, 0, 1, 0, 0]],
                                 [[0, 1, 0, 1, 1, 1, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0], [1, 1, 1, 0, 0, 0, 0, 1]]]> : tensor<2x3x8xi1>
  %o = attn.attention %q, %k, %v mask (%b, %h, %m, %n) {
    %c2 = arith.constant 2 : index
    %row = arith.divui %m, %c2 : index
    %see = tensor.extract %table[%h, %row, %n] : tensor<2x3x8xi1>
    attn.yield %see : i1
  } : tensor<1x2x5x2xf32>, tensor<1x2x8x2xf32>, tensor<1x2x8x2xf32>
  call @print(%o) : (tensor<1x2x5x2xf32>) -> ()
  return
}
