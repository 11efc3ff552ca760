// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Round trip of attn.quantize, and the shapes of its results.
//
// RUN: attune-opt %s | attune-opt | FileCheck %s
// RUN: attune-opt %s --mlir-print-op-generic | attune-opt | FileCheck %s
// RUN: attune-opt %s --resolve-ranked-shaped-type-result-dims --canonicalize | FileCheck %s --check-prefix=SHAPES

// CHECK-LABEL: func.func @rows
// CHECK: %[[QUANTIZED:.+]], %[[SCALES:.+]] = attn.quantize %{{.+}} : tensor<2x4x100x64xf16> -> tensor<2x4x100x64xf8E4M3FN>, tensor<2x4x100x1xf32>
// CHECK: return %[[QUANTIZED]], %[[SCALES]]
func.func @rows(%x: tensor<2x4x100x64xf16>) -> (tensor<2x4x100x64xf8E4M3FN>, tensor<2x4x100x1xf32>) {
  %y, %s = attn.quantize %x : tensor<2x4x100x64xf16> -> tensor<2x4x100x64xf8E4M3FN>, tensor<2x4x100x1xf32>
  return %y, %s : tensor<2x4x100x64xf8E4M3FN>, tensor<2x4x100x1xf32>
}

// CHECK-LABEL: func.func @clauses
// CHECK: attn.quantize %{{.+}} blocks [1, 64, 1, 64] smooth rotate order(bshd) schedule(<numWarps = 8>) attributes {note}
// CHECK-SAME: : tensor<2x100x4x64xf32, #attn.strided<[?, ?, ?, 1], divisor = 4>> -> tensor<2x100x4x64xf8E5M2FNUZ>, tensor<2x2x4x1xf32>
func.func @clauses(%x: tensor<2x100x4x64xf32, #attn.strided<[?, ?, ?, 1], divisor = 4>>) -> (tensor<2x100x4x64xf8E5M2FNUZ>, tensor<2x2x4x1xf32>) {
  %y, %s = attn.quantize %x blocks [1, 64, 1, 64] smooth rotate order(bshd) schedule(<numWarps = 8>) attributes {note}
    : tensor<2x100x4x64xf32, #attn.strided<[?, ?, ?, 1], divisor = 4>> -> tensor<2x100x4x64xf8E5M2FNUZ>, tensor<2x2x4x1xf32>
  return %y, %s : tensor<2x100x4x64xf8E5M2FNUZ>, tensor<2x2x4x1xf32>
}

// All rows of a head share one, whatever blocks are.
// CHECK-LABEL: func.func @head
// CHECK: attn.quantize
func.func @head(%x: tensor<?x4x?x64xbf16>) -> tensor<?x4x1x1xf32> {
  %y, %s = attn.quantize %x : tensor<?x4x?x64xbf16> -> tensor<?x4x?x64xf8E5M2>, tensor<?x4x1x1xf32>
  return %s : tensor<?x4x1x1xf32>
}

// SHAPES-LABEL: func.func @dynamic
// SHAPES-SAME: %[[X:[^ ]+]]: tensor<?x4x?x64xbf16>
// SHAPES: %[[ROWS:[^ ]+]] = tensor.dim %[[X]], %c2
// SHAPES: %[[BLOCKS:.+]] = arith.ceildivui %{{.+}}, %c128
// SHAPES: return %[[ROWS]], %[[BLOCKS]]
func.func @dynamic(%x: tensor<?x4x?x64xbf16>) -> (index, index) {
  %c2 = arith.constant 2 : index
  %y, %s = attn.quantize %x blocks [1, 1, 128, 1] : tensor<?x4x?x64xbf16> -> tensor<?x4x?x64xf8E4M3FNUZ>, tensor<?x4x?x1xf32>
  %rows = tensor.dim %y, %c2 : tensor<?x4x?x64xf8E4M3FNUZ>
  %blocks = tensor.dim %s, %c2 : tensor<?x4x?x1xf32>
  return %rows, %blocks : index, index
}

// CHECK-LABEL: func.func @packed
// CHECK: attn.quantize %{{.+}} smooth rotate packed order(bshd) : tensor<2x?x4x64xbf16> -> tensor<2x?x4x32xi8>, tensor<2x?x4x1xf32>
// SHAPES-LABEL: func.func @packed
// SHAPES: return %{{.+}}, %c32 : tensor<2x?x4x32xi8>, index
func.func @packed(%x: tensor<2x?x4x64xbf16>) -> (tensor<2x?x4x32xi8>, index) {
  %c3 = arith.constant 3 : index
  %y, %s = attn.quantize %x smooth rotate packed order(bshd) : tensor<2x?x4x64xbf16> -> tensor<2x?x4x32xi8>, tensor<2x?x4x1xf32>
  %columns = tensor.dim %y, %c3 : tensor<2x?x4x32xi8>
  return %y, %columns : tensor<2x?x4x32xi8>, index
}

// CHECK-LABEL: func.func @integers
// CHECK: attn.quantize %{{.+}} : tensor<2x4x100x5xf32> -> tensor<2x4x100x5xi8>, tensor<2x4x1x1xf32>
func.func @integers(%x: tensor<2x4x100x5xf32>) -> tensor<2x4x100x5xi8> {
  %y, %s = attn.quantize %x : tensor<2x4x100x5xf32> -> tensor<2x4x100x5xi8>, tensor<2x4x1x1xf32>
  return %y : tensor<2x4x100x5xi8>
}

// CHECK-LABEL: func.func @zeros
// CHECK: attn.quantize %{{.+}} packed : tensor<2x4x?x64xf16> -> tensor<2x4x?x32xi8>, tensor<2x4x?x1xf32>, tensor<2x4x?x1xf32>
// SHAPES-LABEL: func.func @zeros
// SHAPES-SAME: %[[X:[^ ]+]]: tensor<2x4x?x64xf16>
// SHAPES: %[[ROWS:[^ ]+]] = tensor.dim %[[X]], %c2
// SHAPES: return %[[ROWS]]
func.func @zeros(%x: tensor<2x4x?x64xf16>) -> index {
  %c2 = arith.constant 2 : index
  %y, %s, %z = attn.quantize %x packed : tensor<2x4x?x64xf16> -> tensor<2x4x?x32xi8>, tensor<2x4x?x1xf32>, tensor<2x4x?x1xf32>
  %count = tensor.dim %z, %c2 : tensor<2x4x?x1xf32>
  return %count : index
}
