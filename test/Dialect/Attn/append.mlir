// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Round trip of attn.append, whose results have the types of pools.
//
// RUN: attune-opt %s | attune-opt | FileCheck %s
// RUN: attune-opt %s --mlir-print-op-generic | attune-opt | FileCheck %s
// RUN: attune-opt %s --canonicalize | FileCheck %s --check-prefix=SHAPES

// CHECK-LABEL: func.func @rows
// CHECK: %[[POOL:.+]] = attn.append %{{.+}} to %{{.+}} at %{{.+}} : tensor<?x8x128xbf16>, tensor<?x16x8x128xbf16>, tensor<?xi64>
// CHECK: return %[[POOL]] : tensor<?x16x8x128xbf16>
func.func @rows(%x: tensor<?x8x128xbf16>, %slots: tensor<?xi64>, %pool: tensor<?x16x8x128xbf16>) -> tensor<?x16x8x128xbf16> {
  %p = attn.append %x to %pool at %slots : tensor<?x8x128xbf16>, tensor<?x16x8x128xbf16>, tensor<?xi64>
  return %p : tensor<?x16x8x128xbf16>
}

// CHECK-LABEL: func.func @clauses
// CHECK: %[[POOL:[^,]+]], %[[SCALES:.+]] = attn.append %{{.+}} to %{{.+}} at %{{.+}} rotary(%{{.+}}, %{{.+}}, %{{.+}} : tensor<512x20xf32>, tensor<512x20xf32>, tensor<9xi32>) interleaved
// CHECK-SAME: row_scales(%{{.+}} : tensor<4x16x8x1xf32>) schedule(<numWarps = 2>) attributes {note}
// CHECK-SAME: : tensor<9x8x80xf16, #attn.strided<[?, 80, 1], divisor = 8>>, tensor<4x16x8x80xf8E5M2, #attn.strided<[?, 80, 1280, 1]>>, tensor<9xi32>
// CHECK: return %[[POOL]], %[[SCALES]]
func.func @clauses(%x: tensor<9x8x80xf16, #attn.strided<[?, 80, 1], divisor = 8>>, %slots: tensor<9xi32>,
                   %pool: tensor<4x16x8x80xf8E5M2, #attn.strided<[?, 80, 1280, 1]>>, %cos: tensor<512x20xf32>, %sin: tensor<512x20xf32>,
                   %positions: tensor<9xi32>, %scales: tensor<4x16x8x1xf32>)
    -> (tensor<4x16x8x80xf8E5M2, #attn.strided<[?, 80, 1280, 1]>>, tensor<4x16x8x1xf32>) {
  %p, %s = attn.append %x to %pool at %slots rotary(%cos, %sin, %positions : tensor<512x20xf32>, tensor<512x20xf32>, tensor<9xi32>) interleaved
    row_scales(%scales : tensor<4x16x8x1xf32>) schedule(<numWarps = 2>) attributes {note}
    : tensor<9x8x80xf16, #attn.strided<[?, 80, 1], divisor = 8>>, tensor<4x16x8x80xf8E5M2, #attn.strided<[?, 80, 1280, 1]>>, tensor<9xi32>
  return %p, %s : tensor<4x16x8x80xf8E5M2, #attn.strided<[?, 80, 1280, 1]>>, tensor<4x16x8x1xf32>
}

// CHECK-LABEL: func.func @given
// CHECK: attn.append %{{.+}} to %{{.+}} at %{{.+}} rotary(%{{.+}} : tensor<?x32xbf16>, tensor<?x32xbf16>, tensor<?xi64>) scales(%{{.+}} : tensor<1x1x?x1xf32>) :
func.func @given(%x: tensor<?x?x64xbf16>, %slots: tensor<?xi64>, %pool: tensor<?x?x?x64xf8E4M3FNUZ>, %cos: tensor<?x32xbf16>,
                 %sin: tensor<?x32xbf16>, %positions: tensor<?xi64>, %scales: tensor<1x1x?x1xf32>) -> tensor<?x?x?x64xf8E4M3FNUZ> {
  %p = attn.append %x to %pool at %slots rotary(%cos, %sin, %positions : tensor<?x32xbf16>, tensor<?x32xbf16>, tensor<?xi64>)
    scales(%scales : tensor<1x1x?x1xf32>) : tensor<?x?x64xbf16>, tensor<?x?x?x64xf8E4M3FNUZ>, tensor<?xi64>
  return %p : tensor<?x?x?x64xf8E4M3FNUZ>
}

// The pool that it is made of says how many pages there are.
// SHAPES-LABEL: func.func @pages
// SHAPES-SAME: %[[POOL:[^ ]+]]: tensor<?x16x8x128xf32>
// SHAPES: %[[PAGES:.+]] = tensor.dim %[[POOL]], %c0
// SHAPES: return %[[PAGES]]
func.func @pages(%pool: tensor<?x16x8x128xf32>, %x: tensor<2x8x128xf32>, %slots: tensor<2xi32>) -> index {
  %c0 = arith.constant 0 : index
  %p = attn.append %x to %pool at %slots : tensor<2x8x128xf32>, tensor<?x16x8x128xf32>, tensor<2xi32>
  %pages = tensor.dim %p, %c0 : tensor<?x16x8x128xf32>
  return %pages : index
}

// CHECK-LABEL: func.func @packed
// CHECK: attn.append %{{.+}} to %{{.+}} at %{{.+}} rotary({{.+}}) interleaved packed scales(%{{.+}} : tensor<1x1x1x1xf32>) : tensor<?x8x64xbf16>, tensor<?x16x8x32xi8>, tensor<?xi64>
func.func @packed(%x: tensor<?x8x64xbf16>, %slots: tensor<?xi64>, %pool: tensor<?x16x8x32xi8>, %cos: tensor<512x16xf32>,
                  %positions: tensor<?xi32>, %scales: tensor<1x1x1x1xf32>) -> tensor<?x16x8x32xi8> {
  %p = attn.append %x to %pool at %slots rotary(%cos, %cos, %positions : tensor<512x16xf32>, tensor<512x16xf32>, tensor<?xi32>) interleaved packed
    scales(%scales : tensor<1x1x1x1xf32>) : tensor<?x8x64xbf16>, tensor<?x16x8x32xi8>, tensor<?xi64>
  return %p : tensor<?x16x8x32xi8>
}

// CHECK-LABEL: func.func @zeros
// CHECK: %{{.+}}, %[[SCALES:.+]], %[[ZEROS:.+]] = attn.append %{{.+}} to %{{.+}} at %{{.+}} packed row_scales(%{{.+}} : tensor<?x16x8x1xf32>) row_zeros(%{{.+}} : tensor<?x16x8x1xf32>) :
// CHECK: return %{{.+}}, %[[SCALES]], %[[ZEROS]]
func.func @zeros(%x: tensor<?x8x64xbf16>, %slots: tensor<?xi64>, %pool: tensor<?x16x8x32xi8>, %s: tensor<?x16x8x1xf32>, %z: tensor<?x16x8x1xf32>)
    -> (tensor<?x16x8x32xi8>, tensor<?x16x8x1xf32>, tensor<?x16x8x1xf32>) {
  %p, %ns, %nz = attn.append %x to %pool at %slots packed row_scales(%s : tensor<?x16x8x1xf32>) row_zeros(%z : tensor<?x16x8x1xf32>)
    : tensor<?x8x64xbf16>, tensor<?x16x8x32xi8>, tensor<?xi64>
  return %p, %ns, %nz : tensor<?x16x8x32xi8>, tensor<?x16x8x1xf32>, tensor<?x16x8x1xf32>
}

// CHECK-LABEL: func.func @given_zeros
// CHECK: attn.append %{{.+}} to %{{.+}} at %{{.+}} scales(%{{.+}} : tensor<1x1x8x1xf32>) zeros(%{{.+}} : tensor<1x1x8x1xf32>) :
func.func @given_zeros(%x: tensor<?x8x64xbf16>, %slots: tensor<?xi64>, %pool: tensor<?x16x8x64xi8>, %s: tensor<1x1x8x1xf32>) -> tensor<?x16x8x64xi8> {
  %p = attn.append %x to %pool at %slots scales(%s : tensor<1x1x8x1xf32>) zeros(%s : tensor<1x1x8x1xf32>)
    : tensor<?x8x64xbf16>, tensor<?x16x8x64xi8>, tensor<?xi64>
  return %p : tensor<?x16x8x64xi8>
}
